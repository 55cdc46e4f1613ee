// Implements working folders, paths without links and folder streams. Also implements functions
// that use these inside the C library: file streams, temporary names, glob, nftw.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <new>

#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"

namespace vramscope::isolation {
namespace {

// --- streams of folders that have a changed copy ---

// The entries of a folder stream. `stream` is the C library's stream, which has the descriptor.
struct Stream {
  DIR* stream;
  Stream* next;
  Listing listing;
  struct dirent entry;
};
Stream* streams;
int stream_count, stream_lock;

class StreamsLocked {
 public:
  StreamsLocked() {
    for (int none = 0; !__atomic_compare_exchange_n(&stream_lock, &none, 1, false, __ATOMIC_ACQUIRE,
                                                    __ATOMIC_RELAXED);
         none = 0) {
      kernel::Call(SYS_sched_yield);
    }
  }
  ~StreamsLocked() { __atomic_store_n(&stream_lock, 0, __ATOMIC_RELEASE); }
  StreamsLocked(const StreamsLocked&) = delete;
  StreamsLocked& operator=(const StreamsLocked&) = delete;
};

Stream* Find(DIR* stream) {
  if (__atomic_load_n(&stream_count, __ATOMIC_ACQUIRE) == 0) return nullptr;
  const StreamsLocked locked;
  for (Stream* at = streams; at != nullptr; at = at->next)
    if (at->stream == stream) return at;
  return nullptr;
}

// Reads the entries of a folder. Returns false if the kernel's own list is right: the folder is
// only in the lower layer or not isolated, and nothing in it is hidden.
bool ReadStream(DIR* stream, Stream& to) {
  static void* next;
  char path[2 * PATH_MAX];
  Place place;
  const int fd = NextAs<int(DIR*)>(next, "dirfd")(stream);
  if (PathOf(fd, path, sizeof path) <= 0 || Resolve(AT_FDCWD, path, 0, place) < 0) return false;
  return !place.real && (place.upper == Kind::kFolder || HiddenIn(place.spot.lower())[0] != 0) &&
         to.listing.Read(place.spot, place.layers()) == 0;
}

DIR* Keep(DIR* stream) {
  if (stream == nullptr || !Copies() || Generation() == 0) return stream;
  void* memory = malloc(sizeof(Stream));
  if (memory == nullptr) return stream;
  Stream* kept = new (memory) Stream;
  kept->stream = stream;
  if (!ReadStream(stream, *kept)) {
    kept->~Stream();
    free(memory);
    return stream;
  }
  const StreamsLocked locked;
  kept->next = streams;
  streams = kept;
  __atomic_add_fetch(&stream_count, 1, __ATOMIC_RELEASE);
  return stream;
}

void Forget(DIR* stream) {
  if (Find(stream) == nullptr) return;
  Stream* found = nullptr;
  {
    const StreamsLocked locked;
    for (Stream** at = &streams; *at != nullptr; at = &(*at)->next) {
      if ((*at)->stream != stream) continue;
      found = *at;
      *at = found->next;
      __atomic_sub_fetch(&stream_count, 1, __ATOMIC_RELEASE);
      break;
    }
  }
  if (found == nullptr) return;
  found->~Stream();
  free(found);
}

DIR* OpenStream(const char* path) {
  static void* next;
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  if (error < 0) {
    errno = -error;
    return nullptr;
  }
  return Keep(NextAs<DIR*(const char*)>(next, "opendir")(where.path));
}

DIR* OpenStreamOf(int fd) {
  static void* next;
  return Keep(NextAs<DIR*(int)>(next, "fdopendir")(fd));
}

bool NextEntry(Stream& from, struct dirent& to) {
  Listing::Name name;
  if (!from.listing.Next(name)) return false;
  to.d_ino = name.inode;
  to.d_off = static_cast<off_t>(from.listing.at());
  to.d_reclen = sizeof to;
  to.d_type = name.type;
  const size_t length = name.length < sizeof to.d_name ? name.length : sizeof to.d_name - 1;
  memcpy(to.d_name, name.text, length);
  to.d_name[length] = 0;
  return true;
}

struct dirent* ReadEntry(DIR* stream) {
  static void* next;
  Stream* found = Find(stream);
  if (found == nullptr) return NextAs<struct dirent*(DIR*)>(next, "readdir")(stream);
  return NextEntry(*found, found->entry) ? &found->entry : nullptr;
}

int CloseStream(DIR* stream) {
  static void* next;
  Forget(stream);
  return NextAs<int(DIR*)>(next, "closedir")(stream);
}

// --- scandir ---

using Filter = int(const struct dirent*);
using Compare = int(const struct dirent**, const struct dirent**);

int Scan(DIR* stream, struct dirent*** names, Filter* filter, Compare* compare) {
  if (stream == nullptr) return -1;
  struct dirent** found = nullptr;
  size_t count = 0;
  bool failed = false;
  for (const struct dirent* entry; !failed && (entry = ReadEntry(stream)) != nullptr;) {
    if (filter != nullptr && filter(entry) == 0) continue;
    void* more = realloc(found, (count + 1) * sizeof *found);
    struct dirent* own = static_cast<struct dirent*>(malloc(sizeof *own));
    failed = more == nullptr || own == nullptr;
    if (more != nullptr) found = static_cast<struct dirent**>(more);
    if (failed) {
      free(own);
      break;
    }
    memcpy(own, entry, offsetof(struct dirent, d_name) + strlen(entry->d_name) + 1);
    found[count++] = own;
  }
  CloseStream(stream);
  if (failed) {
    while (count > 0) free(found[--count]);
    free(found);
    errno = ENOMEM;
    return -1;
  }
  if (compare != nullptr && count > 1)
    qsort(found, count, sizeof *found,
          reinterpret_cast<int (*)(const void*, const void*)>(compare));
  *names = found;
  return static_cast<int>(count);
}

// --- working folder and whole paths ---

int ChangeFolder(const char* path) {
  Place place;
  Where where;
  const int error = FindForReading(AT_FDCWD, path, true, place, where);
  return static_cast<int>(error < 0 ? error : kernel::Call(SYS_chdir, kernel::Of(where.path)));
}

char* WorkingFolder(char* to, size_t size) {
  static void* next;
  if (!Copies()) return NextAs<char*(char*, size_t)>(next, "getcwd")(to, size);
  char path[2 * PATH_MAX];
  const long length = kernel::Call(SYS_getcwd, kernel::Of(path), sizeof path);
  if (length < 0 || path[0] != '/') {
    errno = length < 0 ? static_cast<int>(-length) : ENOENT;
    return nullptr;
  }
  const size_t shown = WithoutChanges(path, static_cast<size_t>(length - 1));
  if (to == nullptr) {
    if (size != 0 && size <= shown) {
      errno = ERANGE;
      return nullptr;
    }
    to = static_cast<char*>(malloc(size != 0 ? size : shown + 1));
    if (to == nullptr) return nullptr;
  } else if (size == 0) {
    errno = EINVAL;
    return nullptr;
  } else if (size <= shown) {
    errno = ERANGE;
    return nullptr;
  }
  memcpy(to, path, shown + 1);
  return to;
}

char* RealPath(const char* path, char* to) {
  static void* next;
  if (!Copies() || path == nullptr)
    return NextAs<char*(const char*, char*)>(next, "realpath")(path, to);
  Place place;
  int error = Resolve(AT_FDCWD, path, kFollow, place);
  if (error == 0 && !place.exists()) error = -ENOENT;
  if (error == 0 && place.real && strncmp(place.spot.lower(), "/proc/", 6) == 0)
    // The C library resolves paths in /proc, because they are not isolated.
    return NextAs<char*(const char*, char*)>(next, "realpath")(path, to);
  if (error == 0 && place.spot.length() >= PATH_MAX) error = -ENAMETOOLONG;
  if (error < 0) {
    errno = -error;
    return nullptr;
  }
  if (to == nullptr) return strdup(place.spot.lower());
  return strcpy(to, place.spot.lower());
}

// --- files' streams ---

int FlagsOf(const char* mode) {
  int flags = mode[0] == 'r'   ? O_RDONLY
              : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
              : mode[0] == 'a' ? O_WRONLY | O_CREAT | O_APPEND
                               : -1;
  if (flags < 0) return -1;
  for (const char* at = mode + 1; *at != 0 && *at != ','; ++at) {
    if (*at == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*at == 'x') flags |= O_EXCL;
    if (*at == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

FILE* OpenFile(const char* path, const char* mode) {
  static void* next;
  const int flags = FlagsOf(mode);
  if (flags < 0 || !Copies() || (flags == O_RDONLY && Passes(path, false)))
    return NextAs<FILE*(const char*, const char*)>(next, "fopen")(path, mode);
  const int fd = AnswerInt(OpenAt(AT_FDCWD, path, flags, 0666));
  if (fd < 0) return nullptr;
  FILE* file = fdopen(fd, mode);
  if (file == nullptr) kernel::Close(fd);
  return file;
}

FILE* OpenFileAnew(const char* path, const char* mode, FILE* file) {
  static void* next;
  const auto real = NextAs<FILE*(const char*, const char*, FILE*)>(next, "freopen");
  const int flags = FlagsOf(mode);
  char own[32];
  if (path == nullptr && Copies() && flags > 0) {
    snprintf(own, sizeof own, "/proc/self/fd/%d", fileno(file));
    path = own;
  }
  if (flags < 0 || Passes(path, flags != O_RDONLY)) return real(path, mode, file);
  // OpenAt creates, truncates or copies the file. After that, the C library opens it.
  const int fd = AnswerInt(OpenAt(AT_FDCWD, path, flags | O_CLOEXEC, 0666));
  if (fd < 0) {
    const int error = errno;
    fclose(file);
    errno = error;
    return nullptr;
  }
  char name[32], plain[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  size_t length = 0;
  for (const char* at = mode; *at != 0 && length + 1 < sizeof plain; ++at)
    if (*at != 'x') plain[length++] = *at;
  plain[length] = 0;
  FILE* opened = real(name, plain, file);
  kernel::Close(fd);
  return opened;
}

// --- temporary names ---

// Replaces the XXXXXX before the suffix by random letters until `make` reports that the name is
// free.
template <typename Function>
int MakeTemporary(char* name, int suffix, Function make) {
  const size_t length = strlen(name);
  if (suffix < 0 || length < 6 + static_cast<size_t>(suffix)) return -EINVAL;
  char* letters = name + length - static_cast<size_t>(suffix) - 6;
  if (memcmp(letters, "XXXXXX", 6) != 0) return -EINVAL;
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (int turn = 0; turn < 10'000; ++turn) {
    uint64_t random = 0;
    if (kernel::Call(SYS_getrandom, kernel::Of(&random), sizeof random, 0) < 0) return -EIO;
    for (int i = 0; i < 6; ++i, random /= 62) letters[i] = kLetters[random % 62];
    const int made = make(name);
    if (made != -EEXIST) return made;
  }
  return -EEXIST;
}

int MakeTemporaryFile(char* name, int suffix, int flags) {
  return AnswerInt(MakeTemporary(name, suffix, [flags](const char* path) {
    return static_cast<int>(
        OpenAt(AT_FDCWD, path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600));
  }));
}

// --- nftw ---

struct Walk {
  int (*visit)(const char*, const struct stat*, int, struct FTW*);
  int (*visit_plain)(const char*, const struct stat*, int);
  int flags;
  dev_t device;
  char path[2 * PATH_MAX];
};

int Visit(Walk& walk, const struct stat& status, int kind, int base, int level) {
  if (walk.visit_plain != nullptr) return walk.visit_plain(walk.path, &status, kind);
  struct FTW place = {base, level};
  return walk.visit(walk.path, &status, kind, &place);
}

int WalkTree(Walk& walk, int base, int level) {
  const bool physical = (walk.flags & FTW_PHYS) != 0;
  struct stat status;
  int kind = FTW_F;
  if (StatPath(AT_FDCWD, walk.path, &status, physical ? AT_SYMLINK_NOFOLLOW : 0) < 0) {
    memset(&status, 0, sizeof status);
    const bool link = StatPath(AT_FDCWD, walk.path, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!link && level == 0) return -1;
    kind = link ? FTW_SLN : FTW_NS;
  } else if (S_ISLNK(status.st_mode)) {
    kind = FTW_SL;
  } else if (S_ISDIR(status.st_mode)) {
    kind = FTW_D;
  }
  if (level == 0) walk.device = status.st_dev;
  if ((walk.flags & FTW_MOUNT) != 0 && kind == FTW_D && status.st_dev != walk.device) return 0;
  if (kind != FTW_D) return Visit(walk, status, kind, base, level);

  DIR* stream = OpenStream(walk.path);
  if (stream == nullptr) return Visit(walk, status, FTW_DNR, base, level);
  int result = (walk.flags & FTW_DEPTH) != 0 ? 0 : Visit(walk, status, FTW_D, base, level);
  const size_t length = strlen(walk.path);
  const bool slash = length > 0 && walk.path[length - 1] == '/';
  while (result == 0) {
    const struct dirent* entry = ReadEntry(stream);
    if (entry == nullptr) break;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (length + strlen(entry->d_name) + 2 > sizeof walk.path) {
      errno = ENAMETOOLONG;
      result = -1;
      break;
    }
    strcpy(walk.path + length, slash ? "" : "/");
    strcat(walk.path, entry->d_name);
    result = WalkTree(walk, static_cast<int>(length + (slash ? 0 : 1)), level + 1);
    walk.path[length] = 0;
  }
  CloseStream(stream);
  if (result == 0 && (walk.flags & FTW_DEPTH) != 0)
    result = Visit(walk, status, FTW_DP, base, level);
  return result;
}

int StartWalk(const char* path, Walk& walk) {
  const size_t length = strlen(path);
  if (length == 0 || length >= sizeof walk.path) {
    errno = length == 0 ? ENOENT : ENAMETOOLONG;
    return -1;
  }
  memcpy(walk.path, path, length + 1);
  const char* slash = strrchr(path, '/');
  return WalkTree(walk, slash == nullptr ? 0 : static_cast<int>(slash + 1 - path), 0);
}

// --- glob ---

int StatForGlob(const char* path, struct stat* status) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, 0));
}
int LstatForGlob(const char* path, struct stat* status) {
  return AnswerInt(StatPath(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}

}  // namespace

void ForgetLocksOfStreams() { __atomic_store_n(&stream_lock, 0, __ATOMIC_RELEASE); }

}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the C library's

VRAMSCOPE_FUNCTION(DIR*, opendir, (const char* path)) { return OpenStream(path); }
VRAMSCOPE_FUNCTION(DIR*, fdopendir, (int fd)) { return OpenStreamOf(fd); }
VRAMSCOPE_FUNCTION(int, closedir, (DIR * stream)) { return CloseStream(stream); }
VRAMSCOPE_FUNCTION(struct dirent*, readdir, (DIR * stream)) { return ReadEntry(stream); }
VRAMSCOPE_ALIAS(readdir64, readdir)
VRAMSCOPE_FUNCTION(int, readdir_r, (DIR * stream, struct dirent* entry, struct dirent** result)) {
  static void* next;
  Stream* found = Find(stream);
  if (found == nullptr) {
    return NextAs<int(DIR*, struct dirent*, struct dirent**)>(next, "readdir_r")(stream, entry,
                                                                                 result);
  }
  *result = NextEntry(*found, *entry) ? entry : nullptr;
  return 0;
}
VRAMSCOPE_ALIAS(readdir64_r, readdir_r)
VRAMSCOPE_FUNCTION(void, rewinddir, (DIR * stream)) {
  static void* next;
  NextAs<void(DIR*)>(next, "rewinddir")(stream);
  Stream* found = Find(stream);
  if (found == nullptr) {
    Keep(stream);  // the folder may have a changed copy now
  } else {
    ReadStream(stream, *found);
  }
}
VRAMSCOPE_FUNCTION(long, telldir, (DIR * stream)) {
  static void* next;
  const Stream* found = Find(stream);
  return found != nullptr ? static_cast<long>(found->listing.at())
                          : NextAs<long(DIR*)>(next, "telldir")(stream);
}
VRAMSCOPE_FUNCTION(void, seekdir, (DIR * stream, long at)) {
  static void* next;
  Stream* found = Find(stream);
  if (found != nullptr) {
    found->listing.Seek(static_cast<size_t>(at));
  } else {
    NextAs<void(DIR*, long)>(next, "seekdir")(stream, at);
  }
}
VRAMSCOPE_FUNCTION(int, scandir,
                   (const char* path, struct dirent*** names, Filter* filter, Compare* compare)) {
  return Scan(OpenStream(path), names, filter, compare);
}
VRAMSCOPE_ALIAS(scandir64, scandir)
VRAMSCOPE_FUNCTION(int, scandirat,
                   (int folder, const char* path, struct dirent*** names, Filter* filter,
                    Compare* compare)) {
  const int fd = AnswerInt(OpenAt(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (fd < 0) return -1;
  DIR* stream = OpenStreamOf(fd);
  if (stream == nullptr) kernel::Close(fd);
  return Scan(stream, names, filter, compare);
}
VRAMSCOPE_ALIAS(scandirat64, scandirat)

VRAMSCOPE_FUNCTION(int, chdir, (const char* path)) { return AnswerInt(ChangeFolder(path)); }
VRAMSCOPE_FUNCTION(char*, getcwd, (char* to, size_t size)) { return WorkingFolder(to, size); }
VRAMSCOPE_FUNCTION(char*, __getcwd_chk, (char* to, size_t size, size_t room)) {
  if (size > room) abort();
  return WorkingFolder(to, size);
}
VRAMSCOPE_FUNCTION(char*, getwd, (char* to)) {
  return to == nullptr ? nullptr : WorkingFolder(to, PATH_MAX);
}
VRAMSCOPE_FUNCTION(char*, get_current_dir_name, ()) { return WorkingFolder(nullptr, 0); }
VRAMSCOPE_FUNCTION(char*, realpath, (const char* path, char* to)) { return RealPath(path, to); }
VRAMSCOPE_FUNCTION(char*, __realpath_chk, (const char* path, char* to, size_t room)) {
  if (room < PATH_MAX) abort();
  return RealPath(path, to);
}
VRAMSCOPE_FUNCTION(char*, canonicalize_file_name, (const char* path)) {
  return RealPath(path, nullptr);
}

VRAMSCOPE_FUNCTION(FILE*, fopen, (const char* path, const char* mode)) {
  return OpenFile(path, mode);
}
VRAMSCOPE_ALIAS(fopen64, fopen)
VRAMSCOPE_FUNCTION(FILE*, freopen, (const char* path, const char* mode, FILE* file)) {
  return OpenFileAnew(path, mode, file);
}
VRAMSCOPE_ALIAS(freopen64, freopen)

VRAMSCOPE_FUNCTION(int, mkstemp, (char* name)) { return MakeTemporaryFile(name, 0, 0); }
VRAMSCOPE_ALIAS(mkstemp64, mkstemp)
VRAMSCOPE_FUNCTION(int, mkostemp, (char* name, int flags)) {
  return MakeTemporaryFile(name, 0, flags);
}
VRAMSCOPE_ALIAS(mkostemp64, mkostemp)
VRAMSCOPE_FUNCTION(int, mkstemps, (char* name, int suffix)) {
  return MakeTemporaryFile(name, suffix, 0);
}
VRAMSCOPE_ALIAS(mkstemps64, mkstemps)
VRAMSCOPE_FUNCTION(int, mkostemps, (char* name, int suffix, int flags)) {
  return MakeTemporaryFile(name, suffix, flags);
}
VRAMSCOPE_ALIAS(mkostemps64, mkostemps)
VRAMSCOPE_FUNCTION(char*, mkdtemp, (char* name)) {
  const int made =
      MakeTemporary(name, 0, [](const char* path) { return MakeFolderAt(AT_FDCWD, path, 0700); });
  return AnswerInt(made) < 0 ? nullptr : name;
}
VRAMSCOPE_FUNCTION(char*, mktemp, (char* name)) {
  const int made = MakeTemporary(name, 0, [](const char* path) {
    struct stat status;
    const int error = StatPath(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW);
    return error == 0 ? -EEXIST : error == -ENOENT ? 0 : error;
  });
  if (AnswerInt(made) < 0) name[0] = 0;
  return name;
}

VRAMSCOPE_FUNCTION(int, nftw,
                   (const char* path,
                    int (*visit)(const char*, const struct stat*, int, struct FTW*),
                    int descriptors, int flags)) {
  static void* next;
  if (!Copies() || (flags & (FTW_CHDIR | FTW_ACTIONRETVAL)) != 0) {
    return NextAs<int(const char*, decltype(visit), int, int)>(next, "nftw")(path, visit,
                                                                             descriptors, flags);
  }
  Walk walk;
  walk.visit = visit;
  walk.visit_plain = nullptr;
  walk.flags = flags;
  return StartWalk(path, walk);
}
VRAMSCOPE_ALIAS(nftw64, nftw)
VRAMSCOPE_FUNCTION(int, ftw,
                   (const char* path, int (*visit)(const char*, const struct stat*, int),
                    int descriptors)) {
  static void* next;
  if (!Copies())
    return NextAs<int(const char*, decltype(visit), int)>(next, "ftw")(path, visit, descriptors);
  Walk walk;
  walk.visit = nullptr;
  walk.visit_plain = visit;
  walk.flags = 0;
  return StartWalk(path, walk);
}
VRAMSCOPE_ALIAS(ftw64, ftw)

VRAMSCOPE_FUNCTION(int, glob,
                   (const char* pattern, int flags, int (*error)(const char*, int),
                    glob_t* found)) {
  static void* next;
  const auto real = NextAs<int(const char*, int, int (*)(const char*, int), glob_t*)>(next, "glob");
  if (!Copies() || (flags & GLOB_ALTDIRFUNC) != 0) return real(pattern, flags, error, found);
  found->gl_opendir = [](const char* path) -> void* { return OpenStream(path); };
  found->gl_readdir = [](void* stream) { return ReadEntry(static_cast<DIR*>(stream)); };
  found->gl_closedir = [](void* stream) { CloseStream(static_cast<DIR*>(stream)); };
  found->gl_stat = StatForGlob;
  found->gl_lstat = LstatForGlob;
  const int result = real(pattern, flags | GLOB_ALTDIRFUNC, error, found);
  found->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}
VRAMSCOPE_ALIAS(glob64, glob)
