set(VRAMSCOPE_BENCH_LIBS vramscope_timeline GTest::gtest)
