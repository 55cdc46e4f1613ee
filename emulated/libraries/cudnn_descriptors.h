// Declares the descriptors of cuDNN's interface without graphs, and what its functions share.
#pragma once

#include <array>
#include <initializer_list>

#include "emulated/libraries/cudnn_graph.h"
#include "emulated/libraries/cudnn_sizes.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/program_version.h"

namespace vramscope::emulated::cudnn {

constexpr int kChannelsLast = 1;  // cudnnTensorFormat_t

struct Tensor {  // also describes a filter
  Shape shape;
  int format = 0;
};
struct ConvolutionDescriptor {
  int spatial = 2;
  std::array<int, kMostDims> padding = {}, stride = {}, dilation = {};
  int groups = 1;
  int math_type = 0;
  int compute_type = 0;
};
struct DropoutDescriptor {
  float probability = 0;
  void* states = nullptr;
  size_t bytes = 0;
  unsigned long long seed = 0;
};
struct CtcDescriptor {
  int type = 0;
  int most_labels = 0;
};
// A descriptor with values that are never read back.
struct PlainDescriptor {
  std::array<uint64_t, 32> unused = {};
};

// Returns the version of cuDNN for which the program was built.
Version CudnnVersion();
int SmCount();     // multiprocessors of the current GPU
int Capability();  // compute capability, 89 for 8.9

// Without strides, the tensor is packed. Returns false if it has more dimensions than cuDNN allows.
bool SetDims(Tensor* tensor, int type, int count, const int* dims, const int* strides);

// Submits one kernel on the handle's stream. If `duration_ns` is >= 0, it is the kernel's duration.
// Writes without an address are ignored.
int Work(Handle* handle, const char* name, double flops, Precision precision, uint64_t bytes,
         std::initializer_list<Written> writes, int64_t duration_ns = -1);

// Stores an assumed size in *bytes, and records the assumption. Returns the status.
int AnswerAssumed(const char* what, const char* where, uint64_t size, size_t* bytes);

}  // namespace vramscope::emulated::cudnn
