#include "profiler/importers/kineto.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/inference/infer.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/segment_record.h"
#include "tests/profiler/importers/text_input.h"

namespace vramscope::importers {
namespace {

using recording::Action;
using recording::Recording;
using testing::ElementsAre;
using testing::HasSubstr;
using trace::EventKind;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Builds a file of events as Kineto prints them. Times are added to an absolute base time.
class File {
 public:
  File& Memory(double us, int64_t bytes, uint64_t address, uint64_t allocated, uint64_t reserved,
               int device = 0, int type = 1) {
    return Add(fmt::format(
        R"("ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 8,
    "ts": {:.3f}, "args": {{ "Total Reserved": {}, "Total Allocated": {}, "Bytes": {},
    "Device Id": {}, "Device Type": {}, "Addr": {}, "finished": false, "Ev Idx": 3 }})",
        us, reserved, allocated, bytes, device, type, address));
  }
  File& Span(const char* category, const char* name, double us, double duration,
             const std::string& args = "", int tid = 8) {
    return Add(fmt::format(
        R"("ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": {}, "ts": {:.3f}, "dur": {:.3f}
    , "args": {{ {} }})",
        category, name, tid, us, duration, args));
  }
  File& Add(const std::string& event) {
    events_ += fmt::format("  {{\n    {}\n  }},\n", event);
    return *this;
  }
  std::string Text() const {
    return R"({ "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "x", "list": [1, [2]]}],
  "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
)" + events_ +
           R"(  {
    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 99.0
  }
  ], "traceName": "x" })";
  }

 private:
  std::string events_;
};

absl::StatusOr<Recording> Read(const std::string& text, const KinetoOptions& options = {}) {
  TextInput input(text, 100);
  return ReadKineto(input, options);
}
Recording MustRead(const std::string& text, const KinetoOptions& options = {}) {
  absl::StatusOr<Recording> r = Read(text, options);
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? *std::move(r) : Recording();
}

std::shared_ptr<const trace::Trace> ToTrace(const Recording& r) {
  const auto history = recording::Reconstruct(r);
  EXPECT_TRUE(history.ok()) << history.status();
  EXPECT_THAT(history->warnings, testing::IsEmpty());
  trace::BuilderSink sink;
  recording::Emit(r, *history, inference::Infer(r, *history), sink);
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  return sink.Trace();
}

std::vector<std::string> Frames(const Recording& r, trace::StackId stack) {
  std::vector<std::string> frames;
  for (const uint32_t f : r.stacks.Frames(stack))
    frames.push_back(fmt::format("{}|{}|{}", r.strings[r.stacks.function[f].value],
                                 r.strings[r.stacks.file[f].value], r.stacks.line[f]));
  return frames;
}

// Returns a step as Kineto records it on a GPU. As in Kineto's files, events are sorted by kind,
// not by time.
File Step() {
  File f;
  f.Span("user_annotation", "ProfilerStep#3", 0, 100);
  f.Span("cpu_op", "aten::linear", 10, 20, R"("External id": 11)");
  f.Span("cpu_op", "aten::addmm", 12, 10, R"("External id": 12)");
  f.Span("cuda_runtime", "cudaLaunchKernel", 15, 2, R"("correlation": 77)");
  f.Span("kernel", "sgemm", 40, 5,
         R"("External id": 12, "device": 0, "stream": 7, "correlation": 77, "grid": [1, 2, 3])", 7);
  f.Span("gpu_memcpy", "Memcpy HtoD", 50, 6, R"("device": 0, "stream": 9, "bytes": 4096)", 9);
  f.Span("kernel", "by correlation", 60, 1, R"("device": 0, "stream": 7, "correlation": 77)", 7);
  f.Span("python_function", "train.py(20): main", -50, 300);
  f.Span("python_function", "nn.Module: Linear_0", 9, 30);
  f.Memory(13, 1024, 0x7f0000000000, 1024, 2 * kMiB);
  f.Memory(90, -1024, 0x7f0000000000, 0, 2 * kMiB);
  f.Memory(14, 4 * kMiB, 0x7f0010000000, 4 * kMiB + 1024, 22 * kMiB);
  return f;
}

