// Implements libcudnn without the graph interface: handles, tensor descriptors, batch norm,
// dropout, CTC, pooling, activations. Convolutions by the older interface are in
// cudnn_convolution.cpp, recurrent networks in cudnn_rnn.cpp. This source serves cuDNN 8 and 9.
#include <algorithm>
#include <cstring>

#include "emulated/core/context.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/cudnn_descriptors.h"
#include "emulated/libraries/cudnn_times.h"
#include "emulated/libraries/program_version.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cudnn {

int Work(Handle* handle, const char* name, double flops, Precision precision, uint64_t bytes,
         std::initializer_list<Written> writes, int64_t duration_ns) {
  if (!handle) return kNotInitialized;
  Written list[8];
  size_t count = 0;
  for (const Written& write : writes)
    if (write.address && count < std::size(list)) list[count++] = write;
  return Submit({.name = name,
                 .stream = handle->stream,
                 .flops = flops,
                 .precision = precision,
                 .bytes = bytes,
                 .writes = std::span(list, count),
                 .duration_ns = duration_ns}) == Result::kSuccess
             ? kSuccess
             : ExecutionFailed();
}

// Returns the version that PyTorch's metadata names or, if it names none, the version below for
// this major version of cuDNN.
Version CudnnVersion() {
  const Version newest = VRAMSCOPE_EMULATED_CUDNN >= 9 ? Version{9, 10, 2} : Version{8, 9, 2};
  return ProgramVersion("nvidia-cudnn-cu", newest);
}

int AnswerAssumed(const char* what, const char* where, uint64_t size, size_t* bytes) {
  if (!bytes) return BadParameter();
  *bytes = size;
  Assume(what, where, size);
  return kSuccess;
}

int SmCount() {
  return ThePlatform().gpus.empty() ? 0 : ThePlatform().gpus[CurrentDevice()].sm_count;
}
int Capability() {
  return ThePlatform().gpus.empty() ? 80 : ThePlatform().gpus[CurrentDevice()].compute_capability;
}

bool SetDims(Tensor* tensor, int type, int count, const int* dims, const int* strides) {
  if (!tensor || count < 1 || count > kMostDims || !dims) return false;
  tensor->shape = {};
  tensor->shape.type = type;
  tensor->shape.count = count;
  int64_t packed = 1;
  for (int i = count - 1; i >= 0; --i) {
    tensor->shape.dims[i] = dims[i];
    tensor->shape.strides[i] = strides ? strides[i] : packed;
    packed = static_cast<int64_t>(
        std::min<uint64_t>(Product(Positive(packed), Positive(dims[i])), INT64_MAX));
  }
  return true;
}

namespace {

uint64_t Extent(const Tensor* tensor) {
  return tensor ? std::max(tensor->shape.extent_bytes(), tensor->shape.bytes()) : 0;
}
uint64_t Bytes(const Tensor* tensor) { return tensor ? tensor->shape.bytes() : 0; }

// Submits one pass over tensors, for activations, pooling, softmax and sums.
int Pass(Handle* handle, const char* name, const Tensor* in, const Tensor* out, void* y) {
  return Work(handle, name, static_cast<double>(Bytes(in)), Precision::kFp32,
              Bytes(in) + Bytes(out), {{y, Extent(out)}});
}

// One pass computes both moments, and another pass the result. Forward reads x twice. Backward
// reads x and the gradient twice.
int64_t BatchNorm(const Tensor* tensor, int passes) {
  const Platform& platform = ThePlatform();
  return platform.gpus.empty()
             ? -1
             : BatchNormDuration(platform.gpus[CurrentDevice()], Bytes(tensor), passes);
}

}  // namespace
}  // namespace vramscope::emulated::cudnn

using namespace vramscope::emulated;
using namespace vramscope::emulated::cudnn;
using P = const void*;
using T = const Tensor;

