#include "emulated/core/kernels.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulated/core/context.h"
#include "emulated/core/device_code.h"
#include "emulated/core/durations.h"
#include "emulated/core/masks.h"
#include "emulated/core/occupancy.h"
#include "emulated/core/operand_rules.h"
#include "emulated/core/pacing.h"
#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/core/work.h"
#include "emulated/core/work_rules.h"

namespace vramscope::emulated {
namespace {

// The code of an image for GPUs of one compute capability.
struct Image {
  DeviceCode code;
  bool read = false;
};
struct Kernel {
  const char* name = "";
  const void* image = nullptr;
  uint64_t* unrecognised = nullptr;     // counts the kernel's unrecognised launches; null: none
  std::optional<MaskKernelFacts> mask;  // set at the first launch
  // `known` is the image that the last lookup found, and `compute_capability` is that lookup's GPU.
  int compute_capability = 0;
  Image* known = nullptr;
  // The rules for the code in `rules_of`. A launch sets them.
  std::optional<OperandRules> operands;
  WorkRules work;
  const Image* rules_of = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> kernels;
  // The kernels of each image, for unloading it quickly: a program that ends unloads thousands of
  // images with a few kernels each. Entries may be outdated, because a kernel may since have been
  // assigned to another image or to none.
  std::unordered_map<const void*, std::vector<const void*>> functions;
  std::map<std::pair<const void*, int>, Image> images;
  // The number of unrecognised launches for each kernel name. It outlives the kernels, because
  // programs unload their code before they end.
  std::unordered_map<std::string, uint64_t> unrecognised;

  Kernel* Find(const void* function) {
    const auto it = kernels.find(function);
    return it == kernels.end() ? nullptr : &it->second;
  }
  Image* ImageOf(Kernel* kernel, int compute_capability) {
    if (kernel->known == nullptr || kernel->compute_capability != compute_capability) {
      const auto [it, is_new] = images.try_emplace({kernel->image, compute_capability});
      if (is_new) {
        it->second.code = ParseImage(kernel->image, compute_capability);
      }
      kernel->known = &it->second;
      kernel->compute_capability = compute_capability;
    }
    return kernel->known;
  }
  // Unpacks the image when one of its kernels is first looked up. Returns null if the image does
  // not have the kernel.
  const KernelFacts* Read(Kernel* kernel, int compute_capability) {
    Image* image = ImageOf(kernel, compute_capability);
    if (!image->read) {
      ReadKernels(&image->code);
      image->read = true;
    }
    const auto it = image->code.kernels.find(kernel->name);
    return it == image->code.kernels.end() ? nullptr : &it->second;
  }
  // Makes the rules of a kernel. If its parameters could not be read, the kernel gets no rules.
  void MakeRules(Kernel* kernel, int compute_capability) {
    const Image* image = ImageOf(kernel, compute_capability);
    if (kernel->operands && kernel->rules_of == image) return;
    kernel->rules_of = image;
    kernel->operands = OperandRules();
    kernel->work = WorkRules();
    const KernelFacts* facts = Read(kernel, compute_capability);
    if (facts == nullptr || !facts->read) return;
    kernel->operands = OperandRules(kernel->name, facts->parameters);
    kernel->work = WorkRules(kernel->name, facts->parameters, *kernel->operands);
  }
  KernelFacts FactsOf(Kernel* kernel, int compute_capability) {
    const KernelFacts* read = Read(kernel, compute_capability);
    const Image* image = kernel->known;
    KernelFacts facts;
    if (read != nullptr) {
      facts = *read;
    } else {
      Assume("a kernel's registers and shared memory", image->code.problem, facts.registers);
    }
    facts.name = kernel->name;
    facts.architecture = image->code.architecture;
    facts.ptx_architecture = image->code.ptx_architecture;
    facts.runs = image->code.runs;
    return facts;
  }
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

int CapabilityOf(int device) {
  const Platform& platform = ThePlatform();
  return device < static_cast<int>(platform.gpus.size()) ? platform.gpus[device].compute_capability
                                                         : 0;
}

// Returns the pointers to GPU memory in a launch's parameters, including pointers in structures.
std::vector<uint64_t> PointersOf(const KernelFacts& facts, void** parameters) {
  const Memory& memory = ThePlatform().memory;
  std::vector<uint64_t> pointers;
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    for (size_t at = 0; at + 8 <= facts.parameters[i]; at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, static_cast<const char*>(parameters[i]) + at, sizeof value);
      if (value > 0xffffffff && memory.DeviceOf(reinterpret_cast<void*>(value)) >= 0) {
        pointers.push_back(value);
      }
    }
  }
  return pointers;
}

// A count that a launch writes: how many elements of a mask are true, or how many keys are
// distinct.
struct Counted {
  uint64_t to = 0;
  uint64_t count = 0;
  uint8_t bytes = 4;  // cub's nonzero kernels add up ints
};

// Parameters: input keys and values, output keys and values, the address of the count, the scan's
// state, the comparison, the number of keys.
std::optional<Counted> DistinctOf(const KernelFacts& facts, void** parameters) {
  constexpr size_t kTo = 4, kKeys = 7;
  if (facts.parameters.size() <= kKeys || facts.parameters[kTo] != 8 ||
      (facts.parameters[kKeys] != 4 && facts.parameters[kKeys] != 8)) {
    return std::nullopt;
  }
  Counted counted{.bytes = static_cast<uint8_t>(facts.parameters[kKeys])};
  std::memcpy(&counted.to, parameters[kTo], sizeof counted.to);
  uint64_t keys = 0;
  std::memcpy(&keys, parameters[kKeys], counted.bytes);
  counted.count = Masks::Distinct(keys);
  return counted;
}

// Parameters: the input (the mask and the operator), the address of the count, the number of
// elements.
std::optional<Counted> CountOf(const MaskKernelFacts& mask, const KernelFacts& facts,
                               void** parameters) {
  if (mask.kernel == MaskKernel::kDistinct) {
    return DistinctOf(facts, parameters);
  }
  // If several blocks count a mask, a kSums kernel launched by the same thread completes the count.
  thread_local uint64_t begun = 0;
  thread_local bool pending = false;
  if (facts.parameters.size() < 3 || facts.parameters[1] != 8) {
    return std::nullopt;
  }
  Counted counted;
  std::memcpy(&counted.to, parameters[1], sizeof counted.to);
  if (mask.kernel == MaskKernel::kSums) {
    if (!std::exchange(pending, false)) {
      return std::nullopt;
    }
    counted.count = begun;
    return counted;
  }
  Platform& platform = ThePlatform();
  uint64_t elements = 0;
  if (facts.parameters[2] != 4 && facts.parameters[2] != 8) {
    return std::nullopt;
  }
  std::memcpy(&elements, parameters[2], facts.parameters[2]);
  uint64_t address = 0;
  for (size_t at = 0; at + 8 <= facts.parameters[0] && address == 0; at += 8) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(parameters[0]) + at, sizeof value);
    if (value > 0xffffffff && platform.memory.DeviceOf(reinterpret_cast<void*>(value)) >= 0) {
      address = value;
    }
  }
  const uint64_t count =
      platform.masks.Count(platform.host_bytes, address, elements, mask.element_bytes);
  if (mask.kernel == MaskKernel::kBegins) {
    begun = count;
    pending = true;
    return std::nullopt;
  }
  counted.count = count;
  return counted;
}

