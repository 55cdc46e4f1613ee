// Tests that the causes of recorded releases are found, and that a what-if repeats calls of
// empty_cache(). With the recorded settings, a what-if must reserve the recorded bytes at every
// event.
#include "profiler/replay/releases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "profiler/exporters/memory_snapshot.h"
#include "profiler/importers/open.h"
#include "profiler/replay/exact.h"
#include "profiler/replay/replay.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/one_device.h"
#include "recorded_run.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::replay {
namespace {

using explain::TraceMaker;
using ::testing::HasSubstr;
using trace::EventIndex;
using trace::EventKind;
using Cause = Release::Cause;
using Evidence = Release::Evidence;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr const char* kConfs[] = {"", "max_split_size_mb:20", "roundup_power2_divisions:8",
                                  "expandable_segments:True"};

// Compares the reserved and allocated bytes of a what-if with the recorded ones, after each event
// that completes an allocation or a free, except during a release. If `tails`, does not compare
// allocated bytes, because the recording does not state how large the tails of its older blocks
// are.
void ExpectReservedAsRecorded(const trace::Trace& t, const Replayed& r, bool tails = false) {
  trace::MemoryCursor cursor(t);
  const Releases releases = FindReleases(t);
  std::map<EventIndex, Replayed::Point> curve;
  for (const Replayed::Point& p : r.curve) curve[p.event] = p;
  const EventIndex begin = t.recording_begin == trace::kNoEvent ? 0 : t.recording_begin;
  Replayed::Point model{};
  size_t release = 0;
  uint64_t compared = 0;
  for (EventIndex i = 0; i < t.events.size(); ++i) {
    cursor.Apply();
    if (const auto it = curve.find(i); it != curve.end()) model = it->second;
    while (release < releases.all.size() && releases.all[release].last < i) ++release;
    const bool releasing = release < releases.all.size() && releases.all[release].first <= i;
    const EventKind kind = t.events.kind[i];
    const bool settled = kind == EventKind::kAlloc || kind == EventKind::kFreeCompleted;
    if (i < begin || !settled || releasing) continue;
    ASSERT_EQ(model.reserved, cursor.sums().reserved) << "event " << i;
    if (!tails) {
      ASSERT_EQ(model.allocated, cursor.sums().allocated) << "event " << i;
    }
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

// Replays the trace with its own settings, and always runs the model. Replay() does not run it if
// it is exact, but returns the recording itself.
Replayed OwnSettings(const trace::Trace& t) {
  const run::AllocConf conf = run::ParseAllocConf(RecordedConf(t)).value();
  absl::StatusOr<Replayed> r = ReplayWhatIf(t, {.alloc_conf = conf}, conf);
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? *std::move(r) : Replayed();
}

TEST(Releases, ReservesRecordedBytesUnderRecordedSettings) {
  uint64_t calls = 0, full = 0;
  for (const char* conf : kConfs) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      for (const auto& [limit, mempools] :
           {std::pair(uint64_t{0}, 3u), std::pair(kGiB / 2, 1u), std::pair(kGiB / 3, 1u)}) {
        SCOPED_TRACE(std::string(conf) + " seed " + std::to_string(seed) + " limit " +
                     std::to_string(limit));
        const RecordedRun run = RunProgram(
            MakeProgram({.seed = seed, .deferred = 0, .empty_caches = 60, .mempools = mempools}),
            {.conf = conf, .device_memory_bytes = limit});
        const Replayed r = OwnSettings(*run.trace);
        EXPECT_EQ(r.peak_reserved, run.stats.peak_reserved);
        ExpectReservedAsRecorded(*run.trace, r);
        const Releases found = FindReleases(*run.trace);
        calls += found.empty_cache_calls;
        full += found.gpu_full;
        EXPECT_EQ(r.device_memory_inferred, found.capacity.inferred());
      }
    }
  }
  EXPECT_GT(calls, 100u);
  EXPECT_GT(full, 100u);
}

TEST(Releases, PartialRecordingStartsWithOlderMemory) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const RecordedRun run = RunProgram(MakeProgram({.seed = seed, .empty_caches = 60}),
                                       {.device_memory_bytes = kGiB / 2, .first_action = 2000});
    const Replayed r = Replay(*run.trace, {.alloc_conf = run::AllocConf()}).value();
    EXPECT_TRUE(r.older_unchanged);
    ExpectReservedAsRecorded(*run.trace, r, /*tails=*/true);
    const Baseline base = ReplayBaseline(*run.trace, {}).value();
    EXPECT_EQ(base.own.peak_reserved, r.peak_reserved);
    EXPECT_EQ(base.own.retries, r.retries);
    ASSERT_TRUE(base.anew.has_value());
    EXPECT_FALSE(base.anew->older_unchanged);
    EXPECT_EQ(base.anew->peak_reserved,
              Replay(*run.trace, {.alloc_conf = run::AllocConf(), .restart = true})
                  .value()
                  .peak_reserved);
  }
}

