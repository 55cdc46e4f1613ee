#include "emulated/core/injection.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>

#include "emulated/core/assumptions.h"

namespace vramscope::emulated {

void LoadInjection() {
  static std::atomic<bool> done{false};
  if (done.load(std::memory_order_relaxed) || done.exchange(true)) {
    return;
  }
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == 0) {
    return;
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* entry = library == nullptr ? nullptr : dlsym(library, "InitializeInjection");
  if (entry == nullptr) {
    Log("CUDA_INJECTION64_PATH: %s cannot be loaded, or lacks InitializeInjection", path);
    return;
  }
  reinterpret_cast<int (*)()>(entry)();
}

}  // namespace vramscope::emulated
