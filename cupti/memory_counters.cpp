#include "cupti/memory_counters.h"

#include <optional>

#include "profiler/trace/device_counters.h"

namespace vramscope::cupti {

std::vector<std::string> MemoryCounters::Names() {
  return {std::string(trace::kCounterTotal), std::string(trace::kCounterUsed),
          std::string(trace::kCounterDriver), std::string(trace::kCounterProcess)};
}

std::vector<trace::Activity> MemoryCounters::Ask(int64_t time_ns) {
  if (!opened_) problem_ = sampler_.Open();
  opened_ = true;
  std::vector<trace::Activity> counters;
  if (!problem_.empty()) return counters;
  for (const nvml::GpuMemory& gpu : sampler_.Now()) {
    const auto count = [&](uint32_t name, std::optional<uint64_t> bytes) {
      if (!bytes) return;
      trace::Activity counter;
      counter.kind = trace::ActivityKind::kCounter;
      counter.device = gpu.device;
      counter.name.value = name;
      counter.bytes = *bytes;
      counter.begin_ns = counter.end_ns = time_ns;
      counters.push_back(counter);
    };
    count(1, gpu.total);
    count(2, gpu.used);
    count(3, gpu.driver);
    count(4, gpu.process);
  }
  return counters;
}

}  // namespace vramscope::cupti
