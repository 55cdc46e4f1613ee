#ifndef VRAMSCOPE_EMULATED_REDIRECT_INTERPOSE_H
#define VRAMSCOPE_EMULATED_REDIRECT_INTERPOSE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

#include "emulated/redirect/changes.h"

// What the files of interposed functions have in common.

// Defines a function of the C library's name. Our own name for it keeps the C library's
// declaration, with whatever attributes it has, out of the way.
#define VRAMSCOPE_FUNCTION(result, name, parameters) \
  extern "C" __attribute__((visibility("default")))  \
  result isolated_##name parameters __asm__(#name);  \
  result isolated_##name parameters
// Another name of a function that was defined above.
#define VRAMSCOPE_ALIAS(other, name)        \
  extern "C"                                \
      __attribute__((visibility("default"), \
                     alias(#name))) decltype(isolated_##name) isolated_##other __asm__(#other);

namespace vramscope::isolation {

// The C library's own function of the name.
void* Next(const char* name);

template <typename Function>
Function* NextAs(void*& kept, const char* name) {
  if (kept == nullptr) kept = Next(name);
  return reinterpret_cast<Function*>(kept);
}

inline long Answer(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}
inline int AnswerInt(long result) { return static_cast<int>(Answer(result)); }

inline bool Copies() { return ModeOfProcess() == Mode::kCopy; }

// Where the kernel finds what a program reads: its own path, or one of the place's.
struct Where {
  int folder;
  const char* path;
};
int FindForReading(int folder, const char* path, bool follow, Place& place, Where& where);

// open() of all kinds: a descriptor or -errno.
long OpenAt(int folder, const char* path, int flags, mode_t mode);
int MakeFolderAt(int folder, const char* path, mode_t mode);
int StatPath(int folder, const char* path, struct stat* status, int flags);
int RemovePath(int folder, const char* path, int flags);

}  // namespace vramscope::isolation

#endif  // VRAMSCOPE_EMULATED_REDIRECT_INTERPOSE_H
