#include "tests/fuzz/run_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::RunBytes(data, size);
  return 0;
}
