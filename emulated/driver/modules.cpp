// Implements code that is loaded at run time (Triton, NVRTC): modules, functions, launches,
// occupancy.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulated/core/attributes.h"
#include "emulated/core/device_code.h"
#include "emulated/driver/types.h"

namespace vramscope::emulated::driver {
namespace {

// A module or a library; both are treated alike. A function of a module or a kernel of a library is
// a name in `functions`.
struct Module {
  // A copy of the image, because the caller may free it. It is empty if the length is unknown.
  std::vector<char> image;
  std::unordered_map<std::string, std::unique_ptr<std::string>> functions;
  std::unordered_map<std::string, void*> globals;
};
struct Modules {
  std::mutex mutex;
  std::unordered_map<void*, std::unique_ptr<Module>> all;
  std::unordered_map<const void*, void*> module_of;
};
Modules& TheModules() {
  static auto* modules = new Modules;
  return *modules;
}

constexpr size_t kGlobalBytes = 4096;

Status LoadHere(void** module, const void* image) {
  if (module == nullptr) {
    return Done(Result::kInvalidValue);
  }
  auto made = std::make_unique<Module>();
  if (const size_t bytes = ImageBytes(image); bytes > 0) {
    const char* first = static_cast<const char*>(image);
    made->image.assign(first, first + bytes);
  }
  Modules& modules = TheModules();
  std::lock_guard lock(modules.mutex);
  *module = made.get();
  modules.all[*module] = std::move(made);
  return 0;
}

Status UnloadHere(void* module) {
  Modules& modules = TheModules();
  std::lock_guard lock(modules.mutex);
  const auto it = modules.all.find(module);
  if (it == modules.all.end()) {
    return Done(Result::kInvalidHandle);
  }
  for (const auto& [name, function] : it->second->functions) {
    ForgetKernel(function.get());
    modules.module_of.erase(function.get());
  }
  // Forgets the kernels, because they are stored under the image's address, at which the next image
  // may be allocated.
  if (const std::vector<char>& image = it->second->image; !image.empty()) {
    ForgetKernels(image.data());
  }
  for (const auto& [name, address] : it->second->globals) {
    ThePlatform().memory.ReleaseAddresses(address, kGlobalBytes);
  }
  modules.all.erase(it);
  return 0;
}

Status FunctionHere(void** function, void* module, const char* name) {
  Modules& modules = TheModules();
  std::lock_guard lock(modules.mutex);
  const auto it = modules.all.find(module);
  if (it == modules.all.end() || name == nullptr || function == nullptr) {
    return Done(Result::kInvalidHandle);
  }
  std::unique_ptr<std::string>& found = it->second->functions[name];
  if (found == nullptr) {
    found = std::make_unique<std::string>(name);
    const std::vector<char>& image = it->second->image;
    RegisterKernel(found.get(), found->c_str(), image.empty() ? nullptr : image.data());
    modules.module_of[found.get()] = module;
  }
  *function = found.get();
  return 0;
}

Status GlobalHere(Pointer* pointer, size_t* bytes, void* module, const char* name) {
  Modules& modules = TheModules();
  std::lock_guard lock(modules.mutex);
  const auto it = modules.all.find(module);
  if (it == modules.all.end() || name == nullptr) {
    return Done(Result::kInvalidHandle);
  }
  void*& at = it->second->globals[name];
  if (at == nullptr) {
    Assume("size of a device variable in a CUDA module that is loaded at run time", name,
           kGlobalBytes);
    Memory& memory = ThePlatform().memory;
    if (const Result result = memory.ReserveAddresses(kGlobalBytes, 0, &at);
        result != Result::kSuccess) {
      return Done(result);
    }
    memory.SetMapped(at, kGlobalBytes, CurrentDevice());
  }
  if (pointer != nullptr) {
    *pointer = reinterpret_cast<Pointer>(at);
  }
  if (bytes != nullptr) {
    *bytes = kGlobalBytes;
  }
  return 0;
}

Status LaunchHere(const void* function, Dim grid, Dim block, unsigned shared, void* stream,
                  void** parameters, bool cooperative) {
  return Done(Launch({.function = function,
                      .grid = grid,
                      .block = block,
                      .shared_bytes = shared,
                      .stream = stream,
                      .parameters = parameters,
                      .cooperative = cooperative,
                      .driver = true}));
}

}  // namespace
}  // namespace vramscope::emulated::driver

using namespace vramscope::emulated;          // NOLINT: C functions follow
using namespace vramscope::emulated::driver;  // NOLINT

