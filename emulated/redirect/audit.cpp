// LD_AUDIT's library: whatever library of CUDA's the loader looks for, by its soname or by any
// path, it finds the one of that name beside this file. Processes that a program starts inherit it.
// A process whose PYTHONPATH was set anew (`PYTHONPATH=src python train.py` in a script) finds the
// hooks' folder in front of it again: $VRAMSCOPE_PROGRAM_PYTHONPATH.
//
// It is loaded into a name space of its own, with its own C library, before the program: no C++
// library, no allocation.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VRAMSCOPE_EXPORTED __attribute__((visibility("default")))

namespace {

constexpr unsigned long kLongest = 4096;
char folder[kLongest];  // with a slash at its end; empty until the first question

void FindFolder() {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&FindFolder), &here) == 0 ||
      strlen(here.dli_fname) >= sizeof folder) {
    return;
  }
  strcpy(folder, here.dli_fname);
  char* slash = strrchr(folder, '/');
  if (slash == nullptr) {
    folder[0] = 0;
  } else {
    slash[1] = 0;
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

const char* ValueOf(const char* entry, const char* name) {
  const unsigned long length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
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

// In the kernel's own array of the environment, which the program's C library will find: it cannot
// grow, so where there is no PYTHONPATH the entry that names the folder becomes it.
void RestorePythonPath() {
  static char restored[8 * kLongest];
  char** own = nullptr;
  char** path = nullptr;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (ValueOf(*entry, "VRAMSCOPE_PROGRAM_PYTHONPATH") != nullptr) {
      own = entry;
    } else if (ValueOf(*entry, "PYTHONPATH") != nullptr) {
      path = entry;
    }
  }
  if (own == nullptr) {
    return;
  }
  const char* hooks = ValueOf(*own, "VRAMSCOPE_PROGRAM_PYTHONPATH");
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

}  // namespace

extern "C" {

VRAMSCOPE_EXPORTED unsigned la_version(unsigned version) {
  RestorePythonPath();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

VRAMSCOPE_EXPORTED char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  static __thread char found[kLongest];
  if (folder[0] == 0) {
    FindFolder();
  }
  const char* slash = strrchr(name, '/');
  const char* base = slash != nullptr ? slash + 1 : name;
  if (folder[0] != 0 && IsCuda(base) && strlen(folder) + strlen(base) < sizeof found) {
    strcpy(found, folder);
    strcat(found, base);
    if (access(found, R_OK) == 0) {
      return found;
    }
  }
  return const_cast<char*>(name);
}

}  // extern "C"
