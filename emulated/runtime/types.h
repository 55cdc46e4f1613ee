// Declares the structures of CUDA's runtime API from its documentation. If a structure differs
// between major versions, each version has its own layout. tests/emulated/layouts compares them
// with NVIDIA's headers if a toolkit is installed.
//
// VRAMSCOPE_CUDART is the major version that a source is compiled for: 11, 12 or 13.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/core/kernels.h"

namespace vramscope::emulated::runtime {

using Error = int;  // cudaError_t

// cudaDeviceProp of CUDA 11. In CUDA 12, it belongs to the function name without _v2.
struct DeviceProperties11 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
};

// What CUDA 12 appended to the structure (cudaGetDeviceProperties_v2).
struct DeviceProperties12 : DeviceProperties11 {
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
};

// cudaDeviceProp of CUDA 13, which removed members in the middle.
struct DeviceProperties13 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int deviceNumaConfig;
  int deviceNumaId;
  int mpsEnabled;
  int hostNumaId;
  unsigned gpuPciDeviceID;
  unsigned gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];
};

struct PointerAttributes11 {  // cudaPointerAttributes, CUDA 11 and 12
  int type;                   // cudaMemoryType: 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* devicePointer;
  void* hostPointer;
};
struct PointerAttributes13 : PointerAttributes11 {
  long reserved[8];
};

struct FunctionAttributes11 {  // cudaFuncAttributes
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};
struct FunctionAttributes12 : FunctionAttributes11 {  // cudaFuncAttributes of CUDA 12 and 13
  int clusterDimMustBeSet;
  int requiredClusterWidth;
  int requiredClusterHeight;
  int requiredClusterDepth;
  int clusterSchedulingPolicyPreference;
  int nonPortableClusterSizeAllowed;
  int reserved[16];
};

struct MemoryLocation {  // cudaMemLocation; type 1: a device
  int type;
  int id;
};
struct AccessDescription {  // cudaMemAccessDesc
  MemoryLocation location;
  int flags;
};
struct PoolProperties {  // cudaMemPoolProps
  int allocType;
  int handleTypes;
  MemoryLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
struct LaunchConfiguration {  // cudaLaunchConfig_t, since CUDA 11.8
  Dim gridDim;
  Dim blockDim;
  size_t dynamicSmemBytes;
  void* stream;
  void* attrs;
  unsigned numAttrs;
};
struct GraphEdgeData {  // cudaGraphEdgeData, since CUDA 12.3
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};
struct GraphInstantiateParameters {  // cudaGraphInstantiateParams
  unsigned long long flags;
  void* uploadStream;
  void* errNode_out;
  int result_out;
};
struct GraphUpdateResult {  // cudaGraphExecUpdateResultInfo
  int result;
  void* errorNode;
  void* errorFromNode;
};
struct KernelNodeParameters {  // cudaKernelNodeParams
  void* func;
  Dim gridDim;
  Dim blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct MemsetParameters {  // cudaMemsetParams
  void* dst;
  size_t pitch;
  unsigned value;
  unsigned elementSize;
  size_t width;
  size_t height;
};
struct HostNodeParameters {  // cudaHostNodeParams
  void (*fn)(void*);
  void* userData;
};
struct PitchedPointer {  // cudaPitchedPtr
  void* ptr;
  size_t pitch;
  size_t xsize;
  size_t ysize;
};
struct Position {  // cudaPos
  size_t x, y, z;
};
struct Extent {  // cudaExtent
  size_t width, height, depth;
};
struct Copy3DParameters {  // cudaMemcpy3DParms
  void* srcArray;
  Position srcPos;
  PitchedPointer srcPtr;
  void* dstArray;
  Position dstPos;
  PitchedPointer dstPtr;
  Extent extent;
  int kind;
};
struct Uuid {
  unsigned char bytes[16];
};

#ifdef VRAMSCOPE_CUDART
#if VRAMSCOPE_CUDART == 13
inline constexpr int kVersion = 13000;
using DeviceProperties = DeviceProperties13;
using PointerAttributes = PointerAttributes13;
#else
inline constexpr int kVersion = VRAMSCOPE_CUDART == 12 ? 12080 : 11080;
using PointerAttributes = PointerAttributes11;
#endif
#if VRAMSCOPE_CUDART == 11
using FunctionAttributes = FunctionAttributes11;
#else
using FunctionAttributes = FunctionAttributes12;
#endif
#endif

}  // namespace vramscope::emulated::runtime