extern "C" {

Status cuModuleLoadData(void** module, const void* image) { return LoadHere(module, image); }
VRAMSCOPE_ALSO(cuModuleLoadFatBinary, cuModuleLoadData)
Status cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return LoadHere(module, image);
}
Status cuModuleLoad(void** module, const char*) { return LoadHere(module, nullptr); }
Status cuModuleUnload(void* module) { return UnloadHere(module); }
Status cuModuleGetFunction(void** function, void* module, const char* name) {
  return FunctionHere(function, module, name);
}
Status cuModuleGetGlobal_v2(Pointer* pointer, size_t* bytes, void* module, const char* name) {
  return GlobalHere(pointer, bytes, module, name);
}
VRAMSCOPE_ALSO(cuModuleGetGlobal, cuModuleGetGlobal_v2)
Status cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return 0;
}
Status cuLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**,
                         unsigned) {
  return LoadHere(library, code);
}
Status cuLibraryLoadFromFile(void** library, const char*, int*, void**, unsigned, int*, void**,
                             unsigned) {
  return LoadHere(library, nullptr);
}
Status cuLibraryUnload(void* library) { return UnloadHere(library); }
Status cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return FunctionHere(kernel, library, name);
}
Status cuLibraryGetModule(void** module, void* library) {
  *module = library;
  return 0;
}
Status cuLibraryGetGlobal(Pointer* pointer, size_t* bytes, void* library, const char* name) {
  return GlobalHere(pointer, bytes, library, name);
}
Status cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return 0;
}
Status cuFuncGetModule(void** module, void* function) {
  Modules& modules = TheModules();
  std::lock_guard lock(modules.mutex);
  const auto it = modules.module_of.find(function);
  *module = it == modules.module_of.end() ? nullptr : it->second;
  return Done(*module != nullptr ? Result::kSuccess : Result::kInvalidHandle);
}
Status cuFuncGetName(const char** name, void* function) {
  *name = FactsOf(function).name;
  return Done(IsRegistered(function) ? Result::kSuccess : Result::kInvalidHandle);
}
VRAMSCOPE_ALSO(cuKernelGetName, cuFuncGetName)
Status cuFuncIsLoaded(int* state, void*) {
  *state = 1;
  return 0;
}
Status cuFuncLoad(void*) { return 0; }

// CUfunction_attribute.
Status cuFuncGetAttribute(int* value, int attribute, void* function) {
  if (!IsRegistered(function)) {
    return Done(Result::kInvalidHandle);
  }
  const KernelFacts facts = FactsOf(function);
  switch (attribute) {
    case 0:
      *value = facts.most_threads;
      return 0;
    case 1:
      *value = facts.static_shared;
      return 0;
    case 2:
      *value = facts.constant_bytes;
      return 0;
    case 3:
      *value = facts.local_bytes;
      return 0;
    case 4:
      *value = facts.registers;
      return 0;
    case 5:
      *value = facts.ptx_architecture;
      return 0;
    case 6:
      *value = facts.architecture;
      return 0;
    case 8:
      *value = AttributeOf(CurrentDevice(), Attribute::kSharedPerBlock) - facts.static_shared;
      return 0;
    default:
      *value = 0;
      return 0;
  }
}
Status cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
Status cuFuncSetAttribute(void*, int, int) { return 0; }
Status cuKernelSetAttribute(int, int, void*, int) { return 0; }
Status cuFuncSetCacheConfig(void*, int) { return 0; }
Status cuFuncSetSharedMemConfig(void*, int) { return 0; }

Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void* stream, void** parameters,
                      void**) {
  return LaunchHere(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, false);
}
VRAMSCOPE_ALSO(cuLaunchKernel_ptsz, cuLaunchKernel)
Status cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, void* stream,
                                 void** parameters) {
  return LaunchHere(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, true);
}
VRAMSCOPE_ALSO(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel)
Status cuLaunchKernelEx(const LaunchConfiguration* c, void* function, void** parameters, void**) {
  if (c == nullptr) {
    return Done(Result::kInvalidValue);
  }
  return LaunchHere(function, {c->gridDimX, c->gridDimY, c->gridDimZ},
                    {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream,
                    parameters, false);
}
VRAMSCOPE_ALSO(cuLaunchKernelEx_ptsz, cuLaunchKernelEx)

Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function,
                                                            int threads, size_t shared, unsigned) {
  *blocks = BlocksPerMultiprocessor(CurrentDevice(), function, threads, shared);
  return 0;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                   size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
Status cuOccupancyMaxActiveClusters(int* clusters, void* function, const LaunchConfiguration* c) {
  // Limits each dimension so that the product cannot overflow. The limit is above the largest valid
  // block.
  const auto dimension = [](unsigned size) { return std::min(size, 4096u); };
  const auto threads = static_cast<int>(std::min<uint64_t>(
      uint64_t{dimension(c->blockDimX)} * dimension(c->blockDimY) * dimension(c->blockDimZ), 4096));
  *clusters = BlocksPerMultiprocessor(CurrentDevice(), function, threads, c->sharedMemBytes) *
              AttributeOf(CurrentDevice(), Attribute::kMultiprocessors) / 2;
  Assume("number of active clusters, assuming two blocks per cluster",
         "cuOccupancyMaxActiveClusters", 0);
  return 0;
}

// Links code. The result can be loaded, but its kernels do nothing.
Status cuLinkCreate_v2(unsigned, int*, void**, void** state) {
  static char here;
  *state = &here;
  return 0;
}
VRAMSCOPE_ALSO(cuLinkCreate, cuLinkCreate_v2)
Status cuLinkComplete(void*, void** cubin, size_t* bytes) {
  static char nothing[64];
  *cubin = nothing;
  *bytes = sizeof nothing;
  return 0;
}
// Fills the description of a tensor for TMA, which only kernels read.
Status cuTensorMapEncodeTiled(void* map) {
  std::memset(map, 0, 128);
  return 0;
}
VRAMSCOPE_ALSO(cuTensorMapEncodeIm2col, cuTensorMapEncodeTiled)

}  // extern "C"
