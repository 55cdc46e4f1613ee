// Activities of a process that has not used a card yet: calls that only ask, kept until it does.
// At the limit the oldest go, which are such calls, and are counted; what uses the card never goes.
//
//   held.Add(activities);             // before the first use
//   for (a : held.Take(activities))   // the first use: all that was kept, then `activities`
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
    if (rows_.size() + activities.size() > kMost) {
      left_out_ += rows_.size();
      rows_.clear();
    }
    if (activities.size() > kMost) {
      left_out_ += activities.size() - kMost;
      activities = activities.last(kMost);
    }
    rows_.insert(rows_.end(), activities.begin(), activities.end());
  }
  std::vector<trace::Activity> Take(std::span<const trace::Activity> first_use) {
    rows_.insert(rows_.end(), first_use.begin(), first_use.end());
    return std::exchange(rows_, {});
  }
  // Counters alone: nobody tells whether the card was used.
  template <class Predicate>
  void Keep(Predicate predicate) {
    std::erase_if(rows_, [&](const trace::Activity& a) { return !predicate(a); });
  }
  uint64_t left_out() const { return left_out_; }

 private:
  std::vector<trace::Activity> rows_;
  uint64_t left_out_ = 0;
};

}  // namespace vramscope::cupti
