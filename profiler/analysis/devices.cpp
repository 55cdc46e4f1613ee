#include <algorithm>
#include <map>
#include <utility>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/past_allocator.h"

namespace vramscope::analysis {

using SharedTrace = std::shared_ptr<const trace::Trace>;

std::vector<DevicePeak> PeakOfEachDevice(const SharedTrace& trace) {
  std::vector<DevicePeak> peaks;
  for (const uint8_t device : DevicesOf(*trace)) {
    const SharedTrace one = trace::OfDevice(trace, device);
    const MemoryCurves curves = ComputeCurves(*one);
    const Peak peak = FindPeak(*one, curves);
    peaks.push_back({device, peak, NeededOf(MostUsed(*one, curves, peak), peak)});
  }
  return peaks;
}

std::optional<uint8_t> DeviceToShow(const SharedTrace& trace) {
  if (DevicesOf(*trace).size() < 2) return std::nullopt;
  const trace::OtherEventTable& activities = trace->other_events;
  for (uint32_t row = 0; row < activities.size(); ++row)
    if (trace->events.kind[activities.event[row]] == trace::EventKind::kOutOfMemory)
      return activities.device[row];
  const std::vector<DevicePeak> peaks = PeakOfEachDevice(trace);
  return std::ranges::max_element(
             peaks, {},
             [](const DevicePeak& of) { return std::pair(of.needed, of.peak.allocated); })
      ->device;
}

std::vector<DevicePair> DevicePairs(const SharedTrace& a, const SharedTrace& b) {
  const std::vector<uint8_t> of_a = DevicesOf(*a), of_b = DevicesOf(*b);
  if (of_a.size() <= 1 && of_b.size() <= 1)
    return {{.device = trace::OnlyDevice(of_b.empty() ? *a : *b), .a = a, .b = b}};
  std::map<uint8_t, DevicePair> pairs;
  for (const std::vector<uint8_t>& devices : {of_a, of_b})
    for (const uint8_t device : devices) pairs[device].device = device;
  std::vector<DevicePair> out;
  for (auto& [device, pair] : pairs) {
    pair.a = trace::OfDevice(a, device);
    pair.b = trace::OfDevice(b, device);
    out.push_back(std::move(pair));
  }
  return out;
}

}  // namespace vramscope::analysis
