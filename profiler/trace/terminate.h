// Handles an uncaught exception (mostly out of memory) on any thread, also before main(). The
// program ends with a message and an exit status, not with a signal, and leaves no partly written
// file. A std::terminate() without an exception still ends with SIGABRT, for a core dump.
//
//   int main() { EndCleanlyOnTerminate("vramscope"); ... }
//   VRAMSCOPE_END_CLEANLY_FROM_THE_START("vramscope");   // before constructors, in an executable
#pragma once

namespace vramscope::trace {

// Exit statuses: out of memory (bad input, or a run that needs too much), and any other cause.
inline constexpr int kStatusOutOfMemory = 3, kStatusTerminated = 4;

// `name` precedes the message; the string must remain valid.
void EndCleanlyOnTerminate(const char* name);

}  // namespace vramscope::trace

// Functions of this section run before the constructors of the libraries that a program links.
#define VRAMSCOPE_END_CLEANLY_FROM_THE_START(name)                                     \
  static void EndCleanlyFromTheStart(int, char**, char**) {                            \
    vramscope::trace::EndCleanlyOnTerminate(name);                                     \
  }                                                                                    \
  __attribute__((section(".preinit_array"), used)) static void (*const g_end_cleanly)( \
      int, char**, char**) = &EndCleanlyFromTheStart
