// What is in memory at an event is told by many: the cursor, curves, live sets, peaks, steps, the
// footer of a file, every export, fragmentation, what-ifs. Over random recordings of several
// devices with the same addresses all of them say what a naive reckoning says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/devices.h"
#include "profiler/explain/explain.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/csv.h"
#include "profiler/exporters/memory_timeline.h"
#include "profiler/exporters/snapshot.h"
#include "profiler/importers/open.h"
#include "profiler/replay/replay.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/input.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/agreement/naive_memory.h"
#include "tests/profiler/agreement/random_devices.h"

namespace vramscope::agreement {
namespace {

using nlohmann::json;
using trace::Category;
using trace::Event;
using trace::EventIndex;
using trace::EventKind;

class Agreement : public ::testing::TestWithParam<RandomDevicesOptions> {
 protected:
  bool ChangesMemory(size_t i) const {
    switch (events_[i].kind) {
      case EventKind::kAlloc:
      case EventKind::kFreeCompleted:
      case EventKind::kRetag:
        return true;
      default:
        return ChangesReserved(i);
    }
  }
  bool ChangesReserved(size_t i) const {
    return events_[i].kind >= EventKind::kSegmentAlloc &&
           events_[i].kind <= EventKind::kSegmentUnmap;
  }
  uint8_t DeviceOf(size_t i) const { return naive_.DeviceOf(events_[i]); }
  size_t Begin() const { return t_.recording_begin == trace::kNoEvent ? 0 : t_.recording_begin; }
  std::filesystem::path Temporary(const std::string& ending) const {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return std::filesystem::path(::testing::TempDir()) / ("agreement_" + name + ending);
  }
  // Most allocated and reserved of a device in events [first, last], what was there before
  // included.
  std::pair<uint64_t, uint64_t> Most(uint8_t device, size_t first, size_t last) const {
    std::pair<uint64_t, uint64_t> most;
    for (size_t i = first == 0 ? 0 : first - 1; i <= last; ++i) {
      const NaiveSums now = naive_.After(i, device);
      most = {std::max(most.first, now.allocated), std::max(most.second, now.reserved)};
    }
    return most;
  }

