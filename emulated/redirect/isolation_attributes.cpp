// Implements changes to existing files by path or descriptor: modes, owners, times, sizes,
// attributes.
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <utime.h>

#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"

namespace vramscope::isolation {
namespace {

// Makes a change by path. Calls `apply` with the path to pass to the kernel.
template <typename Function>
long ChangePath(int folder, const char* path, bool follow, Change change, Function apply) {
  if (Passes(path, true)) return apply(folder, path);
  Place place;
  int error = Resolve(folder, path, follow ? kFollow : 0U, place);
  if (error < 0) return error;
  error = PrepareChange(place, change);
  return error < 0 ? error : apply(AT_FDCWD, place.visible());
}

// A descriptor that was opened for reading may be that of the real file, which must not change.
template <typename ByDescriptor, typename ByPath>
long ChangeDescriptor(int fd, Change change, ByDescriptor by_descriptor, ByPath by_path) {
  if (!Copies()) return by_descriptor();
  char path[2 * PATH_MAX], link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = fd < 0 ? -1 : kernel::ReadLinkAt(AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return by_descriptor();
  path[length] = 0;
  struct stat open;
  const size_t prefix = ChangesLength();
  if ((kernel::Fstat(fd, &open) == 0 && open.st_nlink == 0) ||
      (strncmp(path, Changes(), prefix) == 0 && path[prefix] == '/') || IsReal(path)) {
    return by_descriptor();
  }
  Place place;
  int error = Resolve(AT_FDCWD, path, 0, place);
  if (error == 0 && place.real) return by_descriptor();
  // The real file must not change. If it or its folder was removed or renamed, or if a link has its
  // name now, nothing can see the change.
  if (error == -ENOENT || error == -ENOTDIR) return 0;
  if (error < 0) return error;
  if (!place.exists() || place.seen() == Kind::kLink) return 0;
  error = PrepareChange(place, change);
  return error < 0 ? error : by_path(place.visible());
}

}  // namespace
}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the C library's

// --- modes, owners, times, sizes ---

namespace {

int ChangeModeOfDescriptor(int fd, mode_t mode) {
  return AnswerInt(ChangeDescriptor(
      fd, Change::kStatus, [=] { return kernel::Call(SYS_fchmod, fd, mode); },
      [=](const char* path) { return long{kernel::ChangeMode(path, mode)}; }));
}

int ChangeOwnerOfDescriptor(int fd, uid_t user, gid_t group) {
  return AnswerInt(ChangeDescriptor(
      fd, Change::kStatus, [=] { return kernel::Call(SYS_fchown, fd, user, group); },
      [=](const char* path) { return long{kernel::ChangeOwner(path, user, group, 0)}; }));
}

int ChangeModeOf(int folder, const char* path, mode_t mode, int flags) {
  if (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0) {
    if (folder >= 0) return ChangeModeOfDescriptor(folder, mode);
    path = ".";
  }
  const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  return AnswerInt(ChangePath(
      folder, path, follow, Change::kStatus, [mode, follow](int at, const char* where) -> long {
        struct stat status;
        if (!follow && kernel::StatAt(at, where, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(status.st_mode)) {
          return -EOPNOTSUPP;
        }
        return kernel::Call(SYS_fchmodat, at, kernel::Of(where), mode);
      }));
}

int ChangeOwnerOf(int folder, const char* path, uid_t user, gid_t group, int flags) {
  if (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0) {
    if (folder >= 0) return ChangeOwnerOfDescriptor(folder, user, group);
    path = ".";
  }
  return AnswerInt(ChangePath(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, Change::kStatus,
                              [&](int at, const char* where) {
                                return kernel::Call(SYS_fchownat, at, kernel::Of(where), user,
                                                    group, flags);
                              }));
}

int ChangeTimesOfDescriptor(int fd, const struct timespec* times) {
  const auto apply = [times](int at, const char* path) {
    return kernel::Call(SYS_utimensat, at, kernel::Of(path), kernel::Of(times), 0);
  };
  return AnswerInt(ChangeDescriptor(
      fd, Change::kStatus, [&] { return apply(fd, nullptr); },
      [&](const char* path) { return apply(AT_FDCWD, path); }));
}

int ChangeTimesOf(int folder, const char* path, const struct timespec* times, int flags) {
  if (path == nullptr) return ChangeTimesOfDescriptor(folder, times);
  // Setting the times to the current time requires only write permission.
  const Change change = times == nullptr ? Change::kContent : Change::kStatus;
  return AnswerInt(ChangePath(
      folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, change, [&](int at, const char* where) {
        return kernel::Call(SYS_utimensat, at, kernel::Of(where), kernel::Of(times), flags);
      }));
}

const struct timespec* Nanoseconds(const struct timeval* from, struct timespec* to) {
  if (from == nullptr) return nullptr;
  for (int i = 0; i < 2; ++i) to[i] = {from[i].tv_sec, from[i].tv_usec * 1000};
  return to;
}

}  // namespace

VRAMSCOPE_FUNCTION(int, chmod, (const char* path, mode_t mode)) {
  return ChangeModeOf(AT_FDCWD, path, mode, 0);
}
VRAMSCOPE_FUNCTION(int, lchmod, (const char* path, mode_t mode)) {
  return ChangeModeOf(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}
VRAMSCOPE_FUNCTION(int, fchmodat, (int folder, const char* path, mode_t mode, int flags)) {
  return ChangeModeOf(folder, path, mode, flags);
}
VRAMSCOPE_FUNCTION(int, fchmod, (int fd, mode_t mode)) { return ChangeModeOfDescriptor(fd, mode); }
VRAMSCOPE_FUNCTION(int, chown, (const char* path, uid_t user, gid_t group)) {
  return ChangeOwnerOf(AT_FDCWD, path, user, group, 0);
}
VRAMSCOPE_FUNCTION(int, lchown, (const char* path, uid_t user, gid_t group)) {
  return ChangeOwnerOf(AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW);
}
VRAMSCOPE_FUNCTION(int, fchownat,
                   (int folder, const char* path, uid_t user, gid_t group, int flags)) {
  return ChangeOwnerOf(folder, path, user, group, flags);
}
VRAMSCOPE_FUNCTION(int, fchown, (int fd, uid_t user, gid_t group)) {
  return ChangeOwnerOfDescriptor(fd, user, group);
}
VRAMSCOPE_FUNCTION(int, utimensat,
                   (int folder, const char* path, const struct timespec* times, int flags)) {
  return ChangeTimesOf(folder, path, times, flags);
}
VRAMSCOPE_FUNCTION(int, futimens, (int fd, const struct timespec* times)) {
  return ChangeTimesOfDescriptor(fd, times);
}
VRAMSCOPE_FUNCTION(int, utimes, (const char* path, const struct timeval* times)) {
  struct timespec converted[2];
  return ChangeTimesOf(AT_FDCWD, path, Nanoseconds(times, converted), 0);
}
VRAMSCOPE_FUNCTION(int, lutimes, (const char* path, const struct timeval* times)) {
  struct timespec converted[2];
  return ChangeTimesOf(AT_FDCWD, path, Nanoseconds(times, converted), AT_SYMLINK_NOFOLLOW);
}
VRAMSCOPE_FUNCTION(int, futimes, (int fd, const struct timeval* times)) {
  struct timespec converted[2];
  return ChangeTimesOfDescriptor(fd, Nanoseconds(times, converted));
}
VRAMSCOPE_FUNCTION(int, futimesat, (int folder, const char* path, const struct timeval* times)) {
  struct timespec converted[2];
  return ChangeTimesOf(folder, path, Nanoseconds(times, converted), 0);
}
VRAMSCOPE_FUNCTION(int, utime, (const char* path, const struct utimbuf* times)) {
  struct timespec converted[2];
  if (times != nullptr) {
    converted[0] = {times->actime, 0};
    converted[1] = {times->modtime, 0};
  }
  return ChangeTimesOf(AT_FDCWD, path, times != nullptr ? converted : nullptr, 0);
}
VRAMSCOPE_FUNCTION(int, truncate, (const char* path, off_t size)) {
  return AnswerInt(
      ChangePath(AT_FDCWD, path, true, Change::kContent, [size](int at, const char* where) -> long {
        if (at == AT_FDCWD) return kernel::Call(SYS_truncate, kernel::Of(where), size);
        return -ENOENT;
      }));
}
VRAMSCOPE_ALIAS(truncate64, truncate)

// --- extended attributes ---

namespace {

// Makes a system call that changes attributes. Its first argument is the path.
template <typename... Rest>
int ChangeAttributes(long number, const char* path, bool follow, Rest... rest) {
  return AnswerInt(ChangePath(
      AT_FDCWD, path, follow, Change::kContent,
      [&](int, const char* where) { return kernel::Call(number, kernel::Of(where), rest...); }));
}
template <typename... Rest>
ssize_t ReadAttributes(long number, const char* path, bool follow, Rest... rest) {
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, follow, place, where);
  return Answer(error < 0 ? error : kernel::Call(number, kernel::Of(where.path), rest...));
}

}  // namespace

VRAMSCOPE_FUNCTION(int, setxattr,
                   (const char* path, const char* name, const void* value, size_t size,
                    int flags)) {
  return ChangeAttributes(SYS_setxattr, path, true, kernel::Of(name), kernel::Of(value),
                          static_cast<long>(size), long{flags});
}
VRAMSCOPE_FUNCTION(int, lsetxattr,
                   (const char* path, const char* name, const void* value, size_t size,
                    int flags)) {
  return ChangeAttributes(SYS_lsetxattr, path, false, kernel::Of(name), kernel::Of(value),
                          static_cast<long>(size), long{flags});
}
VRAMSCOPE_FUNCTION(int, fsetxattr,
                   (int fd, const char* name, const void* value, size_t size, int flags)) {
  const long text = kernel::Of(name), content = kernel::Of(value), length = static_cast<long>(size);
  return AnswerInt(ChangeDescriptor(
      fd, Change::kContent,
      [=] { return kernel::Call(SYS_fsetxattr, fd, text, content, length, flags); },
      [=](const char* path) {
        return kernel::Call(SYS_lsetxattr, kernel::Of(path), text, content, length, flags);
      }));
}
VRAMSCOPE_FUNCTION(int, removexattr, (const char* path, const char* name)) {
  return ChangeAttributes(SYS_removexattr, path, true, kernel::Of(name));
}
VRAMSCOPE_FUNCTION(int, lremovexattr, (const char* path, const char* name)) {
  return ChangeAttributes(SYS_lremovexattr, path, false, kernel::Of(name));
}
VRAMSCOPE_FUNCTION(int, fremovexattr, (int fd, const char* name)) {
  const long text = kernel::Of(name);
  return AnswerInt(ChangeDescriptor(
      fd, Change::kContent, [=] { return kernel::Call(SYS_fremovexattr, fd, text); },
      [=](const char* path) { return kernel::Call(SYS_lremovexattr, kernel::Of(path), text); }));
}
VRAMSCOPE_FUNCTION(ssize_t, getxattr,
                   (const char* path, const char* name, void* value, size_t size)) {
  return ReadAttributes(SYS_getxattr, path, true, kernel::Of(name), kernel::Of(value),
                        static_cast<long>(size));
}
VRAMSCOPE_FUNCTION(ssize_t, lgetxattr,
                   (const char* path, const char* name, void* value, size_t size)) {
  return ReadAttributes(SYS_lgetxattr, path, false, kernel::Of(name), kernel::Of(value),
                        static_cast<long>(size));
}
VRAMSCOPE_FUNCTION(ssize_t, listxattr, (const char* path, char* names, size_t size)) {
  return ReadAttributes(SYS_listxattr, path, true, kernel::Of(names), static_cast<long>(size));
}
VRAMSCOPE_FUNCTION(ssize_t, llistxattr, (const char* path, char* names, size_t size)) {
  return ReadAttributes(SYS_llistxattr, path, false, kernel::Of(names), static_cast<long>(size));
}
