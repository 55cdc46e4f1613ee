#include "profiler/explain/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::explain {

std::array<uint64_t, 256> PeakReserved(const trace::Trace& trace) {
  std::array<uint64_t, 256> out{};
  const std::vector<uint8_t> devices = analysis::DevicesOf(trace);
  trace::MemoryCursor at(trace);
  while (at.event() < trace.events.size()) {
    if (!at.Apply()) continue;
    for (const uint8_t device : devices)
      out[device] = std::max(out[device], at.memory(device).sums().reserved);
  }
  return out;
}

std::string OnDevice(const trace::Trace& trace, uint8_t device) {
  return analysis::DevicesOf(trace).size() > 1 ? fmt::format(" on cuda:{}", device) : "";
}

}  // namespace vramscope::explain
