// LD_AUDIT's library: whatever library of CUDA's the loader looks for, by its soname, by any path
// or by the name that a wheel gave its own copy (`libcudart-0a1b2c3d.so.12`), it finds the one of
// that name beside this file. Processes that a program starts inherit it. A process whose
// PYTHONPATH was set anew (`PYTHONPATH=src python train.py` in a script) finds the hooks' folder in
// front of it again: $VRAMSCOPE_PROGRAM_PYTHONPATH, or where it lies beside this file.
//
// It is loaded into a name space of its own, with its own C library, before the program: no C++
// library, no allocation, and no thread-local storage: what it took would be missing to libraries
// that need theirs at a fixed place (jemalloc, tcmalloc).
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VRAMSCOPE_EXPORTED __attribute__((visibility("default")))

namespace {

constexpr unsigned long kLongest = 4096;
char folder[kLongest];  // with a slash at its end

const char* ValueOf(const char* entry, const char* name) {
  const unsigned long length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

// From LD_AUDIT, which this library is loaded by. dladdr() would know it, too, but before
// glibc 2.34 it ends the process when it is called this early.
void FindFolder() {
  constexpr char kOwnName[] = "/libvramscope-audit.so";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    for (const char* at = ValueOf(*entry, "LD_AUDIT"); at != nullptr;) {
      const char* end = strchr(at, ':');
      const unsigned long length =
          end != nullptr ? static_cast<unsigned long>(end - at) : strlen(at);
      constexpr unsigned long kNameLength = sizeof kOwnName - 1;
      if (length >= kNameLength && length < sizeof folder &&
          strncmp(at + length - kNameLength, kOwnName, kNameLength) == 0) {
        const unsigned long kept = length - kNameLength + 1;  // with the slash
        memcpy(folder, at, kept);
        folder[kept] = 0;
        return;
      }
      at = end != nullptr ? end + 1 : nullptr;
    }
  }
}

// Names that are ours to answer: a program's own libfoo.so that happens to lie here is not.
bool IsCuda(const char* name) {
  static const char* const kStems[] = {
      "libcuda.so",      "libcudart.so",    "libcublas.so",   "libcublasLt.so",
      "libcudnn",        "libcufft",        "libcufile",      "libcupti.so",
      "libcurand.so",    "libcusolver",     "libcusparse",    "libnccl.so",
      "libnvidia-ml.so", "libnvJitLink.so", "libnvrtc",       "libnvshmem",
      "libnvToolsExt",   "libnvtx3",        "libnvfatbin.so", "libvramscope-emulated.so"};
  for (const char* stem : kStems) {
    if (strncmp(name, stem, strlen(stem)) == 0) {
      return true;
    }
  }
  return false;
}

bool HasFolder(const char* path, const char* wanted) {
  const unsigned long length = strlen(wanted);
  for (const char* at = path; at != nullptr; at = strchr(at, ':')) {
    at += at != path ? 1 : 0;
    if (strncmp(at, wanted, length) == 0 && (at[length] == 0 || at[length] == ':')) {
      return true;
    }
  }
  return false;
}

// The hooks lie beside this file; a process whose variable became PYTHONPATH does not know it.
const char* FolderOfHooks() {
  static char hooks[kLongest];
  if (folder[0] == 0 || strlen(folder) + sizeof "python/inject" > sizeof hooks) return nullptr;
  strcpy(hooks, folder);
  strcat(hooks, "python/inject");
  return access(hooks, R_OK) == 0 ? hooks : nullptr;
}

// In the kernel's own array of the environment, which the program's C library will find: it cannot
// grow, so where there is no PYTHONPATH the entry that names the folder becomes it, unless the
// preloaded library can add one.
void RestorePythonPath() {
  static char restored[8 * kLongest];
  char** own = nullptr;
  char** path = nullptr;
  bool program = false, preloaded = false;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (ValueOf(*entry, "VRAMSCOPE_PROGRAM_PYTHONPATH") != nullptr) {
      own = entry;
    } else if (ValueOf(*entry, "PYTHONPATH") != nullptr) {
      path = entry;
    } else if (ValueOf(*entry, "VRAMSCOPE_PROGRAM_EMULATED") != nullptr) {
      program = true;
    } else if (const char* libraries = ValueOf(*entry, "LD_PRELOAD"); libraries != nullptr) {
      preloaded = strstr(libraries, "libvramscope-isolation.so") != nullptr;
    }
  }
  if (path == nullptr && (own == nullptr || preloaded)) return;
  const char* hooks = own != nullptr ? ValueOf(*own, "VRAMSCOPE_PROGRAM_PYTHONPATH")
                      : program      ? FolderOfHooks()
                                     : nullptr;
  if (hooks == nullptr) return;
  const char* now = path != nullptr ? ValueOf(*path, "PYTHONPATH") : "";
  if (HasFolder(now, hooks) || strlen(hooks) + strlen(now) + 16 > sizeof restored) {
    return;
  }
  strcpy(restored, "PYTHONPATH=");
  strcat(restored, hooks);
  if (now[0] != 0) {
    strcat(restored, ":");
    strcat(restored, now);
  }
  *(path != nullptr ? path : own) = restored;
}

