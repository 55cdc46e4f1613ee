// Generates a run of any length from copies of one synthetic run. Each copy frees its allocations.
// Times vary as they do in a measured run.
//
//   LongRun run(/*streams=*/3);
//   sink.Strings(0, run.strings());
//   while (more) { run.Next(&events, &activities); sink.Events(events); ... }
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "profiler/trace/activities.h"
#include "profiler/trace/trace.h"
#include "profiler/trace/types.h"

namespace vramscope::bench {

class LongRun {
 public:
  // If `streams` is not 0, adds kernels and memcpys on that many streams, with their API calls.
  explicit LongRun(int streams, int steps_a_copy = 40);

  const trace::TraceInfo& info() const { return run_->info; }
  const std::vector<std::string>& strings() const { return run_->strings; }
  double rows_a_copy() const {
    return static_cast<double>(run_->events.size()) + run_->activities.size();
  }
  // Replaces the contents of the two vectors with the next copy.
  void Next(std::vector<trace::Event>* events, std::vector<trace::Activity>* activities);

 private:
  trace::Event Shifted(trace::Event event) const;
  int64_t Scatter(int64_t within) {
    return within > 0 ? static_cast<int64_t>(random_() % static_cast<uint64_t>(within + 1)) : 0;
  }

  std::shared_ptr<const trace::Trace> run_;
  int64_t length_ns_ = 0;
  uint32_t steps_ = 0;
  int64_t copy_ = 0;
  std::mt19937 random_{1};
};

}  // namespace vramscope::bench