TEST(Kineto, OrdersEntriesByTime) {
  const Recording r = MustRead(Step().Text());
  EXPECT_FALSE(r.has_segments);
  EXPECT_THAT(r.source, HasSubstr("Kineto"));
  EXPECT_EQ(r.start_unix_ns, 1790857026000000000) << "the step begins at 0";
  EXPECT_THAT(r.entries.action, ElementsAre(Action::kAlloc, Action::kSegmentMap, Action::kAlloc,
                                            Action::kSegmentUnmap, Action::kFreeCompleted));
  EXPECT_THAT(r.entries.time_ns, ElementsAre(13000, 14000, 14000, 90000, 90000));
  EXPECT_EQ(r.entries.bytes[2], 4 * kMiB);
  EXPECT_EQ(r.entries.address[4], 0x7f0000000000u);
  EXPECT_TRUE(r.entries.device.empty());
  EXPECT_TRUE(r.entries.recorded_category.empty());
  EXPECT_THAT(r.warnings, testing::IsEmpty());
}

TEST(Kineto, BuildsStacksFromOperatorsAndPythonFunctions) {
  const Recording r = MustRead(Step().Text());
  EXPECT_THAT(Frames(r, r.entries.stack[0]),
              ElementsAre("aten::addmm||0", "aten::linear||0", "nn.Module: Linear_0||0",
                          "main|train.py|20"));
  EXPECT_EQ(r.entries.stack[0], r.entries.stack[2]);
  EXPECT_THAT(Frames(r, r.entries.stack[3]), ElementsAre("main|train.py|20"));
}

std::vector<std::string> Activities(const Recording& r) {
  std::vector<std::string> lines;
  for (const trace::Activity& a : r.activities) {
    std::string line = fmt::format("{}..{} {} '{}'", a.begin_ns, a.end_ns, trace::Name(a.kind),
                                   r.strings[a.name.value]);
    if (trace::IsOfDevice(a.kind)) line += fmt::format(" on {}:{}", a.device, a.stream);
    if (a.op.value != 0) line += fmt::format(" of {}", r.strings[a.op.value]);
    if (a.module.value != 0) line += fmt::format(" in {}", r.strings[a.module.value]);
    if (a.correlation != 0) line += fmt::format(" #{}", a.correlation);
    if (a.bytes != 0) line += fmt::format(" {} bytes", a.bytes);
    if (a.from != trace::MemorySpace::kUnknown || a.to != trace::MemorySpace::kUnknown)
      line += fmt::format(" {} to {}", trace::Name(a.from), trace::Name(a.to));
    lines.push_back(line);
  }
  return lines;
}

TEST(Kineto, ReadsDeviceActivitiesAndTheirLaunches) {
  File f = Step();
  f.Span("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 70, 2,
         R"("device": 1, "stream": 9, "bytes": 12)", 9);
  f.Span("gpu_memset", "Memset (Device)", 73, 1, R"("device": 1, "stream": 9, "bytes": 5)", 9);
  f.Span("kernel", "ncclDevKernel_AllReduce_Sum_bf16", 75, 9,
         R"("device": 0, "stream": 20, "In msg nelems": 100, "dtype": "BFloat16")", 20);
  f.Span("cuda_driver", "cuLaunchKernelEx", 25, 1, R"("correlation": 78)");
  f.Span("cuda_sync", "Context Sync", 80, 3, R"("device": 0, "stream": -1, "correlation": 78)");
  f.Span("overhead", "Instrumentation", 85, 1);
  const Recording r = MustRead(f.Text());
  EXPECT_THAT(
      Activities(r),
      ElementsAre("15000..17000 runtime call 'cudaLaunchKernel' of aten::addmm #77",
                  "40000..45000 kernel 'sgemm' on 0:7 of aten::addmm #77",
                  "50000..56000 memcpy 'Memcpy HtoD' on 0:9 4096 bytes",
                  "60000..61000 kernel 'by correlation' on 0:7 of aten::addmm #77",
                  "70000..72000 memcpy 'Memcpy DtoH (Device -> Pinned)' on 1:9 12 bytes device to "
                  "pinned",
                  "73000..74000 memset 'Memset (Device)' on 1:9 5 bytes unknown to device",
                  "75000..84000 collective 'ncclDevKernel_AllReduce_Sum_bf16' on 0:20 200 bytes",
                  "25000..26000 driver call 'cuLaunchKernelEx' of aten::linear #78",
                  "80000..83000 synchronization 'Context Sync' of aten::linear #78",
                  "85000..86000 overhead 'Instrumentation'"));
  // The synchronization must get the thread that waited, not the thread of its event in the file.
  EXPECT_EQ(r.activities[8].thread, r.activities[7].thread);
  EXPECT_EQ(r.activities[8].stream, trace::kAllStreams);
  const auto trace = ToTrace(r);
  EXPECT_EQ(trace->activities.size(), 10u);
  EXPECT_EQ(trace->begin_ns(), 0);
}

