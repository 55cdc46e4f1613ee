#include "emulated/core/host_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace vramscope::emulated {
namespace {

// Maps host memory that represents GPU memory, as class Memory does.
class HostBytesTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = uint64_t{256} << 20;
  void SetUp() override {
    void* at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    base_ = reinterpret_cast<uint64_t>(at);
  }
  void TearDown() override { munmap(reinterpret_cast<void*>(base_), kBytes); }

  void Write(uint64_t offset, int64_t value) { bytes_.Write(base_ + offset, &value, sizeof value); }
  // Returns the value that the host reads, or -1 if the value is unknown and zeros were read.
  int64_t Read(uint64_t offset) {
    int64_t value = 77;
    if (bytes_.Read(&value, base_ + offset, sizeof value)) {
      return value;
    }
    EXPECT_EQ(value, 0);
    return -1;
  }
  void Launch(uint64_t pointer_offset, uint64_t reach) {
    const uint64_t pointers[] = {base_ + pointer_offset};
    bytes_.Launched(pointers, reach);
  }

  uint64_t base_ = 0;
  HostBytes bytes_;
};

TEST_F(HostBytesTest, ReadsWrittenBytes) {
  EXPECT_EQ(Read(0), -1);
  Write(0, 5);
  Write(8, 6);
  EXPECT_EQ(Read(0), 5);
  EXPECT_EQ(Read(8), 6);
  EXPECT_EQ(Read(4), 6ll << 32);  // half of each value
  EXPECT_EQ(Read(12), -1);        // the second half is unknown
}

TEST_F(HostBytesTest, LaunchesAndFreesInvalidateBytes) {
  Write(1024, 5);
  Launch(1024, 4096);  // a kernel gets the address of the value
  EXPECT_EQ(Read(1024), -1);
  Write(1024, 5);
  Launch(512, 4096);  // a block that begins before the value
  EXPECT_EQ(Read(1024), -1);
  Write(1024, 5);
  Launch(512, 256);  // a block that ends before the value
  Launch(1032, 4096);
  EXPECT_EQ(Read(1024), 5);
  bytes_.LaunchedUnknown();
  EXPECT_EQ(Read(1024), -1);
  Write(1024, 5);
  bytes_.Freed(base_, 4096);
  EXPECT_EQ(Read(1024), -1);
}

TEST_F(HostBytesTest, KeptBytesSurviveLaunchesButNotWrites) {
  Write(0, 5);
  bytes_.Keep(base_, 8, true);
  EXPECT_FALSE(bytes_.HasFleeting());
  Launch(0, 4096);
  bytes_.LaunchedUnknown();
  EXPECT_EQ(Read(0), 5);
  bytes_.Overwritten(base_ + 4, 4);
  EXPECT_TRUE(bytes_.IsKnown(base_, 4));
  EXPECT_FALSE(bytes_.IsKnown(base_, 8));
  bytes_.Keep(base_, 4, false);
  EXPECT_FALSE(bytes_.IsKnown(base_, 4));
}

TEST_F(HostBytesTest, DeviceCopiesCarryKnownBytes) {
  Write(0, 5);
  bytes_.Move(base_ + 64, base_, 8);
  EXPECT_EQ(Read(64), 5);
  bytes_.Move(base_ + 64, base_ + 128, 8);  // the source is unknown
  EXPECT_EQ(Read(64), -1);
}

TEST_F(HostBytesTest, MoveCarriesKnownPrefix) {
  Write(0, 5);
  Write(64, 7);
  EXPECT_EQ(bytes_.KnownPrefix(base_, 12), 8u);
  bytes_.Move(base_ + 60, base_, 12);
  EXPECT_EQ(bytes_.KnownPrefix(base_ + 60, 12), 8u);
  char read[12];
  std::fill(std::begin(read), std::end(read), 9);
  EXPECT_FALSE(bytes_.Read(read, base_ + 60, sizeof read));
  EXPECT_EQ(read[0], 5);
  EXPECT_EQ(std::count(read + 1, std::end(read), 0), 11);
}

