// Computes the durations of cuDNN's work with the model of ../core/durations.h. Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/durations.h"
#include "emulated/libraries/cudnn_sizes.h"

namespace vramscope::emulated::cudnn {

// A convolution is timed as a matrix product (implicit GEMM). In forward, a row is an output pixel,
// a column is an output channel, and the sum runs over the filter window and the input channels.
// It is assumed that tensor cores need channels last. Other layouts are transposed before and
// after, unless the window has one element.
int64_t ConvolutionDuration(const Gpu& gpu, const Convolution& convolution, Precision precision);

struct AttentionWork {
  double heads = 0;  // number of heads, summed over the batch
  double queries = 0, keys = 0;
  double flops = 0;     // operations, including skipped work
  bool causal = false;  // half of the work is skipped
  bool dropout = false;
  Precision precision = Precision::kBf16;
  uint64_t bytes = 0;
};
int64_t AttentionDuration(const Gpu& gpu, const AttentionWork& attention);

// Returns the duration of `passes` passes over a tensor of `bytes` bytes.
int64_t BatchNormDuration(const Gpu& gpu, uint64_t bytes, int passes);

}  // namespace vramscope::emulated::cudnn
