#include "tests/fuzz/setup_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::IndexPage(data, size);
  return 0;
}
