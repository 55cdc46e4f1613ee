#include "profiler/importers/snapshot_range.h"

#include <algorithm>

namespace vramscope::importers {

using recording::EntryTable;

bool SnapshotRange::IsOfTimes(const SnapshotOptions& options) {
  const SnapshotOptions all;
  return options.from_ns != all.from_ns || options.to_ns != all.to_ns;
}

bool SnapshotRange::IsAsked(const SnapshotOptions& options) {
  const SnapshotOptions all;
  return options.first_entry != all.first_entry || options.last_entry != all.last_entry ||
         IsOfTimes(options);
}

bool SnapshotRange::IsHistory(recording::Action action) {
  return action <= recording::Action::kSegmentUnmap || action == recording::Action::kOutOfMemory;
}

bool SnapshotRange::Settle(EntryTable& e, std::vector<uint8_t>& category) {
  const uint32_t row = e.size() - 1;
  int64_t& time = e.time_ns[row];
  const uint32_t number = all_.size();
  if (number == 0) {
    from_zero_ = time == 0;
    last_ns_ = time;
  } else if (time < last_ns_) {
    time = last_ns_;
    ++moved_;
  }
  last_ns_ = time;
  history_ |= IsHistory(e.action[row]);
  all_.action.push_back(e.action[row]);
  all_.address.push_back(e.address[row]);
  all_.bytes.push_back(e.bytes[row]);
  all_.stream.push_back(e.stream[row]);
  const bool before = number < first_entry_ || time < from_ns_;
  if (!before && number <= last_entry_ && time <= to_ns_) return true;
  if (before) stack_before_.push_back(e.stack[row]);
  const auto pop = [](auto&... columns) { (columns.pop_back(), ...); };
  pop(e.action, e.address, e.bytes, e.time_ns, e.stack, e.stream);
  // These columns may be shorter than the others.
  const auto cut = [&](auto&... columns) {
    (columns.resize(std::min<size_t>(columns.size(), row)), ...);
  };
  cut(category, e.user_metadata, e.compile_context);
  return false;
}

}  // namespace vramscope::importers
