// A library that is preloaded into a program under test. The program's n-th memory allocation, or
// its n-th call that writes a file to disk, fails.
//
//   LD_PRELOAD=libfault_shim.so VRAMSCOPE_FAULT=allocation:1234 vramscope info FILE
//
// VRAMSCOPE_FAULT is KIND:N with the KIND
//   allocation       the N-th allocation (from 1) by malloc and related functions, including
//                    operator new
//   EIO, ENOSPC      the N-th write to a file, fsync, fdatasync, ftruncate, linkat or rename, and
//                    all after it, fail with this error
//   EINTR            only the N-th such call is interrupted
//   EINTR-always     the N-th such call and all after it are interrupted
// Writes to standard output and error, to pipes and to sockets never fail.
//
// VRAMSCOPE_FAULT_COUNT=FILE: when the process exits, it writes to FILE how many allocations and
// how many file calls it made. VRAMSCOPE_FAULT_SITES=FILE: for each call stack, writes the number
// of its first allocation to FILE, one number per line. Faults in these allocations cover every
// place that allocates.
//
// VRAMSCOPE_FAULT_SERVER=FOLDER: the program stops before its main() and reads KIND:N lines from
// the pipe FOLDER/in. So the libraries, which take longer to load than most commands to run, are
// loaded once. If the program is started by other programs, VRAMSCOPE_FAULT_PROGRAM is the file
// name of the program that must stop. For each line, the program forks a copy, which continues into
// main() and counts N from the fork. The copy's input is FOLDER/stdin, its output is written to
// FOLDER/stdout and FOLDER/stderr. For each copy, the server writes a line to FOLDER/out: the
// copy's status from waitpid, and its numbers of allocations, calls, faults, and faults in
// allocations by Qt. The server ends when the pipe is closed. A server has one more KIND:
//   each             the copy forks a child at every allocation from the N-th on. This allocation
//                    fails in the child, which continues. No more children are forked once
//                    the copy has a second thread, an open pipe or socket, or a file open for
//                    writing (parent and child would share them). FOLDER/each has a line for each
//                    child: the number of the allocation, the child's status from waitpid, and the
//                    number of bytes that the child wrote to standard error.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
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

enum class Kind { kUnknown, kNone, kAllocation, kEach, kCall, kCallOnce };

std::atomic<Kind> g_kind{Kind::kUnknown};
std::atomic<uint64_t> g_at{0}, g_allocations{0}, g_calls{0};
std::atomic<int> g_error{0};

// The figures that a copy reports to the server, in shared memory.
struct Report {
  std::atomic<uint64_t> allocations, calls, faults, of_qt;
};
Report* g_report = nullptr;

// Parses KIND:N. This is called before constructors run, so it must not depend on them.
Kind Parse(const char* text) {
  const char* colon = text == nullptr ? nullptr : strchr(text, ':');
  if (colon == nullptr) return Kind::kNone;
  const auto is = [&](const char* name) {
    return strlen(name) == static_cast<size_t>(colon - text) &&
           strncmp(text, name, strlen(name)) == 0;
  };
  g_error = is("EIO") ? EIO : is("ENOSPC") ? ENOSPC : EINTR;
  uint64_t at = 0;
  for (const char* digit = colon + 1; *digit >= '0' && *digit <= '9'; ++digit)
    at = at * 10 + static_cast<uint64_t>(*digit - '0');
  g_at = at;
  if (is("allocation")) return Kind::kAllocation;
  if (is("each")) return Kind::kEach;
  if (is("EIO") || is("ENOSPC") || is("EINTR-always")) return Kind::kCall;
  return is("EINTR") ? Kind::kCallOnce : Kind::kNone;
}

Kind KindOfFault() {
  Kind kind = g_kind.load();
  if (kind != Kind::kUnknown || environ == nullptr) return kind;
  kind = Parse(getenv("VRAMSCOPE_FAULT"));
  g_kind = kind;
  return kind;
}

