// A layer runner that adds work around the layers and calls each layer once. RunsAgain() tells a
// model whether its layers are checkpointed, that is, run again in backward. The models of
// transformers make the same check.
//
//   return LayersOnce{.run = around, .inner = inner};
//   if (RunsAgain(layer_runner)) ...                     // asks `inner`
#pragma once

#include <utility>

#include "trainer/models/model.h"

namespace vramscope::trainer {

struct LayersOnce {
  LayerRunner run, inner;

  at::Tensor operator()(at::Tensor hidden, const std::vector<LayerFunction>& layers,
                        const std::string& path, Carried& carried) const {
    return run(std::move(hidden), layers, path, carried);
  }
};

inline bool RunsAgain(const LayerRunner& runner) {
  if (const auto* once = runner.target<LayersOnce>()) return RunsAgain(once->inner);
  return runner != nullptr;
}

}  // namespace vramscope::trainer
