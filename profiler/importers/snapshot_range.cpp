#include "profiler/importers/snapshot_range.h"

#include <algorithm>

namespace vramscope::importers {

using recording::Action;
using recording::EntryTable;

void LiveBlocks::Replay(const EntryTable& e, recording::EntryIndex i) {
  switch (e.action[i]) {
    case Action::kAlloc:
      blocks_[e.address[i]] = {.address = e.address[i],
                               .requested = e.bytes[i],
                               .stream = e.stream[i],
                               .stack = e.stack[i]};
      break;
    case Action::kFreeRequested:
      if (const auto at = blocks_.find(e.address[i]); at != blocks_.end())
        at->second.pending = true;
      break;
    case Action::kFreeCompleted:
      blocks_.erase(e.address[i]);
      break;
    default:
      break;
  }
}

std::vector<recording::OlderAlloc> LiveBlocks::Of(uint8_t device) const {
  std::vector<recording::OlderAlloc> all;
  all.reserve(blocks_.size());
  for (const auto& [address, block] : blocks_) {
    all.push_back(block);
    all.back().device = device;
  }
  std::ranges::sort(all, {}, &recording::OlderAlloc::address);
  return all;
}

void AppendBare(EntryTable& to, const EntryTable& from, uint32_t i) {
  to.action.push_back(from.action[i]);
  to.address.push_back(from.address[i]);
  to.bytes.push_back(from.bytes[i]);
  to.stream.push_back(from.stream[i]);
  if (!from.device.empty()) to.device.push_back(from.device[i]);
}

bool SnapshotRange::IsAsked(const SnapshotOptions& options) {
  const SnapshotOptions all;
  return options.first_entry != all.first_entry || options.last_entry != all.last_entry ||
         options.from_ns != all.from_ns || options.to_ns != all.to_ns;
}

void SnapshotRange::Settle(EntryTable& e, std::vector<uint8_t>& category) {
  const uint32_t row = e.size() - 1;
  int64_t& time = e.time_ns[row];
  const uint32_t number = total_++;
  if (number == 0) {
    from_zero_ = time == 0;
    last_ns_ = time;
  } else if (time < last_ns_) {
    time = last_ns_;
    ++moved_;
  }
  last_ns_ = time;
  const bool before = number < first_entry_ || time < from_ns_;
  if (!before && number <= last_entry_ && time <= to_ns_) return;
  if (before) {
    ++before_;
    start_.Replay(e, row);
  } else {
    AppendBare(after_, e, row);
  }
  const auto pop = [](auto&... columns) { (columns.pop_back(), ...); };
  pop(e.action, e.address, e.bytes, e.time_ns, e.stack, e.stream);
  if (!category.empty()) category.pop_back();
}

}  // namespace vramscope::importers
