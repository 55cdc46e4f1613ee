#pragma once

#include <stddef.h>

// Adds what a program may have removed from the environment of its child processes: vramscope's
// libraries in LD_PRELOAD and LD_AUDIT, and the launcher's own variables.
namespace vramscope::isolation {

// Call before the program runs. Saves the launcher's variables, and drops variables saved earlier.
void KeepEnvironment();

// Returns the environment with the missing variables added, or `given` if nothing is missing. `out`
// needs space for EntriesOf(given) pointers, and `text` for kEnvironmentText bytes.
constexpr size_t kEnvironmentText = 16'384;
size_t EntriesOf(char* const* given);
char* const* Complete(char* const* given, char** out, char* text);

// Completes the process's own environment, before the C library starts a shell with it.
void CompleteOwn();

}  // namespace vramscope::isolation
