// Implements libcudnn's convolutions of the interface without graphs, which PyTorch uses if the
// graph interface is switched off.
#include <algorithm>

#include "emulated/core/assumptions.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/cudnn_descriptors.h"
#include "emulated/libraries/cudnn_times.h"

namespace vramscope::emulated::cudnn {
namespace {

struct Performance {
  int algorithm;
  int status;
  float time;
  size_t memory;
  int determinism;
  int math_type;
  int reserved[3];
};
static_assert(sizeof(Performance) == 48);

// Every search returns this algorithm, cuDNN's IMPLICIT_PRECOMP_GEMM for tensor cores, with this
// determinism flag.
constexpr int kPrecomputed = 1;
constexpr int kDeterministic = 1;

uint64_t WorkspaceOf(const ConvolutionDescriptor* convolution, ConvolutionKind kind,
                     const Tensor* image, const Tensor* filter, const Tensor* out) {
  if (!convolution || !image || !filter || !out) return 0;
  Convolution c{.kind = kind, .image = image->shape, .filter = filter->shape, .out = out->shape};
  for (const int stride : convolution->stride) c.stride = std::max<int64_t>(c.stride, stride);
  constexpr int kFmaMath = 3;
  return ConvolutionWorkspace(c, {Capability(), SmCount()}, convolution->math_type != kFmaMath)
      .bytes;
}
const char* NameOf(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::kForward:
      return "cuDNN workspace of a convolution";
    case ConvolutionKind::kBackwardData:
      return "cuDNN workspace of a convolution's input gradient";
    case ConvolutionKind::kBackwardFilter:
      return "cuDNN workspace of a convolution's filter gradient";
  }
  return "";
}
int Find(const ConvolutionDescriptor* convolution, ConvolutionKind kind, const Tensor* image,
         const Tensor* filter, const Tensor* out, int wanted, int* count, Performance* results) {
  if (!count || !results || wanted < 1) return BadParameter();
  results[0] = {};
  results[0].algorithm = kPrecomputed;
  results[0].memory = WorkspaceOf(convolution, kind, image, filter, out);
  results[0].determinism = kDeterministic;
  results[0].math_type = convolution ? convolution->math_type : 0;
  results[0].time = 1.0f;
  *count = 1;
  return kSuccess;
}
int AnswerWorkspace(const ConvolutionDescriptor* convolution, ConvolutionKind kind,
                    const Tensor* image, const Tensor* filter, const Tensor* out, size_t* bytes) {
  if (!bytes) return BadParameter();
  *bytes = WorkspaceOf(convolution, kind, image, filter, out);
  Assume(NameOf(kind), "cudnnGetConvolutionWorkspaceSize", *bytes);
  return kSuccess;
}
int Convolve(Handle* handle, const char* name, ConvolutionKind kind,
             const ConvolutionDescriptor* convolution, const Tensor* image, const Tensor* filter,
             const Tensor* out, Written written) {
  if (!convolution || !image || !filter || !out) return BadParameter();
  const Convolution c{
      .kind = kind, .image = image->shape, .filter = filter->shape, .out = out->shape};
  const bool narrow = TypeBits(c.image.type) <= 16;
  constexpr int kFmaMath = 3;
  const Precision precision = narrow                               ? Precision::kBf16
                              : convolution->math_type == kFmaMath ? Precision::kFp32
                                                                   : Precision::kTf32;
  const Platform& platform = ThePlatform();
  const int64_t duration = platform.gpus.empty()
                               ? -1
                               : ConvolutionDuration(platform.gpus[CurrentDevice()], c, precision);
  return Work(handle, name, ConvolutionFlops(c), precision,
              c.image.bytes() + c.filter.bytes() + c.out.bytes(), {written}, duration);
}
uint64_t Extent(const Tensor* tensor) {
  return tensor ? std::max(tensor->shape.extent_bytes(), tensor->shape.bytes()) : 0;
}

}  // namespace
}  // namespace vramscope::emulated::cudnn

using namespace vramscope::emulated;
using namespace vramscope::emulated::cudnn;
using P = const void*;
using Conv = const ConvolutionDescriptor;
using T = const Tensor;

