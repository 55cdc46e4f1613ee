#include "emulated/redirect/gate.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"

#if defined(__x86_64__)

#include <linux/audit.h>

namespace vramscope::isolation {
namespace {

// The address of the page from which this library makes its own system calls. It is above the
// memory of sanitizers and below programs and libraries.
constexpr unsigned long kGate = 0x110000000000;
constexpr unsigned long kGateSize = 4096;
constexpr unsigned char kCode[] = {0x0f, 0x05, 0xc3};  // syscall; ret

constexpr unsigned kX32 = 0x40000000;
constexpr long kFileModeAt2 = 452;
// These calls fail with ENOSYS, because a filter cannot read structures, a ring's operations, or
// the path of a file handle. Programs have fallbacks for these calls.
constexpr int kMissingCalls[] = {437 /* openat2 */,      SYS_io_uring_setup,
                                 463 /* setxattrat */,   466 /* removexattrat */,
                                 469 /* file_setattr */, SYS_open_by_handle_at};
constexpr size_t kMissing = sizeof kMissingCalls / sizeof kMissingCalls[0];
// FS_IOC_SETFLAGS, its 32-bit variant, FS_IOC_SETVERSION and FS_IOC_FSSETXATTR. They change a
// file's attributes through a read-only descriptor, which may be that of a real file. So they fail,
// as on a file system without attributes.
constexpr unsigned kRefusedRequests[] = {0x40086602, 0x40046602, 0x40087602, 0x401c5820};
constexpr size_t kRefused = sizeof kRefusedRequests / sizeof kRefusedRequests[0];
constexpr int kCallsThatWrite[] = {
    SYS_creat,     SYS_mkdir,       SYS_mkdirat,      SYS_rmdir,        SYS_unlink,   SYS_unlinkat,
    SYS_rename,    SYS_renameat,    SYS_renameat2,    SYS_link,         SYS_linkat,   SYS_symlink,
    SYS_symlinkat, SYS_mknod,       SYS_mknodat,      SYS_chmod,        SYS_fchmod,   SYS_fchmodat,
    kFileModeAt2,  SYS_chown,       SYS_lchown,       SYS_fchown,       SYS_fchownat, SYS_utime,
    SYS_utimes,    SYS_futimesat,   SYS_utimensat,    SYS_truncate,     SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_bind};
constexpr size_t kCalls = sizeof kCallsThatWrite / sizeof kCallsThatWrite[0];

// --- the trapped calls are implemented by the interposed functions, which set errno ---

extern "C" {
#define VRAMSCOPE_CALL(result, name, ...) result Trapped_##name(__VA_ARGS__) __asm__(#name);
VRAMSCOPE_CALL(int, unlinkat, int, const char*, int)
VRAMSCOPE_CALL(int, renameat2, int, const char*, int, const char*, unsigned)
VRAMSCOPE_CALL(int, linkat, int, const char*, int, const char*, int)
VRAMSCOPE_CALL(int, symlinkat, const char*, int, const char*)
VRAMSCOPE_CALL(int, mknodat, int, const char*, mode_t, dev_t)
VRAMSCOPE_CALL(int, fchmodat, int, const char*, mode_t, int)
VRAMSCOPE_CALL(int, fchmod, int, mode_t)
VRAMSCOPE_CALL(int, fchownat, int, const char*, uid_t, gid_t, int)
VRAMSCOPE_CALL(int, fchown, int, uid_t, gid_t)
VRAMSCOPE_CALL(int, utime, const char*, const void*)
VRAMSCOPE_CALL(int, futimesat, int, const char*, const void*)
VRAMSCOPE_CALL(int, utimensat, int, const char*, const void*, int)
VRAMSCOPE_CALL(int, truncate, const char*, off_t)
VRAMSCOPE_CALL(int, setxattr, const char*, const char*, const void*, size_t, int)
VRAMSCOPE_CALL(int, lsetxattr, const char*, const char*, const void*, size_t, int)
VRAMSCOPE_CALL(int, fsetxattr, int, const char*, const void*, size_t, int)
VRAMSCOPE_CALL(int, removexattr, const char*, const char*)
VRAMSCOPE_CALL(int, lremovexattr, const char*, const char*)
VRAMSCOPE_CALL(int, fremovexattr, int, const char*)
VRAMSCOPE_CALL(int, bind, int, const void*, unsigned)
#undef VRAMSCOPE_CALL
}

template <typename To>
To As(long value) {
  return reinterpret_cast<To>(value);
}

long Removed(int folder, long path, long flags) {
  return Trapped_unlinkat(folder, As<const char*>(path), static_cast<int>(flags));
}
long Renamed(int from_folder, long from, int to_folder, long to, long flags) {
  return Trapped_renameat2(from_folder, As<const char*>(from), to_folder, As<const char*>(to),
                           static_cast<unsigned>(flags));
}

// Makes the call. Returns its result in the C library's convention, with -1 and errno for an error.
long ByFunction(long number, const long* a) {
  const auto path = [a](int i) { return As<const char*>(a[i]); };
  const auto pointer = [a](int i) { return As<const void*>(a[i]); };
  const auto integer = [a](int i) { return static_cast<int>(a[i]); };
  const auto word = [a](int i) { return static_cast<unsigned>(a[i]); };
  const auto size = [a](int i) { return static_cast<size_t>(a[i]); };
  switch (number) {
    case SYS_rmdir:
      return Removed(AT_FDCWD, a[0], AT_REMOVEDIR);
    case SYS_unlink:
      return Removed(AT_FDCWD, a[0], 0);
    case SYS_unlinkat:
      return Removed(integer(0), a[1], a[2]);
    case SYS_rename:
      return Renamed(AT_FDCWD, a[0], AT_FDCWD, a[1], 0);
    case SYS_renameat:
      return Renamed(integer(0), a[1], integer(2), a[3], 0);
    case SYS_renameat2:
      return Renamed(integer(0), a[1], integer(2), a[3], a[4]);
    case SYS_link:
      return Trapped_linkat(AT_FDCWD, path(0), AT_FDCWD, path(1), 0);
    case SYS_linkat:
      return Trapped_linkat(integer(0), path(1), integer(2), path(3), integer(4));
    case SYS_symlink:
      return Trapped_symlinkat(path(0), AT_FDCWD, path(1));
    case SYS_symlinkat:
      return Trapped_symlinkat(path(0), integer(1), path(2));
    case SYS_mknod:
      return Trapped_mknodat(AT_FDCWD, path(0), word(1), static_cast<dev_t>(a[2]));
    case SYS_mknodat:
      return Trapped_mknodat(integer(0), path(1), word(2), static_cast<dev_t>(a[3]));
    case SYS_chmod:
      return Trapped_fchmodat(AT_FDCWD, path(0), word(1), 0);
    case SYS_fchmod:
      return Trapped_fchmod(integer(0), word(1));
    case SYS_fchmodat:
      return Trapped_fchmodat(integer(0), path(1), word(2), 0);
    case kFileModeAt2:
      return Trapped_fchmodat(integer(0), path(1), word(2), integer(3));
    case SYS_chown:
      return Trapped_fchownat(AT_FDCWD, path(0), word(1), word(2), 0);
    case SYS_lchown:
      return Trapped_fchownat(AT_FDCWD, path(0), word(1), word(2), AT_SYMLINK_NOFOLLOW);
    case SYS_fchown:
      return Trapped_fchown(integer(0), word(1), word(2));
    case SYS_fchownat:
      return Trapped_fchownat(integer(0), path(1), word(2), word(3), integer(4));
    case SYS_utime:
      return Trapped_utime(path(0), pointer(1));
    case SYS_utimes:
      return Trapped_futimesat(AT_FDCWD, path(0), pointer(1));
    case SYS_futimesat:
      return Trapped_futimesat(integer(0), path(1), pointer(2));
    case SYS_utimensat:
      return Trapped_utimensat(integer(0), path(1), pointer(2), integer(3));
    case SYS_truncate:
      return Trapped_truncate(path(0), a[1]);
    case SYS_setxattr:
      return Trapped_setxattr(path(0), path(1), pointer(2), size(3), integer(4));
    case SYS_lsetxattr:
      return Trapped_lsetxattr(path(0), path(1), pointer(2), size(3), integer(4));
    case SYS_fsetxattr:
      return Trapped_fsetxattr(integer(0), path(1), pointer(2), size(3), integer(4));
    case SYS_removexattr:
      return Trapped_removexattr(path(0), path(1));
    case SYS_lremovexattr:
      return Trapped_lremovexattr(path(0), path(1));
    case SYS_fremovexattr:
      return Trapped_fremovexattr(integer(0), path(1));
    case SYS_bind:
      return Trapped_bind(integer(0), pointer(1), word(2));
    default:
      errno = ENOSYS;
      return -1;
  }
}

long Isolated(long number, const long* a) {
  switch (number) {
    case SYS_open:
      return OpenAt(AT_FDCWD, As<const char*>(a[0]), static_cast<int>(a[1]),
                    static_cast<mode_t>(a[2]));
    case SYS_creat:
      return OpenAt(AT_FDCWD, As<const char*>(a[0]), O_CREAT | O_WRONLY | O_TRUNC,
                    static_cast<mode_t>(a[1]));
    case SYS_openat:
      return OpenAt(static_cast<int>(a[0]), As<const char*>(a[1]), static_cast<int>(a[2]),
                    static_cast<mode_t>(a[3]));
    case SYS_mkdir:
      return MakeFolderAt(AT_FDCWD, As<const char*>(a[0]), static_cast<mode_t>(a[1]));
    case SYS_mkdirat:
      return MakeFolderAt(static_cast<int>(a[0]), As<const char*>(a[1]), static_cast<mode_t>(a[2]));
    default:
      break;
  }
  const int before = errno;
  const long result = ByFunction(number, a);
  const int error = errno;
  errno = before;
  return result < 0 ? -error : result;
}

volatile int probed;  // whether the kernel passed a call to OnTrap()

// Returns whether the path can be read. An invalid address must make the call fail, and not crash
// the program.
bool IsReadable(const void* path) {
  return kernel::Call(SYS_faccessat, AT_FDCWD, kernel::Of(path), F_OK) != -EFAULT;
}

bool HasReadablePaths(long number, const long* a) {
  const bool descriptor = number == SYS_fchmod || number == SYS_fchown || number == SYS_fsetxattr ||
                          number == SYS_fremovexattr || number == SYS_bind;
  if (descriptor) return true;
  const bool at = number == SYS_openat || number == SYS_mkdirat || number == SYS_unlinkat ||
                  number == SYS_renameat || number == SYS_renameat2 || number == SYS_linkat ||
                  number == SYS_mknodat || number == SYS_fchmodat || number == kFileModeAt2 ||
                  number == SYS_fchownat || number == SYS_futimesat || number == SYS_utimensat;
  const long first = a[at ? 1 : 0];
  if (first == 0) return number == SYS_utimensat || number == SYS_futimesat;
  if (!IsReadable(As<const void*>(first))) return false;
  switch (number) {
    case SYS_rename:
    case SYS_link:
    case SYS_symlink:
      return IsReadable(As<const void*>(a[1]));
    case SYS_symlinkat:
      return IsReadable(As<const void*>(a[2]));
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
      return IsReadable(As<const void*>(a[3]));
    default:
      return true;
  }
}

void OnTrap(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                            registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  const long number = info->si_syscall;
  probed = 1;
  registers[REG_RAX] = !HasReadablePaths(number, arguments) ? -EFAULT : Isolated(number, arguments);
}

bool Handle() {
  static void* next;
  const auto act = NextAs<int(int, const struct sigaction*, struct sigaction*)>(next, "sigaction");
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (act == nullptr || act(SIGSYS, &action, nullptr) != 0) return false;
  uint64_t blocked = 1UL << (SIGSYS - 1);
  return kernel::Call(SYS_rt_sigprocmask, SIG_UNBLOCK, kernel::Of(&blocked), 0, sizeof blocked) ==
         0;
}

// Returns whether a parent process has already installed the filter. Tests it with a call that
// changes nothing.
bool IsTrapping() {
  probed = 0;
  long result = SYS_fchmod;
  asm volatile("syscall" : "+a"(result) : "D"(-1L), "S"(0L) : "rcx", "r11", "memory");
  return probed != 0;
}

}  // namespace

bool OpenGate() {
  const long at = kernel::Call(SYS_mmap, kGate, kGateSize, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == -EEXIST) {  // mapped by the other copy of this library in the process
    if (memcmp(As<const void*>(kGate), kCode, sizeof kCode) != 0) return false;
  } else {
    if (at != static_cast<long>(kGate)) return false;
    memcpy(As<void*>(kGate), kCode, sizeof kCode);
    kernel::Call(SYS_mprotect, kGate, kGateSize, PROT_READ | PROT_EXEC);
  }
  kernel::gate = kGate;
  return true;
}

void TrapWrites() {
  if (kernel::gate == 0 || !Handle() || IsTrapping()) return;
  struct sock_filter program[32 + kMissing + kRefused + kCalls];
  unsigned short size = 0;
  const auto add = [&](unsigned short code, unsigned value, unsigned char yes, unsigned char no) {
    program[size++] = {code, yes, no, value};
  };
  constexpr unsigned short kLoad = BPF_LD | BPF_W | BPF_ABS, kEqual = BPF_JMP | BPF_JEQ | BPF_K,
                           kAny = BPF_JMP | BPF_JSET | BPF_K, kAnswer = BPF_RET | BPF_K;
  constexpr unsigned kFlagsOfOpen = offsetof(struct seccomp_data, args) + 8;
  constexpr unsigned kFlagsOfOpenAt = offsetof(struct seccomp_data, args) + 16;
  constexpr unsigned kRequestOfIoctl = offsetof(struct seccomp_data, args) + 8;
  constexpr unsigned kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  add(kLoad, offsetof(struct seccomp_data, arch), 0, 0);
  // A 32-bit call comes from a program without this library.
  add(kEqual, AUDIT_ARCH_X86_64, 1, 0);
  add(kAnswer, SECCOMP_RET_KILL_PROCESS, 0, 0);
  // Calls from the gate are this library's own.
  add(kLoad, offsetof(struct seccomp_data, instruction_pointer) + 4, 0, 0);
  add(kEqual, static_cast<unsigned>(kGate >> 32), 0, 4);
  add(kLoad, offsetof(struct seccomp_data, instruction_pointer), 0, 0);
  add(BPF_ALU | BPF_AND | BPF_K, ~static_cast<unsigned>(kGateSize - 1), 0, 0);
  add(kEqual, static_cast<unsigned>(kGate & 0xffffffff), 0, 1);
  add(kAnswer, SECCOMP_RET_ALLOW, 0, 0);
  add(kLoad, offsetof(struct seccomp_data, nr), 0, 0);
  add(kAny, kX32, 0, 1);
  add(kAnswer, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
  // Traps open() and openat() if they open a file for writing.
  add(kEqual, SYS_open, 0, 3);
  add(kLoad, kFlagsOfOpen, 0, 0);
  add(kAny, kWrites, 0, 5);
  add(kAnswer, SECCOMP_RET_TRAP, 0, 0);
  add(kEqual, SYS_openat, 0, 4);
  add(kLoad, kFlagsOfOpenAt, 0, 0);
  add(kAny, kWrites, 0, 1);
  add(kAnswer, SECCOMP_RET_TRAP, 0, 0);
  add(kAnswer, SECCOMP_RET_ALLOW, 0, 0);
  add(kEqual, SYS_ioctl, 0, kRefused + 3);
  add(kLoad, kRequestOfIoctl, 0, 0);
  for (size_t i = 0; i < kRefused; ++i)
    add(kEqual, kRefusedRequests[i], static_cast<unsigned char>(kRefused - i), 0);
  add(kAnswer, SECCOMP_RET_ALLOW, 0, 0);
  add(kAnswer, SECCOMP_RET_ERRNO | EOPNOTSUPP, 0, 0);
  for (size_t i = 0; i < kMissing; ++i) {
    const bool last = i + 1 == kMissing;
    add(kEqual, static_cast<unsigned>(kMissingCalls[i]),
        static_cast<unsigned char>(kMissing - 1 - i), last ? 1 : 0);
  }
  add(kAnswer, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
  for (size_t i = 0; i < kCalls; ++i)
    add(kEqual, static_cast<unsigned>(kCallsThatWrite[i]), static_cast<unsigned char>(kCalls - i),
        0);
  add(kAnswer, SECCOMP_RET_ALLOW, 0, 0);
  add(kAnswer, SECCOMP_RET_TRAP, 0, 0);
  const struct sock_fprog filter = {size, program};
  if (kernel::Call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  if (kernel::Call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   kernel::Of(&filter)) != 0) {
    kernel::Call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, kernel::Of(&filter));
  }
}

}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the C library's

// Keeps programs from blocking or handling SIGSYS. Otherwise a trapped call would end the program.

VRAMSCOPE_FUNCTION(int, sigaction,
                   (int signal, const struct sigaction* action, struct sigaction* before)) {
  static void* next;
  if (signal == SIGSYS && kernel::gate != 0) {
    if (before != nullptr) memset(before, 0, sizeof *before);
    return 0;
  }
  // While the handler runs, calls of functions that change files must still be trapped.
  struct sigaction own;
  if (action != nullptr && kernel::gate != 0) {
    own = *action;
    sigdelset(&own.sa_mask, SIGSYS);
    action = &own;
  }
  return NextAs<int(int, const struct sigaction*, struct sigaction*)>(next, "sigaction")(
      signal, action, before);
}
VRAMSCOPE_FUNCTION(sighandler_t, signal, (int number, sighandler_t handler)) {
  static void* next;
  if (number == SIGSYS && kernel::gate != 0) return SIG_DFL;
  return NextAs<sighandler_t(int, sighandler_t)>(next, "signal")(number, handler);
}

namespace {

int SetMask(void*& next, const char* name, int how, const sigset_t* set, sigset_t* before) {
  sigset_t own;
  if (set != nullptr && how != SIG_UNBLOCK && kernel::gate != 0) {
    own = *set;
    sigdelset(&own, SIGSYS);
    set = &own;
  }
  return NextAs<int(int, const sigset_t*, sigset_t*)>(next, name)(how, set, before);
}

}  // namespace

VRAMSCOPE_FUNCTION(int, sigprocmask, (int how, const sigset_t* set, sigset_t* before)) {
  static void* next;
  return SetMask(next, "sigprocmask", how, set, before);
}
VRAMSCOPE_FUNCTION(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* before)) {
  static void* next;
  return SetMask(next, "pthread_sigmask", how, set, before);
}

#else

namespace vramscope::isolation {

bool OpenGate() { return false; }
void TrapWrites() {}

}  // namespace vramscope::isolation

#endif