// Memory allocated before the recording counts, so the peak may be at the start.
TEST(Releases, PeakIncludesMemoryAtTheStart) {
  const std::vector<Action> program = {
      {.kind = Action::kMalloc, .allocation = 0, .bytes = 100 * kMiB},
      {.kind = Action::kMalloc, .allocation = 1, .bytes = 30 * kMiB},
      {.kind = Action::kFree, .allocation = 0},
      {.kind = Action::kMalloc, .allocation = 2, .bytes = 20 * kMiB}};
  const RecordedRun run = RunProgram(program, {.first_action = 2});
  for (const bool what_if : {false, true}) {
    ReplayOptions options;
    if (what_if) options.alloc_conf = run::AllocConf();
    const Replayed r = Replay(*run.trace, options).value();
    EXPECT_EQ(r.peak_allocated, 130 * kMiB);
    EXPECT_EQ(r.peak_reserved, 130 * kMiB);
    EXPECT_EQ(r.peak_reserved_event, run.trace->recording_begin);
    ASSERT_FALSE(r.curve.empty());
    EXPECT_EQ(r.curve.front().event, run.trace->recording_begin);
  }
  EXPECT_EQ(OwnSettings(*run.trace).peak_allocated, 130 * kMiB);
}

// The recording contains no call of the driver. But the memory allocated before it is too large for
// the smaller GPU.
TEST(Releases, RestartsOnASmallerGpu) {
  const std::vector<Action> program = {
      {.kind = Action::kMalloc, .allocation = 0, .bytes = 100 * kMiB},
      {.kind = Action::kFree, .allocation = 0},
      {.kind = Action::kMalloc, .allocation = 1, .bytes = 90 * kMiB}};
  const RecordedRun run = RunProgram(program, {.first_action = 1});
  const Replayed r = Replay(*run.trace, {.device_memory_bytes = 50 * kMiB}).value();
  EXPECT_FALSE(r.older_unchanged);
  EXPECT_GT(r.out_of_memory, 0u);
  EXPECT_FALSE(r.device_memory_inferred);
  const Replayed kept =
      Replay(*run.trace, {.device_memory_bytes = 50 * kMiB, .restart = false}).value();
  EXPECT_TRUE(kept.older_unchanged);
  EXPECT_EQ(kept.out_of_memory, 0u);
}

// Each block has 2,049 possible tails. The number of combinations exceeds 64 bits.
TEST(Releases, TooManyStartStatesAreNotCounted) {
  std::vector<Action> program;
  constexpr uint32_t kBlocks = 8;
  for (uint32_t i = 0; i < kBlocks; ++i) {
    program.push_back({.kind = Action::kMalloc, .allocation = i, .bytes = 12 * kMiB});
    program.push_back({.kind = Action::kFree, .allocation = i});
    program.push_back(
        {.kind = Action::kMalloc, .allocation = 100 + i, .bytes = 4 * kMiB, .stream = i});
    program.push_back(
        {.kind = Action::kMalloc, .allocation = 200 + i, .bytes = 9 * kMiB, .stream = i});
    program.push_back({.kind = Action::kFree, .allocation = 200 + i});
  }
  const int begin = static_cast<int>(program.size());
  for (uint32_t i = 0; i < kBlocks; ++i) {
    program.push_back({.kind = Action::kFree, .allocation = 100 + i});
  }
  const RecordedRun run = RunProgram(program, {.first_action = begin});
  const Replayed r = Replay(*run.trace, {}).value();
  ASSERT_GE(r.unknown_tails, 7u);
  EXPECT_FALSE(r.start_states_tried.has_value());
  EXPECT_GT(r.log10_tried, 19.3);
  EXPECT_FALSE(r.start_states_consistent.has_value());
}

