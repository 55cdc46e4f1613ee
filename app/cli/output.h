// Writes outputs as docs/commands.md describes them: to a path, completely or not at all, or to
// standard output (`-`). A path that cannot be written (no such folder, no permission) is bad
// input. A failed write (a full or broken disk) is an internal failure, as on standard output.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::cli {

// Returns whether writing to `output` would replace one of `inputs`, even under another name or
// link, and reports that on stderr. "-" is a redirected standard output or input, and "" is no
// file. A word of a command may be given as an input: in "--config=FILE", FILE is an input, too.
// Call it before reading anything, and return kUsage if it returns true.
bool WouldReplaceInput(const std::string& output, const std::vector<std::string>& inputs);

// Returns an error if writing to `output` would fail later: a missing folder, no permission.
// Commands that take long call this before they begin. "" is no file.
absl::Status CheckOutput(const std::string& output);

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path);
absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::cli