extern "C" {

size_t cudnnGetVersion() {
  const Version v = CudnnVersion();
  return static_cast<size_t>(v.major * (v.major >= 9 ? 10000 : 1000) + v.minor * 100 + v.patch);
}
size_t cudnnGetMaxDeviceVersion() { return 1200; }
size_t cudnnGetCudartVersion() {
  const Version cuda = ProgramCuda(
      {VRAMSCOPE_EMULATED_CUDNN >= 9 ? 12 : 11, VRAMSCOPE_EMULATED_CUDNN >= 9 ? 4 : 7, 0});
  return static_cast<size_t>(cuda.major * 1000 + cuda.minor * 10);
}
int cudnnGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return BadParameter();
  const Version v = CudnnVersion();
  *value = type == 0 ? v.major : type == 1 ? v.minor : v.patch;
  return kSuccess;
}
const char* cudnnGetErrorString(int status) {
  if (status == kSuccess) return "CUDNN_STATUS_SUCCESS";
  if (status == kNotInitialized) return "CUDNN_STATUS_NOT_INITIALIZED";
  if (status == BadParameter()) return "CUDNN_STATUS_BAD_PARAM";
  if (status == NotSupported()) return "CUDNN_STATUS_NOT_SUPPORTED";
  if (status == ExecutionFailed()) return "CUDNN_STATUS_EXECUTION_FAILED";
  return "CUDNN_STATUS_INTERNAL_ERROR";
}
void cudnnGetLastErrorString(char* message, size_t bytes) {
  if (message && bytes) *message = '\0';
}
int cudnnQueryRuntimeError(Handle*, int* status, int, void*) {
  if (status) *status = kSuccess;
  return kSuccess;
}
int cudnnCreate(Handle** handle) {
  if (!handle) return BadParameter();
  *handle = nullptr;
  if (ThePlatform().gpus.empty()) return kNotInitialized;
  *handle = new Handle;
  GrowContext(CurrentDevice(), ContextPart::kCudnn);
  return kSuccess;
}
int cudnnDestroy(Handle* handle) {
  delete handle;
  return kSuccess;
}
int cudnnSetStream(Handle* handle, void* stream) {
  if (!handle) return BadParameter();
  handle->stream = stream;
  return kSuccess;
}
int cudnnGetStream(Handle* handle, void** stream) {
  if (!handle || !stream) return BadParameter();
  *stream = handle->stream;
  return kSuccess;
}

// All kinds of descriptors are created and destroyed in the same way.
#define VRAMSCOPE_DESCRIPTOR(NAME, TYPE)     \
  int cudnnCreate##NAME(TYPE** descriptor) { \
    if (!descriptor) return BadParameter();  \
    *descriptor = new TYPE;                  \
    return kSuccess;                         \
  }                                          \
  int cudnnDestroy##NAME(TYPE* descriptor) { \
    delete descriptor;                       \
    return kSuccess;                         \
  }
