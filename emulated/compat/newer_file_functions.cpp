// File functions that the C library exports under these names since 2.33 (README.md). In older
// versions, the headers call other functions instead, such as __xstat for stat. These have one more
// parameter: the version of struct stat (1 on x86-64).
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VRAMSCOPE_NEWER extern "C" __attribute__((visibility("hidden")))

extern "C" {
int __xstat(int version, const char* path, struct stat* to);
int __lxstat(int version, const char* path, struct stat* to);
int __fxstat(int version, int file, struct stat* to);
int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags);
}

namespace {
constexpr int kVersion = 1;
}

VRAMSCOPE_NEWER int stat(const char* path, struct stat* to) { return __xstat(kVersion, path, to); }
VRAMSCOPE_NEWER int lstat(const char* path, struct stat* to) {
  return __lxstat(kVersion, path, to);
}
VRAMSCOPE_NEWER int fstat(int file, struct stat* to) { return __fxstat(kVersion, file, to); }
VRAMSCOPE_NEWER int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return __fxstatat(kVersion, folder, path, to, flags);
}
// On x86-64, struct stat and struct stat64 are the same.
VRAMSCOPE_NEWER int stat64(const char* path, struct stat64* to) {
  return __xstat(kVersion, path, reinterpret_cast<struct stat*>(to));
}
VRAMSCOPE_NEWER int lstat64(const char* path, struct stat64* to) {
  return __lxstat(kVersion, path, reinterpret_cast<struct stat*>(to));
}
VRAMSCOPE_NEWER int fstat64(int file, struct stat64* to) {
  return __fxstat(kVersion, file, reinterpret_cast<struct stat*>(to));
}
VRAMSCOPE_NEWER int fstatat64(int folder, const char* path, struct stat64* to, int flags) {
  return __fxstatat(kVersion, folder, path, reinterpret_cast<struct stat*>(to), flags);
}

VRAMSCOPE_NEWER pid_t gettid() { return static_cast<pid_t>(syscall(SYS_gettid)); }
