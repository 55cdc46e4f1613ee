// Many parts of the code compute the contents of memory at an event: the cursor, curves, live sets,
// peaks, steps, the footer of a file, every export, fragmentation and what-ifs. For random
// recordings of several devices with equal addresses, all must agree with a naive computation.
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
#include "profiler/explain/explain.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/csv.h"
#include "profiler/exporters/memory_snapshot.h"
#include "profiler/exporters/memory_timeline.h"
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
  // Returns the maximum of a device's allocated bytes and that of its reserved bytes in events
  // [first, last]. Memory from earlier events counts.
  std::pair<uint64_t, uint64_t> Maxima(uint8_t device, size_t first, size_t last) const {
    std::pair<uint64_t, uint64_t> most;
    for (size_t i = first == 0 ? 0 : first - 1; i <= last; ++i) {
      const NaiveSums now = naive_.After(i, device);
      most = {std::max(most.first, now.allocated), std::max(most.second, now.reserved)};
    }
    return most;
  }

  bool ConcernsAllDevices(size_t i) const {
    return events_[i].kind == EventKind::kMarker || events_[i].kind == EventKind::kStepBegin ||
           events_[i].kind == EventKind::kStepEnd;
  }
  // The part of a trace that belongs to one device. `events` has, for each of its events, the index
  // in the whole trace.
  struct Slice {
    std::shared_ptr<const trace::Trace> trace;
    std::vector<size_t> events;
    // Returns the slice's last event that is not after event `i` of the whole trace.
    std::optional<EventIndex> At(size_t i) const {
      const auto behind = std::ranges::upper_bound(events, i);
      if (behind == events.begin()) return std::nullopt;
      return static_cast<EventIndex>(behind - events.begin() - 1);
    }
  };
  Slice Of(uint8_t device) const {
    Slice slice{trace::OfDevice(made_.trace, device), {}};
    for (size_t i = 0; i < events_.size(); ++i)
      if (ConcernsAllDevices(i) || DeviceOf(i) == device) slice.events.push_back(i);
    return slice;
  }

  const RandomDevices made_ = MakeRandomDevices(GetParam());
  const std::vector<Event>& events_ = made_.events;
  const trace::Trace& t_ = *made_.trace;
  const NaiveMemory naive_{made_.events};
  const std::vector<uint8_t> devices_ = trace::DevicesOf(t_);
};

