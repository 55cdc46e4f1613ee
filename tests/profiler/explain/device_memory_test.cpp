// Compares the parts of a GPU's memory with expected figures, and their sum with the value that the
// test sets for NVML.
#include "profiler/explain/device_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/trace/device_counters.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using testing::HasSubstr;
using trace::Activity;
using trace::ActivityKind;
using What = DeviceMemory::What;
using Source = DeviceMemory::Source;

struct NvmlReading {
  uint64_t used = 0;
  std::optional<uint64_t> process, driver, total;
};

class Maker : public TraceMaker {
 public:
  // Adds a reading of NVML right after the last event.
  void AddReading(const NvmlReading& reading) {
    const auto put = [&](std::string_view name, std::optional<uint64_t> value) {
      if (value)
        Work({.kind = ActivityKind::kCounter, .name = String(std::string(name)), .bytes = *value});
    };
    put(trace::kCounterTotal, reading.total);
    put(trace::kCounterUsed, reading.used);
    put(trace::kCounterDriver, reading.driver);
    put(trace::kCounterProcess, reading.process);
  }
  void DriverAlloc(uint64_t address, uint64_t bytes, const std::string& library) {
    Work({.kind = ActivityKind::kDriverAlloc,
          .to = trace::MemorySpace::kDevice,
          .name = String(library),
          .address = address,
          .bytes = bytes});
  }
  void DriverFree(uint64_t address) {
    Work({.kind = ActivityKind::kDriverFree, .address = address});
  }
};

int64_t BytesOf(const DeviceMemory& m, What what) {
  const DeviceMemory::Part* part = m.Of(what);
  return part == nullptr ? 0 : part->bytes;
}

constexpr int64_t MiB(int64_t n) { return n * static_cast<int64_t>(kMiB); }

TEST(DeviceMemory, ReportsEveryPart) {
  Maker t;
  t.info.backend = trace::Backend::kCuda;
  t.info.measured = true;
  t.info.device.context_bytes = 999;  // from the device table; NVML's figure is preferred
  t.Segment(kBase, 20 * kMiB);
  t.DriverAlloc(kBase, 20 * kMiB, "libc10_cuda.so");  // the driver also reports the segment
  t.DriverAlloc(1, 3 * kMiB, "libcublasLt.so.13");
  t.DriverAlloc(2, 7 * kMiB, "libnccl.so.2");
  t.DriverAlloc(3, 100 * kMiB, "");
  t.AddReading(
      {.used = 730 * kMiB, .process = 630 * kMiB, .driver = 40 * kMiB, .total = 1000 * kMiB});
  t.Add({.kind = trace::EventKind::kMarker});
  t.DriverFree(3);
  t.Segment(2 * kBase, 30 * kMiB);  // never gets a block
  t.Alloc({.address = kBase, .bytes = 5 * kMiB - 100, .rounded = 5 * kMiB});
  t.Alloc({.address = kBase + 10 * kMiB, .bytes = 4 * kMiB});
  t.AddReading(
      {.used = 800 * kMiB, .process = 572 * kMiB, .driver = 41 * kMiB, .total = 1000 * kMiB});
  const trace::EventIndex then = t.last();
  t.Alloc({.address = kBase + 5 * kMiB, .bytes = 5 * kMiB});
  const auto trace = t.Finish();
  const DeviceMemoryHistory history(*trace);

  const DeviceMemory m = history.At(then);
  EXPECT_EQ(BytesOf(m, What::kRequested), MiB(9) - 100);
  EXPECT_EQ(BytesOf(m, What::kRounding), 100);
  EXPECT_EQ(BytesOf(m, What::kHoles), MiB(11));
  EXPECT_EQ(BytesOf(m, What::kCached), MiB(30));
  EXPECT_EQ(BytesOf(m, What::kLibraries), MiB(3));
  EXPECT_THAT(m.Of(What::kLibraries)->about, HasSubstr("libcublasLt.so.13 3.00 MiB"));
  EXPECT_EQ(BytesOf(m, What::kCommunication), MiB(7));
  EXPECT_EQ(BytesOf(m, What::kContext), MiB(500));  // 630 - 20 - 3 - 7 - 100
  EXPECT_EQ(m.Of(What::kContext)->source, Source::kMeasured);
  EXPECT_EQ(BytesOf(m, What::kOtherProcesses), MiB(228));
  EXPECT_EQ(BytesOf(m, What::kDriver), MiB(41));
  EXPECT_EQ(BytesOf(m, What::kRemainder), MiB(12));  // 572 - 50 - 10 - 500
  EXPECT_EQ(m.used, MiB(841));
  EXPECT_EQ(m.total, 1000 * kMiB);
  EXPECT_EQ(m.asked_ns, trace->events.time_ns[then]);

  // The allocator's parts are always up to date. NVML's parts are from the last reading before the
  // event, or from the first reading if there is none before.
  const DeviceMemory later = history.At(trace::kNoEvent);
  EXPECT_EQ(BytesOf(later, What::kRequested), MiB(14) - 100);
  EXPECT_EQ(BytesOf(later, What::kRemainder), MiB(12));
  EXPECT_EQ(later.used, MiB(841));  // unchanged: the new block is within reserved memory
  const DeviceMemory first = history.At(0);
  EXPECT_EQ(BytesOf(first, What::kRemainder), 0);
  EXPECT_NE(first.Of(What::kRemainder), nullptr);
  EXPECT_EQ(first.used, MiB(770));
}

