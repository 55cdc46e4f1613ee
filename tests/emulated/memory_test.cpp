#include "emulated/core/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

Gpu Small(uint64_t bytes = kGiB, uint64_t context = 256 * kMiB) {
  Gpu gpu;
  gpu.name = "test";
  gpu.memory_bytes = bytes;
  gpu.context_bytes = context;
  gpu.sm_count = 10;
  gpu.max_threads_per_sm = 1536;
  gpu.compute_capability = 86;
  return gpu;
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Memory, ClearHostReleasesAnonymousPages) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  constexpr uint64_t kBytes = 64 * kMiB;
  std::vector<char> buffer(kBytes, 1);
  const uint64_t before = ResidentBytes();
  EXPECT_TRUE(memory.ClearHost(buffer.data() + 5, kBytes - 10));
  EXPECT_LT(ResidentBytes() + kBytes / 2, before);
  EXPECT_EQ(buffer[4], 1);
  EXPECT_EQ(buffer[kBytes - 5], 1);
  EXPECT_EQ(static_cast<uint64_t>(std::count(buffer.begin(), buffer.end(), 0)), kBytes - 10);
  EXPECT_FALSE(memory.ClearHost(buffer.data(), 100)) << "too small";

  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), kBytes), 0);
  for (const int sharing : {MAP_SHARED, MAP_PRIVATE}) {
    void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, sharing, fileno(file), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_FALSE(memory.ClearHost(mapped, kBytes)) << "a file's bytes would come back";
    munmap(mapped, kBytes);
  }
  std::fclose(file);
}

TEST(Memory, DetectsUntouchedPinnedMemory) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  constexpr uint64_t kBytes = 5 * kMiB;
  void* address = nullptr;
  ASSERT_EQ(memory.AllocateHost(kBytes, &address), Result::kSuccess);
  auto* bytes = static_cast<char*>(address);
  ASSERT_TRUE(memory.IsUntouched(bytes, kBytes));
  EXPECT_FALSE(memory.IsUntouched(bytes, kBytes + 1)) << "past its end";
  EXPECT_FALSE(memory.IsUntouched(bytes + 1, 100)) << "no whole page";
  for (const uint64_t at : {uint64_t{100}, 3 * kMiB, kBytes - 100}) {
    bytes[at] = 1;
    EXPECT_FALSE(memory.IsUntouched(bytes + 10, kBytes - 20)) << at;
    EXPECT_TRUE(memory.ClearHost(bytes + 10, kBytes - 20));
    EXPECT_TRUE(memory.IsUntouched(bytes + 10, kBytes - 20)) << at;
  }
  std::vector<char> elsewhere(kBytes);
  EXPECT_FALSE(memory.IsUntouched(elsewhere.data(), kBytes)) << "not pinned";
  EXPECT_EQ(memory.FreeHost(address), Result::kSuccess);
}

TEST(Memory, AllocatesAllMemoryOutsideTheContext) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  EXPECT_EQ(memory.total(0), kGiB);
  EXPECT_EQ(memory.free(0), 768 * kMiB);
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(memory.Allocate(0, 700 * kMiB, &a), Result::kSuccess);
  EXPECT_EQ(memory.free(0), 68 * kMiB);
  EXPECT_EQ(memory.Allocate(0, 70 * kMiB, &b), Result::kOutOfMemory);
  EXPECT_EQ(b, nullptr);
  EXPECT_EQ(memory.Allocate(0, 68 * kMiB, &b), Result::kSuccess);
  EXPECT_EQ(memory.free(0), 0u);
  EXPECT_EQ(memory.Free(a), Result::kSuccess);
  EXPECT_EQ(memory.Free(a), Result::kInvalidValue);
  EXPECT_EQ(memory.free(0), 700 * kMiB);
  EXPECT_EQ(memory.most_used(0), 768 * kMiB);
}

TEST(Memory, HandlesInvalidRequests) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kAscending);
  void* at = &memory;
  EXPECT_EQ(memory.Allocate(0, 0, &at), Result::kSuccess);
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(memory.Allocate(0, ~uint64_t{0}, &at), Result::kOutOfMemory);
  EXPECT_EQ(memory.Allocate(1, 1, &at), Result::kInvalidDevice);
  EXPECT_EQ(memory.Allocate(-1, 1, &at), Result::kInvalidDevice);
  EXPECT_EQ(memory.Free(nullptr), Result::kSuccess);
  EXPECT_EQ(memory.Free(&at), Result::kInvalidValue);
  EXPECT_EQ(memory.used(0), 0u);
}

