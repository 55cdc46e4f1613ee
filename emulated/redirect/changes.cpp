#include "emulated/redirect/changes.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "emulated/redirect/copies.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

// Returns whether the lower layer has this name, so that it becomes visible if the upper layer
// lacks it.
bool IsOutside(const Place& place) {
  struct stat status;
  return !place.real && place.in.lower && kernel::Lstat(place.spot.lower(), &status) == 0;
}

int MarkRemoved(Place& place) {
  const int error = EnsureFolder(place.spot, place.spot.Parent(place.spot.length()));
  if (error < 0) return error;
  return kernel::MakeLink(kRemovedText, place.spot.upper());
}

// Replaces a name by a mark in one atomic step, so that the lower file never becomes visible.
int ReplaceByMark(Place& place) {
  static int counter;
  char part[PATH_MAX + 128];
  snprintf(part, sizeof part, "%s/%s-mark-%ld-%d", Changes(), VRAMSCOPE_ISOLATION_PREFIX,
           kernel::Call(SYS_getpid), __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED));
  int error = kernel::MakeLink(kRemovedText, part);
  if (error < 0) return error;
  error = kernel::Rename(part, place.spot.upper());
  if (error < 0) kernel::Remove(part);
  return error;
}

int MarkOpaque(const char* folder) {
  char path[2 * PATH_MAX];
  const size_t length = strlen(folder);
  if (length + sizeof VRAMSCOPE_ISOLATION_OPAQUE + 1 > sizeof path) return -ENAMETOOLONG;
  memcpy(path, folder, length);
  strcpy(path + length, "/" VRAMSCOPE_ISOLATION_OPAQUE);
  const int fd = kernel::Open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fd;
  kernel::Close(fd);
  return 0;
}

// Removes an upper folder that contains only this library's marks.
int RemoveUpperFolder(const char* folder) {
  Listing listing;
  int error = listing.ReadPlain(folder);
  if (error < 0) return error;
  char path[2 * PATH_MAX];
  const size_t length = strlen(folder);
  memcpy(path, folder, length);
  path[length] = '/';
  for (Listing::Name name; listing.Next(name);) {
    if (length + name.length + 2 > sizeof path) return -ENAMETOOLONG;
    memcpy(path + length + 1, name.text, name.length + 1UL);
    const bool mark = name.type == DT_LNK || name.type == DT_UNKNOWN
                          ? IsRemovedMark(AT_FDCWD, path, kRemovedSize)
                          : strcmp(name.text, VRAMSCOPE_ISOLATION_OPAQUE) == 0;
    if (mark) kernel::Remove(path);
  }
  return kernel::Remove(folder, AT_REMOVEDIR);
}

bool IsEmptyFolder(Place& place) {
  Listing listing;
  return listing.Read(place.spot, place.layers()) == 0 && listing.IsEmpty();
}

// Copies the whole folder to the upper layer, where it hides the lower folder.
int CopyUpWhole(Place& place) {
  if (place.seen() != Kind::kFolder) return CopyUp(place, true);
  if (HoldsReal(place.spot.lower())) return -EBUSY;
  int error = EnsureFolder(place.spot, place.spot.length());
  if (error < 0) return error;
  struct stat status;
  error = kernel::Lstat(place.spot.upper(), &status);
  if (error < 0) return error;
  if (place.lower == Kind::kFolder) {
    error = CopyTree(place.spot.lower(), place.spot.upper(), true);
    if (error < 0) return error;
  }
  error = MarkOpaque(place.spot.upper());
  if (error < 0) return error;
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  kernel::SetTimes(place.spot.upper(), times, 0);
  place.upper = Kind::kFolder;
  place.lower = Kind::kNone;
  return 0;
}

bool IsBelow(const Spot& inner, const Spot& outer) {
  return inner.length() > outer.length() && inner.lower()[outer.length()] == '/' &&
         memcmp(inner.lower(), outer.lower(), outer.length()) == 0;
}

