#pragma once

// Makes system calls without the C library, because libvramscope-isolation.so interposes the C
// library's functions. The functions here do not change errno, which is thread-local. They return
// -errno where the C library would set errno.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

namespace vramscope::isolation::kernel {

// The address of the code that makes the system calls (gate.h). If it is 0, Call() makes them.
inline unsigned long gate __attribute__((visibility("hidden"))) = 0;

#if defined(__x86_64__)
// The call of the gate pushes a word onto the stack, so this code must have no red zone.
inline long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  if (const unsigned long at = gate; at != 0) {
    asm volatile("call *%[at]"
                 : "+a"(number)
                 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9), [at] "b"(at)
                 : "rcx", "r11", "memory");
  } else {
    asm volatile("syscall"
                 : "+a"(number)
                 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
  }
  return number;
}
#elif defined(__aarch64__)
inline long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}
#else
#error "system calls of this processor are not supported"
#endif

inline long Of(const void* pointer) { return reinterpret_cast<long>(pointer); }

inline int Open(const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(Call(SYS_openat, AT_FDCWD, Of(path), flags, mode));
}
inline void Close(int fd) { Call(SYS_close, fd); }
inline long Read(int fd, void* to, size_t size) {
  return Call(SYS_read, fd, Of(to), static_cast<long>(size));
}
inline long Write(int fd, const void* from, size_t size) {
  return Call(SYS_write, fd, Of(from), static_cast<long>(size));
}
inline int StatAt(int folder, const char* path, struct stat* status, int flags) {
  return static_cast<int>(Call(SYS_newfstatat, folder, Of(path), Of(status), flags));
}
inline int Lstat(const char* path, struct stat* status) {
  return StatAt(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
inline int Fstat(int fd, struct stat* status) {
  return static_cast<int>(Call(SYS_fstat, fd, Of(status)));
}
inline int Access(const char* path, int mode) {
  return static_cast<int>(Call(SYS_faccessat, AT_FDCWD, Of(path), mode));
}
inline long ReadLinkAt(int folder, const char* path, char* to, size_t size) {
  return Call(SYS_readlinkat, folder, Of(path), Of(to), static_cast<long>(size));
}
inline int MakeFolder(const char* path, mode_t mode) {
  return static_cast<int>(Call(SYS_mkdirat, AT_FDCWD, Of(path), mode));
}
inline int Remove(const char* path, int flags = 0) {
  return static_cast<int>(Call(SYS_unlinkat, AT_FDCWD, Of(path), flags));
}
inline int MakeLink(const char* target, const char* path) {
  return static_cast<int>(Call(SYS_symlinkat, Of(target), AT_FDCWD, Of(path)));
}
inline int HardLink(const char* from, const char* to, int flags = 0) {
  return static_cast<int>(Call(SYS_linkat, AT_FDCWD, Of(from), AT_FDCWD, Of(to), flags));
}
inline int Rename(const char* from, const char* to, unsigned flags = 0) {
  return static_cast<int>(Call(SYS_renameat2, AT_FDCWD, Of(from), AT_FDCWD, Of(to), flags));
}
inline int SetTimes(const char* path, const struct timespec* times, int flags) {
  return static_cast<int>(Call(SYS_utimensat, AT_FDCWD, Of(path), Of(times), flags));
}
inline int ChangeMode(const char* path, mode_t mode) {
  return static_cast<int>(Call(SYS_fchmodat, AT_FDCWD, Of(path), mode));
}
inline int ChangeOwner(const char* path, uid_t user, gid_t group, int flags) {
  return static_cast<int>(Call(SYS_fchownat, AT_FDCWD, Of(path), user, group, flags));
}

// Writes a descriptor's name, such as "/proc/self/fd/7". The descriptor must not be negative.
inline void NameOfDescriptor(int fd, char (&name)[32]) {
  constexpr char kFolder[] = "/proc/self/fd/";
  size_t at = 0;
  for (; kFolder[at] != 0; ++at) name[at] = kFolder[at];
  char digits[12];
  size_t count = 0;
  for (int rest = fd; rest > 0 || count == 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) name[at++] = digits[--count];
  name[at] = 0;
}

}  // namespace vramscope::isolation::kernel
