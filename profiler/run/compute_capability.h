// What follows from a compute capability alone: the tables of the CUDA C++ programming guide, and
// PyTorch's own rules. What only the driver answers (shared memory, registers) is in
// emulated/core/card.cpp.
//
//   const ComputeCapability* chip = FindComputeCapability(86);   // null: CUDA knows none
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
std::string_view ArchitectureName(uint32_t number);  // "" of one that is not known

// "8.9", and back; 0 for what is no compute capability.
std::string ComputeCapabilityText(uint32_t number);
uint32_t ParseComputeCapability(std::string_view text);

// cuBLAS workspace that PyTorch 2.11 takes for a handle and stream, as it does on the emulated
// platform: 32 MiB where the compute capability is 9.0, 8.125 MiB elsewhere.
uint64_t BlasWorkspaceBytes(uint32_t number);

// Compute capabilities that the LibTorch of this version (2.11, CUDA 13.0) holds kernels for, as
// its torch.cuda.get_arch_list() says; one runs on later ones of the same major number.
std::span<const uint32_t> LibTorchArchitectures();
bool RunsOnLibTorch(uint32_t number);

}  // namespace vramscope::run
