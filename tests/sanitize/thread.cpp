// Linked into every test that is built with ThreadSanitizer: behaviour of Qt that its runtime does
// not know.
#include <dlfcn.h>
#include <sched.h>

#include <cstdarg>

extern "C" {

// Qt 6.4 starts programs with clone(CLONE_VM | CLONE_VFORK). ThreadSanitizer's clone assumes that
// the child has separate memory, and makes it ignore all locks. With shared memory this affects the
// parent, whose main thread then seems to hold no lock for the rest of its life. So here the child
// gets separate memory.
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
