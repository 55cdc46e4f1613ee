// Sizes that cuDNN returns and programs allocate. Pure functions. docs/emulation.md says where each
// comes from, and whether it is known or assumed.
#pragma once

#include <array>
#include <cstdint>

namespace vramscope::emulated::cudnn {

constexpr int kMostDims = 8;

struct Shape {
  int type = 0;  // cudnnDataType_t
  int count = 0;
  std::array<int64_t, kMostDims> dims = {};
  std::array<int64_t, kMostDims> strides = {};

  uint64_t elements() const;
  uint64_t bytes() const;
  uint64_t extent_bytes() const;  // bytes from the first to the last element
  bool channels_last() const;     // the second dimension is the innermost one
};
uint64_t TypeBits(int type);  // bits of a cudnnDataType_t; 32 for unknown types

// ---- convolutions
enum class ConvolutionKind { kForward, kBackwardData, kBackwardFilter };
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::kForward;
  Shape image, filter, out;  // x (or dx), w (or dw), y (or dy)
  int64_t stride = 1;        // the largest stride of all dimensions
};
double ConvolutionFlops(const Convolution& convolution);
struct Chip {
  int compute_capability = 0;  // 89 for 8.9
  int sm_count = 0;
};
struct Workspace {
  uint64_t bytes = 0;
  bool measured = false;  // the rule was measured on a GPU of this generation, for similar shapes
};
// Returns the workspace of the engine for tensor cores (16 bits, or TF32 since compute capability
// 8.0) or, without `tensor_cores`, of the plain engine. See cudnn_engine_sizes.cpp.
Workspace ConvolutionWorkspace(const Convolution& convolution, const Chip& chip, bool tensor_cores);

// ---- attention
struct Attention {
  bool backward = false;
  // Batch, heads, length, width. If a shape is empty, it is unknown, and no heads share keys.
  Shape query, key, value;
};
// Does not include what cudnn-frontend allocates, because the program contains cudnn-frontend.
Workspace AttentionWorkspace(const Attention& attention, const Chip& chip);

// ---- recurrent networks
enum CellMode { kRnnRelu = 0, kRnnTanh = 1, kLstm = 2, kGru = 3 };
struct Recurrent {
  int cell = kLstm;
  int layers = 1;
  int directions = 1;
  int64_t input = 0, hidden = 0, projection = 0;  // projection 0: none
  bool bias = true;                               // two vectors per gate (double bias)
  bool single_bias = false;
  bool skip_input = false;
  int type = 0;

  int gates() const { return cell == kLstm ? 4 : cell == kGru ? 3 : 1; }
  int64_t output() const { return projection ? projection : hidden; }
};
// The order of the weights is known from the documentation: first the matrices of all
// pseudo-layers, then the biases.
uint64_t RecurrentWeightElements(const Recurrent& recurrent);
struct Parameter {
  uint64_t matrix_offset = 0, bias_offset = 0;  // elements from the beginning of the weight space
  int64_t rows = 0, columns = 0;                // 0: no such matrix
  int64_t bias = 0;                             // elements; 0: none
};
// `linear` is 0..gates-1 for the input, gates..2*gates-1 for the state, 2*gates for the projection.
Parameter RecurrentParameter(const Recurrent& recurrent, int pseudo_layer, int linear);
// Assumed: the products with the input for all time steps of one layer, and two states.
uint64_t RecurrentWorkspace(const Recurrent& recurrent, int64_t steps, int64_t batch);
// Assumed: gates, cell state and output for every time step of every layer.
uint64_t RecurrentReserve(const Recurrent& recurrent, int64_t steps, int64_t batch);
double RecurrentFlops(const Recurrent& recurrent, int64_t steps, int64_t batch);

// ---- others
// Assumed: alphas and betas of 2 * labels + 1 states per time step, in fp32.
uint64_t CtcWorkspace(int64_t steps, int64_t batch, int64_t most_labels);
// Assumed: a generator state of 48 bytes for each of 512 threads of a multiprocessor.
uint64_t DropoutStates(int sm_count);
// Assumed for channels last: partial sums of both moments for at most 128 blocks. 0 for channels
// first.
uint64_t BatchNormWorkspace(const Shape& x);

}  // namespace vramscope::emulated::cudnn
