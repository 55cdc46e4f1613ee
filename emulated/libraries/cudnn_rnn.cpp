// Implements libcudnn's recurrent networks, with the interfaces of cuDNN 6 (for PyTorch up to 2.0)
// and cuDNN 8.
#include <algorithm>

#include "emulated/core/platform.h"
#include "emulated/libraries/cudnn_descriptors.h"

namespace vramscope::emulated::cudnn {

struct RnnDescriptor {
  Recurrent recurrent;
  float dropout = 0;
};
struct RnnData {
  int type = 0, layout = 0;
  int64_t steps = 0, batch = 0, width = 0;
};

namespace {

Precision PrecisionOf(int type) {
  return TypeBits(type) <= 16 ? Precision::kBf16 : Precision::kTf32;
}

uint64_t DataBytes(const RnnData* data) {
  return data ? Product(Product(Positive(data->steps), Positive(data->batch)),
                        Product(Positive(data->width), TypeBits(data->type))) /
                    8
              : 0;
}
uint64_t StateBytes(const RnnDescriptor& r, int64_t batch) {
  return Product(Product(Positive(r.recurrent.layers * r.recurrent.directions), Positive(batch)),
                 Product(Positive(r.recurrent.hidden), TypeBits(r.recurrent.type))) /
         8;
}
int Run(Handle* handle, const char* name, double passes, const RnnDescriptor* rnn, int64_t steps,
        int64_t batch, std::initializer_list<Written> writes) {
  if (!rnn) return BadParameter();
  const Recurrent& r = rnn->recurrent;
  const uint64_t bytes =
      Product(RecurrentWeightElements(r), TypeBits(r.type)) / 8 + RecurrentReserve(r, steps, batch);
  return Work(handle, name, passes * RecurrentFlops(r, steps, batch), PrecisionOf(r.type), bytes,
              writes);
}

// In the older interface, each time step has its own tensor descriptor. The first step has the
// largest batch.
int64_t BatchOf(Tensor* const* x) {
  return x && x[0] && x[0]->shape.count > 0 ? x[0]->shape.dims[0] : 0;
}
Recurrent WithInput(const RnnDescriptor& rnn, const Tensor* x) {
  Recurrent r = rnn.recurrent;
  if (x && x->shape.count > 1) r.input = x->shape.dims[1];
  return r;
}
int LayerParameter(const RnnDescriptor* rnn, int pseudo_layer, const Tensor* x, const Tensor* w,
                   const void* weights, int linear, bool bias, Tensor* out, void** address) {
  if (!rnn) return BadParameter();
  if (!out || !address) return kSuccess;  // the caller wants only the other address
  const Recurrent r = WithInput(*rnn, x);
  const Parameter parameter = RecurrentParameter(r, pseudo_layer, linear);
  const int type = w ? w->shape.type : r.type;
  const uint64_t offset = bias ? parameter.bias_offset : parameter.matrix_offset;
  const int64_t rows = bias ? parameter.bias : parameter.rows,
                columns = bias ? 1 : parameter.columns;
  const int dims[] = {1, static_cast<int>(rows), static_cast<int>(columns)};
  // The address is computed as a number, because `weights` may be null before they are allocated.
  *address = rows ? reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(weights) +
                                            Product(offset, TypeBits(type)) / 8)
                  : nullptr;
  return SetDims(out, type, 3, dims, nullptr) ? kSuccess : BadParameter();
}

}  // namespace
}  // namespace vramscope::emulated::cudnn

using namespace vramscope::emulated;
using namespace vramscope::emulated::cudnn;
using P = const void*;
using T = const Tensor;
using R = const RnnDescriptor;
using D = const RnnData;

