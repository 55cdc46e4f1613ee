// Finds the modules of a layer stack for layer runners, which get only functions.
//
//   stacks.Add(path_of[layers.front()], layers);
//   const std::vector<Module*>& modules = stacks.Of(path, layers.size());  // in a layer runner
//
// Used on the loop's thread.
#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer/models/model.h"

namespace vramscope::trainer {

class LayerStacks {
 public:
  void Add(std::string path_of_first, std::vector<Module*> layers) {
    stacks_.emplace_back(std::move(path_of_first), std::move(layers));
  }
  bool empty() const { return stacks_.empty(); }
  // Returns the stack of `layers` modules below the module `path`. Throws if there is none.
  const std::vector<Module*>& Of(const std::string& path, size_t layers) const {
    const std::vector<Module*>* found = nullptr;
    for (const auto& [first, stack] : stacks_) {
      if (first.starts_with(path) && stack.size() == layers) found = &stack;
    }
    TORCH_CHECK(found != nullptr, "layers of ", path, " are not those of a stack");
    return *found;
  }

 private:
  std::vector<std::pair<std::string, std::vector<Module*>>> stacks_;
};

}  // namespace vramscope::trainer
