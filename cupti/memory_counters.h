// What NVML says of the memory of this process's cards, as counters of a trace.
//
//   MemoryCounters counters;
//   client.Start(..., {.first_names = MemoryCounters::Names(), ...});
//   Use(counters.Ask(now_ns));
//   if (!counters.problem().empty()) Say(counters.problem());
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvml/sampler.h"
#include "profiler/trace/activities.h"

namespace vramscope::cupti {

class MemoryCounters {
 public:
  // The counters' names are numbered in that order, from 1.
  static std::vector<std::string> Names();
  // Of the cards that the process has a context on, at that moment of the trace's clock. Opens NVML
  // at the first call.
  std::vector<trace::Activity> Ask(int64_t time_ns);
  // Why there is nothing; "": there is, or nobody has asked yet.
  const std::string& problem() const { return problem_; }

 private:
  nvml::Sampler sampler_;
  bool opened_ = false;
  std::string problem_;
};

}  // namespace vramscope::cupti