// A hash table of the call stacks seen so far. It has a fixed size, so that insertions do not
// allocate memory.
constexpr size_t kMostSites = size_t{1} << 20;
std::atomic<uint64_t> g_known[kMostSites];
std::atomic<int> g_sites_fd{-2};  // -2: not checked yet, -1: not wanted
// With the default TLS model, the first access would allocate memory if this library is loaded late
// (LD_AUDIT).
__attribute__((tls_model("initial-exec"))) __thread bool t_unwinding = false;

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
  if (g_sites_fd == -1 || t_unwinding || environ == nullptr) return;
  // A server records no call stacks before it serves. Each of its copies counts from 1.
  if (g_report == nullptr && getenv("VRAMSCOPE_FAULT_SERVER") != nullptr) return;
  t_unwinding = true;
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
  t_unwinding = false;
}

// Sets *of_qt if Qt allocated. Skips frames in libraries that allocate on behalf of their callers;
// the next frame decides.
_Unwind_Reason_Code FindCaller(_Unwind_Context* context, void* of_qt) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(_Unwind_GetIP(context)), &info) == 0 ||
      info.dli_fname == nullptr)
    return _URC_END_OF_STACK;
  for (const char* passed : {"fault_shim", "libc.so", "libstdc++", "libgcc_s", "ld-linux"})
    if (strstr(info.dli_fname, passed) != nullptr) return _URC_NO_REASON;
  *static_cast<bool*>(of_qt) = strstr(info.dli_fname, "libQt6") != nullptr;
  return _URC_END_OF_STACK;
}

bool QtAllocates() {
  bool of_qt = false;
  t_unwinding = true;
  _Unwind_Backtrace(&FindCaller, &of_qt);
  t_unwinding = false;
  return of_qt;
}

int OpenIn(const char* folder, const char* name, int flags) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return open(path, flags, 0600);
}

void OpenAs(int fd, const char* folder, const char* name, int flags) {
  const int opened = OpenIn(folder, name, flags);
  if (opened < 0) _exit(126);
  dup2(opened, fd);
  close(opened);
}

// Called in a copy of the program. Redirects the copy's output to files and limits its run time.
void BeginCopy(const char* folder) {
  OpenAs(STDOUT_FILENO, folder, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
  OpenAs(STDERR_FILENO, folder, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
  constexpr unsigned kLongest = 60;  // seconds
  alarm(kLongest);
}

int WaitFor(pid_t pid) {
  int state = 0;
  while (waitpid(pid, &state, 0) < 0 && errno == EINTR) continue;
  return state;
}

char g_folder[400];  // the server's folder
int g_each_fd = -1;

bool OneThread() {
  const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char entries[512];
  const long size = syscall(SYS_getdents64, fd, entries, sizeof entries);
  close(fd);
  int threads = -2;  // does not count "." and ".."
  for (long at = 0; at < size; ++threads) {
    unsigned short length = 0;
    memcpy(&length, entries + at + 16, sizeof length);
    at += length;
  }
  return threads == 1;
}

// The file offsets of descriptors 3 to 63, for regular read-only files. Parent and child share an
// offset, so when the child has read a file, the parent restores the offset.
constexpr int kMostFiles = 64;
struct Places {
  off_t at[kMostFiles];
};
bool Remember(Places* places) {
  for (int fd = STDERR_FILENO + 1; fd < kMostFiles; ++fd) {
    struct stat info {};
    places->at[fd] = -1;
    if (fd == g_each_fd || fstat(fd, &info) != 0) continue;
    // Data that another process sends would reach only one of parent and child.
    if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) return false;
    if (!S_ISREG(info.st_mode)) continue;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY) return false;
    places->at[fd] = lseek(fd, 0, SEEK_CUR);
  }
  return true;
}
void Restore(const Places& places) {
  for (int fd = STDERR_FILENO + 1; fd < kMostFiles; ++fd)
    if (places.at[fd] >= 0) lseek(fd, places.at[fd], SEEK_SET);
}

// Forks a child, in which this allocation must fail. Returns true in the child.
bool CopyHere(uint64_t number) {
  Places places{};
  if (!OneThread() || !Remember(&places)) {
    g_kind = Kind::kNone;
    return false;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    g_kind = Kind::kNone;
    close(g_each_fd);
    BeginCopy(g_folder);
    return true;
  }
  const int state = WaitFor(pid);
  Restore(places);
  char path[512], line[96];
  struct stat info {};
  snprintf(path, sizeof path, "%s/stderr", g_folder);
  stat(path, &info);
  const int size =
      snprintf(line, sizeof line, "%llu %d %lld\n", static_cast<unsigned long long>(number), state,
               static_cast<long long>(info.st_size));
  syscall(SYS_write, g_each_fd, line, static_cast<size_t>(size));
  return false;
}

