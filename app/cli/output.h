// Outputs as the contract has them: a path, written whole or not at all, or `-` for standard
// output.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::cli {

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path);
absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::cli