  const RandomDevices made_ = MakeRandomDevices(GetParam());
  const std::vector<Event>& events_ = made_.events;
  const trace::Trace& t_ = *made_.trace;
  const NaiveMemory naive_{made_.events};
  const std::vector<uint8_t> devices_ = analysis::DevicesOf(t_);
};

void ExpectSums(const trace::MemorySums& got, const NaiveSums& expected, const std::string& where) {
  ASSERT_EQ(got.allocated, expected.allocated) << where;
  ASSERT_EQ(got.requested, expected.requested) << where;
  ASSERT_EQ(got.reserved, expected.reserved) << where;
  ASSERT_EQ(got.by_category, expected.by_category) << where;
}

std::vector<uint64_t> Ids(const std::vector<trace::AllocationId>& ids) {
  std::vector<uint64_t> out;
  for (const trace::AllocationId id : ids) out.push_back(id.value);
  return out;
}

TEST_P(Agreement, TheRecordingIsWhatItShouldBe) {
  std::map<EventKind, int> kinds;
  for (const Event& e : events_) ++kinds[e.kind];
  EXPECT_EQ(devices_, GetParam().devices);
  EXPECT_EQ(GetParam().expandable, kinds[EventKind::kSegmentMap] > 0);
  EXPECT_EQ(GetParam().device_memory_bytes > 0, kinds[EventKind::kOutOfMemory] > 0);
  EXPECT_GT(kinds[EventKind::kRetag], 5);
  EXPECT_GT(kinds[EventKind::kSegmentFree] + kinds[EventKind::kSegmentUnmap], 0);
  if (GetParam().mempools > 1) {
    EXPECT_NE(std::ranges::count(t_.segments.mempool, 1u << 16), 0);
  }
}

TEST_P(Agreement, Cursor) {
  trace::MemoryCursor all(t_);
  std::map<uint8_t, trace::MemoryCursor> each;
  for (const uint8_t device : devices_) each.emplace(device, trace::MemoryCursor(t_, device));
  for (size_t i = 0; i < events_.size(); ++i) {
    EXPECT_EQ(all.Apply(), ChangesMemory(i));
    ExpectSums(all.sums(), naive_.All(i), fmt::format("event {}", i));
    for (auto& [device, cursor] : each) {
      const NaiveSums expected = naive_.After(i, device);
      const std::string where = fmt::format("event {} device {}", i, device);
      EXPECT_EQ(cursor.Apply(), ChangesMemory(i) && DeviceOf(i) == device) << where;
      ExpectSums(cursor.sums(), expected, where);
      ExpectSums(all.memory(device).sums(), expected, where);
      if (i % 7 == 0) {
        ASSERT_EQ(Ids(cursor.Live()), expected.live) << where;
      }
    }
  }
}

TEST_P(Agreement, CurvesAndLiveSets) {
  for (const uint8_t device : devices_) {
    const analysis::MemoryCurves curves = analysis::ComputeCurves(t_, device);
    for (size_t i = 0; i < events_.size(); ++i) {
      const NaiveSums expected = naive_.After(i, device);
      const auto point = analysis::PointAt(curves, static_cast<EventIndex>(i));
      ASSERT_EQ(point ? curves.allocated[*point] : 0, expected.allocated) << i;
      ASSERT_EQ(point ? curves.requested[*point] : 0, expected.requested) << i;
      ASSERT_EQ(point ? curves.reserved[*point] : 0, expected.reserved) << i;
      for (size_t c = 0; c < trace::kCategoryCount; ++c)
        ASSERT_EQ(point && !curves.category[c].empty() ? curves.category[c][*point] : 0,
                  expected.by_category[c])
            << i;
      if (i % 11 != 0) continue;
      const analysis::LiveSet live = analysis::LiveAt(t_, static_cast<EventIndex>(i), device);
      EXPECT_EQ(live.allocated, expected.allocated);
      EXPECT_EQ(live.requested, expected.requested);
      EXPECT_EQ(live.reserved, expected.reserved);
      EXPECT_EQ(live.by_category, expected.by_category);
      std::vector<uint64_t> ids;
      for (const analysis::LiveAllocation& l : live.allocations) ids.push_back(l.id.value);
      std::sort(ids.begin(), ids.end());
      EXPECT_EQ(ids, expected.live);
    }
  }
}

// A trace of one device alone says of it what the whole trace says.
TEST_P(Agreement, OneDeviceAlone) {
  for (const uint8_t device : devices_) {
    const auto one = trace::OfDevice(t_, device);
    EXPECT_EQ(analysis::DevicesOf(*one), std::vector<uint8_t>{device});
    trace::MemoryCursor alone(*one);
    for (size_t i = 0; i < events_.size(); ++i) {
      const bool of_all = events_[i].kind == EventKind::kMarker ||
                          events_[i].kind == EventKind::kStepBegin ||
                          events_[i].kind == EventKind::kStepEnd;
      if (!of_all && DeviceOf(i) != device) continue;
      ASSERT_LT(alone.event(), one->events.size());
      ASSERT_EQ(one->events.kind[alone.event()], events_[i].kind);
      alone.Apply();
      const NaiveSums now = naive_.After(i, device);
      ExpectSums(alone.sums(), now, fmt::format("event {} device {}", i, device));
      EXPECT_EQ(alone.Live().size(), now.live.size());
    }
    EXPECT_EQ(alone.event(), one->events.size());
    EXPECT_EQ(analysis::FindPeak(*one, analysis::ComputeCurves(*one)).allocated,
              Most(device, Begin(), events_.size() - 1).first);
  }
}

TEST_P(Agreement, PeaksStepsAndSummaries) {
  uint8_t highest = devices_.front();
  std::map<uint8_t, uint64_t> peaks;
  for (const analysis::DevicePeak& of : analysis::PeakOfEachDevice(t_)) {
    const auto [allocated, reserved] = Most(of.device, Begin(), events_.size() - 1);
    EXPECT_EQ(of.peak.allocated, allocated);
    EXPECT_EQ(of.peak.reserved, reserved);
    EXPECT_GE(of.peak.context.event, Begin());
    EXPECT_EQ(naive_.After(of.peak.context.event, of.device).allocated, allocated);
    EXPECT_EQ(naive_.After(of.peak.context.event, of.device).by_category, of.peak.by_category);
    EXPECT_EQ(explain::PeakReserved(t_)[of.device], reserved);
    peaks[of.device] = allocated;
    if (allocated > peaks[highest]) highest = of.device;

    const analysis::MemoryCurves curves = analysis::ComputeCurves(t_, of.device);
    const analysis::Summary summary = analysis::Summarize(t_, curves);
    EXPECT_EQ(summary.peak.allocated, allocated);
    EXPECT_EQ(summary.peak.reserved, reserved);
    size_t row = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].kind != EventKind::kStepBegin) continue;
      size_t end = i;
      while (events_[end].kind != EventKind::kStepEnd) ++end;
      ASSERT_LT(row, summary.steps.size());
      const auto [most, most_reserved] = Most(of.device, i, end);
      EXPECT_EQ(summary.steps[row].peak_allocated, most);
      EXPECT_EQ(summary.steps[row++].peak_reserved, most_reserved);
    }
    EXPECT_EQ(row, summary.steps.size());
  }
  const auto failed = std::ranges::find(events_, EventKind::kOutOfMemory, &Event::kind);
  const std::optional<uint8_t> shown = analysis::DeviceToShow(t_);
  if (devices_.size() == 1) {
    EXPECT_EQ(shown, std::nullopt);
  } else {
    EXPECT_EQ(shown, failed != events_.end() ? failed->device : highest);
  }
}

