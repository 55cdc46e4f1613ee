#pragma once

#include <stddef.h>

// What the launcher says in the environment, read once per process: before the program can change
// it.
namespace vramscope::isolation {

enum class Mode { kNone, kOverlay, kCopy };

// So that they are read anew, in a fork that is to be another program.
void ReadSettingsAgain();
// VRAMSCOPE_ISOLATION.
Mode ModeOfProcess();
// VRAMSCOPE_NO_NETWORK.
bool NoNetwork();
// VRAMSCOPE_ISOLATION_CHANGES, without a slash at its end.
const char* Changes();
size_t ChangesLength();
// Whether the path (absolute, without links) is what stays real: VRAMSCOPE_ISOLATION_REAL, and
// always /proc, /sys, /dev and /run.
bool IsReal(const char* path);
// Whether something real lies in the folder.
bool HoldsReal(const char* folder);

}  // namespace vramscope::isolation
