#include "emulated/redirect/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <new>

#include "emulated/redirect/changes.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

constexpr size_t kLongest = 8192;
constexpr unsigned long kShareExtents = 0x40049409;  // FICLONE

int CopyBytes(int from, int to, off_t size) {
  if (kernel::Call(SYS_ioctl, to, kShareExtents, from) == 0) return 0;
  // Holes stay holes: a sparse file may be larger than the disk.
  long at = 0;
  const auto seek = [&] {
    const long error = kernel::Call(SYS_lseek, from, at, SEEK_SET);
    return error < 0 ? error : kernel::Call(SYS_lseek, to, at, SEEK_SET);
  };
  while (at < size) {
    const long data = kernel::Call(SYS_lseek, from, at, SEEK_DATA);
    if (data == -ENXIO) at = size;  // only a hole is left
    if (data > at) at = data;
    const long hole = kernel::Call(SYS_lseek, from, at, SEEK_HOLE);
    const long end = hole < 0 ? size : hole;
    if (const long error = seek(); error < 0) return static_cast<int>(error);
    for (long copied = 1; at < end && copied > 0; at += copied > 0 ? copied : 0)
      copied = kernel::Call(SYS_copy_file_range, from, 0, to, 0, end - at, 0);
    if (at < end) break;
  }
  if (const long error = kernel::Call(SYS_ftruncate, to, at); error < 0)
    return static_cast<int>(error);
  // Copies what copy_file_range has not copied, including data that was appended meanwhile.
  if (const long error = seek(); error < 0) return static_cast<int>(error);
  char buffer[16'384];
  for (;;) {
    const long got = kernel::Read(from, buffer, sizeof buffer);
    if (got == -EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    for (long done = 0; done < got;) {
      const long put = kernel::Write(to, buffer + done, static_cast<size_t>(got - done));
      if (put < 0 && put != -EINTR) return static_cast<int>(put);
      if (put > 0) done += put;
    }
  }
}

// Copies user attributes, unless the file has none or the target has no space for them.
void CopyAttributes(int from, int to) {
  char names[4096], value[4096];
  const long size = kernel::Call(SYS_flistxattr, from, kernel::Of(names), sizeof names);
  for (long at = 0; at < size; at += static_cast<long>(strlen(names + at)) + 1) {
    if (strncmp(names + at, "user.", 5) != 0) continue;
    const long got =
        kernel::Call(SYS_fgetxattr, from, kernel::Of(names + at), kernel::Of(value), sizeof value);
    if (got >= 0)
      kernel::Call(SYS_fsetxattr, to, kernel::Of(names + at), kernel::Of(value), got, 0);
  }
}

int CopyRegular(const char* from, const char* to, const struct stat& status, bool content) {
  const int in = kernel::Open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (in < 0) return in;
  const int out = kernel::Open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = out < 0 ? out : content ? CopyBytes(in, out, status.st_size) : 0;
  if (out >= 0) {
    CopyAttributes(in, out);
    kernel::Close(out);
    if (error < 0) kernel::Remove(to);
  }
  kernel::Close(in);
  return error;
}

int CopyLink(const char* from, const char* to) {
  char target[4096];
  const long size = kernel::ReadLinkAt(AT_FDCWD, from, target, sizeof target - 1);
  if (size < 0) return static_cast<int>(size);
  target[size] = 0;
  return kernel::MakeLink(target, to);
}

// --- trees ---

// A path to which names are appended and removed.
struct Path {
  char text[kLongest];
  size_t length;

  bool Set(const char* from) {
    length = strlen(from);
    if (length >= sizeof text) return false;
    memcpy(text, from, length + 1);
    return true;
  }
  bool Push(const char* name) {
    const size_t more = strlen(name);
    if (length + more + 2 > sizeof text) return false;
    text[length] = '/';
    memcpy(text + length + 1, name, more + 1);
    length += more + 1;
    return true;
  }
  void Pop(size_t before) {
    length = before;
    text[length] = 0;
  }
};

// Preserves hard links. A file with several names is copied once.
class Twins {
 public:
  ~Twins() {
    for (size_t i = 0; i < count_; ++i) free(twins_[i].path);
    free(twins_);
  }
  const char* Find(const struct stat& status) const {
    for (size_t i = 0; i < count_; ++i)
      if (twins_[i].device == status.st_dev && twins_[i].inode == status.st_ino)
        return twins_[i].path;
    return nullptr;
  }
  void Add(const struct stat& status, const char* path) {
    void* more = realloc(twins_, (count_ + 1) * sizeof *twins_);
    if (more == nullptr) return;
    twins_ = static_cast<Twin*>(more);
    char* own = strdup(path);
    if (own != nullptr) twins_[count_++] = {status.st_dev, status.st_ino, own};
  }

 private:
  struct Twin {
    dev_t device;
    ino_t inode;
    char* path;
  };
  Twin* twins_ = nullptr;
  size_t count_ = 0;
};

struct Tree {
  Path from, to;
  Twins twins;
  bool into_existing;
};

int CopyFolder(Tree& tree);

int CopyEntry(Tree& tree) {
  struct stat status, there;
  int error = kernel::Lstat(tree.from.text, &status);
  if (error < 0) return error == -ENOENT ? 0 : error;
  const bool exists = tree.into_existing && kernel::Lstat(tree.to.text, &there) == 0;
  if (S_ISDIR(status.st_mode)) {
    if (!exists) {
      error = kernel::MakeFolder(tree.to.text, 0700);
    } else if (!S_ISDIR(there.st_mode)) {
      return 0;
    } else {
      status = there;
      // If the target folder hides the lower folder, it is already complete.
      Path& to = tree.to;
      const size_t before = to.length;
      const bool opaque = to.Push(VRAMSCOPE_ISOLATION_OPAQUE) && kernel::Access(to.text, F_OK) == 0;
      to.Pop(before);
      if (opaque) return 0;
    }
    if (error == 0) error = CopyFolder(tree);
    if (error == 0) CopyStatus(tree.to.text, status);
    return error;
  }
  if (exists) return 0;
  const bool twin = S_ISREG(status.st_mode) && status.st_nlink > 1;
  const char* first = twin ? tree.twins.Find(status) : nullptr;
  if (first != nullptr) return kernel::HardLink(first, tree.to.text);
  error = CopyFile(tree.from.text, tree.to.text, status, true);
  if (error == 0 && twin) tree.twins.Add(status, tree.to.text);
  return error;
}

int CopyFolder(Tree& tree) {
  Listing listing;
  int error = listing.ReadPlain(tree.from.text);
  const size_t from = tree.from.length, to = tree.to.length;
  for (Listing::Name name; error == 0 && listing.Next(name);) {
    if (strcmp(name.text, ".") == 0 || strcmp(name.text, "..") == 0) continue;
    error = tree.from.Push(name.text) && tree.to.Push(name.text) ? CopyEntry(tree) : -ENAMETOOLONG;
    tree.from.Pop(from);
    tree.to.Pop(to);
  }
  return error;
}

int RemoveBelow(Path& path) {
  Listing listing;
  int error = listing.ReadPlain(path.text);
  const size_t before = path.length;
  for (Listing::Name name; error == 0 && listing.Next(name);) {
    if (strcmp(name.text, ".") == 0 || strcmp(name.text, "..") == 0) continue;
    if (!path.Push(name.text)) return -ENAMETOOLONG;
    struct stat status;
    error = kernel::Lstat(path.text, &status);
    if (error == 0) error = S_ISDIR(status.st_mode) ? RemoveBelow(path) : kernel::Remove(path.text);
    if (error == -ENOENT) error = 0;
    path.Pop(before);
  }
  return error == 0 ? kernel::Remove(path.text, AT_REMOVEDIR) : error;
}

int counter;

}  // namespace

void CopyStatus(const char* to, const struct stat& status) {
  const bool link = S_ISLNK(status.st_mode);
  const int flags = link ? AT_SYMLINK_NOFOLLOW : 0;
  kernel::ChangeOwner(to, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW);
  if (!link) kernel::ChangeMode(to, status.st_mode & 07777);
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  kernel::SetTimes(to, times, flags);
}

int CopyFile(const char* from, const char* to, const struct stat& status, bool content) {
  int error = 0;
  if (S_ISREG(status.st_mode)) {
    error = CopyRegular(from, to, status, content);
  } else if (S_ISLNK(status.st_mode)) {
    error = CopyLink(from, to);
  } else {
    error = static_cast<int>(kernel::Call(SYS_mknodat, AT_FDCWD, kernel::Of(to), status.st_mode,
                                          static_cast<long>(status.st_rdev)));
  }
  if (error == 0) CopyStatus(to, status);
  return error;
}

int CopyWhole(const char* from, const char* to, const struct stat& status, bool content) {
  char part[4096 + 128];
  int error = -EEXIST;
  for (int turn = 0; error == -EEXIST && turn < 100; ++turn) {
    snprintf(part, sizeof part, "%s/%s-part-%ld-%d", Changes(), VRAMSCOPE_ISOLATION_PREFIX,
             kernel::Call(SYS_getpid), __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED));
    error = CopyFile(from, part, status, content);
  }
  if (error < 0) return error;
  error = kernel::Rename(part, to, RENAME_NOREPLACE);
  if (error == -EINVAL) {  // the file system does not support the flag
    error = kernel::HardLink(part, to);
    if (error == -EPERM) error = kernel::Rename(part, to);
  }
  kernel::Remove(part);
  return error == -EEXIST ? 0 : error;
}

int CopyTree(const char* from, const char* to, bool into_existing) {
  // Two paths of 8 KiB, with file names, are too large for the stack of a program's thread.
  void* memory = malloc(sizeof(Tree));
  if (memory == nullptr) return -ENOMEM;
  Tree* tree = new (memory) Tree;
  tree->into_existing = into_existing;
  const int error = tree->from.Set(from) && tree->to.Set(to) ? CopyEntry(*tree) : -ENAMETOOLONG;
  tree->~Tree();
  free(memory);
  return error;
}

int RemoveTree(const char* folder) {
  Path* path = static_cast<Path*>(malloc(sizeof(Path)));
  if (path == nullptr) return -ENOMEM;
  const int error = path->Set(folder) ? RemoveBelow(*path) : -ENAMETOOLONG;
  free(path);
  return error;
}

}  // namespace vramscope::isolation
