#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

#include "emulated/redirect/changes.h"

// Declares what the files of interposed functions (isolation_*.cpp) share.

// Defines a function with a name of the C library. Its name in C++ is different, so that it does
// not conflict with the C library's declaration and attributes.
#define VRAMSCOPE_FUNCTION(result, name, parameters) \
  extern "C" __attribute__((visibility("default")))  \
  result isolated_##name parameters __asm__(#name);  \
  result isolated_##name parameters
// Gives a function that was defined with VRAMSCOPE_FUNCTION another name.
#define VRAMSCOPE_ALIAS(other, name)        \
  extern "C"                                \
      __attribute__((visibility("default"), \
                     alias(#name))) decltype(isolated_##name) isolated_##other __asm__(#other);

namespace vramscope::isolation {

// Returns the C library's function of this name.
void* Next(const char* name);

template <typename Function>
Function* NextAs(void*& cached, const char* name) {
  if (cached == nullptr) cached = Next(name);
  return reinterpret_cast<Function*>(cached);
}

inline long Answer(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}
inline int AnswerInt(long result) { return static_cast<int>(Answer(result)); }

inline bool Copies() { return ModeOfProcess() == Mode::kCopy; }

// Call in a forked child. Drops locks that other threads held when the process was forked.
void ForgetLocksOfStreams();

// The folder and path that the kernel gets for reading: those of the program, or one of the paths
// of the place.
struct Where {
  int folder;
  const char* path;
};
int FindForReading(int folder, const char* path, bool follow, Place& place, Where& where);

// Implements all variants of open(). Returns a descriptor or -errno.
long OpenAt(int folder, const char* path, int flags, mode_t mode);
int MakeFolderAt(int folder, const char* path, mode_t mode);
int StatPath(int folder, const char* path, struct stat* status, int flags);
int RemovePath(int folder, const char* path, int flags);

}  // namespace vramscope::isolation
