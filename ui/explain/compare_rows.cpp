#include "ui/explain/compare_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/explain/prediction.h"
#include "profiler/query/kernel_names.h"
#include "ui/panels/cells.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using explain::TraceDiff;
using trace::AllocationId;
using Blocks = std::shared_ptr<const std::vector<AllocationId>>;
using PeakTimes = std::map<std::pair<int32_t, trace::Phase>, int64_t>;

int64_t Delta(uint64_t a, uint64_t b) { return static_cast<int64_t>(b - a); }

Cell More(uint64_t a, uint64_t b) { return DifferenceCell(Delta(a, b)); }

void Points(Row& row, Blocks blocks, int64_t time_ns) {
  if (blocks->empty()) return;
  row.time_ns = time_ns;
  row.allocation = blocks->front();
  row.blocks = std::move(blocks);
}

std::string Lines(const trace::Trace& trace, trace::StackId stack) {
  std::string text;
  for (const std::string& line : explain::StackLines(trace, stack, true)) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

Table SitesOf(const Digest& baseline, const Digest& shown, const TraceDiff& diff) {
  Table table;
  table.columns = {{i18n::Text("Call site"), false, 360}, {i18n::Text("Category"), false, 142},
                   {i18n::Text("Change"), false, 80},     {i18n::Text("Baseline"), true, 110},
                   {i18n::Text("Current"), true, 110},    {i18n::Text("Difference"), true, 110},
                   {i18n::Text("Blocks"), true, 110}};
  for (const TraceDiff::Site& s : diff.sites) {
    Row row;
    const std::string stack =
        s.b_stack.value != 0 ? Lines(*shown.trace, s.b_stack) : Lines(*baseline.trace, s.a_stack);
    Cell change{
        .text = i18n::Text(explain::Name(s.change)),
        .sort = static_cast<double>(s.change),
        .tone = s.change == TraceDiff::Change::kSame ? Cell::Tone::kDim : Cell::Tone::kPlain};
    if (s.change == TraceDiff::Change::kRemoved)
      change.exact = i18n::Text("these blocks exist only in the baseline; press Swap to see them");
    Cell blocks = CountCell(s.b_count);
    if (s.a_count != s.b_count)
      blocks.text = fmt::format("{} → {}", timeline::FormatCount(s.a_count),
                                timeline::FormatCount(s.b_count));
    row.cells = {{.text = s.name, .exact = stack.empty() ? s.name : stack},
                 CategoryCell(s.category),
                 std::move(change),
                 BytesCell(s.a_bytes),
                 BytesCell(s.b_bytes),
                 More(s.a_bytes, s.b_bytes),
                 std::move(blocks)};
    Points(row, std::make_shared<std::vector<AllocationId>>(s.b_blocks), diff.b.context.time_ns);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table CategoriesOf(const Digest& shown, const TraceDiff& diff) {
  Table table;
  table.columns = {{i18n::Text("Category"), false, 180},
                   {i18n::Text("Baseline"), true, 120},
                   {i18n::Text("Current"), true, 120},
                   {i18n::Text("Difference"), true, 120}};
  std::vector<std::shared_ptr<std::vector<AllocationId>>> blocks(trace::kCategoryCount);
  for (auto& ids : blocks) ids = std::make_shared<std::vector<AllocationId>>();
  const bool at_peak = diff.b.context.event == shown.at_peak.context.event;
  const analysis::LiveSet live =
      at_peak ? analysis::LiveSet() : analysis::LiveAt(*shown.trace, diff.b.context.event);
  for (const analysis::LiveAllocation& l : (at_peak ? shown.at_peak : live).allocations)
    blocks[static_cast<size_t>(l.category)]->push_back(l.id);
  for (int i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<trace::Category>(i);
    const uint64_t a = diff.a.by_category[i], b = diff.b.by_category[i];
    if (a == 0 && b == 0) continue;
    Row row;
    row.cells = {CategoryCell(category), BytesCell(a), BytesCell(b), More(a, b)};
    Points(row, blocks[i], diff.b.context.time_ns);
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const Row& x, const Row& y) {
    return std::abs(x.cells[3].sort) > std::abs(y.cells[3].sort);
  });
  return table;
}

// Returns, for each phase of each step, the time at which most bytes were allocated. A step without
// phases has one entry, Phase::kNone.
PeakTimes PeakTimesOf(const Digest& digest) {
  const trace::SliceTable& s = digest.trace->slices;
  const analysis::MemoryCurves& curves = *digest.curves;
  std::map<std::pair<int32_t, trace::Phase>, std::pair<uint64_t, int64_t>> most;
  const auto look = [&](std::pair<int32_t, trace::Phase> key, uint32_t slice) {
    auto& [bytes, time] = most.try_emplace(key, 0, s.begin_ns[slice]).first->second;
    auto at = static_cast<size_t>(
        std::lower_bound(curves.event.begin(), curves.event.end(), s.begin_event[slice]) -
        curves.event.begin());
    for (; at < curves.size() && curves.event[at] <= s.end_event[slice]; ++at) {
      if (curves.allocated[at] <= bytes) continue;
      bytes = curves.allocated[at];
      time = curves.time_ns[at];
    }
  };
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] == trace::SliceKind::kStep) {
      look({static_cast<int32_t>(s.number[i]), trace::Phase::kNone}, i);
    } else if (s.kind[i] == trace::SliceKind::kPhase && s.depth[i] == 0) {
      look({s.step[i], s.phase(i)}, i);
    }
  }
  PeakTimes out;
  for (const auto& [key, value] : most) out[key] = value.second;
  return out;
}

