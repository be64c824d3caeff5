# What other programs link: the shared libraries, made of the archives' objects, and what `cmake --install` puts where.
#
#   tribo::tribo        libtribo.so: all of it              tribo::static        the four archives
#   tribo::core         libtribo_core.so: problem, solve    tribo::core_static   libtribo_core.a
#
# Names are the same by find_package(tribo) and by add_subdirectory. Without TRIBO_SHARED the first two are the last two.
add_library(tribo_static INTERFACE)
target_link_libraries(tribo_static INTERFACE tribo_gallery tribo_render)

set(privates)
foreach(name HDF5 METIS AMD ZLIB EXPAT PNG)
  if(HAVE_${name})
    list(APPEND privates ${${name}_LIBRARY})
  endif()
endforeach()
if(TRIBO_CHOLMOD)
  list(APPEND privates ${CHOLMOD_LIBRARY})
endif()

# shared(TARGET FILE ARCHIVES…): one shared library of the objects of archives that this build has made.
function(shared target file)
  set(objects)
  foreach(archive ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:${archive}>)
  endforeach()
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} VERSION ${PROJECT_VERSION} LINKER_LANGUAGE C
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # before 1.0 the interface may change with every minor version
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tribo_flags> m Threads::Threads ${privates})
  target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--no-undefined) # an object left out is told here, not to a user
endfunction()

set(installed tribo_core tribo tribo_gallery tribo_render tribo_static)
set_target_properties(tribo_core PROPERTIES EXPORT_NAME core_static)
set_target_properties(tribo PROPERTIES EXPORT_NAME world_static)
set_target_properties(tribo_gallery PROPERTIES EXPORT_NAME gallery_static)
set_target_properties(tribo_render PROPERTIES EXPORT_NAME render_static)
set_target_properties(tribo_static PROPERTIES EXPORT_NAME static)
add_library(tribo::static ALIAS tribo_static)
add_library(tribo::core_static ALIAS tribo_core)
if(TRIBO_SHARED AND NOT TRIBO_SANITIZE)
  shared(tribo_shared tribo tribo_core ${core_widths} tribo ${world_widths} tribo_gallery
    tribo_render ${render_widths})
  shared(tribo_core_shared tribo_core tribo_core ${core_widths})
  set_target_properties(tribo_shared PROPERTIES EXPORT_NAME tribo)
  set_target_properties(tribo_core_shared PROPERTIES EXPORT_NAME core)
  add_library(tribo::tribo ALIAS tribo_shared)
  add_library(tribo::core ALIAS tribo_core_shared)
  list(APPEND installed tribo_shared tribo_core_shared)
else()
  add_library(tribo::tribo ALIAS tribo_static)
  add_library(tribo::core ALIAS tribo_core)
endif()

if(NOT TRIBO_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
install(DIRECTORY include/tribo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ${installed} EXPORT tribo INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tribo NAMESPACE tribo:: DESTINATION ${package})
configure_package_config_file(cmake/tribo-config.cmake.in ${PROJECT_BINARY_DIR}/tribo-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tribo-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tribo-config.cmake ${PROJECT_BINARY_DIR}/tribo-config-version.cmake
  DESTINATION ${package})

# pkg-config, by paths from where its file lies; `--static` adds what the archives need.
file(RELATIVE_PATH PC_INCLUDE /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p/${CMAKE_INSTALL_INCLUDEDIR})
list(JOIN privates " " PC_PRIVATES)
set(PC_SHARED_LIBRARY -ltribo)
set(PC_STATIC_LIBRARIES "-ltribo_gallery -ltribo_render -ltribo -ltribo_core")
set(PC_NAME tribo)
set(PC_DESCRIPTION "Contact and friction: worlds, their files and pictures, contact problems, solvers")
configure_file(cmake/tribo.pc.in ${PROJECT_BINARY_DIR}/tribo.pc @ONLY)
set(PC_SHARED_LIBRARY -ltribo_core)
set(PC_STATIC_LIBRARIES "")
set(PC_NAME tribo_core)
set(PC_DESCRIPTION "Contact problems, frictional-contact solvers and their judge")
configure_file(cmake/tribo.pc.in ${PROJECT_BINARY_DIR}/tribo_core.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tribo.pc ${PROJECT_BINARY_DIR}/tribo_core.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
