// Exports traces and imports the files. The result must equal the original trace.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/memory_snapshot.h"
#include "profiler/importers/open.h"
#include "tests/profiler/agreement/random_devices.h"
#include "tests/profiler/exporters/simulated_run.h"

namespace vramscope::exporters {
namespace {

using trace::EventKind;
using TracePtr = std::shared_ptr<const trace::Trace>;

std::string Bytes(const trace::Trace& trace, const SnapshotOptions& options = {}) {
  std::ostringstream out;
  const absl::Status status = WriteSnapshot(trace, out, options);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

TracePtr Import(const std::string& bytes) {
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = testing::TempDir() + "round_trip_" + name + ".pickle";
  std::ofstream(path, std::ios::binary) << bytes;
  absl::StatusOr<TracePtr> trace = importers::OpenTraceFile(path, {});
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::filesystem::remove(path);
  return trace.ok() ? *trace : nullptr;
}

std::vector<std::string> StackText(const trace::Trace& t, trace::EventIndex event) {
  std::vector<std::string> frames;
  for (const uint32_t f : t.stacks.Frames(t.events.StackOf(event)))
    frames.push_back(std::string(t.String(t.stacks.file[f])) + ":" +
                     std::to_string(t.stacks.line[f]) + ":" +
                     std::string(t.String(t.stacks.function[f])));
  return frames;
}

void ExpectEqual(const trace::Trace& a, const trace::Trace& b) {
  ASSERT_EQ(a.events.kind, b.events.kind);
  EXPECT_EQ(a.events.time_ns, b.events.time_ns);
  EXPECT_EQ(a.events.id, b.events.id);
  EXPECT_EQ(a.events.category, b.events.category);
  EXPECT_EQ(a.events.detail, b.events.detail);
  EXPECT_EQ(a.events.bytes, b.events.bytes);
  EXPECT_EQ(a.events.bytes_rounded, b.events.bytes_rounded);
  EXPECT_EQ(a.info.start_unix_ns, b.info.start_unix_ns);
  EXPECT_EQ(a.info.alloc_conf, b.info.alloc_conf);
  EXPECT_EQ(a.recording_begin, b.recording_begin);
  for (trace::EventIndex e = 0; e < a.events.size(); ++e) {
    ASSERT_EQ(a.String(a.events.name[e]), b.String(b.events.name[e])) << e;
    ASSERT_EQ(StackText(a, e), StackText(b, e)) << e;
  }
  EXPECT_EQ(a.allocations.address, b.allocations.address);
  EXPECT_EQ(a.allocations.stream, b.allocations.stream);
  EXPECT_EQ(a.allocations.device, b.allocations.device);
  EXPECT_EQ(a.allocations.pool, b.allocations.pool);
  EXPECT_EQ(a.allocations.segment, b.allocations.segment);
  EXPECT_EQ(a.allocations.category, b.allocations.category);
  EXPECT_EQ(a.allocations.phase, b.allocations.phase);
  EXPECT_EQ(a.allocations.step, b.allocations.step);
  EXPECT_EQ(a.segments.address, b.segments.address);
  EXPECT_EQ(a.segments.bytes, b.segments.bytes);
  EXPECT_EQ(a.segments.stream, b.segments.stream);
  EXPECT_EQ(a.segments.pool, b.segments.pool);
  EXPECT_EQ(a.segments.expandable, b.segments.expandable);
  EXPECT_EQ(a.segments.mempool, b.segments.mempool);
  EXPECT_EQ(a.other_events.address, b.other_events.address);
  EXPECT_EQ(a.slices.kind, b.slices.kind);
  EXPECT_EQ(a.slices.begin_ns, b.slices.begin_ns);
  EXPECT_EQ(a.slices.end_ns, b.slices.end_ns);
  EXPECT_EQ(a.slices.number, b.slices.number);
}

// Returns all events of allocations as texts.
std::vector<std::string> AllocationEvents(const trace::Trace& t) {
  std::vector<std::string> events;
  for (trace::EventIndex e = 0; e < t.events.size(); ++e) {
    const EventKind kind = t.events.kind[e];
    if (kind == EventKind::kAlloc || kind == EventKind::kRetag ||
        kind == EventKind::kFreeRequested || kind == EventKind::kFreeCompleted)
      events.push_back(fmt::format("{} {} {} {}", trace::Name(kind), t.events.id[e],
                                   trace::Name(t.events.category[e]), t.events.detail[e]));
  }
  return events;
}

class RoundTrip : public testing::TestWithParam<SimulatedRun> {};

TEST_P(RoundTrip, SnapshotKeepsAPlannedRun) {
  const TracePtr run = Simulate(GetParam());
  const std::string bytes = Bytes(*run);
  const TracePtr back = Import(bytes);
  ASSERT_NE(back, nullptr);
  EXPECT_THAT(back->warnings, testing::IsEmpty());

  const trace::AllocationTable &a = run->allocations, &b = back->allocations;
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.bytes_rounded, b.bytes_rounded);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.pool, b.pool);
  EXPECT_EQ(a.birth_category, b.birth_category);
  EXPECT_EQ(a.category, b.category);
  EXPECT_THAT(AllocationEvents(*back), testing::ContainerEq(AllocationEvents(*run)));
  for (const trace::EventIndex event : b.alloc_event) ASSERT_EQ(back->events.detail[event], 0);
  EXPECT_EQ(a.step, b.step);
  for (uint32_t i = 0; i < a.size(); ++i) {
    // Inference may find a phase for allocations that have none in the file.
    if (a.phase[i] != trace::Phase::kNone) {
      EXPECT_EQ(a.phase[i], b.phase[i]) << i;
    }
  }