TEST(Releases, SurviveSnapshotRoundTrip) {
  const std::string path = ::testing::TempDir() + "releases_test.pickle";
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const RecordedRun run =
        RunProgram(MakeProgram({.seed = seed, .deferred = 0}), {.device_memory_bytes = kGiB / 2});
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteSnapshot(*run.trace, out, {}).ok());
    out.close();
    const auto read = importers::OpenTraceFile(path, {});
    ASSERT_TRUE(read.ok()) << read.status();
    const Releases before = FindReleases(*run.trace), after = FindReleases(**read);
    EXPECT_EQ(before.empty_cache_calls, after.empty_cache_calls);
    EXPECT_EQ(before.gpu_full, after.gpu_full);
    EXPECT_EQ(before.capacity.bytes, after.capacity.bytes);
    ExpectReservedAsRecorded(**read, OwnSettings(**read));
  }
  std::filesystem::remove(path);
}

// Frees and releases on one device must not affect the other device.
TEST(Releases, DevicesAreIndependent) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const RecordedRun a = RunProgram(MakeProgram({.seed = seed, .deferred = 0, .empty_caches = 80}),
                                     {.device_memory_bytes = kGiB / 2});
    const RecordedRun b =
        RunProgram(MakeProgram({.seed = seed + 100, .deferred = 0, .empty_caches = 80}), {});
    const auto both = Interleaved(a, b, seed);
    const RecordedRun* runs[2] = {&a, &b};
    for (uint8_t device = 0; device < 2; ++device) {
      SCOPED_TRACE(static_cast<int>(device));
      const auto one = trace::OfDevice(both, device);
      const Replayed r = OwnSettings(*one);
      EXPECT_EQ(r.peak_reserved, runs[device]->stats.peak_reserved);
      EXPECT_EQ(r.segment_frees, OwnSettings(*runs[device]->trace).segment_frees);
      ExpectReservedAsRecorded(*one, r);
      const Releases alone = FindReleases(*runs[device]->trace);
      const Releases found = FindReleases(*one);
      EXPECT_EQ(found.empty_cache_calls, alone.empty_cache_calls);
      EXPECT_EQ(found.gpu_full, alone.gpu_full);
      EXPECT_EQ(found.capacity.bytes, alone.capacity.bytes);
    }
  }
}

// Every flush must be recognised as a flush. The GPU's limit must agree with what flushes imply.
TEST(Releases, InferMemoryLimitOfTheGpu) {
  uint64_t flushes = 0, calls = 0, wrong = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const int empty_caches : {0, 60}) {
      SCOPED_TRACE(std::to_string(seed) + " " + std::to_string(empty_caches));
      constexpr uint64_t kLimit = kGiB / 2;
      const RecordedRun run =
          RunProgram(MakeProgram({.seed = seed, .deferred = 0, .empty_caches = empty_caches}),
                     {.device_memory_bytes = kLimit});
      const Releases found = FindReleases(*run.trace);
      size_t row = 0;
      for (const Release& r : found.all) {
        bool by_program = false;
        for (uint64_t i = 0; i < r.count; ++i) by_program |= run.by_program[row++];
        (by_program ? calls : flushes) += 1;
        if (by_program) {
          wrong += r.cause != Cause::kEmptyCache;
        } else {
          EXPECT_EQ(r.cause, Cause::kGpuFull) << r.first;
        }
      }
      EXPECT_EQ(row, run.by_program.size());
      EXPECT_LE(found.capacity.at_least, kLimit);
      if (empty_caches > 0) continue;
      ASSERT_TRUE(found.capacity.inferred());
      EXPECT_GT(found.capacity.less_than, kLimit);
      EXPECT_LE(found.capacity.bytes, found.capacity.less_than);
      EXPECT_THAT(found.headline, HasSubstr("because the GPU was full"));
      EXPECT_THAT(found.capacity.evidence, HasSubstr("inferred"));
    }
  }
  EXPECT_GT(flushes, 100u);
  EXPECT_GT(calls, 100u);
  // A call of empty_cache() right before an allocation that is too large to fit looks like a flush.
  EXPECT_LT(wrong, calls / 5);
}

