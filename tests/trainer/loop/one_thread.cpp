// Restarts the program with one thread, because OpenMP reads its settings before main(). On a
// busy computer, many threads, which spin while they wait, make tiny tensors a hundred times
// slower.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void RestartWithOneThread(int, char** argv, char**) {
  if (getenv("OMP_NUM_THREADS") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
  // If the restart fails, the program continues. It is slower, but correct.
}
