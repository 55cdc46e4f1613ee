// Values that follow from a compute capability alone: the tables of the CUDA C++ programming guide,
// and PyTorch's own rules. Values that only the driver reports (shared memory, registers) are in
// emulated/core/gpu.cpp.
//
//   const ComputeCapability* chip = FindComputeCapability(86);   // null: CUDA has no 8.6
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vramscope::run {

struct ComputeCapability {
  uint32_t number = 0;            // 89 for 8.9
  std::string_view architecture;  // "Ada Lovelace"
  uint32_t max_threads_per_sm = 0;
  uint32_t cores_per_sm = 0;  // fp32 units
};

std::span<const ComputeCapability> ComputeCapabilities();
const ComputeCapability* FindComputeCapability(uint32_t number);
std::string_view ArchitectureName(uint32_t number);  // "" if unknown

// Returns "8.9" for 89. The reverse function returns 0 if the text is no compute capability.
std::string ComputeCapabilityText(uint32_t number);
uint32_t ParseComputeCapability(std::string_view text);

// Returns the size of the cuBLAS workspace that PyTorch 2.11 allocates per handle and stream, also
// on the emulated platform: 32 MiB for compute capability 9.0, 8.125 MiB otherwise.
uint64_t BlasWorkspaceBytes(uint32_t number);

// Returns torch.cuda.get_arch_list(): the compute capabilities for which LibTorch 2.11 (CUDA 13.0)
// has kernels. A kernel also runs on later capabilities of the same major number.
std::span<const uint32_t> LibTorchArchitectures();
bool RunsOnLibTorch(uint32_t number);

}  // namespace vramscope::run
