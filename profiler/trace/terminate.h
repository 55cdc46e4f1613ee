// Handles an uncaught exception (mostly out of memory) on any thread, also before main(). The
// program ends with a message and an exit status instead of a signal, and no partly written file is
// left. A std::terminate() without an exception still ends with SIGABRT, so that a core dump shows
// the defect.
//
//   int main() { EndCleanlyOnTerminate("vramscope"); ... }
//   VRAMSCOPE_END_CLEANLY_FROM_THE_START("vramscope");   // before constructors, in an executable
#pragma once

namespace vramscope::trace {

// Exit statuses. kStatusOutOfMemory: lack of memory (bad input, or a run that needs too much).
// kStatusTerminated: any other exception.
inline constexpr int kStatusOutOfMemory = 3, kStatusTerminated = 4;

// `name` precedes the message; the string must remain valid.
void EndCleanlyOnTerminate(const char* name);

}  // namespace vramscope::trace

// Functions in .preinit_array run before the constructors of the libraries that a program links.
#define VRAMSCOPE_END_CLEANLY_FROM_THE_START(name)                                     \
  static void EndCleanlyFromTheStart(int, char**, char**) {                            \
    vramscope::trace::EndCleanlyOnTerminate(name);                                     \
  }                                                                                    \
  __attribute__((section(".preinit_array"), used)) static void (*const g_end_cleanly)( \
      int, char**, char**) = &EndCleanlyFromTheStart
