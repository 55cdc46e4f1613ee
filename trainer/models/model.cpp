#include "trainer/models/model.h"

#include <algorithm>

namespace vramscope::trainer {

const at::Tensor& Batch::operator[](std::string_view name) const {
  static const at::Tensor none;
  const auto found = std::ranges::find(tensors_, name, &std::pair<std::string, at::Tensor>::first);
  return found == tensors_.end() ? none : found->second;
}

void Batch::Set(std::string_view name, at::Tensor tensor) {
  const auto found = std::ranges::find(tensors_, name, &std::pair<std::string, at::Tensor>::first);
  if (found == tensors_.end()) {
    tensors_.emplace_back(name, std::move(tensor));
  } else {
    found->second = std::move(tensor);
  }
}

std::vector<Module*> Model::Layers() {
  std::vector<Module*> out;
  for (const LayerStack& stack : Stacks()) {
    out.insert(out.end(), stack.layers.begin(), stack.layers.end());
  }
  return out;
}

at::Tensor RunLayers(const LayerRunner& runner, at::Tensor hidden,
                     const std::vector<LayerFunction>& functions, const std::string& path,
                     Carried carried) {
  if (runner) return runner(std::move(hidden), functions, path, carried);
  for (const LayerFunction& function : functions) hidden = function(hidden, carried);
  return hidden;
}

}  // namespace vramscope::trainer
