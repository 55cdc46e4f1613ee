// Our own kernels for the CUDA key: operators whose Meta kernel is missing, slow for what it does,
// or blind to what the CUDA kernel asks the allocator for. README.md lists them with evidence.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch {
class Library;
}

namespace vramscope::trainer::plan {

void RegisterKernels();  // all of the below; once a process

void RegisterBasicKernels(torch::Library& library);      // kernels_basic.cpp
void RegisterReductionKernels(torch::Library& library);  // kernels_reduce.cpp
void RegisterBlasKernels(torch::Library& library);       // kernels_blas.cpp
void RegisterNnKernels(torch::Library& library);         // kernels_nn.cpp
void RegisterAttentionKernels(torch::Library& library);  // kernels_attention.cpp
void RegisterOptimizerKernels(torch::Library& library);  // kernels_optimizer.cpp

// --- for the kernels

inline uint64_t Bytes(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<uint64_t>(tensor.numel()) * tensor.element_size() : 0;
}
template <class... Tensors>
uint64_t Bytes(const at::Tensor& first, const Tensors&... rest) {
  return (Bytes(first) + ... + Bytes(rest));
}
// One kernel that touches these bytes.
void Launch(uint64_t bytes);

inline bool IsHalf(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

}  // namespace vramscope::trainer::plan
