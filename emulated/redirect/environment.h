#pragma once

#include <stddef.h>

// What a process hands on to those that it starts, whatever environment it gives them: LD_PRELOAD
// and LD_AUDIT with our libraries, and the launcher's own variables.
namespace vramscope::isolation {

// Before the program runs: keeps the launcher's variables, and forgets those that were kept before.
void KeepEnvironment();

// The environment with what is missing. `out` has room for EntriesOf(given) pointers and `text` for
// kEnvironmentText bytes; answers `given` where nothing is missing.
constexpr size_t kEnvironmentText = 16'384;
size_t EntriesOf(char* const* given);
char* const* Complete(char* const* given, char** out, char* text);

// The same for this process's own environment, before the C library starts a shell with it.
void CompleteOwn();

}  // namespace vramscope::isolation
