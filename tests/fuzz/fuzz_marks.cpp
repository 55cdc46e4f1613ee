#include "tests/fuzz/marks_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::ProgramMarks(data, size);
  return 0;
}
