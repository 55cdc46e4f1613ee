#pragma once

#include <stddef.h>

// The environment that child processes get, even if the program passes another one: LD_PRELOAD and
// LD_AUDIT with vramscope's libraries, and the launcher's own variables.
namespace vramscope::isolation {

// Call before the program runs. Saves the launcher's variables, replacing any saved earlier.
void KeepEnvironment();

// Returns the environment with the missing variables added. `out` needs room for EntriesOf(given)
// pointers and `text` for kEnvironmentText bytes; returns `given` if nothing is missing.
constexpr size_t kEnvironmentText = 16'384;
size_t EntriesOf(char* const* given);
char* const* Complete(char* const* given, char** out, char* text);

// The same for the process's own environment, before the C library starts a shell with it.
void CompleteOwn();

}  // namespace vramscope::isolation
