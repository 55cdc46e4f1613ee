// Compares OfDevice() with a trace that is built only from the events of that device.
#include "profiler/trace/one_device.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

// Returns the events of one device, with the ids that a recording of only this device would have.
testing::Stream Only(const testing::Stream& whole, uint8_t device) {
  testing::Stream out = whole;
  out.events.clear();
  std::map<uint64_t, uint64_t> blocks, segments;  // ids of the whole to ids of the slice
  for (Event e : whole.events) {
    switch (e.kind) {
      case EventKind::kAlloc:
      case EventKind::kSegmentAlloc: {
        if (e.device != device) continue;
        auto& ids = e.kind == EventKind::kAlloc ? blocks : segments;
        const uint64_t id = ids.size();
        ids[e.id] = id;
        e.id = id;
        break;
      }
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
      case EventKind::kRetag:
        if (!blocks.contains(e.id)) continue;
        e.id = blocks[e.id];
        break;
      case EventKind::kSegmentFree:
        if (!segments.contains(e.id)) continue;
        e.id = segments[e.id];
        break;
      case EventKind::kSegmentMap:
      case EventKind::kSegmentUnmap:
        if (e.device != device) continue;
        if (segments.contains(e.id)) e.id = segments[e.id];
        break;
      case EventKind::kOutOfMemory:
      case EventKind::kDeviceUsage:
        if (e.device != device) continue;
        break;
      default:
        break;
    }
    out.events.push_back(e);
  }
  std::erase_if(out.activities,
                [&](const Activity& a) { return HasDevice(a.kind) && a.device != device; });
  return out;
}

TEST(OneDevice, EqualsRecordingOfThatDeviceAlone) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    testing::Stream stream = testing::RandomStream(seed, 3000);
    // Distributes the events over two devices, by the ids of allocations and segments.
    for (Event& e : stream.events) {
      const bool by_id = e.kind == EventKind::kAlloc || e.kind == EventKind::kSegmentAlloc ||
                         e.kind == EventKind::kSegmentMap || e.kind == EventKind::kSegmentUnmap;
      e.device = static_cast<uint8_t>(by_id ? e.id % 3 == 0 : e.bytes % 2);
    }
    const std::shared_ptr<const Trace> whole = testing::Build(stream);
    for (const uint8_t device : {0, 1}) {
      const std::shared_ptr<const Trace> one = OfDevice(whole, device);
      auto expected = std::make_shared<Trace>(*testing::Build(Only(stream, device)));
      // What is open at the end lasts until the end of the whole trace.
      AllocationTable& blocks = expected->allocations;
      for (uint32_t row = 0; row < blocks.size(); ++row)
        if (blocks.free_event[row] == kNoEvent) blocks.end_ns.Set(row, whole->end_ns());
      SliceTable& slices = expected->slices;
      for (uint32_t row = 0; row < slices.size(); ++row)
        if (slices.end_event[row] == kNoEvent) slices.end_ns.Set(row, whole->end_ns());
      EXPECT_EQ(testing::Difference(*one, *expected), "")
          << "seed " << seed << ", cuda:" << +device;
      EXPECT_LT(one->events.size(), whole->events.size());
    }
  }
}

TEST(OneDevice, MissingDeviceHasNoMemory) {
  const std::shared_ptr<const Trace> whole = testing::Build(testing::TrainingStream({.steps = 1}));
  const std::shared_ptr<const Trace> none = OfDevice(whole, 7);
  EXPECT_EQ(none->allocations.size(), 0u);
  EXPECT_EQ(none->segments.size(), 0u);
  EXPECT_EQ(none->slices.size(), whole->slices.size());
  // If all events are on one device, OfDevice() must return the whole trace.
  EXPECT_EQ(OfDevice(whole, 0), whole);
  EXPECT_EQ(OnlyDevice(*whole), 0);
  EXPECT_EQ(OnlyDevice(Trace()), 0);
}

}  // namespace
}  // namespace vramscope::trace