  const auto peak_a = analysis::FindPeak(*run, analysis::ComputeCurves(*run));
  const auto peak_b = analysis::FindPeak(*back, analysis::ComputeCurves(*back));
  EXPECT_EQ(peak_a.allocated, peak_b.allocated);
  EXPECT_EQ(peak_a.reserved, peak_b.reserved);
  EXPECT_EQ(peak_a.by_category, peak_b.by_category);
  EXPECT_EQ(peak_a.context.step, peak_b.context.step);

  const auto count = [](const trace::Trace& t, EventKind kind) {
    return std::count(t.events.kind.begin(), t.events.kind.end(), kind);
  };
  for (const EventKind kind :
       {EventKind::kFreeRequested, EventKind::kFreeCompleted, EventKind::kSegmentMap,
        EventKind::kOutOfMemory, EventKind::kSegmentFree})
    EXPECT_EQ(count(*run, kind), count(*back, kind)) << trace::Name(kind);
  if (!GetParam().expandable) {
    EXPECT_EQ(run->segments.address, back->segments.address);
    EXPECT_EQ(run->segments.bytes, back->segments.bytes);
  }

  const std::string again = Bytes(*back);
  const TracePtr twice = Import(again);
  ASSERT_NE(twice, nullptr);
  ExpectEqual(*back, *twice);
  EXPECT_EQ(again, Bytes(*twice));
}

// Inference must find the same categories in the exported file.
TEST_P(RoundTrip, InfersTheSameCategoriesAgain) {
  const TracePtr bare =
      Import(Bytes(*Simulate(GetParam()), {.categories = false, .annotations = false}));
  ASSERT_NE(bare, nullptr);
  const TracePtr back = Import(Bytes(*bare));
  ASSERT_NE(back, nullptr);
  ExpectEqual(*bare, *back);
}

INSTANTIATE_TEST_SUITE_P(Runs, RoundTrip,
                         testing::Values(SimulatedRun{}, SimulatedRun{.seed = 2, .streams = 3},
                                         SimulatedRun{.seed = 3, .expandable = true},
                                         SimulatedRun{.seed = 4, .streams = 3, .expandable = true},
                                         SimulatedRun{.seed = 5,
                                                      .device_memory_bytes = uint64_t{100} << 20},
                                         SimulatedRun{.seed = 6,
                                                      .streams = 2,
                                                      .expandable = true,
                                                      .device_memory_bytes = uint64_t{90} << 20}));

// Inference must not change categories that the file states, not even "unknown". This includes
// changes of a category, and categories of blocks older than the recording.
TEST(RoundTripOfAnImport, KeepsStatedCategoriesIncludingUnknown) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const TracePtr made =
        agreement::MakeRandomDevices({.seed = seed, .devices = {0}, .expandable = false}).trace;
    const TracePtr back = Import(Bytes(*made));
    ASSERT_NE(back, nullptr);
    const auto peak_a = analysis::FindPeak(*made, analysis::ComputeCurves(*made));
    const auto peak_b = analysis::FindPeak(*back, analysis::ComputeCurves(*back));
    EXPECT_EQ(peak_a.allocated, peak_b.allocated);
    EXPECT_EQ(peak_a.by_category, peak_b.by_category);
    std::map<trace::Category, uint64_t> end_a, end_b;
    for (auto [t, end] : {std::pair(made.get(), &end_a), std::pair(back.get(), &end_b)})
      for (uint32_t i = 0; i < t->allocations.size(); ++i)
        (*end)[t->allocations.category[i]] += t->allocations.bytes_rounded[i];
    EXPECT_EQ(end_a, end_b);
    for (const trace::EventIndex event : back->allocations.alloc_event)
      ASSERT_EQ(back->events.detail[event], 0);
  }
}

