#include "profiler/program/operand_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vramscope::program {
namespace {

using recording::Action;
using ::testing::ElementsAre;
using trace::Activity;
using trace::ActivityKind;

void Add(recording::Recording& r, Action action, uint8_t device, uint64_t address, uint64_t bytes,
         int64_t time = 0) {
  recording::EntryTable& e = r.entries;
  e.action.push_back(action);
  e.device.push_back(device);
  e.address.push_back(address);
  e.bytes.push_back(bytes);
  e.stream.push_back(0);
  e.stack.push_back({});
  e.time_ns.push_back(time);
}

Activity Operand(uint8_t device, uint64_t address, uint64_t operation_count) {
  return {.kind = ActivityKind::kOperand,
          .device = device,
          .address = address,
          .bytes = operation_count};
}

// On two devices, blocks use the same addresses one after the other. The test knows which block is
// at an address after a number of allocations and frees.
TEST(OperandBlocks, FindsBlockLiveAfterGivenNumberOfOperations) {
  constexpr uint64_t kBase = 0x7f0000000000, kSegment = uint64_t{20} << 20, kPlace = 1u << 20;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    recording::Recording r;
    r.has_segments = true;
    for (const uint8_t device : {0, 1}) {
      Add(r, Action::kSegmentAlloc, device, kBase, kSegment);
      recording::SegmentState segment{.address = kBase, .bytes = kSegment, .device = device};
      r.segments.push_back(segment);
    }
    struct Block {
      uint8_t device;
      uint64_t address, bytes;
      // The block lives between these operations: allocations and frees are counted.
      uint64_t from, until;
    };
    std::vector<Block> blocks;
    std::map<std::pair<uint8_t, uint64_t>, size_t> live;
    uint64_t operation_count[2] = {};
    for (int i = 0; i < 400; ++i) {
      const auto device = static_cast<uint8_t>(below(2));
      const uint64_t address = kBase + 2 * kPlace * below(8);
      const auto at = live.find({device, address});
      ++operation_count[device];
      if (at == live.end()) {
        const uint64_t bytes = kPlace + 512 * (1 + below(2000));
        Add(r, Action::kAlloc, device, address, bytes);
        live[{device, address}] = blocks.size();
        blocks.push_back({device, address, bytes, operation_count[device], UINT64_MAX});
      } else {
        Add(r, Action::kFreeRequested, device, address, blocks[at->second].bytes);
        Add(r, Action::kFreeCompleted, device, address, blocks[at->second].bytes);
        blocks[at->second].until = operation_count[device];
        live.erase(at);
      }
    }
    for (recording::SegmentState& segment : r.segments)
      for (const auto& [key, block] : live)
        if (key.first == segment.device)
          segment.blocks.push_back({.address = key.second,
                                    .bytes = (blocks[block].bytes + 511) / 512 * 512,
                                    .requested = blocks[block].bytes,
                                    .use = recording::BlockUse::kAllocated});
    const absl::StatusOr<recording::History> history = recording::Reconstruct(r);
    ASSERT_TRUE(history.ok()) << history.status();
    ASSERT_EQ(history->older, 0u);
    ASSERT_EQ(history->allocations.size(), blocks.size());
    std::vector<Activity> rows;
    std::vector<uint32_t> expected;
    for (int i = 0; i < 2000; ++i) {
      if (below(3) == 0) rows.push_back({.kind = ActivityKind::kKernel});
      const auto device = static_cast<uint8_t>(below(3));
      const uint64_t at = kBase + below(2 * 8 * kPlace);
      const uint64_t count = below(operation_count[device % 2] + 3);
      rows.push_back(Operand(device, at, count));
      uint32_t found = kNoBlock;
      for (uint32_t b = 0; b < blocks.size(); ++b)
        if (blocks[b].device == device && at - blocks[b].address < blocks[b].bytes &&
            count <= operation_count[device % 2] && blocks[b].from <= count &&
            count < blocks[b].until)
          found = b;
      expected.push_back(found);
    }
    const std::vector<uint32_t> have = BlocksOfOperands(rows, r, *history, false, 0);
    ASSERT_EQ(have.size(), expected.size());
    // Blocks are also found for bytes that rounding added. No program has pointers to these.
    for (size_t i = 0, row = 0; i < have.size(); ++i, ++row) {
      while (rows[row].kind != ActivityKind::kOperand) ++row;
      if (expected[i] == kNoBlock && have[i] != kNoBlock) {
        EXPECT_GE(rows[row].address - blocks[have[i]].address, blocks[have[i]].bytes);
        continue;
      }
      ASSERT_EQ(have[i], expected[i]) << "seed " << seed << ", operand " << i;
    }
    EXPECT_GT(std::count_if(have.begin(), have.end(), [](uint32_t b) { return b != kNoBlock; }),
              400);
  }
}

// Without a caching allocator, blocks are allocations of the driver. The order of the rows in the
// file shows which allocation contains an operand.
TEST(OperandBlocks, FindsDriverAllocationByOrderInTheFile) {
  recording::Recording r;
  r.has_segments = true;
  const auto allocate = [&](int64_t time) {
    Add(r, Action::kSegmentAlloc, 0, 0x7000000, 1 << 20, time);
    Add(r, Action::kAlloc, 0, 0x7000000, 1 << 20, time);
  };
  allocate(100);
  Add(r, Action::kFreeRequested, 0, 0x7000000, 1 << 20, 200);
  Add(r, Action::kFreeCompleted, 0, 0x7000000, 1 << 20, 200);
  Add(r, Action::kSegmentFree, 0, 0x7000000, 1 << 20, 200);
  allocate(300);
  r.segments.push_back({.address = 0x7000000, .bytes = 1 << 20});
  r.segments.back().blocks.push_back({.address = 0x7000000,
                                      .bytes = 1 << 20,
                                      .requested = 1 << 20,
                                      .use = recording::BlockUse::kAllocated});
  const absl::StatusOr<recording::History> history = recording::Reconstruct(r);
  ASSERT_TRUE(history.ok()) << history.status();
  const auto driver = [](ActivityKind kind, int64_t time) {
    return Activity{.kind = kind, .address = 0x7000000, .begin_ns = 1000 + time};
  };
  const std::vector<Activity> rows = {Operand(0, 0x7000010, 0),
                                      driver(ActivityKind::kDriverAlloc, 100),
                                      Operand(0, 0x7000010, 0),
                                      Operand(0, 0x7100000, 0),
                                      driver(ActivityKind::kDriverFree, 200),
                                      Operand(0, 0x7000010, 0),
                                      driver(ActivityKind::kDriverAlloc, 300),
                                      Operand(0, 0x7000010, 0)};
  EXPECT_THAT(BlocksOfOperands(rows, r, *history, true, 1000),
              ElementsAre(kNoBlock, 0, kNoBlock, kNoBlock, 1));
}

}  // namespace
}  // namespace vramscope::program
