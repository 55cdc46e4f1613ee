# Writes commit.h into OUTPUT if the commit has changed: cmake -DSOURCE=... -DOUTPUT=... -P commit.cmake. Without a
# repository (in a source archive), the commit is taken from the environment variable VRAMSCOPE_COMMIT.
set(commit "$ENV{VRAMSCOPE_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define VRAMSCOPE_COMMIT \"@commit@\"\n" @ONLY)
