# Writes commit.h into OUTPUT where it changed: cmake -DSOURCE=... -DOUTPUT=... -P commit.cmake. VRAMSCOPE_COMMIT in the
# environment says it where there is no repository (a source archive).
set(commit "$ENV{VRAMSCOPE_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define VRAMSCOPE_COMMIT \"@commit@\"\n" @ONLY)
