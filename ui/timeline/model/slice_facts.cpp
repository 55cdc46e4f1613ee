#include "ui/timeline/model/slice_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/activity_names.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/origin.h"

namespace vramscope::ui::timeline {
namespace {

using trace::SliceKind;

// The maximum number of a slice's allocations that are examined, and of its kernels.
constexpr uint32_t kMostSummed = 100'000;

std::string_view NounOf(SliceKind kind) {
  switch (kind) {
    case SliceKind::kStep:
      return i18n::Text("step");
    case SliceKind::kPhase:
      return i18n::Text("phase");
    case SliceKind::kModule:
      return i18n::Text("module");
    case SliceKind::kOp:
      return i18n::Text("op");
    case SliceKind::kMicroBatch:
      return i18n::Text("micro-batch");
    case SliceKind::kAnnotation:
      return i18n::Text("range named by the program");
  }
  return "";
}

void AddAllocations(const TimelineData& d, uint32_t slice, std::vector<LinkedFact>* facts) {
  const trace::AllocationTable& a = d.trace().allocations;
  const query::RowRange made = d.activities()->MadeWithin(slice);
  if (made.size() == 0) return facts->push_back({i18n::Text("made"), i18n::Text("no allocation")});
  std::vector<uint32_t> rows;
  uint64_t bytes = 0;
  for (uint32_t id = made.first; id < std::min(made.last, made.first + kMostSummed); ++id) {
    bytes += a.bytes_rounded[id];
    rows.push_back(id);
  }
  const bool all = rows.size() == made.size();
  facts->push_back({i18n::Text("made"), i18n::Format("{} allocation{}{}", FormatCount(made.size()),
                                                     made.size() == 1 ? "" : "s",
                                                     all ? ", " + FormatBytes(bytes) : "")});
  const size_t named = std::min(rows.size(), kNamed);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(named), rows.end(),
                    [&](uint32_t x, uint32_t y) {
                      return std::pair(a.bytes_rounded[y], x) < std::pair(a.bytes_rounded[x], y);
                    });
  for (size_t i = 0; i < named; ++i)
    facts->push_back({i == 0 ? i18n::Text("largest") : "",
                      fmt::format("{} {}", FormatBytes(a.bytes[rows[i]]),
                                  i18n::Text(trace::Name(a.main_category[rows[i]]))),
                      {Link::To::kAllocation, rows[i]}});
}

void AddKernels(const TimelineData& d, uint32_t slice, std::vector<LinkedFact>* facts) {
  const trace::ActivityTable& a = d.trace().activities;
  std::vector<uint32_t> rows = d.activities()->LaunchedWithin(slice, kMostSummed + 1);
  if (rows.empty()) return;
  const bool more = rows.size() > kMostSummed;
  if (more) rows.pop_back();
  const auto takes = [&](uint32_t row) { return a.end_ns[row] - a.begin_ns[row]; };
  int64_t all = 0;
  for (const uint32_t row : rows) all += takes(row);
  facts->push_back({i18n::Text("launched"),
                    rows.size() == 1
                        ? i18n::Format("{} kernel, memcpy or memset, {}", 1, FormatDuration(all))
                        : i18n::Format("{}{} kernels, memcpys and memsets, {} in total",
                                       more ? i18n::Text("more than ") : "",
                                       FormatCount(rows.size()), FormatDuration(all))});
  const size_t named = std::min(rows.size(), kNamed);
  std::partial_sort(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(named), rows.end(),
      [&](uint32_t x, uint32_t y) { return std::pair(takes(y), x) < std::pair(takes(x), y); });
  for (size_t i = 0; i < named; ++i)
    facts->push_back(
        {i == 0 ? i18n::Text("longest") : "",
         fmt::format("{}  {}", ActivityLabel(d.trace(), rows[i]), FormatDuration(takes(rows[i]))),
         {Link::To::kActivity, rows[i]}});
}

}  // namespace

std::vector<LinkedFact> FiguresOfSlice(const TimelineData& d, uint32_t i) {
  const trace::SliceTable& t = d.trace().slices;
  std::vector<LinkedFact> facts;
  if (std::string rule = SliceRule(d.trace(), i); !rule.empty())
    facts.push_back({i18n::Text("inferred by"), std::move(rule)});
  facts.push_back({i18n::Text("duration"), LengthOf(d.trace(), t.end_ns[i] - t.begin_ns[i])});
  const analysis::MemoryCurves& c = d.curves();
  if (c.size() == 0) return facts;
  const auto value = [&](int64_t time) -> uint64_t {
    const int64_t p = d.CurvePointAt(time);
    return p < 0 ? 0 : c.allocated[p];
  };
  const int64_t end = std::max(t.end_ns[i], t.begin_ns[i] + 1);
  const auto most = d.curve_index().Query(t.begin_ns[i], end, 1);
  if (!most.allocated_max.empty())
    facts.push_back({i18n::Text("peak in the slice"), FormatBytes(most.allocated_max[0])});
  const auto delta =
      static_cast<int64_t>(value(t.end_ns[i])) - static_cast<int64_t>(value(t.begin_ns[i] - 1));
  facts.push_back({i18n::Text("net change"), FormatSignedBytes(delta)});
  return facts;
}

ActivityFacts FactsOfSlice(const TimelineData& d, uint32_t i) {
  const trace::SliceTable& t = d.trace().slices;
  ActivityFacts out;
  out.title = d.SliceName(i);
  out.subtitle = NounOf(t.kind[i]);
  if (const auto module = d.trace().String(t.module[i]);
      t.kind[i] == SliceKind::kOp && !module.empty())
    out.facts.push_back({i18n::Text("module"), std::string(module)});
  out.facts.push_back({i18n::Text("begins"), TimeTextOf(d.trace(), t.begin_ns[i])});
  for (LinkedFact& fact : FiguresOfSlice(d, i)) out.facts.push_back(std::move(fact));
  if (d.activities() == nullptr) return out;
  AddAllocations(d, i, &out.facts);
  AddKernels(d, i, &out.facts);
  return out;
}

}  // namespace vramscope::ui::timeline
