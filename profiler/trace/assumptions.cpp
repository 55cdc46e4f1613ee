#include "profiler/trace/assumptions.h"

#include <charconv>
#include <string_view>

namespace vramscope::trace {
namespace {

constexpr std::string_view kPrefix = "assumption\n";

// Removes and returns the first line of `rest`, without the line break.
std::string_view Line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace

std::string AssumptionMarker(const run::Assumption& a) {
  return std::string(kPrefix) + OneLine(a.what) + "\n" + OneLine(a.where) + "\n" +
         std::to_string(a.bytes);
}

std::vector<run::Assumption> AssumptionsOf(const Trace& trace) {
  std::vector<run::Assumption> out;
  for (const Marker& marker : trace.markers) {
    std::string_view rest = trace.String(marker.name);
    if (!rest.starts_with(kPrefix)) continue;
    rest.remove_prefix(kPrefix.size());
    run::Assumption a;
    a.what = Line(rest);
    a.where = Line(rest);
    std::from_chars(rest.data(), rest.data() + rest.size(), a.bytes);
    out.push_back(std::move(a));
  }
  const TraceInfo& info = trace.info;
  // A plan of the embedded loop has the CUDA context among the assumptions of its run. For a run on
  // a real GPU, the context is the only assumption in the calculation of what fits.
  const bool of_gpu =
      info.backend == Backend::kCuda || (info.backend == Backend::kPlan && !info.has_config);
  if (of_gpu && info.device.context_bytes > 0) out.push_back(run::ContextAssumption(info.device));
  if (!info.has_config) return out;
  const absl::StatusOr<run::ModelConfig> model = run::CheckRun(info.config);
  if (!model.ok()) return out;
  for (run::Assumption& a : run::Assumptions(info.config, *model)) out.push_back(std::move(a));
  return out;
}

}  // namespace vramscope::trace
