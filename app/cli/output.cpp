#include "app/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "profiler/exporters/file.h"
#include "profiler/trace/writer.h"

namespace vramscope::cli {
namespace {

absl::Status StdoutFailed() {
  return absl::InternalError(
      fmt::format("standard output does not take what is written to it: {}", std::strerror(errno)));
}

}  // namespace

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path) {
  if (path != "-") return trace::WriteTraceFile(trace, path);
  // The writer makes files with an index at the end: through a folder of its own to stdout.
  const char* folder = std::getenv("TMPDIR");
  std::string temporary = fmt::format("{}/vramscope-XXXXXX", folder && *folder ? folder : "/tmp");
  if (mkdtemp(temporary.data()) == nullptr) {
    return absl::InternalError(fmt::format("{}: {}", temporary, std::strerror(errno)));
  }
  const std::string file = temporary + "/run.trace";
  absl::Status status = trace::WriteTraceFile(trace, file);
  if (status.ok()) {
    std::ifstream in(file, std::ios::binary);
    std::cout << in.rdbuf() << std::flush;
    if (!in || !std::cout) status = StdoutFailed();
  }
  unlink(file.c_str());
  rmdir(temporary.c_str());
  return status;
}

absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write) {
  if (path != "-") return exporters::WriteFile(path, write);
  absl::Status status = write(std::cout);
  std::cout.flush();
  if (status.ok() && !std::cout) return StdoutFailed();
  return status;
}

}  // namespace vramscope::cli