TEST_F(HostBytesTest, FillRepeatsPattern) {
  const uint32_t pattern = 0x01020304;
  bytes_.Fill(base_, &pattern, sizeof pattern, 4);
  EXPECT_EQ(Read(8), 0x0102030401020304);
  EXPECT_EQ(Read(16), -1);
}

TEST_F(HostBytesTest, UnknownBooleanReadsAsConfigured) {
  char byte = 7;
  EXPECT_FALSE(bytes_.Read(&byte, base_, 1));
  EXPECT_EQ(byte, 0);
  HostBytes::SetUnknownTruth(HostBytes::Truth::kTrue);
  EXPECT_FALSE(bytes_.Read(&byte, base_, 1));
  EXPECT_EQ(byte, 1);
  EXPECT_EQ(Read(0), -1);
  HostBytes::SetUnknownTruth(HostBytes::Truth::kTrueOnce);
  EXPECT_FALSE(bytes_.Read(&byte, base_, 1));
  EXPECT_EQ(byte, 1);
  EXPECT_FALSE(bytes_.Read(&byte, base_, 1));
  EXPECT_EQ(byte, 0);
  HostBytes::SetUnknownTruth(HostBytes::Truth::kFalse);
  EXPECT_FALSE(bytes_.Read(&byte, base_, 1));
  EXPECT_EQ(byte, 0);
}

TEST_F(HostBytesTest, WaitsForExpectedMessages) {
  std::vector<std::pair<uint64_t, bool>> called;
  const auto expect = [&](uint64_t offset) {
    return bytes_.Expect(base_ + offset, 8, [this, &called, offset](bool needed) {
      called.emplace_back(offset, needed);
      if (needed) Write(offset, 42);
    });
  };
  for (const uint64_t offset : {0, 8, 16, 24, 32, 40}) expect(offset);
  bytes_.ExpectNoMore(expect(48));
  Write(64, 1);              // elsewhere
  bytes_.LaunchedUnknown();  // the unknown kernel cannot know the buffer
  EXPECT_TRUE(called.empty());
  EXPECT_EQ(Read(0), 42);
  EXPECT_EQ(Read(0), 42);  // called once
  EXPECT_TRUE(bytes_.IsKnown(base_ + 8, 4));
  bytes_.Move(base_ + 128, base_ + 16, 8);
  EXPECT_EQ(Read(128), 42);
  Write(24, 5);
  EXPECT_EQ(Read(24), 5);
  Launch(32, 8);
  EXPECT_EQ(Read(32), -1);
  bytes_.Freed(base_ + 40, 8);
  EXPECT_EQ(Read(40), -1);
  EXPECT_EQ(Read(48), -1);
  expect(56);
  bytes_.AwaitMessages();
  const std::vector<std::pair<uint64_t, bool>> expected = {
      {0, true}, {8, true}, {16, true}, {24, false}, {32, false}, {40, false}, {56, true}};
  EXPECT_EQ(called, expected);
}

TEST_F(HostBytesTest, LimitsKnownBytes) {
  std::vector<char> large(HostBytes::kLargest + 1);
  bytes_.Write(base_, large.data(), large.size());
  EXPECT_EQ(bytes_.known_bytes(), 0u);
  large.resize(HostBytes::kLargest);
  for (uint64_t at = 0; at + large.size() <= kBytes; at += large.size()) {
    bytes_.Write(base_ + at, large.data(), large.size());
  }
  EXPECT_LE(bytes_.known_bytes(), HostBytes::kBudget);
  EXPECT_TRUE(bytes_.IsKnown(base_ + kBytes - 8, 8));  // the newest bytes
  EXPECT_FALSE(bytes_.IsKnown(base_, 8));              // the oldest bytes
}

}  // namespace
}  // namespace vramscope::emulated