// Regression test: 8 bytes of a CPU's trace were shown as GPU memory.
TEST(DeviceMemory, StatesThatATraceIsOfTheHost) {
  for (const trace::Backend backend : {trace::Backend::kImported, trace::Backend::kCpu}) {
    Maker t;
    t.info.backend = backend;
    t.info.device.name = "cpu";
    t.info.device.memory_bytes = 1000 * kMiB;
    t.info.device.context_bytes = 300 * kMiB;
    t.Alloc({.address = kBase, .bytes = 8});
    const auto trace = t.Finish();
    const DeviceMemory m = DeviceMemoryHistory(*trace).At(trace::kNoEvent);
    EXPECT_TRUE(m.of_host);
    EXPECT_EQ(m.used, 8) << "the host has no CUDA context";
    EXPECT_EQ(m.total, 0u);
  }
}

// Memory outside the allocator is added to reserved memory at each time. The GPU needs the maximum
// of this sum, which may be less than the sum of the two maxima.
TEST(DeviceMemory, HeadroomCountsMemoryOutsideTheAllocator) {
  Maker t;
  t.info.backend = trace::Backend::kPlan;
  t.info.device.context_bytes = 300 * kMiB;
  t.info.device.memory_bytes = 1000 * kMiB;
  t.Segment(kBase, 20 * kMiB);
  t.DriverAlloc(kBase, 20 * kMiB, "libc10_cuda.so");
  t.DriverAlloc(1, 128 * kMiB, "libnccl.so.2");
  t.DriverAlloc(2, 500 * kMiB, "");
  t.Add({.kind = trace::EventKind::kMarker});
  t.DriverFree(2);
  t.Segment(2 * kBase, 400 * kMiB);
  const auto trace = t.Finish();
  const analysis::Summary s = analysis::Summarize(*trace, analysis::ComputeCurves(*trace));
  EXPECT_EQ(s.peak.reserved, 420 * kMiB);
  EXPECT_EQ(s.most_used.reserved, 20 * kMiB);
  EXPECT_EQ(s.most_used.past_allocator, 628 * kMiB);
  EXPECT_EQ(s.headroom_bytes, MiB(1000 - 300 - 648));

  Maker later;
  later.info.device = t.info.device;
  later.DriverAlloc(1, 128 * kMiB, "libnccl.so.2");
  later.Segment(kBase, 600 * kMiB);
  const auto much = later.Finish();
  const analysis::Summary over = analysis::Summarize(*much, analysis::ComputeCurves(*much));
  EXPECT_EQ(over.most_used.reserved, 600 * kMiB);
  EXPECT_EQ(over.headroom_bytes, MiB(1000 - 300 - 728));
  EXPECT_FALSE(over.fits);
}

// The driver also reports each mapping into an expandable segment, as a recording on an H200 shows
// (tests/golden/gpu/h200/record_gpt2_expandable.trace). These mappings must not count twice: they
// are already in the allocator's memory.
TEST(DeviceMemory, MappedPagesCountAsAllocatorMemory) {
  Maker t;
  t.info.backend = trace::Backend::kCuda;
  const uint64_t segment = t.Segment(kBase, 1000 * kMiB, trace::Pool::kLarge, true);
  for (uint64_t piece = 0; piece < 3; ++piece) {
    t.Add({.kind = trace::EventKind::kSegmentMap,
           .id = segment,
           .address = kBase + piece * 20 * kMiB,
           .bytes = 20 * kMiB});
    t.DriverAlloc(kBase + piece * 20 * kMiB, 20 * kMiB, "");
  }
  t.DriverAlloc(kBase + 990 * kMiB, 20 * kMiB, "");  // reaches beyond the segment
  t.DriverAlloc(kBase - 5 * kMiB, 4 * kMiB, "");
  const auto trace = t.Finish();
  const DeviceMemory m = DeviceMemoryHistory(*trace).At(trace::kNoEvent);
  EXPECT_EQ(BytesOf(m, What::kCached), MiB(60));
  EXPECT_EQ(BytesOf(m, What::kLibraries), MiB(24));
  const analysis::Summary s = analysis::Summarize(*trace, analysis::ComputeCurves(*trace));
  EXPECT_EQ(s.most_used.sum(), 84 * kMiB);
}

