// Writes outputs as docs/commands.md says. `-` is standard output. A file is written completely or
// not at all. A path that cannot be written (no such folder, no permission) is bad input. A failed
// write (for example to a full disk) is an internal failure.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::cli {

// Returns true and prints an error if writing to `output` would replace one of `inputs`, even
// through a link. "-" stands for a redirected standard output or input, and "" for no file. Inputs
// may be words of a command: in "--config=FILE", FILE is an input, too. Call it before reading
// anything, and return kUsage if it returns true.
bool WouldReplaceInput(const std::string& output, const std::vector<std::string>& inputs);

// Returns an error if writing to `output` would fail because of a missing folder or permission.
// Long commands call this before they begin. "" stands for no file.
absl::Status CheckOutput(const std::string& output);

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path);
absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::cli
