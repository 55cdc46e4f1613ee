set(VRAMSCOPE_BENCH_LIBS vramscope_capture vramscope_trace Threads::Threads)
