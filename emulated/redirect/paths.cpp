#include <string.h>
#include <sys/mman.h>

#include "emulated/redirect/changes.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

namespace vramscope::isolation {
namespace {

constexpr int kMostLinks = 40;
constexpr size_t kLongest = 4096;

// --- state of the changes, shared by all processes of a program ---

struct Shared {
  uint64_t generation;
};
Shared* shared;
int shared_state;  // 0: not tried, 1: being mapped, 2: done
Shared alone;      // used if the state cannot be shared; then no lookup is cached

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

// --- cached folder lookups, by path ---

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

// Returns false if the lock is taken, so that the caller looks up the folder itself. Waiting for
// the lock could take forever: this may be a signal handler that has interrupted the holder, or a
// forked child in which the holder does not exist.
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
  // The path is stored without its first slash, because Push adds it.
  entry.length = static_cast<unsigned short>(spot.length() > 0 ? spot.length() - 1 : 0);
  if (entry.length > 0) memcpy(entry.text, spot.lower() + 1, entry.length);
  entry.layers = layers;
  Unlock();
}

// --- lookup of one name ---

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

// Returns the device number to show for a new folder, from the closest folder above it in the lower
// layer.
dev_t DeviceOutside(Spot& spot) {
  size_t length = spot.length();
  struct stat status = {};
  do {
    length = spot.Parent(length);
    const Spot::Shorter above(spot, length);
    if (kernel::Lstat(spot.lower(), &status) == 0) break;
  } while (length > 0);
  return status.st_dev;
}

// Looks up a spot. `in` are the layers that contain the spot's parent folder.
int Look(Spot& spot, const Layers& in, Found& found, struct stat& status) {
  found = {};
  found.real = IsReal(spot.lower());
  if (found.real) {
    const int error = kernel::Lstat(spot.lower(), &status);
    if (error == 0) found.lower = KindOf(status);
    return IsMissing(error) ? 0 : error;
  }
  if (in.upper || in.real) {
    const int error = kernel::Lstat(spot.upper(), &status);
    if (error == 0) {
      found.upper = KindOf(status);
      if (found.upper == Kind::kLink && IsRemovedMark(AT_FDCWD, spot.upper(), status.st_size)) {
        found.upper = Kind::kRemoved;
      } else if (found.upper == Kind::kFolder) {
        struct stat outer;
        if (in.lower && !IsOpaque(spot) && kernel::Lstat(spot.lower(), &outer) == 0 &&
            S_ISDIR(outer.st_mode)) {
          found.lower = Kind::kFolder;
          // A folder keeps its device and inode numbers when its contents change.
          status.st_dev = outer.st_dev;
          status.st_ino = outer.st_ino;
        } else {
          status.st_dev = DeviceOutside(spot);
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

// Returns the layers that contain an existing folder.
Layers LayersOf(Spot& spot) {
  Layers layers;
  if (IsReal(spot.lower())) return {false, true, true};
  const size_t length = spot.length();
  for (size_t end = 1; end <= length; ++end) {
    if (end < length && spot.lower()[end] != '/') continue;
    const Spot::Shorter shorter(spot, end);
    struct stat status;
    if (!layers.upper) continue;
    layers.upper = kernel::Lstat(spot.upper(), &status) == 0 && S_ISDIR(status.st_mode);
    if (layers.upper && layers.lower && IsOpaque(spot)) layers.lower = false;
  }
  struct stat status;
  if (layers.lower)
    layers.lower = kernel::Lstat(spot.lower(), &status) == 0 && S_ISDIR(status.st_mode);
  return layers;
}

// Returns whether this is a link in /proc that leads to an open file instead of a path.
bool IsMagic(const Spot& spot) {
  const char* path = spot.lower();
  if (strncmp(path, "/proc/", 6) != 0) return false;
  const char* name = spot.name();
  return strstr(path, "/fd/") != nullptr || strstr(path, "/map_files/") != nullptr ||
         strcmp(name, "cwd") == 0 || strcmp(name, "root") == 0 || strcmp(name, "exe") == 0;
}

// Returns whether the open file still has that path. Returns false for a standard stream that is
// open for writing (the link's mode shows this; proc_pid_fd(5)). If this stream is a real file, the
// process that started the program has opened it, and the program must keep it.
bool LeadsToPath(const Spot& link, const char* target) {
  const char* name = link.name();
  struct stat open, there;
  const bool standard = name[0] >= '0' && name[0] <= '2' && name[1] == 0 &&
                        kernel::Lstat(link.lower(), &open) == 0 && (open.st_mode & S_IWUSR) != 0;
  if (target[0] != '/' || standard) return false;
  return kernel::StatAt(AT_FDCWD, link.lower(), &open, 0) == 0 &&
         kernel::Lstat(target, &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

// The rest of a path.
struct Todo {
  char text[2 * kLongest];
  size_t at = 0;
  int links = 0;
  bool keep = true;  // the result may be cached

  // Puts a link's target in front of the rest of the path.
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

// Follows the link at the spot, and sets the spot to the link's folder or the root. Returns 1 if
// the kernel must follow the link, because it leads to an open file and not to a path.
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

// Follows the names in `todo`, starting from a folder in the layers `in`. If `folders`, all names
// must be folders, and `in` becomes the layers of the last one. Otherwise, looks up the last name
// and stores it in `place`.
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
  // The path ended with /, . or .., so the place's parent folder was not looked up.
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

// Stores the path of the folder to which relative paths refer.
long Base(int folder, char* to, size_t size) {
  if (folder != AT_FDCWD) return PathOf(folder, to, size);
  const long length = kernel::Call(SYS_getcwd, kernel::Of(to), static_cast<long>(size));
  if (length < 0) return length;
  if (to[0] != '/') return -ENOENT;  // "(unreachable)"
  return static_cast<long>(WithoutChanges(to, static_cast<size_t>(length - 1)));
}

}  // namespace

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

void Bump() { __atomic_add_fetch(&State().generation, 1, __ATOMIC_ACQ_REL); }

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

namespace {

// Returns whether a path in /dev leads to no file that is isolated. A link in /dev/shm, or a
// standard stream, may lead to such a file.
bool LeadsToDevice(const char* path, bool writes) {
  const char* name = path + strlen("/dev/");
  if (strchr(name, '/') != nullptr) return !writes && strncmp(name, "shm/", 4) != 0;
  if (!writes) return true;
  struct stat status;
  return kernel::Lstat(path, &status) == 0 && !S_ISLNK(status.st_mode);
}

}  // namespace

bool Passes(const char* path, bool writes) {
  if (path == nullptr || ModeOfProcess() != Mode::kCopy) return true;
  if (path[0] == '/' && strstr(path, "/..") == nullptr) {
    if (strncmp(path, "/sys/", 5) == 0) return true;
    if (strncmp(path, "/dev/", 5) == 0 && LeadsToDevice(path, writes)) return true;
    if (!writes && strncmp(path, "/proc/", 6) == 0 && strstr(path, "/cwd") == nullptr &&
        strstr(path, "/root") == nullptr && strstr(path, "/fd/") == nullptr) {
      return true;
    }
  }
  return !writes && Generation() == 0 && strstr(path, ChangesName()) == nullptr;
}

long PathOf(int fd, char* to, size_t size) {
  if (fd < 0) return -EBADF;
  char name[32];
  kernel::NameOfDescriptor(fd, name);
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
  length += given;
  const size_t stripped = WithoutChanges(todo.text, length);
  // The folder of changes is hidden. Through it, a program that empties /var/tmp would otherwise
  // reach every file, also those that are not isolated.
  if (stripped != length && (strspn(todo.text, "/.") == stripped || IsReal(todo.text)))
    return -ENOENT;
  length = stripped;
  place.slash = length > 1 && todo.text[length - 1] == '/';
  while (length > 1 && todo.text[length - 1] == '/') --length;
  todo.text[length] = 0;

  // Looks up the parent folder first, because it is usually cached.
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

}  // namespace vramscope::isolation
