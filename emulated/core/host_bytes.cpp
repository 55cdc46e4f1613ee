#include "emulated/core/host_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace vramscope::emulated {
namespace {

thread_local HostBytes::Truth unknown_truth = HostBytes::Truth::kFalse;

}  // namespace

HostBytes::Ranges::iterator HostBytes::Put(uint64_t address, const Range& range) {
  bytes_ += range.bytes;
  fleeting_ += range.pinned ? 0 : 1;
  return ranges_.insert_or_assign(address, range).first;
}

HostBytes::Ranges::iterator HostBytes::Drop(Ranges::iterator it) {
  bytes_ -= it->second.bytes;
  fleeting_ -= it->second.pinned ? 0 : 1;
  return ranges_.erase(it);
}

void HostBytes::Remove(uint64_t address, uint64_t bytes, bool also_pinned) {
  if (bytes == 0 || ranges_.empty()) {
    return;
  }
  const uint64_t end = address + bytes < address ? ~uint64_t{0} : address + bytes;
  auto it = ranges_.upper_bound(address);
  if (it != ranges_.begin()) {
    --it;
  }
  while (it != ranges_.end() && it->first < end) {
    const uint64_t first = it->first, last = it->first + it->second.bytes;
    const Range range = it->second;
    if (last <= address || (range.pinned && !also_pinned)) {
      ++it;
      continue;
    }
    it = Drop(it);
    if (first < address) {
      Put(first, {address - first, range.age, range.pinned});
    }
    if (last > end) {
      it = std::next(Put(end, {last - end, range.age, range.pinned}));
    }
  }
}

void HostBytes::Insert(uint64_t address, uint64_t bytes, bool pinned) {
  Remove(address, bytes, true);
  Put(address, {bytes, ++age_, pinned});
  while (bytes_ > kBudget && ranges_.size() > 1) {
    Drop(std::min_element(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) {
      return a.second.age < b.second.age;
    }));
  }
}

uint64_t HostBytes::PrefixLocked(uint64_t address, uint64_t bytes) const {
  const uint64_t begin = address, end = address + bytes;
  while (address < end) {
    auto it = ranges_.upper_bound(address);
    if (it == ranges_.begin()) {
      break;
    }
    --it;
    const uint64_t last = it->first + it->second.bytes;
    if (last <= address) {
      break;
    }
    address = last;
  }
  return std::min(address, end) - begin;
}

bool HostBytes::KnownLocked(uint64_t address, uint64_t bytes) const {
  return PrefixLocked(address, bytes) == bytes;
}

uint64_t HostBytes::Expect(uint64_t address, uint64_t bytes, Arrive arrive) {
  std::lock_guard lock(expected_mutex_);
  expected_.push_back({++last_expected_, address, bytes, std::move(arrive)});
  expecting_ = expected_.size();
  return last_expected_;
}

void HostBytes::ExpectNoMore(uint64_t number) {
  std::lock_guard lock(expected_mutex_);
  std::erase_if(expected_, [&](const Expected& one) { return one.number == number; });
  expecting_ = expected_.size();
}

void HostBytes::Due(uint64_t address, uint64_t bytes, bool needed) const {
  if (expecting_.load(std::memory_order_relaxed) == 0 || bytes == 0) {
    return;
  }
  std::vector<Arrive> due;
  {
    std::lock_guard lock(expected_mutex_);
    std::erase_if(expected_, [&](Expected& one) {
      const bool overlaps = one.address < address + bytes && address < one.address + one.bytes;
      if (overlaps) {
        due.push_back(std::move(one.arrive));
      }
      return overlaps;
    });
    expecting_ = expected_.size();
  }
  for (const Arrive& arrive : due) {
    arrive(needed);
  }
}

void HostBytes::Write(uint64_t address, const void* from, uint64_t bytes) {
  Due(address, bytes, false);
  std::lock_guard lock(mutex_);
  if (bytes > kLargest) {
    Remove(address, bytes, true);
    return;
  }
  std::memcpy(reinterpret_cast<void*>(address), from, bytes);
  Insert(address, bytes, false);
}