extern "C" {

int cudnnCreateRNNDescriptor(RnnDescriptor** r) {
  if (!r) return BadParameter();
  *r = new RnnDescriptor;
  return kSuccess;
}
int cudnnDestroyRNNDescriptor(RnnDescriptor* r) {
  delete r;
  return kSuccess;
}
int cudnnCreateRNNDataDescriptor(RnnData** d) {
  if (!d) return BadParameter();
  *d = new RnnData;
  return kSuccess;
}
int cudnnDestroyRNNDataDescriptor(RnnData* d) {
  delete d;
  return kSuccess;
}
int cudnnSetRNNDescriptor_v8(RnnDescriptor* r, int, int cell, int bias, int direction,
                             int input_mode, int type, int, int, int input, int hidden,
                             int projection, int layers, const DropoutDescriptor* dropout,
                             unsigned) {
  if (!r || cell < 0 || cell > kGru || input < 0 || hidden < 1 || layers < 1 || layers > 1024)
    return BadParameter();
  Recurrent& n = r->recurrent;
  n.cell = cell, n.layers = layers, n.directions = direction == 1 ? 2 : 1;
  n.input = input, n.hidden = hidden, n.projection = projection == hidden ? 0 : projection;
  n.bias = bias != 0, n.single_bias = bias == 1 || bias == 3, n.skip_input = input_mode == 1,
  n.type = type;
  r->dropout = dropout ? dropout->probability : 0;
  return kSuccess;
}
int cudnnSetRNNDescriptor_v6(Handle*, RnnDescriptor* r, int hidden, int layers,
                             const DropoutDescriptor* dropout, int input_mode, int direction,
                             int cell, int algorithm, int type) {
  return cudnnSetRNNDescriptor_v8(r, algorithm, cell, 2, direction, input_mode, type, type, 0, 0,
                                  hidden, hidden, layers, dropout, 0);
}
int cudnnSetRNNProjectionLayers(Handle*, RnnDescriptor* r, int projection, int) {
  if (!r) return BadParameter();
  r->recurrent.projection = projection == r->recurrent.hidden ? 0 : projection;
  return kSuccess;
}
int cudnnSetRNNMatrixMathType(RnnDescriptor*, int) { return kSuccess; }
int cudnnSetRNNBiasMode(RnnDescriptor* r, int bias) {
  if (!r) return BadParameter();
  r->recurrent.bias = bias != 0, r->recurrent.single_bias = bias == 1 || bias == 3;
  return kSuccess;
}
int cudnnSetRNNPaddingMode(RnnDescriptor*, unsigned) { return kSuccess; }
int cudnnRNNSetClip_v8(RnnDescriptor*, int, int, double, double) { return kSuccess; }
int cudnnSetRNNDataDescriptor(RnnData* d, int type, int layout, int steps, int batch, int width,
                              const int*, void*) {
  if (!d || steps < 1 || batch < 1 || width < 1) return BadParameter();
  *d = {type, layout, steps, batch, width};
  return kSuccess;
}

int cudnnGetRNNWeightSpaceSize(Handle*, R* r, size_t* bytes) {
  if (!r || !bytes) return BadParameter();
  *bytes = Product(RecurrentWeightElements(r->recurrent), TypeBits(r->recurrent.type)) / 8;
  return kSuccess;
}
int cudnnGetRNNParamsSize(Handle*, R* r, T* x, size_t* bytes, int type) {
  if (!r || !bytes) return BadParameter();
  *bytes = Product(RecurrentWeightElements(WithInput(*r, x)), TypeBits(type)) / 8;
  return kSuccess;
}
int cudnnGetRNNWeightParams(Handle*, R* r, int pseudo_layer, size_t, P weights, int linear,
                            Tensor* matrix, void** matrix_at, Tensor* bias, void** bias_at) {
  if (!r) return BadParameter();
  const int status =
      LayerParameter(r, pseudo_layer, nullptr, nullptr, weights, linear, false, matrix, matrix_at);
  return status == kSuccess ? LayerParameter(r, pseudo_layer, nullptr, nullptr, weights, linear,
                                             true, bias, bias_at)
                            : status;
}
int cudnnGetRNNLinLayerMatrixParams(Handle*, R* r, int pseudo_layer, T* x, T* w, P weights,
                                    int linear, Tensor* matrix, void** at) {
  return LayerParameter(r, pseudo_layer, x, w, weights, linear, false, matrix, at);
}
int cudnnGetRNNLinLayerBiasParams(Handle*, R* r, int pseudo_layer, T* x, T* w, P weights,
                                  int linear, Tensor* bias, void** at) {
  return LayerParameter(r, pseudo_layer, x, w, weights, linear, true, bias, at);
}
int cudnnGetRNNTempSpaceSizes(Handle*, R* r, int training, D* x, size_t* workspace,
                              size_t* reserve) {
  if (!r || !x) return BadParameter();
  if (workspace)
    AnswerAssumed("cuDNN workspace of a recurrent network", "cudnnGetRNNTempSpaceSizes",
                  RecurrentWorkspace(r->recurrent, x->steps, x->batch), workspace);
  if (reserve) *reserve = 0;
  if (reserve && training)
    AnswerAssumed("cuDNN reserve space of a recurrent network", "cudnnGetRNNTempSpaceSizes",
                  RecurrentReserve(r->recurrent, x->steps, x->batch), reserve);
  return kSuccess;
}
int cudnnGetRNNWorkspaceSize(Handle*, R* r, int steps, Tensor* const* x, size_t* bytes) {
  if (!r) return BadParameter();
  return AnswerAssumed("cuDNN workspace of a recurrent network", "cudnnGetRNNWorkspaceSize",
                       RecurrentWorkspace(r->recurrent, steps, BatchOf(x)), bytes);
}
int cudnnGetRNNTrainingReserveSize(Handle*, R* r, int steps, Tensor* const* x, size_t* bytes) {
  if (!r) return BadParameter();
  return AnswerAssumed("cuDNN reserve space of a recurrent network",
                       "cudnnGetRNNTrainingReserveSize",
                       RecurrentReserve(r->recurrent, steps, BatchOf(x)), bytes);
}

int cudnnRNNForward(Handle* h, R* r, int, const int*, D* x, P, D* y, void* out, T*, P, void* hy, T*,
                    P, void* cy, size_t, P, size_t, void*, size_t reserve_bytes, void* reserve) {
  if (!r || !x) return BadParameter();
  const uint64_t state = StateBytes(*r, x->batch);
  return Run(h, "cudnn_rnn_forward", 1, r, x->steps, x->batch,
             {{out, DataBytes(y)}, {hy, state}, {cy, state}, {reserve, reserve_bytes}});
}
int cudnnRNNBackwardData_v8(Handle* h, R* r, const int*, D* y, P, P, D* x, void* dx, T*, P, P,
                            void* dhx, T*, P, P, void* dcx, size_t, P, size_t, void*, size_t,
                            void*) {
  if (!r || !y) return BadParameter();
  const uint64_t state = StateBytes(*r, y->batch);
  return Run(h, "cudnn_rnn_backward_data", 1, r, y->steps, y->batch,
             {{dx, DataBytes(x)}, {dhx, state}, {dcx, state}});
}
int cudnnRNNBackwardWeights_v8(Handle* h, R* r, int, const int*, D* x, P, T*, P, D*, P,
                               size_t bytes, void* gradients, size_t, void*, size_t, void*) {
  if (!r || !x) return BadParameter();
  return Run(h, "cudnn_rnn_backward_weights", 1, r, x->steps, x->batch, {{gradients, bytes}});
}

// The older interface passes a tensor descriptor for each time step.
int cudnnRNNForwardInference(Handle* h, R* r, int steps, Tensor* const* xd, P, T*, P, T*, P, T*, P,
                             Tensor* const*, void*, T*, void* hy, T*, void* cy, void*, size_t) {
  if (!r) return BadParameter();
  const uint64_t state = StateBytes(*r, BatchOf(xd));
  return Run(h, "cudnn_rnn_forward", 1, r, steps, BatchOf(xd), {{hy, state}, {cy, state}});
}
int cudnnRNNForwardTraining(Handle* h, R* r, int steps, Tensor* const* xd, P, T*, P, T*, P, T*, P,
                            Tensor* const*, void*, T*, void* hy, T*, void* cy, void*, size_t,
                            void* reserve, size_t reserve_bytes) {
  if (!r) return BadParameter();
  const uint64_t state = StateBytes(*r, BatchOf(xd));
  return Run(h, "cudnn_rnn_forward", 1, r, steps, BatchOf(xd),
             {{hy, state}, {cy, state}, {reserve, reserve_bytes}});
}
int cudnnRNNBackwardData(Handle* h, R* r, int steps, Tensor* const* yd, P, Tensor* const*, P, T*, P,
                         T*, P, T*, P, T*, P, T*, P, Tensor* const*, void*, T*, void* dhx, T*,
                         void* dcx, void*, size_t, void*, size_t) {
  if (!r) return BadParameter();
  const uint64_t state = StateBytes(*r, BatchOf(yd));
  return Run(h, "cudnn_rnn_backward_data", 1, r, steps, BatchOf(yd), {{dhx, state}, {dcx, state}});
}
int cudnnRNNBackwardWeights(Handle* h, R* r, int steps, Tensor* const* xd, P, T*, P, Tensor* const*,
                            P, P, size_t, T* dwd, void* gradients, P, size_t) {
  if (!r) return BadParameter();
  return Run(h, "cudnn_rnn_backward_weights", 1, r, steps, BatchOf(xd),
             {{gradients, dwd ? dwd->shape.bytes() : 0}});
}

}  // extern "C"
