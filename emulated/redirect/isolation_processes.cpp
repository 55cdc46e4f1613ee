// Implements functions that start processes, and functions on sockets.
#include <alloca.h>
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "emulated/redirect/environment.h"
#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

// --- preparing the start of a program ---

size_t Count(char* const* list) {
  size_t count = 0;
  while (list != nullptr && list[count] != nullptr) ++count;
  return count;
}

struct Start {
  Place place;          // place of the file
  Place interpreter;    // place of the interpreter of an isolated script
  char line[PATH_MAX];  // a script's first line
  const char* path;     // the path for the kernel to start
  char* const* arguments;
};

// Reads a script's first line and finds the interpreter. Without this, the kernel would not find an
// interpreter that was changed, and would pass a changed script by its path in the folder of
// changes.
int FindInterpreter(const char* given, char* const* arguments, char** out, Start& start) {
  const int fd = kernel::Open(start.path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const long got = kernel::Read(fd, start.line, sizeof start.line - 1);
  kernel::Close(fd);
  if (got < 3 || start.line[0] != '#' || start.line[1] != '!') return 0;
  start.line[got] = 0;
  start.line[strcspn(start.line, "\n")] = 0;
  char* name = start.line + 2 + strspn(start.line + 2, " \t");
  if (*name == 0) return 0;
  char* argument = name + strcspn(name, " \t");
  if (*argument != 0) {
    *argument++ = 0;
    argument += strspn(argument, " \t");
    for (size_t end = strlen(argument); end > 0 && strchr(" \t\r", argument[end - 1]) != nullptr;)
      argument[--end] = 0;
  }
  const int error = Resolve(AT_FDCWD, name, kFollow, start.interpreter);
  if (error < 0) return error;
  if (!start.interpreter.exists()) return -ENOENT;
  if (start.place.upper == Kind::kNone && start.interpreter.upper == Kind::kNone) return 0;
  const int allowed = kernel::Access(start.path, X_OK);
  if (allowed < 0) return allowed;
  size_t count = 0;
  out[count++] = name;
  if (*argument != 0) out[count++] = argument;
  out[count++] = const_cast<char*>(given);
  for (size_t i = 1; i < Count(arguments); ++i) out[count++] = arguments[i];
  out[count] = nullptr;
  start.path = start.interpreter.visible();
  start.arguments = out;
  return 0;
}

// `out` needs space for four more entries than there are arguments.
int Prepare(const char* path, char* const* arguments, char** out, Start& start) {
  start.path = path;
  start.arguments = arguments;
  if (Passes(path, false)) return 0;
  const int error = Resolve(AT_FDCWD, path, kFollow, start.place);
  if (error < 0) return error;
  if (!start.place.exists()) return -ENOENT;
  start.path = start.place.visible();
  return FindInterpreter(path, arguments, out, start);
}

// Not inlined, so that its stack is released after each call, even in a loop.
__attribute__((noinline)) int Execute(const char* path, char* const* arguments,
                                      char* const* environment) {
  char** entries = static_cast<char**>(alloca(EntriesOf(environment) * sizeof(char*)));
  char* text = static_cast<char*>(alloca(kEnvironmentText));
  environment = Complete(environment, entries, text);
  char** out = static_cast<char**>(alloca((Count(arguments) + 4) * sizeof(char*)));
  Start start;
  const int error = Prepare(path, arguments, out, start);
  return static_cast<int>(error < 0
                              ? error
                              : kernel::Call(SYS_execve, kernel::Of(start.path),
                                             kernel::Of(start.arguments), kernel::Of(environment)));
}

// Calls `at` with each path in $PATH, and stops at the first result other than "not found".
template <typename Function>
int Search(const char* name, Function at) {
  if (name[0] == 0) return -ENOENT;
  if (strchr(name, '/') != nullptr) return at(name);
  const char* folders = getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  int answer = -ENOENT;
  char path[PATH_MAX];
  for (const char* folder = folders;; ++folder) {
    const char* end = strchrnul(folder, ':');
    const int length = static_cast<int>(end - folder);
    if (snprintf(path, sizeof path, "%.*s%s%s", length, folder, length > 0 ? "/" : "", name) <
        static_cast<int>(sizeof path)) {
      const int error = at(path);
      if (error == -EACCES) {
        answer = error;
      } else if (error != -ENOENT && error != -ENOTDIR && error != -ENODEV && error != -ESTALE) {
        return error;
      }
    }
    if (*end == 0) return answer;
    folder = end;
  }
}

int ExecuteFound(const char* name, char* const* arguments, char* const* environment) {
  return Search(name, [=](const char* path) {
    const int error = Execute(path, arguments, environment);
    if (error != -ENOEXEC) return error;
    // A shell runs a script without a #! line, as with execvp.
    const size_t count = Count(arguments);
    char** shell = static_cast<char**>(alloca((count + 3) * sizeof(char*)));
    shell[0] = const_cast<char*>("/bin/sh");
    shell[1] = const_cast<char*>(path);
    for (size_t i = 1; i < count; ++i) shell[i + 1] = arguments[i];
    shell[count > 0 ? count + 1 : 2] = nullptr;
    return Execute("/bin/sh", shell, environment);
  });
}

// Collects the arguments of execl and similar functions: `first`, and those after it.
#define VRAMSCOPE_ARGUMENTS(first, list, arguments)                            \
  va_list list;                                                                \
  va_start(list, first);                                                       \
  size_t count = 1;                                                            \
  while (va_arg(list, char*) != nullptr) ++count;                              \
  va_end(list);                                                                \
  char** arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  va_start(list, first);                                                       \
  arguments[0] = const_cast<char*>(first);                                     \
  for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*);

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

