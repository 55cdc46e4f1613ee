#include "ui/timeline/model/ticks.h"

#include <algorithm>
#include <cmath>

#include "profiler/run/saturating.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {
namespace {

// The width in pixels of a digit in an 11 px label, rounded up generously.
constexpr double kDigitPx = 6.6;
constexpr double kLabelGapPx = 22;
// The highest value of an axis. Together with its margin, it fits 64 bits.
constexpr uint64_t kMostBytes = uint64_t{1} << 61;

int64_t RoundStep(double at_least) {
  double step = 1;
  while (step < at_least && step < 4e18) {
    if (step * 2 >= at_least) return static_cast<int64_t>(step * 2);
    if (step * 5 >= at_least) return static_cast<int64_t>(step * 5);
    step *= 10;
  }
  return static_cast<int64_t>(std::min(step, 5e18));
}

template <class Label>
std::vector<TimeTick> Ticks(double begin, double end, double width_px, double min_gap_px,
                            const Label& label) {
  std::vector<TimeTick> ticks;
  if (!(end > begin) || width_px < 1) return ticks;
  const double per_px = (end - begin) / width_px;
  double gap = min_gap_px;
  int64_t step = 1;
  // Try a few times: a smaller step may make the labels longer, so that they need a larger step.
  for (int i = 0; i < 4; ++i) {
    step = RoundStep(std::max(1.0, gap * per_px));
    const std::string longest = label(run::ToInt64(end), step);
    const double need = static_cast<double>(longest.size()) * kDigitPx + kLabelGapPx;
    if (static_cast<double>(step) / per_px >= need) break;
    gap = need;
  }
  const int64_t first = run::ToInt64(std::ceil(begin / static_cast<double>(step)));
  // Limit `at`, so that `at * step` fits an int64_t, even if the view's end does not.
  const int64_t last =
      std::min(run::ToInt64(std::floor(end / static_cast<double>(step))), INT64_MAX / step);
  for (int64_t at = first, left = 1000; at <= last && left > 0; --left) {
    ticks.push_back({at * step, label(at * step, step)});
    if (at == INT64_MAX) break;
    ++at;
  }
  return ticks;
}

}  // namespace

std::vector<TimeTick> TimeTicks(double begin_ns, double end_ns, double width_px,
                                double min_gap_px) {
  const auto far_end = run::ToInt64(end_ns);
  return Ticks(begin_ns, end_ns, width_px, min_gap_px,
               [far_end](int64_t at, int64_t step) { return FormatTime(at, step, far_end); });
}

std::vector<TimeTick> EntryTicks(double begin, double end, double width_px, double min_gap_px,
                                 int64_t first) {
  const auto offset = static_cast<double>(first);
  std::vector<TimeTick> ticks = Ticks(begin + offset, end + offset, width_px, min_gap_px,
                                      [](int64_t at, int64_t) { return FormatEntry(at); });
  for (TimeTick& tick : ticks) tick.time_ns -= first;
  return ticks;
}

ByteAxis MakeByteAxis(uint64_t highest, int max_ticks, double head) {
  // Limit the axis. Only damaged files have larger values, which are then above the axis.
  highest = std::clamp(highest, uint64_t{1024}, kMostBytes);
  double need = static_cast<double>(highest) * (1 + head);
  ByteAxis axis;
  axis.step = 256;
  while (need / static_cast<double>(axis.step) > std::max(max_ticks, 1) &&
         axis.step < (uint64_t{1} << 60)) {
    axis.step *= 2;
  }
  // Round up to a quarter of a step. With a whole step, half of a short axis could be empty.
  uint64_t quantum = std::max<uint64_t>(axis.step / 4, 1);
  axis.max = (static_cast<uint64_t>(need) + quantum - 1) / quantum * quantum;
  return axis;
}

}  // namespace vramscope::ui::timeline
