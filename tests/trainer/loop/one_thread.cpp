// Tiny tensors on many threads that wait by spinning take a hundred times longer on a busy
// computer. OpenMP reads its settings when it is loaded, before main(). So the program restarts
// itself with one thread.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void RestartWithOneThread(int, char** argv, char**) {
  if (getenv("OMP_NUM_THREADS") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
  // Not restarted: slower, but correct.
}
