#include "tests/fuzz/device_code_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::DeviceCode(data, size);
  return 0;
}