// A Chrome trace has the sum of the segments instead of the segments, block sizes instead of
// requested sizes, and only one category for each block.
TEST_P(RoundTrip, ChromeTraceKeepsAllocations) {
  const TracePtr run = Simulate(GetParam());
  std::ostringstream out;
  ASSERT_TRUE(WriteChromeTrace(*run, out).ok());
  const TracePtr back = Import(out.str());
  ASSERT_NE(back, nullptr);
  const trace::AllocationTable &a = run->allocations, &b = back->allocations;
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.bytes_rounded, b.bytes_rounded);
  EXPECT_EQ(a.main_category, b.birth_category);
  EXPECT_EQ(a.step, b.step);
  const auto peak_a = analysis::FindPeak(*run, analysis::ComputeCurves(*run));
  const auto peak_b = analysis::FindPeak(*back, analysis::ComputeCurves(*back));
  EXPECT_EQ(peak_a.allocated, peak_b.allocated);
}

// Names must stay the same. Threads get other numbers.
TEST(RoundTripActivities, ChromeTraceKeepsActivities) {
  using trace::Activity;
  using trace::ActivityKind;
  trace::Trace run(*Simulate({}));
  std::mt19937_64 random(5);
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto first = static_cast<uint32_t>(run.strings.size());
  for (const char* text :
       {"sgemm<4, float>(int, \"x\")", "ncclDevKernel_AllGather_RING_LL",
        "Memcpy DtoH (Device -> Pinned)", "cudaLaunchKernel", "aten::mm", "layers.3"})
    run.strings.push_back(text);
  const auto span = static_cast<uint64_t>(run.end_ns() - run.begin_ns());
  for (int i = 0; i < 600; ++i) {
    Activity a;
    a.kind = static_cast<ActivityKind>(below(trace::kActivityKindCount - 1));  // no operands
    const bool copies = a.kind == ActivityKind::kMemcpy;
    const bool sets = a.kind == ActivityKind::kMemset;
    const bool of_driver =
        a.kind == ActivityKind::kDriverAlloc || a.kind == ActivityKind::kDriverFree;
    const bool counts = a.kind == ActivityKind::kCounter;
    const bool syncs = a.kind == ActivityKind::kSynchronization;
    a.name = {first + (a.kind == ActivityKind::kCollective ? 1u
                       : copies                            ? 2u
                       : below(2) != 0                     ? 3u
                                                           : 0u)};
    a.begin_ns = run.begin_ns() + static_cast<int64_t>(below(span));
    a.end_ns = a.begin_ns + static_cast<int64_t>(of_driver || counts ? 0 : below(span / 50 + 1));
    if (trace::HasDevice(a.kind)) a.device = static_cast<uint8_t>(below(2));
    if (!trace::HasDevice(a.kind)) a.thread = static_cast<uint32_t>(below(3));
    if (trace::IsOfDevice(a.kind) || syncs) a.stream = static_cast<uint32_t>(7 + below(3));
    if (syncs && below(2) == 0) a.stream = trace::kAllStreams;
    if (counts) a.stream = 0;
    if (!counts) a.correlation = below(3) == 0 ? 0 : 1 + below(300);
    if (copies) a.from = trace::MemorySpace::kDevice, a.to = trace::MemorySpace::kPinned;
    if (sets || of_driver) a.to = trace::MemorySpace::kManaged;
    if (of_driver) a.address = below(uint64_t{1} << 47);
    if (copies || of_driver || counts) a.bytes = below(1u << 30);
    if (!counts && below(2) == 0) a.op = {first + 4};
    if (!counts && below(2) == 0) a.module = {first + 5};
    run.activities.Append(a);
  }
  trace::SortActivities(run.activities);
  std::ostringstream out;
  ASSERT_TRUE(WriteChromeTrace(run, out).ok());
  const TracePtr back = Import(out.str());
  ASSERT_NE(back, nullptr);
  ASSERT_EQ(back->activities.size(), 600u);
  const auto lines = [](const trace::Trace& t, std::map<uint32_t, uint32_t> threads) {
    std::vector<std::string> all;
    const int64_t first_ns = t.activities.begin_ns[0];
    for (uint32_t row = 0; row < t.activities.size(); ++row) {
      const Activity a = t.activities.Row(row);
      all.push_back(fmt::format(
          "{} {}..{} {} dev {} stream {} thread {} op {} module {} #{} {:#x} {} bytes {} to {}",
          trace::Name(a.kind), a.begin_ns - first_ns, a.end_ns - first_ns, t.String(a.name),
          a.device, a.stream, trace::HasDevice(a.kind) ? 0 : threads[a.thread], t.String(a.op),
          t.String(a.module), a.correlation, a.address, a.bytes, trace::Name(a.from),
          trace::Name(a.to)));
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  // Finds the original thread of each thread in the file by the begin times of activities.
  std::map<int64_t, uint32_t> thread_at;
  for (uint32_t row = 0; row < run.activities.size(); ++row)
    if (!trace::HasDevice(run.activities.kind[row]))
      thread_at[run.activities.begin_ns[row] - run.activities.begin_ns[0]] =
          run.activities.thread[row];
  std::map<uint32_t, uint32_t> original, identity;
  for (uint32_t row = 0; row < back->activities.size(); ++row) {
    const auto at = thread_at.find(back->activities.begin_ns[row] - back->activities.begin_ns[0]);
    if (trace::HasDevice(back->activities.kind[row]) || at == thread_at.end()) continue;
    original.emplace(back->activities.thread[row], at->second);
  }
  for (uint32_t thread = 0; thread < 3; ++thread) identity[thread] = thread;
  const std::vector<std::string> got = lines(*back, original), expected = lines(run, identity);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]);
}

TEST(RoundTripRecorded, KeepsEverySharedSnapshot) {
  const std::filesystem::path folder = VRAMSCOPE_SOURCE_DIR "/../shared/snapshots";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no ../shared/snapshots here";
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".zst") continue;
    SCOPED_TRACE(file.path().filename().string());
    ++files;
    const absl::StatusOr<TracePtr> first = importers::OpenTraceFile(file.path().string(), {});
    ASSERT_TRUE(first.ok()) << first.status();
    const std::string bytes = Bytes(**first);
    const TracePtr second = Import(bytes);
    ASSERT_NE(second, nullptr);
    ExpectEqual(**first, *second);
    EXPECT_EQ(bytes, Bytes(*second));
  }
  EXPECT_GE(files, 6);
}

}  // namespace
}  // namespace vramscope::exporters
