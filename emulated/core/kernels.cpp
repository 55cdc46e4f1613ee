#include "emulated/core/kernels.h"

#include <mutex>
#include <unordered_map>

#include "emulated/core/durations.h"
#include "emulated/core/occupancy.h"
#include "emulated/core/platform.h"
#include "emulated/core/work.h"

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

void ForgetKernel(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.kernels.erase(function);
}

void ForgetKernels(const void* image) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::erase_if(registry.kernels, [&](const auto& entry) { return entry.second.image == image; });
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
  const char* name = "?";
  {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    const auto it = registry.kernels.find(launch.function);
    if (it != registry.kernels.end()) {
      ++it->second.launches;
      name = it->second.name;
    }
  }
  platform.launches.fetch_add(1, std::memory_order_relaxed);
  return Do(stream, launch.stream,
            {.kind = NodeKind::kKernel,
             .duration_ns = KernelDuration(platform.cards[stream.device], blocks, threads),
             .activity = {.kind = ActivityKind::kKernel,
                          .name = name,
                          .grid = grid,
                          .block = block,
                          .dynamic_shared = launch.shared_bytes},
             .effect = [] { ThePlatform().host_bytes.LaunchedUnknown(); }});
}

int BlocksPerMultiprocessor(int device, const void* function, int threads,
                            uint64_t dynamic_shared) {
  const Card& card = ThePlatform().cards[device];
  const Architecture architecture = ArchitectureOf(card);
  const KernelFacts facts = FactsOf(function);
  return BlocksThatFit(card, architecture, facts, threads, dynamic_shared);
}

}  // namespace vramscope::emulated
