#pragma once

#include <string.h>

#include "emulated/redirect/kernel.h"

// Reserved names and texts in the folder of changes, which programs never see.
#define VRAMSCOPE_ISOLATION_PREFIX ".vramscope-isolation"
#define VRAMSCOPE_ISOLATION_STATE VRAMSCOPE_ISOLATION_PREFIX "-state"
#define VRAMSCOPE_ISOLATION_OPAQUE VRAMSCOPE_ISOLATION_PREFIX "-opaque"
#define VRAMSCOPE_ISOLATION_SOCKETS VRAMSCOPE_ISOLATION_PREFIX "-sockets"

namespace vramscope::isolation {

inline constexpr char kRemovedText[] = VRAMSCOPE_ISOLATION_PREFIX "-removed";
inline constexpr long kRemovedSize = sizeof kRemovedText - 1;

// Returns whether the link at `path`, which has size `size`, marks a removed name.
inline bool IsRemovedMark(int folder, const char* path, long size) {
  char text[sizeof kRemovedText];
  return size == kRemovedSize &&
         kernel::ReadLinkAt(folder, path, text, sizeof text) == kRemovedSize &&
         memcmp(text, kRemovedText, kRemovedSize) == 0;
}

}  // namespace vramscope::isolation
