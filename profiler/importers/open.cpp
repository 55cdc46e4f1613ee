#include "profiler/importers/open.h"

#include "profiler/trace/reader.h"

namespace vramscope::importers {

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTraceFile(const std::string& path,
                                                                  const OpenOptions& options) {
  trace::ReadOptions read;
  read.progress = options.progress;
  read.cancel = options.cancel;
  return trace::ReadTraceFile(path, read);
}

}  // namespace vramscope::importers