// A recording with 120 MiB reserved in segments of 20 MiB. 40 MiB of these are cached.
struct Sample {
  TraceMaker m;
  void Begin() {
    m.info.backend = trace::Backend::kImported;
    for (int i = 0; i < 6; ++i) {
      m.Segment(explain::kBase + i * 20 * kMiB, 20 * kMiB);
      m.Alloc({.address = explain::kBase + i * 20 * kMiB, .bytes = 20 * kMiB});
    }
    m.Free(4);
    m.Free(5);
  }
  static trace::Event SegmentFree(uint64_t segment, trace::StackId stack) {
    trace::Event e;
    e.kind = EventKind::kSegmentFree;
    e.stack = stack;
    e.id = segment;
    return e;
  }
  void ReleaseCached(trace::StackId stack = {}) {
    for (uint64_t s : {4, 5}) m.Add(SegmentFree(s, stack));
  }
  void Allocate(uint64_t bytes, trace::StackId stack = {}) {
    const uint64_t at = explain::kBase + 1024 * kMiB;
    m.Segment(at, bytes);
    m.Alloc({.address = at, .bytes = bytes, .stack = stack});
  }
};

TEST(Releases, StacksDistinguishEmptyCacheFromFlush) {
  for (const bool program : {false, true}) {
    Sample s;
    s.Begin();
    const trace::StackId request = s.m.Stack({{"forward", "train.py", 3}});
    const trace::StackId call = s.m.Stack({{"c10::cuda::CUDACachingAllocator::emptyCache()", "", 0},
                                           {"empty_cache", "torch/cuda/memory.py", 192}});
    s.ReleaseCached(program ? call : request);
    s.Allocate(30 * kMiB, request);
    const auto t = s.m.Finish();
    const Releases r = FindReleases(*t);
    ASSERT_EQ(r.all.size(), 1u);
    EXPECT_EQ(r.all[0].cause, program ? Cause::kEmptyCache : Cause::kGpuFull);
    EXPECT_EQ(r.all[0].evidence, Evidence::kStack);
    EXPECT_EQ(r.all[0].bytes, 40 * kMiB);
    EXPECT_EQ(r.all[0].count, 2u);
    EXPECT_EQ(r.all[0].reserved, 120 * kMiB);
    EXPECT_EQ(r.all[0].asked, 30 * kMiB);
    EXPECT_EQ(r.headline, program ? "empty_cache() was called once."
                                  : "The allocator flushed its cache once because the GPU was "
                                    "full.");
    EXPECT_EQ(r.capacity.inferred(), !program);
    if (program) continue;
    EXPECT_EQ(r.capacity.at_least, 120 * kMiB);
    EXPECT_EQ(r.capacity.less_than, 150 * kMiB);
    EXPECT_EQ(r.capacity.bytes, 148 * kMiB);
    EXPECT_EQ(r.capacity.seen, 1u);
    const Replayed own = OwnSettings(*t);
    EXPECT_EQ(own.device_memory_bytes, 148 * kMiB);
    EXPECT_TRUE(own.device_memory_inferred);
    EXPECT_EQ(own.retries, 1u);
    EXPECT_EQ(own.peak_reserved, 120 * kMiB);
  }
}

TEST(Releases, InfersEmptyCacheOrFlushWithoutStacks) {
  const auto cause = [](uint64_t asked, bool more_later) {
    Sample s;
    s.Begin();
    s.ReleaseCached();
    if (asked > 0) s.Allocate(asked);
    if (more_later) s.m.Segment(explain::kBase + 4096 * kMiB, 400 * kMiB);
    return FindReleases(*s.m.Finish()).all.at(0);
  };
  EXPECT_EQ(cause(30 * kMiB, false).cause, Cause::kGpuFull);
  EXPECT_EQ(cause(30 * kMiB, false).evidence, Evidence::kNoRoom);
  EXPECT_EQ(cause(30 * kMiB, true).cause, Cause::kEmptyCache) << "the GPU had room";
  EXPECT_EQ(cause(30 * kMiB, true).evidence, Evidence::kRoom);
  EXPECT_EQ(cause(20 * kMiB, false).cause, Cause::kEmptyCache)
      << "the cache had a block of this size";
  EXPECT_EQ(cause(20 * kMiB, false).evidence, Evidence::kCacheWouldServe);
  EXPECT_EQ(cause(0, false).cause, Cause::kEmptyCache);
  EXPECT_EQ(cause(0, false).evidence, Evidence::kNothingAsked);
}

