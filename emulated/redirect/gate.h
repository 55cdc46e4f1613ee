#pragma once

// Traps system calls that change files without the C library's functions (in Rust's rustix, in the
// C library itself, in static programs). The kernel passes them to this library (seccomp, SIGSYS),
// unless they come from a certain page. This library makes its own calls from that page. It has the
// same address in every process, because a filter applies to all child processes.
namespace vramscope::isolation {

// Maps the page and sends this library's calls through it. Returns false if it cannot be mapped.
bool OpenGate();
// Installs the filter. Call once, in copy mode, after OpenGate. If the kernel refuses the filter,
// such calls are not trapped.
void TrapWrites();

}  // namespace vramscope::isolation
