#include "ui/panels/phase_rows.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/panels/cells.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

// If the trace has no times, `ms` counts history entries. It is 0 if the phase never
// ran.
Cell Milliseconds(double ms, bool times) {
  Cell cell = DurationCell(std::llround(ms * 1e6), times);
  cell.sort = ms;
  cell.text = ms == 0 ? "\u2013" : times ? FormatMs(ms) : cell.text;
  return cell;
}

// Maps each step number to the index of the step's slice. If a number occurs twice, the first slice
// is used.
std::map<int64_t, uint32_t> SlicesOfSteps(const trace::SliceTable& slices) {
  std::map<int64_t, uint32_t> steps;
  for (uint32_t i = 0; i < slices.size(); ++i)
    if (slices.kind[i] == trace::SliceKind::kStep) steps.try_emplace(slices.number[i], i);
  return steps;
}

}  // namespace

Table PhaseTable(const Digest& digest, int64_t begin_ns, int64_t end_ns,
                 const std::optional<std::vector<query::DeviceTimes>>& gpu) {
  const bool times = digest.trace->info.has_times;
  const std::vector<analysis::StepRow>& steps = digest.summary.steps;
  // A trace with allocated but no reserved bytes has no segments, so reserved memory is unknown.
  const bool reserved = digest.summary.peak.reserved > 0 || digest.summary.peak.allocated == 0;
  const bool told = gpu && (gpu->empty() || gpu->size() == steps.size());
  Table table;
  table.columns = {{i18n::Text("Step"), false, 90}};
  const auto column = [&](std::string_view name, std::string_view of) {
    std::string title = fmt::format("{}{}", of, i18n::Text(name));
    // Only ASCII letters are capitalized; a translated title is left as it is.
    if (const auto first = static_cast<unsigned char>(title[0]); first < 0x80)
      title[0] = static_cast<char>(std::toupper(first));
    Column made{std::move(title), true, 100};
    if (name == "forward")
      made.tip = i18n::Text(
          "Forward pass and loss together. The timeline shows the loss as a separate phase");
    table.columns.push_back(std::move(made));
  };
  const auto all = std::span(query::kPhaseTimes);
  // If the trace has no phases, only the last column, the total, is shown.
  const size_t first = query::HasPhases(steps) ? 0 : all.size() - 1;
  for (const query::PhaseTime& t : all.subspan(first)) column(t.host, "");
  table.columns.push_back({i18n::Text("Peak allocated"), true, 115});
  table.columns.push_back({i18n::Text("Peak in"), false, 85, true});
  table.columns.push_back({i18n::Text("Reserved"), true, 100});
  if (told)
    for (const query::PhaseTime& t : all.subspan(first)) column(t.gpu, i18n::Text("GPU: "));
  const std::map<int64_t, uint32_t> slices = SlicesOfSteps(digest.trace->slices);
  for (size_t i = 0; i < steps.size(); ++i) {
    const analysis::StepRow& step = steps[i];
    if (begin_ns < end_ns && (step.end_ns < begin_ns || step.begin_ns > end_ns)) continue;
    Row row;
    const bool peak = step.index == digest.summary.peak.context.step;
    row.cells.push_back(
        {.text = peak ? i18n::Format("{} · peak", step.index) : fmt::format("{}", step.index),
         .sort = static_cast<double>(step.index)});
    const auto of = query::TimesOf(step, told && !gpu->empty() ? &(*gpu)[i] : nullptr);
    for (const query::PhaseTime& t : std::span(of).subspan(first))
      row.cells.push_back(Milliseconds(t.host_ms, times));
    row.cells.push_back(BytesCell(step.peak_allocated));
    row.cells.push_back({.text = i18n::Text(trace::Name(step.peak_phase)),
                         .sort = static_cast<double>(step.peak_phase)});
    row.cells.push_back(reserved ? BytesCell(step.peak_reserved)
                                 : Cell{.text = "\u2013", .tone = Cell::Tone::kDim});
    if (told)
      for (const query::PhaseTime& t : std::span(of).subspan(first))
        row.cells.push_back(t.gpu_ms ? Milliseconds(*t.gpu_ms, times)
                                     : Cell{.text = "…", .tone = Cell::Tone::kDim});
    row.marked = peak;
    if (const auto slice = slices.find(step.index); slice != slices.end())
      row.slice = slice->second;
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vramscope::ui
