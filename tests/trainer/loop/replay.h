// Follows a trace event by event in the simplest possible way, to check the producers of
// traces.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "profiler/trace/trace.h"
#include "profiler/trace/types.h"

namespace vramscope::trainer {

using CategoryBytes = std::array<uint64_t, trace::kCategoryCount>;

struct Replay {
  uint64_t requested = 0, allocated = 0, reserved = 0;
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  CategoryBytes categories{};  // allocated bytes by current category
  // The allocated bytes at the markers training_begin and training_end.
  uint64_t before_allocated = 0, after_allocated = 0;
  CategoryBytes before{}, after{};
  uint64_t unknown_after_setup = 0;
  std::string error;  // first broken invariant; empty if none

  explicit Replay(const trace::Trace& trace, bool addresses = true) {
    const trace::EventTable& events = trace.events;
    std::map<uint64_t, uint64_t> blocks;                // address -> rounded size
    std::map<uint64_t, uint64_t> segments;              // address -> size
    std::unordered_map<uint64_t, uint64_t> segment_of;  // id -> address
    struct Live {
      uint64_t requested, rounded, address;
      trace::Category category;
    };
    std::unordered_map<uint64_t, Live> live;
    std::set<uint64_t> freeing;
    bool training = false;
    auto fail = [&](uint32_t i, const std::string& what) {
      if (error.empty()) error = "event " + std::to_string(i) + ": " + what;
    };
    for (uint32_t i = 0; i < events.size() && error.empty(); ++i) {
      switch (events.kind[i]) {
        case trace::EventKind::kAlloc: {
          const auto id = events.id[i];
          const uint64_t rounded = events.bytes_rounded[i], address = Address(trace, id);
          if (rounded < events.bytes[i]) fail(i, "rounded below requested");
          if (live.count(id)) fail(i, "id is already live");
          if (addresses) {
            CheckBlock(blocks, segments, address, rounded, i, fail);
            blocks[address] = rounded;
          }
          live[id] = {events.bytes[i], rounded, address, events.category[i]};
          requested += events.bytes[i];
          allocated += rounded;
          categories[static_cast<size_t>(events.category[i])] += rounded;
          break;
        }
        case trace::EventKind::kRetag: {
          auto it = live.find(events.id[i]);
          if (it == live.end()) {
            fail(i, "retag of a freed allocation");
            break;
          }
          categories[static_cast<size_t>(it->second.category)] -= it->second.rounded;
          it->second.category = events.category[i];
          categories[static_cast<size_t>(it->second.category)] += it->second.rounded;
          break;
        }
        case trace::EventKind::kFreeRequested:
          if (!live.count(events.id[i])) fail(i, "free of a freed allocation");
          freeing.insert(events.id[i]);
          break;
        case trace::EventKind::kFreeCompleted: {
          auto it = live.find(events.id[i]);
          if (it == live.end() || freeing.erase(events.id[i]) == 0) {
            fail(i, "free without a request");
            break;
          }
          requested -= it->second.requested;
          allocated -= it->second.rounded;
          categories[static_cast<size_t>(it->second.category)] -= it->second.rounded;
          blocks.erase(it->second.address);
          live.erase(it);
          break;
        }
        case trace::EventKind::kSegmentAlloc: {
          const uint64_t id = events.id[i], address = trace.segments.address[id];
          if (addresses) {
            auto next = segments.lower_bound(address);
            if (next != segments.end() && next->first < address + events.bytes[i]) {
              fail(i, "segments overlap");
            }
            if (next != segments.begin()) {
              --next;
              if (next->first + next->second > address) fail(i, "segments overlap");
            }
          }
          segments[address] = events.bytes[i];
          segment_of[id] = address;
          reserved += events.bytes[i];
          break;
        }
        case trace::EventKind::kSegmentFree: {
          auto it = segments.find(segment_of[events.id[i]]);
          if (it == segments.end()) {
            fail(i, "free of a freed segment");
            break;
          }
          reserved -= it->second;
          segments.erase(it);
          break;
        }
        case trace::EventKind::kMarker: {
          const std::string_view name = trace.String(events.name[i]);
          if (name == trace::kMarkerTrainingBegin) {
            training = true;
            before_allocated = allocated;
            before = categories;
          } else if (name == trace::kMarkerTrainingEnd) {
            training = false;
            after_allocated = allocated;
            after = categories;
          }
          break;
        }
        default:
          break;
      }
      uint64_t sum = 0;
      for (uint64_t bytes : categories) sum += bytes;
      if (sum != allocated) fail(i, "categories do not sum to allocated");
      // Segments must be allocated before their first block and freed after their last block.
      if (reserved < allocated) fail(i, "reserved below allocated");
      peak_requested = std::max(peak_requested, requested);
      peak_allocated = std::max(peak_allocated, allocated);
      peak_reserved = std::max(peak_reserved, reserved);
      if (training) {
        unknown_after_setup = std::max(unknown_after_setup,
                                       categories[static_cast<size_t>(trace::Category::kUnknown)]);
      }
    }
    if (error.empty() && (allocated != 0 || !live.empty())) {
      error = std::to_string(live.size()) + " allocations are live at the end";
    }
  }

  static uint64_t Address(const trace::Trace& trace, uint64_t id) {
    return trace.allocations.address[id];
  }

 private:
  template <class Fail>
  static void CheckBlock(const std::map<uint64_t, uint64_t>& blocks,
                         const std::map<uint64_t, uint64_t>& segments, uint64_t address,
                         uint64_t size, uint32_t i, const Fail& fail) {
    auto next = blocks.lower_bound(address);
    if (next != blocks.end() && next->first < address + size) fail(i, "addresses overlap");
    if (next != blocks.begin()) {
      --next;
      if (next->first + next->second > address) fail(i, "addresses overlap");
    }
    auto segment = segments.upper_bound(address);
    if (segment == segments.begin()) {
      fail(i, "allocation outside of any segment");
      return;
    }
    --segment;
    if (address + size > segment->first + segment->second) {
      fail(i, "allocation reaches beyond its segment");
    }
  }
};

}  // namespace vramscope::trainer
