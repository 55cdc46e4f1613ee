// On a busy computer, tiny tensors take a hundred times longer on many threads, which wait by
// spinning. OpenMP reads its settings when it is loaded, before main(). So the program restarts
// itself with one thread.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void RestartWithOneThread(int, char** argv, char**) {
  if (getenv("OMP_NUM_THREADS") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
  // Without a restart, the program is slower but correct.
}
