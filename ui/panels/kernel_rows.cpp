#include "ui/panels/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/query/kernel_names.h"
#include "ui/panels/cells.h"

namespace vramscope::ui {
namespace {

using query::KernelsBy;

std::string_view Title(KernelsBy by) {
  switch (by) {
    case KernelsBy::kName:
      return i18n::Text("Kernel, memcpy or memset");
    case KernelsBy::kOp:
      return i18n::Text("Op");
    case KernelsBy::kModule:
      return i18n::Text("Module");
    case KernelsBy::kPhase:
      return i18n::Text("Phase");
    case KernelsBy::kStep:
      return i18n::Text("Step");
    case KernelsBy::kStream:
      return i18n::Text("Stream");
    case KernelsBy::kKind:
      return i18n::Text("Kind");
  }
  return "";
}

Cell NameCell(const std::string& name, KernelsBy by) {
  if (name.empty()) return {.text = i18n::Text("(none)"), .tone = Cell::Tone::kDim};
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
      {i18n::Text("Duration"), true, 100, false,
       i18n::Text("Sum of durations. Time in which two activities overlap counts twice")},
      {i18n::Text("Share"), true, 76, false,
       i18n::Text("Share of the total duration in this table")},
      {i18n::Text("Count"), true, 80},
      {i18n::Text("Mean"), true, 96},
      {i18n::Text("Longest"), true, 96},
      {i18n::Text("Moved"), true, 96, false,
       i18n::Text("Bytes that memcpys, memsets and collectives move. For kernels, this value is "
                  "not recorded")}};
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
  table.columns = {{i18n::Text("Kind"), false, 110},
                   {i18n::Text("Name"), false, 320},
                   {i18n::Text("Count"), true, 80},
                   {i18n::Text("Duration"), true, 100, false,
                    i18n::Text("Sum of durations. For blocks, the sum of their lifetimes")},
                   {i18n::Text("Size"), true, 100, false,
                    i18n::Text("Total bytes of blocks, memcpys and memsets")}};
  const size_t shown = std::min(found.groups.size(), kMostFoundGroups);
  std::vector<size_t> first(shown, SIZE_MAX);  // index of the first thing of each group
  for (size_t i = 0; i < found.things.size(); ++i)
    if (const uint32_t group = found.group_of[i]; group < shown)
      first[group] = std::min(first[group], i);
  for (size_t i = 0; i < shown; ++i) {
    const query::FoundGroup& group = found.groups[i];
    Row row;
    row.cells = {
        {.text = i18n::Text(query::Name(group.kind)), .sort = static_cast<double>(group.kind)},
        group.name.empty() ? Cell{.text = i18n::Text("(none)"), .tone = Cell::Tone::kDim}
                           : TextCell(group.name),
        CountCell(group.count),
        DurationCell(group.takes_ns, trace.info.has_times),
        MovedCell(group.bytes)};
    row.group = static_cast<uint32_t>(i);
    if (first[i] != SIZE_MAX) {
      const query::Thing& thing = found.things[first[i]];
      if (thing.block())
        row.allocation = {thing.row};
      else
        (thing.activity() ? row.activity : row.slice) = thing.row;
    }
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
