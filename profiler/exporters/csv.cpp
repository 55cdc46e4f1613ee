#include "profiler/exporters/csv.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "profiler/base/i18n.h"
#include "profiler/exporters/exporter.h"

namespace vramscope::exporters {
namespace {

using trace::AllocationTable;

constexpr size_t kFlushAt = size_t{1} << 18;
constexpr std::string_view kHeader =
    "allocation,source,bytes_requested,bytes_rounded,address,device,stream,pool,segment,begin_ns,"
    "end_ns,freed,birth_category,category,step,micro_batch,phase,module,op\r\n";

// RFC 4180: fields with a comma, a quote or a line end are quoted; quotes inside are doubled.
std::string Field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string OrEmpty(int64_t number) { return number < 0 ? "" : fmt::format("{}", number); }

}  // namespace

absl::Status WriteCsv(const trace::Trace& trace, std::ostream& out) {
  const AllocationTable& a = trace.allocations;
  const std::string_view source = trace.info.measured ? "measured" : "modelled";
  std::string text(kHeader);
  for (uint32_t i = 0; i < a.size(); ++i) {
    const bool has_segment = i < a.segment.size() && a.segment[i].valid();
    fmt::format_to(
        std::back_inserter(text), "{},{},{},{},{:#x},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
        i, source, a.bytes[i], a.bytes_rounded[i], a.address[i], a.device[i], a.stream[i],
        a.pool[i] == trace::Pool::kSmall ? "small" : "large",
        has_segment ? fmt::format("{}", a.segment[i].value) : "", a.begin_ns[i], a.end_ns[i],
        a.free_event[i] == trace::kNoEvent ? 0 : 1, trace::Name(a.birth_category[i]),
        trace::Name(a.category[i]), OrEmpty(a.step[i]), OrEmpty(a.micro_batch[i]),
        trace::Name(a.phase[i]), Field(trace.String(a.module[i])), Field(trace.String(a.op[i])));
    if (text.size() >= kFlushAt) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  if (!out)
    return absl::DataLossError(i18n::Text("cannot write the allocation table; is the disk full?"));
  return absl::OkStatus();
}

namespace {

absl::Status ExportCsv(const ExportRequest& request, std::ostream& out) {
  return WriteCsv(*request.trace, out);
}

}  // namespace

ExporterEntry DeclareExporter_csv() {
  return {.place = 20, .name = "csv", .suffix = "csv", .write = ExportCsv};
}

}  // namespace vramscope::exporters
