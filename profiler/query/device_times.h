// Computes how long the GPU was busy with each phase of each step. Tables of the steps show this
// next to the host's times.
//
//   const std::vector<DeviceTimes> gpu = DeviceTimesOfSteps(ActivityIndex(trace));
//   for (size_t i = 0; i < steps.size(); ++i)
//     for (const PhaseTime& t : TimesOf(steps[i], i < gpu.size() ? &gpu[i] : nullptr))
//       Show(t.host, t.host_ms, t.gpu, t.gpu_ms);
//
// The host runs ahead of the GPU, so a phase's duration on the host only shows how long the host
// launched work and waited. Work of the GPU counts for the step and the innermost phase in which
// its launch began. Time in which several streams have work counts once.
//
// Pure functions of an immutable index; thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/query/activity_index.h"

namespace vramscope::query {

struct DeviceTimes {
  double forward_ms = 0;  // includes the loss
  double backward_ms = 0;
  double optimizer_ms = 0;
  double busy_ms = 0;  // also includes work outside these three phases
};

// Returns one entry per row of analysis::StepTable; no entries if no call of any GPU work is
// known.
std::vector<DeviceTimes> DeviceTimesOfSteps(const ActivityIndex& index);

// The times of one phase of a step, for tables: its duration on the host, and how long the GPU was
// busy with the work launched in it.
struct PhaseTime {
  std::string_view host, gpu;  // "forward", "forward"; in the last entry "total", "busy"
  double host_ms = 0;
  std::optional<double> gpu_ms;  // nullopt: unknown
};
inline constexpr std::array<PhaseTime, 4> kPhaseTimes = {
    {{TEXT_MARK("forward"), "forward", 0, {}},
     {TEXT_MARK("backward"), "backward", 0, {}},
     {TEXT_MARK("optimizer"), "optimizer", 0, {}},
     {TEXT_MARK("total"), TEXT_MARK("busy"), 0, {}}}};
// Whether any step has a training phase. If not (the run only generates or evaluates), tables omit
// the first three times.
bool HasPhases(const std::vector<analysis::StepRow>& steps);

// The four times of a step. `gpu` has the GPU times of the same step; null: unknown.
std::array<PhaseTime, 4> TimesOf(const analysis::StepRow& step, const DeviceTimes* gpu);

}  // namespace vramscope::query
