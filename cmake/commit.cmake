# cmake -DSOURCE=… -DHEADER=… -P commit.cmake: the commit of the sources into a header, "unknown" outside of git.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit MATCHES "^[A-Za-z0-9._/-]+$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TB_COMMIT \"@commit@\"\n" @ONLY)
