#include "profiler/query/device_times.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::query {
namespace {

using trace::Phase;
using trace::SliceKind;

// Sums the time that intervals cover. Intervals must be added in order of begin.
struct Covered {
  int64_t until = INT64_MIN, ns = 0;
  void Add(int64_t begin, int64_t end) {
    begin = std::max(begin, until);
    if (end <= begin) return;
    ns += end - begin;
    until = end;
  }
  double ms() const { return static_cast<double>(ns) * 1e-6; }
};

struct OfStep {
  Covered forward, backward, optimizer, all;
};

}  // namespace

std::vector<DeviceTimes> DeviceTimesOfSteps(const ActivityIndex& index) {
  const trace::Trace& trace = index.trace();
  const trace::ActivityTable& a = trace.activities;
  const trace::SliceTable& s = trace.slices;
  // Where intervals of one device overlap, their time counts once. Different devices add up.
  std::map<std::pair<uint32_t, uint8_t>, OfStep> steps;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (!trace::IsOfDevice(a.kind[row]) || a.kind[row] == trace::ActivityKind::kCounter) continue;
    const uint32_t step = index.SliceOf(row, SliceKind::kStep);
    if (step == kNoRow) continue;
    OfStep& of = steps[{step, a.device[row]}];
    of.all.Add(a.begin_ns[row], a.end_ns[row]);
    const uint32_t slice = index.SliceOf(row, SliceKind::kPhase);
    const Phase phase = slice == kNoRow ? Phase::kNone : s.phase(slice);
    if (phase == Phase::kForward || phase == Phase::kLoss)
      of.forward.Add(a.begin_ns[row], a.end_ns[row]);
    else if (phase == Phase::kBackward)
      of.backward.Add(a.begin_ns[row], a.end_ns[row]);
    else if (phase == Phase::kOptimizer)
      of.optimizer.Add(a.begin_ns[row], a.end_ns[row]);
  }
  if (steps.empty()) return {};
  std::vector<DeviceTimes> out;
  for (uint32_t row = 0; row < s.size(); ++row) {
    if (s.kind[row] != SliceKind::kStep || s.depth[row] != 0) continue;
    DeviceTimes& times = out.emplace_back();
    for (auto it = steps.lower_bound({row, 0}); it != steps.end() && it->first.first == row; ++it) {
      times.forward_ms += it->second.forward.ms();
      times.backward_ms += it->second.backward.ms();
      times.optimizer_ms += it->second.optimizer.ms();
      times.busy_ms += it->second.all.ms();
    }
  }
  return out;
}

bool HasPhases(const std::vector<analysis::StepRow>& steps) {
  return std::ranges::any_of(steps, [](const analysis::StepRow& step) {
    return step.forward_ms + step.backward_ms + step.optimizer_ms > 0;
  });
}

std::array<PhaseTime, 4> TimesOf(const analysis::StepRow& step, const DeviceTimes* gpu) {
  std::array<PhaseTime, 4> times = kPhaseTimes;
  const double host[] = {step.forward_ms, step.backward_ms, step.optimizer_ms, step.total_ms};
  for (size_t i = 0; i < times.size(); ++i) times[i].host_ms = host[i];
  if (gpu == nullptr) return times;
  const double busy[] = {gpu->forward_ms, gpu->backward_ms, gpu->optimizer_ms, gpu->busy_ms};
  for (size_t i = 0; i < times.size(); ++i) times[i].gpu_ms = busy[i];
  return times;
}

}  // namespace vramscope::query
