// Checks that our declarations of CUDA's structures have the sizes and offsets that NVIDIA's
// headers have. Compiled once for each toolkit whose headers are available.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define VRAMSCOPE_HAS_DRIVER_HEADER 1
#endif

#include "emulated/core/attributes.h"
#include "emulated/core/ipc.h"
#include "emulated/driver/types.h"
#include "emulated/runtime/types.h"

#pragma GCC diagnostic ignored \
    "-Winvalid-offsetof"  // GCC warns about offsetof of derived structures, used here

namespace vramscope::emulated {
namespace {

#if CUDART_VERSION >= 13000
using Properties = runtime::DeviceProperties13;
using PointerAttributes = runtime::PointerAttributes13;
#elif CUDART_VERSION >= 12000
using Properties = runtime::DeviceProperties12;
using PointerAttributes = runtime::PointerAttributes11;
#else
using Properties = runtime::DeviceProperties11;
using PointerAttributes = runtime::PointerAttributes11;
#endif
#if CUDART_VERSION >= 12000
using FunctionAttributes = runtime::FunctionAttributes12;
#else
using FunctionAttributes = runtime::FunctionAttributes11;
#endif

#define SAME_SIZE(theirs, ours) EXPECT_EQ(sizeof(theirs), sizeof(ours)) << #theirs
#define SAME(theirs, ours, member) \
  EXPECT_EQ(offsetof(theirs, member), offsetof(ours, member)) << #theirs "::" #member

TEST(Layouts, DeviceProperties) {
  SAME_SIZE(cudaDeviceProp, Properties);
#define FIELD(member) SAME(cudaDeviceProp, Properties, member)
  FIELD(name);
  FIELD(uuid);
  FIELD(luidDeviceNodeMask);
  FIELD(totalGlobalMem);
  FIELD(sharedMemPerBlock);
  FIELD(regsPerBlock);
  FIELD(warpSize);
  FIELD(memPitch);
  FIELD(maxThreadsPerBlock);
  FIELD(maxThreadsDim);
  FIELD(maxGridSize);
  FIELD(totalConstMem);
  FIELD(major);
  FIELD(minor);
  FIELD(textureAlignment);
  FIELD(texturePitchAlignment);
  FIELD(multiProcessorCount);
  FIELD(canMapHostMemory);
  FIELD(maxTexture1D);
  FIELD(maxTexture2D);
  FIELD(maxTexture3D);
  FIELD(maxSurfaceCubemapLayered);
  FIELD(surfaceAlignment);
  FIELD(concurrentKernels);
  FIELD(ECCEnabled);
  FIELD(pciBusID);
  FIELD(asyncEngineCount);
  FIELD(unifiedAddressing);
  FIELD(memoryBusWidth);
  FIELD(l2CacheSize);
  FIELD(persistingL2CacheMaxSize);
  FIELD(maxThreadsPerMultiProcessor);
  FIELD(streamPrioritiesSupported);
  FIELD(sharedMemPerMultiprocessor);
  FIELD(regsPerMultiprocessor);
  FIELD(managedMemory);
  FIELD(concurrentManagedAccess);
  FIELD(computePreemptionSupported);
  FIELD(canUseHostPointerForRegisteredMem);
  FIELD(cooperativeLaunch);
  FIELD(sharedMemPerBlockOptin);
  FIELD(maxBlocksPerMultiProcessor);
  FIELD(accessPolicyMaxWindowSize);
  FIELD(reservedSharedMemPerBlock);
#if CUDART_VERSION >= 12000
  FIELD(hostRegisterSupported);
  FIELD(memoryPoolsSupported);
  FIELD(memoryPoolSupportedHandleTypes);
  FIELD(clusterLaunch);
  FIELD(unifiedFunctionPointers);
#endif
#if CUDART_VERSION < 13000
  FIELD(clockRate);
  FIELD(deviceOverlap);
  FIELD(memoryClockRate);
  FIELD(singleToDoublePrecisionPerfRatio);
  FIELD(cooperativeMultiDeviceLaunch);
#endif
#undef FIELD
}

TEST(Layouts, Attributes) {
  SAME_SIZE(cudaPointerAttributes, PointerAttributes);
  SAME(cudaPointerAttributes, PointerAttributes, type);
  SAME(cudaPointerAttributes, PointerAttributes, device);
  SAME(cudaPointerAttributes, PointerAttributes, devicePointer);
  SAME(cudaPointerAttributes, PointerAttributes, hostPointer);
  SAME_SIZE(cudaFuncAttributes, FunctionAttributes);
  SAME(cudaFuncAttributes, FunctionAttributes, maxThreadsPerBlock);
  SAME(cudaFuncAttributes, FunctionAttributes, numRegs);
  SAME(cudaFuncAttributes, FunctionAttributes, ptxVersion);
  SAME(cudaFuncAttributes, FunctionAttributes, maxDynamicSharedSizeBytes);
  SAME(cudaFuncAttributes, FunctionAttributes, preferredShmemCarveout);
}

TEST(Layouts, MemoryAndCopies) {
  SAME_SIZE(cudaMemLocation, runtime::MemoryLocation);
  SAME_SIZE(cudaMemAccessDesc, runtime::AccessDescription);
  SAME(cudaMemAccessDesc, runtime::AccessDescription, flags);
  SAME_SIZE(cudaMemPoolProps, runtime::PoolProperties);
  SAME(cudaMemPoolProps, runtime::PoolProperties, location);
  SAME_SIZE(cudaPitchedPtr, runtime::PitchedPointer);
  SAME_SIZE(cudaMemcpy3DParms, runtime::Copy3DParameters);
  SAME(cudaMemcpy3DParms, runtime::Copy3DParameters, dstPtr);
  SAME(cudaMemcpy3DParms, runtime::Copy3DParameters, extent);
  SAME_SIZE(cudaIpcMemHandle_t, IpcHandle);
}

TEST(Layouts, LaunchesAndGraphs) {
  SAME_SIZE(dim3, Dim);
#if CUDART_VERSION >= 11080
  SAME_SIZE(cudaLaunchConfig_t, runtime::LaunchConfiguration);
  SAME(cudaLaunchConfig_t, runtime::LaunchConfiguration, dynamicSmemBytes);
  SAME(cudaLaunchConfig_t, runtime::LaunchConfiguration, stream);
  SAME(cudaLaunchConfig_t, runtime::LaunchConfiguration, numAttrs);
#endif
#if CUDART_VERSION >= 12030
  SAME_SIZE(cudaGraphEdgeData, runtime::GraphEdgeData);
#endif
#if CUDART_VERSION >= 12000
  SAME_SIZE(cudaGraphInstantiateParams, runtime::GraphInstantiateParameters);
  SAME_SIZE(cudaGraphExecUpdateResultInfo, runtime::GraphUpdateResult);
#endif
  SAME_SIZE(cudaKernelNodeParams, runtime::KernelNodeParameters);
  SAME(cudaKernelNodeParams, runtime::KernelNodeParameters, sharedMemBytes);
  SAME_SIZE(cudaMemsetParams, runtime::MemsetParameters);
  SAME(cudaMemsetParams, runtime::MemsetParameters, width);
  SAME_SIZE(cudaHostNodeParams, runtime::HostNodeParameters);
}

TEST(Layouts, EnumerationValues) {
  EXPECT_EQ(static_cast<int>(cudaErrorMemoryAllocation), static_cast<int>(Result::kOutOfMemory));
  EXPECT_EQ(static_cast<int>(cudaErrorNotReady), static_cast<int>(Result::kNotReady));
  EXPECT_EQ(static_cast<int>(cudaErrorInvalidResourceHandle),
            static_cast<int>(Result::kInvalidHandle));
  EXPECT_EQ(static_cast<int>(cudaErrorNoKernelImageForDevice),
            static_cast<int>(Result::kNoBinaryForDevice));
  EXPECT_EQ(static_cast<int>(cudaErrorStreamCaptureUnsupported),
            static_cast<int>(Result::kCaptureUnsupported));
  EXPECT_EQ(static_cast<int>(cudaErrorNotSupported), static_cast<int>(Result::kNotSupported));
  EXPECT_EQ(static_cast<int>(cudaDevAttrMultiProcessorCount),
            static_cast<int>(Attribute::kMultiprocessors));
  EXPECT_EQ(static_cast<int>(cudaDevAttrMaxSharedMemoryPerBlockOptin),
            static_cast<int>(Attribute::kSharedPerBlockOptIn));
  EXPECT_EQ(static_cast<int>(cudaDevAttrMaxBlocksPerMultiprocessor),
            static_cast<int>(Attribute::kBlocksPerMultiprocessor));
  EXPECT_EQ(static_cast<int>(cudaDevAttrReservedSharedMemoryPerBlock),
            static_cast<int>(Attribute::kReservedSharedPerBlock));
  EXPECT_EQ(static_cast<int>(cudaDevAttrL2CacheSize), static_cast<int>(Attribute::kL2Bytes));
}

#ifdef VRAMSCOPE_HAS_DRIVER_HEADER
TEST(Layouts, DriverStructures) {
  SAME_SIZE(CUmemAllocationProp, driver::AllocationProperties);
  SAME_SIZE(CUmemAccessDesc, driver::AccessDescription);
  SAME_SIZE(CUDA_MEMCPY2D, driver::Copy2D);
  SAME(CUDA_MEMCPY2D, driver::Copy2D, dstDevice);
  SAME(CUDA_MEMCPY2D, driver::Copy2D, Height);
#if CUDA_VERSION >= 11080
  SAME_SIZE(CUlaunchConfig, driver::LaunchConfiguration);
  SAME(CUlaunchConfig, driver::LaunchConfiguration, hStream);
  SAME(CUlaunchConfig, driver::LaunchConfiguration, numAttrs);
#endif
  EXPECT_EQ(static_cast<int>(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
            static_cast<int>(Attribute::kVirtualMemory));
  EXPECT_EQ(static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY), static_cast<int>(Result::kOutOfMemory));
}
#endif

}  // namespace
}  // namespace vramscope::emulated
