set(VRAMSCOPE_BENCH_LIBS vramscope_timeline GTest::gtest)
set(VRAMSCOPE_BENCH_SOURCES long_run.cpp)
