// Compares operand links with the known operands of a made-up run. In this run, blocks reuse
// addresses, kernels begin after the block that they use was freed, and graphs keep using the
// addresses of freed blocks.
#include "profiler/query/operand_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "profiler/query/activity_index.h"

namespace vramscope::query {
namespace {

using ::testing::IsEmpty;
using trace::Activity;
using trace::ActivityKind;
using trace::Event;
using trace::EventKind;
using trace::MemorySpace;

struct Use {
  bool read = false, written = false;
};

// A run's trace, and the true operands.
struct Played {
  std::shared_ptr<const trace::Trace> trace;
  // For each kernel (correlation, begin), the allocations that it was given and how it uses them.
  std::map<std::pair<uint64_t, int64_t>, std::map<uint32_t, Use>> given;
};

class Player {
 public:
  explicit Player(uint64_t seed) : random_(seed) {}

  Played Play() {
    std::vector<std::pair<uint64_t, std::vector<Given>>> graphs;
    for (int i = 0; i < 3000; ++i) {
      switch (Below(8)) {
        case 0:
        case 1:
          Alloc();
          break;
        case 2:
          if (!live_.empty()) Free(Below(live_.size()));
          break;
        case 3:  // a block that is freed at the time of its allocation, and another block after it
          if (const size_t made = Alloc(); made < live_.size()) {
            Free(made);
            Alloc();
          }
          break;
        case 4:
          graphs.push_back({++correlation_, Pick()});
          ++now_;  // a capture also takes host time
          break;
        case 5:
          if (!graphs.empty()) {
            const auto& graph = graphs[Below(graphs.size())];
            ++correlation_;
            for (int node = 0; node < 3; ++node) Launch(graph.second);
          }
          break;
        default:
          ++correlation_;
          Launch(Pick());
      }
    }
    std::shuffle(rows_.begin(), rows_.end(), random_);
    trace::TraceBuilder builder;
    EXPECT_TRUE(builder.AddEvents(events_).ok());
    EXPECT_TRUE(builder.AddActivities(rows_).ok());
    return {builder.Finish(true, ""), std::move(given_)};
  }

 private:
  static constexpr uint64_t kPlace = 4096;
  struct Block {
    uint32_t id;
    uint8_t device;
    uint64_t address, bytes;
    int64_t made;
  };
  struct Given {
    Block block;
    uint64_t address;
    Use use;
  };
  uint64_t Below(uint64_t n) { return random_() % n; }

  // Allocates a block. Returns its index in live_, or SIZE_MAX if the drawn address is in use.
  size_t Alloc() {
    const auto device = static_cast<uint8_t>(Below(2));
    const uint64_t address = 0x7f0000000000 + Below(12) * kPlace;
    for (const Block& block : live_)
      if (block.device == device && block.address == address) return SIZE_MAX;
    const Block block{next_++, device, address, 512 * (1 + Below(kPlace / 512)), now_};
    Event e{.kind = EventKind::kAlloc, .time_ns = now_};
    e.id = block.id;
    e.device = device;
    e.address = address;
    e.bytes = e.bytes_rounded = block.bytes;
    events_.push_back(e);
    live_.push_back(block);
    return live_.size() - 1;
  }
  void Free(size_t at) {
    for (const EventKind kind : {EventKind::kFreeRequested, EventKind::kFreeCompleted}) {
      Event e{.kind = kind, .time_ns = now_};
      e.id = live_[at].id;
      events_.push_back(e);
    }
    live_.erase(live_.begin() + static_cast<ptrdiff_t>(at));
  }
  std::vector<Given> Pick() {
    std::vector<Given> some;
    for (uint64_t n = live_.empty() ? 0 : Below(5); n > 0; --n) {
      const Block& block = live_[Below(live_.size())];
      some.push_back({block,
                      block.address + Below(block.bytes),
                      {.read = Below(2) == 0, .written = Below(2) == 0}});
    }
    return some;
  }
  void Launch(const std::vector<Given>& given) {
    now_ += 5;
    busy_ = std::max(busy_, now_) + static_cast<int64_t>(Below(40));
    Activity kernel{.kind = Below(4) == 0 ? ActivityKind::kMemcpy : ActivityKind::kKernel,
                    .device = 1,
                    .stream = static_cast<uint32_t>(Below(2)),
                    .correlation = correlation_,
                    .begin_ns = busy_,
                    .end_ns = busy_ + 7};
    busy_ += 7;
    rows_.push_back(kernel);
    auto& true_uses = given_[{kernel.correlation, kernel.begin_ns}];
    for (const Given& g : given) {
      if (g.block.device != kernel.device) continue;
      Activity operand = kernel;
      operand.kind = ActivityKind::kOperand;
      operand.end_ns = operand.begin_ns;
      operand.address = g.address;
      operand.bytes = static_cast<uint64_t>(g.block.made);
      operand.from = g.use.read ? MemorySpace::kDevice : MemorySpace::kUnknown;
      operand.to = g.use.written ? MemorySpace::kDevice : MemorySpace::kUnknown;
      rows_.push_back(operand);
      Use& use = true_uses[g.block.id];
      use.read |= g.use.read;
      use.written |= g.use.written;
    }
  }