extern "C" {

int cudnnSetConvolutionNdDescriptor(ConvolutionDescriptor* c, int count, const int* padding,
                                    const int* stride, const int* dilation, int, int compute_type) {
  if (!c || count < 1 || count > kMostDims - 2 || !padding || !stride || !dilation)
    return BadParameter();
  c->spatial = count;
  c->compute_type = compute_type;
  for (int i = 0; i < count; ++i)
    c->padding[i] = padding[i], c->stride[i] = stride[i], c->dilation[i] = dilation[i];
  return kSuccess;
}
int cudnnSetConvolution2dDescriptor(ConvolutionDescriptor* c, int ph, int pw, int sh, int sw,
                                    int dh, int dw, int mode, int compute) {
  const int padding[] = {ph, pw}, stride[] = {sh, sw}, dilation[] = {dh, dw};
  return cudnnSetConvolutionNdDescriptor(c, 2, padding, stride, dilation, mode, compute);
}
int cudnnSetConvolutionGroupCount(ConvolutionDescriptor* c, int groups) {
  if (!c || groups < 1) return BadParameter();
  c->groups = groups;
  return kSuccess;
}
int cudnnGetConvolutionGroupCount(Conv* c, int* groups) {
  if (!c || !groups) return BadParameter();
  *groups = c->groups;
  return kSuccess;
}
int cudnnSetConvolutionMathType(ConvolutionDescriptor* c, int math_type) {
  if (!c) return BadParameter();
  c->math_type = math_type;
  return kSuccess;
}
int cudnnGetConvolutionMathType(Conv* c, int* math_type) {
  if (!c || !math_type) return BadParameter();
  *math_type = c->math_type;
  return kSuccess;
}
int cudnnSetConvolutionReorderType(ConvolutionDescriptor*, int) { return kSuccess; }
int cudnnGetConvolutionNdForwardOutputDim(Conv* c, T* x, T* w, int wanted, int* dims) {
  if (!c || !x || !w || !dims || wanted < 2 || x->shape.count != c->spatial + 2)
    return BadParameter();
  dims[0] = static_cast<int>(x->shape.dims[0]);
  dims[1] = static_cast<int>(w->shape.dims[0]);
  for (int i = 0; i < std::min(c->spatial, wanted - 2); ++i) {
    const int64_t window = (w->shape.dims[i + 2] - 1) * c->dilation[i] + 1;
    dims[i + 2] = static_cast<int>((x->shape.dims[i + 2] + int64_t{2} * c->padding[i] - window) /
                                       std::max(c->stride[i], 1) +
                                   1);
  }
  return kSuccess;
}
int cudnnGetConvolution2dForwardOutputDim(Conv* c, T* x, T* w, int* n, int* k, int* h, int* width) {
  int dims[4] = {};
  const int status = cudnnGetConvolutionNdForwardOutputDim(c, x, w, 4, dims);
  int* const out[] = {n, k, h, width};
  for (int i = 0; i < 4; ++i)
    if (out[i]) *out[i] = dims[i];
  return status;
}
#define VRAMSCOPE_MAX_COUNT(NAME)      \
  int NAME(Handle*, int* count) {      \
    if (!count) return BadParameter(); \
    *count = 1;                        \
    return kSuccess;                   \
  }
VRAMSCOPE_MAX_COUNT(cudnnGetConvolutionForwardAlgorithmMaxCount)
VRAMSCOPE_MAX_COUNT(cudnnGetConvolutionBackwardDataAlgorithmMaxCount)
VRAMSCOPE_MAX_COUNT(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount)

int cudnnGetConvolutionForwardAlgorithm_v7(Handle*, T* x, T* w, Conv* c, T* y, int wanted,
                                           int* count, Performance* r) {
  return Find(c, ConvolutionKind::kForward, x, w, y, wanted, count, r);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle*, T* w, T* dy, Conv* c, T* dx, int wanted,
                                                int* count, Performance* r) {
  return Find(c, ConvolutionKind::kBackwardData, dx, w, dy, wanted, count, r);
}
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle*, T* x, T* dy, Conv* c, T* dw, int wanted,
                                                  int* count, Performance* r) {
  return Find(c, ConvolutionKind::kBackwardFilter, x, dw, dy, wanted, count, r);
}
int cudnnFindConvolutionForwardAlgorithm(Handle*, T* x, T* w, Conv* c, T* y, int wanted, int* count,
                                         Performance* r) {
  return Find(c, ConvolutionKind::kForward, x, w, y, wanted, count, r);
}
int cudnnFindConvolutionBackwardDataAlgorithm(Handle*, T* w, T* dy, Conv* c, T* dx, int wanted,
                                              int* count, Performance* r) {
  return Find(c, ConvolutionKind::kBackwardData, dx, w, dy, wanted, count, r);
}
int cudnnFindConvolutionBackwardFilterAlgorithm(Handle*, T* x, T* dy, Conv* c, T* dw, int wanted,
                                                int* count, Performance* r) {
  return Find(c, ConvolutionKind::kBackwardFilter, x, dw, dy, wanted, count, r);
}
int cudnnFindConvolutionForwardAlgorithmEx(Handle*, T* x, P, T* w, P, Conv* c, T* y, void*,
                                           int wanted, int* count, Performance* r, void*, size_t) {
  return Find(c, ConvolutionKind::kForward, x, w, y, wanted, count, r);
}
int cudnnFindConvolutionBackwardDataAlgorithmEx(Handle*, T* w, P, T* dy, P, Conv* c, T* dx, void*,
                                                int wanted, int* count, Performance* r, void*,
                                                size_t) {
  return Find(c, ConvolutionKind::kBackwardData, dx, w, dy, wanted, count, r);
}
int cudnnFindConvolutionBackwardFilterAlgorithmEx(Handle*, T* x, P, T* dy, P, Conv* c, T* dw, void*,
                                                  int wanted, int* count, Performance* r, void*,
                                                  size_t) {
  return Find(c, ConvolutionKind::kBackwardFilter, x, dw, dy, wanted, count, r);
}
int cudnnGetConvolutionForwardWorkspaceSize(Handle*, T* x, T* w, Conv* c, T* y, int,
                                            size_t* bytes) {
  return AnswerWorkspace(c, ConvolutionKind::kForward, x, w, y, bytes);
}
int cudnnGetConvolutionBackwardDataWorkspaceSize(Handle*, T* w, T* dy, Conv* c, T* dx, int,
                                                 size_t* bytes) {
  return AnswerWorkspace(c, ConvolutionKind::kBackwardData, dx, w, dy, bytes);
}
int cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle*, T* x, T* dy, Conv* c, T* dw, int,
                                                   size_t* bytes) {
  return AnswerWorkspace(c, ConvolutionKind::kBackwardFilter, x, dw, dy, bytes);
}
int cudnnConvolutionForward(Handle* h, P, T* xd, P, T* wd, P, Conv* c, int, void*, size_t, P, T* yd,
                            void* y) {
  return Convolve(h, "cudnn_convolution_forward", ConvolutionKind::kForward, c, xd, wd, yd,
                  {y, Extent(yd)});
}
int cudnnConvolutionBiasActivationForward(Handle* h, P, T* xd, P, T* wd, P, Conv* c, int, void*,
                                          size_t, P, T*, P, T*, P, P, T* yd, void* y) {
  return Convolve(h, "cudnn_convolution_bias_activation", ConvolutionKind::kForward, c, xd, wd, yd,
                  {y, Extent(yd)});
}
int cudnnConvolutionBackwardData(Handle* h, P, T* wd, P, T* dyd, P, Conv* c, int, void*, size_t, P,
                                 T* dxd, void* dx) {
  return Convolve(h, "cudnn_convolution_backward_data", ConvolutionKind::kBackwardData, c, dxd, wd,
                  dyd, {dx, Extent(dxd)});
}
int cudnnConvolutionBackwardFilter(Handle* h, P, T* xd, P, T* dyd, P, Conv* c, int, void*, size_t,
                                   P, T* dwd, void* dw) {
  return Convolve(h, "cudnn_convolution_backward_filter", ConvolutionKind::kBackwardFilter, c, xd,
                  dwd, dyd, {dw, Extent(dwd)});
}

}  // extern "C"
