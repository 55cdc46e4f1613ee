#include <algorithm>
#include <bitset>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

std::vector<uint8_t> DevicesOf(const trace::Trace& trace) {
  std::bitset<256> there;
  for (const uint8_t device : trace.allocations.device) there.set(device);
  for (const uint8_t device : trace.segments.device) there.set(device);
  std::vector<uint8_t> devices;
  for (size_t d = 0; d < there.size(); ++d)
    if (there[d]) devices.push_back(static_cast<uint8_t>(d));
  return devices;
}

std::vector<DevicePeak> PeakOfEachDevice(const trace::Trace& trace) {
  const std::vector<uint8_t> devices = DevicesOf(trace);
  std::vector<DevicePeak> peaks;
  for (const uint8_t device : devices) {
    const auto only = devices.size() > 1 ? std::optional(device) : std::nullopt;
    peaks.push_back({device, FindPeak(trace, ComputeCurves(trace, only))});
  }
  return peaks;
}

std::optional<uint8_t> DeviceToShow(const trace::Trace& trace) {
  if (DevicesOf(trace).size() < 2) return std::nullopt;
  const trace::ActivityTable& activities = trace.activities;
  for (uint32_t row = 0; row < activities.size(); ++row)
    if (trace.events.kind[activities.event[row]] == trace::EventKind::kOutOfMemory)
      return activities.device[row];
  const std::vector<DevicePeak> peaks = PeakOfEachDevice(trace);
  return std::ranges::max_element(peaks, {}, [](const DevicePeak& p) { return p.peak.allocated; })
      ->device;
}

}  // namespace vramscope::analysis
