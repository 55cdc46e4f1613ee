#pragma once

// Traps system calls that change files without the C library's functions (in Rust's rustix, in the
// C library itself, in static programs). The kernel passes such calls to this library (seccomp,
// SIGSYS), unless they come from one page of code. This library makes its own calls from that page.
// The page has the same address in every process, because child processes inherit the filter.
namespace vramscope::isolation {

// Maps the page. From then on, this library's calls are made from it. Returns false if the page
// cannot be mapped.
bool OpenGate();
// Installs the filter. Call once, in copy mode, after OpenGate. If the kernel refuses the filter,
// system calls without the C library's functions are not trapped.
void TrapWrites();

}  // namespace vramscope::isolation
