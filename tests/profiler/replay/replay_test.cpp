#include "profiler/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/replay/exact.h"
#include "profiler/replay/recorded_state.h"
#include "recorded_run.h"

namespace vramscope::replay {
namespace {

using ::testing::HasSubstr;
using trace::EventKind;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

void ExpectExact(const trace::Trace& t, const char* of) {
  const absl::StatusOr<Replayed> r = Replay(t, {});
  ASSERT_TRUE(r.ok()) << of << ": " << r.status();
  if (r->first_difference.has_value()) {
    ADD_FAILURE() << of << ": event " << r->first_difference->event << ": "
                  << r->first_difference->what << ": " << r->first_difference->cause;
  }
  EXPECT_EQ(r->differences, 0) << of;
  EXPECT_EQ(r->addresses_equal, r->addresses_total) << of;
  EXPECT_EQ(r->segment_allocs_equal, r->segment_allocs_total) << of;
  EXPECT_EQ(r->segment_frees_equal, r->segment_frees_total) << of;
  EXPECT_TRUE(r->end_state_equal) << of;
  EXPECT_NE(r->start_states_consistent, 0) << of;
  EXPECT_GT(r->addresses_total, 0) << of;
}

constexpr const char* kConfs[] = {
    "",
    "max_split_size_mb:20",
    "roundup_power2_divisions:[1:4,4:8,>:2]",
    "large_segment_size_mb:48",
    "expandable_segments:True",
    "expandable_segments:True,large_segment_size_mb:12,roundup_power2_divisions:4",
};

// Events show which addresses were mapped. The last free block of a segment is chosen last, because
// it can grow.
TEST(Replay, ReproducesRecordedExpandableSegments) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const RecordedRun run =
        RunProgram(MakeProgram({.seed = seed}), {.conf = "expandable_segments:True"});
    trace::Trace recorded = *run.trace;
    recorded.info.backend = trace::Backend::kCuda;
    ExpectExact(recorded, "recorded here");
    recorded.info.device.memory_bytes = 8 * kGiB;
    ExpectExact(recorded, "of a device that is stated");
  }
}

// Replays runs with and without a limit, recorded from the first allocation on or from the middle.
TEST(Replay, ReproducesRecordingsUnderAllSettings) {
  for (const char* conf : kConfs) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(std::string(conf) + " seed " + std::to_string(seed));
      const std::vector<Action> program = MakeProgram({.seed = seed});
      for (uint64_t limit : {uint64_t{0}, kGiB / 2}) {
        const int middle = static_cast<int>(program.size() / 2);
        for (int first : {0, middle}) {
          const RecordedRun run = RunProgram(
              program, {.conf = conf, .device_memory_bytes = limit, .first_action = first});
          if (limit != 0) {
            EXPECT_GT(run.stats.retries, 0);
          }
          ExpectExact(*run.trace, first == 0 ? "whole" : "from the middle");
        }
      }
    }
  }
}

TEST(Replay, ReproducesPlans) {
  for (const char* conf :
       {"", "max_split_size_mb:20", "expandable_segments:True", "roundup_power2_divisions:8",
        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.8",
        "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9,max_split_size_mb:24"}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(std::string(conf) + " seed " + std::to_string(seed));
      // Private pools keep their memory, so runs with private pools have no limit.
      for (const auto& [limit, mempools] :
           {std::pair(uint64_t{0}, 3u), std::pair(kGiB / 2, 1u), std::pair(kGiB / 4, 1u)}) {
        const RecordedRun run =
            RunProgram(MakeProgram({.seed = seed, .deferred = 20, .mempools = mempools}),
                       {.conf = conf, .device_memory_bytes = limit, .plan = true});
        ExpectExact(*run.trace, "plan");
        const Replayed r = Replay(*run.trace, {}).value();
        EXPECT_EQ(r.peak_reserved, run.stats.peak_reserved);
        EXPECT_EQ(r.peak_allocated, run.stats.peak_allocated);
        EXPECT_EQ(r.segment_allocs, run.stats.segment_allocs);
        EXPECT_EQ(r.segment_maps, run.stats.segment_maps);
        EXPECT_EQ(r.driver_calls(), run.stats.segment_allocs + run.stats.segment_frees +
                                        run.stats.segment_maps + run.stats.segment_unmaps);
      }
    }
  }
}

