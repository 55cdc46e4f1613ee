// Provides functions of newer C libraries for the statically linked C++ library and libgcc
// (README.md).
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#define VRAMSCOPE_NEWER extern "C" __attribute__((visibility("hidden")))

// New in 2.32. The value 0 means that there may be other threads, so it is always safe.
VRAMSCOPE_NEWER char __libc_single_threaded;
char __libc_single_threaded = 0;

// New in 2.36. Called by std::random_device if libstdc++ was built with glibc 2.36 or
// later.
VRAMSCOPE_NEWER uint32_t arc4random() {
  uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) abort();  // like the C library's own function
  return value;
}

// New in 2.30. Older C libraries can only wait by CLOCK_REALTIME, so the deadline is converted to
// it.
VRAMSCOPE_NEWER int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           clockid_t clock, const timespec* until) {
  constexpr long kSecond = 1'000'000'000;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  timespec now{}, real{};
  if (clock_gettime(clock, &now) != 0) return EINVAL;
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  while (real.tv_nsec < 0) real.tv_nsec += kSecond, --real.tv_sec;
  while (real.tv_nsec >= kSecond) real.tv_nsec -= kSecond, ++real.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &real);
}

// New in 2.35. Finds the loaded object that contains an address, and its unwind table. libgcc's
// unwinder calls it for every frame.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
namespace {

struct Search {
  uintptr_t address;
  dl_find_object* result;
};

int FindObject(dl_phdr_info* info, size_t, void* data) {
  const auto* search = static_cast<Search*>(data);
  uintptr_t begin = UINTPTR_MAX, end = 0;
  const ElfW(Phdr)* table = nullptr;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) table = &part;
    if (part.p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (from + part.p_memsz > end) end = from + part.p_memsz;
    inside |= search->address >= from && search->address < from + part.p_memsz;
  }
  if (!inside || table == nullptr) return 0;
  *search->result = {};
  search->result->dlfo_map_start = reinterpret_cast<void*>(begin);
  search->result->dlfo_map_end = reinterpret_cast<void*>(end);
  search->result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + table->p_vaddr);
  return 1;
}

}  // namespace

VRAMSCOPE_NEWER int _dl_find_object(void* address, dl_find_object* result) noexcept {
  using Function = int (*)(void*, dl_find_object*);
  // Prefers the C library's own function, which is faster and takes no lock.
  static const auto newer = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  if (newer != nullptr) return newer(address, result);
  Search search{reinterpret_cast<uintptr_t>(address), result};
  return dl_iterate_phdr(FindObject, &search) == 1 ? 0 : -1;
}
#endif
