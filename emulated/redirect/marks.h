#ifndef VRAMSCOPE_EMULATED_REDIRECT_MARKS_H
#define VRAMSCOPE_EMULATED_REDIRECT_MARKS_H

#include <string.h>

#include "emulated/redirect/kernel.h"

// Names and texts of ours in the folder of changes; a program never sees them.
#define VRAMSCOPE_ISOLATION_PREFIX ".vramscope-isolation"
#define VRAMSCOPE_ISOLATION_STATE VRAMSCOPE_ISOLATION_PREFIX "-state"
#define VRAMSCOPE_ISOLATION_OPAQUE VRAMSCOPE_ISOLATION_PREFIX "-opaque"
#define VRAMSCOPE_ISOLATION_SOCKETS VRAMSCOPE_ISOLATION_PREFIX "-sockets"

namespace vramscope::isolation {

inline constexpr char kRemovedText[] = VRAMSCOPE_ISOLATION_PREFIX "-removed";
inline constexpr long kRemovedSize = sizeof kRemovedText - 1;

// Whether a link of this size says that its name was removed.
inline bool IsRemovedMark(int folder, const char* path, long size) {
  char text[sizeof kRemovedText];
  return size == kRemovedSize &&
         kernel::ReadLinkAt(folder, path, text, sizeof text) == kRemovedSize &&
         memcmp(text, kRemovedText, kRemovedSize) == 0;
}

}  // namespace vramscope::isolation

#endif  // VRAMSCOPE_EMULATED_REDIRECT_MARKS_H