// Returns how many bytes after an older block are free when the recording begins.
uint64_t FreeBehind(const trace::Trace& t, uint32_t row) {
  const RecordedState state = StateBefore(t, t.recording_begin, {});
  for (const auto& s : state.segments) {
    for (size_t i = 0; i + 1 < s.blocks.size(); ++i) {
      if (s.blocks[i].block.address == t.allocations.address[row]) {
        return s.blocks[i + 1].live ? 0 : s.blocks[i + 1].block.bytes_rounded;
      }
    }
  }
  return 0;
}

// For each block with an unknown tail, tries all possible sizes of the tail: states the size in a
// copy of the recording and replays the copy.
TEST(Replay, CountsStartStatesThatAgree) {
  int open = 0, narrowed = 0, settled = 0;
  for (uint64_t seed = 1; seed <= 400 && (open < 8 || narrowed < 3); ++seed) {
    const std::vector<Action> program = MakeProgram(
        {.seed = seed, .actions = 260, .live = 24, .streams = 1, .deferred = 0, .empty_caches = 0});
    const RecordedRun run = RunProgram(program, {.first_action = 120});
    const absl::StatusOr<Replayed> r = Replay(*run.trace, {});
    ASSERT_TRUE(r.ok()) << r.status();
    ASSERT_EQ(r->differences, 0) << seed;
    if (r->unknown_tails == 0 || r->unknown_tails > 2) continue;
    SCOPED_TRACE(seed);
    trace::Trace t = *run.trace;
    uint64_t agree = 1, rows = 0, with_tail = 0;
    for (uint32_t row = 0; row < run.older_block_bytes.size(); ++row) {
      const uint64_t stated = t.allocations.bytes_rounded[row];
      const uint64_t behind = FreeBehind(t, row);
      const auto with = [&](uint64_t tail) {
        t.allocations.bytes_rounded.Set(row, stated + tail);
        const absl::StatusOr<Replayed> x = Replay(t, {.try_settings = false});
        t.allocations.bytes_rounded.Set(row, stated);
        return *x;
      };
      // Skips blocks whose tail is known: stating it would not reduce the number of unknown tails.
      if (behind <= kMiB + 512 || with(512).unknown_tails == r->unknown_tails) continue;
      ++rows;
      uint64_t tails = 0;
      for (uint64_t tail = 512; tail <= kMiB && behind - tail > kMiB; tail += 512) {
        tails += with(tail).differences == 0;
      }
      // The block may also have no tail.
      const bool none = tails == 0 || r->tails_inferred == 0;
      with_tail += !none;
      agree *= tails + none;
    }
    ASSERT_EQ(rows, r->unknown_tails);
    EXPECT_EQ(agree, r->start_states_consistent);
    EXPECT_EQ(with_tail > 0, r->tails_inferred > 0);
    open += r->start_states_consistent > 1;
    narrowed +=
        r->start_states_consistent > 1 && r->start_states_consistent < r->start_states_tried;
    settled += r->start_states_consistent == 1;
  }
  EXPECT_GE(open, 8) << "too few of the programs leave a tail open";
  EXPECT_GE(narrowed, 3) << "too few of the programs rule out some of the tails";
  EXPECT_GE(settled, 1);
}

TEST(Replay, TrueStartStateAgrees) {
  uint64_t unknown = 0, hidden = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const std::vector<Action> program =
        MakeProgram({.seed = seed, .actions = 1500, .live = 60, .streams = 2});
    const RecordedRun run = RunProgram(program, {.first_action = 700});
    const Replayed r = Replay(*run.trace, {}).value();
    EXPECT_EQ(r.differences, 0) << seed;
    EXPECT_NE(r.start_states_consistent, 0) << seed;
    unknown += r.unknown_tails;
    // A replay with the true sizes of all blocks must also have no differences.
    auto with_true_sizes = std::make_shared<trace::Trace>(*run.trace);
    for (uint32_t row = 0; row < run.older_block_bytes.size(); ++row) {
      hidden += with_true_sizes->allocations.bytes_rounded[row] != run.older_block_bytes[row];
      with_true_sizes->allocations.bytes_rounded.Set(row, run.older_block_bytes[row]);
    }
    EXPECT_EQ(Replay(*with_true_sizes, {}).value().differences, 0) << seed;
  }
  EXPECT_GT(unknown, 20);
  EXPECT_GT(hidden, 0) << "no block had a tail that the recording hides";
}

