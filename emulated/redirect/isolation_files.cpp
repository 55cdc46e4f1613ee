// Implements functions on files: opening, status, removal, names, links.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/loader.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

// --- renames that overlayfs refuses ---

// Stores the path as one string, such as "/proc/self/fd/7/name" if it is relative to descriptor 7.
bool Absolute(int folder, const char* path, char* to, size_t size) {
  const int length = path[0] == '/' || folder == AT_FDCWD
                         ? snprintf(to, size, "%s", path)
                         : snprintf(to, size, "/proc/self/fd/%d/%s", folder, path);
  if (length <= 0 || static_cast<size_t>(length) >= size) return false;
  for (size_t end = static_cast<size_t>(length); end > 1 && to[end - 1] == '/';) to[--end] = 0;
  return true;
}

// Returns whether the path's folder is real. Renames between real and isolated folders fail with
// EXDEV.
bool IsInReal(const char* path) {
  char folder[PATH_MAX + 4];
  const char* slash = strrchr(path, '/');
  const int length = slash == nullptr ? 0 : static_cast<int>(slash + 1 - path);
  snprintf(folder, sizeof folder, "%.*s.", length, path);
  const int fd = kernel::Open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return true;
  char whole[2 * PATH_MAX];
  const bool known = PathOf(fd, whole, sizeof whole) > 0;
  kernel::Close(fd);
  return !known || IsReal(whole);
}

// Renames by copying the source next to the target, renaming the copy and removing the source. A
// real rename fails with EXDEV in two cases. overlayfs in a user namespace cannot rename a lower
// folder. And a folder whose entries are separate mounts spans several file systems.
int CopyInsteadOfRename(const char* from, const char* to) {
  static int counter;
  char part[PATH_MAX + 128];
  const char* slash = strrchr(to, '/');
  const int length = slash == nullptr ? 0 : static_cast<int>(slash + 1 - to);
  snprintf(part, sizeof part, "%.*s%s-part-%ld-%d", length, to, VRAMSCOPE_ISOLATION_PREFIX,
           kernel::Call(SYS_getpid), __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED));
  struct stat source, target;
  int error = kernel::Lstat(from, &source);
  if (error < 0) return error;
  const bool folder = S_ISDIR(source.st_mode);
  if (IsInReal(from) || IsInReal(to)) return -EXDEV;
  if (kernel::Lstat(to, &target) == 0) {
    if (folder && !S_ISDIR(target.st_mode)) return -ENOTDIR;
    if (!folder && S_ISDIR(target.st_mode)) return -EISDIR;
    Listing listing;
    if (folder) error = listing.ReadPlain(to);
    if (error < 0) return error;
    if (folder && !listing.IsEmpty()) return -ENOTEMPTY;
  }
  error = CopyTree(from, part, false);
  if (error == 0) error = kernel::Rename(part, to);
  if (error < 0) {
    if (folder) {
      RemoveTree(part);
    } else {
      kernel::Remove(part);
    }
    return error;
  }
  return folder ? RemoveTree(from) : kernel::Remove(from);
}

int RenamePaths(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (!Copies()) {
    const long renamed = kernel::Call(SYS_renameat2, from_folder, kernel::Of(from), to_folder,
                                      kernel::Of(to), flags);
    if (renamed != -EXDEV || ModeOfProcess() != Mode::kOverlay ||
        (flags & ~RENAME_NOREPLACE) != 0) {
      return static_cast<int>(renamed);
    }
    char source[PATH_MAX], target[PATH_MAX];
    struct stat status;
    if (!Absolute(from_folder, from, source, sizeof source) ||
        !Absolute(to_folder, to, target, sizeof target)) {
      return -EXDEV;
    }
    if (flags != 0 && kernel::Lstat(target, &status) == 0) return -EEXIST;
    return CopyInsteadOfRename(source, target);
  }
  Place source, target;
  int error = Resolve(from_folder, from, 0, source);
  if (error == 0) error = Resolve(to_folder, to, 0, target);
  return error < 0 ? error : RenamePlace(source, target, flags);
}

// --- new names ---

