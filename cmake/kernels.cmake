# Files that are compiled once per vector width (src/base/kernels.h): kernels(OUT LIBRARY FILES…) makes the objects of
# each width, as object libraries LIBRARY_WIDTH, and puts their names into OUT.
set(width_sse2)
set(width_avx2 -mavx2 -mfma)
set(width_avx512 -mavx2 -mfma -mavx512f -mavx512vl -mavx512dq)
set(widths sse2 avx2 avx512)

# One header per width that renames what the lists name.
file(GLOB lists CONFIGURE_DEPENDS src/*/kernels.c test/*/kernels.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists})
foreach(width ${widths})
  set(renames "")
  foreach(list ${lists})
    file(STRINGS ${list} rows REGEX "^TB_KERNEL\\(")
    foreach(row ${rows})
      string(REGEX REPLACE "^TB_KERNEL\\([^,]*, (tb_[a-z0-9_]+),.*" "\\1" name "${row}")
      string(APPEND renames "#define ${name} ${name}_${width}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/kernels_${width}.h CONTENT "${renames}" @ONLY)
endforeach()

function(kernels out library)
  set(objects)
  foreach(width ${widths})
    add_library(${library}_${width} OBJECT ${ARGN})
    target_compile_options(${library}_${width} PRIVATE ${width_${width}}
      -include ${PROJECT_BINARY_DIR}/generated/kernels_${width}.h)
    target_include_directories(${library}_${width} PRIVATE include src)
    target_link_libraries(${library}_${width} PRIVATE tribo_flags)
    list(APPEND objects ${library}_${width})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
