#include "emulated/core/addresses.h"

#include <iterator>

namespace vramscope::emulated {

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

AddressSpace::AddressSpace(uint64_t base, uint64_t span, Placement placement)
    : base_(base), span_(span), placement_(placement), low_(base + span) {
  if (placement_ == Placement::kAscending) {
    holes_[base_] = span_;
  }
}

uint64_t AddressSpace::TakeHole(uint64_t bytes) {
  for (auto it = holes_.begin(); it != holes_.end(); ++it) {
    if (it->second < bytes) {
      continue;
    }
    const uint64_t address = it->first, rest = it->second - bytes;
    holes_.erase(it);
    if (rest > 0) {
      holes_[address + bytes] = rest;
    }
    return address;
  }
  return 0;
}

uint64_t AddressSpace::Take(uint64_t bytes) {
  if (bytes == 0 || bytes > span_) {
    return 0;
  }
  bytes = RoundUp(bytes, kGranule);
  if (const uint64_t address = TakeHole(bytes); address != 0) {
    return address;
  }
  const uint64_t chunk = RoundUp(bytes, kChunk);
  if (placement_ == Placement::kAscending || low_ - base_ < chunk) {
    return 0;
  }
  low_ -= chunk;
  if (chunk > bytes) {
    holes_[low_ + bytes] = chunk - bytes;
  }
  return low_;
}

void AddressSpace::Give(uint64_t address, uint64_t bytes) {
  auto it = holes_.insert({address, RoundUp(bytes, kGranule)}).first;
  if (const auto next = std::next(it);
      next != holes_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    holes_.erase(next);
  }
  if (it != holes_.begin()) {
    const auto previous = std::prev(it);
    if (previous->first + previous->second == it->first) {
      previous->second += it->second;
      holes_.erase(it);
    }
  }
}

}  // namespace vramscope::emulated
