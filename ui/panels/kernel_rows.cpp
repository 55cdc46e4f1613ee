#include "ui/panels/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "profiler/query/kernel_names.h"
#include "ui/panels/cells.h"

namespace vramscope::ui {
namespace {

using query::KernelsBy;

std::string_view Title(KernelsBy by) {
  switch (by) {
    case KernelsBy::kName:
      return "Kernel, copy or fill";
    case KernelsBy::kOp:
      return "Op";
    case KernelsBy::kModule:
      return "Module";
    case KernelsBy::kPhase:
      return "Phase";
    case KernelsBy::kStep:
      return "Step";
    case KernelsBy::kStream:
      return "Stream";
    case KernelsBy::kKind:
      return "Kind";
  }
  return "";
}

Cell NameCell(const std::string& name, KernelsBy by) {
  if (name.empty()) return {.text = "(none)", .tone = Cell::Tone::kDim};
  if (by != KernelsBy::kName) return TextCell(name);
  Cell cell = TextCell(query::ReadableKernel(name));
  cell.exact = name;
  return cell;
}

Cell ShareCell(double share) {
  return {.text = fmt::format("{:.1f} %", 100 * share), .sort = share, .percent = 100 * share};
}

Cell MovedCell(uint64_t bytes) {
  return bytes == 0 ? Cell{.text = "\u2013", .tone = Cell::Tone::kDim} : BytesCell(bytes);
}

}  // namespace

Table KernelTable(const query::KernelSums& sums, KernelsBy by, const trace::Trace& trace) {
  const bool times = trace.info.has_times;
  Table table;
  table.columns = {
      {std::string(Title(by)), false, 320},
      {"Takes", true, 100, false, "What they took, added up; at the same time counts twice"},
      {"Share", true, 76, false, "Of what all in this table took"},
      {"Count", true, 80},
      {"Mean", true, 96},
      {"Longest", true, 96},
      {"Moved", true, 96, false,
       "By copies, fills and collectives; of kernels it is not recorded"}};
  table.rows.reserve(sums.sums.size());
  for (const query::KernelSum& sum : sums.sums) {
    Row row;
    row.cells = {NameCell(sum.name, by),
                 DurationCell(sum.takes_ns, times),
                 ShareCell(sums.share(sum)),
                 CountCell(sum.count),
                 DurationCell(std::llround(sum.mean_ns()), times),
                 DurationCell(query::TakesOf(trace, sum.longest), times),
                 MovedCell(sum.bytes)};
    row.activity = sum.longest;
    row.group = static_cast<uint32_t>(table.rows.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table FoundTable(const query::SearchResult& found, const trace::Trace& trace) {
  Table table;
  table.columns = {{"Kind", false, 110},
                   {"Name", false, 320},
                   {"Count", true, 80},
                   {"Takes", true, 100, false, "Lives of blocks and lengths of the rest, added up"},
                   {"Size", true, 100, false, "Of blocks, copies and fills, added up"}};
  const size_t shown = std::min(found.groups.size(), kMostFoundGroups);
  for (size_t i = 0; i < shown; ++i) {
    const query::FoundGroup& group = found.groups[i];
    Row row;
    row.cells = {
        {.text = std::string(query::Name(group.kind)), .sort = static_cast<double>(group.kind)},
        group.name.empty() ? Cell{.text = "(none)", .tone = Cell::Tone::kDim}
                           : TextCell(group.name),
        CountCell(group.count),
        DurationCell(group.takes_ns, trace.info.has_times),
        MovedCell(group.bytes)};
    row.group = static_cast<uint32_t>(i);
    table.rows.push_back(std::move(row));
  }
  for (size_t i = 0; i < found.frames.size() && table.rows.size() < kMostFoundGroups; ++i) {
    Row row;
    row.cells = {{.text = "stack", .sort = query::kThingKindCount},
                 TextCell(found.frames[i].name),
                 CountCell(found.frames[i].blocks),
                 {.text = "\u2013", .tone = Cell::Tone::kDim},
                 {.text = "\u2013", .tone = Cell::Tone::kDim}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vramscope::ui
