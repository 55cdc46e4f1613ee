// Reads vramscope's own `.trace`.
#include "profiler/importers/importer.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/reader.h"

namespace vramscope::importers {
namespace {

bool BeginsAsTrace(std::string_view head) { return head.starts_with(trace::kFrameMagic); }

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(ImportRequest& request) {
  trace::ReadOptions read;
  read.progress = request.options.progress;
  read.cancel = request.options.cancel;
  read.memory_limit = request.options.memory_limit;
  read.from_ns = request.options.from_ns;
  read.to_ns = request.options.to_ns;
  return trace::ReadTrace(*request.input, request.head, request.path, read);
}

}  // namespace

ImporterEntry DeclareImporter_trace() {
  return {.place = 10, .name = "trace", .begins = BeginsAsTrace, .read = OpenTrace};
}

}  // namespace vramscope::importers
