// Part of every test that is built with ThreadSanitizer: what its runtime does not know of Qt.
#include <dlfcn.h>
#include <sched.h>

#include <cstdarg>

extern "C" {

// Qt 6.4 starts programs by clone(CLONE_VM | CLONE_VFORK). The runtime's own clone takes the child
// for one with a memory of its own: what it does there, which is to ignore every lock from then on,
// it does to the parent, and the parent's main thread "holds no lock" for as long as it lives. So
// the child has a memory of its own.
int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
  va_list more;
  va_start(more, argument);
  void* const parent_id = va_arg(more, void*);
  void* const storage = va_arg(more, void*);
  void* const child_id = va_arg(more, void*);
  va_end(more);
  static const auto real =
      reinterpret_cast<int (*)(int (*)(void*), void*, int, void*, ...)>(dlsym(RTLD_NEXT, "clone"));
  return real(function, stack, flags & ~(CLONE_VM | CLONE_VFORK), argument, parent_id, storage,
              child_id);
}

}  // extern "C"
