// Writes platform-<pid>.json to VRAMSCOPE_EMULATED_OUTPUT: assumptions, calls of functions that are
// not emulated, launches, the peak of device memory. Keys: docs/emulation.md.
#pragma once

#include <string>

namespace vramscope::emulated {

struct Platform;

std::string ReportOf(const Platform& platform);
// Writes a temporary file and renames it, so that a reader never sees an incomplete file.
void WriteReport(const Platform& platform);

}  // namespace vramscope::emulated