int LinkPaths(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (!Copies()) {
    return static_cast<int>(
        kernel::Call(SYS_linkat, from_folder, kernel::Of(from), to_folder, kernel::Of(to), flags));
  }
  Place source, target;
  int error = Resolve(to_folder, to, 0, target);
  if (error < 0) return error;
  struct stat open_file;
  if ((flags & AT_EMPTY_PATH) != 0 && from[0] == 0 && kernel::Fstat(from_folder, &open_file) == 0 &&
      open_file.st_nlink == 0) {  // without a name
    error = target.real ? 0 : PrepareNew(target);
    if (error < 0) return error;
    const char* path = target.real ? target.spot.lower() : target.spot.upper();
    return static_cast<int>(
        kernel::Call(SYS_linkat, from_folder, kernel::Of(from), AT_FDCWD, kernel::Of(path), flags));
  }
  error = Resolve(from_folder, from,
                  ((flags & AT_SYMLINK_FOLLOW) != 0 ? kFollow : 0U) |
                      ((flags & AT_EMPTY_PATH) != 0 ? kDescriptor : 0U),
                  source);
  if (error < 0) return error;
  if (!source.exists()) return -ENOENT;
  if (source.seen() == Kind::kFolder) return -EPERM;
  const bool open = source.real && strncmp(source.spot.lower(), "/proc/", 6) == 0;
  if (source.real != target.real && !open) return -EXDEV;
  if (!source.real) error = CopyUp(source, true);
  if (error == 0 && !target.real) error = PrepareNew(target);
  if (error < 0) return error;
  return kernel::HardLink(source.visible(), target.real ? target.spot.lower() : target.spot.upper(),
                          open ? AT_SYMLINK_FOLLOW : 0);
}

// Creates a place. Calls `make` with the path to pass to the kernel.
template <typename Function>
int Make(int folder, const char* path, Function make) {
  if (Passes(path, true)) return static_cast<int>(make(folder, path));
  Place place;
  int error = Resolve(folder, path, 0, place);
  if (error < 0) return error;
  if (place.real) return static_cast<int>(make(AT_FDCWD, place.spot.lower()));
  error = PrepareNew(place);
  return error < 0 ? error : static_cast<int>(make(AT_FDCWD, place.spot.upper()));
}

int LinkText(const char* text, int folder, const char* path) {
  return Make(folder, path, [text](int at, const char* where) {
    return kernel::Call(SYS_symlinkat, kernel::Of(text), at, kernel::Of(where));
  });
}

int MakeNode(int folder, const char* path, mode_t mode, dev_t device) {
  return Make(folder, path, [mode, device](int at, const char* where) {
    return kernel::Call(SYS_mknodat, at, kernel::Of(where), mode, static_cast<long>(device));
  });
}

// --- status ---

void ShowAsOne(int fd, struct stat& status) {
  char path[2 * PATH_MAX];
  Place place;
  if (PathOf(fd, path, sizeof path) <= 0 || Resolve(AT_FDCWD, path, 0, place) < 0) return;
  if (place.real || place.upper != Kind::kFolder) return;
  struct stat upper;
  if ((status.st_dev == place.status.st_dev && status.st_ino == place.status.st_ino) ||
      (kernel::Lstat(place.spot.upper(), &upper) == 0 && status.st_dev == upper.st_dev &&
       status.st_ino == upper.st_ino)) {
    status = place.status;
  }
}

// A folder in both layers gets the upper folder's status with the lower folder's device and inode
// numbers. A new folder gets a device number that keeps it from looking like a mount.
int StatDescriptor(int fd, struct stat* status) {
  const int error = kernel::Fstat(fd, status);
  if (error == 0 && S_ISDIR(status->st_mode) && Copies() && Generation() != 0)
    ShowAsOne(fd, *status);
  return error;
}

