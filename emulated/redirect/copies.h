#ifndef VRAMSCOPE_EMULATED_REDIRECT_COPIES_H
#define VRAMSCOPE_EMULATED_REDIRECT_COPIES_H

#include <sys/stat.h>

// Copies of single files of the kernel's; trees are in changes.h. All answer 0 or -errno.
namespace vramscope::isolation {

// Mode, times and, where allowed, the owner.
void CopyStatus(const char* to, const struct stat& status);
// Makes `to`, which is not there, a copy of a file, link, pipe, socket or device.
int CopyFile(const char* from, const char* to, const struct stat& status, bool content);
// The same by way of a file beside the changes: nobody sees half of it, and of two that copy at
// once one is kept. `to` may be there then.
int CopyWhole(const char* from, const char* to, const struct stat& status, bool content);

}  // namespace vramscope::isolation

#endif  // VRAMSCOPE_EMULATED_REDIRECT_COPIES_H
