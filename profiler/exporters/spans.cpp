#include "profiler/exporters/spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace vramscope::exporters {
namespace {

using trace::EventIndex;
using trace::kNoEvent;
using trace::Phase;
using trace::SliceKind;
using trace::SliceTable;

bool IsMainPhase(Phase phase) {
  return phase == Phase::kForward || phase == Phase::kLoss || phase == Phase::kBackward ||
         phase == Phase::kOptimizer;
}

// Returns for each row of `slices` whether it is an op that contains no other op of its thread.
std::vector<bool> InnermostOps(const SliceTable& slices) {
  std::vector<bool> innermost(slices.size(), false);
  std::map<uint32_t, std::vector<uint32_t>> open;  // thread -> rows
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] != SliceKind::kOp) continue;
    std::vector<uint32_t>& stack = open[slices.thread[row]];
    while (!stack.empty() && slices.end_event[stack.back()] != kNoEvent &&
           slices.end_event[stack.back()] < slices.begin_event[row]) {
      stack.pop_back();
    }
    if (!stack.empty()) innermost[stack.back()] = false;
    innermost[row] = true;
    stack.push_back(row);
  }
  return innermost;
}

// Returns the event that ends each slice, or kNoEvent if the slice never ended. If a loss phase
// follows a forward phase, the forward phase ends where the loss phase ends.
std::vector<EventIndex> EndsWithLoss(const SliceTable& slices) {
  std::vector<EventIndex> ends(slices.size());
  slices.end_event.Read(0, ends);
  uint32_t last = UINT32_MAX;  // the last phase
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] == SliceKind::kMicroBatch) last = UINT32_MAX;
    if (slices.kind[row] != SliceKind::kPhase) continue;
    if (last != UINT32_MAX && slices.phase(row) == Phase::kLoss &&
        slices.phase(last) == Phase::kForward && slices.step[row] == slices.step[last] &&
        slices.thread[row] == slices.thread[last] && ends[last] != kNoEvent) {
      ends[last] = std::max(ends[last], slices.end_event[row]);  // kNoEvent is the largest value
    }
    last = row;
  }
  return ends;
}

// A call that begins at the same time as an op is placed after the op, and thus inside it.
void AddActivities(const trace::Trace& trace, const std::vector<int64_t>& shown_ns,
                   std::vector<Span>& spans) {
  // If activities begin at the same time, the longest comes first, because it contains the others.
  const trace::ActivityTable& a = trace.activities;
  std::vector<uint32_t> rows(a.size());
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) {
    return a.begin_ns[x] != a.begin_ns[y] ? a.begin_ns[x] < a.begin_ns[y]
                                          : a.end_ns[x] > a.end_ns[y];
  });
  std::vector<Span> activities;
  activities.reserve(rows.size());
  for (const uint32_t row : rows) {
    Span span;
    span.kind = SpanKind::kActivity;
    span.begin_ns = a.begin_ns[row];
    span.end_ns = a.end_ns[row];
    span.event = static_cast<EventIndex>(
        std::upper_bound(shown_ns.begin(), shown_ns.end(), span.begin_ns) - shown_ns.begin());
    span.slice = row;
    activities.push_back(span);
  }
  // Activities precede the slices of the same event, because a slice begins exactly at its event.
  spans.insert(spans.begin(), activities.begin(), activities.end());
}

Track TrackOf(const trace::Trace& trace, const Span& span) {
  const trace::ActivityTable& a = trace.activities;
  if (span.kind == SpanKind::kKernel) return {.gpu = true};
  if (span.kind != SpanKind::kActivity) return {.thread = trace.slices.thread[span.slice]};
  if (!trace::HasDevice(a.kind[span.slice])) return {.thread = a.thread[span.slice]};
  const bool work =
      trace::IsOfDevice(a.kind[span.slice]) && a.kind[span.slice] != trace::ActivityKind::kCounter;
  return {.gpu = true,
          .device = a.device[span.slice],
          .thread = work ? a.stream[span.slice] : kDriverTrack};
}

}  // namespace

