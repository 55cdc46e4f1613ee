#include "tests/fuzz/assembly_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::WorkerAnswers(data, size);
  return 0;
}
