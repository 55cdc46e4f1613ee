// An emulated GPU. Its figures come from the project's device table, and VRAMSCOPE_EMULATED_GPU
// passes one line for each GPU. ArchitectureOf returns the properties that depend on the compute
// capability alone.
//
//   std::string problem;
//   std::optional<Gpu> gpu = ParseGpu("name=NVIDIA L4;memory_bytes=23583457280;...", &problem);
//
// Plain values, without thread safety.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Growth of the CUDA context (context.h), in bytes.
struct ContextGrowth {
  uint64_t kernels = 0;   // added by the first kernel
  uint64_t cublas = 0;    // added by each cuBLAS handle
  uint64_t cudnn = 0;     // added by each cuDNN handle
  uint64_t cusolver = 0;  // added by each cuSOLVER handle
  uint64_t cufft = 0;     // added by the first cuFFT plan
  uint64_t nccl = 0;      // added by the first communicator, without its buffers
};

// How GPUs of the same model access each other's memory. kNone means only through the host.
enum class Peers { kNone = 0, kPcie = 1, kNvlink = 2 };

struct Gpu {
  std::string name;
  uint64_t memory_bytes = 0;  // cudaDeviceProp::totalGlobalMem
  // The size of the CUDA context. With `growth`, this is its initial size; otherwise its full size.
  uint64_t context_bytes = 0;
  ContextGrowth growth = {};
  uint64_t idle_bytes = 0;  // memory in use while no process uses the GPU
  int sm_count = 0;
  int max_threads_per_sm = 0;
  int compute_capability = 0;  // 89 for 8.9
  uint64_t l2_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double fp32_flops = 0;  // dense rates, per second
  double tf32_flops = 0;
  double bf16_flops = 0;
  int boost_mhz = 0;
  int bus_bits = 0;
  Peers peers = Peers::kPcie;
  bool integrated = false;  // shares the system's memory
  // Whether error correction is on. If this is unset, it is on for GPUs with HBM.
  std::optional<bool> ecc;

  int major() const { return compute_capability / 10; }
  int minor() const { return compute_capability % 10; }
};

// Properties of all GPUs of a compute capability, from the table in the CUDA C++ programming guide.
struct Architecture {
  int shared_per_sm = 0;          // bytes
  int shared_per_block_most = 0;  // maximum number of bytes to which a kernel can opt in
  int blocks_per_sm = 0;
  int registers_per_sm = 65536;
};
VRAMSCOPE_EMULATED_API Architecture ArchitectureOf(const Gpu& gpu);

// Returns nothing and sets *problem if the line does not describe a GPU.
std::optional<Gpu> ParseGpu(std::string_view line, std::string* problem);
// Parses one GPU per line. The last line is repeated until there are `devices` GPUs (0: one for
// each line).
std::vector<Gpu> ParseGpus(std::string_view lines, int devices, std::string* problem);

}  // namespace vramscope::emulated
