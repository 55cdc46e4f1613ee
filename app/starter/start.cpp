// This is bin/vramscope of an installed tree that has its own Qt (packaging/). It executes
// lib/vramscope/vramscope.
//
// If the computer has its own OpenGL, X11, Wayland, fontconfig or a similar library, that library
// must be used, because the computer's graphics driver was built with it. For computers without
// such a library, the tree has a copy: lib/vramscope/fallback/NAME/NAME. The loader has no option
// to search a folder last. So this program finds out which libraries are missing, and adds their
// folders to LD_LIBRARY_PATH. vramscope restores that variable at its start
// (profiler/base/install_paths.h).
//
// This program needs only the C library, even an old version, so that it can report that the C
// library is too old for vramscope.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr int kInternalFailure = 4;
constexpr int kLeastGlibc = 35;  // 2.35
constexpr long kMaxCache = 64L << 20;

// The loader's cache of installed libraries.
const char* g_cache = nullptr;
size_t g_cache_size = 0;

void ReadCache() {
  const int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const long size = lseek(file, 0, SEEK_END);
  if (size > 0 && size < kMaxCache) {
    void* map = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, file, 0);
    if (map != MAP_FAILED) {
      g_cache = static_cast<const char*>(map);
      g_cache_size = static_cast<size_t>(size);
    }
  }
  close(file);
}

// An entry of the cache in glibc's format (since 2.2). The cache also has entries for libraries of
// other architectures.
struct CacheEntry {
  int32_t kind;
  uint32_t name, path;
  uint32_t system;
  uint64_t processor;
};
constexpr int32_t kX86_64 = 0x0303;
constexpr size_t kCacheHeader = 48, kCacheCount = 20;
constexpr char kCacheMagic[] = "glibc-ld.so.cache1.1";

bool IsInCache(const char* name) {
  if (g_cache_size < kCacheHeader || memcmp(g_cache, kCacheMagic, sizeof kCacheMagic - 1) != 0)
    return false;
  uint32_t count = 0;
  memcpy(&count, g_cache + kCacheCount, sizeof count);
  if (count > (g_cache_size - kCacheHeader) / sizeof(CacheEntry)) return false;
  const size_t length = strlen(name) + 1;
  for (uint32_t i = 0; i < count; ++i) {
    CacheEntry entry;
    memcpy(&entry, g_cache + kCacheHeader + i * sizeof entry, sizeof entry);
    if (entry.kind == kX86_64 && entry.name < g_cache_size && length <= g_cache_size - entry.name &&
        memcmp(g_cache + entry.name, name, length) == 0)
      return true;
  }
  return false;
}

bool IsInstalled(const char* name) {
  // The loader may find a library that is not in the cache.
  return IsInCache(name) || dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

void Append(char* list, size_t size, const char* path) {
  const size_t length = strlen(list), more = strlen(path);
  if (length + more + 2 > size) return;
  if (length > 0) list[length] = ':';
  memcpy(list + length + (length > 0 ? 1 : 0), path, more + 1);
}

// Writes the fallback folders of the missing libraries into `list`.
void FindMissing(const char* root, char* list, size_t size) {
  char folder[PATH_MAX];
  if (snprintf(folder, sizeof folder, "%s/lib/vramscope/fallback", root) >= int{sizeof folder})
    return;
  DIR* entries = opendir(folder);
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] == '.' || IsInstalled(entry->d_name)) continue;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < int{sizeof path})
      Append(list, size, path);
  }
  closedir(entries);
}

}  // namespace

int main(int, char** argv) {
  static char root[PATH_MAX], program[PATH_MAX], list[64 * PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", root, sizeof root - 1);
  if (length <= 0) {
    fprintf(stderr, "vramscope: /proc/self/exe can't be read: %s\n", strerror(errno));
    return kInternalFailure;
  }
  for (int up = 0; up < 2; ++up) {
    if (char* slash = strrchr(root, '/')) *slash = '\0';
  }
  int major = 0, minor = 0;
  if (sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && major == 2 &&
      minor < kLeastGlibc) {
    fprintf(stderr,
            "vramscope: this computer has glibc %s, but 2.%d or newer is required (Ubuntu 22.04, "
            "Debian 12, Fedora 36 and later have it)\n",
            gnu_get_libc_version(), kLeastGlibc);
    return kInternalFailure;
  }
  ReadCache();
  if (!IsInstalled("libstdc++.so.6")) {
    fprintf(stderr,
            "vramscope: the C++ library is missing: install libstdc++6 (Debian, Ubuntu), "
            "libstdc++ (Fedora) or gcc-libs (Arch)\n");
    return kInternalFailure;
  }
  FindMissing(root, list, sizeof list);
  if (list[0] != '\0') {
    const char* before = getenv("LD_LIBRARY_PATH");
    setenv("VRAMSCOPE_LIBRARY_PATH_BEFORE", before == nullptr ? "" : before, 1);
    if (before != nullptr && before[0] != '\0') Append(list, sizeof list, before);
    setenv("LD_LIBRARY_PATH", list, 1);
  }
  if (snprintf(program, sizeof program, "%s/lib/vramscope/vramscope", root) >=
      int{sizeof program}) {
    fprintf(stderr, "vramscope: the path of its folder is too long: %s\n", root);
    return kInternalFailure;
  }
  execv(program, argv);
  fprintf(stderr, "vramscope: can't start %s: %s\n", program, strerror(errno));
  return kInternalFailure;
}