template <class Sums>
void ExpectSums(const trace::MemorySums& got, const Sums& expected, const std::string& where) {
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

TEST_P(Agreement, RandomRecordingHasTheRequestedEvents) {
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

TEST_P(Agreement, CursorMatchesNaiveSums) {
  trace::MemoryCursor all(t_);
  for (size_t i = 0; i < events_.size(); ++i) {
    EXPECT_EQ(all.Apply(), ChangesMemory(i));
    const std::string where = fmt::format("event {}", i);
    ExpectSums(all.sums(), naive_.All(i), where);
    for (const uint8_t device : devices_)
      ExpectSums(all.memory(device).sums(), naive_.After(i, device), where);
    if (i % 7 != 0) continue;
    ASSERT_EQ(Ids(all.Live()), naive_.All(i).live) << where;
    // Behind() computes the state from the tables. It does not apply all earlier events.
    trace::MemoryCursor there = trace::MemoryCursor::Behind(t_, static_cast<EventIndex>(i));
    ASSERT_EQ(there.event(), all.event());
    ExpectSums(there.sums(), all.sums(), where);
    for (const uint8_t device : devices_) {
      ExpectSums(there.memory(device).sums(), all.memory(device).sums(), where);
      EXPECT_EQ(there.memory(device).mapped(), all.memory(device).mapped()) << where;
    }
    for (const trace::AllocationId id : all.Live())
      EXPECT_EQ(there.CategoryOf(id), all.CategoryOf(id));
    EXPECT_EQ(there.Segments(), all.Segments());
    // When further events are applied from there, the results must still be equal.
    for (size_t next = i + 1; next < std::min(i + 20, events_.size()); ++next) there.Apply();
    ExpectSums(there.sums(), naive_.All(std::min(i + 20, events_.size()) - 1), where);
  }
}

TEST_P(Agreement, CurvesAndLiveSetsMatchNaiveSums) {
  for (const uint8_t device : devices_) {
    const Slice one = Of(device);
    const analysis::MemoryCurves curves = analysis::ComputeCurves(*one.trace);
    for (size_t i = 0; i < events_.size(); ++i) {
      const NaiveSums expected = naive_.After(i, device);
      const std::optional<EventIndex> event = one.At(i);
      if (!event) continue;
      const auto point = analysis::PointAt(curves, *event);
      ASSERT_EQ(point ? curves.allocated[*point] : 0, expected.allocated) << i;
      ASSERT_EQ(point ? curves.requested[*point] : 0, expected.requested) << i;
      ASSERT_EQ(point ? curves.reserved[*point] : 0, expected.reserved) << i;
      for (size_t c = 0; c < trace::kCategoryCount; ++c)
        ASSERT_EQ(point && !curves.category[c].empty() ? curves.category[c][*point] : 0,
                  expected.by_category[c])
            << i;
      if (i % 11 != 0) continue;
      const analysis::LiveSet live = analysis::LiveAt(*one.trace, *event);
      EXPECT_EQ(live.allocated, expected.allocated);
      EXPECT_EQ(live.requested, expected.requested);
      EXPECT_EQ(live.reserved, expected.reserved);
      EXPECT_EQ(live.by_category, expected.by_category);
      std::vector<uint64_t> blocks, expected_blocks;
      for (const analysis::LiveAllocation& l : live.allocations)
        blocks.push_back(one.trace->allocations.address[l.id.value]);
      for (const uint64_t id : expected.live) expected_blocks.push_back(t_.allocations.address[id]);
      EXPECT_THAT(blocks, ::testing::UnorderedElementsAreArray(expected_blocks));
    }
  }
}

// A trace of only one device must give the same sums as the whole trace gives for that device.
TEST_P(Agreement, OneDeviceTraceMatchesNaiveSums) {
  for (const uint8_t device : devices_) {
    const Slice one = Of(device);
    EXPECT_EQ(trace::DevicesOf(*one.trace), std::vector<uint8_t>{device});
    EXPECT_EQ(trace::OnlyDevice(*one.trace), device);
    EXPECT_EQ(one.trace == made_.trace, devices_.size() == 1);
    ASSERT_EQ(one.trace->events.size(), one.events.size());
    trace::MemoryCursor alone(*one.trace);
    for (const size_t i : one.events) {
      ASSERT_EQ(one.trace->events.kind[alone.event()], events_[i].kind);
      alone.Apply();
      const NaiveSums now = naive_.After(i, device);
      ExpectSums(alone.sums(), now, fmt::format("event {} device {}", i, device));
      EXPECT_EQ(alone.Live().size(), now.live.size());
    }
  }
}

// DiffTraces compares devices with the same number. Checks the peaks of every category in each
// step.
TEST_P(Agreement, DiffReportsCategoryPeaksPerDevice) {
  const auto pairs = analysis::DevicePairs(made_.trace, made_.trace);
  ASSERT_EQ(pairs.size(), devices_.size());
  for (size_t p = 0; p < pairs.size(); ++p) {
    const uint8_t device = devices_[p];
    EXPECT_EQ(pairs[p].device, device);
    std::map<std::pair<int32_t, Category>, uint64_t> expected, got;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].kind != EventKind::kStepBegin) continue;
      for (size_t at = i; events_[at].kind != EventKind::kStepEnd; ++at) {
        const NaiveSums now = naive_.After(at, device);
        for (size_t c = 0; c < trace::kCategoryCount; ++c) {
          if (now.by_category[c] == 0) continue;
          uint64_t& most =
              expected[{static_cast<int32_t>(events_[i].id), static_cast<Category>(c)}];
          most = std::max(most, now.by_category[c]);
        }
      }
    }
    for (const analysis::DiffRow& row : analysis::Diff(*pairs[p].a, *pairs[p].b)) {
      EXPECT_EQ(row.a, row.b);
      if (row.step >= 0) got[{row.step, row.category}] = row.a;
    }
    EXPECT_EQ(got, expected);
  }
}