TEST_P(Agreement, FooterOfAFile) {
  std::string bytes;
  const auto writer = trace::TraceWriter::ToSink([&](std::string_view more) {
    bytes += more;
    return absl::OkStatus();
  });
  writer->Begin(t_.info);
  writer->Strings(0, t_.strings);
  constexpr size_t kPiece = 97;
  for (size_t i = 0; i < events_.size(); i += kPiece) {
    writer->Events(std::span(events_).subspan(i, std::min(kPiece, events_.size() - i)));
    writer->Flush();
  }
  writer->End(true, "");
  ASSERT_TRUE(writer->Close().ok());
  trace::FrameDecoder frames;
  frames.Append(bytes);
  size_t batches = 0;
  for (auto frame = frames.Next(); frame.ok() && frame->has_value(); frame = frames.Next()) {
    if ((*frame)->type != trace::FrameType::kFooter) continue;
    const auto footer = trace::DecodeFooter((*frame)->payload);
    ASSERT_TRUE(footer.ok());
    for (const trace::Footer::Batch& batch : footer->batches) {
      uint64_t allocated = 0, reserved = 0;
      const size_t first = batch.first_event;
      for (size_t i = first == 0 ? 0 : first - 1; i < first + batch.count; ++i) {
        const NaiveSums now = naive_.All(i);
        allocated = std::max(allocated, now.allocated);
        reserved = std::max(reserved, now.reserved);
      }
      EXPECT_EQ(batch.peak_allocated, allocated);
      EXPECT_EQ(batch.peak_reserved, reserved);
      ++batches;
    }
  }
  EXPECT_EQ(batches, (events_.size() + kPiece - 1) / kPiece);
}

// Every counter in order: (device, name, bytes).
TEST_P(Agreement, ChromeTrace) {
  std::ostringstream out;
  ASSERT_TRUE(exporters::WriteChromeTrace(t_, out).ok());
  const json file = json::parse(out.str());
  using Counter = std::tuple<int, std::string, uint64_t>;
  std::vector<Counter> counters, expected;
  using Failure = std::tuple<int, uint64_t, uint64_t>;  // device, reserved, allocated
  std::vector<Failure> failures, expected_failures;
  size_t instants = 0;
  for (const json& e : file["traceEvents"]) {
    if (e["ph"] == "C") {
      counters.emplace_back(e["pid"], e["name"], e["args"]["bytes"]);
    } else if (e["name"] == "[memory]") {
      const NaiveSums now = naive_.After(e["args"]["Ev Idx"], e["args"]["Device Id"]);
      EXPECT_EQ(e["args"]["Total Reserved"], now.reserved);
      EXPECT_EQ(e["args"]["Total Allocated"], now.allocated);
      ++instants;
    } else if (e["name"] == "[OutOfMemory]") {
      failures.emplace_back(e["args"]["Device Id"], e["args"]["Total Reserved"],
                            e["args"]["Total Allocated"]);
    }
  }
  std::erase_if(counters, [begun = std::map<std::pair<int, std::string>, bool>()](
                              const Counter& c) mutable {  // every curve begins at 0
    return !std::exchange(begun[{std::get<0>(c), std::get<1>(c)}], true) && std::get<2>(c) == 0;
  });
  size_t changes = 0;
  std::map<uint64_t, Category> category;
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    const uint8_t device = DeviceOf(i);
    const NaiveSums now = naive_.After(i, device);
    const auto add = [&](Category c) {
      expected.emplace_back(device, trace::Name(c), now.by_category[static_cast<size_t>(c)]);
    };
    if (e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeCompleted) {
      if (e.kind == EventKind::kAlloc) category[e.id] = e.category;
      add(category[e.id]);
      expected.emplace_back(device, "allocated", now.allocated);
      ++changes;
    } else if (e.kind == EventKind::kRetag && category[e.id] != e.category) {
      add(std::exchange(category[e.id], e.category));
      add(e.category);
    } else if (ChangesReserved(i)) {
      expected.emplace_back(device, "reserved", now.reserved);
    } else if (e.kind == EventKind::kOutOfMemory) {
      expected_failures.emplace_back(device, now.reserved, now.allocated);
    }
  }
  EXPECT_EQ(instants, changes);
  EXPECT_EQ(failures, expected_failures);
  ASSERT_EQ(counters.size(), expected.size());
  for (size_t i = 0; i < counters.size(); ++i) ASSERT_EQ(counters[i], expected[i]) << i;
}

