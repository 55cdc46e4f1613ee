#ifndef VRAMSCOPE_EMULATED_REDIRECT_LOADER_H
#define VRAMSCOPE_EMULATED_REDIRECT_LOADER_H

#include <dlfcn.h>

// The loader's functions by the version that every C library has: before 2.34 they are libdl's,
// since then the C library answers to both.
#if defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
__asm__(".symver dladdr, dladdr@GLIBC_2.17");
#endif

#endif  // VRAMSCOPE_EMULATED_REDIRECT_LOADER_H
