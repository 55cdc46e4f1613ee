// The runtime of vramscope's AppImage (type 2: an ELF file with AI\2 at byte 8, followed by a
// SquashFS image). It unpacks the image into the user's cache and starts AppRun there. It needs
// neither FUSE nor root, and later starts read plain files. packaging/package.py appends the
// image to the runtime and writes the image's offset and digest into kImage.
//
// The runtime is linked statically, so it runs on every Linux system with this processor
// architecture. If the program itself cannot run there, the runtime names the missing requirements.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include <squashfuse/squashfuse.h>

// libsquashfuse supports five compressions, but the image uses only zstd. These stubs replace the
// libraries of the other four (liblzo2's licence is the GPL).
int lzo1x_decompress_safe(const void*, size_t, void*, void*, void*) { return -1; }
int LZ4_decompress_safe(const void*, void*, int, int) { return -1; }
int uncompress(void*, void*, const void*, size_t) { return -1; }
int lzma_stream_buffer_decode(...) { return -1; }
}

namespace {

constexpr int kUsage = 2, kInternalFailure = 4;
constexpr size_t kPiece = 1 << 20;

// The text "vramscope-image ", the image's offset and its SHA-256. package.py replaces the zeros in
// the built file, so `volatile` keeps the compiler from treating them as constants.
constexpr size_t kMark = 16, kOffset = 20, kDigest = 64;
__attribute__((used)) volatile char kImage[] =
    "vramscope-image 00000000000000000000 "
    "0000000000000000000000000000000000000000000000000000000000000000";

constexpr char kHelp[] =
    "vramscope as an AppImage: unpacks itself once into $XDG_CACHE_HOME/vramscope/appimage and "
    "starts the program there.\n\n  --appimage-extract          unpack into ./squashfs-root and "
    "exit\n  --appimage-extract-and-run  the default\n  --appimage-offset           print the "
    "offset of the SquashFS image\n  --appimage-version          print the version of this "
    "runtime\n  --appimage-help             print this text\n\nAll other arguments are passed to "
    "vramscope (--help). Nothing is mounted, so FUSE is not needed.\n";

int Fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
int Fail(const char* format, ...) {
  fputs("vramscope: ", stderr);
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  return kInternalFailure;
}

// Writes "folder/name" to `to`. Returns false if the path is too long.
bool Join(char (&to)[PATH_MAX], const char* folder, const char* name) {
  return snprintf(to, sizeof to, "%s/%s", folder, name) < int{sizeof to};
}

void Stamp(size_t at, size_t size, char* to) {
  for (size_t i = 0; i < size; ++i) to[i] = kImage[at + i];
  to[size] = '\0';
}

size_t ImageOffset() {
  char digits[kOffset + 1];
  Stamp(kMark, kOffset, digits);
  return strtoull(digits, nullptr, 10);
}

// Writes one entry of the image. vramscope's image contains only folders, files and links. Any
// other entry is an error.
bool CopyFile(sqfs* image, sqfs_inode* inode, const char* path, char* piece) {
  const int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (out < 0) return false;
  bool good = true;
  for (uint64_t at = 0; good && at < inode->xtra.reg.file_size;) {
    sqfs_off_t size = kPiece;
    good = sqfs_read_range(image, inode, static_cast<sqfs_off_t>(at), &size, piece) == SQFS_OK &&
           size > 0;
    for (sqfs_off_t put = 0; good && put < size;) {
      const ssize_t now = write(out, piece + put, static_cast<size_t>(size - put));
      if (now < 0 && errno == EINTR) continue;
      good = now > 0;
      put += now;
    }
    at += static_cast<uint64_t>(size);
  }
  good = fchmod(out, inode->base.mode & 0777) == 0 && good;
  return close(out) == 0 && good;
}

bool CopyEntry(sqfs* image, sqfs_dir_entry* entry, const char* path, char* piece) {
  sqfs_inode inode;
  if (sqfs_inode_get(image, &inode, sqfs_dentry_inode(entry)) != SQFS_OK) return false;
  if (S_ISDIR(inode.base.mode)) return mkdir(path, 0755) == 0;
  if (S_ISREG(inode.base.mode)) return CopyFile(image, &inode, path, piece);
  if (!S_ISLNK(inode.base.mode)) return false;
  char target[PATH_MAX];
  size_t size = sizeof target;
  return sqfs_readlink(image, &inode, target, &size) == SQFS_OK && symlink(target, path) == 0;
}

// Unpacks the image into an existing empty folder. Returns false after it has printed an error.
bool Extract(const char* self, const char* folder) {
  static sqfs image;
  if (sqfs_open_image(&image, self, ImageOffset()) != SQFS_OK) return false;
  char* piece = static_cast<char*>(malloc(kPiece));
  sqfs_traverse at;
  sqfs_err error = sqfs_traverse_open(&at, &image, sqfs_inode_root(&image));
  bool good = piece != nullptr && error == SQFS_OK;
  errno = 0;
  while (good && sqfs_traverse_next(&at, &error)) {
    char path[PATH_MAX];
    if (at.dir_end) continue;
    good = Join(path, folder, at.path) && CopyEntry(&image, &at.entry, path, piece);
    if (!good)
      Fail("can't unpack %s into %s: %s", at.path, folder,
           errno != 0 ? strerror(errno) : "the file is damaged");
  }
  if (good && error != SQFS_OK) {
    Fail("%s is damaged: download it again", self);
    good = false;
  }
  free(piece);
  return good;
}

int RemoveOne(const char* path, const struct stat*, int, struct FTW*) { return remove(path); }
void RemoveAll(const char* folder) { nftw(folder, RemoveOne, 16, FTW_DEPTH | FTW_PHYS); }

// Makes a folder and its parents.
bool MakeFolders(const char* folder) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", folder) >= int{sizeof path}) return false;
  for (char* slash = strchr(path + 1, '/'); slash != nullptr; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    *slash = '/';
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Returns whether the folder belongs to this user and nobody else can write to it. Nothing is
// started from any other folder.
bool IsOurs(const char* folder) {
  struct stat found;
  return lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & 022) == 0;
}

bool CacheFolder(char (&folder)[PATH_MAX]) {
  const char* cache = getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return Join(folder, cache, "vramscope/appimage");
  const char* home = getenv("HOME");
  return home != nullptr && home[0] == '/' && Join(folder, home, ".cache/vramscope/appimage");
}

// Finds the folder with the unpacked image, after unpacking the image if necessary. Returns false
// after it has printed an error.
bool FindUnpacked(const char* self, char (&folder)[PATH_MAX]) {
  char cache[PATH_MAX], partial[PATH_MAX], digest[kDigest + 1];
  Stamp(kMark + kOffset + 1, kDigest, digest);
  if (!CacheFolder(cache) || !Join(folder, cache, digest) ||
      !Join(partial, cache, "partial.XXXXXX")) {
    Fail("no folder to unpack into: set XDG_CACHE_HOME to a folder");
    return false;
  }
  if (IsOurs(folder)) return true;
  if (!MakeFolders(cache) || mkdtemp(partial) == nullptr) {
    Fail("can't unpack into %s: %s; set XDG_CACHE_HOME to another folder", cache, strerror(errno));
    return false;
  }
  bool good = Extract(self, partial) && chmod(partial, 0755) == 0;
  // If a concurrent start has already made the folder, use that folder.
  if (good && rename(partial, folder) != 0 && errno != EEXIST && errno != ENOTEMPTY) {
    Fail("can't rename %s to %s: %s", partial, folder, strerror(errno));
    good = false;
  }
  RemoveAll(partial);
  if (good && !IsOurs(folder)) {
    Fail("%s belongs to another user, or others can write to it: remove it", folder);
    good = false;
  }
  return good;
}

int ExtractHere(const char* self) {
  char folder[] = "squashfs-root";
  if (mkdir(folder, 0755) != 0) return Fail("can't make %s here: %s", folder, strerror(errno));
  return Extract(self, folder) ? 0 : kInternalFailure;
}

int Start(const char* self, char** arguments, const char* called) {
  char folder[PATH_MAX], program[PATH_MAX], here[PATH_MAX];
  if (!FindUnpacked(self, folder)) return kInternalFailure;
  if (!Join(program, folder, "AppRun"))
    return Fail("the path of its folder is too long: %s", folder);
  setenv("APPIMAGE", self, 1);
  setenv("APPDIR", folder, 1);
  setenv("ARGV0", called, 1);
  if (getcwd(here, sizeof here) != nullptr) setenv("OWD", here, 1);
  execv(program, arguments);
  if (errno == ENOENT && access(program, X_OK) == 0)
    return Fail(
        "this program is for Linux with glibc; on Alpine or another Linux with musl use a "
        "container of Debian, Ubuntu or Fedora");
  return Fail("can't start %s: %s", program, strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return Fail("/proc/self/exe can't be read: %s", strerror(errno));
  self[length] = '\0';
  if (ImageOffset() == 0)
    return Fail("this file contains no image: packaging/package.py adds it to make the AppImage");
  const char* first = argc > 1 ? argv[1] : "";
  char* called = argv[0];
  if (strncmp(first, "--appimage-", 11) != 0) return Start(self, argv, called);
  first += 11;
  if (strcmp(first, "extract-and-run") == 0) {
    argv[1] = called;
    return Start(self, argv + 1, called);
  }
  if (strcmp(first, "extract") == 0) return ExtractHere(self);
  if (strcmp(first, "help") == 0) return fputs(kHelp, stdout) < 0 ? kInternalFailure : 0;
  if (strcmp(first, "version") == 0)
    return puts("vramscope " VRAMSCOPE_VERSION) < 0 ? kInternalFailure : 0;
  if (strcmp(first, "offset") == 0)
    return printf("%zu\n", ImageOffset()) < 0 ? kInternalFailure : 0;
  Fail("this AppImage has no option %s: --appimage-help lists its options", argv[1]);
  return kUsage;
}