void HostBytes::Fill(uint64_t address, const void* pattern, uint64_t pattern_bytes,
                     uint64_t count) {
  const uint64_t bytes = pattern_bytes * count;
  Due(address, bytes, false);
  std::lock_guard lock(mutex_);
  if (bytes > kLargest) {
    Remove(address, bytes, true);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(reinterpret_cast<void*>(address + i * pattern_bytes), pattern, pattern_bytes);
  }
  Insert(address, bytes, false);
}

void HostBytes::Move(uint64_t to, uint64_t from, uint64_t bytes) {
  Due(from, bytes, true);
  Due(to, bytes, false);
  std::lock_guard lock(mutex_);
  if (to == from) {
    return;
  }
  const uint64_t known = bytes > kLargest ? 0 : PrefixLocked(from, bytes);
  Remove(to, bytes, true);
  if (known > 0) {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), known);
    Insert(to, known, false);
  }
}

bool HostBytes::Read(void* to, uint64_t address, uint64_t bytes) {
  Due(address, bytes, true);
  std::lock_guard lock(mutex_);
  const uint64_t known = PrefixLocked(address, bytes);
  std::memcpy(to, reinterpret_cast<const void*>(address), known);
  const bool truth = bytes == 1 && known == 0 && unknown_truth != Truth::kFalse;
  std::memset(static_cast<char*>(to) + known, truth ? 1 : 0, bytes - known);
  if (truth && unknown_truth == Truth::kTrueOnce) {
    unknown_truth = Truth::kFalse;
  }
  return known == bytes;
}

void HostBytes::Keep(uint64_t address, uint64_t bytes, bool known) {
  Due(address, bytes, false);
  std::lock_guard lock(mutex_);
  if (known && bytes <= kLargest) {
    Insert(address, bytes, true);
  } else {
    Remove(address, bytes, true);
  }
}

void HostBytes::SetUnknownTruth(Truth truth) { unknown_truth = truth; }

bool HostBytes::IsKnown(uint64_t address, uint64_t bytes) const {
  Due(address, bytes, true);
  std::lock_guard lock(mutex_);
  return KnownLocked(address, bytes);
}

uint64_t HostBytes::KnownPrefix(uint64_t address, uint64_t bytes) const {
  Due(address, bytes, true);
  std::lock_guard lock(mutex_);
  return PrefixLocked(address, bytes);
}

std::optional<uint64_t> HostBytes::CountNonZero(uint64_t address, uint64_t elements,
                                                uint64_t element_bytes) const {
  Due(address, elements * element_bytes, true);
  std::lock_guard lock(mutex_);
  if (elements > kBudget / element_bytes || !KnownLocked(address, elements * element_bytes)) {
    return std::nullopt;
  }
  uint64_t count = 0;
  const auto* at = reinterpret_cast<const unsigned char*>(address);
  for (uint64_t i = 0; i < elements; ++i, at += element_bytes) {
    count += std::any_of(at, at + element_bytes, [](unsigned char byte) { return byte != 0; });
  }
  return count;
}

void HostBytes::Overwritten(uint64_t address, uint64_t bytes) {
  Due(address, bytes, false);
  std::lock_guard lock(mutex_);
  Remove(address, bytes, true);
}

void HostBytes::Freed(uint64_t address, uint64_t bytes) { Overwritten(address, bytes); }

void HostBytes::Launched(std::span<const uint64_t> pointers, uint64_t extent) {
  if (!HasFleeting()) {
    return;
  }
  for (const uint64_t pointer : pointers) {
    Due(pointer, 1, false);
  }
  std::lock_guard lock(mutex_);
  for (const uint64_t pointer : pointers) {
    Remove(pointer, extent, false);
  }
}

void HostBytes::LaunchedUnknown() {
  if (!HasFleeting()) {
    return;
  }
  std::lock_guard lock(mutex_);
  for (auto it = ranges_.begin(); it != ranges_.end();) {
    it = it->second.pinned ? std::next(it) : Drop(it);
  }
}

uint64_t HostBytes::known_bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace vramscope::emulated