// Returns a copy of the trace in which `change` was applied to one row of the allocations.
template <class Change>
std::shared_ptr<const trace::Trace> Changed(const trace::Trace& t, uint32_t row, Change change) {
  auto copy = std::make_shared<trace::Trace>(t);
  change(copy->allocations, row);
  return copy;
}

TEST(Replay, ReportsFirstDifferenceAndContinues) {
  const RecordedRun run = RunProgram(MakeProgram({.seed = 3, .deferred = 0}), {});
  const trace::Trace& t = *run.trace;
  uint32_t row = t.allocations.size() / 2;
  while (t.allocations.pool[row] != trace::Pool::kSmall) ++row;
  const auto moved = Changed(t, row, [](trace::AllocationTable& a, uint32_t r) {
    a.address.Set(r, a.address[r] + 512);
    a.bytes.Set(r, 512);
    a.bytes_rounded.Set(r, 512);
  });
  const Replayed r = Replay(*moved, {}).value();
  ASSERT_TRUE(r.first_difference.has_value());
  EXPECT_EQ(r.first_difference->event, t.allocations.alloc_event[row]);
  EXPECT_THAT(r.first_difference->what, HasSubstr("alloc of 512 B"));
  EXPECT_THAT(r.first_difference->cause, HasSubstr("512 B are needed"));
  EXPECT_FALSE(r.first_difference->cause.empty());
  EXPECT_GT(r.addresses_equal, r.addresses_total * 9 / 10)
      << "the replay did not continue after the difference";
  EXPECT_LT(r.addresses_equal, r.addresses_total);
  EXPECT_FALSE(r.settings_that_agree.has_value()) << "no settings explain the difference";
}

