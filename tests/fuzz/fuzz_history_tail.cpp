#include "tests/fuzz/tail_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::HistoryTail(data, size);
  return 0;
}
