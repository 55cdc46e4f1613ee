#include "trainer/models/layer_adapter.h"

#include <torch/types.h>

#include "trainer/capture/scopes.h"

namespace vramscope::trainer {

LayerAdapter::LayerAdapter(std::string name, const LayerAdapterOptions& o)
    : Module(std::move(name)), scale_(o.scale) {
  down_ = AddParameter(
      "down.weight", {.shape = {o.rank, o.width}, .dtype = o.dtype, .init = Init::kKaimingUniform});
  up_ = AddParameter("up.weight",
                     {.shape = {o.width, o.rank}, .dtype = o.dtype, .init = Init::kZeros});
}

at::Tensor LayerAdapter::Forward(const at::Tensor& x) {
  ModuleScope scope(name());
  at::Tensor down = at::linear(x, down_->tensor);
  at::Tensor up = at::linear(down, up_->tensor);
  down.reset();
  return up * scale_;
}

}  // namespace vramscope::trainer