int MayRename(Place& from, Place& to, unsigned flags) {
  if (!from.exists()) return -ENOENT;
  const bool folder = from.seen() == Kind::kFolder;
  if (!folder && (from.slash || to.slash)) return -ENOTDIR;
  if (folder && IsBelow(to.spot, from.spot)) return -EINVAL;
  if (IsBelow(from.spot, to.spot)) return (flags & RENAME_EXCHANGE) != 0 ? -EINVAL : -ENOTEMPTY;
  if ((flags & RENAME_EXCHANGE) != 0) {
    if (!to.exists()) return -ENOENT;
  } else if (to.exists()) {
    if ((flags & RENAME_NOREPLACE) != 0) return -EEXIST;
    if (folder && to.seen() != Kind::kFolder) return -ENOTDIR;
    if (!folder && to.seen() == Kind::kFolder) return -EISDIR;
    if (folder && !IsEmptyFolder(to)) return -ENOTEMPTY;
  }
  const int error = MayChange(from);
  return error < 0 ? error : MayChange(to);
}

}  // namespace

int EnsureFolder(Spot& spot, size_t length) {
  const size_t parent = spot.Parent(length);
  const auto at = [&spot](size_t shorter, auto function) {
    const Spot::Shorter folder(spot, shorter);
    return function(spot.upper(), spot.lower());
  };
  struct stat upper, lower, outer;
  bool there = false;
  int error = at(length, [&](const char* changed, const char* outside) {
    there = kernel::Lstat(changed, &upper) == 0;
    if (there) return S_ISDIR(upper.st_mode) ? 0 : -ENOTDIR;
    return kernel::Lstat(outside, &lower) == 0 && S_ISDIR(lower.st_mode) ? 0 : -ENOENT;
  });
  if (error < 0 || there) return error;
  error = EnsureFolder(spot, parent);
  if (error < 0) return error;
  error = at(parent, [&](const char* path, const char*) { return kernel::Lstat(path, &outer); });
  if (error < 0) return error;
  const auto make = [](const char* path, const char*) { return kernel::MakeFolder(path, 0700); };
  const auto mode_of_parent = [&](mode_t mode) {
    at(parent, [&](const char* path, const char*) { return kernel::ChangeMode(path, mode); });
  };
  error = at(length, make);
  if (error == -EACCES) {  // the parent's mode forbids even its owner to write
    mode_of_parent((outer.st_mode & 07777) | 0700);
    error = at(length, make);
    mode_of_parent(outer.st_mode & 07777);
  }
  if (error < 0) return error == -EEXIST ? 0 : error;
  at(length, [&](const char* path, const char*) {
    CopyStatus(path, lower);
    return 0;
  });
  if (parent > 0) {  // restores the times that the program sees
    const struct timespec times[2] = {outer.st_atim, outer.st_mtim};
    at(parent, [&](const char* path, const char*) { return kernel::SetTimes(path, times, 0); });
  }
  Bump();
  return 0;
}

int MayChange(Place& place) {
  if (!place.in.lower) return 0;  // the kernel checks the permissions of the copy
  const Spot::Shorter folder(place.spot, place.spot.Parent(place.spot.length()));
  if (place.in.upper) {
    struct stat upper, lower;
    if (kernel::Lstat(place.spot.upper(), &upper) == 0 &&
        kernel::Lstat(place.spot.lower(), &lower) == 0 &&
        ((upper.st_mode ^ lower.st_mode) & 07777) != 0 && place.spot.length() > 0) {
      return 0;
    }
  }
  return kernel::Access(place.spot.lower(), W_OK | X_OK);
}

int PrepareNew(Place& place) {
  if (place.exists()) return -EEXIST;
  int error = MayChange(place);
  if (error < 0) return error;
  error = EnsureFolder(place.spot, place.spot.Parent(place.spot.length()));
  if (error < 0) return error;
  if (place.upper == Kind::kRemoved) kernel::Remove(place.spot.upper());
  return 0;
}

int CopyUp(Place& place, bool content) {
  if (place.upper != Kind::kNone) return 0;
  int error = 0;
  if (place.lower == Kind::kFolder) {
    error = EnsureFolder(place.spot, place.spot.length());
  } else {
    error = EnsureFolder(place.spot, place.spot.Parent(place.spot.length()));
    if (error < 0) return error;
    error = CopyWhole(place.spot.lower(), place.spot.upper(), place.status, content);
    if (place.lower == Kind::kLink) Bump();
  }
  if (error == 0) place.upper = place.lower;
  return error;
}

