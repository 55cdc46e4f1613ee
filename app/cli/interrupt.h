// Ctrl-C in a command that computes or writes: it ends at once, whatever it is in, says so, and
// leaves no half-written file behind (also after SIGTERM and SIGHUP). Runs in the worker catch
// their signals themselves (worker_run.cpp).
#pragma once

namespace vramscope::cli {

// From now on, for the rest of the process.
void EndOnInterrupt();

}  // namespace vramscope::cli