__attribute__((noinline)) int SpawnPath(pid_t* pid, const char* path,
                                        const posix_spawn_file_actions_t* actions,
                                        const posix_spawnattr_t* attributes, char* const* arguments,
                                        char* const* environment) {
  static void* next;
  char** entries = static_cast<char**>(alloca(EntriesOf(environment) * sizeof(char*)));
  char* text = static_cast<char*>(alloca(kEnvironmentText));
  environment = Complete(environment, entries, text);
  char** out = static_cast<char**>(alloca((Count(arguments) + 4) * sizeof(char*)));
  Start start;
  const int error = Prepare(path, arguments, out, start);
  if (error < 0) return -error;
  return NextAs<Spawn>(next, "posix_spawn")(pid, start.path, actions, attributes, start.arguments,
                                            environment);
}

// A file that this process has opened for a child process before it starts the child.
struct Opened {
  const void* actions;
  int fd;
};
Opened opened[64];

void KeepUntilSpawned(const void* actions, int fd) {
  for (Opened& one : opened) {
    const void* none = nullptr;
    if (__atomic_compare_exchange_n(&one.actions, &none, actions, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      one.fd = fd;
      return;
    }
  }
}

void CloseSpawned(const void* actions) {
  for (Opened& one : opened) {
    if (__atomic_load_n(&one.actions, __ATOMIC_ACQUIRE) != actions) continue;
    kernel::Close(one.fd);
    __atomic_store_n(&one.actions, nullptr, __ATOMIC_RELEASE);
  }
}

// --- sockets ---

bool IsOutOfReach(const struct sockaddr* address, socklen_t size) {
  if (!NoNetwork() || address == nullptr || size < sizeof address->sa_family) return false;
  if (address->sa_family == AF_INET && size >= sizeof(struct sockaddr_in)) {
    const auto* inet = reinterpret_cast<const struct sockaddr_in*>(address);
    const uint32_t host = ntohl(inet->sin_addr.s_addr);
    return host >> 24 != 127 && host != INADDR_ANY;  // the unspecified address means this computer
  }
  if (address->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6)) {
    const struct in6_addr& host = reinterpret_cast<const struct sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&host)) return host.s6_addr[12] != 127;
    return !IN6_IS_ADDR_LOOPBACK(&host) && !IN6_IS_ADDR_UNSPECIFIED(&host);
  }
  return false;
}

struct Socket {
  const struct sockaddr* address;
  socklen_t size;
  struct sockaddr_un own;
  int folder = -1;  // folder of the address in `own`
};

// Stores the path in the program's socket address. Returns false if there is none.
bool PathOfSocket(const struct sockaddr* address, socklen_t size, char* to) {
  constexpr size_t kAt = offsetof(struct sockaddr_un, sun_path);
  if (!Copies() || address == nullptr || size <= kAt || address->sa_family != AF_UNIX) return false;
  const auto* local = reinterpret_cast<const struct sockaddr_un*>(address);
  if (local->sun_path[0] == 0) return false;
  const size_t length = strnlen(local->sun_path, size - kAt);
  memcpy(to, local->sun_path, length);
  to[length] = 0;
  return true;
}

bool Fill(Socket& to, const char* path) {
  const size_t length = strlen(path);
  if (length >= sizeof to.own.sun_path) return false;
  to.own.sun_family = AF_UNIX;
  memcpy(to.own.sun_path, path, length + 1);
  to.address = reinterpret_cast<const struct sockaddr*>(&to.own);
  to.size = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + length + 1);
  return true;
}

// Fills in a path that is too long for an address. It is written relative to a descriptor of its
// folder.
int FillByFolder(Socket& to, const char* path) {
  char folder[2 * PATH_MAX], name[256];
  const char* slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", static_cast<int>(slash - path), path);
  to.folder = kernel::Open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (to.folder < 0) return to.folder;
  snprintf(name, sizeof name, "/proc/self/fd/%d", to.folder);
  if (strlen(name) + strlen(slash) + 1 <= sizeof name && Fill(to, strcat(name, slash))) return 0;
  kernel::Close(to.folder);
  return -ENAMETOOLONG;
}