long ReadLink(int folder, const char* path, char* to, size_t size) {
  if (!Copies()) return kernel::ReadLinkAt(folder, path, to, size);
  Place place;
  Where where;
  const int error = FindForReading(folder, path, false, place, where);
  if (error < 0) return error;
  char text[2 * PATH_MAX];
  const long length = kernel::ReadLinkAt(where.folder, where.path, text, sizeof text - 1);
  if (length < 0) return length;
  text[length] = 0;
  const size_t shown = WithoutChanges(text, static_cast<size_t>(length));
  const size_t copied = shown < size ? shown : size;
  memcpy(to, text, copied);
  return static_cast<long>(copied);
}

}  // namespace

void* Next(const char* name) { return dlsym(RTLD_NEXT, name); }

int FindForReading(int folder, const char* path, bool follow, Place& place, Where& where) {
  where = {folder, path};
  if (Passes(path, false)) return 0;
  const int error = Resolve(folder, path, follow ? kFollow : 0U, place);
  if (error < 0) return error;
  if (!place.exists()) return -ENOENT;
  where = {AT_FDCWD, place.visible()};
  return 0;
}

long OpenAt(int folder, const char* path, int flags, mode_t mode) {
  const int access = flags & O_ACCMODE;
  const bool changes = (flags & O_PATH) == 0 && (access != O_RDONLY || (flags & O_TRUNC) != 0);
  const bool writes = (flags & O_PATH) == 0 && (changes || (flags & O_CREAT) != 0);
  if (Passes(path, writes)) return kernel::Call(SYS_openat, folder, kernel::Of(path), flags, mode);
  const bool exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  Place place;
  int error = Resolve(folder, path, (flags & O_NOFOLLOW) != 0 || exclusive ? 0U : kFollow, place);
  if (error < 0) return error;
  if (place.real) return kernel::Open(place.spot.lower(), flags, mode);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    if (place.seen() != Kind::kFolder) return place.exists() ? -ENOTDIR : -ENOENT;
    if (place.lower == Kind::kFolder) error = kernel::Access(place.spot.lower(), W_OK | X_OK);
    if (error == 0) error = EnsureFolder(place.spot, place.spot.length());
    return error < 0 ? error : kernel::Open(place.spot.upper(), flags, mode);
  }
  if (!place.exists()) {
    if ((flags & O_CREAT) == 0) return -ENOENT;
    if (place.slash) return -EISDIR;
    error = PrepareNew(place);
    return error < 0 ? error : kernel::Open(place.spot.upper(), flags, mode);
  }
  if (exclusive) return -EEXIST;
  // Both reading and writing change a named pipe.
  const bool pipe = S_ISFIFO(place.status.st_mode) && (flags & O_PATH) == 0;
  if (((changes && S_ISREG(place.status.st_mode)) || pipe) && place.upper == Kind::kNone) {
    error = kernel::Access(place.spot.lower(), access == O_RDONLY ? R_OK
                                               : access == O_RDWR ? R_OK | W_OK
                                                                  : W_OK);
    if (error == 0) error = CopyUp(place, (flags & O_TRUNC) == 0);
    if (error < 0) return error;
  }
  return kernel::Open(place.visible(), flags & ~O_CREAT, mode);
}

int MakeFolderAt(int folder, const char* path, mode_t mode) {
  if (Passes(path, true))
    return static_cast<int>(kernel::Call(SYS_mkdirat, folder, kernel::Of(path), mode));
  Place place;
  const int error = Resolve(folder, path, 0, place);
  return error < 0 ? error : MakeFolder(place, mode);
}

int StatPath(int folder, const char* path, struct stat* status, int flags) {
  if (path == nullptr || (path[0] == 0 && (flags & AT_EMPTY_PATH) != 0 && folder != AT_FDCWD))
    return StatDescriptor(folder, status);
  if (Passes(path, false)) return kernel::StatAt(folder, path, status, flags);
  Place place;
  const unsigned how = ((flags & AT_SYMLINK_NOFOLLOW) != 0 ? 0U : kFollow) |
                       ((flags & AT_EMPTY_PATH) != 0 ? kDescriptor : 0U);
  const int error = Resolve(folder, path, how, place);
  if (error < 0) return error;
  if (!place.exists()) return -ENOENT;
  *status = place.status;
  return 0;
}