// Returns how many bytes after each of its pointers a launch may have overwritten. Every thread is
// assumed to write at most 256 bytes. If the grid fills the GPU, its threads may loop, so there is
// no limit.
//
// PyTorch's element-wise kernels write as many elements as their first parameter says, each of at
// most 16 bytes.
uint64_t ReachOf(const Gpu& gpu, const char* name, const KernelFacts& facts, void** parameters,
                 uint64_t blocks, uint64_t threads) {
  // kBlock is the caching allocator's smallest block.
  constexpr uint64_t kBlock = 512, kLargestElement = 16;
  if (!facts.parameters.empty() && facts.parameters[0] == 4 &&
      std::strstr(name, "elementwise_kernel") != nullptr) {
    int32_t elements = 0;
    std::memcpy(&elements, parameters[0], sizeof elements);
    return std::max<uint64_t>(kBlock, kLargestElement * std::max(elements, 0));
  }
  constexpr uint64_t kBytesPerThread = 256;
  const uint64_t filled = uint64_t(gpu.sm_count) * 2;
  return blocks >= filled ? uint64_t{1} << 40
                          : std::max(kBlock, blocks * threads * kBytesPerThread);
}

}  // namespace

void RegisterKernel(const void* function, const char* name, const void* image) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.kernels[function] = {.name = name, .image = image};
  registry.functions[image].push_back(function);
}

void ForgetKernel(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.kernels.erase(function);
}

void ForgetKernels(const void* image) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  if (const auto of_image = registry.functions.extract(image)) {
    for (const void* function : of_image.mapped()) {
      const Kernel* kernel = registry.Find(function);
      if (kernel != nullptr && kernel->image == image) {
        registry.kernels.erase(function);
      }
    }
  }
  registry.images.erase(registry.images.lower_bound({image, INT_MIN}),
                        registry.images.upper_bound({image, INT_MAX}));
}