TEST(Replay, FindsTrueSettingsIfOthersAreStated) {
  for (const char* conf : {"max_split_size_mb:20", "roundup_power2_divisions:4",
                           "large_segment_size_mb:32", "expandable_segments:True"}) {
    SCOPED_TRACE(conf);
    const RecordedRun run =
        RunProgram(MakeProgram({.seed = 5}), {.conf = conf, .device_memory_bytes = kGiB});
    auto misstated = std::make_shared<trace::Trace>(*run.trace);
    misstated->info.alloc_conf.clear();
    const Replayed r = Replay(*misstated, {}).value();
    EXPECT_GT(r.differences, 0);
    ASSERT_TRUE(r.first_difference.has_value());
    EXPECT_FALSE(r.first_difference->cause.empty());
    ASSERT_TRUE(r.settings_that_agree.has_value());
    EXPECT_EQ(run::ToString(*r.settings_that_agree), conf);
  }
  const RecordedRun run = RunProgram(MakeProgram({}), {});
  auto misstated = std::make_shared<trace::Trace>(*run.trace);
  misstated->info.alloc_conf = "max_split_size_mb:20";
  const Replayed r = Replay(*misstated, {}).value();
  ASSERT_TRUE(r.settings_that_agree.has_value());
  EXPECT_EQ(*r.settings_that_agree, run::AllocConf());
  misstated->info.alloc_conf = "no_such_key:1";
  EXPECT_EQ(Replay(*misstated, {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Replay, RejectsTraceWithoutSegments) {
  trace::TraceBuilder builder;
  trace::Event alloc;
  alloc.kind = EventKind::kAlloc;
  alloc.bytes = alloc.bytes_rounded = 4096;
  ASSERT_TRUE(builder.AddEvents(std::vector{alloc}).ok());
  const auto t = builder.Finish(true, "");
  EXPECT_EQ(Replay(*t, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Replay(*t, {.alloc_conf = run::AllocConf()}).value().peak_reserved, 2 * kMiB);
  EXPECT_TRUE(Replay(trace::Trace(), {}).ok()) << "an empty trace";
}

TEST(Replay, CanBeCancelledAndReportsProgress) {
  const RecordedRun run = RunProgram(MakeProgram({}), {});
  std::atomic<bool> cancel{true};
  EXPECT_EQ(Replay(*run.trace, {.cancel = &cancel}).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Replay(*run.trace, {.alloc_conf = run::AllocConf(), .cancel = &cancel}).status().code(),
            absl::StatusCode::kCancelled);
  double last = -1;
  const auto progress = [&last](double f) {
    EXPECT_GE(f, last);
    last = f;
  };
  ASSERT_TRUE(Replay(*run.trace, {.progress = progress}).ok());
  EXPECT_EQ(last, 1.0);
}

// A what-if must equal a real run of the same program under the other settings.
TEST(WhatIf, EqualsARunUnderTheOtherSettings) {
  for (const char* recorded : {"", "expandable_segments:True"}) {
    for (const char* conf : kConfs) {
      for (uint64_t limit : {uint64_t{0}, kGiB / 2}) {
        SCOPED_TRACE(std::string(recorded) + " -> " + conf);
        const std::vector<Action> program =
            MakeProgram({.seed = 11, .deferred = 0, .empty_caches = 60, .mempools = 2});
        const RecordedRun before = RunProgram(program, {.conf = recorded, .plan = true});
        ASSERT_LT(before.seen.size(), program.size())
            << "some calls of empty_cache() leave nothing";
        // Like a recording, `seen` does not have the calls of empty_cache() that released nothing.
        const RecordedRun after =
            RunProgram(before.seen, {.conf = conf, .device_memory_bytes = limit, .plan = true});
        const Replayed r = Replay(*before.trace, {.alloc_conf = run::ParseAllocConf(conf).value(),
                                                  .device_memory_bytes = limit})
                               .value();
        EXPECT_TRUE(r.what_if);
        EXPECT_EQ(r.peak_reserved, after.stats.peak_reserved);
        EXPECT_EQ(r.peak_allocated, after.stats.peak_allocated);
        EXPECT_EQ(r.segment_allocs, after.stats.segment_allocs);
        EXPECT_EQ(r.segment_frees, after.stats.segment_frees);
        EXPECT_EQ(r.segment_maps, after.stats.segment_maps);
        EXPECT_EQ(r.segment_unmaps, after.stats.segment_unmaps);
        EXPECT_EQ(r.retries, after.stats.retries);
        EXPECT_EQ(r.out_of_memory, after.stats.out_of_memory);
        EXPECT_EQ(r.first_out_of_memory.has_value(), r.out_of_memory > 0);
        EXPECT_EQ(r.device_memory_bytes, limit);
        ASSERT_FALSE(r.curve.empty());
        EXPECT_EQ(r.curve.back().reserved, after.stats.reserved);
        EXPECT_EQ(r.curve.back().allocated, after.stats.allocated);
        uint64_t peak = 0;
        for (const Replayed::Point& p : r.curve) peak = std::max(peak, p.reserved);
        EXPECT_EQ(peak, r.peak_reserved);
      }
    }
  }
}

TEST(WhatIf, KeepsOrReallocatesOlderBlocks) {
  const RecordedRun run = RunProgram(MakeProgram({.seed = 2}), {.first_action = 2000});
  const Replayed kept =
      Replay(*run.trace, {.alloc_conf = run::AllocConf(), .restart = false}).value();
  const Replayed exact = Replay(*run.trace, {}).value();
  EXPECT_EQ(kept.peak_reserved, exact.peak_reserved);
  EXPECT_EQ(kept.curve.back().reserved, exact.curve.back().reserved);
  const run::AllocConf expandable = run::ParseAllocConf("expandable_segments:True").value();
  const Replayed anew = Replay(*run.trace, {.alloc_conf = expandable}).value();
  const Replayed mixed = Replay(*run.trace, {.alloc_conf = expandable, .restart = false}).value();
  EXPECT_EQ(anew.segment_allocs, 0);
  EXPECT_GE(mixed.peak_reserved, anew.peak_reserved);
}

TEST(WhatIf, InfersGpuMemoryFromOutOfMemory) {
  const RecordedRun run = RunProgram(MakeProgram({.seed = 4, .deferred = 0}),
                                     {.device_memory_bytes = kGiB / 2, .first_action = 500});
  ASSERT_GT(run.stats.out_of_memory, 0);
  const Replayed same = Replay(*run.trace, {.alloc_conf = run::AllocConf()}).value();
  EXPECT_EQ(same.device_memory_bytes, kGiB / 2);
  EXPECT_GT(same.out_of_memory, 0);
  const Replayed more = Replay(*run.trace, {.device_memory_bytes = 64 * kGiB}).value();
  EXPECT_EQ(more.out_of_memory, 0);
  EXPECT_EQ(more.retries, 0);
}

// A file may state any memory fraction above 0. With these fractions, the recorded allocation would
// not fail on any GPU.
TEST(WhatIf, ImpossibleMemoryFractionSetsNoLimit) {
  const RecordedRun run = RunProgram(MakeProgram({.seed = 4, .deferred = 0}),
                                     {.device_memory_bytes = kGiB / 2, .first_action = 500});
  ASSERT_GT(run.stats.out_of_memory, 0);
  const Replayed without = ReplayWhatIf(*run.trace, {}, {}).value();
  for (const double fraction : {1e-300, 1e-12}) {
    const run::AllocConf conf{.memory_fraction = fraction};
    const Replayed with = ReplayWhatIf(*run.trace, {}, conf).value();
    EXPECT_EQ(with.peak_reserved, without.peak_reserved) << fraction;
    EXPECT_EQ(with.out_of_memory, without.out_of_memory) << fraction;
  }
}

TEST(WhatIf, EmptyCacheReleasesFreeMemory) {
  // The program uses 100 MiB, frees them, and then needs only 10 MiB.
  const std::vector<Action> program = {
      {.kind = Action::kMalloc, .allocation = 0, .bytes = 100 * kMiB},
      {.kind = Action::kFree, .allocation = 0},
      {.kind = Action::kMalloc, .allocation = 1, .bytes = 1000},
      {.kind = Action::kFree, .allocation = 1}};
  const RecordedRun run = RunProgram(program, {});
  const trace::Trace& t = *run.trace;
  const Replayed r = Replay(t, {.empty_cache_at = {t.allocations.alloc_event[1]}}).value();
  EXPECT_EQ(r.peak_reserved, 100 * kMiB);
  EXPECT_EQ(r.curve.back().reserved, 2 * kMiB);
  EXPECT_EQ(r.largest_hole, 0) << "all reserved memory was in use at the peak";
}

TEST(WhatIf, ReplaysEmptyCacheCallsOfTheProgram) {
  const std::vector<Action> program = {
      {.kind = Action::kMalloc, .allocation = 0, .bytes = 30 * kMiB},
      {.kind = Action::kFree, .allocation = 0},
      {.kind = Action::kEmptyCache},
      {.kind = Action::kMalloc, .allocation = 1, .bytes = 100},
      {.kind = Action::kFree, .allocation = 1},
      {.kind = Action::kEmptyCache}};
  const RecordedRun run = RunProgram(program, {});
  for (const char* conf : {"", "expandable_segments:True"}) {
    const Replayed r =
        Replay(*run.trace, {.alloc_conf = run::ParseAllocConf(conf).value()}).value();
    EXPECT_EQ(r.curve.back().reserved, 0) << "at the end, and in between";
    EXPECT_EQ(r.driver_calls(), 4) << conf;
  }
}

TEST(WhatIf, ReportsHolesAtThePeak) {
  const std::vector<Action> program = {
      {.kind = Action::kMalloc, .allocation = 0, .bytes = 4 * kMiB},
      {.kind = Action::kMalloc, .allocation = 1, .bytes = 6 * kMiB},
      {.kind = Action::kMalloc, .allocation = 2, .bytes = 4 * kMiB},
      {.kind = Action::kFree, .allocation = 1},
      {.kind = Action::kMalloc, .allocation = 3, .bytes = 9 * kMiB}};
  const RecordedRun run = RunProgram(program, {});
  for (const bool what_if : {false, true}) {
    ReplayOptions options;
    if (what_if) options.alloc_conf = run::AllocConf();
    const Replayed r = Replay(*run.trace, options).value();
    EXPECT_EQ(r.peak_reserved, 40 * kMiB);
    EXPECT_EQ(r.largest_hole, 11 * kMiB) << "after the block of 9 MiB in its segment of 20 MiB";
    EXPECT_EQ(r.stranded_bytes, 23 * kMiB);
  }
}

}  // namespace
}  // namespace vramscope::replay