TEST_P(Agreement, MemoryTimeline) {
  for (const uint8_t device : devices_) {
    const std::filesystem::path path = Temporary(".raw.json.gz");
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteMemoryTimeline(t_, out, {.device = device}).ok());
    out.close();
    const auto text = trace::ReadWholeInput(path.string(), size_t{1} << 30);
    std::filesystem::remove(path);
    ASSERT_TRUE(text.ok()) << text.status();
    const json points = json::parse(*text);
    std::array<int64_t, 8> sums{};
    size_t next = 0;
    std::map<uint64_t, Category> category;
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      size_t count = e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeCompleted;
      if (e.kind == EventKind::kAlloc) category[e.id] = e.category;
      if (e.kind == EventKind::kRetag)
        count = std::exchange(category[e.id], e.category) == e.category ? 0 : 2;
      if (DeviceOf(i) != device || count == 0) continue;
      for (; count > 0; --count, ++next) {
        ASSERT_LT(next, points.size());
        sums.at(points[next][3]) += points[next][2].get<int64_t>();
      }
      const NaiveSums now = naive_.After(i, device);
      int64_t total = 0;
      for (const int64_t sum : sums) total += sum;
      ASSERT_EQ(total, static_cast<int64_t>(now.allocated)) << i;
      const auto of = [&now](Category c) {
        return static_cast<int64_t>(now.by_category[static_cast<size_t>(c)]);
      };
      EXPECT_EQ(sums[0], of(Category::kParameter)) << i;
      EXPECT_EQ(sums[1], of(Category::kOptimizerState)) << i;
      EXPECT_EQ(sums[4], of(Category::kActivation)) << i;
      EXPECT_EQ(sums[5], of(Category::kGradient)) << i;
    }
    EXPECT_EQ(next, points.size());
  }
}

TEST_P(Agreement, Csv) {
  std::ostringstream out;
  ASSERT_TRUE(exporters::WriteCsv(t_, out).ok());
  std::istringstream lines(out.str());
  std::string line;
  std::getline(lines, line);
  struct Row {
    uint8_t device;
    uint64_t bytes;
    int64_t begin, end;
  };
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    ASSERT_GE(cells.size(), 12u);
    rows.push_back({static_cast<uint8_t>(std::stoi(cells[5])), std::stoull(cells[3]),
                    std::stoll(cells[9]), cells[11] == "1" ? std::stoll(cells[10]) : INT64_MAX});
  }
  for (size_t i = 0; i < events_.size(); i += 5) {
    std::map<uint8_t, uint64_t> allocated;
    for (const Row& row : rows)
      if (row.begin <= events_[i].time_ns && row.end > events_[i].time_ns)
        allocated[row.device] += row.bytes;
    for (const uint8_t device : devices_)
      ASSERT_EQ(allocated[device], naive_.After(i, device).allocated) << i;
  }
}

