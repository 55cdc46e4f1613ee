#pragma once

#include <stddef.h>

// Completes the environment that a program passes to child processes: with vramscope's libraries in
// LD_PRELOAD and LD_AUDIT, and with the launcher's own variables.
namespace vramscope::isolation {

// Call before the program runs. Saves the launcher's variables, in place of those saved earlier.
void KeepEnvironment();

// Returns the environment with the missing variables added. `out` needs room for EntriesOf(given)
// pointers and `text` for kEnvironmentText bytes; returns `given` if nothing is missing.
constexpr size_t kEnvironmentText = 16'384;
size_t EntriesOf(char* const* given);
char* const* Complete(char* const* given, char** out, char* text);

// Completes the process's own environment, before the C library starts a shell with it.
void CompleteOwn();

}  // namespace vramscope::isolation
