// Generation of text, token by token: the keys and values that are kept between passes, and the
// arguments that a pass gets in addition to the token ids.
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

  // Starts a pass. Then the layers call Update(), one after the other.
  virtual void Begin() { layer_ = 0; }
  // Stores the keys and values [b, heads, s, d] of the next layer at `positions`. Returns those
  // that the layer must attend to.
  std::pair<at::Tensor, at::Tensor> Update(const at::Tensor& key, const at::Tensor& value,
                                           const at::Tensor& positions) {
    return Next(layer_++, key, value, positions);
  }
  // The capacity in tokens, or 0 if the cache grows.
  virtual int64_t room() const { return 0; }
  // Whether the first pass gets an empty cache as an argument. If not, the model creates the cache.
  virtual bool given_empty() const { return true; }
  // The number of stored tokens, if the cache grows.
  virtual int64_t tokens() const { return 0; }
  // Tokens beyond the capacity replace the oldest tokens.
  virtual bool slides() const { return false; }
  // The keys of the first layer. Models use their size to count the stored tokens.
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

// The keys and values of the encoder's output. The first pass computes them for all later passes.
class CrossCache {
 public:
  void Begin() { layer_ = 0; }
  // Returns the keys and values of the next layer. If there are none yet, `make` computes them.
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

// A cache as large as the window. To shift the contents, each pass copies them.
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
  // int64 [b, tokens]. If the cache has a fixed size, PrepareMask() replaces it by the mask that
  // the model uses.
  at::Tensor mask;
  at::Tensor encoded = {};  // for a decoder: the encoder's output, to whose tokens `mask` refers
  // Called before the model runs, when all arguments are complete.
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

// A cache in the forward pass of training. Within the scope, attention on this thread stores its
// keys and values in `cache`.
class TrainingCacheScope {
 public:
  explicit TrainingCacheScope(KeyValueCache& cache);
  ~TrainingCacheScope();
  TrainingCacheScope(const TrainingCacheScope&) = delete;
  TrainingCacheScope& operator=(const TrainingCacheScope&) = delete;
};

// If there is a cache, stores key and value in it and replaces them with those to attend to.
void ThroughCache(at::Tensor& key, at::Tensor& value);

}  // namespace vramscope::trainer
