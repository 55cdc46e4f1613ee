#include "tests/fuzz/snapshot_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Pickle(data, size);
  return 0;
}
