#include "profiler/exporters/memory_timeline.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "profiler/trace/input.h"
#include "profiler/trace/one_device.h"
#include "tests/profiler/exporters/sample_trace.h"

namespace vramscope::exporters {
namespace {

using nlohmann::json;
using trace::Category;
using trace::EventKind;

json Export(const trace::Trace& trace, const MemoryTimelineOptions& options = {}) {
  const std::string path = testing::TempDir() + "timeline" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() +
                           ".raw.json.gz";
  std::ofstream out(path, std::ios::binary);
  const absl::Status status = WriteMemoryTimeline(trace, out, options);
  EXPECT_TRUE(status.ok()) << status;
  out.close();
  const auto text = trace::ReadWholeInput(path, size_t{1} << 30);
  EXPECT_TRUE(text.ok()) << text.status();
  std::remove(path.c_str());
  return json::parse(*text);
}

TEST(MemoryTimeline, WritesActionsOfTorchProfiler) {
  TraceMaker maker;
  maker.At(1000);
  const uint32_t weight = maker.Alloc(1000, 1024, 0x10000000, Category::kParameter);
  maker.Marker(trace::kMarkerRecordingBegin);
  maker.At(2000);
  const uint32_t out = maker.Alloc(5000, 5120, 0x10001000, Category::kTemporary);
  maker.At(3000).Retag(out, Category::kActivation);
  maker.Retag(out, Category::kActivation);
  maker.At(4000).Free(out);
  maker.At(5000).Free(weight);
  EXPECT_EQ(Export(*maker.Finish()), json({{-1, 1, 1024, 0},
                                           {2000, 2, 5120, 3},
                                           {3000, 3, -5120, 3},
                                           {3000, 3, 5120, 4},
                                           {4000, 4, -5120, 4},
                                           {5000, 4, -1024, 0}}));
}

TEST(MemoryTimeline, WritesAnEmptyTrace) {
  EXPECT_EQ(Export(*TraceMaker().Finish()), json::array());
}

// The changes in a timeline must add up to the live bytes, and no category may become negative.
TEST(MemoryTimeline, SumsToLiveBytes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto trace = RandomTrace(seed, 500);
    int64_t alive = 0;
    for (uint32_t a = 0; a < trace->allocations.size(); ++a)
      if (trace->allocations.free_event[a] == trace::kNoEvent)
        alive += static_cast<int64_t>(trace->allocations.bytes_rounded[a]);
    std::array<int64_t, 8> sums{};
    for (const json& point : Export(*trace)) {
      sums.at(point[3]) += point[2].get<int64_t>();
      ASSERT_GE(sums.at(point[3]), 0);
    }
    int64_t total = 0;
    for (const int64_t sum : sums) total += sum;
    EXPECT_EQ(total, alive) << seed;
  }
}

TEST(MemoryTimeline, WritesOneDeviceOnly) {
  TraceMaker maker;
  maker.At(1000);
  const uint32_t first = maker.Alloc(1000, 1024, 0x10000000, Category::kParameter);
  maker.OnDevice(1).At(2000);
  const uint32_t second = maker.Alloc(3000, 3072, 0x10000000, Category::kGradient);
  maker.OnDevice(0).At(3000).Free(first);
  maker.OnDevice(1).At(4000).Free(second);
  const auto trace = maker.Finish();
  EXPECT_EQ(Export(*trace::OfDevice(trace, 0)), json({{1000, 2, 1024, 0}, {3000, 4, -1024, 0}}));
  EXPECT_EQ(Export(*trace::OfDevice(trace, 1)), json({{2000, 2, 3072, 5}, {4000, 4, -3072, 5}}));
  EXPECT_EQ(Export(*trace::OfDevice(trace, 2)), json::array());
}

TEST(MemoryTimeline, ReportsCancellationAndFullDisk) {
  std::atomic<bool> cancel = true;
  std::ostringstream out;
  EXPECT_EQ(WriteMemoryTimeline(*SmallTrace(), out, {.cancel = &cancel}).code(),
            absl::StatusCode::kCancelled);
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "no /dev/full here";
  full.rdbuf()->pubsetbuf(nullptr, 0);
  EXPECT_EQ(WriteMemoryTimeline(*SmallTrace(), full).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vramscope::exporters