bool AllocationFails() {
  const uint64_t number = ++g_allocations;
  NoteSite(number);
  if (g_report != nullptr) g_report->allocations = number;
  const Kind kind = KindOfFault();
  if (kind == Kind::kEach) {
    const int before = errno;
    const bool fails = number >= g_at && CopyHere(number);
    errno = before;
    if (!fails) return false;
  } else if (kind != Kind::kAllocation || number != g_at) {
    return false;
  }
  if (g_report != nullptr) {
    ++g_report->faults;
    if (QtAllocates()) ++g_report->of_qt;
  }
  errno = ENOMEM;
  return true;
}

bool CallFails() {
  const uint64_t number = ++g_calls;
  if (g_report != nullptr) g_report->calls = number;
  const Kind kind = KindOfFault();
  if (kind == Kind::kCall ? number < g_at : kind != Kind::kCallOnce || number != g_at) return false;
  if (g_report != nullptr) ++g_report->faults;
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

// Called by the destructor below, which does not run if a process ends with _exit or is killed by a
// signal.
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

// Reads a line without its newline. Returns false at the end of the file.
bool ReadLine(int fd, char* line, size_t size) {
  for (size_t i = 0; i + 1 < size; ++i) {
    if (syscall(SYS_read, fd, line + i, 1) != 1) return false;
    if (line[i] != '\n') continue;
    line[i] = '\0';
    return true;
  }
  return false;
}

// Called in a copy. Sets the copy's counts to 0. Programs that the copy starts are not affected.
void Become(const char* fault) {
  OpenAs(STDIN_FILENO, g_folder, "stdin", O_RDONLY);
  BeginCopy(g_folder);
  unsetenv("VRAMSCOPE_FAULT_SERVER");
  unsetenv("LD_PRELOAD");
  g_kind = Kind::kNone;
  const Kind kind = Parse(fault);
  if (kind == Kind::kEach) {
    alarm(0);
    g_each_fd = OpenIn(g_folder, "each", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  }
  g_allocations = 0;
  g_calls = 0;
  g_kind = kind;
}

// Returns only in the copies of the program, not in the server.
void Serve(const char* folder) {
  char line[64];
  snprintf(g_folder, sizeof g_folder, "%s", folder);
  g_report = static_cast<Report*>(
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const int in = OpenIn(folder, "in", O_RDONLY | O_CLOEXEC),
            out = OpenIn(folder, "out", O_WRONLY | O_CLOEXEC);
  if (g_report == MAP_FAILED || in < 0 || out < 0) _exit(126);
  while (ReadLine(in, line, sizeof line)) {
    g_report->allocations = g_report->calls = g_report->faults = g_report->of_qt = 0;
    const pid_t pid = fork();
    if (pid == 0) {
      close(in);
      close(out);
      return Become(line);
    }
    char reply[128];
    const int state = WaitFor(pid);
    const int size = snprintf(reply, sizeof reply, "%d %llu %llu %llu %llu\n", state,
                              static_cast<unsigned long long>(g_report->allocations.load()),
                              static_cast<unsigned long long>(g_report->calls.load()),
                              static_cast<unsigned long long>(g_report->faults.load()),
                              static_cast<unsigned long long>(g_report->of_qt.load()));
    syscall(SYS_write, out, reply, static_cast<size_t>(size));
  }
  _exit(0);
}

bool IsServed() {
  const char* wanted = getenv("VRAMSCOPE_FAULT_PROGRAM");
  if (wanted == nullptr || *wanted == '\0') return true;
  char path[512];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  const char* slash = strrchr(path, '/');
  return slash != nullptr && strcmp(slash + 1, wanted) == 0;
}

using Main = int (*)(int, char**, char**);
Main g_main = nullptr;

int ServedMain(int argc, char** argv, char** environment) {
  if (const char* folder = getenv("VRAMSCOPE_FAULT_SERVER"); folder != nullptr && IsServed())
    Serve(folder);
  return g_main(argc, argv, environment);
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  g_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(&ServedMain, argc, argv, init, fini, rtld_fini, stack_end);
}

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
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return CallFails()
             ? -1
             : static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int rename(const char* from, const char* to) {
  return CallFails() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

}  // extern "C"
