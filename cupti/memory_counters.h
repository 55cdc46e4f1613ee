// Samples NVML's memory figures for the GPUs of this process, as counters of a trace.
//
//   MemoryCounters counters;
//   client.Start(..., {.first_names = MemoryCounters::Names(), ...});
//   Use(counters.Ask(now_ns));
//   if (!counters.problem().empty()) Say(counters.problem());
//
// Use from one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvml/sampler.h"
#include "profiler/trace/activities.h"

namespace vramscope::cupti {

class MemoryCounters {
 public:
  // Returns the names of the counters, which have the numbers 1, 2, ... in this order.
  static std::vector<std::string> Names();
  // Samples the GPUs on which the process has a context. `time_ns` is on the trace's clock. The
  // first call opens NVML.
  std::vector<trace::Activity> Ask(int64_t time_ns);
  // Returns why there are no counters, or "" if there was no error or no Ask() yet.
  const std::string& problem() const { return problem_; }

 private:
  nvml::Sampler sampler_;
  bool opened_ = false;
  std::string problem_;
};

}  // namespace vramscope::cupti
