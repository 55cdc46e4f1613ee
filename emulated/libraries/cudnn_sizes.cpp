#include "emulated/libraries/cudnn_sizes.h"

#include <algorithm>

#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {
namespace {

constexpr uint64_t kAlignment = 256;
uint64_t Aligned(uint64_t bytes) {
  return (std::min(bytes, UINT64_MAX / 8) + kAlignment - 1) / kAlignment * kAlignment;
}
uint64_t Times(int64_t a, int64_t b) { return Product(Positive(a), Positive(b)); }
uint64_t Times(int64_t a, int64_t b, int64_t c) { return Product(Times(a, b), Positive(c)); }

int64_t LayerInput(const Recurrent& r, int layer) {
  return layer == 0 ? r.input : r.output() * r.directions;
}

// Returns the number of elements of all matrices of one pseudo-layer.
uint64_t MatrixElements(const Recurrent& r, int layer) {
  const uint64_t in =
      layer == 0 && r.skip_input ? 0 : Times(r.gates(), r.hidden, LayerInput(r, layer));
  return in + Times(r.gates(), r.hidden, r.output()) +
         (r.projection ? Times(r.projection, r.hidden) : 0);
}
int BiasesOfGate(const Recurrent& r) { return !r.bias ? 0 : r.single_bias ? 1 : 2; }
uint64_t BiasElements(const Recurrent& r) { return Times(BiasesOfGate(r), r.gates(), r.hidden); }

}  // namespace

uint64_t TypeBits(int type) {
  switch (type) {
    case 1:
    case 10:
    case 20:
      return 64;  // double, int64, complex fp32
    case 21:
      return 128;
    case 2:
    case 9:
      return 16;  // half, bfloat16
    case 3:
    case 6:
    case 11:
    case 12:
    case 13:
    case 15:
      return 8;
    case 16:
    case 17:
    case 18:
      return 4;
    default:
      return 32;
  }
}

uint64_t Shape::elements() const {
  if (count <= 0) return 0;
  uint64_t product = 1;
  for (int i = 0; i < std::min(count, kMostDims); ++i)
    product = Product(product, Positive(dims[i]));
  return product;
}
uint64_t Shape::bytes() const { return Product(elements(), TypeBits(type)) / 8; }
uint64_t Shape::extent_bytes() const {
  if (elements() == 0) return 0;
  uint64_t last = 1;
  for (int i = 0; i < std::min(count, kMostDims); ++i)
    last += Product(Positive(dims[i] - 1), Positive(strides[i]));
  return Product(last, TypeBits(type)) / 8;
}
bool Shape::channels_last() const {
  if (count < 3 || count > kMostDims) return false;
  if (strides[1] != 1) return false;
  if (dims[1] > 1) return true;
  // With one channel, both orders have the same layout in memory. The strides tell them
  // apart.
  return strides[0] >= strides[count - 1] && strides[count - 1] == dims[1] && dims[count - 1] != 1;
}

uint64_t RecurrentWeightElements(const Recurrent& r) {
  uint64_t elements = 0;
  for (int layer = 0; layer < r.layers; ++layer)
    elements += Product(MatrixElements(r, layer) + BiasElements(r), Positive(r.directions));
  return elements;
}

Parameter RecurrentParameter(const Recurrent& r, int pseudo_layer, int linear) {
  Parameter parameter;
  const int gates = r.gates();
  if (pseudo_layer < 0 || pseudo_layer >= r.layers * r.directions || linear < 0 ||
      linear > 2 * gates)
    return parameter;
  uint64_t matrices = 0;  // elements of all pseudo-layers' matrices; the biases follow them
  for (int layer = 0; layer < r.layers; ++layer)
    matrices += Product(MatrixElements(r, layer), Positive(r.directions));
  uint64_t before = 0;
  for (int pseudo = 0; pseudo < pseudo_layer; ++pseudo)
    before += MatrixElements(r, pseudo / r.directions);

  const int layer = pseudo_layer / r.directions;
  const bool skip = layer == 0 && r.skip_input;
  const int64_t in = LayerInput(r, layer);
  const uint64_t input_gate = skip ? 0 : Times(r.hidden, in),
                 recurrent_gate = Times(r.hidden, r.output());
  if (linear < gates) {
    parameter.rows = skip ? 0 : r.hidden;
    parameter.columns = skip ? 0 : in;
    parameter.matrix_offset = before + input_gate * static_cast<uint64_t>(linear);
  } else if (linear < 2 * gates) {
    parameter.rows = r.hidden;
    parameter.columns = r.output();
    parameter.matrix_offset = before + input_gate * static_cast<uint64_t>(gates) +
                              recurrent_gate * static_cast<uint64_t>(linear - gates);
  } else if (r.projection) {
    parameter.rows = r.projection;
    parameter.columns = r.hidden;
    parameter.matrix_offset = before + (input_gate + recurrent_gate) * static_cast<uint64_t>(gates);
  }
  if (linear < BiasesOfGate(r) * gates) {
    parameter.bias = r.hidden;
    parameter.bias_offset =
        matrices + Product(BiasElements(r), Positive(pseudo_layer)) + Times(linear, r.hidden);
  }
  return parameter;
}

uint64_t RecurrentWorkspace(const Recurrent& r, int64_t steps, int64_t batch) {
  const uint64_t position = Times(steps, batch);
  const uint64_t gates = Product(position, Times(r.gates(), r.hidden, r.directions));
  const uint64_t states = Product(Times(batch, r.hidden), Positive(2 * r.directions * r.layers));
  return Aligned(Product(gates + states, TypeBits(r.type)) / 8);
}
uint64_t RecurrentReserve(const Recurrent& r, int64_t steps, int64_t batch) {
  // An LSTM keeps four gates, the cell state and the output. A GRU keeps three gates, the hidden
  // product and the output.
  const int kept = r.cell == kLstm ? 6 : r.cell == kGru ? 5 : 2;
  const uint64_t position = Times(steps, batch);
  return Aligned(Product(Product(position, Times(kept, r.hidden, r.directions)),
                         Product(Positive(r.layers), TypeBits(r.type))) /
                 8);
}
double RecurrentFlops(const Recurrent& r, int64_t steps, int64_t batch) {
  double weights = 0;
  for (int layer = 0; layer < r.layers; ++layer)
    weights += static_cast<double>(MatrixElements(r, layer)) * r.directions;
  return 2 * weights * static_cast<double>(Times(steps, batch));
}

uint64_t CtcWorkspace(int64_t steps, int64_t batch, int64_t most_labels) {
  return Aligned(
      Product(Times(steps, batch, 2 * std::min<int64_t>(most_labels, 1 << 20) + 1), 2 * 4));
}
uint64_t DropoutStates(int sm_count) { return Times(sm_count, 512, 48); }
uint64_t BatchNormWorkspace(const Shape& x) {
  if (!x.channels_last()) return 0;
  const uint64_t rows = x.dims[1] > 0 ? x.elements() / Positive(x.dims[1]) : 0;
  return Aligned(Product(Times(x.dims[1], 2 * 4), std::clamp<uint64_t>(rows / 1024, 1, 128)));
}

}  // namespace vramscope::emulated::cudnn
