// Restarts a program that plans on the emulated platform, with other settings and one thread:
// OpenMP and the loader read their settings before main(). On a busy computer, many threads, which
// spin while they wait, make tiny tensors a hundred times slower.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "trainer/backends/cuda/emulated_process.h"

__attribute__((constructor)) static void RestartOnEmulatedPlatform(int, char** argv, char**) {
  if (getenv("VRAMSCOPE_EMULATED_GPU") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 0);
  const absl::Status status = vramscope::trainer::SetEmulatedEnvironment(VRAMSCOPE_EMULATED_FOLDER);
  if (!status.ok()) {
    fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(1);
  }
  execv("/proc/self/exe", argv);
}
