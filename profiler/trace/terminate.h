// The end of a program that nothing can save: an exception that nobody catches, above all that no
// memory is left, on whatever thread, before main() too. It ends with a message and an exit status
// in place of a signal, and leaves no half-written file.
//
//   int main() { EndCleanlyOnTerminate("vramscope"); ... }
//   VRAMSCOPE_END_CLEANLY_FROM_THE_START("vramscope");   // before constructors, in an executable
#pragma once

namespace vramscope::trace {

// Exit status where memory is used up (bad input, or a run that needs too much), and otherwise.
inline constexpr int kStatusOutOfMemory = 3, kStatusTerminated = 4;

// `name` stands in front of the message; a string that stays.
void EndCleanlyOnTerminate(const char* name);

}  // namespace vramscope::trace

// Functions of this section run before the constructors of the libraries that a program links.
#define VRAMSCOPE_END_CLEANLY_FROM_THE_START(name)                                     \
  static void EndCleanlyFromTheStart(int, char**, char**) {                            \
    vramscope::trace::EndCleanlyOnTerminate(name);                                     \
  }                                                                                    \
  __attribute__((section(".preinit_array"), used)) static void (*const g_end_cleanly)( \
      int, char**, char**) = &EndCleanlyFromTheStart