TEST(Releases, StateSnapshotCannotBeReplayed) {
  Sample s;
  s.m.info.content = trace::Content::kState;
  s.Begin();
  const auto t = s.m.Finish();
  EXPECT_FALSE(HasHistory(*t));
  const absl::Status status = Replay(*t, {.alloc_conf = run::AllocConf()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no history"));
  EXPECT_FALSE(Replay(*t, {}).ok());
  EXPECT_FALSE(ReplayBaseline(*t, {}).ok());
  // There is no history, either, if no event follows the begin of a recording.
  trace::Trace unstated = *t;
  unstated.info.content = trace::Content::kRun;
  unstated.recording_begin = unstated.events.size() - 1;
  EXPECT_FALSE(HasHistory(unstated));
  unstated.recording_begin = unstated.events.size() - 2;
  EXPECT_TRUE(HasHistory(unstated));
}

// ---- Files recorded by others, which are not part of the project.

std::shared_ptr<const trace::Trace> Shared(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared" / name;
  if (!std::filesystem::exists(path)) return nullptr;
  auto t = importers::OpenTraceFile(path.string(), {});
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? *std::move(t) : nullptr;
}

TEST(RecordedReleases, ReplaysRecordedEmptyCache) {
  for (const char* name :
       {"repro/empty_cache_then_segment_alloc.pickle", "repro/empty_cache_then_alloc.pickle"}) {
    SCOPED_TRACE(name);
    const auto t = Shared(name);
    if (t == nullptr) GTEST_SKIP() << "needs ../shared/repro";
    const Replayed r = OwnSettings(*t);
    trace::MemoryCursor cursor(*t);
    uint64_t most = 0;
    while (cursor.event() < t->events.size()) {
      cursor.Apply();
      most = std::max(most, cursor.sums().reserved);
    }
    EXPECT_EQ(r.peak_reserved, most);
    EXPECT_EQ(ReplayBaseline(*t, {}).value().own.retries, 0u)
        << "empty_cache() was called; this is no retry";
    ExpectReservedAsRecorded(*t, r);
  }
}

TEST(RecordedReleases, CountsCallsAndFlushes) {
  const auto called = Shared("snapshots/more/sqattn.pickle.zst");
  const auto full = Shared("snapshots/more/octree_my_633k.pickle.zst");
  const auto three = Shared("snapshots/more/code_location.pickle.zst");
  if (called == nullptr || full == nullptr || three == nullptr) {
    GTEST_SKIP() << "needs ../shared/snapshots/more";
  }
  const auto out = trace::OfDevice(three, 1);
  Releases r = FindReleases(*called);
  EXPECT_EQ(r.empty_cache_calls, 28u) << "27 right before a segment is requested, one at the end";
  EXPECT_EQ(r.gpu_full, 0u);
  EXPECT_FALSE(r.capacity.inferred());
  r = FindReleases(*full);
  EXPECT_EQ(r.empty_cache_calls, 1u);
  EXPECT_EQ(r.gpu_full, 1u);
  EXPECT_EQ(r.capacity.at_least, 22'194'159'616u);
  EXPECT_EQ(r.capacity.less_than, 24'024 * kMiB);
  r = FindReleases(*out);
  EXPECT_EQ(r.gpu_full, 1u);
  EXPECT_EQ(r.capacity.source, Capacity::Source::kOutOfMemory);
  EXPECT_EQ(r.capacity.bytes, 80'302 * kMiB + 95'682'560);
  for (const std::shared_ptr<const trace::Trace>& t : {called, full, out}) {
    const Replayed own =
        Replay(*t, {.alloc_conf = run::ParseAllocConf(RecordedConf(*t)).value()}).value();
    ExpectReservedAsRecorded(*t, own, /*tails=*/true);
  }
}

}  // namespace
}  // namespace vramscope::replay