// Determines the address to use for a message or a connection.
int Reach(const struct sockaddr* address, socklen_t size, Socket& to) {
  to.address = address;
  to.size = size;
  if (IsOutOfReach(address, size)) return -ENETUNREACH;
  char path[256];
  if (!PathOfSocket(address, size, path)) return 0;
  Place place;
  Where where;
  int error = FindForReading(AT_FDCWD, path, true, place, where);
  if (error < 0 || where.path == path || Fill(to, where.path)) return error;
  return FillByFolder(to, where.path);
}

int Bind(int fd, const struct sockaddr* address, socklen_t size) {
  const auto bind = [fd](const struct sockaddr* at, socklen_t length) {
    return static_cast<int>(kernel::Call(SYS_bind, fd, kernel::Of(at), length));
  };
  char path[256];
  if (!PathOfSocket(address, size, path)) return bind(address, size);
  Place place;
  int error = Resolve(AT_FDCWD, path, 0, place);
  if (error < 0) return error;
  if (place.real) return bind(address, size);
  error = PrepareNew(place);
  if (error < 0) return error == -EEXIST ? -EADDRINUSE : error;
  Socket own;
  if (Fill(own, place.spot.upper())) return bind(own.address, own.size);
  // The path is too long for an address, so this binds to a short name, and makes the socket's own
  // name a hard link to it.
  static int counter;
  char name[PATH_MAX + 128];
  snprintf(name, sizeof name, "%s/%s", Changes(), VRAMSCOPE_ISOLATION_SOCKETS);
  kernel::MakeFolder(name, 0700);
  snprintf(name, sizeof name, "%s/%s/%ld-%d", Changes(), VRAMSCOPE_ISOLATION_SOCKETS,
           kernel::Call(SYS_getpid), __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED));
  if (Fill(own, name)) {
    error = bind(own.address, own.size);
    return error < 0 ? error : kernel::HardLink(name, place.spot.upper());
  }
  error = FillByFolder(own, place.spot.upper());  // getsockname() will return another name
  if (error < 0) return error;
  error = bind(own.address, own.size);
  kernel::Close(own.folder);
  return error;
}

}  // namespace
}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the C library's

