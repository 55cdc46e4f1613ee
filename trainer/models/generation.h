// Generation, token by token: the keys and values that are kept between passes, and the arguments
// that a pass gets besides the token ids.
//
//   DynamicCache cache;
//   GenerationPass pass{.cache = &cache, .positions = ..., .position_ids = ..., .mask = ...};
//   const GenerationScope scope(pass);                 // for this thread
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

  // Starts a pass; the layers then call Update() in order.
  virtual void Begin() { layer_ = 0; }
  // Stores a layer's keys and values [b, heads, s, d] at `positions`. Returns the keys and values
  // to attend to.
  std::pair<at::Tensor, at::Tensor> Update(const at::Tensor& key, const at::Tensor& value,
                                           const at::Tensor& positions) {
    return Next(layer_++, key, value, positions);
  }
  // The capacity in tokens, or 0 if the cache grows.
  virtual int64_t room() const { return 0; }
  // Whether the first pass gets an empty cache as an argument. If not, the model creates the cache.
  virtual bool given_empty() const { return true; }
  // Number of stored tokens, for a cache that grows.
  virtual int64_t tokens() const { return 0; }
  // Tokens beyond the capacity replace the oldest tokens.
  virtual bool slides() const { return false; }
  // The first layer's keys, from which a model counts the stored tokens.
  virtual at::Tensor first() const { return {}; }

 protected:
  virtual std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                                 const at::Tensor& value,
                                                 const at::Tensor& positions) = 0;

 private:
  size_t layer_ = 0;
};

// Every pass allocates each layer's keys and values again, with the new token's at the end.
class DynamicCache final : public KeyValueCache {
 public:
  int64_t tokens() const override { return keys_.empty() ? 0 : keys_.front().size(-2); }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value, const at::Tensor&) override;

 private:
  std::vector<at::Tensor> keys_, values_;
};

// Keys and values as tuples. A pass gets the previous pass's tuples as an argument, and allocates
// all keys and values again while those tuples still exist.
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

// Keys and values of the encoder's output. The first pass computes them for all passes.
class CrossCache {
 public:
  void Begin() { layer_ = 0; }
  // Returns the next layer's keys and values. `make` computes them if they do not exist yet.
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

// A cache that is allocated at full size. Attention also computes positions without a token, but
// the mask hides them.
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

// A cache with the size of the window. Each pass copies the contents to shift them.
class SlidingCache final : public StaticCache {
 public:
  using StaticCache::StaticCache;
  bool slides() const override { return true; }

 protected:
  std::pair<at::Tensor, at::Tensor> Next(size_t layer, const at::Tensor& key,
                                         const at::Tensor& value,
                                         const at::Tensor& positions) override;
};

// The arguments that generate() passes to the model.
struct GenerationPass {
  KeyValueCache* cache = nullptr;  // null: everything is recomputed for each token
  at::Tensor positions;            // int64 [s], within the sequence
  at::Tensor position_ids;         // int64 [b, s]
  // int64 [b, tokens]; with a cache of fixed size, PrepareMask() replaces it by the model's mask
  at::Tensor mask;
  at::Tensor encoded = {};  // for a decoder: the encoder's output, whose tokens `mask` masks
  // called when all arguments are complete, before the model runs
  std::function<void()> prepared = {};
  int64_t trained_prefix = 0;   // tokens in the cache before a training pass; otherwise 0
  CrossCache* cross = nullptr;  // null: recomputed for each token
};

// Returns this thread's pass, or null if the thread does not generate.
GenerationPass* Generating();

class GenerationScope {
 public:
  explicit GenerationScope(GenerationPass& pass);
  ~GenerationScope();
  GenerationScope(const GenerationScope&) = delete;
  GenerationScope& operator=(const GenerationScope&) = delete;
};

// A cache in a training forward. Within the scope, this thread's attention stores its keys and
// values in `cache`.
class TrainingCacheScope {
 public:
  explicit TrainingCacheScope(KeyValueCache& cache);
  ~TrainingCacheScope();
  TrainingCacheScope(const TrainingCacheScope&) = delete;
  TrainingCacheScope& operator=(const TrainingCacheScope&) = delete;
};

// Replaces key and value by those from the cache, if there is one.
void ThroughCache(at::Tensor& key, at::Tensor& value);

}  // namespace vramscope::trainer
