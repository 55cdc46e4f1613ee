if(NOT TARGET vramscope_make_snapshot)
  vramscope_library(vramscope_make_snapshot
    SOURCES make_snapshot.cpp
    PUBLIC absl::status
    PRIVATE vramscope_allocator vramscope_base fmt::fmt)
endif()
set(VRAMSCOPE_BENCH_LIBS vramscope_importers vramscope_make_snapshot vramscope_trace fmt::fmt)