TEST(Kineto, ReadsAnnotationsAndOperators) {
  const Recording r = MustRead(Step().Text());
  ASSERT_EQ(r.annotations.size(), 1u);
  EXPECT_EQ(r.strings[r.annotations[0].name.value], "ProfilerStep#3");
  EXPECT_EQ(r.annotations[0].end_ns, 100000);
  std::vector<std::string> extras;
  for (const trace::Event& e : r.extras)
    extras.push_back(fmt::format("{} {} {} {} {}", e.time_ns, trace::Name(e.kind),
                                 r.strings[e.name.value], r.strings[e.module.value], e.stream));
  EXPECT_THAT(extras, ElementsAre("10000 op_begin aten::linear  0", "12000 op_begin aten::addmm  0",
                                  "22000 op_end   0", "30000 op_end   0"));
}

TEST(Kineto, ReservedAndAllocatedFollowTheTotals) {
  File f;
  f.Memory(10, 512, 0x1000, 10 * kMiB + 512, 20 * kMiB);    // 10 MiB existed before
  f.Memory(20, -1024, 0x9000, 10 * kMiB - 512, 20 * kMiB);  // 1 KiB of them is freed
  f.Memory(30, 4096, 0x2000, 10 * kMiB + 3584, 42 * kMiB);
  f.Memory(40, -4096, 0x2000, 10 * kMiB - 512, 42 * kMiB);
  f.Memory(50, -512, 0x1000, 10 * kMiB - 1024, 12 * kMiB);
  const auto trace = ToTrace(MustRead(f.Text()));
  uint64_t reserved = 0, allocated = 0;
  std::vector<uint64_t> curve;
  for (trace::EventIndex e = 0; e < trace->events.size(); ++e) {
    const uint64_t id = trace->events.id[e];
    switch (trace->events.kind[e]) {
      case EventKind::kSegmentMap:
        reserved += trace->events.bytes[e];
        break;
      case EventKind::kSegmentUnmap:
        reserved -= trace->events.bytes[e];
        break;
      case EventKind::kAlloc:
        allocated += trace->allocations.bytes_rounded[id];
        break;
      case EventKind::kFreeCompleted:
        allocated -= trace->allocations.bytes_rounded[id];
        break;
      default:
        continue;
    }
    if (e > trace->recording_begin && trace->events.kind[e] != EventKind::kSegmentMap &&
        trace->events.kind[e] != EventKind::kSegmentUnmap) {
      curve.push_back(allocated);
      curve.push_back(reserved);
    }
  }
  EXPECT_THAT(curve,
              ElementsAre(10 * kMiB + 512, 20 * kMiB, 10 * kMiB - 512, 20 * kMiB, 10 * kMiB + 3584,
                          42 * kMiB, 10 * kMiB - 512, 42 * kMiB, 10 * kMiB - 1024, 12 * kMiB));
}

TEST(Kineto, DoesNotRoundCpuSizes) {
  File f;
  f.Memory(10, 100, 0x1000, 100, 0, -1, 0);  // sizes of CPU events are not rounded
  f.Memory(20, 7, 0x2000, 107, 0, -1, 0);
  const auto trace = ToTrace(MustRead(f.Text()));
  EXPECT_THAT(trace->allocations.bytes_rounded, ElementsAre(100, 7));
}

