#pragma once

// Traps system calls that change files without the C library's functions (Rust's rustix, calls
// inside the C library, static programs). The kernel hands them to this library (seccomp, SIGSYS)
// unless they come from one page, which the library's own calls go through. The page has the same
// address in every process, because a filter applies to all child processes.
namespace vramscope::isolation {

// Maps the page and sends this library's calls through it. Returns false if it cannot be mapped.
bool OpenGate();
// Installs the filter: once, in copy mode, after OpenGate. If the kernel refuses it, such calls are
// not covered.
void TrapWrites();

}  // namespace vramscope::isolation