TEST(Memory, GpusHaveSeparateMemories) {
  const std::vector<Gpu> gpus{Small(), Small(2 * kGiB)};
  Memory memory(gpus, Placement::kDescending);
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(memory.Allocate(0, 768 * kMiB, &a), Result::kSuccess);
  ASSERT_EQ(memory.Allocate(1, 900 * kMiB, &b), Result::kSuccess);
  EXPECT_EQ(memory.DeviceOf(a), 0);
  EXPECT_EQ(memory.DeviceOf(static_cast<char*>(b) + 900 * kMiB - 1), 1);
  EXPECT_EQ(memory.DeviceOf(&a), -1);
  EXPECT_EQ(memory.Find(static_cast<char*>(b) + 5).base, reinterpret_cast<uint64_t>(b));
  EXPECT_EQ(memory.Find(&a).kind, MemoryKind::kUnregistered);
}

TEST(Memory, LargeAllocationsUseNoHostMemory) {
  const std::vector<Gpu> gpus{Small(80 * kGiB)};
  Memory memory(gpus, Placement::kDescending);
  const uint64_t before = ResidentBytes();
  for (int round = 0; round < 3; ++round) {
    void* at = nullptr;
    ASSERT_EQ(memory.Allocate(0, 70 * kGiB, &at), Result::kSuccess);
    std::memset(at, 1, 8 * kMiB);  // data that a program copies to the GPU
    ASSERT_EQ(memory.Free(at), Result::kSuccess);
  }
  EXPECT_LT(ResidentBytes(), before + 4 * kMiB);
}

TEST(Memory, AddressesAreReproducible) {
  const std::vector<Gpu> gpus{Small()};
  void *first = nullptr, *second = nullptr;
  {
    Memory memory(gpus, Placement::kDescending);
    memory.Allocate(0, 3 * kMiB, &first);
  }
  Memory memory(gpus, Placement::kDescending);
  memory.Allocate(0, 3 * kMiB, &second);
  EXPECT_EQ(first, second);
}

TEST(Memory, MapsAndUnmapsReservedAddresses) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  void* at = nullptr;
  ASSERT_EQ(memory.ReserveAddresses(2 * kGiB, 0, &at), Result::kSuccess);  // more than available
  EXPECT_EQ(memory.used(0), 0u);
  EXPECT_EQ(memory.DeviceOf(at), -1);
  ASSERT_EQ(memory.TakePhysical(0, 20 * kMiB), Result::kSuccess);
  ASSERT_EQ(memory.SetMapped(static_cast<char*>(at) + 20 * kMiB, 20 * kMiB, 0), Result::kSuccess);
  EXPECT_EQ(memory.DeviceOf(at), -1);
  EXPECT_EQ(memory.DeviceOf(static_cast<char*>(at) + 21 * kMiB), 0);
  EXPECT_EQ(memory.SetMapped(static_cast<char*>(at) + 2 * kGiB, 1, 0), Result::kInvalidValue);
  EXPECT_EQ(memory.TakePhysical(0, 749 * kMiB), Result::kOutOfMemory);
  EXPECT_EQ(memory.SetMapped(static_cast<char*>(at) + 20 * kMiB, 20 * kMiB, -1), Result::kSuccess);
  EXPECT_EQ(memory.DeviceOf(static_cast<char*>(at) + 21 * kMiB), -1);
  memory.GivePhysical(0, 20 * kMiB);
  EXPECT_EQ(memory.used(0), 0u);
  EXPECT_EQ(memory.ReleaseAddresses(at, kGiB), Result::kInvalidValue);
  EXPECT_EQ(memory.ReleaseAddresses(at, 2 * kGiB), Result::kSuccess);
  EXPECT_EQ(memory.ReserveAddresses(~uint64_t{0}, 0, &at), Result::kInvalidValue);
}

