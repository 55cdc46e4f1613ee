// Tests joining the traces of several processes into one, and splitting it again.
#include "profiler/trace/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "profiler/trace/one_device.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

std::shared_ptr<const Trace> Random(uint64_t seed, bool two_devices) {
  testing::Stream stream = testing::RandomStream(seed, 2000);
  for (Event& e : stream.events) {
    e.thread &= 0xFF;
    const bool by_id = e.kind == EventKind::kAlloc || e.kind == EventKind::kSegmentAlloc ||
                       e.kind == EventKind::kSegmentMap || e.kind == EventKind::kSegmentUnmap;
    e.device = static_cast<uint8_t>(two_devices && (by_id ? e.id % 3 == 0 : e.bytes % 2));
  }
  for (Activity& a : stream.activities) {
    a.device = static_cast<uint8_t>(two_devices && a.device);
    a.correlation &= kCorrelationBits;
    // Limits the times, so that they do not overflow when they are shifted.
    a.begin_ns = std::clamp<int64_t>(a.begin_ns, INT64_MIN / 2, INT64_MAX / 2);
    a.end_ns = std::clamp<int64_t>(a.end_ns, a.begin_ns, INT64_MAX / 2);
  }
  return testing::Build(stream);
}

template <class Column>
std::vector<std::string> Texts(const Trace& t, const Column& column) {
  std::vector<std::string> texts;
  for (const StringId id : column) texts.emplace_back(t.String(id));
  return texts;
}

// Checks that `one`, a process's part of the joined trace, has the contents of its original trace
// `own`, after the markers that name processes.
void ExpectSame(const Trace& one, const Trace& own, int64_t shift, size_t markers) {
  ASSERT_EQ(one.events.size(), own.events.size() + markers);
  std::vector<EventKind> kinds(one.events.kind.begin() + static_cast<ptrdiff_t>(markers),
                               one.events.kind.end());
  EXPECT_THAT(kinds, ::testing::ElementsAreArray(own.events.kind.begin(), own.events.kind.end()));
  std::vector<std::string> names = Texts(one, one.events.name);
  names.erase(names.begin(), names.begin() + static_cast<ptrdiff_t>(markers));
  EXPECT_EQ(names, Texts(own, own.events.name));
  for (size_t i = 0; i < own.events.size(); ++i)
    ASSERT_EQ(one.events.time_ns[i + markers], own.events.time_ns[i] + shift);
  EXPECT_EQ(one.allocations.bytes, own.allocations.bytes);
  EXPECT_EQ(one.allocations.phase, own.allocations.phase);
  EXPECT_EQ(one.allocations.step, own.allocations.step);
  EXPECT_EQ(one.allocations.micro_batch, own.allocations.micro_batch);
  EXPECT_EQ(one.allocations.category, own.allocations.category);
  EXPECT_EQ(one.segments.bytes, own.segments.bytes);
  EXPECT_EQ(one.slices.kind, own.slices.kind);
  EXPECT_EQ(one.slices.number, own.slices.number);
  EXPECT_EQ(one.slices.step, own.slices.step);
  EXPECT_EQ(one.slices.depth, own.slices.depth);
  EXPECT_EQ(one.slices.thread, own.slices.thread);
  EXPECT_EQ(Texts(one, one.slices.name), Texts(own, own.slices.name));
  ASSERT_EQ(one.activities.size(), own.activities.size());
  EXPECT_EQ(Texts(one, one.activities.op), Texts(own, own.activities.op));
  for (uint32_t row = 0; row < own.activities.size(); ++row) {
    Activity a = one.activities.Row(row), b = own.activities.Row(row);
    b.begin_ns += shift;
    b.end_ns += shift;
    EXPECT_EQ(one.String(a.name), own.String(b.name));
    EXPECT_EQ(one.String(a.module), own.String(b.module));
    a.name = b.name, a.op = b.op, a.module = b.module;
    // Activities of the host also have a device, but it has no meaning.
    a.device = b.device;
    ASSERT_TRUE(a == b) << "activity " << row;
  }
}

TEST(Processes, AreUnchangedByJoiningAndSplitting) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<ProcessTrace> parts = {{"rank 0", Random(seed, false), 1000},
                                             {"rank 1", Random(seed + 100, true), 400},
                                             {"rank 2", Random(seed, false), 900}};
    const auto whole = JoinProcesses(parts);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const std::vector<Process> processes = ProcessesOf(**whole);
    ASSERT_EQ(processes.size(), 3u);
    EXPECT_EQ(processes[1].name, "rank 1");
    EXPECT_EQ(processes[1].devices, (std::vector<uint8_t>{1, 2}));
    EXPECT_EQ(NameOfDevice(**whole, 3), "rank 2");
    EXPECT_EQ(NameOfDevice(**whole, 2), "rank 1, cuda:1");
    ExpectSame(*OfDevice(*whole, 0), *parts[0].trace, 600, 1);
    ExpectSame(*OfDevice(*whole, 1), *OfDevice(parts[1].trace, 0), 0, 2);
    ExpectSame(*OfDevice(*whole, 2), *OfDevice(parts[1].trace, 1), 0, 2);
    ExpectSame(*OfDevice(*whole, 3), *parts[2].trace, 500, 1);
    // The trace of one device names only the process of this device.
    EXPECT_EQ(ProcessesOf(*OfDevice(*whole, 3)).size(), 1u);
    EXPECT_EQ(NameOfDevice(*OfDevice(*whole, 3), 3), "rank 2");
    // In the joined trace, no call of one process may be joined to an activity of another.
    for (uint32_t row = 0; row < (*whole)->activities.size(); ++row) {
      const Activity a = (*whole)->activities.Row(row);
      const auto process = static_cast<uint8_t>(a.correlation >> kCorrelationShift);
      ASSERT_TRUE(a.correlation == 0 || process == ProcessOfThread(a.thread));
    }
  }
}

