#include "profiler/trace/counters.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::trace {
namespace {

constexpr std::string_view kPrefix = "counter\n";

}  // namespace

std::string CounterMarker(std::string_view counter) { return std::string(kPrefix).append(counter); }

std::string_view CounterOfMarker(std::string_view marker) {
  return marker.starts_with(kPrefix) ? marker.substr(kPrefix.size()) : std::string_view();
}

std::vector<CounterReading> CounterReadingsOf(const Trace& trace) {
  std::vector<CounterReading> out;
  const OtherEventTable& others = trace.other_events;
  for (const Marker& marker : trace.markers) {
    const std::string_view counter = CounterOfMarker(trace.String(marker.name));
    if (counter.empty()) continue;
    const auto row = std::lower_bound(others.event.begin(), others.event.end(), marker.event) -
                     others.event.begin();
    out.push_back({.counter = counter,
                   .device = others.device[static_cast<size_t>(row)],
                   .bytes = trace.events.bytes[marker.event],
                   .event = marker.event,
                   .time_ns = marker.time_ns});
  }
  return out;
}

std::vector<CounterSummary> SummarizeCounters(const Trace& trace) {
  std::map<std::pair<std::string_view, uint8_t>, CounterSummary> found;
  for (const CounterReading& reading : CounterReadingsOf(trace)) {
    CounterSummary& summary = found[{reading.counter, reading.device}];
    summary.counter = reading.counter;
    summary.device = reading.device;
    ++summary.readings;
    summary.most = std::max(summary.most, reading.bytes);
    summary.last = reading;
  }
  std::vector<CounterSummary> out;
  for (auto& [key, summary] : found) out.push_back(summary);
  return out;
}

}  // namespace vramscope::trace