  std::mt19937_64 random_;
  int64_t now_ = 1, busy_ = 0;
  uint64_t correlation_ = 0;
  uint32_t next_ = 0;
  std::vector<Block> live_;
  std::vector<Event> events_;
  std::vector<Activity> rows_;
  std::map<std::pair<uint64_t, int64_t>, std::map<uint32_t, Use>> given_;
};

TEST(OperandLinks, FindBlocksOfKernelsAndKernelsOfBlocks) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Played run = Player(seed).Play();
    const trace::ActivityTable& a = run.trace->activities;
    ASSERT_GT(run.trace->operands.size(), 500u);
    for (const trace::ActivityKind kind : a.kind) ASSERT_NE(kind, ActivityKind::kOperand);
    const OperandLinks links(*run.trace);
    ASSERT_TRUE(links.any());
    std::map<uint32_t, OperandLinks::Touches> expected;
    std::map<uint32_t, std::vector<uint32_t>> kernels;
    const auto take = [](OperandLinks::Ends& ends, uint32_t row) {
      ends = {std::min(ends.first, row),
              ends.last == OperandLinks::kNone ? row : std::max(ends.last, row)};
    };
    for (uint32_t row = 0; row < a.size(); ++row) {
      const auto& true_uses = run.given.at({a.correlation[row], a.begin_ns[row]});
      std::map<uint32_t, Use> have;
      uint64_t before = 0;
      for (const auto& block : links.BlocksOf(row, 100)) {
        have[block.allocation.value] = {block.read, block.written};
        const uint64_t address = run.trace->allocations.address[block.allocation.value];
        EXPECT_GE(address, before);
        before = address;
      }
      ASSERT_EQ(have.size(), true_uses.size()) << "seed " << seed << ", row " << row;
      for (const auto& [id, use] : true_uses) {
        ASSERT_TRUE(have.contains(id)) << "seed " << seed << ", row " << row;
        EXPECT_EQ(have[id].read, use.read);
        EXPECT_EQ(have[id].written, use.written);
        OperandLinks::Touches& of = expected[id];
        ++of.count;
        take(of.all, row);
        if (use.read) take(of.reads, row);
        if (use.written) take(of.writes, row);
        kernels[id].push_back(row);
      }
      EXPECT_LE(links.BlocksOf(row, 1).size(), 1u);
    }
    for (uint32_t id = 0; id < run.trace->allocations.size(); ++id) {
      ASSERT_EQ(links.TouchesOf({id}), expected[id]) << "seed " << seed << ", allocation " << id;
      ASSERT_EQ(links.TouchedBy({id}, 1000), kernels[id]);
      ASSERT_LE(links.TouchedBy({id}, 2).size(), 2u);
    }
    EXPECT_GT(links.MemoryBytes(), 0u);
  }
}

TEST(OperandLinks, AreEmptyWithoutOperands) {
  auto t = std::make_shared<trace::Trace>();
  t->activities.Append({.begin_ns = 1, .end_ns = 2});
  const ActivityIndex index(t);
  EXPECT_FALSE(index.operands().any());
  EXPECT_THAT(index.operands().BlocksOf(0, 10), IsEmpty());
}

// In a file, operands may have any values, so some match no block.
TEST(OperandLinks, IgnoreOperandsThatMatchNoBlock) {
  auto t = std::make_shared<trace::Trace>();
  t->activities.Append({.correlation = 1, .begin_ns = 1, .end_ns = 2});
  t->activities.Append({.kind = ActivityKind::kRuntimeCall, .correlation = 1, .begin_ns = 1});
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX, uint64_t{INT64_MAX}})
    t->operands.Append({.kind = ActivityKind::kOperand,
                        .correlation = 1,
                        .address = bytes,
                        .bytes = bytes,
                        .begin_ns = 1,
                        .end_ns = 1});
  const ActivityIndex index(t);
  EXPECT_TRUE(index.operands().any());
  EXPECT_THAT(index.operands().BlocksOf(0, 10), IsEmpty());
  EXPECT_THAT(index.operands().BlocksOf(1, 10), IsEmpty());
}

TEST(OperandLinks, UseTextNamesReadAndWrite) {
  EXPECT_EQ(UseText(false, false), "touched");
  EXPECT_EQ(UseText(true, false), "read");
  EXPECT_EQ(UseText(false, true), "written");
  EXPECT_EQ(UseText(true, true), "read and written");
}

}  // namespace
}  // namespace vramscope::query
