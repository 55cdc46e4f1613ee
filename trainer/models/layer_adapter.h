// An adapter for a whole layer: a projection down to a few dimensions, a projection up again (both
// without bias), and a factor. The caller decides whether to use it within the layer, on the
// layer's input, or in a separate tower.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "trainer/models/module.h"

namespace vramscope::trainer {

struct LayerAdapterOptions {
  int64_t width = 0, rank = 0;
  double scale = 1;
  at::ScalarType dtype = at::kFloat;
};

class LayerAdapter : public Module {
 public:
  LayerAdapter(std::string name, const LayerAdapterOptions& options);
  at::Tensor Forward(const at::Tensor& x);

 private:
  double scale_;
  std::shared_ptr<Parameter> down_, up_;
};

}  // namespace vramscope::trainer
