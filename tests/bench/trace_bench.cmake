set(VRAMSCOPE_BENCH_LIBS vramscope_trace vramscope_trace_streams vramscope_proto fmt::fmt ZLIB::ZLIB)