// Written as a snapshot and read again: from where the recording began on, every device goes
// through the same allocated and reserved bytes and ends with the same blocks.
TEST_P(Agreement, SnapshotAndBack) {
  const std::filesystem::path path = Temporary(".pickle");
  {
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteSnapshot(t_, out).ok());
  }
  const auto back = importers::OpenTraceFile(path.string(), {});
  std::filesystem::remove(path);
  ASSERT_TRUE(back.ok()) << back.status();
  const trace::Trace& b = **back;
  EXPECT_EQ(analysis::DevicesOf(b), devices_);
  using Levels = std::vector<std::pair<uint64_t, uint64_t>>;  // allocated, reserved
  for (const uint8_t device : devices_) {
    const auto add = [](Levels& levels, uint64_t allocated, uint64_t reserved) {
      if (levels.empty() || levels.back() != std::pair(allocated, reserved))
        levels.emplace_back(allocated, reserved);
    };
    Levels expected, got;
    for (size_t i = Begin(); i < events_.size(); ++i) {
      const NaiveSums now = naive_.After(i, device);
      add(expected, now.allocated, now.reserved);
    }
    trace::MemoryCursor at(b, device);
    at.AdvanceTo(b.recording_begin == trace::kNoEvent ? 0 : b.recording_begin);
    while (at.event() < b.events.size()) {
      at.Apply();
      add(got, at.sums().allocated, at.sums().reserved);
    }
    if (Begin() == 0) std::erase(expected, std::pair<uint64_t, uint64_t>(0, 0));
    if (Begin() == 0) std::erase(got, std::pair<uint64_t, uint64_t>(0, 0));
    EXPECT_EQ(got, expected) << "device " << int{device};
    std::vector<uint64_t> blocks, expected_blocks;
    for (const trace::AllocationId id : at.Live())
      blocks.push_back(b.allocations.address[id.value]);
    for (const uint64_t id : naive_.After(events_.size() - 1, device).live)
      expected_blocks.push_back(t_.allocations.address[id]);
    EXPECT_THAT(blocks, ::testing::UnorderedElementsAreArray(expected_blocks));
  }
}

TEST_P(Agreement, SegmentsAndFragmentation) {
  for (const uint8_t device : devices_) {
    for (size_t i = 0; i < events_.size(); i += 29) {
      const NaiveSums now = naive_.After(i, device);
      const auto event = static_cast<EventIndex>(i);
      const explain::Fragmentation f = explain::FragmentationAt(t_, event, device);
      EXPECT_EQ(f.allocated, now.allocated) << i;
      EXPECT_EQ(f.requested, now.requested) << i;
      EXPECT_EQ(f.reserved, now.reserved) << i;
      uint64_t bytes = 0, live = 0;
      for (const explain::SegmentView& s : explain::SegmentsAt(t_, event, device)) {
        bytes += s.bytes;
        live += s.live_bytes;
      }
      EXPECT_EQ(bytes, now.reserved) << i;
      EXPECT_EQ(live, now.allocated) << i;
    }
  }
}

// Of a recording that ran out of memory: what the device gave it at the most.
TEST_P(Agreement, WhatIfTakesTheRecordingsLimit) {
  for (const uint8_t device : devices_) {
    uint64_t limit = 0;
    for (size_t i = 0; i < events_.size(); ++i)
      if (events_[i].kind == EventKind::kOutOfMemory && events_[i].device == device)
        limit = std::max(limit, naive_.After(i, device).reserved + events_[i].bytes_rounded);
    if (limit == 0) continue;
    const auto replayed = replay::Replay(t_, {.alloc_conf = run::AllocConf(), .device = device});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(replayed->device_memory_bytes, limit);
  }
}

std::vector<RandomDevicesOptions> Recordings() {
  std::vector<RandomDevicesOptions> all;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    all.push_back({.seed = seed, .devices = {0}, .expandable = false, .older = false});
    all.push_back({.seed = seed + 10});
    all.push_back({.seed = seed + 20, .devices = {1, 3, 4}, .requests = 400});
    all.push_back({.seed = seed + 30,
                   .devices = {0, 2},
                   .requests = 400,
                   .device_memory_bytes = uint64_t{400} << 20,
                   .older = seed % 2 == 0,
                   .mempools = 1});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Random, Agreement, ::testing::ValuesIn(Recordings()),
                         [](const auto& info) { return fmt::format("seed{}", info.param.seed); });

}  // namespace
}  // namespace vramscope::agreement