std::vector<std::pair<std::string, uint64_t>> UnrecognisedLaunches() {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<std::pair<std::string, uint64_t>> all(registry.unrecognised.begin(),
                                                    registry.unrecognised.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  return all;
}

bool IsRegistered(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  return registry.kernels.contains(function);
}

KernelFacts FactsOf(const void* function) {
  Registry& registry = TheRegistry();
  const int capability = CapabilityOf(CurrentDevice());
  std::lock_guard lock(registry.mutex);
  Kernel* kernel = registry.Find(function);
  return kernel == nullptr ? KernelFacts{} : registry.FactsOf(kernel, capability);
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
  if (const Result result = platform.streams.FactsOf(launch.stream, &stream);
      result != Result::kSuccess) {
    return result;
  }
  const Gpu& gpu = platform.gpus[stream.device];
  const char* name = "?";
  // Pointers are needed only if the launch may overwrite known bytes, or if a recorder wants
  // operands.
  const bool look = launch.parameters != nullptr && platform.host_bytes.HasFleeting();
  const bool wanted = launch.parameters != nullptr && OperandsEnabled() != nullptr;
  std::optional<std::vector<uint64_t>> pointers;
  std::vector<Operand> operands;
  uint64_t reach = 0;
  std::optional<LaunchWork> known;
  std::optional<Counted> counted;
  {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    if (Kernel* kernel = registry.Find(launch.function)) {
      name = kernel->name;
      if (!registry.ImageOf(kernel, gpu.compute_capability)->code.runs) {
        return Result::kNoBinaryForDevice;
      }
      if (!kernel->mask) {
        kernel->mask = MaskKernelOf(kernel->name);
      }
      const bool counts = kernel->mask->kernel != MaskKernel::kNone && launch.parameters != nullptr;
      if (launch.parameters != nullptr) {
        registry.MakeRules(kernel, gpu.compute_capability);
        known = kernel->work.Of(grid, block, launch.parameters);
        if (wanted) kernel->operands->Read(grid, launch.parameters, &operands);
      }
      if (!known) {
        if (kernel->unrecognised == nullptr) {
          kernel->unrecognised = &registry.unrecognised[kernel->name];
        }
        ++*kernel->unrecognised;
      }
      if (look || counts) {
        const KernelFacts facts = registry.FactsOf(kernel, gpu.compute_capability);
        if (facts.read && counts) {
          counted = CountOf(*kernel->mask, facts, launch.parameters);
        }
        if (facts.read && look) {
          pointers = PointersOf(facts, launch.parameters);
          reach = ReachOf(gpu, name, facts, launch.parameters, blocks, threads);
        }
      }
    }
  }
  platform.launches.fetch_add(1, std::memory_order_relaxed);
  platform.recognised.fetch_add(known ? 1 : 0, std::memory_order_relaxed);
  GrowContext(stream.device, ContextPart::kKernels);
  GiveTurns(platform.clock.now());
  Node work{
      .kind = NodeKind::kKernel,
      .duration_ns = known ? LaunchDuration(gpu, *known) : KernelDuration(gpu, blocks, threads),
      .activity = {.kind = ActivityKind::kKernel,
                   .name = name,
                   .grid = grid,
                   .block = block,
                   .dynamic_shared = launch.shared_bytes,
                   .call = launch.driver ? Call::kDriverLaunchKernel : Call::kLaunchKernel}};
  if (counted) {
    work.effect = [pointers = std::move(pointers).value_or(std::vector<uint64_t>()), reach,
                   counted = *counted] {
      ThePlatform().host_bytes.Launched(pointers, reach);
      ThePlatform().host_bytes.Write(counted.to, &counted.count, counted.bytes);
    };
  } else if (pointers) {
    work.effect = [pointers = std::move(*pointers), reach] {
      ThePlatform().host_bytes.Launched(pointers, reach);
    };
  } else {
    work.effect = [] { ThePlatform().host_bytes.LaunchedUnknown(); };
  }
  if (wanted) {
    Keep(std::move(operands), stream.device, &work);
  }
  return Do(stream, launch.stream, std::move(work));
}

int BlocksPerMultiprocessor(int device, const void* function, int threads,
                            uint64_t dynamic_shared) {
  const Gpu& gpu = ThePlatform().gpus[device];
  const Architecture architecture = ArchitectureOf(gpu);
  const KernelFacts facts = FactsOf(function);
  return BlocksThatFit(gpu, architecture, facts, threads, dynamic_shared);
}

}  // namespace vramscope::emulated