int RemovePath(int folder, const char* path, int flags) {
  if (Passes(path, true))
    return static_cast<int>(kernel::Call(SYS_unlinkat, folder, kernel::Of(path), flags));
  const size_t length = strlen(path);
  if ((flags & AT_REMOVEDIR) != 0 && length > 0 && path[length - 1] == '.' &&
      (length == 1 || path[length - 2] == '/')) {
    return -EINVAL;
  }
  Place place;
  const int error = Resolve(folder, path, 0, place);
  if (error < 0) return error;
  return (flags & AT_REMOVEDIR) != 0 ? RemoveFolder(place) : RemoveFile(place);
}

}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the C library's

// --- open ---

#define VRAMSCOPE_MODE_OF(last)                                     \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                   \
    va_start(list, last);                                           \
    mode = va_arg(list, mode_t);                                    \
    va_end(list);                                                   \
  }

VRAMSCOPE_FUNCTION(int, open, (const char* path, int flags, ...)) {
  VRAMSCOPE_MODE_OF(flags)
  return AnswerInt(OpenAt(AT_FDCWD, path, flags, mode));
}
VRAMSCOPE_ALIAS(open64, open)
VRAMSCOPE_ALIAS(__open, open)
VRAMSCOPE_ALIAS(__open64, open)
VRAMSCOPE_FUNCTION(int, __open_2, (const char* path, int flags)) {
  return AnswerInt(OpenAt(AT_FDCWD, path, flags, 0));
}
VRAMSCOPE_ALIAS(__open64_2, __open_2)
VRAMSCOPE_FUNCTION(int, openat, (int folder, const char* path, int flags, ...)) {
  VRAMSCOPE_MODE_OF(flags)
  return AnswerInt(OpenAt(folder, path, flags, mode));
}
VRAMSCOPE_ALIAS(openat64, openat)
VRAMSCOPE_FUNCTION(int, __openat_2, (int folder, const char* path, int flags)) {
  return AnswerInt(OpenAt(folder, path, flags, 0));
}
VRAMSCOPE_ALIAS(__openat64_2, __openat_2)
VRAMSCOPE_FUNCTION(int, creat, (const char* path, mode_t mode)) {
  return AnswerInt(OpenAt(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode));
}
VRAMSCOPE_ALIAS(creat64, creat)

// --- status ---

VRAMSCOPE_FUNCTION(int, stat, (const char* path, struct stat* status)) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, 0));
}
VRAMSCOPE_ALIAS(stat64, stat)
VRAMSCOPE_FUNCTION(int, lstat, (const char* path, struct stat* status)) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}
VRAMSCOPE_ALIAS(lstat64, lstat)
VRAMSCOPE_FUNCTION(int, fstat, (int fd, struct stat* status)) {
  return AnswerInt(StatDescriptor(fd, status));
}
VRAMSCOPE_ALIAS(fstat64, fstat)
VRAMSCOPE_FUNCTION(int, fstatat, (int folder, const char* path, struct stat* status, int flags)) {
  return AnswerInt(StatPath(folder, path, status, flags));
}
VRAMSCOPE_ALIAS(fstatat64, fstatat)
// Programs that were built with a C library before 2.33 call these functions.
VRAMSCOPE_FUNCTION(int, __xstat, (int, const char* path, struct stat* status)) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, 0));
}
VRAMSCOPE_ALIAS(__xstat64, __xstat)
VRAMSCOPE_FUNCTION(int, __lxstat, (int, const char* path, struct stat* status)) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}
VRAMSCOPE_ALIAS(__lxstat64, __lxstat)
VRAMSCOPE_FUNCTION(int, __fxstat, (int, int fd, struct stat* status)) {
  return AnswerInt(StatDescriptor(fd, status));
}
VRAMSCOPE_ALIAS(__fxstat64, __fxstat)
VRAMSCOPE_FUNCTION(int, __fxstatat,
                   (int, int folder, const char* path, struct stat* status, int flags)) {
  return AnswerInt(StatPath(folder, path, status, flags));
}
VRAMSCOPE_ALIAS(__fxstatat64, __fxstatat)

