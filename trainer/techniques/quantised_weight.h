// A weight in 4 or 8 bits, and the product with it. Makes the allocations of bitsandbytes'
// Linear4bit (NF4 in blocks of 64, whose scales are quantized in blocks of 256) and Linear8bitLt
// (LLM.int8, outliers from 6 on). A plan makes only the allocations. Other backends also compute
// values, but without bitsandbytes' kernels.
//
//   auto weight = MakeNf4Weight(table, rows, columns, computes);
//   parameter->Store(weight->stored(), count, [weight](auto& wide) { return weight->Keep(wide); });
//   at::Tensor y = weight->Product(x, bias);
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <memory>

#include "trainer/models/module.h"

namespace vramscope::trainer {

class QuantisedWeight : public torch::CustomClassHolder {
 public:
  QuantisedWeight(int64_t rows, int64_t columns, bool computes)
      : rows_(rows), columns_(columns), computes_(computes) {}
  // Returns the shape and type of the tensor that is stored in place of the weight.
  virtual ParameterSpec stored() const = 0;
  // Quantizes `wide`, which is on the device and may have any shape. Callers first transpose a
  // Conv1D weight to [rows, columns].
  virtual at::Tensor Keep(const at::Tensor& wide) = 0;
  // Returns x W^T + bias. `bias` may be undefined.
  virtual at::Tensor Product(const at::Tensor& x, const at::Tensor& bias) = 0;
  // Returns the dequantized weight [rows, columns] in `type`, for forward and backward.
  virtual at::Tensor Wide(at::ScalarType type) const = 0;
  // Releases every tensor.
  virtual void Release() { kept_.reset(); }

 protected:
  int64_t rows_, columns_;
  bool computes_;
  at::Tensor kept_;
};

// The table for quantizing scales, on the device; shared by all weights.
struct ScaleTable {
  at::Tensor values;
};

c10::intrusive_ptr<QuantisedWeight> MakeNf4Weight(std::shared_ptr<ScaleTable> table, int64_t rows,
                                                  int64_t columns, bool computes);
c10::intrusive_ptr<QuantisedWeight> MakeInt8Weight(int64_t rows, int64_t columns, bool computes);

}  // namespace vramscope::trainer
