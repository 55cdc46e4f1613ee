// libvramscope-isolation.so keeps a planned program from changing real files, if no mount namespace
// does so (VRAMSCOPE_ISOLATION=copy). With overlayfs (VRAMSCOPE_ISOLATION=overlay), it lets the
// program rename folders of the lower layer.
//
// It is loaded twice. Through LD_PRELOAD its functions precede those of the C library in the
// program's own namespace, so they use the program's errno and threads. A library that calls
// unlink() then calls this library's unlink(). LD_AUDIT alone does not suffice: it does not see
// function pointers bound at link time and would set the errno of another C library. Through
// LD_AUDIT it covers only lookups by name in the C library. It binds dlsym with a handle
// (`ctypes.CDLL("libc.so.6").unlink`) and libraries loaded with RTLD_DEEPBIND to the preloaded
// functions, and finds libraries that the program wrote in the folder of changes. Everything else
// works without LD_AUDIT. It must be the first library in LD_AUDIT, because glibc (2.36) does not
// call la_symbind of libraries after one that has no such function.
//
// System calls that change files without the C library's functions (Rust's rustix, calls inside the
// C library) are redirected to the same functions by seccomp and SIGSYS (gate.h, x86-64).
//
// Limits: Direct system calls that read (fts_open, getdents64) see the real files. Setuid programs
// lose their extra rights under seccomp. SIGSYS ends static programs that change files. If the
// kernel refuses the filter, and on other processors, static programs and direct system calls
// change real files. This is no protection against programs that try to escape.
//
// changes.h is the file system as the program sees it (paths.cpp, changes.cpp);
// isolation_files.cpp, isolation_attributes.cpp, isolation_folders.cpp and isolation_processes.cpp
// contain the functions. No C++ library is used, and no thread-local storage (the loader has little
// room for it, which jemalloc and others need).
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulated/redirect/changes.h"
#include "emulated/redirect/environment.h"
#include "emulated/redirect/gate.h"
#include "emulated/redirect/interpose.h"
#include "emulated/redirect/kernel.h"

extern "C" {
extern void* __dso_handle;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
}

namespace vramscope::isolation {
namespace {

// Drops locks that other threads held when this process was forked.
void InForkedChild() {
  ForgetLocksOfPaths();
  ForgetLocksOfStreams();
}

// Ends the program if it should be isolated but its isolation does not work.
void RefuseWithout() {
  const char* mode = getenv("VRAMSCOPE_ISOLATION");
  if (mode == nullptr || strcmp(mode, "copy") != 0 || ModeOfProcess() == Mode::kCopy) return;
  static const char kText[] =
      "vramscope: VRAMSCOPE_ISOLATION_CHANGES is not an absolute path of a folder: the program "
      "would "
      "change real files, so it is not started\n";
  kernel::Write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(127);
}

// Adds the Python hooks if the program has removed PYTHONPATH. The audit library cannot add it.
void AddPythonPath() {
  const char* hooks = getenv("VRAMSCOPE_PROGRAM_PYTHONPATH");
  if (hooks != nullptr && getenv("PYTHONPATH") == nullptr) setenv("PYTHONPATH", hooks, 1);
}

__attribute__((constructor)) void Load() {
  RefuseWithout();
  KeepEnvironment();
  AddPythonPath();
  if (ModeOfProcess() == Mode::kCopy && OpenGate()) TrapWrites();
  __register_atfork(nullptr, nullptr, InForkedChild, &__dso_handle);
}

// --- LD_AUDIT ---

constexpr char kOwnName[] = "libvramscope-isolation.so";
struct link_map* preloaded;
enum : uintptr_t { kOther, kOurs, kCLibrary };  // a cookie that the loader stores for each library

const char* NameOf(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// Returns the address of a symbol in the preloaded library, or 0.
uintptr_t AddressOf(const char* name) {
  const uintptr_t base = preloaded->l_addr;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* hashes = nullptr;
  for (const ElfW(Dyn)* entry = preloaded->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // On most processors, the loader has already added the base address.
    const uintptr_t at = entry->d_un.d_ptr < base ? entry->d_un.d_ptr + base : entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) hashes = reinterpret_cast<const uint32_t*>(at);
  }
  if (symbols == nullptr || strings == nullptr || hashes == nullptr) return 0;
  uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
  const uint32_t buckets = hashes[0], first = hashes[1], words = hashes[2];
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(hashes + 4);
  constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
  const ElfW(Addr) word = bloom[(hash / kBits) % words];
  if ((word >> (hash % kBits) & word >> ((hash >> hashes[3]) % kBits) & 1) == 0) return 0;
  const auto* bucket = reinterpret_cast<const uint32_t*>(bloom + words);
  const uint32_t* chain = bucket + buckets;
  for (uint32_t i = bucket[hash % buckets]; i >= first; ++i) {
    const uint32_t other = chain[i - first];
    if ((other | 1) == (hash | 1) && strcmp(strings + symbols[i].st_name, name) == 0 &&
        symbols[i].st_shndx != SHN_UNDEF) {
      return base + symbols[i].st_value;
    }
    if ((other & 1) != 0) break;
  }
  return 0;
}

// Returns whether this is a library whose functions are interposed.
bool IsCLibrary(const char* name) {
  return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libpthread.so.", 14) == 0;
}

}  // namespace
}  // namespace vramscope::isolation

using namespace vramscope::isolation;  // NOLINT: the functions below are the loader's

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

// Call in a fork of the warm process (vramscope/warm.py) that becomes a program with another
// environment. In copy mode, the folder of changes stays the same.
VRAMSCOPE_EXPORTED void vramscope_isolation_again() {
  if (ModeOfProcess() == Mode::kCopy) return;
  ReadSettingsAgain();
  KeepEnvironment();
}

// Returning 0 means that auditing is not needed.
VRAMSCOPE_EXPORTED unsigned la_version(unsigned version) {
  if (ModeOfProcess() != Mode::kCopy) return 0;
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

VRAMSCOPE_EXPORTED unsigned la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  *cookie = kOther;
  if (space != LM_ID_BASE) return 0;
  const char* name = NameOf(map->l_name);
  if (strcmp(name, kOwnName) == 0) {
    preloaded = map;
    *cookie = kOurs;
    return 0;
  }
  if (strncmp(name, "ld-linux", 8) == 0) return 0;
  if (!IsCLibrary(name)) return LA_FLG_BINDFROM;
  *cookie = kCLibrary;
  return LA_FLG_BINDTO;
}

// The loader calls this if either library requested it: the library that looks up a symbol or the
// library that defines it. Lookups by this library are not changed.
VRAMSCOPE_EXPORTED uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned, uintptr_t* from,
                                          uintptr_t* to, unsigned* flags, const char* name) {
  *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
  if (preloaded == nullptr || *from == kOurs || *to != kCLibrary) return symbol->st_value;
  const uintptr_t ours = AddressOf(name);
  return ours != 0 ? ours : symbol->st_value;
}

// The result may be a static variable, because the loader copies it before it releases its lock.
VRAMSCOPE_EXPORTED char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  static Place place;
  if (strchr(name, '/') == nullptr || Passes(name, false) ||
      Resolve(AT_FDCWD, name, kFollow, place) < 0) {
    return const_cast<char*>(name);
  }
  if (!place.exists() && place.upper == Kind::kRemoved) return nullptr;
  return place.upper == Kind::kOther ? const_cast<char*>(place.visible()) : const_cast<char*>(name);
}
