#pragma once

#include <dlfcn.h>

// Declares the loader's functions with a symbol version that every C library has. Before 2.34 it is
// the version in libdl, and later C libraries still export it. The old C library's symbols to which
// emulated/compat links have only that version.
#if defined(VRAMSCOPE_OLD_GLIBC)
#elif defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