TEST(Kineto, WarnsOfOneEventInTheSingular) {
  File f;
  f.Memory(10, 512, 0x1000, 512, 2 * kMiB);
  f.Memory(20, 0, 0x2000, 512, 2 * kMiB);  // has no size
  const Recording r = MustRead(f.Text());
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("1 event without a time, size or address is left out"));
}

TEST(Kineto, ReadsCpuMemoryOnlyWithoutGpuMemory) {
  File f;
  f.Memory(10, 512, 0x1000, 512, 0, -1, 0);
  const Recording only = MustRead(f.Text());
  EXPECT_EQ(only.entries.size(), 1u);
  EXPECT_EQ(ToTrace(only)->info.device.name, "cpu");
  f.Memory(20, 1024, 0x2000, 1024, 2 * kMiB, 1, 1);
  const Recording r = MustRead(f.Text());
  EXPECT_THAT(r.entries.bytes, ElementsAre(1024));
  EXPECT_THAT(r.entries.device, ElementsAre(1));
  EXPECT_EQ(ToTrace(r)->info.device.name, "");
}

TEST(Kineto, ReadsPartsOfAFile) {
  File f;
  for (int i = 0; i < 10; ++i)
    f.Memory(10 * i, 512, 0x1000 + 0x1000 * i, 512 * (i + 1), 20 * kMiB, i % 2, 1);
  KinetoOptions options;
  options.first_entry = 3;
  options.last_entry = 5;
  EXPECT_THAT(MustRead(f.Text(), options).entries.address, ElementsAre(0x4000, 0x5000, 0x6000));
  options = {};
  options.from_ns = 20000;
  options.to_ns = 30000;
  const Recording r = MustRead(f.Text(), options);
  EXPECT_THAT(r.entries.address, ElementsAre(0x3000, 0x4000));
  ASSERT_EQ(r.segments.size(), 2u);
  EXPECT_EQ(r.segments[0].blocks[0].bytes, 1024u) << "memory that was allocated before the part";
}

TEST(Kineto, ReadsOutOfMemoryEvents) {
  File f;
  f.Memory(10, 512, 0x1000, 512, 2 * kMiB);
  f.Add(R"("ph": "i", "s": "t", "name": "[OutOfMemory]", "pid": 7, "tid": 8, "ts": 20,
    "args": { "Total Reserved": 2097152, "Total Allocated": 512, "Bytes": 999999, "Device Id": 0,
    "Device Type": 1 })");
  const Recording r = MustRead(f.Text());
  EXPECT_EQ(r.entries.action[1], Action::kOutOfMemory);
  EXPECT_EQ(r.entries.bytes[1], 999999u);
}

// Reads files of other vendors' profilers and of older versions.
TEST(Kineto, ReadsFilesOfOtherWriters) {
  const Recording r = MustRead(R"([
    {"ph": "i", "name": "[memory]", "pid": "python 7", "tid": "main", "ts": "1700000000000000.5",
     "args": {"Bytes": "512", "Addr": "0x7f00", "Device Type": "1", "Device Id": "0"}},
    {"name": "[memory]", "ts": 1700000000000002, "args": {"Bytes": 512.0, "Addr": 18446744073709551104,
     "Device Type": 1}},
    {"ph": "X", "cat": "Operator", "name": "mm", "pid": "python 7", "tid": "main",
     "ts": "1700000000000000", "dur": "1"},
    17, "text", [null], {"ph": "i", "name": "[memory]", "args": 5},
    {"name": "[memory]", "ts": 3, "args": {"Addr": 1, "Bytes": 0, "Device Type": 1}},
    {"name": "a\\b \u00e9 \ud83d", "ph": "X", "cat": "kernel"}
  ])");
  EXPECT_EQ(r.entries.size(), 2u);
  EXPECT_EQ(r.start_unix_ns, 1700000000000000000);
  EXPECT_THAT(r.entries.time_ns, ElementsAre(500, 2000));
  EXPECT_EQ(r.entries.address[1], 18446744073709551104u);
  EXPECT_THAT(Frames(r, r.entries.stack[0]), ElementsAre("mm||0"));
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0], HasSubstr("3 events without"));
}