TEST_P(Agreement, PeaksAndStepsMatchNaiveSums) {
  std::map<uint8_t, std::pair<uint64_t, uint64_t>> peaks;  // needed, allocated
  for (const analysis::DevicePeak& of : analysis::PeakOfEachDevice(made_.trace)) {
    const Slice one = Of(of.device);
    const auto [allocated, reserved] = Maxima(of.device, Begin(), events_.size() - 1);
    const size_t at = one.events[of.peak.context.event];
    EXPECT_EQ(of.peak.allocated, allocated);
    EXPECT_EQ(of.peak.reserved, reserved);
    EXPECT_GE(at, Begin());
    EXPECT_EQ(naive_.After(at, of.device).allocated, allocated);
    EXPECT_EQ(naive_.After(at, of.device).by_category, of.peak.by_category);
    peaks[of.device] = {std::max(allocated, reserved), allocated};

    const analysis::MemoryCurves curves = analysis::ComputeCurves(*one.trace);
    const analysis::Summary summary = analysis::Summarize(*one.trace, curves);
    EXPECT_EQ(summary.peak.allocated, allocated);
    EXPECT_EQ(summary.peak.reserved, reserved);
    size_t row = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].kind != EventKind::kStepBegin) continue;
      size_t end = i;
      while (events_[end].kind != EventKind::kStepEnd) ++end;
      ASSERT_LT(row, summary.steps.size());
      const auto [most, most_reserved] = Maxima(of.device, i, end);
      EXPECT_EQ(summary.steps[row].peak_allocated, most);
      EXPECT_EQ(summary.steps[row++].peak_reserved, most_reserved);
    }
    EXPECT_EQ(row, summary.steps.size());
  }
  const auto failed = std::ranges::find(events_, EventKind::kOutOfMemory, &Event::kind);
  const std::optional<uint8_t> shown = analysis::DeviceToShow(made_.trace);
  if (devices_.size() == 1) {
    EXPECT_EQ(shown, std::nullopt);
  } else {
    const auto highest = std::ranges::max_element(peaks, {}, [](auto& of) { return of.second; });
    EXPECT_EQ(shown, failed != events_.end() ? failed->device : highest->first);
  }
}

