// Implements the registration of device code, launches, attributes of functions, and occupancy.
#include <cstring>

#include "emulated/core/attributes.h"
#include "emulated/core/occupancy.h"
#include "emulated/core/pacing.h"
#include "emulated/runtime/status.h"
#include "emulated/runtime/symbols.h"

namespace vramscope::emulated::runtime {
namespace {

struct Configuration {
  Dim grid, block;
  size_t shared = 0;
  void* stream = nullptr;
};
constexpr int kMostCalls = 32;
thread_local Configuration calls[kMostCalls];
thread_local int call_count = 0;

Error LaunchHere(const void* function, const Dim& grid, const Dim& block, void** parameters,
                 size_t shared, void* stream, bool cooperative = false) {
  if (function == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return Done(Launch({.function = function,
                      .grid = grid,
                      .block = block,
                      .shared_bytes = shared,
                      .stream = stream,
                      .parameters = parameters,
                      .cooperative = cooperative}));
}

// The handle of a fat binary points to this struct. `wrapper` is what nvcc's host code passed.
struct Handle {
  const void* wrapper;
};

}  // namespace
}  // namespace vramscope::emulated::runtime

using namespace vramscope::emulated;           // NOLINT: C functions follow
using namespace vramscope::emulated::runtime;  // NOLINT

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  PaceWaitsOf(wrapper, "libnccl.");  // paces NCCL's watchdog if the image is PyTorch's
  return reinterpret_cast<void**>(new Handle{wrapper});
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) {
  if (handle == nullptr) {
    return;
  }
  auto* known = reinterpret_cast<Handle*>(handle);
  ForgetKernels(known->wrapper);
  delete known;
}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*,
                            void*, void*, void*, int*) {
  RegisterKernel(host, name,
                 handle == nullptr ? nullptr : reinterpret_cast<Handle*>(handle)->wrapper);
}
void __cudaRegisterVar(void**, char* symbol, char*, const char*, int, size_t bytes, int, int) {
  RegisterSymbol(symbol, bytes);
}
void __cudaRegisterManagedVar(void**, void** host, char*, const char*, int, size_t bytes, int,
                              int) {
  ThePlatform().memory.AllocateManaged(bytes, host);
}

unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t shared, void* stream) {
  if (call_count == kMostCalls) {
    return 1;
  }
  calls[call_count++] = {grid, block, shared, stream};
  return 0;
}
Error __cudaPopCallConfiguration(Dim* grid, Dim* block, size_t* shared, void* stream) {
  if (call_count == 0) {
    return Done(Result::kMissingConfiguration);
  }
  const Configuration& call = calls[--call_count];
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared;
  *static_cast<void**>(stream) = call.stream;
  return 0;
}

Error cudaLaunchKernel(const void* function, Dim grid, Dim block, void** parameters, size_t shared,
                       void* stream) {
  return LaunchHere(function, grid, block, parameters, shared, stream);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaLaunchKernel)
Error cudaLaunchCooperativeKernel(const void* function, Dim grid, Dim block, void** parameters,
                                  size_t shared, void* stream) {
  return LaunchHere(function, grid, block, parameters, shared, stream, true);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaLaunchCooperativeKernel)
Error cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* function,
                          void** parameters) {
  if (configuration == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return LaunchHere(function, configuration->gridDim, configuration->blockDim, parameters,
                    configuration->dynamicSmemBytes, configuration->stream);
}
VRAMSCOPE_PER_THREAD_STREAM(cudaLaunchKernelExC)
#if VRAMSCOPE_CUDART >= 12
Error __cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return 0;
}
Error cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return Done(Result::kSuccess);
}
Error __cudaLaunchKernel(void* kernel, Dim grid, Dim block, void** parameters, size_t shared,
                         void* stream) {
  return LaunchHere(kernel, grid, block, parameters, shared, stream);
}
VRAMSCOPE_PER_THREAD_STREAM(__cudaLaunchKernel)
#endif
Error cudaGetFuncBySymbol(void** function, const void* symbol) {
  *function = const_cast<void*>(symbol);
  return Done(IsRegistered(symbol) ? Result::kSuccess : Result::kNotFound);
}
Error cudaFuncGetName(const char** name, const void* function) {
  *name = FactsOf(function).name;
  return Done(IsRegistered(function) ? Result::kSuccess : Result::kNotFound);
}

Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  if (attributes == nullptr) {
    return Done(Result::kInvalidValue);
  }
  std::memset(static_cast<void*>(attributes), 0, sizeof *attributes);
  const int device = CurrentDevice();
  if (device >= static_cast<int>(ThePlatform().gpus.size())) {
    return Done(Result::kNoDevice);
  }
  const KernelFacts facts = FactsOf(function);
  if (!facts.runs) {
    return Done(Result::kNoBinaryForDevice);
  }
  attributes->sharedSizeBytes = facts.static_shared;
  attributes->constSizeBytes = facts.constant_bytes;
  attributes->localSizeBytes = facts.local_bytes;
  attributes->maxThreadsPerBlock = facts.most_threads;
  attributes->numRegs = facts.registers;
  attributes->ptxVersion = facts.ptx_architecture;
  attributes->binaryVersion = facts.architecture;
  attributes->maxDynamicSharedSizeBytes =
      AttributeOf(device, Attribute::kSharedPerBlock) - facts.static_shared;
  attributes->preferredShmemCarveout = -1;
  return Done(Result::kSuccess);
}
Error cudaFuncSetAttribute(const void*, int, int) { return Done(Result::kSuccess); }
Error cudaFuncSetCacheConfig(const void*, int) { return Done(Result::kSuccess); }
Error cudaFuncSetSharedMemConfig(const void*, int) { return Done(Result::kSuccess); }

Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                             int threads, size_t dynamic_shared,
                                                             unsigned) {
  if (blocks == nullptr || threads <= 0) {
    return Done(Result::kInvalidValue);
  }
  if (ThePlatform().gpus.empty()) {
    return Done(Result::kNoDevice);
  }
  *blocks = BlocksPerMultiprocessor(CurrentDevice(), function, threads, dynamic_shared);
  return Done(Result::kSuccess);
}
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                    size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                dynamic_shared, 0);
}
Error cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                int) {
  if (bytes == nullptr || blocks <= 0) {
    return Done(Result::kInvalidValue);
  }
  const int device = CurrentDevice();
  const int reserved = AttributeOf(device, Attribute::kReservedSharedPerBlock);
  const int share = AttributeOf(device, Attribute::kSharedPerMultiprocessor) / blocks - reserved -
                    FactsOf(function).static_shared;
  *bytes = share > 0 ? share : 0;
  return Done(Result::kSuccess);
}

}  // extern "C"
