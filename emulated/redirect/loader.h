#pragma once

#include <dlfcn.h>

// Declares the loader's functions with the symbol version that every C library has: before 2.34 it
// is libdl's, and later C libraries still export it. When linking against the symbols of an old C
// library (emulated/compat), only that version exists.
#if defined(VRAMSCOPE_OLD_GLIBC)
#elif defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