VRAMSCOPE_DESCRIPTOR(TensorDescriptor, Tensor)
VRAMSCOPE_DESCRIPTOR(FilterDescriptor, Tensor)
VRAMSCOPE_DESCRIPTOR(ConvolutionDescriptor, ConvolutionDescriptor)
VRAMSCOPE_DESCRIPTOR(DropoutDescriptor, DropoutDescriptor)
VRAMSCOPE_DESCRIPTOR(ActivationDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(PoolingDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(SpatialTransformerDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(LRNDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(OpTensorDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(ReduceTensorDescriptor, PlainDescriptor)
VRAMSCOPE_DESCRIPTOR(CTCLossDescriptor, CtcDescriptor)

int cudnnSetTensorNdDescriptor(Tensor* t, int type, int count, const int* dims,
                               const int* strides) {
  return SetDims(t, type, count, dims, strides) ? kSuccess : BadParameter();
}
int cudnnSetTensorNdDescriptorEx(Tensor* t, int format, int type, int count, const int* dims) {
  if (!SetDims(t, type, count, dims, nullptr)) return BadParameter();
  t->format = format;
  if (format == kChannelsLast && count >= 3) {
    int64_t step = dims[1];
    t->shape.strides[1] = 1;
    for (int i = count - 1; i >= 2; --i) t->shape.strides[i] = step, step *= dims[i];
    t->shape.strides[0] = step;
  }
  return kSuccess;
}
int cudnnSetTensor4dDescriptor(Tensor* t, int format, int type, int n, int c, int h, int w) {
  const int dims[] = {n, c, h, w};
  return cudnnSetTensorNdDescriptorEx(t, format, type, 4, dims);
}
int cudnnSetTensor4dDescriptorEx(Tensor* t, int type, int n, int c, int h, int w, int sn, int sc,
                                 int sh, int sw) {
  const int dims[] = {n, c, h, w}, strides[] = {sn, sc, sh, sw};
  return SetDims(t, type, 4, dims, strides) ? kSuccess : BadParameter();
}
int cudnnGetTensorNdDescriptor(T* t, int wanted, int* type, int* count, int* dims, int* strides) {
  if (!t) return BadParameter();
  if (type) *type = t->shape.type;
  if (count) *count = t->shape.count;
  for (int i = 0; i < std::min(wanted, t->shape.count); ++i) {
    if (dims) dims[i] = static_cast<int>(t->shape.dims[i]);
    if (strides) strides[i] = static_cast<int>(t->shape.strides[i]);
  }
  return kSuccess;
}
int cudnnGetTensor4dDescriptor(T* t, int* type, int* n, int* c, int* h, int* w, int* sn, int* sc,
                               int* sh, int* sw) {
  if (!t) return BadParameter();
  int* const dims[] = {n, c, h, w};
  int* const strides[] = {sn, sc, sh, sw};
  if (type) *type = t->shape.type;
  for (int i = 0; i < 4; ++i) {
    if (dims[i]) *dims[i] = static_cast<int>(t->shape.dims[i]);
    if (strides[i]) *strides[i] = static_cast<int>(t->shape.strides[i]);
  }
  return kSuccess;
}
int cudnnGetTensorSizeInBytes(T* t, size_t* bytes) {
  if (!t || !bytes) return BadParameter();
  *bytes = t->shape.extent_bytes();
  return kSuccess;
}
int cudnnSetFilterNdDescriptor(Tensor* t, int type, int format, int count, const int* dims) {
  if (!SetDims(t, type, count, dims, nullptr)) return BadParameter();
  t->format = format;
  return kSuccess;
}
int cudnnSetFilter4dDescriptor(Tensor* t, int type, int format, int k, int c, int h, int w) {
  const int dims[] = {k, c, h, w};
  return cudnnSetFilterNdDescriptor(t, type, format, 4, dims);
}
int cudnnGetFilterNdDescriptor(T* t, int wanted, int* type, int* format, int* count, int* dims) {
  if (!t) return BadParameter();
  if (type) *type = t->shape.type;
  if (format) *format = t->format;
  if (count) *count = t->shape.count;
  for (int i = 0; dims && i < std::min(wanted, t->shape.count); ++i)
    dims[i] = static_cast<int>(t->shape.dims[i]);
  return kSuccess;
}
int cudnnGetFilterSizeInBytes(T* t, size_t* bytes) {
  if (!t || !bytes) return BadParameter();
  *bytes = t->shape.bytes();
  return kSuccess;
}

int cudnnConvolutionBackwardBias(Handle* h, P, T* dyd, P, P, T* dbd, void* db) {
  return Pass(h, "cudnn_convolution_backward_bias", dyd, dbd, db);
}

// ---- batch norm
int cudnnDeriveBNTensorDescriptor(Tensor* derived, T* x, int mode) {
  if (!derived || !x || x->shape.count < 2) return BadParameter();
  int dims[kMostDims];
  for (int i = 0; i < x->shape.count; ++i)
    dims[i] = i == 1 || (mode == 0 && i > 0) ? static_cast<int>(x->shape.dims[i]) : 1;
  return SetDims(derived, TypeBits(x->shape.type) == 64 ? 1 : 0, x->shape.count, dims, nullptr)
             ? kSuccess
             : BadParameter();
}
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle*, int, int, T* x, T*, T*, T*, P,
                                                             size_t* bytes) {
  return AnswerAssumed("cuDNN workspace of batch norm", "cudnnBatchNormalizationForwardTrainingEx",
                       x ? BatchNormWorkspace(x->shape) : 0, bytes);
}
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle*, int, int, T* x, T*, T*, T*, T*, T*,
                                                      P, size_t* bytes) {
  return AnswerAssumed("cuDNN workspace of batch norm", "cudnnBatchNormalizationBackwardEx",
                       x ? BatchNormWorkspace(x->shape) : 0, bytes);
}
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle*, int, int operations, P, T* x,
                                                         size_t* bytes) {
  // Batch norm stores only mean and variance or, if it is fused with an activation, also one bit
  // per element.
  const uint64_t mask = operations != 0 && x ? (x->shape.elements() + 31) / 32 * 4 : 0;
  return AnswerAssumed("cuDNN reserve space of batch norm",
                       "cudnnBatchNormalizationForwardTrainingEx", mask, bytes);
}
int cudnnBatchNormalizationForwardTrainingEx(Handle* h, int, int, P, P, T* xd, P, T*, P, T* yd,
                                             void* y, T* bd, P, P, double, void* mean,
                                             void* variance, double, void* saved_mean,
                                             void* saved_variance, P, void*, size_t, void*,
                                             size_t) {
  return Work(h, "cudnn_batch_norm_forward", 8.0 * static_cast<double>(Bytes(xd)), Precision::kFp32,
              2 * Bytes(xd) + Bytes(yd),
              {{y, Extent(yd)},
               {mean, Bytes(bd)},
               {variance, Bytes(bd)},
               {saved_mean, Bytes(bd)},
               {saved_variance, Bytes(bd)}},
              BatchNorm(xd, 3));
}
int cudnnBatchNormalizationForwardTraining(Handle* h, int m, P a, P b, T* xd, P x, T* yd, void* y,
                                           T* bd, P s, P bias, double f, void* mean, void* variance,
                                           double e, void* saved_mean, void* saved_variance) {
  return cudnnBatchNormalizationForwardTrainingEx(h, m, 0, a, b, xd, x, nullptr, nullptr, yd, y, bd,
                                                  s, bias, f, mean, variance, e, saved_mean,
                                                  saved_variance, nullptr, nullptr, 0, nullptr, 0);
}
int cudnnBatchNormalizationForwardInference(Handle* h, int, P, P, T* xd, P, T* yd, void* y, T*, P,
                                            P, P, P, double) {
  return Pass(h, "cudnn_batch_norm_inference", xd, yd, y);
}
int cudnnBatchNormalizationBackwardEx(Handle* h, int, int, P, P, P, P, T* xd, P, T*, P, T* dyd, P,
                                      T*, void*, T* dxd, void* dx, T* bd, P, P, void* scale,
                                      void* bias, double, P, P, P, void*, size_t, void*, size_t) {
  return Work(h, "cudnn_batch_norm_backward", 12.0 * static_cast<double>(Bytes(xd)),
              Precision::kFp32, 2 * (Bytes(xd) + Bytes(dyd)),
              {{dx, Extent(dxd)}, {scale, Bytes(bd)}, {bias, Bytes(bd)}}, BatchNorm(xd, 5));
}
int cudnnBatchNormalizationBackward(Handle* h, int, P, P, P, P, T* xd, P, T* dyd, P, T* dxd,
                                    void* dx, T* bd, P, void* scale, void* bias, double, P, P) {
  return Work(h, "cudnn_batch_norm_backward", 12.0 * static_cast<double>(Bytes(xd)),
              Precision::kFp32, 2 * (Bytes(xd) + Bytes(dyd)),
              {{dx, Extent(dxd)}, {scale, Bytes(bd)}, {bias, Bytes(bd)}}, BatchNorm(xd, 5));
}

// ---- dropout
int cudnnDropoutGetStatesSize(Handle*, size_t* bytes) {
  return AnswerAssumed("cuDNN states of dropout", "cudnnDropoutGetStatesSize",
                       DropoutStates(SmCount()), bytes);
}
int cudnnDropoutGetReserveSpaceSize(T* x, size_t* bytes) {
  return AnswerAssumed("cuDNN reserve space of dropout", "cudnnDropoutGetReserveSpaceSize",
                       x ? (x->shape.elements() + 7) / 8 : 0, bytes);
}
int cudnnSetDropoutDescriptor(DropoutDescriptor* d, Handle* h, float probability, void* states,
                              size_t bytes, unsigned long long seed) {
  if (!d) return BadParameter();
  *d = {probability, states, bytes, seed};
  return states && bytes
             ? Work(h, "cudnn_dropout_states", 0, Precision::kFp32, bytes, {{states, bytes}})
             : kSuccess;
}
int cudnnRestoreDropoutDescriptor(DropoutDescriptor* d, Handle*, float probability, void* states,
                                  size_t bytes, unsigned long long seed) {
  if (!d) return BadParameter();
  *d = {probability, states, bytes, seed};
  return kSuccess;
}
int cudnnGetDropoutDescriptor(DropoutDescriptor* d, Handle*, float* probability, void** states,
                              unsigned long long* seed) {
  if (!d) return BadParameter();
  if (probability) *probability = d->probability;
  if (states) *states = d->states;
  if (seed) *seed = d->seed;
  return kSuccess;
}
int cudnnDropoutForward(Handle* h, P, T* xd, P, T* yd, void* y, void* reserve, size_t bytes) {
  return Work(h, "cudnn_dropout_forward", 0, Precision::kFp32, Bytes(xd) + Bytes(yd),
              {{y, Extent(yd)}, {reserve, bytes}});
}
int cudnnDropoutBackward(Handle* h, P, T* dyd, P, T* dxd, void* dx, void*, size_t) {
  return Pass(h, "cudnn_dropout_backward", dyd, dxd, dx);
}

// ---- CTC
int cudnnSetCTCLossDescriptor(CtcDescriptor* d, int type) {
  return d ? (d->type = type, kSuccess) : BadParameter();
}
int cudnnSetCTCLossDescriptorEx(CtcDescriptor* d, int type, int, int) {
  return cudnnSetCTCLossDescriptor(d, type);
}
int cudnnSetCTCLossDescriptor_v8(CtcDescriptor* d, int type, int, int, int most_labels) {
  return d ? (d->type = type, d->most_labels = most_labels, kSuccess) : BadParameter();
}
int cudnnSetCTCLossDescriptor_v9(CtcDescriptor* d, int type, int norm, int mode, int most_labels) {
  return cudnnSetCTCLossDescriptor_v8(d, type, norm, mode, most_labels);
}
int cudnnGetCTCLossWorkspaceSize(Handle*, T* probabilities, T*, const int*,
                                 const int* label_lengths, const int*, int, P, size_t* bytes) {
  if (!probabilities || probabilities->shape.count < 3) return BadParameter();
  const int64_t steps = probabilities->shape.dims[0], batch = probabilities->shape.dims[1];
  int most = 0;
  for (int64_t i = 0; label_lengths && i < std::min<int64_t>(batch, 1 << 20); ++i)
    most = std::max(most, label_lengths[i]);
  return AnswerAssumed("cuDNN workspace of CTC loss", "cudnnCTCLoss",
                       CtcWorkspace(steps, batch, most), bytes);
}
int cudnnGetCTCLossWorkspaceSize_v8(Handle*, int, const CtcDescriptor* d, T* probabilities, T*,
                                    size_t* bytes) {
  if (!d || !probabilities || probabilities->shape.count < 3) return BadParameter();
  return AnswerAssumed(
      "cuDNN workspace of CTC loss", "cudnnCTCLoss_v8",
      CtcWorkspace(probabilities->shape.dims[0], probabilities->shape.dims[1], d->most_labels),
      bytes);
}
int cudnnCTCLoss(Handle* h, T* pd, P, const int*, const int*, const int*, void* costs, T* gd,
                 void* gradients, int, P, void*, size_t) {
  const uint64_t batch = pd && pd->shape.count > 1 ? Positive(pd->shape.dims[1]) : 0;
  return Work(h, "cudnn_ctc_loss", 0, Precision::kFp32, Bytes(pd) + Bytes(gd),
              {{costs, batch * 4}, {gradients, Extent(gd)}});
}
int cudnnCTCLoss_v8(Handle* h, int, P, T* pd, P, const int*, const int*, const int*, void* costs,
                    T* gd, void* gradients, size_t, void*) {
  return cudnnCTCLoss(h, pd, nullptr, nullptr, nullptr, nullptr, costs, gd, gradients, 0, nullptr,
                      nullptr, 0);
}

// ---- passes over a tensor
int cudnnSetActivationDescriptor(PlainDescriptor*, int, int, double) { return kSuccess; }
int cudnnSetPooling2dDescriptor(PlainDescriptor*, int, int, int, int, int, int, int, int) {
  return kSuccess;
}
int cudnnSetPoolingNdDescriptor(PlainDescriptor*, int, int, int, const int*, const int*,
                                const int*) {
  return kSuccess;
}
int cudnnSetSpatialTransformerNdDescriptor(PlainDescriptor*, int, int, int, const int*) {
  return kSuccess;
}
int cudnnActivationForward(Handle* h, P, P, T* xd, P, P, T* yd, void* y) {
  return Pass(h, "cudnn_activation_forward", xd, yd, y);
}
int cudnnActivationBackward(Handle* h, P, P, T*, P, T* dyd, P, T*, P, P, T* dxd, void* dx) {
  return Pass(h, "cudnn_activation_backward", dyd, dxd, dx);
}
int cudnnPoolingForward(Handle* h, P, P, T* xd, P, P, T* yd, void* y) {
  return Pass(h, "cudnn_pooling_forward", xd, yd, y);
}
int cudnnPoolingBackward(Handle* h, P, P, T*, P, T* dyd, P, T*, P, P, T* dxd, void* dx) {
  return Pass(h, "cudnn_pooling_backward", dyd, dxd, dx);
}
int cudnnSoftmaxForward(Handle* h, int, int, P, T* xd, P, P, T* yd, void* y) {
  return Pass(h, "cudnn_softmax_forward", xd, yd, y);
}
int cudnnSoftmaxBackward(Handle* h, int, int, P, T*, P, T* dyd, P, P, T* dxd, void* dx) {
  return Pass(h, "cudnn_softmax_backward", dyd, dxd, dx);
}
int cudnnAddTensor(Handle* h, P, T* ad, P, P, T* cd, void* c) {
  return Pass(h, "cudnn_add_tensor", ad, cd, c);
}
int cudnnTransformTensor(Handle* h, P, T* xd, P, P, T* yd, void* y) {
  return Pass(h, "cudnn_transform_tensor", xd, yd, y);
}
int cudnnSetTensor(Handle* h, T* yd, void* y, P) { return Pass(h, "cudnn_set_tensor", yd, yd, y); }
int cudnnScaleTensor(Handle* h, T* yd, void* y, P) {
  return Pass(h, "cudnn_scale_tensor", yd, yd, y);
}
int cudnnSpatialTfGridGeneratorForward(Handle* h, P, P, void*) {
  return Work(h, "cudnn_grid_generator_forward", 0, Precision::kFp32, 0, {});
}
int cudnnSpatialTfGridGeneratorBackward(Handle* h, P, P, void*) {
  return Work(h, "cudnn_grid_generator_backward", 0, Precision::kFp32, 0, {});
}
int cudnnSpatialTfSamplerForward(Handle* h, P, P, T* xd, P, P, P, T* yd, void* y) {
  return Pass(h, "cudnn_grid_sampler_forward", xd, yd, y);
}
int cudnnSpatialTfSamplerBackward(Handle* h, P, P, T* xd, P, P, T* dxd, void* dx, P, T*, P, P, P,
                                  void*) {
  return Pass(h, "cudnn_grid_sampler_backward", xd, dxd, dx);
}

// The parts of cuDNN check each other's versions.
#define VRAMSCOPE_CHECK(NAME) \
  int NAME() { return kSuccess; }
// clang-format does not converge on this list.
// clang-format off
VRAMSCOPE_CHECK(cudnnGraphVersionCheck)
VRAMSCOPE_CHECK(cudnnOpsVersionCheck)
VRAMSCOPE_CHECK(cudnnCnnVersionCheck)
VRAMSCOPE_CHECK(cudnnAdvVersionCheck)
VRAMSCOPE_CHECK(cudnnOpsInferVersionCheck)
VRAMSCOPE_CHECK(cudnnOpsTrainVersionCheck)
VRAMSCOPE_CHECK(cudnnCnnInferVersionCheck)
VRAMSCOPE_CHECK(cudnnCnnTrainVersionCheck)
VRAMSCOPE_CHECK(cudnnAdvInferVersionCheck)
VRAMSCOPE_CHECK(cudnnAdvTrainVersionCheck)
// clang-format on

}  // extern "C"
