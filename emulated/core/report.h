// platform-<pid>.json in VRAMSCOPE_EMULATED_OUTPUT: what was assumed, what was called without being
// emulated, launches, the most device memory. Keys: emulated/README.md.
#pragma once

#include <string>

namespace vramscope::emulated {

struct Platform;

std::string ReportOf(const Platform& platform);
// Writes beside the file and renames, so that a reader never sees half of it.
void WriteReport(const Platform& platform);

}  // namespace vramscope::emulated