TEST(Kineto, ReadsTruncatedFileUpToTheCut) {
  const std::string text = Step().Text();
  size_t opened = 0;
  for (size_t size = 0; size < text.size(); size += 11) {
    const absl::StatusOr<Recording> r = Read(text.substr(0, size));
    if (!r.ok()) {
      EXPECT_THAT(std::string(r.status().message()),
                  testing::AnyOf(HasSubstr("byte"), HasSubstr("[memory]"), HasSubstr("JSON")));
      continue;
    }
    ++opened;
    EXPECT_THAT(r->lost, HasSubstr("byte"));
  }
  EXPECT_GT(opened, 10u);
}

TEST(Kineto, RejectsFilesOfOtherKinds) {
  EXPECT_EQ(Read("{\"a\": [1, 2]}").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("7").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("").status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status without = Read(R"({"traceEvents": [{"ph": "X"}]})").status();
  EXPECT_EQ(without.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(without.message()), HasSubstr("profile_memory=True"));
}

TEST(Kineto, CanBeCancelled) {
  std::atomic<bool> cancel = true;
  KinetoOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(Read(Step().Text(), options).status().code(), absl::StatusCode::kCancelled);
}

// Spans of one thread overlap but are not nested. This only occurs in damaged files.
TEST(Kineto, ReadsOverlappingSpans) {
  File f;
  f.Span("cpu_op", "a", 10, 20).Span("cpu_op", "b", 20, 20).Span("cpu_op", "c", 30, 0);
  f.Memory(25, 512, 0x1000, 512, 0).Memory(35, -512, 0x1000, 0, 0);
  const Recording r = MustRead(f.Text());
  EXPECT_THAT(Frames(r, r.entries.stack[0]), ElementsAre("b||0", "a||0"));
  EXPECT_EQ(r.entries.stack[1].value, 0u);
  ToTrace(r);
}

TEST(Kineto, TakesTheGpuFromDeviceProperties) {
  const auto with = [](const std::string& properties) {
    File f;
    f.Memory(10, 512, 0x1000, 512, 2 * kMiB, 0, 1);
    std::string text = f.Text();
    const std::string old = R"([{"id": 0, "name": "x", "list": [1, [2]]}])";
    return ToTrace(MustRead(text.replace(text.find(old), old.size(), properties)))->info.device;
  };
  const run::DeviceProfile known = with(
      R"([{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936,
           "computeMajor": 9, "computeMinor": 0, "numSms": 132}])");
  EXPECT_EQ(known.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(known.memory_bytes, 85018279936u);
  EXPECT_GT(known.context_bytes, 0u) << "from the device table";
  EXPECT_EQ(with(R"([{"id": 1, "name": "another"}])").name, "");
  EXPECT_EQ(with(R"([{"id": 0, "name": "own", "totalGlobalMem": -5}, 7, [1]])").memory_bytes, 0u);
}

TEST(Kineto, RecordsOnlyTheTotalOfReservedMemory) {
  File f;
  f.Memory(10, 512, 0x1000, 10 * kMiB + 512, 20 * kMiB);
  f.Memory(20, 4096, 0x2000, 10 * kMiB + 4608, 42 * kMiB);
  const auto trace = ToTrace(MustRead(f.Text()));
  EXPECT_EQ(trace::SegmentRecordOf(*trace), trace::SegmentRecord::kTotalOnly);
  EXPECT_EQ(trace::RecordedSegments(*trace), 0u);
  EXPECT_TRUE(trace::SizesAreOfBlocks(*trace));
  EXPECT_NE(trace::WhyNoReplay(*trace), "");
  ASSERT_EQ(trace->allocations.size(), 3u);
  EXPECT_EQ(trace->allocations.category[0], trace::Category::kUnknown)
      << "older memory has no category";
}

}  // namespace
}  // namespace vramscope::importers
