// Holds activities of a process that has not used a GPU yet: API calls that only query, and
// counters. These are kept until the process first uses a GPU. If there are more than kMost, all
// held API calls are dropped, and if that is not enough, all held counters. Dropped activities are
// counted. Activities that use the GPU are never dropped.
//
//   held.Add(activities);             // before the first use
//   Write(held.Take(activities));     // at the first use: the kept activities, then `activities`
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "profiler/trace/activities.h"

namespace vramscope::cupti {

class HeldRows {
 public:
  static constexpr size_t kMost = size_t{1} << 16;

  void Add(std::span<const trace::Activity> activities) {
    if (rows_.size() + activities.size() > kMost)
      Drop(std::erase_if(rows_, [](const trace::Activity& a) { return !IsCounter(a); }));
    if (rows_.size() + activities.size() > kMost) Drop(std::exchange(rows_, {}).size());
    if (activities.size() > kMost) {
      Drop(activities.size() - kMost);
      activities = activities.last(kMost);
    }
    rows_.insert(rows_.end(), activities.begin(), activities.end());
  }
  std::vector<trace::Activity> Take(std::span<const trace::Activity> first_use) {
    rows_.insert(rows_.end(), first_use.begin(), first_use.end());
    return std::exchange(rows_, {});
  }
  // Removes everything except counters. Call this if it is unknown whether the GPU was used.
  void KeepCounters() {
    std::erase_if(rows_, [](const trace::Activity& a) { return !IsCounter(a); });
  }
  uint64_t left_out() const { return left_out_; }

 private:
  static bool IsCounter(const trace::Activity& activity) {
    return activity.kind == trace::ActivityKind::kCounter;
  }
  void Drop(size_t count) { left_out_ += count; }

  std::vector<trace::Activity> rows_;
  uint64_t left_out_ = 0;
};

}  // namespace vramscope::cupti
