// Attributes of a device by CUDA's numbers, which the runtime (cudaDeviceAttr) and the driver
// (CUdevice_attribute) share.
//
//   int sms = AttributeOf(device, Attribute::kMultiprocessors);
//
// An attribute that is not listed here is 0, which means that the GPU lacks the feature.
#pragma once

#include "emulated/core/api.h"
#include "emulated/core/gpu.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

// The driver version that the platform reports unless a program needs a newer one
// (libraries/program_version.h).
inline constexpr int kDriverVersion = 13000;

enum class Attribute : int {
  kThreadsPerBlock = 1,
  kBlockX = 2,
  kBlockY = 3,
  kBlockZ = 4,
  kGridX = 5,
  kGridY = 6,
  kGridZ = 7,
  kSharedPerBlock = 8,
  kConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kRegistersPerBlock = 12,
  kClockKhz = 13,
  kTextureAlignment = 14,
  kGpuOverlap = 15,
  kMultiprocessors = 16,
  kIntegrated = 18,
  kCanMapHostMemory = 19,
  kTexture1DWidth = 21,
  kTexture2DWidth = 22,
  kTexture2DHeight = 23,
  kTexture3DWidth = 24,
  kTexture3DHeight = 25,
  kTexture3DDepth = 26,
  kSurfaceAlignment = 30,
  kConcurrentKernels = 31,
  kEccEnabled = 32,
  kPciBus = 33,
  kPciDevice = 34,
  kMemoryClockKhz = 36,
  kBusWidth = 37,
  kL2Bytes = 38,
  kThreadsPerMultiprocessor = 39,
  kAsyncEngines = 40,
  kUnifiedAddressing = 41,
  kPciDomain = 50,
  kTexturePitchAlignment = 51,
  kMajor = 75,
  kMinor = 76,
  kStreamPriorities = 78,
  kGlobalL1 = 79,
  kLocalL1 = 80,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kManagedMemory = 83,
  kSingleToDoubleRatio = 87,
  kPageableMemoryAccess = 88,
  kConcurrentManagedAccess = 89,
  kComputePreemption = 90,
  kHostPointerForRegistered = 91,
  kCooperativeLaunch = 95,
  kSharedPerBlockOptIn = 97,
  kHostRegister = 99,
  kPageableUsesHostTables = 100,
  kVirtualMemory = 102,
  kPosixHandles = 103,
  kBlocksPerMultiprocessor = 106,
  kPersistingL2Bytes = 108,
  kAccessPolicyWindow = 109,
  kReservedSharedPerBlock = 111,
  kMemoryPools = 115,
  kMemoryPoolHandleTypes = 119,
  kClusterLaunch = 120,
  kMemorySyncDomains = 126,
};

// Returns how two different devices access each other's memory.
VRAMSCOPE_EMULATED_API Peers PeersOf(int device, int peer);
// `attribute` has the numbers of cudaDeviceP2PAttr and CUdevice_P2PAttribute. Returns kInvalidValue
// for other numbers, and kInvalidDevice for unknown devices.
VRAMSCOPE_EMULATED_API Result PeerAttributeOf(int device, int peer, int attribute, int* value);

VRAMSCOPE_EMULATED_API int AttributeOf(int device, Attribute attribute);
// Writes a UUID of 16 bytes. It differs between devices, and is the same in every process.
VRAMSCOPE_EMULATED_API void FillUuid(int device, unsigned char* uuid);

}  // namespace vramscope::emulated
