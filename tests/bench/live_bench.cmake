set(VRAMSCOPE_BENCH_LIBS vramscope_shell vramscope_timeline vramscope_proto GTest::gtest)
set(VRAMSCOPE_BENCH_SOURCES long_run.cpp)
