#include "ui/timeline/model/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/analysis/host_memory.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/device_counters.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"
#include "ui/timeline/model/activity_names.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {
namespace {

using trace::ActivityKind;
using trace::MemorySpace;

constexpr size_t kMostSeries = 32;
constexpr size_t kMostDevices = 64;
constexpr uint64_t kLittleBytes = uint64_t{1} << 20;

std::shared_ptr<analysis::MemoryCurves> Empty() {
  return std::make_shared<analysis::MemoryCurves>();
}

void Put(analysis::MemoryCurves& curve, int64_t time_ns, uint64_t value) {
  curve.event.push_back(0);
  curve.time_ns.push_back(time_ns);
  curve.allocated.push_back(value);
  curve.requested.push_back(0);
  curve.reserved.push_back(0);
}

Series Finish(std::shared_ptr<analysis::MemoryCurves> curve) {
  Series s;
  s.changes = curve->size();
  s.highest = *std::max_element(curve->allocated.begin(), curve->allocated.end());
  s.curve = std::move(curve);
  s.index = std::make_shared<const query::CurveIndex>(s.curve);
  return s;
}

}  // namespace

uint64_t Series::At(int64_t time_ns) const {
  const auto at = std::upper_bound(curve->time_ns.begin(), curve->time_ns.end(), time_ns);
  return at == curve->time_ns.begin()
             ? 0
             : curve->allocated[static_cast<size_t>(at - curve->time_ns.begin()) - 1];
}

std::vector<Series> SeriesOf(const trace::Trace& t) {
  const trace::ActivityTable& a = t.activities;
  std::map<std::pair<uint8_t, uint32_t>, std::shared_ptr<analysis::MemoryCurves>> counters;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kCounter) continue;
    auto& curve = counters[{a.device[row], a.name[row].value}];
    if (curve == nullptr) curve = Empty();
    Put(*curve, a.begin_ns[row], a.bytes[row]);
  }
  std::vector<Series> out;
  const analysis::HostMemory host = analysis::HostMemoryOf(t);
  for (const analysis::HostMemory::Curve& of : host.curves) {
    auto curve = Empty();
    for (size_t i = 0; i < of.time_ns.size(); ++i) Put(*curve, of.time_ns[i], of.bytes[i]);
    Series s = Finish(std::move(curve));
    s.bytes = true;
    s.little = s.highest < kLittleBytes;
    s.key = fmt::format("memory/{}", trace::Name(of.space));
    s.title = i18n::Format("{} {}memory", i18n::Text(trace::Name(of.space)),
                           of.space == MemorySpace::kPinned ? i18n::Text("host ") : "");
    s.about = i18n::Format("allocated from the driver · at most {}", FormatBytes(s.highest));
    const auto largest =
        std::ranges::find(host.sites, of.space, &analysis::HostMemory::Site::space);
    if (largest != host.sites.end()) s.largest = analysis::SiteText(*largest);
    out.push_back(std::move(s));
  }
  for (auto& [of, curve] : counters) {
    if (out.size() >= kMostSeries) break;
    Series s = Finish(std::move(curve));
    const std::string_view name = t.String({of.second});
    if (name == trace::kCounterTotal || name == trace::kCounterDriver) continue;  // constant values
    s.key = fmt::format("counter/{}/{}", of.first, name);
    s.title = fmt::format("{} · {}", trace::NameOfDevice(t, of.first), CounterLabel(name));
    s.bytes = trace::CountsBytes(name);
    s.about = i18n::Format("at most {}", s.bytes ? FormatBytes(s.highest) : FormatCount(s.highest));
    s.little = true;  // values of clocks and temperatures; their lane is folded by default
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<DeviceMemory> MemoryOfDevices(const std::shared_ptr<const trace::Trace>& whole) {
  std::vector<DeviceMemory> out;
  if (whole == nullptr) return out;
  const std::vector<uint8_t> devices = trace::DevicesOf(*whole);
  if (devices.size() < 2) return out;
  for (const uint8_t device : devices) {
    if (out.size() == kMostDevices) break;
    auto curve = std::make_shared<analysis::MemoryCurves>(
        analysis::ComputeCurves(*trace::OfDevice(whole, device)));
    if (curve->size() == 0) continue;
    for (auto& category : curve->category) category = {};
    DeviceMemory m;
    m.device = device;
    m.name = trace::NameOfDevice(*whole, device);
    const auto highest = std::max_element(curve->allocated.begin(), curve->allocated.end());
    m.peak = *highest;
    m.peak_ns = curve->time_ns[static_cast<size_t>(highest - curve->allocated.begin())];
    m.reserved = *std::max_element(curve->reserved.begin(), curve->reserved.end());
    m.curve = std::move(curve);
    m.index = std::make_shared<const query::CurveIndex>(m.curve);
    out.push_back(std::move(m));
  }
  return out;
}

}  // namespace vramscope::ui::timeline
