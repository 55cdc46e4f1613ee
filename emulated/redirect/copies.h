#pragma once

#include <sys/stat.h>

// Copies single files without looking at layers; for trees see changes.h. All return 0 or -errno.
namespace vramscope::isolation {

// Copies mode, times and, if permitted, the owner.
void CopyStatus(const char* to, const struct stat& status);
// Creates `to` as a copy of a file, link, pipe, socket or device. It must not exist.
int CopyFile(const char* from, const char* to, const struct stat& status, bool content);
// Like CopyFile, through a temporary file in the folder of changes: no process sees an incomplete
// copy, and of two concurrent copies one is kept. `to` may exist.
int CopyWhole(const char* from, const char* to, const struct stat& status, bool content);

}  // namespace vramscope::isolation
