#include "tests/fuzz/kineto_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Kineto(data, size);
  return 0;
}
