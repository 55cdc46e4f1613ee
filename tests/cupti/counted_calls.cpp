#include "tests/cupti/counted_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

namespace vramscope::testing {

thread_local bool counting = false;
std::atomic<int> locks{0}, allocations{0}, reservations{0};

namespace {

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace vramscope::testing

using namespace vramscope::testing;  // NOLINT: functions of C follow

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const next = Next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  if (counting) ++locks;
  return next(mutex);
}
extern "C" int posix_fallocate(int fd, off_t at, off_t bytes) {
  static auto* const next = Next<int(int, off_t, off_t)>("posix_fallocate");
  if (counting) ++reservations;
  return next(fd, at, bytes);
}
void* operator new(std::size_t size) {
  if (counting) ++allocations;
  if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
