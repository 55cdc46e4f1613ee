// How long the card was busy with each phase of each step, and the table of steps by both clocks.
//
//   const std::vector<DeviceTimes> card = DeviceTimesOfSteps(ActivityIndex(trace));
//   for (size_t i = 0; i < steps.size(); ++i)
//     for (const PhaseTime& t : TimesOf(steps[i], i < card.size() ? &card[i] : nullptr))
//       Show(t.host, t.host_ms, t.card, t.card_ms);
//
// The host runs ahead of the card: what a phase takes on the host says how long it launched and
// waited. A kernel, copy, fill or collective counts for the step and the innermost phase in which
// the call that launched it began; what runs at the same time on several streams counts once.
//
// Pure functions of an immutable index; thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/query/activity_index.h"

namespace vramscope::query {

struct DeviceTimes {
  double forward_ms = 0;  // with the loss
  double backward_ms = 0;
  double optimizer_ms = 0;
  double busy_ms = 0;  // with what lies in no phase, or in another one
};

// One for each row of analysis::StepTable. Empty: the trace has nothing that a card did whose call
// is known.
std::vector<DeviceTimes> DeviceTimesOfSteps(const ActivityIndex& index);

// A time of a step as tables show it: what the host took from the phase's begin to its end, and how
// long the card was busy with what was launched in it.
struct PhaseTime {
  std::string_view host, card;  // "forward", "forward"; the last "total", "busy"
  double host_ms = 0;
  std::optional<double> card_ms;  // none: the trace does not tell
};
inline constexpr std::array<PhaseTime, 4> kPhaseTimes = {{{"forward", "forward", 0, {}},
                                                          {"backward", "backward", 0, {}},
                                                          {"optimizer", "optimizer", 0, {}},
                                                          {"total", "busy", 0, {}}}};
// Whether any step has a phase of training: of a run that only generates or evaluates tables leave
// the first three out.
bool HasPhases(const std::vector<analysis::StepRow>& steps);

// `card`: of the same step; null: not known.
std::array<PhaseTime, 4> TimesOf(const analysis::StepRow& step, const DeviceTimes* card);

}  // namespace vramscope::query