VRAMSCOPE_FUNCTION(int, execve,
                   (const char* path, char* const* arguments, char* const* environment)) {
  return AnswerInt(Execute(path, arguments, environment));
}
VRAMSCOPE_FUNCTION(int, execv, (const char* path, char* const* arguments)) {
  return AnswerInt(Execute(path, arguments, environ));
}
VRAMSCOPE_FUNCTION(int, execvp, (const char* name, char* const* arguments)) {
  return AnswerInt(ExecuteFound(name, arguments, environ));
}
VRAMSCOPE_FUNCTION(int, execvpe,
                   (const char* name, char* const* arguments, char* const* environment)) {
  return AnswerInt(ExecuteFound(name, arguments, environment));
}
VRAMSCOPE_FUNCTION(int, execl, (const char* path, const char* first, ...)) {
  VRAMSCOPE_ARGUMENTS(first, list, arguments)
  va_end(list);
  return AnswerInt(Execute(path, arguments, environ));
}
VRAMSCOPE_FUNCTION(int, execlp, (const char* name, const char* first, ...)) {
  VRAMSCOPE_ARGUMENTS(first, list, arguments)
  va_end(list);
  return AnswerInt(ExecuteFound(name, arguments, environ));
}
VRAMSCOPE_FUNCTION(int, execle, (const char* path, const char* first, ...)) {
  VRAMSCOPE_ARGUMENTS(first, list, arguments)
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return AnswerInt(Execute(path, arguments, environment));
}
VRAMSCOPE_FUNCTION(int, fexecve, (int fd, char* const* arguments, char* const* environment)) {
  char** entries = static_cast<char**>(alloca(EntriesOf(environment) * sizeof(char*)));
  char* text = static_cast<char*>(alloca(kEnvironmentText));
  return AnswerInt(kernel::Call(SYS_execveat, fd, kernel::Of(""), kernel::Of(arguments),
                                kernel::Of(Complete(environment, entries, text)), AT_EMPTY_PATH));
}
VRAMSCOPE_FUNCTION(int, posix_spawn,
                   (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, char* const* arguments,
                    char* const* environment)) {
  return SpawnPath(pid, path, actions, attributes, arguments, environment);
}
VRAMSCOPE_FUNCTION(int, posix_spawnp,
                   (pid_t * pid, const char* name, const posix_spawn_file_actions_t* actions,
                    const posix_spawnattr_t* attributes, char* const* arguments,
                    char* const* environment)) {
  return -Search(name, [=](const char* path) {
    return -SpawnPath(pid, path, actions, attributes, arguments, environment);
  });
}
// Opens the file in this process. The C library would open it in the child with a direct system
// call.
VRAMSCOPE_FUNCTION(int, posix_spawn_file_actions_addopen,
                   (posix_spawn_file_actions_t * actions, int fd, const char* path, int flags,
                    mode_t mode)) {
  static void* next;
  static void* next_duplicate;
  const auto real = NextAs<int(posix_spawn_file_actions_t*, int, const char*, int, mode_t)>(
      next, "posix_spawn_file_actions_addopen");
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if (Passes(path, writes)) return real(actions, fd, path, flags, mode);
  if (!writes) {
    Place place;
    Where where;
    const int error = FindForReading(AT_FDCWD, path, true, place, where);
    return error < 0 ? -error : real(actions, fd, where.path, flags, mode);
  }
  const int made = static_cast<int>(OpenAt(AT_FDCWD, path, flags | O_CLOEXEC, mode));
  if (made < 0) return -made;
  KeepUntilSpawned(actions, made);
  return NextAs<int(posix_spawn_file_actions_t*, int, int)>(
      next_duplicate, "posix_spawn_file_actions_adddup2")(actions, made, fd);
}
VRAMSCOPE_FUNCTION(int, posix_spawn_file_actions_destroy, (posix_spawn_file_actions_t * actions)) {
  static void* next;
  CloseSpawned(actions);
  return NextAs<int(posix_spawn_file_actions_t*)>(next,
                                                  "posix_spawn_file_actions_destroy")(actions);
}
VRAMSCOPE_FUNCTION(int, posix_spawn_file_actions_addchdir_np,
                   (posix_spawn_file_actions_t * actions, const char* path)) {
  static void* next;
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  if (error < 0) return -error;
  return NextAs<int(posix_spawn_file_actions_t*, const char*)>(
      next, "posix_spawn_file_actions_addchdir_np")(actions, where.path);
}
VRAMSCOPE_FUNCTION(int, system, (const char* command)) {
  static void* next;
  CompleteOwn();
  return NextAs<int(const char*)>(next, "system")(command);
}
VRAMSCOPE_FUNCTION(FILE*, popen, (const char* command, const char* mode)) {
  static void* next;
  CompleteOwn();
  return NextAs<FILE*(const char*, const char*)>(next, "popen")(command, mode);
}

VRAMSCOPE_FUNCTION(int, bind, (int fd, const struct sockaddr* address, socklen_t size)) {
  return AnswerInt(Bind(fd, address, size));
}
VRAMSCOPE_FUNCTION(int, connect, (int fd, const struct sockaddr* address, socklen_t size)) {
  Socket to;
  const int error = Reach(address, size, to);
  if (error < 0) return AnswerInt(error);
  const long result = kernel::Call(SYS_connect, fd, kernel::Of(to.address), to.size);
  if (to.folder >= 0) kernel::Close(to.folder);
  return AnswerInt(result);
}
VRAMSCOPE_FUNCTION(ssize_t, sendto,
                   (int fd, const void* data, size_t length, int flags,
                    const struct sockaddr* address, socklen_t size)) {
  Socket to;
  const int error = Reach(address, size, to);
  if (error < 0) return AnswerInt(error);
  const long result = kernel::Call(SYS_sendto, fd, kernel::Of(data), static_cast<long>(length),
                                   flags, kernel::Of(to.address), to.size);
  if (to.folder >= 0) kernel::Close(to.folder);
  return Answer(result);
}
VRAMSCOPE_FUNCTION(ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags)) {
  Socket to;
  struct msghdr own = *message;
  const int error =
      Reach(static_cast<const struct sockaddr*>(message->msg_name), message->msg_namelen, to);
  if (error < 0) return AnswerInt(error);
  own.msg_name = const_cast<struct sockaddr*>(to.address);
  own.msg_namelen = to.size;
  const long result = kernel::Call(SYS_sendmsg, fd, kernel::Of(&own), flags);
  if (to.folder >= 0) kernel::Close(to.folder);
  return Answer(result);
}
VRAMSCOPE_FUNCTION(int, sendmmsg, (int fd, struct mmsghdr* messages, unsigned count, int flags)) {
  for (unsigned i = 0; i < count; ++i) {
    const auto* address = static_cast<const struct sockaddr*>(messages[i].msg_hdr.msg_name);
    if (IsOutOfReach(address, messages[i].msg_hdr.msg_namelen)) return AnswerInt(-ENETUNREACH);
  }
  return AnswerInt(kernel::Call(SYS_sendmmsg, fd, kernel::Of(messages), count, flags));
}
