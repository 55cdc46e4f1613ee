// Compares reconstructions with the truth: the recordings are made by a simulated allocator, whose
// blocks are all known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "profiler/recording/recording.h"
#include "profiler/trace/builder_sink.h"
#include "tests/profiler/recording/hand_made.h"
#include "tests/profiler/recording/simulated_device.h"

namespace vramscope::recording {
namespace {

struct Case {
  const char* name;
  run::AllocConf conf;
  int devices;
};

std::vector<Case> Cases() {
  run::AllocConf plain, split, rounded, expandable;
  split.max_split_size = uint64_t{24} << 20;
  rounded.roundup_power2_divisions.fill(4);
  expandable.expandable_segments = true;
  return {{"Plain", plain, 1},           {"TwoDevices", plain, 2},
          {"MaxSplit", split, 1},        {"RoundUp", rounded, 1},
          {"Expandable", expandable, 1}, {"ExpandableTwoDevices", expandable, 2}};
}

using Piece = std::tuple<int, uint64_t, uint64_t, uint64_t, int>;  // device, address, bytes, ...

// Returns live blocks as (device, address, bytes, requested, pending).
std::vector<Piece> LiveOf(const std::vector<SegmentState>& segments) {
  std::vector<Piece> out;
  for (const SegmentState& s : segments)
    for (const BlockState& b : s.blocks)
      if (b.use != BlockUse::kInactive)
        out.emplace_back(s.device, b.address, b.bytes, b.requested,
                         b.use == BlockUse::kPendingFree);
  std::sort(out.begin(), out.end());
  return out;
}

// Returns memory as (device, begin, end). Joins adjacent ranges of the same kind.
std::vector<Piece> MemoryOf(const std::vector<SegmentState>& segments) {
  std::vector<Piece> out;
  for (const SegmentState& s : segments) {
    if (!s.expandable) {
      out.emplace_back(s.device, s.address, s.address + s.bytes, s.stream,
                       static_cast<int>(s.pool));
      continue;
    }
    for (const BlockState& b : s.blocks) {
      if (!out.empty() && std::get<0>(out.back()) == s.device &&
          std::get<2>(out.back()) == b.address)
        std::get<2>(out.back()) = b.address + b.bytes;
      else
        out.emplace_back(s.device, b.address, b.address + b.bytes, s.stream,
                         static_cast<int>(s.pool));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The state after the events of a trace.
struct EndState {
  std::vector<Piece> live, memory;
};
EndState EndOf(const trace::Trace& t) {
  EndState out;
  for (uint32_t a = 0; a < t.allocations.size(); ++a) {
    if (t.allocations.free_event[a] != trace::kNoEvent) continue;
    out.live.emplace_back(t.allocations.device[a], t.allocations.address[a],
                          t.allocations.bytes_rounded[a], t.allocations.bytes[a],
                          t.allocations.free_requested_event[a] != trace::kNoEvent);
  }
  std::sort(out.live.begin(), out.live.end());
  for (uint32_t s = 0; s < t.segments.size(); ++s) {
    const uint64_t begin = t.segments.address[s];
    if (!t.segments.expandable[s] && t.segments.free_event[s] == trace::kNoEvent)
      out.memory.emplace_back(t.segments.device[s], begin, begin + t.segments.bytes[s],
                              t.segments.stream[s], static_cast<int>(t.segments.pool[s]));
  }
  std::map<std::pair<int, uint64_t>, Piece> mapped;  // keyed by page of 2 MiB
  constexpr uint64_t kPage = uint64_t{2} << 20;
  for (uint32_t row = 0; row < t.other_events.size(); ++row) {
    const trace::EventIndex e = t.other_events.event[row];
    const trace::EventKind kind = t.events.kind[e];
    if (kind != trace::EventKind::kSegmentMap && kind != trace::EventKind::kSegmentUnmap) continue;
    const int device = t.other_events.device[row];
    const uint64_t begin = t.other_events.address[row], end = begin + t.events.bytes[e];
    for (uint64_t page = begin; page < end; page += kPage) {
      if (kind == trace::EventKind::kSegmentMap) {
        EXPECT_TRUE(mapped
                        .emplace(std::pair(device, page),
                                 Piece(device, page, page + kPage, t.other_events.stream[row],
                                       static_cast<int>(t.other_events.pool[row])))
                        .second);
      } else {
        EXPECT_EQ(mapped.erase({device, page}), 1u);
      }
    }
  }
  for (const auto& [key, piece] : mapped) {
    if (!out.memory.empty() && std::get<0>(out.memory.back()) == std::get<0>(piece) &&
        std::get<2>(out.memory.back()) == std::get<1>(piece))
      std::get<2>(out.memory.back()) = std::get<2>(piece);
    else
      out.memory.push_back(piece);
  }
  std::sort(out.memory.begin(), out.memory.end());
  return out;
}

void Check(const Simulated& s, bool began_late) {
  const Recording& r = s.recording;
  const EntryTable& e = r.entries;
  const absl::StatusOr<History> h = Reconstruct(r);
  ASSERT_TRUE(h.ok()) << h.status();
  EXPECT_TRUE(h->warnings.empty()) << h->warnings.front();
  EXPECT_TRUE(h->left_out.empty());
  EXPECT_TRUE(h->displaced.empty());
  const History::Allocations& a = h->allocations;

  // All older blocks must be found, and their sizes must be right if they can be known.
  ASSERT_EQ(h->older, s.older.size());
  EXPECT_EQ(h->older > 0, began_late);
  uint32_t unknown = 0;
  for (uint32_t row = 0; row < h->older; ++row) {
    const auto& [device, block] = s.older[row];
    EXPECT_EQ(a.device[row], device);
    EXPECT_EQ(a.address[row], block.address);
    EXPECT_EQ(a.requested[row], block.requested);
    unknown += !a.bytes_known[row];
    if (a.bytes_known[row]) {
      EXPECT_EQ(a.bytes[row], block.bytes) << "older block " << row;
    }
  }
  EXPECT_LE(unknown, h->older / 2);
  if (unknown == 0) {
    EXPECT_EQ(LiveOf(h->start_segments), LiveOf(s.start));
  }
  EXPECT_EQ(MemoryOf(h->start_segments), MemoryOf(s.start));

  // Compares every allocation, and which free belongs to it.
  ASSERT_EQ(a.size() - h->older, s.handed_out.size());
  for (uint32_t row = h->older; row < a.size(); ++row) {
    EXPECT_TRUE(a.bytes_known[row]);
    EXPECT_EQ(a.bytes[row], s.handed_out[row - h->older]) << "entry " << a.alloc[row];
    EXPECT_EQ(a.requested[row], e.bytes[a.alloc[row]]);
  }
  std::map<std::pair<int, uint64_t>, uint32_t> live;
  for (uint32_t row = 0; row < h->older; ++row) live[{a.device[row], a.address[row]}] = row;
  uint32_t next = h->older;
  for (EntryIndex i = 0; i < e.size(); ++i) {
    const std::pair<int, uint64_t> key(e.DeviceOf(i), e.address[i]);
    const uint32_t row = h->allocation_of_entry[i];
    if (e.action[i] == Action::kAlloc) {
      EXPECT_EQ(a.alloc[row], i);
      EXPECT_EQ(row, next++);
      EXPECT_TRUE(live.emplace(key, row).second);
    } else if (e.action[i] == Action::kFreeRequested) {
      EXPECT_EQ(row, live.at(key));
      EXPECT_EQ(a.free_requested[row], i);
    } else if (e.action[i] == Action::kFreeCompleted) {
      EXPECT_EQ(row, live.at(key));
      EXPECT_EQ(a.free_completed[row], i);
      live.erase(key);
    } else {
      EXPECT_EQ(row, UINT32_MAX);
    }
  }

  // After all events, the state must be that of the file.
  trace::BuilderSink sink;
  Emit(r, *h, NoLabels(*h), sink);
  ASSERT_TRUE(sink.status().ok()) << sink.status();
  const auto t = sink.Trace();
  ASSERT_NE(t->recording_begin, trace::kNoEvent);
  EXPECT_EQ(t->events.size() - t->recording_begin - 1, e.size());
  EndState end = EndOf(*t);
  std::vector<Piece> live_at_end = LiveOf(r.segments);
  EXPECT_EQ(end.live, live_at_end);
  EXPECT_EQ(end.memory, MemoryOf(r.segments));
}

class ReconstructProperty : public testing::TestWithParam<Case> {};

TEST_P(ReconstructProperty, FindsEveryBlockOfWholeRecording) {
  for (uint32_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Check(Simulate(GetParam().conf, seed, GetParam().devices, 1500, 0), false);
  }
}

TEST_P(ReconstructProperty, FindsStartStateOfLateRecording) {
  for (uint32_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Check(Simulate(GetParam().conf, seed, GetParam().devices, 800, 1000), true);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReconstructProperty, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// The recordings have errors that no allocator makes: lost entries, changed values, invented
// blocks. Still, each entry must become an event (except entries without their free), and the trace
// must be valid.
TEST(ReconstructDamaged, EveryEntryBecomesAnEvent) {
  for (uint32_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 rng(seed);
    const std::vector<Case> cases = Cases();
    const Case& c = cases[rng() % cases.size()];
    Recording r = Simulate(c.conf, seed, c.devices, 400, rng() % 2 * 300).recording;
    EntryTable& e = r.entries;
    EntryTable damaged;
    for (EntryIndex i = 0; i < e.size(); ++i) {
      const uint64_t dice = rng() % 100;
      if (dice < 5) continue;
      damaged.action.push_back(dice < 8 ? static_cast<Action>(rng() % 10) : e.action[i]);
      damaged.address.push_back(dice == 9    ? rng()
                                : dice == 10 ? e.address[rng() % e.size()]
                                             : e.address[i]);
      damaged.bytes.push_back(dice == 11 ? rng() >> (rng() % 64) : e.bytes[i]);
      damaged.time_ns.push_back(e.time_ns[i]);
      damaged.stack.push_back({});
      damaged.stream.push_back(e.stream[i]);
      damaged.device.push_back(dice == 12 ? static_cast<uint8_t>(rng()) : e.device[i]);
    }
    e = damaged;
    for (SegmentState& s : r.segments) {
      if (rng() % 20 == 0) s.address = rng();
      if (rng() % 20 == 0) s.bytes = rng() >> (rng() % 64);
      if (rng() % 20 == 0) s.expandable = !s.expandable;
      for (BlockState& b : s.blocks) {
        if (rng() % 50 == 0) b.address += rng() % 4096;
        if (rng() % 50 == 0) b.bytes = rng() >> (rng() % 64);
        if (rng() % 50 == 0) b.use = static_cast<BlockUse>(rng() % 3);
      }
    }
    if (rng() % 5 == 0) r.has_segments = false;
    if (rng() % 5 == 0) r.segments.clear();
    const absl::StatusOr<History> h = Reconstruct(r);
    ASSERT_TRUE(h.ok()) << h.status();
    trace::BuilderSink sink;
    Emit(r, *h, NoLabels(*h), sink);
    ASSERT_TRUE(sink.status().ok()) << sink.status();
    const auto t = sink.Trace();
    EXPECT_EQ(t->events.size() - t->recording_begin - 1, e.size() + h->displaced.size());
  }
}

}  // namespace
}  // namespace vramscope::recording
