#include "profiler/inference/repetition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"

namespace vramscope::inference {
namespace {

constexpr uint32_t kWindow = 12;
constexpr uint32_t kSample = 8192;
constexpr size_t kCandidates = 64;
constexpr double kRepeats = 0.9;  // share of the sample that must be equal
// A larger period replaces a smaller one only if the share of equal values is larger by this much.
constexpr double kAsGoodAs = 0.01;

double EqualAt(std::span<const uint64_t> values, uint32_t distance) {
  const auto size = static_cast<uint32_t>(values.size());
  const uint32_t begin = std::max(distance, size / 2);
  const uint32_t stride = std::max<uint32_t>(1, (size - begin) / kSample);
  uint32_t equal = 0, checked = 0;
  for (uint32_t i = begin; i < size; i += stride, ++checked) {
    equal += values[i] == values[i - distance];
  }
  return checked == 0 ? 0 : static_cast<double>(equal) / checked;
}

}  // namespace

uint32_t Period(std::span<const uint64_t> values) {
  if (values.size() < 2 * kWindow) return 0;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t leading = 1;
  for (uint32_t i = 0; i < kWindow; ++i) leading *= kFactor;
  base::HashMap<uint64_t, uint32_t> last;
  base::HashMap<uint32_t, uint32_t> distances;
  uint64_t hash = 0;
  for (uint32_t i = 0; i < values.size(); ++i) {
    hash = hash * kFactor + values[i] + 1;
    if (i >= kWindow) hash -= leading * (values[i - kWindow] + 1);
    if (i + 1 < kWindow) continue;
    const auto [it, added] = last.try_emplace(hash, i);
    if (!added) ++distances[i - std::exchange(it->second, i)];
  }
  std::vector<std::pair<uint32_t, uint32_t>> candidates;  // pairs of count and distance
  for (const auto& [distance, count] : distances) candidates.emplace_back(count, distance);
  const size_t kept = std::min(kCandidates, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(kept),
                    candidates.end(), std::greater<>());
  candidates.resize(kept);
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  double best = kRepeats;
  uint32_t period = 0;
  for (const auto& [count, distance] : candidates) {
    const double equal = EqualAt(values, distance);
    if (equal > best + (period == 0 ? 0 : kAsGoodAs)) best = equal, period = distance;
  }
  return period;
}

}  // namespace vramscope::inference