VRAMSCOPE_FUNCTION(int, statx,
                   (int folder, const char* path, int flags, unsigned mask, struct statx* status)) {
  if (path == nullptr || path[0] == 0 || Passes(path, false)) {
    return AnswerInt(
        kernel::Call(SYS_statx, folder, kernel::Of(path), flags, mask, kernel::Of(status)));
  }
  Place place;
  int error = Resolve(folder, path, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? 0U : kFollow, place);
  if (error == 0 && !place.exists()) error = -ENOENT;
  if (error < 0) return AnswerInt(error);
  const bool open = place.real && S_ISLNK(place.status.st_mode) == 0;
  error = static_cast<int>(kernel::Call(SYS_statx, AT_FDCWD, kernel::Of(place.visible()),
                                        open ? flags : flags | AT_SYMLINK_NOFOLLOW, mask,
                                        kernel::Of(status)));
  if (error == 0 && !place.real && place.upper == Kind::kFolder) {
    status->stx_ino = place.status.st_ino;
    status->stx_dev_major = static_cast<unsigned>(place.status.st_dev >> 8 & 0xfff);
    status->stx_dev_minor =
        static_cast<unsigned>((place.status.st_dev & 0xff) | (place.status.st_dev >> 12 & 0xfff00));
  }
  return AnswerInt(error);
}

