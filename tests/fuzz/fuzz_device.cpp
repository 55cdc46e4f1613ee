#include "tests/fuzz/device_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::DeviceFile(data, size);
  return 0;
}