TEST(DeviceMemory, AssumesTheContextWithoutNvmlReadings) {
  Maker t;
  t.info.backend = trace::Backend::kPlan;
  t.info.device.context_bytes = 300 * kMiB;
  t.info.device.memory_bytes = 1000 * kMiB;
  t.Segment(kBase, 20 * kMiB);
  t.Alloc({.address = kBase, .bytes = 20 * kMiB});
  const DeviceMemory m = DeviceMemoryHistory(*t.Finish()).At(trace::kNoEvent);
  ASSERT_EQ(m.parts.size(), 2u);
  EXPECT_EQ(m.parts[0].source, Source::kModelled);
  EXPECT_EQ(m.parts[1].what, What::kContext);
  EXPECT_EQ(m.parts[1].source, Source::kAssumed);
  EXPECT_EQ(m.used, MiB(320));
  EXPECT_EQ(m.total, 1000 * kMiB);
  EXPECT_FALSE(m.asked_ns.has_value());
}

TEST(DeviceMemory, MergesProcessesWithoutReadingsPerProcess) {
  Maker t;
  t.info.backend = trace::Backend::kCuda;
  t.Segment(kBase, 20 * kMiB);
  t.AddReading({.used = 520 * kMiB});
  t.Alloc({.address = kBase, .bytes = kMiB});
  t.AddReading({.used = 510 * kMiB});
  const DeviceMemory m = DeviceMemoryHistory(*t.Finish()).At(trace::kNoEvent);
  EXPECT_EQ(BytesOf(m, What::kContext), MiB(500));
  EXPECT_THAT(m.Of(What::kContext)->about, HasSubstr("all processes"));
  EXPECT_EQ(m.Of(What::kOtherProcesses), nullptr);
  EXPECT_EQ(BytesOf(m, What::kRemainder), MiB(-10));
  EXPECT_EQ(m.used, MiB(510));
}

// Figures of a malicious file must neither overflow nor wrap around to small ones.
TEST(DeviceMemory, SumsOfHugeFiguresAreTheLargestValue) {
  Maker t;
  t.info.backend = trace::Backend::kCuda;
  t.info.measured = true;
  t.DriverAlloc(1, UINT64_MAX - 5, "libcublasLt.so.13");
  t.DriverAlloc(2, UINT64_MAX - 5, "libnccl.so.2");
  t.AddReading({.used = UINT64_MAX, .process = 7, .driver = UINT64_MAX, .total = UINT64_MAX});
  t.Add({.kind = trace::EventKind::kMarker});
  const DeviceMemory m = DeviceMemoryHistory(*t.Finish()).At(trace::kNoEvent);
  EXPECT_EQ(m.total, uint64_t{INT64_MAX});
  EXPECT_EQ(BytesOf(m, What::kLibraries), INT64_MAX);
  EXPECT_EQ(BytesOf(m, What::kCommunication), INT64_MAX);
  EXPECT_EQ(m.used, 7) << "the remainder still makes the parts add up to NVML's reading";
}

TEST(DeviceMemory, EmptyTraceUsesNoMemory) {
  const DeviceMemory m = DeviceMemoryHistory(*Maker().Finish()).At(0);
  EXPECT_EQ(m.used, 0);
}

// At every reading, the parts must add up to NVML's figure.
TEST(DeviceMemory, PartsAddUpToNvmlReadings) {
  std::mt19937_64 dice(7);
  for (int round = 0; round < 50; ++round) {
    Maker t;
    t.info.backend = trace::Backend::kCuda;
    t.info.measured = true;
    std::vector<std::pair<trace::EventIndex, NvmlReading>> readings;
    uint64_t segments = 0, blocks = 0;
    std::vector<uint64_t> taken;
    for (int i = 0; i < 40; ++i) {
      switch (dice() % 5) {
        case 0:
          t.Segment(kBase * ++segments, (1 + dice() % 30) * kMiB);
          blocks = 0;
          break;
        case 1:
          if (segments > 0)
            t.Alloc({.address = kBase * segments + 1024 * blocks++,
                     .bytes = 1 + dice() % 1000,
                     .rounded = 1024});
          break;
        case 2:
          t.DriverAlloc(taken.emplace_back(dice() % 1000 + 1), dice() % kMiB,
                        dice() % 2 == 0 ? "libnccl.so.2" : "libcufft.so");
          break;
        case 3:
          if (!taken.empty()) t.DriverFree(taken[dice() % taken.size()]);
          break;
        default: {
          t.Add({.kind = trace::EventKind::kMarker});
          NvmlReading s{.used = dice() % (64 * kBase), .driver = dice() % kBase};
          s.process = dice() % (s.used + 1);
          t.AddReading(s);
          readings.emplace_back(t.last(), s);
        }
      }
    }
    const auto trace = t.Finish();
    const DeviceMemoryHistory history(*trace);
    for (const auto& [event, s] : readings) {
      const DeviceMemory m = history.At(event);
      int64_t sum = 0;
      for (const DeviceMemory::Part& part : m.parts) sum += part.bytes;
      EXPECT_EQ(sum, m.used);
      EXPECT_EQ(m.used, static_cast<int64_t>(s.used + *s.driver));
    }
  }
}

}  // namespace
}  // namespace vramscope::explain
