#include "emulated/redirect/changes.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "emulated/redirect/copies.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

constexpr int kMostLinks = 40;
constexpr size_t kLongest = 4096;

// --- what all processes of a program know of the changes ---

struct Shared {
  uint64_t generation;
};
Shared* shared;
int shared_state;  // 0: not tried, 1: being mapped, 2: done
Shared alone;      // where it cannot be shared: every path is looked up anew

Shared* Map() {
  char path[kLongest + 64];
  memcpy(path, Changes(), ChangesLength());
  strcpy(path + ChangesLength(), "/" VRAMSCOPE_ISOLATION_STATE);
  const int fd = kernel::Open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return &alone;
  struct stat status;
  const bool sized =
      kernel::Fstat(fd, &status) == 0 && (status.st_size >= static_cast<off_t>(sizeof(Shared)) ||
                                          kernel::Call(SYS_ftruncate, fd, sizeof(Shared)) == 0);
  const long at =
      sized ? kernel::Call(SYS_mmap, 0, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
            : -1;
  kernel::Close(fd);
  return at < 0 && at > -4096 ? &alone : reinterpret_cast<Shared*>(at);
}

Shared& State() {
  if (__atomic_load_n(&shared_state, __ATOMIC_ACQUIRE) != 2) {
    int none = 0;
    if (__atomic_compare_exchange_n(&shared_state, &none, 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      shared = Map();
      __atomic_store_n(&shared_state, 2, __ATOMIC_RELEASE);
    } else {
      while (__atomic_load_n(&shared_state, __ATOMIC_ACQUIRE) != 2) kernel::Call(SYS_sched_yield);
    }
  }
  return *shared;
}

void Bump() { __atomic_add_fetch(&State().generation, 1, __ATOMIC_ACQ_REL); }

// --- folders that were looked up, by the text of their path ---

struct Known {
  uint64_t generation;
  unsigned short key_length, length;
  Layers layers;
  char key[232], text[232];
};
constexpr size_t kKnown = 1024;
Known known[kKnown];
int known_lock;

bool Lock() {
  int none = 0;
  return __atomic_compare_exchange_n(&known_lock, &none, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}
void Unlock() { __atomic_store_n(&known_lock, 0, __ATOMIC_RELEASE); }

Known& KnownOf(const char* key, size_t length) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ static_cast<unsigned char>(key[i])) * 0x100000001b3;
  return known[(hash ^ (hash >> 32)) % kKnown];
}

// Whoever does not get the lock looks the folder up: a signal handler may have interrupted its
// holder, a forked child may have none.
bool Find(const char* key, size_t length, uint64_t generation, Spot& spot, Layers& layers) {
  if (length == 0 || length > sizeof Known::key || &State() == &alone || !Lock()) return false;
  const Known& entry = KnownOf(key, length);
  const bool found = entry.generation == generation + 1 && entry.key_length == length &&
                     memcmp(entry.key, key, length) == 0;
  if (found) {
    spot.Clear();
    if (entry.length > 0) spot.Push(entry.text, entry.length);
    layers = entry.layers;
  }
  Unlock();
  return found;
}

void Keep(const char* key, size_t length, uint64_t generation, const Spot& spot,
          const Layers& layers) {
  if (length == 0 || length > sizeof Known::key || spot.length() > sizeof Known::text || !Lock()) {
    return;
  }
  Known& entry = KnownOf(key, length);
  entry.generation = generation + 1;
  entry.key_length = static_cast<unsigned short>(length);
  memcpy(entry.key, key, length);
  // Without the first slash, as Push adds it.
  entry.length = static_cast<unsigned short>(spot.length() > 0 ? spot.length() - 1 : 0);
  if (entry.length > 0) memcpy(entry.text, spot.lower() + 1, entry.length);
  entry.layers = layers;
  Unlock();
}

// --- one step ---

bool IsOpaque(const Spot& spot) {
  char path[2 * kLongest];
  const size_t length = strlen(spot.upper());
  if (length + sizeof VRAMSCOPE_ISOLATION_OPAQUE + 1 > sizeof path) return false;
  memcpy(path, spot.upper(), length);
  strcpy(path + length, "/" VRAMSCOPE_ISOLATION_OPAQUE);
  return kernel::Access(path, F_OK) == 0;
}

bool IsMissing(int error) { return error == -ENOENT || error == -ENOTDIR; }

struct Found {
  Kind upper = Kind::kNone, lower = Kind::kNone;
  bool real = false;
};

// What is at the spot, whose folder is in these layers.
int Look(const Spot& spot, const Layers& in, Found& found, struct stat& status) {
  found = {};
  found.real = in.real || IsReal(spot.lower());
  if (found.real) {
    const int error = kernel::Lstat(spot.lower(), &status);
    if (error == 0) found.lower = KindOf(status);
    return IsMissing(error) ? 0 : error;
  }
  if (in.upper) {
    const int error = kernel::Lstat(spot.upper(), &status);
    if (error == 0) {
      found.upper = KindOf(status);
      if (found.upper == Kind::kLink && IsRemovedMark(AT_FDCWD, spot.upper(), status.st_size)) {
        found.upper = Kind::kRemoved;
      } else if (found.upper == Kind::kFolder && in.lower && !IsOpaque(spot)) {
        struct stat outer;
        if (kernel::Lstat(spot.lower(), &outer) == 0 && S_ISDIR(outer.st_mode)) {
          found.lower = Kind::kFolder;
          // A folder stays the same one when something in it changes.
          status.st_dev = outer.st_dev;
          status.st_ino = outer.st_ino;
        }
      }
      return 0;
    }
    if (!IsMissing(error)) return error;
  }
  if (in.lower) {
    const int error = kernel::Lstat(spot.lower(), &status);
    if (error == 0) found.lower = KindOf(status);
    if (error != 0 && !IsMissing(error)) return error;
  }
  return 0;
}

// The layers of a folder that is known to be one.
Layers LayersOf(Spot& spot) {
  Layers layers;
  const size_t length = spot.length();
  for (size_t end = 1; end <= length; ++end) {
    if (end < length && spot.lower()[end] != '/') continue;
    const Spot::Shorter shorter(spot, end);
    struct stat status;
    layers.real = layers.real || IsReal(spot.lower());
    if (layers.real) return {false, true, true};
    if (!layers.upper) continue;
    layers.upper = kernel::Lstat(spot.upper(), &status) == 0 && S_ISDIR(status.st_mode);
    if (layers.upper && layers.lower && IsOpaque(spot)) layers.lower = false;
  }
  struct stat status;
  if (layers.lower)
    layers.lower = kernel::Lstat(spot.lower(), &status) == 0 && S_ISDIR(status.st_mode);
  return layers;
}

// Links of /proc that lead to what a process has open, not to a path.
bool IsMagic(const Spot& spot) {
  const char* path = spot.lower();
  if (strncmp(path, "/proc/", 6) != 0) return false;
  const char* name = spot.name();
  return strstr(path, "/fd/") != nullptr || strstr(path, "/map_files/") != nullptr ||
         strcmp(name, "cwd") == 0 || strcmp(name, "root") == 0 || strcmp(name, "exe") == 0;
}

// Whether what is open still has that path. The program's own output goes where its user sent it.
bool LeadsToPath(const Spot& link, const char* target) {
  const char* name = link.name();
  if (target[0] != '/' || (name[0] >= '0' && name[0] <= '2' && name[1] == 0)) return false;
  struct stat open, there;
  return kernel::StatAt(AT_FDCWD, link.lower(), &open, 0) == 0 &&
         kernel::Lstat(target, &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

// What is left of a path.
struct Todo {
  char text[2 * kLongest];
  size_t at = 0;
  int links = 0;
  bool keep = true;  // where it led may be kept

  // The target of a link, then the rest.
  bool Expand(const char* target, size_t length, const char* rest) {
    const size_t left = strlen(rest);
    if (length + left + 2 > sizeof text) return false;
    memmove(text + length + 1, rest, left + 1);
    memcpy(text, target, length);
    text[length] = '/';
    at = 0;
    return true;
  }
};

// Follows the link at the spot, which is taken back or begun anew. 1: it stands for itself.
int FollowLink(Place& place, const Found& found, Layers& in, Todo& todo, const char* rest) {
  if (++todo.links > kMostLinks) return -ELOOP;
  char target[kLongest];
  const char* link = found.upper == Kind::kLink ? place.spot.upper() : place.spot.lower();
  const long size = kernel::ReadLinkAt(AT_FDCWD, link, target, sizeof target - 1);
  if (size < 0) return static_cast<int>(size);
  target[size] = 0;
  if (found.real) {
    todo.keep = false;
    if (IsMagic(place.spot) && !LeadsToPath(place.spot, target)) return 1;
  }
  const size_t length = WithoutChanges(target, static_cast<size_t>(size));
  if (!todo.Expand(target, length, rest)) return -ENAMETOOLONG;
  if (target[0] == '/') {
    place.spot.Clear();
    in = {};
  } else {
    place.spot.Pop();
  }
  return 0;
}

// Goes through all of `todo` from a folder in these layers. With `folders` every name is a folder
// and `in` is where it ends; otherwise the last name is what `place` is about.
int Go(Place& place, Layers& in, Todo& todo, bool folders, bool follow) {
  for (;;) {
    while (todo.text[todo.at] == '/') ++todo.at;
    const char* name = todo.text + todo.at;
    const size_t length = strcspn(name, "/");
    if (length == 0) break;
    const char* rest = name + length;
    todo.at += length;
    if (length == 1 && name[0] == '.') continue;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
      place.spot.Pop();
      in = LayersOf(place.spot);
      continue;
    }
    if (length > 255 || !place.spot.Push(name, length)) return -ENAMETOOLONG;
    Found found;
    int error = Look(place.spot, in, found, place.status);
    if (error < 0) return error;
    const bool last = !folders && rest[strspn(rest, "/")] == 0;
    place.upper = found.upper;
    place.lower = found.lower;
    place.real = found.real;
    place.in = in;
    Kind kind = place.seen();
    if (kind == Kind::kLink && (!last || follow || *rest == '/')) {
      error = FollowLink(place, found, in, todo, rest);
      if (error < 0) return error;
      if (error == 0) continue;
      error = kernel::StatAt(AT_FDCWD, place.spot.lower(), &place.status, 0);
      if (error < 0) return error;
      kind = place.lower = KindOf(place.status);
    }
    if (last) return 0;
    if (kind == Kind::kNone) return -ENOENT;
    if (kind != Kind::kFolder) return -ENOTDIR;
    in = place.layers();
  }
  if (folders) return 0;
  // It ends with a folder (/, ., ..) whose own folder was not looked at.
  Found found;
  if (place.spot.length() == 0) {
    place.in = {};
    place.upper = place.lower = Kind::kFolder;
    place.real = false;
    return kernel::Lstat("/", &place.status);
  }
  {
    const Spot::Shorter parent(place.spot, place.spot.Parent(place.spot.length()));
    place.in = LayersOf(place.spot);
  }
  const int error = Look(place.spot, place.in, found, place.status);
  place.upper = found.upper;
  place.lower = found.lower;
  place.real = found.real;
  return error;
}

// The path that relative ones are relative to.
long Base(int folder, char* to, size_t size) {
  if (folder != AT_FDCWD) return PathOf(folder, to, size);
  const long length = kernel::Call(SYS_getcwd, kernel::Of(to), static_cast<long>(size));
  if (length < 0) return length;
  if (to[0] != '/') return -ENOENT;  // "(unreachable)"
  return static_cast<long>(WithoutChanges(to, static_cast<size_t>(length - 1)));
}

}  // namespace

// A child that was forked while another thread looked at what is known.
void ForgetLocksOfPaths();
void ForgetLocksOfPaths() { Unlock(); }

bool Spot::Push(const char* name, size_t length) {
  if (length_ + length + 2 > kLongest || prefix_ + length_ + length + 2 > sizeof text_) {
    return false;
  }
  char* end = text_ + prefix_ + length_;
  end[0] = '/';
  memcpy(end + 1, name, length);
  end[length + 1] = 0;
  length_ += length + 1;
  return true;
}

void Spot::Pop() {
  length_ = Parent(length_);
  text_[prefix_ + length_] = 0;
}

size_t Spot::Parent(size_t length) const {
  while (length > 0 && text_[prefix_ + length - 1] != '/') --length;
  return length > 0 ? length - 1 : 0;
}

Kind KindOf(const struct stat& status) {
  return S_ISDIR(status.st_mode)   ? Kind::kFolder
         : S_ISLNK(status.st_mode) ? Kind::kLink
                                   : Kind::kOther;
}

uint64_t Generation() {
  Shared& state = State();
  return &state == &alone ? 1 : __atomic_load_n(&state.generation, __ATOMIC_ACQUIRE);
}

size_t WithoutChanges(char* path, size_t length) {
  const size_t prefix = ChangesLength();
  if (length < prefix || memcmp(path, Changes(), prefix) != 0 ||
      (path[prefix] != '/' && path[prefix] != 0)) {
    return length;
  }
  memmove(path, path + prefix, length - prefix + 1);
  length -= prefix;
  if (length == 0) {
    path[length++] = '/';
    path[length] = 0;
  }
  return length;
}

bool Passes(const char* path, bool writes) {
  if (path == nullptr || ModeOfProcess() != Mode::kCopy) return true;
  if (path[0] == '/' && strstr(path, "/..") == nullptr) {
    if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/sys/", 5) == 0) {
      if (!writes || (strncmp(path, "/dev/fd/", 8) != 0)) return true;
    }
    if (!writes && strncmp(path, "/proc/", 6) == 0 && strstr(path, "/cwd") == nullptr &&
        strstr(path, "/root") == nullptr && strstr(path, "/fd/") == nullptr) {
      return true;
    }
  }
  return !writes && Generation() == 0 && strncmp(path, Changes(), ChangesLength()) != 0;
}