bool IsHexadecimal(const char* text, unsigned long length) {
  for (unsigned long i = 0; i < length; ++i) {
    if (strchr("0123456789abcdef", text[i]) == nullptr) return false;
  }
  return true;
}

// The name of a library without what tools that make wheels put in it: `libcudart-0a1b2c3d.so.12`
// and `libcudart.0a1b2c3d.so.12` are `libcudart.so.12`. Answers whether it had that.
bool WithoutHash(const char* name, char* to, unsigned long size) {
  constexpr unsigned long kHash = 8;
  const char* end = strstr(name, ".so");
  const unsigned long length = strlen(name);
  if (end == nullptr || length >= size || end - name < static_cast<long>(kHash) + 4) return false;
  const char* hash = end - kHash;
  if ((hash[-1] != '-' && hash[-1] != '.') || !IsHexadecimal(hash, kHash)) return false;
  const unsigned long stem = static_cast<unsigned long>(hash - 1 - name);
  memcpy(to, name, stem);
  strcpy(to + stem, end);
  return true;
}

// Ours of the name; of a wheel's copy, which may be named with all of its version, that of the same
// major version, where that is asked for.
const char* Ours(const char* name, bool also_vendored) {
  static char found[kLongest];  // the loader holds its lock until it has copied it
  char plain[256];
  const bool vendored = also_vendored && WithoutHash(name, plain, sizeof plain - 2);
  if (vendored) name = plain;
  if (folder[0] == 0 || !IsCuda(name) || strlen(folder) + strlen(name) >= sizeof found)
    return nullptr;
  for (;;) {
    strcpy(found, folder);
    strcat(found, name);
    if (access(found, R_OK) == 0) return found;
    if (!vendored) return nullptr;
    char* version = strstr(plain, ".so.");
    char* last = strrchr(plain, '.');
    if (version == nullptr) return nullptr;
    if (last > version + 3) {
      *last = 0;
    } else if (strcmp(last, ".0") != 0 && strlen(last) > 1) {
      // libcudart's soname of CUDA 11 is .so.11.0.
      strcat(found, ".0");
      return access(found, R_OK) == 0 ? found : nullptr;
    } else {
      return nullptr;
    }
  }
}

}  // namespace

extern "C" {

VRAMSCOPE_EXPORTED unsigned la_version(unsigned version) {
  FindFolder();  // now: a program may write over its environment (setproctitle)
  RestorePythonPath();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

VRAMSCOPE_EXPORTED char* la_objsearch(const char* name, uintptr_t*, unsigned flag) {
  const char* slash = strrchr(name, '/');
  // A wheel's copy only where a program opens it by its path. A library that is linked to the copy
  // has that name in its table of versions, and the loader ends the process when what it got has
  // another.
  const char* ours =
      Ours(slash != nullptr ? slash + 1 : name, slash != nullptr && flag == LA_SER_ORIG);
  return const_cast<char*>(ours != nullptr ? ours : name);
}

}  // extern "C"
