#include "emulated/core/attributes.h"

#include <algorithm>
#include <cstring>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

// Returns the memory clock. With two transfers per clock, it yields the GPU's bandwidth.
int MemoryClockKhz(const Gpu& gpu) {
  if (gpu.bus_bits <= 0) {
    return 0;
  }
  const double khz = gpu.bandwidth_bytes_per_s / (2.0 * gpu.bus_bits / 8) / 1000;
  return static_cast<int>(std::min(khz, 2147483647.0));  // the environment may specify any GPU
}

int Limited(uint64_t bytes) { return static_cast<int>(std::min<uint64_t>(bytes, 0x7fffffff)); }

bool DataCentre(const Gpu& gpu) {
  const int cc = gpu.compute_capability;
  return cc == 60 || cc == 70 || cc == 80 || cc == 90 || cc == 100 || cc == 103;
}

// Returns whether the GPU uses the processor's page tables, as integrated GPUs do since Thor and
// GB10.
bool SharesPageTables(const Gpu& gpu) { return gpu.integrated && gpu.compute_capability >= 110; }

}  // namespace

int AttributeOf(int device, Attribute attribute) {
  Platform& platform = ThePlatform();
  if (device < 0 || device >= static_cast<int>(platform.gpus.size())) {
    return 0;
  }
  const Gpu& gpu = platform.gpus[device];
  const Architecture architecture = ArchitectureOf(gpu);
  switch (attribute) {
    case Attribute::kThreadsPerBlock:
    case Attribute::kBlockX:
    case Attribute::kBlockY:
      return 1024;
    case Attribute::kBlockZ:
      return 64;
    case Attribute::kGridX:
    case Attribute::kMaxPitch:
      return 2147483647;
    case Attribute::kGridY:
    case Attribute::kGridZ:
      return 65535;
    case Attribute::kSharedPerBlock:
      return 48 * 1024;
    case Attribute::kConstantMemory:
      return 64 * 1024;
    case Attribute::kWarpSize:
      return 32;
    case Attribute::kRegistersPerBlock:
    case Attribute::kRegistersPerMultiprocessor:
      return architecture.registers_per_sm;
    case Attribute::kClockKhz:
      return Limited(static_cast<uint64_t>(gpu.boost_mhz) * 1000);
    case Attribute::kMemoryClockKhz:
      return MemoryClockKhz(gpu);
    case Attribute::kTextureAlignment:
    case Attribute::kSurfaceAlignment:
      return 512;
    case Attribute::kTexturePitchAlignment:
      return 32;
    case Attribute::kTexture1DWidth:
    case Attribute::kTexture2DWidth:
      return 131072;
    case Attribute::kTexture2DHeight:
      return 65536;
    case Attribute::kTexture3DWidth:
    case Attribute::kTexture3DHeight:
    case Attribute::kTexture3DDepth:
      return 16384;
    case Attribute::kMultiprocessors:
      return gpu.sm_count;
    case Attribute::kEccEnabled:
      return gpu.ecc.value_or(DataCentre(gpu));
    case Attribute::kIntegrated:
      return gpu.integrated;
    case Attribute::kPageableMemoryAccess:
    case Attribute::kPageableUsesHostTables:
      return SharesPageTables(gpu);
    case Attribute::kConcurrentManagedAccess:
      return !gpu.integrated || SharesPageTables(gpu);
    case Attribute::kPciBus:
      return 0x10 + device;
    case Attribute::kBusWidth:
      return gpu.bus_bits;
    case Attribute::kL2Bytes:
      return Limited(gpu.l2_bytes);
    case Attribute::kPersistingL2Bytes:
      return gpu.major() >= 8 ? Limited(gpu.l2_bytes / 16 * 11) : 0;
    case Attribute::kAccessPolicyWindow:
      return gpu.major() >= 8 ? 128 << 20 : 0;
    case Attribute::kThreadsPerMultiprocessor:
      return gpu.max_threads_per_sm;
    case Attribute::kAsyncEngines:
      return DataCentre(gpu) ? 3 : 2;
    case Attribute::kMajor:
      return gpu.major();
    case Attribute::kMinor:
      return gpu.minor();
    case Attribute::kSharedPerMultiprocessor:
      return architecture.shared_per_sm;
    case Attribute::kSharedPerBlockOptIn:
      return architecture.shared_per_block_most;
    case Attribute::kBlocksPerMultiprocessor:
      return architecture.blocks_per_sm;
    case Attribute::kReservedSharedPerBlock:
      return gpu.major() >= 8 ? 1024 : 0;
    case Attribute::kSingleToDoubleRatio:
      // The B300 has few fp64 units.
      return gpu.compute_capability == 103                                  ? 64
             : DataCentre(gpu)                                              ? 2
             : gpu.compute_capability == 61 || gpu.compute_capability == 75 ? 32
                                                                            : 64;
    case Attribute::kClusterLaunch:
      return gpu.major() >= 9;
    case Attribute::kMemorySyncDomains:
      return gpu.major() >= 9 ? 4 : 1;
    case Attribute::kGpuOverlap:
    case Attribute::kCanMapHostMemory:
    case Attribute::kConcurrentKernels:
    case Attribute::kUnifiedAddressing:
    case Attribute::kStreamPriorities:
    case Attribute::kGlobalL1:
    case Attribute::kLocalL1:
    case Attribute::kManagedMemory:
    case Attribute::kComputePreemption:
    case Attribute::kHostPointerForRegistered:
    case Attribute::kCooperativeLaunch:
    case Attribute::kHostRegister:
    case Attribute::kVirtualMemory:
    case Attribute::kPosixHandles:
    case Attribute::kMemoryPools:
    case Attribute::kMemoryPoolHandleTypes:
      return 1;
    case Attribute::kPciDevice:
    case Attribute::kPciDomain:
      return 0;
  }
  return 0;
}

Peers PeersOf(int device, int peer) {
  const std::vector<Gpu>& gpus = ThePlatform().gpus;
  const auto known = [&](int i) { return i >= 0 && i < static_cast<int>(gpus.size()); };
  // GPUs of different models access each other only through the host.
  return device != peer && known(device) && known(peer) && gpus[device].name == gpus[peer].name
             ? gpus[device].peers
             : Peers::kNone;
}

Result PeerAttributeOf(int device, int peer, int attribute, int* value) {
  constexpr int kRank = 1, kAtomics = 3, kArrays = 4;
  const int devices = static_cast<int>(ThePlatform().gpus.size());
  if (value == nullptr || attribute < kRank || attribute > kArrays) {
    return Result::kInvalidValue;
  }
  if (device < 0 || device >= devices || peer < 0 || peer >= devices || device == peer) {
    return Result::kInvalidDevice;
  }
  const Peers peers = PeersOf(device, peer);
  switch (attribute) {
    case kRank:
      *value = 0;  // performance rank: all links are the fastest
      break;
    case kAtomics:
      *value = peers == Peers::kNvlink;
      break;
    default:  // whether access is supported, also to arrays
      *value = peers != Peers::kNone;
  }
  return Result::kSuccess;
}

void FillUuid(int device, unsigned char* uuid) {
  constexpr char kText[] = "vramscope card";
  std::memset(uuid, 0, 16);
  std::memcpy(uuid, kText, sizeof kText - 1);
  uuid[15] = static_cast<unsigned char>(device);
}

}  // namespace vramscope::emulated