TEST(Memory, TracksPinnedRegisteredAndManagedMemory) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  void* pinned = nullptr;
  ASSERT_EQ(memory.AllocateHost(100 * kMiB, &pinned), Result::kSuccess);
  EXPECT_EQ(memory.Find(static_cast<char*>(pinned) + 100).kind, MemoryKind::kHost);
  EXPECT_EQ(memory.FreeHost(static_cast<char*>(pinned) + 100), Result::kInvalidValue);
  EXPECT_EQ(memory.FreeHost(pinned), Result::kSuccess);
  EXPECT_EQ(memory.Find(pinned).kind, MemoryKind::kUnregistered);

  char own[64];
  ASSERT_EQ(memory.RegisterHost(own, sizeof own), Result::kSuccess);
  EXPECT_EQ(memory.RegisterHost(own + 8, 8), Result::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(memory.FreeHost(own), Result::kInvalidValue);  // not allocated here
  EXPECT_EQ(memory.UnregisterHost(own), Result::kSuccess);
  EXPECT_EQ(memory.UnregisterHost(own), Result::kHostMemoryNotRegistered);

  void* managed = nullptr;
  ASSERT_EQ(memory.AllocateManaged(kMiB, &managed), Result::kSuccess);
  EXPECT_EQ(memory.Find(managed).kind, MemoryKind::kManaged);
  EXPECT_EQ(memory.Free(managed), Result::kSuccess);
}

struct Overcommits {
  int times = 0;
  uint64_t bytes = 0, free = 0;
};

TEST(Memory, OvercommitsAtSecondEqualRequest) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  Overcommits seen;
  memory.SetOvercommit(
      [](void* context, int, uint64_t bytes, uint64_t free) {
        auto* to = static_cast<Overcommits*>(context);
        *to = {to->times + 1, bytes, free};
      },
      &seen);
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(memory.Allocate(0, 700 * kMiB, &a), Result::kSuccess);
  EXPECT_EQ(memory.Allocate(0, 100 * kMiB, &b), Result::kOutOfMemory);
  EXPECT_EQ(memory.Allocate(0, 200 * kMiB, &b),
            Result::kOutOfMemory);  // the first failure of this size
  EXPECT_EQ(seen.times, 0);
  EXPECT_EQ(memory.Allocate(0, 200 * kMiB, &b), Result::kSuccess);
  EXPECT_EQ(seen.times, 1);
  EXPECT_EQ(seen.bytes, 200 * kMiB);
  EXPECT_EQ(seen.free, 68 * kMiB);
  EXPECT_EQ(memory.free(0), 0u);
  EXPECT_EQ(memory.used(0), 900 * kMiB);
  EXPECT_EQ(memory.Free(b), Result::kSuccess);
  EXPECT_EQ(memory.free(0), 68 * kMiB);
}

TEST(Memory, ResetAllowsAnotherGpu) {
  const std::vector<Gpu> gpus{Small()};
  Memory memory(gpus, Placement::kDescending);
  void *first = nullptr, *again = nullptr;
  ASSERT_EQ(memory.Allocate(0, 30 * kMiB, &first), Result::kSuccess);
  ASSERT_EQ(memory.Allocate(0, 300 * kMiB, &again), Result::kSuccess);
  memory.Reset(0);
  memory.SetGpu(0, Small(4 * kGiB));
  EXPECT_EQ(memory.used(0), 0u);
  EXPECT_EQ(memory.most_used(0), 0u);
  EXPECT_EQ(memory.free(0), 4 * kGiB - 256 * kMiB);
  ASSERT_EQ(memory.Allocate(0, 30 * kMiB, &again), Result::kSuccess);
  EXPECT_EQ(again, first);
}

TEST(Memory, GrowingContextReducesFreeMemory) {
  Gpu gpu = Small(kGiB, 256 * kMiB);
  gpu.idle_bytes = 8 * kMiB;
  Memory memory(std::span(&gpu, 1), Placement::kDescending);
  EXPECT_EQ(memory.free(0), 760 * kMiB);
  memory.GrowContext(0, 66 * kMiB);
  EXPECT_EQ(memory.context(0), 322 * kMiB);
  EXPECT_EQ(memory.free(0), 694 * kMiB);
  EXPECT_EQ(memory.used(0), 0u);
  memory.ShrinkContext(0, 66 * kMiB);
  EXPECT_EQ(memory.free(0), 760 * kMiB);
  memory.GrowContext(0, 2 * kGiB);
  EXPECT_EQ(memory.free(0), 0u);
}

}  // namespace
}  // namespace vramscope::emulated
