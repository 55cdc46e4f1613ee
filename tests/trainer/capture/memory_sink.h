// An EventSink that stores all events and strings, and can look up the strings.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profiler/trace/activities.h"
#include "profiler/trace/event_sink.h"

namespace vramscope::trainer {

class MemorySink final : public trace::EventSink {
 public:
  void Begin(const trace::TraceInfo&) override {}
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    EXPECT_EQ(first_id, strings.size());
    strings.insert(strings.end(), values.begin(), values.end());
  }
  void Events(std::span<const trace::Event> batch) override {
    for (const trace::Event& event : batch) {
      EXPECT_LT(event.name.value, strings.size()) << "string used before it was defined";
      EXPECT_LT(event.module.value, strings.size());
      if (!events.empty()) {
        EXPECT_GE(event.time_ns, events.back().time_ns);
      }
      events.push_back(event);
    }
  }
  void Activities(std::span<const trace::Activity> batch) override {
    for (const trace::Activity& activity : batch) {
      EXPECT_TRUE(trace::CheckActivity(activity, strings.size()).ok());
      activities.push_back(activity);
    }
  }
  void End(bool, std::string_view) override {}

  const std::string& Text(trace::StringId id) const { return strings[id.value]; }
  size_t Count(trace::EventKind kind) const {
    size_t n = 0;
    for (const trace::Event& event : events) n += event.kind == kind;
    return n;
  }

  std::vector<std::string> strings = {""};
  std::vector<trace::Event> events;
  std::vector<trace::Activity> activities;
};

// Computes the requested bytes of each category from the events, and checks that all ids are valid.
struct Replay {
  std::map<uint64_t, trace::Event> live;  // keyed by allocation
  std::map<uint64_t, uint64_t> segments;  // keyed by segment
  std::map<trace::Category, uint64_t> by_category;
  uint64_t requested = 0, allocated = 0, reserved = 0;
  uint64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;

  void Apply(const trace::Event& e) {
    switch (e.kind) {
      case trace::EventKind::kAlloc: {
        EXPECT_TRUE(live.emplace(e.id, e).second);
        requested += e.bytes;
        allocated += e.bytes_rounded;
        by_category[e.category] += e.bytes_rounded;
        break;
      }
      case trace::EventKind::kRetag: {
        auto it = live.find(e.id);
        ASSERT_NE(it, live.end());
        EXPECT_NE(it->second.category, e.category);
        by_category[it->second.category] -= it->second.bytes_rounded;
        it->second.category = e.category;
        by_category[e.category] += it->second.bytes_rounded;
        break;
      }
      case trace::EventKind::kFreeRequested:
        EXPECT_TRUE(live.count(e.id));
        break;
      case trace::EventKind::kFreeCompleted: {
        auto it = live.find(e.id);
        ASSERT_NE(it, live.end());
        requested -= it->second.bytes;
        allocated -= it->second.bytes_rounded;
        by_category[it->second.category] -= it->second.bytes_rounded;
        live.erase(it);
        break;
      }
      case trace::EventKind::kSegmentAlloc:
        EXPECT_TRUE(segments.emplace(e.id, e.bytes).second);
        reserved += e.bytes;
        break;
      case trace::EventKind::kSegmentFree: {
        auto it = segments.find(e.id);
        ASSERT_NE(it, segments.end());
        reserved -= it->second;
        segments.erase(it);
        break;
      }
      default:
        break;
    }
    EXPECT_LE(allocated, reserved == 0 ? allocated : reserved);
    uint64_t sum = 0;
    for (const auto& [category, bytes] : by_category) sum += bytes;
    EXPECT_EQ(sum, allocated);
    peak_requested = std::max(peak_requested, requested);
    peak_allocated = std::max(peak_allocated, allocated);
    peak_reserved = std::max(peak_reserved, reserved);
  }
  void ApplyAll(const MemorySink& sink) {
    for (const trace::Event& event : sink.events) Apply(event);
  }
};

}  // namespace vramscope::trainer
