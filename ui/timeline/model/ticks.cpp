#include "ui/timeline/model/ticks.h"

#include <algorithm>
#include <cmath>

#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {
namespace {

// Room for a digit of an 11 px label, generously.
constexpr double kDigitPx = 6.6;
constexpr double kLabelGapPx = 22;

int64_t RoundStep(double at_least) {
  double step = 1;
  while (step < at_least && step < 4e18) {
    if (step * 2 >= at_least) return static_cast<int64_t>(step * 2);
    if (step * 5 >= at_least) return static_cast<int64_t>(step * 5);
    step *= 10;
  }
  return static_cast<int64_t>(step);
}

}  // namespace

std::vector<TimeTick> TimeTicks(double begin_ns, double end_ns, double width_px,
                                double min_gap_px) {
  std::vector<TimeTick> ticks;
  if (!(end_ns > begin_ns) || width_px < 1) return ticks;
  double ns_per_px = (end_ns - begin_ns) / width_px;
  double gap = min_gap_px;
  int64_t step = 1;
  auto far_end = static_cast<int64_t>(end_ns);
  for (int i = 0; i < 4; ++i) {  // a finer step may need longer labels, and so on; settles at once
    step = RoundStep(std::max(1.0, gap * ns_per_px));
    std::string longest = FormatTime(far_end, step, far_end);
    double need = static_cast<double>(longest.size()) * kDigitPx + kLabelGapPx;
    if (static_cast<double>(step) / ns_per_px >= need) break;
    gap = need;
  }
  auto first = static_cast<int64_t>(std::ceil(begin_ns / static_cast<double>(step)));
  auto last = static_cast<int64_t>(std::floor(end_ns / static_cast<double>(step)));
  for (int64_t i = first; i <= last && ticks.size() < 1000; ++i) {
    ticks.push_back({i * step, FormatTime(i * step, step, far_end)});
  }
  return ticks;
}

ByteAxis MakeByteAxis(uint64_t highest, int max_ticks, double head) {
  highest = std::max<uint64_t>(highest, 1024);
  double need = static_cast<double>(highest) * (1 + head);
  ByteAxis axis;
  axis.step = 256;
  while (need / static_cast<double>(axis.step) > std::max(max_ticks, 1) &&
         axis.step < (uint64_t{1} << 60)) {
    axis.step *= 2;
  }
  // Up to a quarter of a step: a whole one would leave half of a short axis empty.
  uint64_t quantum = std::max<uint64_t>(axis.step / 4, 1);
  axis.max = (static_cast<uint64_t>(need) + quantum - 1) / quantum * quantum;
  return axis;
}

}  // namespace vramscope::ui::timeline
