#include "trainer/models/generation.h"

#include <torch/types.h>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

thread_local GenerationPass* t_pass = nullptr;
thread_local KeyValueCache* t_training_cache = nullptr;

// Gives a tensor the category of the cache and returns it.
at::Tensor Kept(at::Tensor tensor) {
  TagStorage(tensor, trace::Category::kKvCache, "kept for the next token");
  return tensor;
}

}  // namespace

std::pair<at::Tensor, at::Tensor> DynamicCache::Next(size_t layer, const at::Tensor& key,
                                                     const at::Tensor& value, const at::Tensor&) {
  if (keys_.size() <= layer) {
    keys_.push_back(Kept(key));
    values_.push_back(Kept(value));
  } else {
    const CategoryScope category(trace::Category::kKvCache);
    keys_[layer] = at::cat({keys_[layer], key}, -2);
    values_[layer] = at::cat({values_[layer], value}, -2);
  }
  return {keys_[layer], values_[layer]};
}

void TupleCache::Begin() {
  KeyValueCache::Begin();
  past_ = std::move(present_);
  present_.clear();
}

std::pair<at::Tensor, at::Tensor> TupleCache::Next(size_t layer, const at::Tensor& key,
                                                   const at::Tensor& value, const at::Tensor&) {
  if (past_.size() <= layer) {
    present_.emplace_back(Kept(key), Kept(value));
  } else {
    const CategoryScope category(trace::Category::kKvCache);
    at::Tensor keys = at::cat({past_[layer].first, key}, -2);
    present_.emplace_back(std::move(keys), at::cat({past_[layer].second, value}, -2));
  }
  return present_.back();
}

std::pair<at::Tensor, at::Tensor> CrossCache::Next(
    const std::function<std::pair<at::Tensor, at::Tensor>()>& make) {
  if (pairs_.size() == layer_) {
    auto [key, value] = make();
    pairs_.emplace_back(Kept(std::move(key)), Kept(std::move(value)));
  }
  return pairs_[layer_++];
}

StaticCache::StaticCache(const CacheShape& shape) : room_(shape.room) {
  const CategoryScope category(trace::Category::kKvCache);
  const std::vector<int64_t> sizes = {shape.batch, shape.heads, shape.room, shape.width};
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    keys_.push_back(at::zeros(sizes, shape.options));
    values_.push_back(at::zeros(sizes, shape.options));
  }
}

std::pair<at::Tensor, at::Tensor> StaticCache::Next(size_t layer, const at::Tensor& key,
                                                    const at::Tensor& value,
                                                    const at::Tensor& positions) {
  at::Tensor& keys = keys_[layer];
  at::Tensor& values = values_[layer];
  const at::Tensor k = key.to(keys.scalar_type()), v = value.to(values.scalar_type());
  keys.index_copy_(2, positions, k);
  values.index_copy_(2, positions, v);
  return {keys, values};
}

std::pair<at::Tensor, at::Tensor> SlidingCache::Next(size_t layer, const at::Tensor& key,
                                                     const at::Tensor& value,
                                                     const at::Tensor& positions) {
  at::Tensor& keys = keys_[layer];
  at::Tensor& values = values_[layer];
  const at::Tensor k = key.to(keys.scalar_type()), v = value.to(values.scalar_type());
  if (positions.size(0) > room()) {  // a prompt longer than the window attends to all of its tokens
    keys.add_(k.slice(2, -room()));
    values.add_(v.slice(2, -room()));
    return {k, v};
  }
  at::Tensor slicing = [&] {
    const at::Tensor ones = at::ones({room()}, positions.options());
    return ones.cumsum(0);
  }();
  at::Tensor place = positions.clamp(0, room() - 1);
  at::Tensor shifts = place >= room() - 1;
  at::Tensor indices = [&] {
    at::Tensor shift = shifts.select(0, -1).to(at::kInt);
    at::Tensor sum = slicing + shift;
    shift.reset();
    at::Tensor less = sum - 1;
    sum.reset();
    return at::remainder(less, room());
  }();
  using at::indexing::Slice;
  at::Tensor rolled_keys = keys.index({Slice(), Slice(), indices});
  at::Tensor rolled_values = values.index({Slice(), Slice(), indices});
  rolled_keys.index_copy_(2, place, k);
  rolled_values.index_copy_(2, place, v);
  keys.zero_();
  values.zero_();
  keys.add_(rolled_keys);
  values.add_(rolled_values);
  return {std::move(rolled_keys), std::move(rolled_values)};
}

GenerationPass* Generating() { return t_pass; }

GenerationScope::GenerationScope(GenerationPass& pass) { t_pass = &pass; }

GenerationScope::~GenerationScope() { t_pass = nullptr; }

TrainingCacheScope::TrainingCacheScope(KeyValueCache& cache) { t_training_cache = &cache; }

TrainingCacheScope::~TrainingCacheScope() { t_training_cache = nullptr; }

void ThroughCache(at::Tensor& key, at::Tensor& value) {
  const GenerationPass* pass = t_pass;
  KeyValueCache* cache = pass != nullptr ? pass->cache : t_training_cache;
  if (cache == nullptr) return;
  auto [keys, values] = cache->Update(key, value, pass != nullptr ? pass->positions : at::Tensor());
  key = std::move(keys);
  value = std::move(values);
}

}  // namespace vramscope::trainer