long PathOf(int fd, char* to, size_t size) {
  if (fd < 0) return -EBADF;
  char name[32] = "/proc/self/fd/";
  size_t at = strlen(name);
  char digits[12];
  size_t count = 0;
  for (int rest = fd; rest > 0 || count == 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) name[at++] = digits[--count];
  name[at] = 0;
  const long length = kernel::ReadLinkAt(AT_FDCWD, name, to, size - 1);
  if (length < 0) return length == -ENOENT ? -EBADF : length;
  if (to[0] != '/') return -ENOTDIR;
  to[length] = 0;
  return static_cast<long>(WithoutChanges(to, static_cast<size_t>(length)));
}

int Resolve(int folder, const char* path, unsigned how, Place& place) {
  const size_t given = strlen(path);
  if (given == 0 && (how & kDescriptor) == 0) return -ENOENT;
  if (given >= kLongest) return -ENAMETOOLONG;
  const uint64_t generation = Generation();
  Todo todo;
  size_t length = 0;
  if (path[0] != '/') {
    const long base = Base(folder, todo.text, kLongest);
    if (base < 0) return static_cast<int>(base);
    length = static_cast<size_t>(base);
    if (given > 0) todo.text[length++] = '/';
  }
  memcpy(todo.text + length, path, given + 1);
  length = WithoutChanges(todo.text, length + given);
  place.slash = length > 1 && todo.text[length - 1] == '/';
  while (length > 1 && todo.text[length - 1] == '/') --length;
  todo.text[length] = 0;

  // The folder first: it was looked up before, most of the time.
  size_t last = length;
  while (last > 0 && todo.text[last - 1] != '/') --last;
  char name[256 + 2];
  const size_t name_length = length - last;
  if (name_length > 255) return -ENAMETOOLONG;
  memcpy(name, todo.text + last, name_length);
  if (place.slash) name[name_length] = '/';
  name[name_length + (place.slash ? 1 : 0)] = 0;
  const bool special = name_length == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                       strcmp(name, "./") == 0 || strcmp(name, "../") == 0;
  place.spot.Clear();
  Layers in;
  bool follow = (how & kFollow) != 0;
  if (!special && last > 1) {
    todo.text[last - 1] = 0;
    const size_t key_length = last - 1;
    if (!Find(todo.text, key_length, generation, place.spot, in)) {
      char key[sizeof Known::key];
      const bool fits = key_length <= sizeof key;
      if (fits) memcpy(key, todo.text, key_length);
      const int error = Go(place, in, todo, true, true);
      if (error < 0) return error;
      if (fits && todo.keep) Keep(key, key_length, generation, place.spot, in);
    }
    todo.at = 0;
    strcpy(todo.text, name);
  }
  const int error = Go(place, in, todo, false, follow);
  if (error < 0) return error;
  if (place.slash && place.exists() && place.seen() != Kind::kFolder) return -ENOTDIR;
  return 0;
}

