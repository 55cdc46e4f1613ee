// Preloaded into a program under test: makes its n-th request of memory, or its n-th call that
// brings a file to the disk, fail. Not linked into anything.
//
//   LD_PRELOAD=libfault_shim.so VRAMSCOPE_FAULT=allocation:1234 vramscope info FILE
//
// VRAMSCOPE_FAULT is KIND:N with the KIND
//   allocation       the N-th request (from 1) of malloc and its kin, operator new among them
//   EIO, ENOSPC      the N-th write to a file, fsync, fdatasync, ftruncate or rename fails so, and
//                    all after it
//   EINTR            the N-th alone is interrupted
//   EINTR-always     the N-th and all after it are
// Writes to standard output and error, to pipes and sockets are left alone.
// VRAMSCOPE_FAULT_COUNT=FILE: how many such calls the process made is written there when it ends.
// VRAMSCOPE_FAULT_SITES=FILE: the number of each request of memory that is the first with its
// stack, a line each: who fails those has failed at every place that asks.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

enum class Kind { kUnknown, kNone, kAllocation, kCall, kCallOnce };

std::atomic<Kind> g_kind{Kind::kUnknown};
std::atomic<uint64_t> g_at{0}, g_allocations{0}, g_calls{0};
std::atomic<int> g_error{0};

// Called before any constructor: nothing but plain reads of the environment.
Kind KindOfFault() {
  Kind kind = g_kind.load();
  if (kind != Kind::kUnknown || environ == nullptr) return kind;
  kind = Kind::kNone;
  const char* text = getenv("VRAMSCOPE_FAULT");
  const char* colon = text == nullptr ? nullptr : strchr(text, ':');
  if (colon != nullptr) {
    const auto is = [&](const char* name) {
      return strlen(name) == static_cast<size_t>(colon - text) &&
             strncmp(text, name, strlen(name)) == 0;
    };
    if (is("allocation")) kind = Kind::kAllocation;
    if (is("EIO") || is("ENOSPC") || is("EINTR-always")) kind = Kind::kCall;
    if (is("EINTR")) kind = Kind::kCallOnce;
    g_error = is("EIO") ? EIO : is("ENOSPC") ? ENOSPC : EINTR;
    uint64_t at = 0;
    for (const char* digit = colon + 1; *digit >= '0' && *digit <= '9'; ++digit)
      at = at * 10 + static_cast<uint64_t>(*digit - '0');
    g_at = at;
  }
  g_kind = kind;
  return kind;
}

// The numbers of the first requests with a stack. A table of hashes, so that it needs no memory.
constexpr size_t kMostSites = size_t{1} << 20;
std::atomic<uint64_t> g_known[kMostSites];
std::atomic<int> g_sites_fd{-2};  // -2: not looked at yet, -1: not wanted
__thread bool t_looking = false;

struct Walk {
  uint64_t hash = 0;
  int depth = 0;
};
_Unwind_Reason_Code OfFrame(_Unwind_Context* context, void* to) {
  auto* walk = static_cast<Walk*>(to);
  walk->hash = (walk->hash ^ _Unwind_GetIP(context)) * 0x9e3779b97f4a7c15;
  walk->hash ^= walk->hash >> 29;
  constexpr int kDeepest = 40;
  return ++walk->depth < kDeepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void NoteSite(uint64_t number) {
  if (g_sites_fd == -1 || t_looking || environ == nullptr) return;
  t_looking = true;
  if (g_sites_fd == -2) {
    const char* path = getenv("VRAMSCOPE_FAULT_SITES");
    g_sites_fd = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  if (g_sites_fd >= 0) {
    Walk walk;
    _Unwind_Backtrace(&OfFrame, &walk);
    const uint64_t key = walk.hash | 1;
    for (size_t i = walk.hash >> 20 & (kMostSites - 1), left = kMostSites; left > 0;
         i = (i + 1) & (kMostSites - 1), --left) {
      uint64_t there = 0;
      if (g_known[i].compare_exchange_strong(there, key)) {
        char text[32];
        const int size =
            snprintf(text, sizeof text, "%llu\n", static_cast<unsigned long long>(number));
        syscall(SYS_write, g_sites_fd.load(), text, static_cast<size_t>(size));
        break;
      }
      if (there == key) break;
    }
  }
  t_looking = false;
}

bool AllocationFails() {
  const uint64_t number = ++g_allocations;
  NoteSite(number);
  if (KindOfFault() != Kind::kAllocation || number != g_at) return false;
  errno = ENOMEM;
  return true;
}

bool CallFails() {
  const uint64_t number = ++g_calls;
  const Kind kind = KindOfFault();
  if (kind == Kind::kCall ? number < g_at : kind != Kind::kCallOnce || number != g_at) return false;
  errno = g_error;
  return true;
}

bool IsFile(int fd) {
  const int before = errno;
  struct stat info {};
  const bool is = fd > STDERR_FILENO && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  errno = before;
  return is;
}

// Also of a process that ends by _exit or a signal handler's.
void WriteCount() {
  const char* path = getenv("VRAMSCOPE_FAULT_COUNT");
  if (path == nullptr) return;
  char text[64];
  const int size = snprintf(text, sizeof text, "%llu %llu\n",
                            static_cast<unsigned long long>(g_allocations.load()),
                            static_cast<unsigned long long>(g_calls.load()));
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  syscall(SYS_write, fd, text, static_cast<size_t>(size));
  close(fd);
}

__attribute__((destructor)) void AtEnd() { WriteCount(); }

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return AllocationFails() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return AllocationFails() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  return AllocationFails() ? nullptr : __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  return AllocationFails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return AllocationFails() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  if (AllocationFails()) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (IsFile(fd) && CallFails()) return -1;
  return syscall(SYS_write, fd, bytes, size);
}
int fsync(int fd) { return CallFails() ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { return CallFails() ? -1 : static_cast<int>(syscall(SYS_fdatasync, fd)); }
int ftruncate(int fd, off_t size) {
  return CallFails() ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int rename(const char* from, const char* to) {
  return CallFails() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

}  // extern "C"
