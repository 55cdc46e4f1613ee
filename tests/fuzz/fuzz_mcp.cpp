#include "tests/fuzz/mcp_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::Mcp(data, size);
  return 0;
}
