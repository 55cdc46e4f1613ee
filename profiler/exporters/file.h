// Writes a file whole or not at all: into a temporary file beside it that takes its name at the
// end, so that a full disk or a crash leaves an older file as it was. Pipes and devices are written
// directly; a link stays, its target is replaced.
//
//   RETURN_IF_ERROR(WriteFile(path, [&](std::ostream& out) { return WriteCsv(*trace, out); }));
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>

namespace vramscope::exporters {

// Errors: what `write` returned; else those of trace::OutputFile, naming the path and the system's
// reason. What the system did not take counts before `write`.
absl::Status WriteFile(const std::string& path,
                       const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::exporters
