// Disjoint half-open ranges of addresses, sorted by begin; adjacent ranges are joined. The only set
// of ranges in the project, used for mapped pages of expandable segments, address axes, and the
// parts that a file covers.
//
//   RangeSet mapped;
//   mapped.Add(0x1000, 0x3000);
//   mapped.Remove(0x2000, 0x2800);
//   mapped.covered();                  // 0x1800
//
// A value; not thread-safe while it changes. Empty ranges (end <= begin) change nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace vramscope::trace {

// Returns the end of a range, or the largest address if the end overflows (in a damaged file).
constexpr uint64_t EndOf(uint64_t address, uint64_t bytes) {
  return bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
}

class RangeSet {
 public:
  using Map = std::map<uint64_t, uint64_t>;  // begin -> end

  // Returns how many addresses this added to the set.
  uint64_t Add(uint64_t begin, uint64_t end);
  // Returns how many addresses this removed from the set.
  uint64_t Remove(uint64_t begin, uint64_t end);
  void clear();

  bool Contains(uint64_t address) const;
  // Whether the range is not empty and the set contains all of it.
  bool ContainsAll(uint64_t begin, uint64_t end) const;
  // Returns the number of addresses of the range that are in the set.
  uint64_t CoveredIn(uint64_t begin, uint64_t end) const;
  // Returns the range that contains the address or, if none does, the next range.
  Map::const_iterator FirstEndingAfter(uint64_t address) const;
  // Returns the parts of the set within the range.
  RangeSet Within(uint64_t begin, uint64_t end) const;
  // Calls visit() for each part of [begin, end) in ascending order. `in`: whether the part is in
  // the set.
  void ForEachPiece(uint64_t begin, uint64_t end,
                    const std::function<void(uint64_t begin, uint64_t end, bool in)>& visit) const;

  uint64_t covered() const { return covered_; }  // sum of all ranges
  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }
  const Map& ranges() const { return ranges_; }
  Map::const_iterator begin() const { return ranges_.begin(); }
  Map::const_iterator end() const { return ranges_.end(); }

  friend bool operator==(const RangeSet& a, const RangeSet& b) { return a.ranges_ == b.ranges_; }

 private:
  Map ranges_;
  uint64_t covered_ = 0;
};

}  // namespace vramscope::trace
