#include "tests/fuzz/trace_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::TraceOutline(data, size);
  return 0;
}
