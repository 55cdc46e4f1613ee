#include "profiler/inference/devices.h"

#include <algorithm>
#include <array>

namespace vramscope::inference {

using recording::History;
using recording::kNoEntry;
using recording::Recording;

std::vector<uint8_t> DevicesOf(const Recording& recording, const History& history) {
  std::array<bool, 256> has{};
  for (const uint8_t device : recording.entries.device) has[device] = true;
  for (const uint8_t device : history.allocations.device) has[device] = true;
  if (recording.entries.device.empty() && recording.entries.size() > 0) has[0] = true;
  std::vector<uint8_t> devices;
  for (size_t d = 0; d < has.size(); ++d) {
    if (has[d]) devices.push_back(static_cast<uint8_t>(d));
  }
  return devices;
}

DevicePart PartOf(const Recording& recording, const History& history, uint8_t device) {
  DevicePart part;
  Recording& r = part.recording;
  r.alloc_conf = recording.alloc_conf;
  const recording::EntryTable& entries = recording.entries;
  // Maps each entry of the whole recording to the entry of the part.
  std::vector<EntryIndex> at(entries.size() + size_t{1}, kNoEntry);
  for (EntryIndex i = 0; i < entries.size(); ++i) {
    if (entries.DeviceOf(i) != device) continue;
    at[i] = r.entries.size();
    part.entry.push_back(i);
    r.entries.action.push_back(entries.action[i]);
    r.entries.time_ns.push_back(entries.time_ns[i]);
    r.entries.stack.push_back(entries.StackOf(i));
  }
  // PyTorch writes each annotation once per device; other tools write it once per recording.
  const bool own = std::any_of(recording.annotations.begin(), recording.annotations.end(),
                               [&](const auto& a) { return a.device == device; });
  for (recording::Annotation a : recording.annotations) {
    if (own && a.device != device) continue;
    r.strings.push_back(recording.strings[a.name.value]);
    a.name = {static_cast<uint32_t>(r.strings.size() - 1)};
    r.annotations.push_back(a);
  }
  History& h = part.history;
  const History::Allocations& from = history.allocations;
  const auto entry = [&](EntryIndex i) { return i == kNoEntry ? kNoEntry : at[i]; };
  std::vector<uint32_t> row(from.size(), UINT32_MAX);
  for (uint32_t a = 0; a < from.size(); ++a) {
    if (from.device[a] != device) continue;
    row[a] = static_cast<uint32_t>(part.allocation.size());
    part.allocation.push_back(a);
    h.older += a < history.older;
    auto& to = h.allocations;
    to.alloc.push_back(entry(from.alloc[a]));
    to.free_requested.push_back(entry(from.free_requested[a]));
    to.free_completed.push_back(entry(from.free_completed[a]));
    to.address.push_back(from.address[a]);
    to.requested.push_back(from.requested[a]);
    to.bytes.push_back(from.bytes[a]);
    to.stream.push_back(from.stream[a]);
    to.device.push_back(device);
    to.pool.push_back(from.pool[a]);
    to.stack.push_back(from.stack[a]);
    to.bytes_known.push_back(from.bytes_known[a]);
  }
  for (const EntryIndex i : part.entry) {
    const uint32_t a = history.allocation_of_entry[i];
    h.allocation_of_entry.push_back(a < row.size() ? row[a] : UINT32_MAX);
  }
  for (const recording::SegmentState& s : history.start_segments) {
    if (s.device != device) continue;
    h.start_segments.push_back({.address = s.address,
                                .bytes = s.bytes,
                                .stream = s.stream,
                                .device = s.device,
                                .pool = s.pool,
                                .expandable = s.expandable,
                                .mempool = s.mempool});
  }
  return part;
}

void AddLabels(const DevicePart& part, const Labels& of_part, Labels& labels) {
  for (size_t a = 0; a < part.allocation.size(); ++a) {
    labels.category[part.allocation[a]] = of_part.category[a];
    labels.rule[part.allocation[a]] = of_part.rule[a];
  }
  for (Labels::Retag r : of_part.retags) {
    r.at = part.entry[r.at];
    r.allocation = part.allocation[r.allocation];
    labels.retags.push_back(r);
  }
}

void TakeTimes(const DevicePart& part, const Labels& of_part, Labels& labels) {
  const auto end_of = [&](EntryIndex end) {
    return end < part.entry.size() ? part.entry[end] : part.entry.back() + 1;
  };
  for (Labels::Step s : of_part.steps) {
    s.begin = part.entry[s.begin];
    s.end = end_of(s.end);
    labels.steps.push_back(s);
  }
  for (Labels::PhaseRange p : of_part.phases) {
    p.begin = part.entry[p.begin];
    p.end = end_of(p.end);
    labels.phases.push_back(p);
  }
}

}  // namespace vramscope::inference
