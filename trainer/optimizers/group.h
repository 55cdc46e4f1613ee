// Functions that the optimizers share.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {

// Returns the indices of the tensors of each type, in order of first appearance. The foreach and
// fused forms process each group at once. All tensors must be on one device.
inline std::vector<std::vector<size_t>> GroupByDtype(const std::vector<at::Tensor>& tensors) {
  std::vector<std::pair<at::ScalarType, std::vector<size_t>>> groups;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::ScalarType type = tensors[i].scalar_type();
    auto it = groups.begin();
    while (it != groups.end() && it->first != type) ++it;
    if (it == groups.end()) it = groups.insert(it, {type, {}});
    it->second.push_back(i);
  }
  std::vector<std::vector<size_t>> out;
  for (auto& group : groups) out.push_back(std::move(group.second));
  return out;
}

inline std::vector<at::Tensor> Pick(const std::vector<at::Tensor>& tensors,
                                    const std::vector<size_t>& indices) {
  std::vector<at::Tensor> out;
  out.reserve(indices.size());
  for (size_t i : indices) out.push_back(tensors[i]);
  return out;
}

// Python frees the elements of a list or tuple from the last to the first.
inline void ReleaseList(std::vector<at::Tensor>& tensors) {
  while (!tensors.empty()) tensors.pop_back();
}

// Makes a state tensor of `parameter` with the category Optimizer state and the parameter as owner.
template <class Make>
at::Tensor MakeState(const at::Tensor& parameter, const Make& make) {
  OwnerScope owner(StorageKey(parameter));
  CategoryScope category(trace::Category::kOptimizerState);
  at::Tensor tensor = make();
  TagStorage(tensor, trace::Category::kOptimizerState, "optimizer state");
  return tensor;
}

}  // namespace vramscope::trainer