TEST(Processes, RoundTripThroughAFile) {
  const std::vector<ProcessTrace> parts = {{"rank 0", Random(1, false)},
                                           {"rank 1", Random(2, false)}};
  const auto whole = JoinProcesses(parts);
  ASSERT_TRUE(whole.ok());
  const std::string path =
      std::filesystem::temp_directory_path() / ("processes-" + std::to_string(getpid()));
  ASSERT_TRUE(WriteTraceFile(**whole, path, {}).ok());
  const auto read = ReadTraceFile(path, {});
  std::filesystem::remove(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(testing::Difference(**whole, **read), "");
}

TEST(Processes, HaveHostsAndClockOffsets) {
  const std::vector<ProcessTrace> parts = {{"rank 0", Random(1, false), 700, "node1"},
                                           {"rank 1", Random(2, true), 400, "node2\nof two lines"},
                                           {"rank 2", Random(3, false), 400, ""}};
  const auto whole = JoinProcesses(parts);
  ASSERT_TRUE(whole.ok());
  const std::vector<Process> processes = ProcessesOf(**whole);
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].host, "node1");
  EXPECT_EQ(processes[1].host, "node2");
  EXPECT_EQ(processes[2].host, "");
  EXPECT_EQ(processes[0].clock_offset_ns, 300);
  EXPECT_EQ(processes[1].clock_offset_ns, 0);
  EXPECT_EQ(processes[1].name, "rank 1");
  EXPECT_EQ(NameOfDevice(**whole, 0), "rank 0 (node1)");
  EXPECT_EQ(NameOfDevice(**whole, 2), "rank 1 (node2), cuda:1");
  EXPECT_EQ(NameOfDevice(**whole, 3), "rank 2");
  // Older files do not contain hosts.
  testing::Stream older = testing::RandomStream(4, 100);
  older.strings.push_back("process\nrank 5");
  Event marker;
  marker.name.value = static_cast<uint32_t>(older.strings.size() - 1);
  marker.time_ns = older.events.front().time_ns;
  older.events.insert(older.events.begin(), marker);
  const auto read = ProcessesOf(*testing::Build(older));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, "rank 5");
  EXPECT_EQ(read[0].host, "");
  EXPECT_EQ(read[0].clock_offset_ns, 0);
}

TEST(Processes, OnlyProcessWithMemoryIsReturnedUnchanged) {
  const std::shared_ptr<const Trace> only = Random(1, false);
  const std::vector<ProcessTrace> parts = {{"rank 0", std::make_shared<const Trace>()},
                                           {"rank 1", only}};
  EXPECT_EQ(*JoinProcesses(parts), only);
  EXPECT_TRUE(ProcessesOf(*only).empty());
  EXPECT_EQ(NameOfDevice(*only, 4), "cuda:4");
}

TEST(Processes, JoinAtMost256Devices) {
  const std::shared_ptr<const Trace> one =
      testing::Build(testing::TrainingStream({.layers = 1, .steps = 1, .max_events = 200}));
  std::vector<ProcessTrace> parts(256, {"", one});
  EXPECT_EQ(ProcessesOf(**JoinProcesses(parts)).size(), 256u);
  parts.push_back({"", one});
  EXPECT_TRUE(absl::IsResourceExhausted(JoinProcesses(parts).status()));
}

// A time that becomes too large for its type must become the largest time.
TEST(Processes, ExtremeTimesStayInOrder) {
  const std::shared_ptr<const Trace> one = Random(3, false);
  const std::vector<ProcessTrace> parts = {{"a", one, 0}, {"b", one, INT64_MAX}};
  const auto whole = JoinProcesses(parts);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const EventTable& events = (*whole)->events;
  ASSERT_EQ(events.size(), 2 * one->events.size() + 2);
  for (size_t i = 1; i < events.size(); ++i)
    ASSERT_LE(events.time_ns[i - 1], events.time_ns[i]) << i;
  const ActivityTable& a = (*whole)->activities;
  ASSERT_EQ(a.size(), 2 * one->activities.size());
  for (uint32_t row = 0; row < a.size(); ++row) ASSERT_LE(a.begin_ns[row], a.end_ns[row]);
  for (const uint8_t device : std::vector<uint8_t>{0, 1}) {
    const auto process = OfDevice(*whole, device);
    EXPECT_EQ(process->allocations.bytes, one->allocations.bytes);
    ASSERT_EQ(process->events.size(), one->events.size() + 1);
    for (size_t i = 0; i < one->events.size(); ++i) {
      const int64_t own = one->events.time_ns[i];
      ASSERT_EQ(process->events.time_ns[i + 1],
                device == 0 ? own : std::min<int64_t>(own, 0) + INT64_MAX);
    }
  }
}

}  // namespace
}  // namespace vramscope::trace
