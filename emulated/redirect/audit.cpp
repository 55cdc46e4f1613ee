// A library for LD_AUDIT. When the loader searches for a library of CUDA, this library makes it
// find the emulated library next to this file. The loader may search by soname, by path, or by the
// name of a wheel's own copy (`libcudart-0a1b2c3d.so.12`). Child processes inherit LD_AUDIT. If a
// process gets a new PYTHONPATH (`PYTHONPATH=src python train.py` in a script), the folder of the
// hooks is put in front of it again: $VRAMSCOPE_PROGRAM_PYTHONPATH, or the folder next to this
// file.
//
// The library is loaded before the program, into a namespace with its own C library. It uses no C++
// library, no allocation, and no thread-local storage, because libraries with static thread-local
// storage (jemalloc, tcmalloc) need that space.
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
char folder[kLongest];  // ends with a slash

const char* ValueOf(const char* entry, const char* name) {
  const unsigned long length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

// Reads this library's folder from LD_AUDIT. dladdr() cannot be used, because with glibc before
// 2.34 a call this early ends the process.
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
        const unsigned long kept = length - kNameLength + 1;  // includes the slash
        memcpy(folder, at, kept);
        folder[kept] = 0;
        return;
      }
      at = end != nullptr ? end + 1 : nullptr;
    }
  }
}

// Returns whether the name is that of a library of CUDA. Other libraries, such as a program's own
// libfoo.so, are never replaced.
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

// Returns the folder of the hooks next to this file. It is needed if RestorePythonPath() in a
// parent process has overwritten VRAMSCOPE_PROGRAM_PYTHONPATH, which contains that folder.
const char* FolderOfHooks() {
  static char hooks[kLongest];
  if (folder[0] == 0 || strlen(folder) + sizeof "python/inject" > sizeof hooks) return nullptr;
  strcpy(hooks, folder);
  strcat(hooks, "python/inject");
  return access(hooks, R_OK) == 0 ? hooks : nullptr;
}

// Puts the folder of the hooks in front of PYTHONPATH. Changes the kernel's array of the
// environment, which the program's C library will read. The array cannot grow. If it has no
// PYTHONPATH, this function overwrites the entry VRAMSCOPE_PROGRAM_PYTHONPATH with PYTHONPATH,
// unless the isolation library is preloaded, which can add PYTHONPATH.
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

// Removes the hash that wheel tools insert into a library's name: `libcudart-0a1b2c3d.so.12` and
// `libcudart.0a1b2c3d.so.12` become `libcudart.so.12`. Returns whether there was a hash.
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

// Finds the emulated library with this name. If `also_vendored`, the name may be that of a wheel's
// own copy, with a hash and a full version. Then the emulated library of the same major version is
// found.
const char* Ours(const char* name, bool also_vendored) {
  static char found[kLongest];  // safe: the loader holds its lock until it has copied the result
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
      // The soname of CUDA 11's libcudart ends with .so.11.0.
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
  FindFolder();  // here, because the program may overwrite its environment later (setproctitle)
  RestorePythonPath();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

VRAMSCOPE_EXPORTED char* la_objsearch(const char* name, uintptr_t*, unsigned flag) {
  const char* slash = strrchr(name, '/');
  // Replaces a wheel's copy only if a program opens it by path. A library that is linked to the
  // copy has the copy's name in its version table, and the loader ends the process if it then finds
  // a library with another name.
  const char* ours =
      Ours(slash != nullptr ? slash + 1 : name, slash != nullptr && flag == LA_SER_ORIG);
  return const_cast<char*>(ours != nullptr ? ours : name);
}

}  // extern "C"