int PrepareChange(Place& place, Change change) {
  if (!place.exists()) return -ENOENT;
  if (place.real || place.upper != Kind::kNone) return 0;
  const uid_t user = static_cast<uid_t>(kernel::Call(SYS_geteuid));
  if (change == Change::kStatus) {
    if (user != 0 && user != place.status.st_uid) return -EPERM;
  } else if (place.lower != Kind::kLink) {
    const int error = kernel::Access(place.spot.lower(), W_OK);
    if (error < 0) return error;
  }
  return CopyUp(place, true);
}

int MakeFolder(Place& place, mode_t mode) {
  if (place.real) return kernel::MakeFolder(place.spot.lower(), mode);
  int error = PrepareNew(place);
  if (error < 0) return error;
  error = kernel::MakeFolder(place.spot.upper(), mode);
  if (error < 0) return error;
  if (IsOutside(place)) error = MarkOpaque(place.spot.upper());
  Bump();
  return error;
}

int RemoveFile(Place& place) {
  if (!place.exists()) return -ENOENT;
  if (place.seen() == Kind::kFolder) return -EISDIR;
  if (place.real) return kernel::Remove(place.spot.lower());
  int error = MayChange(place);
  if (error < 0) return error;
  if (!IsOutside(place)) {
    error = kernel::Remove(place.spot.upper());
  } else if (place.upper == Kind::kNone) {
    error = MarkRemoved(place);
  } else {
    error = ReplaceByMark(place);
  }
  if (place.seen() == Kind::kLink) Bump();
  return error == -EEXIST ? -ENOENT : error;  // another process was faster
}

int RemoveFolder(Place& place) {
  if (!place.exists()) return -ENOENT;
  if (place.seen() != Kind::kFolder) return -ENOTDIR;
  if (place.real) return kernel::Remove(place.spot.lower(), AT_REMOVEDIR);
  int error = MayChange(place);
  if (error < 0) return error;
  if (place.spot.length() == 0 || HoldsReal(place.spot.lower())) return -EBUSY;
  if (!IsEmptyFolder(place)) return -ENOTEMPTY;
  const bool outside = IsOutside(place);
  if (place.upper == Kind::kFolder) error = RemoveUpperFolder(place.spot.upper());
  if (error == 0 && outside) error = MarkRemoved(place);
  Bump();
  return error == -EEXIST ? -ENOENT : error;
}

int RenamePlace(Place& from, Place& to, unsigned flags) {
  if (from.real && to.real) return kernel::Rename(from.spot.lower(), to.spot.lower(), flags);
  if (!from.exists()) return -ENOENT;
  if (from.real || to.real) return -EXDEV;
  if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0) return -EINVAL;
  int error = MayRename(from, to, flags);
  if (error < 0) return error;
  if (strcmp(from.spot.lower(), to.spot.lower()) == 0) return 0;
  const bool folders =
      from.seen() != Kind::kOther || to.seen() == Kind::kLink || to.seen() == Kind::kFolder;
  const bool folder = from.seen() == Kind::kFolder;
  const bool outside = IsOutside(from);
  error = CopyUpWhole(from);
  if (error == 0) error = EnsureFolder(to.spot, to.spot.Parent(to.spot.length()));
  if (error < 0) return error;
  if ((flags & RENAME_EXCHANGE) != 0) {
    error = CopyUpWhole(to);
    if (error == 0) error = kernel::Rename(from.spot.upper(), to.spot.upper(), RENAME_EXCHANGE);
    Bump();
    return error;
  }
  if (folder && to.upper == Kind::kFolder) {
    error = RemoveUpperFolder(to.spot.upper());
  } else if (folder && to.upper == Kind::kRemoved) {
    error = kernel::Remove(to.spot.upper());
  }
  if (error == 0) error = kernel::Rename(from.spot.upper(), to.spot.upper());
  if (error == 0 && outside) error = MarkRemoved(from);
  if (folders) Bump();
  return error;
}

}  // namespace vramscope::isolation