int64_t TimeIn(const PeakTimes& times, int32_t step, trace::Phase phase) {
  const auto found = times.find({step, phase});
  return found == times.end() ? -1 : found->second;
}

Cell StepCell(int32_t step) {
  return {.text = step < 0 ? "–" : fmt::format("{}", step), .sort = static_cast<double>(step)};
}

Table PhasesOf(const Digest& baseline, const Digest& shown, const PeakTimes& times,
               std::optional<int32_t> step) {
  Table table;
  table.columns = {{i18n::Text("Step"), true, 60},       {i18n::Text("Phase"), false, 110},
                   {i18n::Text("Category"), false, 150}, {i18n::Text("Baseline"), true, 120},
                   {i18n::Text("Current"), true, 120},   {i18n::Text("Difference"), true, 120}};
  for (const analysis::DiffRow& d : analysis::Diff(*baseline.trace, *shown.trace)) {
    if ((d.a == 0 && d.b == 0) || (step && d.step != *step)) continue;
    Row row;
    row.cells = {StepCell(d.step),
                 {.text = d.phase == trace::Phase::kNone ? i18n::Text("outside")
                                                         : i18n::Text(trace::Name(d.phase)),
                  .sort = static_cast<double>(d.phase)},
                 CategoryCell(d.category),
                 BytesCell(d.a),
                 BytesCell(d.b),
                 More(d.a, d.b)};
    row.time_ns = TimeIn(times, d.step, d.phase);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table StepsOf(const TraceDiff& diff, const PeakTimes& times) {
  Table table;
  table.columns = {{i18n::Text("Step"), true, 60},
                   {i18n::Text("Peak, baseline"), true, 130},
                   {i18n::Text("Peak, current"), true, 130},
                   {i18n::Text("Difference"), true, 120},
                   {i18n::Text("Reserved, baseline"), true, 150},
                   {i18n::Text("Reserved, current"), true, 140},
                   {i18n::Text("Difference"), true, 120}};
  for (const TraceDiff::Step& s : diff.steps) {
    const auto side = [](bool there, uint64_t bytes) {
      return there ? BytesCell(bytes) : Cell{.text = "–", .tone = Cell::Tone::kDim};
    };
    const auto difference = [&](uint64_t a, uint64_t b) {
      return s.in_a && s.in_b ? More(a, b) : Cell{.text = "–", .tone = Cell::Tone::kDim};
    };
    Row row;
    row.cells = {StepCell(s.step),
                 side(s.in_a, s.a_peak),
                 side(s.in_b, s.b_peak),
                 difference(s.a_peak, s.b_peak),
                 side(s.in_a, s.a_reserved),
                 side(s.in_b, s.b_reserved),
                 difference(s.a_reserved, s.b_reserved)};
    row.time_ns = s.step < 0 ? diff.b.context.time_ns : TimeIn(times, s.step, trace::Phase::kNone);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string HeadlineOf(const TraceDiff& diff, std::optional<int32_t> step) {
  const int64_t delta = Delta(diff.a.allocated, diff.b.allocated);
  const auto changed =
      static_cast<size_t>(std::count_if(diff.sites.begin(), diff.sites.end(), [](const auto& s) {
        return s.change != TraceDiff::Change::kSame;
      }));
  // The headline names the phases only if they differ. The peaks then consist of other allocations.
  const bool same_phase = diff.a.context.phase == diff.b.context.phase;
  const auto place = [&](const analysis::Peak& peak) {
    return same_phase || peak.context.phase == trace::Phase::kNone
               ? std::string()
               : i18n::Format(" in {}", i18n::Text(trace::Name(peak.context.phase)));
  };
  std::string text =
      step ? i18n::Format("In step {}, the peak", *step) : std::string(i18n::Text("The peak"));
  text += i18n::Format(" is {}{}", timeline::FormatBytes(diff.b.allocated), place(diff.b));
  if (delta == 0 && same_phase) {
    text += i18n::Text(" in both; ");
  } else {
    text += i18n::Format(": {} {} than the baseline's {}{}; ",
                         timeline::FormatBytes(static_cast<uint64_t>(std::abs(delta))),
                         delta >= 0 ? i18n::Text("more") : i18n::Text("less"),
                         timeline::FormatBytes(diff.a.allocated), place(diff.a));
  }
  if (changed == 0) return text + i18n::Text("no call site differs.");
  const std::string sites = timeline::FormatCount(diff.sites.size());
  const std::string& by = diff.by_stack ? i18n::Text("stack") : i18n::Text("module and op");
  text += changed == 1 ? i18n::Format("{} of {} call sites differs (call sites are matched by {})",
                                      1, sites, by)
                       : i18n::Format("{} of {} call sites differ (call sites are matched by {})",
                                      timeline::FormatCount(changed), sites, by);
  return text + ".";
}

// Lists the first differences between the two runs' sequences of allocations.
Table RequestsOf(const explain::Prediction& p) {
  Table table;
  table.columns = {{i18n::Text("Baseline"), true, 80},
                   {i18n::Text("requested"), false, 330},
                   {i18n::Text("Current"), true, 80},
                   {i18n::Text("requests"), false, 330}};
  for (const auto& d : p.requests.first_differences) {
    const auto number = [](const std::string& text, uint64_t index) {
      return text.empty() ? Cell{.text = "–", .sort = 0.5, .tone = Cell::Tone::kDim}
                          : Cell{.text = timeline::FormatCount(index),
                                 .sort = static_cast<double>(index) + 1};
    };
    Row row;
    row.cells = {number(d.a, d.index_a), TextCell(i18n::Shown(d.a)), number(d.b, d.index_b),
                 TextCell(i18n::Shown(d.b))};
    table.rows.push_back(std::move(row));
  }
  // The tool tips of the first difference show both call stacks.
  if (p.first && !table.rows.empty()) {
    const auto stack = [](const explain::Prediction::Side& side, Cell& cell) {
      for (const std::string& line : side.stack) cell.exact += "\n" + line;
    };
    stack(p.first->planned, table.rows.front().cells[1]);
    stack(p.first->measured, table.rows.front().cells[3]);
  }
  return table;
}

std::string RequestsHeadline(const explain::Prediction& p) {
  const std::string total = timeline::FormatCount(p.requests.total);
  if (p.requests.identical()) {
    return p.step
               ? i18n::Format("In step {}, both runs make the same {} requests, in the same order.",
                              *p.step, total)
               : i18n::Format("Both runs make the same {} requests, in the same order.", total);
  }
  const std::string equal = timeline::FormatCount(p.requests.equal);
  return p.step ? i18n::Format(
                      "In step {}, {} of {} requests are the same in both runs. The first "
                      "differences:",
                      *p.step, equal, total)
                : i18n::Format(
                      "{} of {} requests are the same in both runs. The first differences:", equal,
                      total);
}

Cell TimeCell(uint64_t count, int64_t ns) {
  return count == 0 ? Cell{.text = "–", .tone = Cell::Tone::kDim} : DurationCell(ns, true);
}

Table KernelsOf(const explain::Prediction& p) {
  Table table;
  table.columns = {{i18n::Text("Kernel"), false, 360},
                   {i18n::Text("Baseline"), true, 80},
                   {i18n::Text("Current"), true, 80},
                   {i18n::Text("Baseline"), true, 110},
                   {i18n::Text("Current"), true, 110},
                   {i18n::Text("Difference"), true, 110},
                   {i18n::Text("Ratio"), true, 80, false,
                    i18n::Text("time in the baseline divided by the time in the current run")}};
  for (const explain::Prediction::Kernel& k : p.kernels) {
    const int64_t more = k.measured_ns - k.planned_ns;
    Cell difference = DurationCell(std::abs(more), true);
    difference.text = (more < 0 ? "−" : "+") + difference.text;
    difference.sort = static_cast<double>(more);
    Cell ratio{.text = "–", .tone = Cell::Tone::kDim};
    if (k.planned_ns > 0 && k.measured_ns > 0) {
      ratio.sort = static_cast<double>(k.planned_ns) / static_cast<double>(k.measured_ns);
      ratio.text = fmt::format("{:.2f}", ratio.sort);
      ratio.tone = Cell::Tone::kPlain;
    }
    Row row;
    Cell name = TextCell(k.is_class ? i18n::Format("other {}", i18n::Text(k.name))
                                    : query::ReadableKernel(k.name));
    name.exact = k.name;
    if (!k.measured_name.empty()) {
      name.text += i18n::Format(" (current: {})", query::ReadableKernel(k.measured_name));
      name.exact = i18n::Format(
          "{0}, named {1} in the current run. The two kernels are matched by op and order", k.name,
          k.measured_name);
    }
    row.cells = {std::move(name),
                 CountCell(k.planned_count),
                 CountCell(k.measured_count),
                 TimeCell(k.planned_count, k.planned_ns),
                 TimeCell(k.measured_count, k.measured_ns),
                 std::move(difference),
                 std::move(ratio)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string KernelsHeadline(const explain::Prediction& p) {
  if (p.kernels.empty()) return i18n::Text("Neither run has kernels.");
  const auto ms = [](int64_t ns) { return FormatMs(static_cast<double>(ns) / 1e6); };
  return i18n::Format(
      "Baseline: {} kernels take {}. Current run: {} kernels take {}. Kernels that are in both "
      "runs take {} in the baseline and {} in the current run.",
      timeline::FormatCount(p.total.planned_count), ms(p.total.planned_ns),
      timeline::FormatCount(p.total.measured_count), ms(p.total.measured_ns), ms(p.both.planned_ns),
      ms(p.both.measured_ns));
}

}  // namespace

int DifferenceColumn(CompareBy by) {
  switch (by) {
    case CompareBy::kSite:
    case CompareBy::kPhase:
    case CompareBy::kKernel:
      return 5;
    case CompareBy::kCategory:
    case CompareBy::kStep:
      return 3;
    case CompareBy::kRequest:
      return 0;
  }
  return 0;
}

absl::StatusOr<Comparison> Compare(const Digest& baseline, const Digest& shown,
                                   std::optional<int32_t> step, bool align) {
  absl::StatusOr<TraceDiff> diff = explain::DiffTraces(*baseline.trace, *shown.trace, step);
  if (!diff.ok()) return diff.status();
  const PeakTimes times = PeakTimesOf(shown);
  Comparison out;
  out.tables[static_cast<int>(CompareBy::kSite)] = SitesOf(baseline, shown, *diff);
  out.tables[static_cast<int>(CompareBy::kCategory)] = CategoriesOf(shown, *diff);
  out.tables[static_cast<int>(CompareBy::kPhase)] = PhasesOf(baseline, shown, times, step);
  out.tables[static_cast<int>(CompareBy::kStep)] = StepsOf(*diff, times);
  out.headline = HeadlineOf(*diff, step);
  out.diff = *std::move(diff);
  if (!align) return out;
  const absl::StatusOr<explain::Prediction> aligned =
      explain::HoldAgainst(*baseline.trace, *shown.trace, step);
  out.aligned = true;
  if (!aligned.ok()) {
    out.requests_headline = out.kernels_headline = i18n::Format(
        "The two runs cannot be aligned: {}.", std::string(aligned.status().message()));
    return out;
  }
  out.tables[static_cast<int>(CompareBy::kRequest)] = RequestsOf(*aligned);
  out.tables[static_cast<int>(CompareBy::kKernel)] = KernelsOf(*aligned);
  out.requests_headline = RequestsHeadline(*aligned);
  out.kernels_headline = KernelsHeadline(*aligned);
  return out;
}

}  // namespace vramscope::ui
