#pragma once

#include <dlfcn.h>

// Declares the loader's functions with a symbol version that every C library has. It is the version
// of libdl before 2.34, and later C libraries still export it. The symbols of the old C library, to
// which emulated/compat links, have no other version.
#if defined(VRAMSCOPE_OLD_GLIBC)
#elif defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
