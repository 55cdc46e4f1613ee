// NVML's memory figures of this process's GPUs, as counters of a trace.
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
  // The names of the counters, which are numbered in this order from 1.
  static std::vector<std::string> Names();
  // Samples the GPUs that the process has a context on; `time_ns` is on the trace's clock. The
  // first call opens NVML.
  std::vector<trace::Activity> Ask(int64_t time_ns);
  // Why there are no counters; "" if there is no error or Ask() was not called yet.
  const std::string& problem() const { return problem_; }

 private:
  nvml::Sampler sampler_;
  bool opened_ = false;
  std::string problem_;
};

}  // namespace vramscope::cupti
