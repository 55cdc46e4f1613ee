#include "tests/fuzz/histogram_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Histogram(data, size);
  return 0;
}
