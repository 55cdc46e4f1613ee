// Sets what the replacements of libcuda and libnvidia-ml return.
#pragma once

#include <vector>

struct FakeProcess {
  unsigned pid = 0;
  unsigned long long used = 0;
};
struct FakeGpu {
  bool context = true;
  unsigned long long total = 0, reserved = 0, used = 0;
  std::vector<FakeProcess> processes = {};
};
struct FakeDriver {
  std::vector<FakeGpu> gpus;
  bool second_version = true;  // whether nvmlDeviceGetMemoryInfo_v2 exists and works
  int processes_error = 0;
  int queries = 0;  // number of queries of the GPUs' memory
};
extern FakeDriver g_fake;  // set by the test, read by the stand-ins
