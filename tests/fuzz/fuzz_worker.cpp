#include "tests/fuzz/worker_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vramscope::fuzz::WorkerRequests(data, size);
  return 0;
}