TEST_P(Agreement, FooterPeaksMatchNaiveSums) {
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

// Compares all counters in their order in the file, as (device, name, bytes).
TEST_P(Agreement, ChromeTraceCountersMatchNaiveSums) {
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
                              const Counter& c) mutable {  // drops the 0 at which a curve begins
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

TEST_P(Agreement, MemoryTimelineMatchesNaiveSums) {
  for (const uint8_t device : devices_) {
    const std::filesystem::path path = Temporary(".raw.json.gz");
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteMemoryTimeline(*Of(device).trace, out).ok());
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

TEST_P(Agreement, CsvAllocationsMatchNaiveSums) {
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

// Writes a recording as a snapshot and reads it again. Every device must have the same allocated
// and reserved bytes from the first event on, and the same blocks at the end.
TEST_P(Agreement, SnapshotRoundTripKeepsMemory) {
  const std::filesystem::path path = Temporary(".pickle");
  {
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteSnapshot(t_, out).ok());
  }
  const auto back = importers::OpenTraceFile(path.string(), {});
  std::filesystem::remove(path);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(trace::DevicesOf(**back), devices_);
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
    const auto one = trace::OfDevice(*back, device);
    const trace::Trace& b = *one;
    trace::MemoryCursor at(b);
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

TEST_P(Agreement, SegmentsAndFragmentationMatchNaiveSums) {
  for (const uint8_t device : devices_) {
    const Slice one = Of(device);
    for (size_t i = 0; i < events_.size(); i += 29) {
      const NaiveSums now = naive_.After(i, device);
      const std::optional<EventIndex> event = one.At(i);
      if (!event) continue;
      const explain::Fragmentation f = explain::FragmentationAt(*one.trace, *event);
      EXPECT_EQ(f.allocated, now.allocated) << i;
      EXPECT_EQ(f.requested, now.requested) << i;
      EXPECT_EQ(f.reserved, now.reserved) << i;
      uint64_t bytes = 0, live = 0;
      for (const explain::SegmentView& s : explain::SegmentsAt(*one.trace, *event)) {
        EXPECT_EQ(s.device, device);
        bytes += s.bytes;
        live += s.live_bytes;
      }
      EXPECT_EQ(bytes, now.reserved) << i;
      EXPECT_EQ(live, now.allocated) << i;
    }
    const EventIndex most = explain::MostUnused(*one.trace);
    const NaiveSums there = naive_.After(one.events[most], device);
    for (const size_t i : one.events) {
      const NaiveSums now = naive_.After(i, device);
      const bool got =
          events_[i].kind == EventKind::kSegmentAlloc || events_[i].kind == EventKind::kSegmentMap;
      if (i < Begin() || got || t_.slices.size() > 0) continue;
      EXPECT_LE(now.reserved - now.allocated, there.reserved - there.allocated) << i;
    }
  }
}

// Replays each device separately. If the settings are the recorded ones, the replay must have the
// recorded history.
TEST_P(Agreement, ReplayOfRecordedSettingsMatchesReserved) {
  for (const uint8_t device : devices_) {
    const Slice one = Of(device);
    const auto replayed = replay::Replay(*one.trace, {});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_GT(replayed->addresses_total, 0u);
    EXPECT_FALSE(replayed->curve.empty());
    // Some replays differ: settings of expandable segments are not recorded, and neither is the
    // full state at the begin of a recording that begins in the middle of a run.
    EXPECT_EQ(replayed->first_difference.has_value(), replayed->differences > 0);
    if (replayed->differences > 0) continue;
    for (const replay::Replayed::Point& p : replayed->curve)
      EXPECT_EQ(p.reserved, naive_.After(one.events[p.event], device).reserved) << p.event;
  }
}

// Inference must give the same results for a device, whether or not other devices are in the file.
TEST_P(Agreement, InferenceIgnoresOtherDevices) {
  const std::filesystem::path path = Temporary(".pickle");
  {
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(exporters::WriteSnapshot(t_, out, {.categories = false}).ok());
  }
  const auto all = importers::OpenTraceFile(path.string(), {});
  ASSERT_TRUE(all.ok()) << all.status();
  for (const uint8_t device : devices_) {
    const auto slice = trace::OfDevice(*all, device);
    const auto alone = importers::OpenTraceFile(path.string(), {.device = device});
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(slice->allocations.bytes, (*alone)->allocations.bytes);
    EXPECT_EQ(slice->allocations.address, (*alone)->allocations.address);
    EXPECT_EQ(slice->allocations.birth_category, (*alone)->allocations.birth_category);
    EXPECT_EQ(slice->allocations.category, (*alone)->allocations.category);
  }
  std::filesystem::remove(path);
}

// The limit of a recording that ran out of memory is the highest sum of reserved and free bytes at
// a failure.
TEST_P(Agreement, WhatIfUsesTheRecordedMemoryLimit) {
  for (const uint8_t device : devices_) {
    uint64_t limit = 0;
    for (size_t i = 0; i < events_.size(); ++i)
      if (events_[i].kind == EventKind::kOutOfMemory && events_[i].device == device)
        limit = std::max(limit, naive_.After(i, device).reserved + events_[i].bytes_rounded);
    if (limit == 0) continue;
    const auto replayed = replay::Replay(*Of(device).trace, {.alloc_conf = run::AllocConf()});
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

// The test above skips replays with differences. Some replays must have no differences, or the test
// above tests nothing.
TEST(AgreementOfReplays, SomeRandomRecordingsReplayWithoutDifferences) {
  int all = 0, without_differences = 0;
  for (const RandomDevicesOptions& options : Recordings()) {
    const RandomDevices made = MakeRandomDevices(options);
    for (const uint8_t device : trace::DevicesOf(*made.trace)) {
      const auto replayed = replay::Replay(*trace::OfDevice(made.trace, device), {});
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      ++all;
      without_differences += replayed->differences == 0;
    }
  }
  EXPECT_GT(without_differences, 0) << "of " << all;
}

INSTANTIATE_TEST_SUITE_P(Random, Agreement, ::testing::ValuesIn(Recordings()),
                         [](const auto& info) { return fmt::format("seed{}", info.param.seed); });

}  // namespace
}  // namespace vramscope::agreement
