#pragma once

#include <dlfcn.h>

// The loader's function by the version that every C library has: before 2.34 it is libdl's,
// since then the C library answers to both. Where it is linked against the names of an old C
// library (emulated/compat), no other version is there to choose.
#if defined(VRAMSCOPE_OLD_GLIBC)
#elif defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
