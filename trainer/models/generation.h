// Generation, token by token: keys and values that are kept from one pass to the next, and what a
// pass is given beside its ids.
//
//   DynamicCache cache;
//   GenerationPass pass{.cache = &cache, .positions = ..., .position_ids = ..., .mask = ...};
//   const GenerationScope scope(pass);                 // of this thread
//   at::Tensor logits = model.Logits(batch);           // of the last token, [batch, 1, vocab]
//
// Mirrors Hugging Face transformers 4.51: cache_utils.py. A cache is used on one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace vramscope::trainer {

class KeyValueCache {
 public:
  KeyValueCache() = default;
  virtual ~KeyValueCache() = default;
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;

  // A pass begins; its layers come in their order.
  virtual void Begin() { layer_ = 0; }
  // A layer's keys and values [b, heads, s, d] at `positions`; returns what is attended to.
  std::pair<at::Tensor, at::Tensor> Update(const at::Tensor& key, const at::Tensor& value,
                                           const at::Tensor& positions) {
    return Next(layer_++, key, value, positions);
  }
  // Tokens that it has room for; 0: it grows.
  virtual int64_t room() const { return 0; }
  // The first pass is given it, empty; else the model makes it.
  virtual bool given_empty() const { return true; }
  // Tokens that are there, of one that grows.
  virtual int64_t tokens() const { return 0; }
  // Older tokens than the room are dropped.
  virtual bool slides() const { return false; }
  // The first layer's keys, of which a model counts the tokens that are there.
  virtual at::Tensor first() const { return {}; }

 protected:
  virtual std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                                 const at::Tensor& value,
                                                 const at::Tensor& positions) = 0;

 private:
  size_t layer_ = 0;
};

// Every pass makes each layer's keys and values anew, longer by what is new.
class DynamicCache final : public KeyValueCache {
 public:
  int64_t tokens() const override { return keys_.empty() ? 0 : keys_.front().size(-2); }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value, const at::Tensor&) override;

 private:
  std::vector<at::Tensor> keys_, values_;
};

// As tuples: a pass makes all layers' keys and values anew beside those of the pass before, which
// are its argument.
class TupleCache final : public KeyValueCache {
 public:
  void Begin() override;
  bool given_empty() const override { return false; }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value, const at::Tensor&) override;

 private:
  using Pairs = std::vector<std::pair<at::Tensor, at::Tensor>>;
  Pairs past_, present_;
};

// Keys and values of what an encoder has made, which the first pass makes for all.
class CrossCache {
 public:
  void Begin() { layer_ = 0; }
  // The next layer's, made by `make` where they are not there.
  std::pair<at::Tensor, at::Tensor> Next(
      const std::function<std::pair<at::Tensor, at::Tensor>()>& make);

 private:
  size_t layer_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
};

struct CacheShape {
  int64_t layers = 0, batch = 0, heads = 0, room = 0, width = 0;
  at::TensorOptions options;
};

// All of it from the beginning; what is not yet there is attended to and masked.
class StaticCache : public KeyValueCache {
 public:
  explicit StaticCache(const CacheShape& shape);
  int64_t room() const override { return room_; }
  at::Tensor first() const override { return keys_.front(); }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value,
                                         const at::Tensor& positions) override;
  std::vector<at::Tensor> keys_, values_;

 private:
  int64_t room_;
};

// As many tokens as the window has; each pass rolls them in copies.
class SlidingCache final : public StaticCache {
 public:
  using StaticCache::StaticCache;
  bool slides() const override { return true; }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value,
                                         const at::Tensor& positions) override;
};

// What generate() hands to the model.
struct GenerationPass {
  KeyValueCache* cache = nullptr;  // null: everything is computed again for each token
  at::Tensor positions;            // int64 [s], within the sequence
  at::Tensor position_ids;         // int64 [b, s]
  at::Tensor mask;                 // int64 [b, tokens]; with room(): what the model makes of it
  at::Tensor encoded = {};         // what a decoder reads beside; `mask` is of it
  std::function<void()> prepared = {};  // all arguments are there; the model has not begun
  int64_t trained_prefix = 0;           // tokens of the cache before a training pass; else of none
  CrossCache* cross = nullptr;          // null: made again for each token
};

// Of this thread; null: no generation.
GenerationPass* Generating();

class GenerationScope {
 public:
  explicit GenerationScope(GenerationPass& pass);
  ~GenerationScope();
  GenerationScope(const GenerationScope&) = delete;
  GenerationScope& operator=(const GenerationScope&) = delete;
};

// A cache in a training forward: what the attention is given of this thread stays named as long as
// the scope and `cache` say.
class TrainingCacheScope {
 public:
  explicit TrainingCacheScope(KeyValueCache& cache);
  ~TrainingCacheScope();
  TrainingCacheScope(const TrainingCacheScope&) = delete;
  TrainingCacheScope& operator=(const TrainingCacheScope&) = delete;
};

// Key and value as the attention gets them: through the cache, where there is one.
void ThroughCache(at::Tensor& key, at::Tensor& value);

}  // namespace vramscope::trainer
