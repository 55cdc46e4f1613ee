// How much an operator asks for besides its outputs, as formulas. Free of LibTorch. What each
// operator makes of them, in which order and with what evidence: README.md, "Operator requests".
#pragma once

#include <cstdint>

namespace vramscope::trainer::plan {

struct Multiprocessors {
  int64_t count = 0;
  int64_t threads = 0;  // of each
};

// A reduction as PyTorch's gpu_reduce_kernel sees it, after its iterator has merged dimensions.
struct Reduction {
  int64_t outputs = 1;
  int64_t inputs_per_output = 1;
  int dimensions = 1;  // of the iterator
  int reduced_dimensions = 1;
  bool reduces_fastest = true;    // the reduced dimension has the smallest stride
  bool contiguous = true;         // and that stride is one element
  int input_vector = 4;           // values a thread loads at once, when it may (8: 16-bit sums)
  int output_vector = 4;          // 4, 2 or 1 by the alignment of the results
  int64_t accumulator_bytes = 4;  // 4 float; 8 double, int64; 16 a value with its index
};

// Both zero unless several blocks share a result.
struct ReductionScratch {
  int64_t staging = 0;     // partial results, requested first
  int64_t semaphores = 0;  // released first
};
// setReduceConfig of aten/src/ATen/native/cuda/Reduce.cuh; equal to every size in recordings from
// three GPUs.
ReductionScratch ScratchOf(const Reduction& reduction, const Multiprocessors& gpu);

// cub's radix sort of 8-byte keys with 8-byte values: temporary storage for n pairs whose largest
// key has `bits` bits. One point above the single-tile limit is recorded.
int64_t RadixSortScratch(int64_t n, int bits);
int BitWidth(uint64_t value);

// FlashAttention's split of the keys over blocks: 1 unless the GPU would be mostly idle
// (num_splits_heuristic of flash_api.cpp).
int64_t FlashSplits(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t head_size,
                    int64_t multiprocessors);

// Memory-efficient attention (cutlass) on GPUs of compute capability 8.0 and up.
struct EfficientAttention {
  int64_t batch = 1, heads = 1, queries = 1, keys = 1;
  int64_t head_size = 64;
  bool half = false;  // 16-bit inputs
  bool dropout = false;
  int compute_capability = 80;
};
// Head sizes it takes are multiples of this.
int64_t EfficientHeadMultiple(bool half);
// An fp32 copy of the results that forward accumulates in; 0 where the registers hold them.
int64_t EfficientForwardAccumulator(const EfficientAttention& attention);
// What backward's kernel accumulates gradients in. The kernel is the first that is compiled for the
// type, holds a head and fits the shared memory (cutlassB.h, kernel_backward.h of 2.11); the size
// of one for heads of 64 in fp32 is recorded.
int64_t EfficientBackwardWorkspace(const EfficientAttention& attention);

}  // namespace vramscope::trainer::plan
