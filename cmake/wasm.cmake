# Tribo to wasm, with Debian's emscripten 3.1.6 (scripts/setup --page). All its traps are here:
#
#   - its compiler cache is ready-made and complete; EM_CACHE would point it at an empty one, so it is unset;
#   - it looks for acorn, Debian's node module, only where NODE_PATH says;
#   - its JavaScript takes node's fetch for a browser's and then cannot read its own file (hence the advice to run it
#     with --no-experimental-fetch): Tribo takes the bare wasm, and viewer/src/engine.js loads it;
#   - no relaxed SIMD: it would round differently from machine to machine; no closure: it is not packaged;
#   - threads want shared memory, which pages have only behind COOP and COEP headers and never from file://: one
#     thread, to the same bits.
set(CMAKE_SYSTEM_NAME Emscripten)
set(EMSCRIPTEN_ROOT_PATH /usr/share/emscripten CACHE PATH "where emcc.py lives")
if(NOT EXISTS ${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
  message(FATAL_ERROR "emscripten was not found under ${EMSCRIPTEN_ROOT_PATH}; scripts/setup --page installs it")
endif()
include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
set(emscripten_environment ${CMAKE_COMMAND} -E env --unset=EM_CACHE NODE_PATH=/usr/share/nodejs)
set(CMAKE_C_COMPILER_LAUNCHER ${emscripten_environment})
set(CMAKE_C_LINKER_LAUNCHER ${emscripten_environment})

# What the build machine has installed is not for wasm.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# emcc is a script that starts clang, and takes longer to start than most files to compile: sources go to the clang that
# it would start, with the options that it would give.
execute_process(COMMAND ${emscripten_environment} ${CMAKE_C_COMPILER} --cflags
  OUTPUT_VARIABLE emscripten_flags OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND ${emscripten_environment} ${CMAKE_C_COMPILER} -v -c -x c /dev/null -o /dev/null
  ERROR_VARIABLE emscripten_said OUTPUT_QUIET)
if(emscripten_flags AND emscripten_said MATCHES "\"([^\"]*/clang[^\"]*)\" -target")
  string(REPLACE "clang++" "clang" emscripten_clang ${CMAKE_MATCH_1})
  set(CMAKE_C_COMPILE_OBJECT "${emscripten_clang} ${emscripten_flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endif()
