// Linked into every test that is built with ThreadSanitizer. Works around calls of Qt that the
// runtime does not support.
#include <dlfcn.h>
#include <sched.h>

#include <cstdarg>

extern "C" {

// Replaces clone(), so that the child gets its own memory. Qt 6.4 starts programs with
// clone(CLONE_VM | CLONE_VFORK), and ThreadSanitizer's clone() makes the child ignore all locks. If
// child and parent shared memory, the parent's main thread would then ignore all locks, too.
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
