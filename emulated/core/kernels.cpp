#include "emulated/core/kernels.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "emulated/core/durations.h"
#include "emulated/core/occupancy.h"
#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"

namespace vramscope::emulated {
namespace {

struct Kernel {
  const char* name = "";
  const void* image = nullptr;
  uint64_t launches = 0;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> kernels;
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

Place PlaceOf(const PointerFacts& facts) {
  switch (facts.kind) {
    case MemoryKind::kHost:
      return Place::kPinned;
    case MemoryKind::kDevice:
      return Place::kDevice;
    case MemoryKind::kManaged:
      return Place::kManaged;
    case MemoryKind::kUnregistered:
      break;
  }
  return facts.device >= 0 ? Place::kDevice : Place::kPageable;
}

void Tell(const Activity& activity) {
  if (Recorder* recorder = TheRecorder()) {
    recorder->OnWork(activity);
  }
}

const Card& CardOf(int device) { return ThePlatform().cards[device]; }

}  // namespace

void RegisterKernel(const void* function, const char* name, const void* image) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.kernels[function] = {name, image, 0};
}

bool IsRegistered(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  return registry.kernels.contains(function);
}

KernelFacts FactsOf(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto it = registry.kernels.find(function);
  KernelFacts facts;
  if (it != registry.kernels.end()) {
    facts.name = it->second.name;
  }
  return facts;
}

Result Launch(const KernelLaunch& launch) {
  Platform& platform = ThePlatform();
  const Dim &grid = launch.grid, &block = launch.block;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  if (blocks == 0 || threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu) {
    return Result::kInvalidConfiguration;
  }
  StreamFacts stream;
  if (const Result result = platform.streams.Look(launch.stream, &stream);
      result != Result::kSuccess) {
    return result;
  }
  Interval when;
  platform.streams.Enqueue(launch.stream, KernelDuration(CardOf(stream.device), blocks, threads),
                           &when);
  platform.host_bytes.LaunchedUnknown();
  Registry& registry = TheRegistry();
  const char* name = "?";
  {
    std::lock_guard lock(registry.mutex);
    const auto it = registry.kernels.find(launch.function);
    if (it != registry.kernels.end()) {
      ++it->second.launches;
      name = it->second.name;
    }
  }
  platform.launches.fetch_add(1, std::memory_order_relaxed);
  Tell({.kind = ActivityKind::kKernel,
        .name = name,
        .device = stream.device,
        .stream = stream.id,
        .start_ns = when.start_ns,
        .end_ns = when.end_ns,
        .grid = grid,
        .block = block,
        .dynamic_shared = launch.shared_bytes});
  return Result::kSuccess;
}

Result Submit(const LibraryWork& work) {
  Platform& platform = ThePlatform();
  StreamFacts stream;
  if (const Result result = platform.streams.Look(work.stream, &stream);
      result != Result::kSuccess) {
    return result;
  }
  Interval when;
  platform.streams.Enqueue(
      work.stream, WorkDuration(CardOf(stream.device), work.flops, work.precision, work.bytes),
      &when);
  for (const Written& written : work.writes) {
    platform.host_bytes.Overwritten(reinterpret_cast<uint64_t>(written.address), written.bytes);
  }
  platform.launches.fetch_add(1, std::memory_order_relaxed);
  Tell({.kind = ActivityKind::kKernel,
        .name = work.name,
        .device = stream.device,
        .stream = stream.id,
        .start_ns = when.start_ns,
        .end_ns = when.end_ns,
        .bytes = work.bytes});
  return Result::kSuccess;
}

void CopyBytes(void* to, const void* from, uint64_t bytes) {
  if (bytes == 0 || to == from) {
    return;
  }
  Platform& platform = ThePlatform();
  const bool to_device = platform.memory.DeviceOf(to) >= 0;
  const bool from_device = platform.memory.DeviceOf(from) >= 0;
  const uint64_t target = reinterpret_cast<uint64_t>(to);
  const uint64_t source = reinterpret_cast<uint64_t>(from);
  if (to_device && from_device) {
    platform.host_bytes.Move(target, source, bytes);
  } else if (to_device) {
    platform.host_bytes.Write(target, from, bytes);
  } else if (from_device) {
    platform.host_bytes.Read(to, source, bytes);
  } else {
    std::memmove(to, from, bytes);
  }
}

Result Copy(void* to, const void* from, uint64_t bytes, void* stream, bool synchronous) {
  Platform& platform = ThePlatform();
  StreamFacts facts;
  if (const Result result = platform.streams.Look(stream, &facts); result != Result::kSuccess) {
    return result;
  }
  if (bytes == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || from == nullptr) {
    return Result::kInvalidValue;
  }
  const PointerFacts target = platform.memory.Look(to), source = platform.memory.Look(from);
  const bool over_bus = PlaceOf(target) != Place::kDevice || PlaceOf(source) != Place::kDevice;
  Interval when;
  platform.streams.Enqueue(stream, CopyDuration(CardOf(facts.device), bytes, over_bus), &when);
  CopyBytes(to, from, bytes);
  // Pageable memory of the host is staged: its copies return when they are done.
  if (synchronous || (over_bus && (PlaceOf(target) == Place::kPageable))) {
    platform.streams.Synchronize(stream);
  }
  Tell({.kind = ActivityKind::kCopy,
        .device = facts.device,
        .stream = facts.id,
        .start_ns = when.start_ns,
        .end_ns = when.end_ns,
        .bytes = bytes,
        .from = PlaceOf(source),
        .to = PlaceOf(target)});
  return Result::kSuccess;
}

Result Fill(void* to, const void* pattern, uint64_t pattern_bytes, uint64_t count, void* stream,
            bool synchronous) {
  Platform& platform = ThePlatform();
  StreamFacts facts;
  if (const Result result = platform.streams.Look(stream, &facts); result != Result::kSuccess) {
    return result;
  }
  if (count == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || count > (uint64_t{1} << 48) / pattern_bytes) {
    return Result::kInvalidValue;
  }
  const uint64_t bytes = count * pattern_bytes;
  Interval when;
  platform.streams.Enqueue(stream, WorkDuration(CardOf(facts.device), 0, Precision::kFp32, bytes),
                           &when);
  if (platform.memory.DeviceOf(to) >= 0) {
    platform.host_bytes.Fill(reinterpret_cast<uint64_t>(to), pattern, pattern_bytes, count);
  } else {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(to) + i * pattern_bytes, pattern, pattern_bytes);
    }
  }
  if (synchronous) {
    platform.streams.Synchronize(stream);
  }
  Tell({.kind = ActivityKind::kFill,
        .device = facts.device,
        .stream = facts.id,
        .start_ns = when.start_ns,
        .end_ns = when.end_ns,
        .bytes = bytes,
        .to = PlaceOf(platform.memory.Look(to))});
  return Result::kSuccess;
}

int BlocksPerMultiprocessor(int device, const void* function, int threads,
                            uint64_t dynamic_shared) {
  const Card& card = CardOf(device);
  const Architecture architecture = ArchitectureOf(card);
  const KernelFacts facts = FactsOf(function);
  return BlocksThatFit(card, architecture, facts, threads, dynamic_shared);
}

}  // namespace vramscope::emulated