VRAMSCOPE_FUNCTION(int, faccessat, (int folder, const char* path, int mode, int flags)) {
  Place place;
  Where where;
  int error = FindForReading(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, place, where);
  if (error == 0) {
    constexpr long kFaccessat2 = 439;
    error = -ENOSYS;
    if (flags != 0)
      error = static_cast<int>(
          kernel::Call(kFaccessat2, where.folder, kernel::Of(where.path), mode, flags));
    if (error == -ENOSYS || error == -EPERM)
      error =
          static_cast<int>(kernel::Call(SYS_faccessat, where.folder, kernel::Of(where.path), mode));
  }
  return AnswerInt(error);
}
VRAMSCOPE_FUNCTION(int, access, (const char* path, int mode)) {
  return isolated_faccessat(AT_FDCWD, path, mode, 0);
}
VRAMSCOPE_FUNCTION(int, euidaccess, (const char* path, int mode)) {
  return isolated_faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
VRAMSCOPE_ALIAS(eaccess, euidaccess)

VRAMSCOPE_FUNCTION(ssize_t, readlinkat, (int folder, const char* path, char* to, size_t size)) {
  return Answer(ReadLink(folder, path, to, size));
}
VRAMSCOPE_FUNCTION(ssize_t, readlink, (const char* path, char* to, size_t size)) {
  return Answer(ReadLink(AT_FDCWD, path, to, size));
}
VRAMSCOPE_FUNCTION(ssize_t, __readlink_chk,
                   (const char* path, char* to, size_t size, size_t room)) {
  if (size > room) abort();
  return Answer(ReadLink(AT_FDCWD, path, to, size));
}
VRAMSCOPE_FUNCTION(ssize_t, __readlinkat_chk,
                   (int folder, const char* path, char* to, size_t size, size_t room)) {
  if (size > room) abort();
  return Answer(ReadLink(folder, path, to, size));
}

VRAMSCOPE_FUNCTION(int, statfs, (const char* path, struct statfs* status)) {
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  return AnswerInt(
      error < 0 ? error : kernel::Call(SYS_statfs, kernel::Of(where.path), kernel::Of(status)));
}
VRAMSCOPE_ALIAS(statfs64, statfs)
VRAMSCOPE_ALIAS(__statfs, statfs)
VRAMSCOPE_FUNCTION(int, statvfs, (const char* path, struct statvfs* status)) {
  static void* next;
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  if (error < 0) return AnswerInt(error);
  return NextAs<int(const char*, struct statvfs*)>(next, "statvfs")(where.path, status);
}
VRAMSCOPE_ALIAS(statvfs64, statvfs)
VRAMSCOPE_FUNCTION(long, pathconf, (const char* path, int name)) {
  static void* next;
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  if (error < 0) return Answer(error);
  return NextAs<long(const char*, int)>(next, "pathconf")(where.path, name);
}
VRAMSCOPE_FUNCTION(int, inotify_add_watch, (int fd, const char* path, uint32_t mask)) {
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  return AnswerInt(
      error < 0 ? error : kernel::Call(SYS_inotify_add_watch, fd, kernel::Of(where.path), mask));
}

// --- removal and names ---

VRAMSCOPE_FUNCTION(int, unlink, (const char* path)) {
  return AnswerInt(RemovePath(AT_FDCWD, path, 0));
}
VRAMSCOPE_FUNCTION(int, unlinkat, (int folder, const char* path, int flags)) {
  return AnswerInt(RemovePath(folder, path, flags));
}
VRAMSCOPE_FUNCTION(int, rmdir, (const char* path)) {
  return AnswerInt(RemovePath(AT_FDCWD, path, AT_REMOVEDIR));
}
VRAMSCOPE_FUNCTION(int, remove, (const char* path)) {
  int error = RemovePath(AT_FDCWD, path, 0);
  if (error == -EISDIR) error = RemovePath(AT_FDCWD, path, AT_REMOVEDIR);
  return AnswerInt(error);
}
VRAMSCOPE_FUNCTION(int, rename, (const char* from, const char* to)) {
  return AnswerInt(RenamePaths(AT_FDCWD, from, AT_FDCWD, to, 0));
}
VRAMSCOPE_FUNCTION(int, renameat,
                   (int from_folder, const char* from, int to_folder, const char* to)) {
  return AnswerInt(RenamePaths(from_folder, from, to_folder, to, 0));
}
VRAMSCOPE_FUNCTION(int, renameat2,
                   (int from_folder, const char* from, int to_folder, const char* to,
                    unsigned flags)) {
  return AnswerInt(RenamePaths(from_folder, from, to_folder, to, flags));
}
VRAMSCOPE_FUNCTION(int, link, (const char* from, const char* to)) {
  return AnswerInt(LinkPaths(AT_FDCWD, from, AT_FDCWD, to, 0));
}
VRAMSCOPE_FUNCTION(int, linkat,
                   (int from_folder, const char* from, int to_folder, const char* to, int flags)) {
  return AnswerInt(LinkPaths(from_folder, from, to_folder, to, flags));
}
VRAMSCOPE_FUNCTION(int, symlink, (const char* text, const char* path)) {
  return AnswerInt(LinkText(text, AT_FDCWD, path));
}
VRAMSCOPE_FUNCTION(int, symlinkat, (const char* text, int folder, const char* path)) {
  return AnswerInt(LinkText(text, folder, path));
}
VRAMSCOPE_FUNCTION(int, mkdir, (const char* path, mode_t mode)) {
  return AnswerInt(MakeFolderAt(AT_FDCWD, path, mode));
}
VRAMSCOPE_FUNCTION(int, mkdirat, (int folder, const char* path, mode_t mode)) {
  return AnswerInt(MakeFolderAt(folder, path, mode));
}
VRAMSCOPE_FUNCTION(int, mkfifo, (const char* path, mode_t mode)) {
  return AnswerInt(MakeNode(AT_FDCWD, path, mode | S_IFIFO, 0));
}
VRAMSCOPE_FUNCTION(int, mkfifoat, (int folder, const char* path, mode_t mode)) {
  return AnswerInt(MakeNode(folder, path, mode | S_IFIFO, 0));
}
VRAMSCOPE_FUNCTION(int, mknod, (const char* path, mode_t mode, dev_t device)) {
  return AnswerInt(MakeNode(AT_FDCWD, path, mode, device));
}
VRAMSCOPE_FUNCTION(int, mknodat, (int folder, const char* path, mode_t mode, dev_t device)) {
  return AnswerInt(MakeNode(folder, path, mode, device));
}
VRAMSCOPE_FUNCTION(int, __xmknod, (int, const char* path, mode_t mode, dev_t* device)) {
  return AnswerInt(MakeNode(AT_FDCWD, path, mode, *device));
}
VRAMSCOPE_FUNCTION(int, __xmknodat,
                   (int, int folder, const char* path, mode_t mode, dev_t* device)) {
  return AnswerInt(MakeNode(folder, path, mode, *device));
}
