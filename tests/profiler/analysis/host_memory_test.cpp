// Tests the curves, the peak and the call sites of the host memory that the driver allocated.
#include "profiler/analysis/host_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/trace/processes.h"

namespace vramscope::analysis {
namespace {

using trace::Activity;
using trace::ActivityKind;
using trace::MemorySpace;

class Maker : public trace::Trace {
 public:
  Maker() { strings = {""}; }
  trace::StringId Name(const std::string& text) {
    strings.push_back(text);
    return {static_cast<uint32_t>(strings.size() - 1)};
  }
  void Allocate(uint64_t address, uint64_t bytes, const std::string& op = "",
                MemorySpace space = MemorySpace::kPinned, uint64_t process = 0,
                const std::string& line = "") {
    const uint64_t correlation = (process << trace::kCorrelationShift) | ++calls_;
    activities.Append({.kind = ActivityKind::kRuntimeCall,
                       .name = Name("cudaHostAlloc"),
                       .op = Name(op),
                       .correlation = correlation,
                       .begin_ns = Now(),
                       .end_ns = now_});
    activities.Append({.kind = ActivityKind::kDriverAlloc,
                       .to = space,
                       .name = Name(line),
                       .correlation = correlation,
                       .address = address,
                       .bytes = bytes,
                       .begin_ns = now_,
                       .end_ns = now_});
  }
  // CUPTI may report a free without the size and the kind of the memory.
  void Free(uint64_t address, uint64_t process = 0) {
    activities.Append({.kind = ActivityKind::kDriverFree,
                       .correlation = (process << trace::kCorrelationShift) | ++calls_,
                       .address = address,
                       .begin_ns = Now(),
                       .end_ns = now_});
  }

