#pragma once

#include <stddef.h>

// The launcher's settings in the environment, read once per process before the program can change
// them.
namespace vramscope::isolation {

enum class Mode { kNone, kOverlay, kCopy };

// Makes the next call read the settings again. Called in a fork that becomes another program.
void ReadSettingsAgain();
// VRAMSCOPE_ISOLATION.
Mode ModeOfProcess();
// VRAMSCOPE_NO_NETWORK.
bool NoNetwork();
// VRAMSCOPE_ISOLATION_CHANGES, without a slash at its end.
const char* Changes();
// Returns the last name of that path.
const char* ChangesName();
size_t ChangesLength();
// Returns true for paths (absolute, without links) that are not isolated: those in
// VRAMSCOPE_ISOLATION_REAL, and always those in /proc, /sys, /dev and /run, except /run/media. So
// a real folder may contain an isolated one, /run/media.
bool IsReal(const char* path);
// Returns whether the folder contains a path that is not isolated.
bool HoldsReal(const char* folder);

}  // namespace vramscope::isolation