uint32_t TrackAllocator::Place(const Track& of, int64_t begin_ns, int64_t end_ns) {
  std::vector<Lane>& lanes = lanes_[{of.gpu, of.device, of.thread}];
  for (Lane& lane : lanes) {
    while (!lane.open_ends.empty() && lane.open_ends.back() <= begin_ns) lane.open_ends.pop_back();
    if (lane.open_ends.empty() || lane.open_ends.back() >= end_ns) {
      lane.open_ends.push_back(end_ns);
      return lane.track;
    }
  }
  const auto track = static_cast<uint32_t>(tracks_->size());
  tracks_->push_back({of.gpu, of.device, of.thread, static_cast<uint32_t>(lanes.size())});
  lanes.push_back({track, {end_ns}});
  return track;
}

std::vector<int64_t> ShownTimes(const trace::Trace& trace) {
  std::vector<int64_t> shown(trace.events.time_ns.begin(), trace.events.time_ns.end());
  for (size_t i = 1; i < shown.size(); ++i) shown[i] = std::max(shown[i], shown[i - 1] + 1);
  return shown;
}

Spans CollectSpans(const trace::Trace& trace, const std::vector<int64_t>& shown_ns, bool kernels) {
  const SliceTable& slices = trace.slices;
  const std::vector<EventIndex> ends = EndsWithLoss(slices);
  kernels = kernels && std::ranges::count(trace.activities.kind, trace::ActivityKind::kKernel) == 0;
  const std::vector<bool> innermost = kernels ? InnermostOps(slices) : std::vector<bool>();
  const auto end_ns = [&](EventIndex event) {
    return event == kNoEvent ? shown_ns.back() + 1 : shown_ns[event];
  };

  Spans result;
  std::map<int32_t, EventIndex> phases_end;  // step -> end of its last main phase
  std::map<int32_t, uint32_t> step_rows;
  uint32_t external_id = 0;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    Span span;
    span.event = slices.begin_event[row];
    span.begin_ns = shown_ns[span.event];
    span.end_ns = end_ns(ends[row]);
    span.slice = row;
    switch (slices.kind[row]) {
      case SliceKind::kStep:
        span.name = fmt::format("ProfilerStep#{}", slices.number[row]);
        step_rows[static_cast<int32_t>(slices.number[row])] = row;
        break;
      case SliceKind::kMicroBatch:
        span.name = fmt::format("micro-batch {}", slices.number[row]);
        break;
      case SliceKind::kPhase:
        span.name = fmt::format("## {} ##", trace::Name(slices.phase(row)));
        if (IsMainPhase(slices.phase(row)) && slices.end_event[row] != kNoEvent) {
          phases_end[slices.step[row]] = slices.end_event[row];
        }
        break;
      case SliceKind::kModule:
      case SliceKind::kAnnotation:
        span.kind = SpanKind::kModule;
        break;
      case SliceKind::kOp:
        span.kind = SpanKind::kOp;
        span.external_id = ++external_id;
        break;
    }
    result.spans.push_back(span);
    if (kernels && innermost[row] && slices.end_ns[row] > slices.begin_ns[row]) {
      span.kind = SpanKind::kKernel;
      result.spans.push_back(span);
    }
  }
  for (const auto& [step, row] : step_rows) {
    const auto end = phases_end.find(step);
    if (end == phases_end.end() || end->second > slices.end_event[row]) continue;
    Span span;
    span.event = end->second;
    span.begin_ns = shown_ns[end->second];
    span.end_ns = end_ns(slices.end_event[row]);
    span.name = "## end ##";
    span.slice = row;
    result.spans.push_back(span);
  }
  AddActivities(trace, shown_ns, result.spans);
  std::stable_sort(result.spans.begin(), result.spans.end(),
                   [](const Span& a, const Span& b) { return a.event < b.event; });

  TrackAllocator tracks(&result.tracks);
  for (Span& span : result.spans)
    span.track = tracks.Place(TrackOf(trace, span), span.begin_ns, span.end_ns);
  return result;
}

}  // namespace vramscope::exporters
