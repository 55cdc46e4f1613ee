#pragma once

#include <sys/stat.h>

// Copies single files, regardless of layers (for trees see changes.h). All return 0 or -errno.
namespace vramscope::isolation {

// Copies mode, times and, if permitted, the owner.
void CopyStatus(const char* to, const struct stat& status);
// Creates `to`, which must not exist, as a copy of a file, link, pipe, socket or device.
int CopyFile(const char* from, const char* to, const struct stat& status, bool content);
// Like CopyFile, but `to` may exist. Uses a temporary file in the folder of changes, so that no
// process sees an incomplete copy. If two copies are made concurrently, one is kept.
int CopyWhole(const char* from, const char* to, const struct stat& status, bool content);

}  // namespace vramscope::isolation
