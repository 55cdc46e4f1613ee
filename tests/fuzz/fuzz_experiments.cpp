#include "tests/fuzz/typed_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Experiments(data, size);
  return 0;
}
