#ifndef VRAMSCOPE_EMULATED_REDIRECT_GATE_H
#define VRAMSCOPE_EMULATED_REDIRECT_GATE_H

// System calls that are made without the C library's functions (Rust's rustix, the C library within
// itself, static programs) and that change files: the kernel hands them to us (seccomp, SIGSYS)
// unless they come from one page, through which our own go. The page has the same address in every
// process, because what a process asked the kernel for holds for all that it starts.
namespace vramscope::isolation {

// The page is there afterwards; our own calls go through it. Answers false where it cannot be.
bool OpenGate();
// Asks the kernel for such calls. Once, in copy mode, after OpenGate; where the kernel does not do
// it, they are not covered.
void TrapWrites();

}  // namespace vramscope::isolation

#endif  // VRAMSCOPE_EMULATED_REDIRECT_GATE_H
