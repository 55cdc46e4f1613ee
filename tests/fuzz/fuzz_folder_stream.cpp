#include "tests/fuzz/folder_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::FolderStream(data, size);
  return 0;
}
