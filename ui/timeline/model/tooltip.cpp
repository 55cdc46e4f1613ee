#include "ui/timeline/model/tooltip.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/slice_facts.h"

namespace vramscope::ui::timeline {
namespace {

constexpr size_t kStackLines = 5;

// Returns half a pixel in nanoseconds. With this precision, the texts of adjacent pixels differ.
int64_t Resolution(const CanvasState& s) {
  return std::max<int64_t>(static_cast<int64_t>(s.viewport.ns_per_px() / 2), 1);
}

std::string Moment(const CanvasState& s, int64_t trace_ns) {
  int64_t resolution = 1;
  while (resolution * 10 <= Resolution(s)) resolution *= 10;
  return TimeTextOf(s.data->trace(), trace_ns, resolution);
}

// Returns a text such as "backward · step 5 · 71.20 ms". `event` is the event at this time. If one
// phase ends and the next begins at this time, `event` decides which of them is named.
std::string Place(const CanvasState& s, int64_t trace_ns,
                  trace::EventIndex event = trace::kNoEvent) {
  const TimelineData& d = *s.data;
  std::string out;
  auto slice_at = [&](trace::SliceKind kind) {
    uint32_t slice = d.SliceAt(kind, trace_ns);
    bool later = slice != kNoSlice && event != trace::kNoEvent &&
                 d.trace().slices.begin_event[slice] > event;
    if (slice == kNoSlice || later) {
      uint32_t before = d.SliceAt(kind, trace_ns - 1);
      if (later || (before != kNoSlice && d.trace().slices.end_event[before] > event)) {
        slice = before;
      }
    }
    return slice;
  };
  uint32_t phase = slice_at(trace::SliceKind::kPhase);
  uint32_t step = slice_at(trace::SliceKind::kStep);
  if (phase != kNoSlice) out += d.SliceName(phase) + " · ";
  if (step != kNoSlice) out += i18n::Format("step {} · ", d.trace().slices.number[step]);
  return out + Moment(s, trace_ns);
}

Tooltip OfAllocation(const CanvasState& s, const Hit& hit) {
  const TimelineData& d = *s.data;
  const trace::Trace& t = d.trace();
  const trace::AllocationTable& a = t.allocations;
  uint32_t i = hit.allocation.value;
  Tooltip tip;
  std::string_view module = t.String(a.module[i]), op = t.String(a.op[i]);
  tip.title = module.empty() ? std::string(op) : std::string(module);
  const trace::StackId stack = StackOf(t, hit.allocation);
  if (tip.title.empty()) tip.title = NameOf(t, hit.allocation);
  if (!module.empty()) tip.subtitle = op;
  trace::Category now = d.CategoryAt(hit.allocation, s.TraceTime(hit.time));
  tip.swatch = s.theme.category(now);
  std::string category = i18n::Text(trace::Name(now));
  if (a.birth_category[i] != now) {
    category += i18n::Format(" (allocated as {})", i18n::Text(trace::Name(a.birth_category[i])));
  }
  tip.rows.push_back({i18n::Text("category"), category, {}});
  if (std::string rule = CategoryRule(t, hit.allocation, now); !rule.empty())
    tip.rows.push_back({i18n::Text("inferred by"), std::move(rule), {}});
  tip.rows.push_back({i18n::Text("requested"), FormatBytesExact(a.bytes[i]), {}});
  tip.rows.push_back({i18n::Text("block"), FormatBytesExact(a.bytes_rounded[i]), {}});
  std::string allocated = a.phase[i] != trace::Phase::kNone
                              ? fmt::format("{} · ", i18n::Text(trace::Name(a.phase[i])))
                              : std::string();
  if (a.step[i] >= 0) allocated += i18n::Format("step {} · ", a.step[i]);
  if (a.micro_batch[i] >= 0 && d.rows(trace::SliceKind::kMicroBatch) > 0) {
    allocated += i18n::Format("micro-batch {} · ", a.micro_batch[i]);
  }
  tip.rows.push_back({i18n::Text("allocated"), allocated + Moment(s, a.begin_ns[i]), {}});
  if (a.free_event[i] == trace::kNoEvent) {
    tip.rows.push_back({i18n::Text("freed"), i18n::Text("not in this trace"), {}});
  } else {
    tip.rows.push_back({i18n::Text("freed"), Place(s, a.end_ns[i], a.free_event[i]), {}});
  }
  tip.rows.push_back({i18n::Text("lifetime"), LengthOf(t, a.end_ns[i] - a.begin_ns[i]), {}});
  tip.rows.push_back({i18n::Text("address"), fmt::format("0x{:x}", a.address[i]), {}});
  if (a.segment[i].valid()) {
    tip.rows.push_back(
        {i18n::Text("segment"),
         i18n::Format("{} · {} pool", FormatBytes(t.segments.bytes[a.segment[i].value], true),
                      a.pool[i] == trace::Pool::kSmall ? i18n::Text("small") : i18n::Text("large")),
         {}});
  }
  const trace::EventIndex e = a.alloc_event[i];
  if (const auto user = t.String(t.events.UserMetadataOf(e)); !user.empty())
    tip.rows.push_back({i18n::Text("user metadata"), std::string(user), {}});
  if (const auto compiled = t.String(t.events.CompileContextOf(e)); !compiled.empty())
    tip.rows.push_back({i18n::Text("compile context"), std::string(compiled), {}});
  const std::vector<StackLine> lines = StackLines(t, stack, kStackLines);
  for (size_t l = 0; l < lines.size(); ++l)
    tip.rows.push_back({l == 0 ? i18n::Text("stack") : "",
                        fmt::format("{}  {}", lines[l].function, lines[l].file),
                        {}});
  if (const size_t all = t.stacks.Frames(stack).size(); !lines.empty() && all > lines.size()) {
    const size_t more = all - lines.size();
    tip.rows.push_back(
        {"",
         more == 1 ? i18n::Format("… {} more frame", more) : i18n::Format("… {} more frames", more),
         {}});
  }
  return tip;
}

Tooltip OfSlice(const CanvasState& s, const Hit& hit) {
  const TimelineData& d = *s.data;
  const trace::SliceTable& t = d.trace().slices;
  uint32_t i = hit.slice;
  Tooltip tip;
  tip.title = d.SliceName(i);
  if (t.kind[i] == trace::SliceKind::kPhase) tip.swatch = s.theme.phase(t.phase(i));
  if (t.kind[i] == trace::SliceKind::kOp) tip.subtitle = d.trace().String(t.module[i]);
  tip.rows.push_back({i18n::Text("begins"), Place(s, t.begin_ns[i], t.begin_event[i]), {}});
  for (LinkedFact& fact : FiguresOfSlice(d, i))
    tip.rows.push_back({std::move(fact.label), std::move(fact.value), {}});
  return tip;
}

Tooltip OfMemory(const CanvasState& s, const Hit& hit) {
  const TimelineData& d = *s.data;
  const analysis::MemoryCurves& c = d.curves();
  Tooltip tip;
  int64_t p = d.CurvePointAt(s.TraceTime(hit.time));
  if (p < 0 || hit.time > d.duration_ns()) return tip;
  tip.title = FormatBytes(c.allocated[p]);
  tip.subtitle = i18n::Text("allocated · ") + Place(s, s.TraceTime(hit.time));
  for (auto it = kStackOrder.rbegin(); it != kStackOrder.rend(); ++it) {
    const auto& bytes = c.category[static_cast<size_t>(*it)];
    if (bytes.empty() || bytes[p] == 0) continue;
    tip.rows.push_back(
        {i18n::Text(trace::Name(*it)), FormatBytes(bytes[p]), s.theme.category(*it)});
  }
  if (c.reserved[p] > 0) {
    tip.rows.push_back({i18n::Text("reserved"), FormatBytes(c.reserved[p]), {}});
    tip.rows.push_back({i18n::Text("unused"),
                        FormatBytes(c.reserved[p] - std::min(c.reserved[p], c.allocated[p])),
                        {}});
  }
  if (s.baseline) {
    double at = s.baseline_map.Map(hit.time);
    int64_t g = s.baseline->CurvePointAt(s.baseline->ToTrace(at));
    if (at > s.baseline->duration_ns()) {
      tip.rows.push_back({s.baseline_label, i18n::Text("has already ended"), {}});
    } else if (g >= 0) {
      uint64_t other = s.baseline->curves().allocated[g];
      tip.rows.push_back({s.baseline_label, FormatBytes(other), {}});
      tip.rows.push_back(
          {i18n::Text("difference"),
           FormatSignedBytes(static_cast<int64_t>(c.allocated[p]) - static_cast<int64_t>(other)),
           {}});
    }
  }
  return tip;
}

Tooltip OfFreeAddress(const CanvasState& s, const Hit& hit) {
  Tooltip tip;
  if (!hit.offset) return tip;
  auto address = s.data->address_axis().AddressAt(*hit.offset, s.TraceTime(hit.time));
  if (!address) return tip;
  tip.title = i18n::Text("unused (reserved, not allocated)");
  tip.subtitle = Place(s, s.TraceTime(hit.time));
  tip.swatch = s.theme.cached;
  tip.rows.push_back({i18n::Text("address"), fmt::format("0x{:x}", *address), {}});
  return tip;
}

Tooltip OfFacts(const ActivityFacts& facts, std::optional<Color> swatch) {
  Tooltip tip;
  tip.title = facts.title;
  tip.subtitle = facts.subtitle;
  tip.swatch = swatch;
  for (const LinkedFact& fact : facts.facts) tip.rows.push_back({fact.label, fact.value, {}});
  return tip;
}

}  // namespace

Tooltip MakeTooltip(const CanvasState& s, const Hit& hit) {
  if (!s.data || s.data->is_state()) return {};
  return hit.lane != nullptr ? hit.lane->Tip(s, hit) : TooltipOfThing(s, hit);
}

Tooltip TooltipOfThing(const CanvasState& s, const Hit& hit) {
  switch (hit.kind) {
    case HitKind::kAllocation:
      return OfAllocation(s, hit);
    case HitKind::kSlice:
      return OfSlice(s, hit);
    case HitKind::kMemory:
      return OfMemory(s, hit);
    case HitKind::kNone:
      return OfFreeAddress(s, hit);
    case HitKind::kActivity:
      return OfFacts(FactsOfActivity(*s.data, hit.activity), {});
    case HitKind::kIdle:
      return OfFacts(FactsOfGap(*s.data, hit.gap),
                     s.theme.idle[static_cast<size_t>(s.data->idle()->Gap(hit.gap).cause)]);
    case HitKind::kOverview:
    case HitKind::kRuler:
    case HitKind::kTitle:
    case HitKind::kLowerEdge:
    case HitKind::kScrollBar:
      break;
  }
  return {};
}

ActivityFacts FactsOfSelection(const CanvasState& s) {
  if (!s.data) return {};
  if (s.selected_activity != query::kNoRow) return FactsOfActivity(*s.data, s.selected_activity);
  if (s.selected_gap != query::kNoRow) return FactsOfGap(*s.data, s.selected_gap);
  if (s.selected_slice != kNoSlice) return FactsOfSlice(*s.data, s.selected_slice);
  return {};
}

}  // namespace vramscope::ui::timeline
