// Computes in the simplest way what is in each device's memory after each event. For each event,
// adds up all blocks from scratch, and counts expandable segments page by page. Uses the emitted
// events, not the trace's tables.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "profiler/trace/types.h"

namespace vramscope::agreement {

struct NaiveSums {
  uint64_t allocated = 0, requested = 0, reserved = 0;
  std::array<uint64_t, trace::kCategoryCount> by_category{};
  std::vector<uint64_t> live;  // ids, ascending
};

class NaiveMemory {
 public:
  explicit NaiveMemory(const std::vector<trace::Event>& events) {
    for (const trace::Event& e : events) {
      Apply(e);
      std::map<uint8_t, NaiveSums> now;
      for (const auto& [number, device] : devices_) now[number] = Sums(device);
      after_.push_back(std::move(now));
    }
  }

  // Returns the sums right after event `i`.
  NaiveSums After(size_t i, uint8_t device) const {
    const auto at = after_[i].find(device);
    return at == after_[i].end() ? NaiveSums() : at->second;
  }
  NaiveSums All(size_t i) const {
    NaiveSums sum;
    for (const auto& [number, one] : after_[i]) {
      sum.allocated += one.allocated;
      sum.requested += one.requested;
      sum.reserved += one.reserved;
      for (size_t c = 0; c < one.by_category.size(); ++c) sum.by_category[c] += one.by_category[c];
      sum.live.insert(sum.live.end(), one.live.begin(), one.live.end());
    }
    std::sort(sum.live.begin(), sum.live.end());
    return sum;
  }
  // Returns the device whose memory the event changes, or which ran out of memory; otherwise
  // 0.
  uint8_t DeviceOf(const trace::Event& e) const {
    switch (e.kind) {
      case trace::EventKind::kFreeRequested:
      case trace::EventKind::kFreeCompleted:
      case trace::EventKind::kRetag:
        return device_of_allocation_.at(e.id);
      case trace::EventKind::kSegmentFree:
        return device_of_segment_.at(e.id);
      default:
        return e.device;
    }
  }

 private:
  static constexpr uint64_t kPage = uint64_t{1} << 20;
  struct Block {
    uint64_t requested = 0, rounded = 0;
    trace::Category category = trace::Category::kUnknown;
  };
  struct Device {
    std::map<uint64_t, Block> blocks;
    std::map<uint64_t, uint64_t> plain;  // segment -> bytes
    std::set<uint64_t> pages;            // numbers of mapped pages
  };

  void Apply(const trace::Event& e) {
    using trace::EventKind;
    switch (e.kind) {
      case EventKind::kAlloc:
        device_of_allocation_[e.id] = e.device;
        devices_[e.device].blocks[e.id] = {e.bytes, e.bytes_rounded, e.category};
        break;
      case EventKind::kFreeCompleted:
        devices_[DeviceOf(e)].blocks.erase(e.id);
        break;
      case EventKind::kRetag:
        devices_[DeviceOf(e)].blocks.at(e.id).category = e.category;
        break;
      case EventKind::kSegmentAlloc:
        device_of_segment_[e.id] = e.device;
        if (e.detail == 0) {
          devices_[e.device].plain[e.id] = e.bytes;
        } else {
          expandable_[e.id] = {e.address, e.bytes};
          devices_[e.device];
        }
        break;
      case EventKind::kSegmentFree:
        if (const auto range = expandable_.find(e.id); range != expandable_.end()) {
          std::set<uint64_t>& pages = devices_[DeviceOf(e)].pages;
          const auto [address, bytes] = range->second;
          pages.erase(pages.lower_bound(address / kPage),
                      pages.lower_bound((address + bytes) / kPage));
        }
        devices_[DeviceOf(e)].plain.erase(e.id);
        break;
      case EventKind::kSegmentMap:
        for (uint64_t page = e.address / kPage; page < (e.address + e.bytes) / kPage; ++page)
          devices_[e.device].pages.insert(page);
        break;
      case EventKind::kSegmentUnmap:
        for (uint64_t page = e.address / kPage; page < (e.address + e.bytes) / kPage; ++page)
          devices_[e.device].pages.erase(page);
        break;
      default:
        break;
    }
  }

  static NaiveSums Sums(const Device& device) {
    NaiveSums sums;
    for (const auto& [id, block] : device.blocks) {
      sums.allocated += block.rounded;
      sums.requested += block.requested;
      sums.by_category[static_cast<size_t>(block.category)] += block.rounded;
      sums.live.push_back(id);
    }
    for (const auto& [id, bytes] : device.plain) sums.reserved += bytes;
    sums.reserved += device.pages.size() * kPage;
    return sums;
  }

  std::map<uint8_t, Device> devices_;
  std::map<uint64_t, uint8_t> device_of_allocation_, device_of_segment_;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> expandable_;
  std::vector<std::map<uint8_t, NaiveSums>> after_;
};

}  // namespace vramscope::agreement