 private:
  int64_t Now() { return now_ += 10; }
  int64_t now_ = 0;
  uint64_t calls_ = 0;
};

TEST(HostMemory, IsNotRecordedWithoutDriverAllocations) {
  const HostMemory host = HostMemoryOf(Maker());
  EXPECT_FALSE(host.recorded);
  EXPECT_EQ(host.peak, 0u);
  EXPECT_TRUE(host.curves.empty());
}

TEST(HostMemory, IgnoresDeviceMemory) {
  Maker t;
  t.Allocate(0x1000, 500, "aten::empty", MemorySpace::kDevice);
  t.Free(0x1000);
  const HostMemory host = HostMemoryOf(t);
  EXPECT_TRUE(host.recorded);
  EXPECT_EQ(host.peak, 0u);
  EXPECT_TRUE(host.sites.empty());
}

// Techniques use pinned memory, but the trainer reports only the driver's allocations on the
// GPU.
TEST(HostMemory, IsNotRecordedByTheEmbeddedLoop) {
  Maker t;
  t.info.has_config = true;
  t.Allocate(0x1000, 500, "aten::empty", MemorySpace::kDevice);
  EXPECT_FALSE(HostMemoryOf(t).recorded);
}

// The recording starts when PyTorch initializes CUDA. PyTorch can pin memory before that.
TEST(HostMemory, IsUnknownIfMorePinnedMemoryIsCopiedThanWasAllocated) {
  for (const uint64_t copied : {100, 101}) {
    Maker t;
    t.Allocate(0x1000, 100, "aten::_pin_memory");
    t.activities.Append({.kind = ActivityKind::kMemcpy,
                         .from = MemorySpace::kPinned,
                         .to = MemorySpace::kDevice,
                         .bytes = copied,
                         .begin_ns = 100,
                         .end_ns = 110});
    const HostMemory host = HostMemoryOf(t);
    EXPECT_EQ(host.recorded, copied <= 100);
    EXPECT_EQ(host.peak, copied <= 100 ? 100u : 0u);
    EXPECT_EQ(host.curves.empty(), copied > 100);
  }
}

TEST(HostMemory, PeakSumsAllMemorySpacesAndListsSites) {
  Maker t;
  t.Allocate(0x1000, 100, "aten::_pin_memory");       // at 10
  t.Allocate(0x2000, 30, "", MemorySpace::kManaged);  // at 20
  t.Allocate(0x3000, 100, "aten::_pin_memory");       // at 30: the peak
  t.Free(0x1000);                                     // at 40
  t.Allocate(0x4000, 50, "aten::copy_");              // at 50
  const HostMemory host = HostMemoryOf(t);
  EXPECT_EQ(host.peak, 230u);
  EXPECT_EQ(host.peak_ns, 30);
  ASSERT_EQ(host.sites.size(), 2u);
  EXPECT_EQ(host.sites[0].name, "aten::_pin_memory");
  EXPECT_EQ(host.sites[0].bytes, 200u);
  EXPECT_EQ(host.sites[0].count, 2u);
  EXPECT_EQ(host.sites[1].name, "cudaHostAlloc") << "the API call, since the operator is unknown";
  EXPECT_EQ(host.sites[1].bytes, 30u);
  ASSERT_EQ(host.curves.size(), 2u);
  EXPECT_EQ(host.curves[0].space, MemorySpace::kPinned);
  EXPECT_EQ(host.curves[0].bytes, (std::vector<uint64_t>{100, 200, 100, 150}));
  EXPECT_EQ(host.curves[0].time_ns, (std::vector<int64_t>{10, 30, 40, 50}));
  EXPECT_EQ(host.curves[1].bytes, (std::vector<uint64_t>{30}));
}

TEST(HostMemory, SitesAreLinesOfCodeWithTheirOperator) {
  Maker t;
  const std::string line = "/home/me/train.py:88 main";
  t.Allocate(0x1000, 4096, "aten::_pin_memory", MemorySpace::kPinned, 0, line);
  t.Allocate(0x3000, 4096, "aten::_pin_memory", MemorySpace::kPinned, 0, line);
  t.Allocate(0x5000, 512, "aten::_pin_memory", MemorySpace::kPinned, 0, "/other/train.py:88 main");
  t.Allocate(0x6000, 256, "aten::_pin_memory", MemorySpace::kManaged, 0, line);
  t.Allocate(0x7000, 128, "", MemorySpace::kPinned, 0, line);
  t.Allocate(0x8000, 64, "", MemorySpace::kPinned, 0, "libcufile.so.0");
  const std::vector<HostMemory::Site> sites = HostMemoryOf(t).sites;
  ASSERT_EQ(sites.size(), 5u);
  EXPECT_EQ(sites[0].name, "train.py:88 main > aten::_pin_memory");
  EXPECT_EQ(sites[0].file, "/home/me/train.py");
  EXPECT_EQ(sites[0].line, 88u);
  EXPECT_EQ(sites[0].function, "main");
  EXPECT_EQ(sites[0].op, "aten::_pin_memory");
  EXPECT_EQ(sites[0].bytes, 8192u);
  EXPECT_EQ(sites[0].count, 2u);
  EXPECT_EQ(SiteText(sites[0]), "8.00 KiB pinned at train.py:88 main > aten::_pin_memory");
  EXPECT_EQ(sites[1].file, "/other/train.py") << "not the file of the same name";
  EXPECT_EQ(sites[2].space, MemorySpace::kManaged);
  EXPECT_EQ(sites[3].name, "train.py:88 main");
  EXPECT_EQ(SiteText(sites[4]), "64 B pinned by libcufile.so.0");
}

TEST(HostMemory, ParsesLinesOfCode) {
  const std::optional<CodeLine> line = ParseCodeLine("C:/a b:1 c/train.py:88 <module>");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "C:/a b:1 c/train.py");
  EXPECT_EQ(line->line, 88u);
  EXPECT_EQ(line->function, "<module>");
  for (const char* const name : {"", ":", ":1 f", "libcuda.so.1", "a.py:", "a.py:1", "a.py:1 ",
                                 "a.py:x f", "a.py:1x f", "a.py: f", "a.py:99999999999 f"})
    EXPECT_FALSE(ParseCodeLine(name)) << name;
}

TEST(HostMemory, KeepsAddressesOfProcessesApart) {
  Maker t;
  t.Allocate(0x1000, 100, "a", MemorySpace::kPinned, 1);
  t.Allocate(0x1000, 70, "b", MemorySpace::kPinned, 2);
  t.Free(0x1000, 1);
  const HostMemory host = HostMemoryOf(t);
  EXPECT_EQ(host.peak, 170u);
  EXPECT_EQ(host.curves[0].bytes, (std::vector<uint64_t>{100, 170, 70}));
}

TEST(HostMemory, AllocatingALiveAddressReplacesItsBlock) {
  Maker t;
  t.Allocate(0x1000, 100);
  t.Allocate(0x1000, 70);
  t.Free(0x9000);  // frees an allocation from before the recording
  const HostMemory host = HostMemoryOf(t);
  EXPECT_EQ(host.peak, 100u);
  EXPECT_EQ(host.curves[0].bytes.back(), 70u);
}

}  // namespace
}  // namespace vramscope::analysis
