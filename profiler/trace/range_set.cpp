#include "profiler/trace/range_set.h"

#include <algorithm>
#include <iterator>

namespace vramscope::trace {

uint64_t RangeSet::Add(uint64_t begin, uint64_t end) {
  if (end <= begin) return 0;
  const uint64_t before = covered_;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
  while (it != ranges_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    covered_ -= it->second - it->first;
    it = ranges_.erase(it);
  }
  ranges_.emplace_hint(it, begin, end);
  covered_ += end - begin;
  return covered_ - before;
}

uint64_t RangeSet::Remove(uint64_t begin, uint64_t end) {
  if (end <= begin) return 0;
  const uint64_t before = covered_;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second > begin) --it;
  while (it != ranges_.end() && it->first < end) {
    const auto [from, to] = *it;
    it = ranges_.erase(it);
    covered_ -= to - from;
    if (from < begin) {
      ranges_.emplace_hint(it, from, begin);
      covered_ += begin - from;
    }
    if (to > end) {
      it = ranges_.emplace_hint(it, end, to);
      covered_ += to - end;
      break;
    }
  }
  return before - covered_;
}

void RangeSet::clear() {
  ranges_.clear();
  covered_ = 0;
}

bool RangeSet::Contains(uint64_t address) const {
  const auto it = FirstEndingAfter(address);
  return it != ranges_.end() && it->first <= address;
}

bool RangeSet::ContainsAll(uint64_t begin, uint64_t end) const {
  const auto it = FirstEndingAfter(begin);
  return begin < end && it != ranges_.end() && it->first <= begin && it->second >= end;
}

uint64_t RangeSet::CoveredIn(uint64_t begin, uint64_t end) const {
  uint64_t sum = 0;
  for (auto it = FirstEndingAfter(begin); it != ranges_.end() && it->first < end; ++it)
    sum += std::min(end, it->second) - std::max(begin, it->first);
  return sum;
}

RangeSet RangeSet::Within(uint64_t begin, uint64_t end) const {
  RangeSet out;
  for (auto it = FirstEndingAfter(begin); it != ranges_.end() && it->first < end; ++it)
    out.Add(std::max(begin, it->first), std::min(end, it->second));
  return out;
}

RangeSet::Map::const_iterator RangeSet::FirstEndingAfter(uint64_t address) const {
  auto it = ranges_.upper_bound(address);
  if (it != ranges_.begin() && std::prev(it)->second > address) --it;
  return it;
}

void RangeSet::ForEachPiece(uint64_t begin, uint64_t end,
                            const std::function<void(uint64_t, uint64_t, bool)>& visit) const {
  for (auto it = FirstEndingAfter(begin); it != ranges_.end() && it->first < end; ++it) {
    if (begin < it->first) visit(begin, it->first, false);
    begin = std::max(begin, it->first);
    visit(begin, std::min(end, it->second), true);
    begin = std::min(end, it->second);
  }
  if (begin < end) visit(begin, end, false);
}

}  // namespace vramscope::trace
