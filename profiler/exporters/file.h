// Writes a file completely or not at all. The text is written to a temporary file in the same
// folder, which is renamed at the end, so a full disk or a crash leaves an existing file unchanged.
// Pipes and devices are written directly. If the path is a link, replaces the link's target.
//
//   RETURN_IF_ERROR(WriteFile(path, [&](std::ostream& out) { return WriteCsv(*trace, out); }));
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <ostream>
#include <string>

namespace vramscope::exporters {

// Returns the error of trace::OutputFile (with the path and the system's error) or, if there is
// none, the result of `write`.
absl::Status WriteFile(const std::string& path,
                       const std::function<absl::Status(std::ostream&)>& write);

}  // namespace vramscope::exporters
