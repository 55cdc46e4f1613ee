// Handles Ctrl-C in a command that computes or writes. The command ends immediately with a message
// and leaves no partial file behind. SIGTERM and SIGHUP have the same effect. Commands that run the
// worker handle signals differently (worker_run.cpp).
#pragma once

namespace vramscope::cli {

// Takes effect for the rest of the process.
void EndOnInterrupt();
// Translates the message. Call it once the language of the output is known.
void TranslateInterrupt();

}  // namespace vramscope::cli
