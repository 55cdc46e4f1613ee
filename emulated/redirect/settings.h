#pragma once

#include <stddef.h>

// The launcher's settings in the environment, read once per process before the program can change
// them.
namespace vramscope::isolation {

enum class Mode { kNone, kOverlay, kCopy };

// Makes the next call read the settings again; for a fork that becomes another program.
void ReadSettingsAgain();
// VRAMSCOPE_ISOLATION.
Mode ModeOfProcess();
// VRAMSCOPE_NO_NETWORK.
bool NoNetwork();
// VRAMSCOPE_ISOLATION_CHANGES, without a slash at its end.
const char* Changes();
size_t ChangesLength();
// Whether the path (absolute, without links) is not isolated: VRAMSCOPE_ISOLATION_REAL, and always
// /proc, /sys, /dev and /run.
bool IsReal(const char* path);
// Whether the folder contains something that is not isolated.
bool HoldsReal(const char* folder);

}  // namespace vramscope::isolation