// --- changes ---

namespace {

// Whether something outside is hidden once the upper layer has no such name.
bool IsOutside(const Place& place) {
  struct stat status;
  return !place.real && place.in.lower && kernel::Lstat(place.spot.lower(), &status) == 0;
}

int MarkRemoved(Place& place) {
  const int error = EnsureFolder(place.spot, place.spot.Parent(place.spot.length()));
  if (error < 0) return error;
  return kernel::MakeLink(kRemovedText, place.spot.upper());
}

int MarkOpaque(const char* folder) {
  char path[2 * kLongest];
  const size_t length = strlen(folder);
  if (length + sizeof VRAMSCOPE_ISOLATION_OPAQUE + 1 > sizeof path) return -ENAMETOOLONG;
  memcpy(path, folder, length);
  strcpy(path + length, "/" VRAMSCOPE_ISOLATION_OPAQUE);
  const int fd = kernel::Open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fd;
  kernel::Close(fd);
  return 0;
}

// An upper folder without anything but our marks goes.
int RemoveUpperFolder(const char* folder) {
  Listing listing;
  int error = listing.ReadPlain(folder);
  if (error < 0) return error;
  char path[2 * kLongest];
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

// All of it is in the upper layer and hides what is outside.
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
  if (error == -EACCES) {  // its owner may not write to it, but to folders in it
    mode_of_parent((outer.st_mode & 07777) | 0700);
    error = at(length, make);
    mode_of_parent(outer.st_mode & 07777);
  }
  if (error < 0) return error == -EEXIST ? 0 : error;
  at(length, [&](const char* path, const char*) {
    CopyStatus(path, lower);
    return 0;
  });
  if (parent > 0) {  // what the program sees of it did not change
    const struct timespec times[2] = {outer.st_atim, outer.st_mtim};
    at(parent, [&](const char* path, const char*) { return kernel::SetTimes(path, times, 0); });
  }
  Bump();
  return 0;
}

int MayChange(Place& place) {
  if (!place.in.lower) return 0;  // the kernel judges by the copy
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
  const bool outside = IsOutside(place);
  if (place.upper != Kind::kNone) error = kernel::Remove(place.spot.upper());
  if (error == 0 && outside) error = MarkRemoved(place);
  if (place.seen() == Kind::kLink) Bump();
  return error == -EEXIST ? -ENOENT : error;  // somebody else was first
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
