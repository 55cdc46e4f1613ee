// Outputs as the contract has them: a path, written whole or not at all, or `-` for standard
// output. Errors: a place that cannot be written to (no such folder, no right to) is bad input;
// what the system does not take (a full disk, a broken one) is an internal failure, as on standard
// output.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::cli {

// Whether writing to `output` would replace one of `inputs`, which is the same file under whatever
// name or link; then says so on stderr. "-" stands for what the shell put there; "": none. Asked
// before anything is read, answered with kUsage.
bool WouldReplaceInput(const std::string& output, const std::vector<std::string>& inputs);

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path);
absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::cli
