#include "tests/fuzz/requests_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Requests(data, size);
  return 0;
}
