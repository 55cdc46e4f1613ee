// BigBird as a sequence classifier: BERT's layers with block-sparse attention. Each block attends
// to its neighbours, some random blocks, the first block and the last. Mirrors Hugging Face
// transformers 4.51: models/big_bird/modeling_big_bird.py, with the attention mask of sequences
// without padding. A sequence that is too short for its blocks gets full attention, as in
// transformers.
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/rotary_decoder.h"
#include "trainer/models/bert_parts.h"
#include "trainer/models/decoder.h"
#include "trainer/models/family.h"
#include "trainer/models/tokens.h"

namespace vramscope::trainer::big_bird {
namespace {

constexpr double kPenalty = -10000.0;

struct BigBirdConfig : EncoderConfig {
  int64_t block = 64, random_blocks = 3, pad_token = 0;
  bool block_sparse = true;
  bool rescale = false;
};

absl::StatusOr<BigBirdConfig> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  BigBirdConfig c;
  c.vocab = 50358;
  c.positions = 4096;
  if (absl::Status status = ReadEncoder(reader, options, c); !status.ok()) return status;
  c.qkv_bias = reader.Bool("use_bias", true);
  c.rescale = reader.Bool("rescale_embeddings", false);
  c.block = reader.Integer({"block_size"}, 1, 4096, 64);
  c.random_blocks = reader.Integer({"num_random_blocks"}, 1, 1024, 3);
  c.pad_token = reader.Integer({"pad_token_id"}, 0, c.vocab - 1, 0);
  const std::string kind = reader.String("attention_type", "block_sparse");
  if (kind != "block_sparse" && kind != "original_full") {
    reader.Fail("attention_type \"" + kind.substr(0, 60) +
                "\" is not supported; supported: block_sparse, original_full");
  }
  const std::string name = reader.String("hidden_act", "gelu_new");
  if (!reader.status().ok()) return reader.status();
  const absl::StatusOr<run::Activation> activation = run::ActivationOf(name, "hidden_act");
  if (!activation.ok()) return activation.status();
  c.activation = *activation;
  // The original permanently switches to full attention when a sequence is too short. In a run, all
  // sequences have the same length.
  c.block_sparse = kind == "block_sparse" && options.seq > (5 + 2 * c.random_blocks) * c.block;
  if (c.block_sparse && (options.seq + c.block - 1) / c.block * c.block > c.positions) {
    reader.Fail("seq = " + std::to_string(options.seq) + " is longer than the model's " +
                std::to_string(c.positions) + " positions when it is padded to blocks of " +
                std::to_string(c.block));
  }
  if (!reader.status().ok()) return reader.status();
  return c;
}

class Embeddings : public Module {
 public:
  explicit Embeddings(const BigBirdConfig& c)
      : Module("embeddings"),
        config_(c),
        words_("word_embeddings", c.vocab, c.hidden, c.dtype, c.range),
        positions_("position_embeddings", c.positions, c.hidden, c.dtype, c.range),
        types_("token_type_embeddings", c.types, c.hidden, c.dtype, c.range),
        norm_("LayerNorm", c.hidden, c.eps, c.dtype) {
    for (Embedding* e : {&words_, &positions_, &types_}) AddChild(e);
    AddChild(&norm_);
    const int64_t n = c.positions;
    position_ids_ =
        AddBuffer({.name = "position_ids", .shape = {1, n}, .dtype = at::kLong, .value = [n] {
                     return at::arange(n, at::kLong).unsqueeze(0);
                   }});
    type_ids_ =
        AddBuffer({.name = "token_type_ids", .shape = {1, n}, .dtype = at::kLong, .value = [n] {
                     return at::zeros({1, n}, at::kLong);
                   }});
  }

  // Returns zeros, because batches have no token types.
  at::Tensor TypeIds(const at::Tensor& ids) const {
    return type_ids_->tensor.slice(1, 0, ids.size(1)).expand({ids.size(0), ids.size(1)});
  }

  at::Tensor Forward(const at::Tensor& ids, const at::Tensor& type_ids, bool require_grad) {
    ModuleScope scope(name());
    at::Tensor words = words_.Forward(ids);
    if (require_grad) words.requires_grad_(true);
    if (config_.rescale) words = words * std::sqrt(static_cast<double>(config_.hidden));
    at::Tensor types = types_.Forward(type_ids);
    at::Tensor embeddings = words + types;
    at::Tensor positions = positions_.Forward(position_ids_->tensor.slice(1, 0, ids.size(1)));
    embeddings += positions;
    embeddings = Dropout(embeddings, config_.dropout);
    embeddings = norm_.Forward(embeddings);
    for (at::Tensor* local : {&words, &types, &positions}) local->reset();
    return embeddings;
  }

 private:
  const BigBirdConfig& config_;
  Embedding words_, positions_, types_;
  LayerNorm norm_;
  Buffer *position_ids_, *type_ids_;
};

// The masks that all layers of a forward pass share.
struct Masks {
  at::Tensor full;                     // mask of full attention
  at::Tensor blocked, band, from, to;  // masks of attention between blocks
};

// Both functions multiply the matrices of two batches: Product() multiplies [..., a, b] by [..., b,
// c], and ProductTransposed() multiplies [..., a, b] by the transposed [..., c, b]. If both
// operands must be copied, the left one is copied first.
at::Tensor ProductTransposed(const at::Tensor& a, const at::Tensor& b) {
  std::vector<int64_t> sizes = a.sizes().vec();
  sizes.back() = b.size(-2);
  at::Tensor left = a.reshape({-1, a.size(-2), a.size(-1)});
  at::Tensor right = b.reshape({-1, b.size(-2), b.size(-1)}).transpose(1, 2);
  const at::Tensor product = at::bmm(left, right);
  left.reset();
  right.reset();
  return product.view(sizes);
}
at::Tensor Product(const at::Tensor& a, const at::Tensor& b) {
  std::vector<int64_t> sizes = a.sizes().vec();
  sizes.back() = b.size(-1);
  at::Tensor left = a.reshape({-1, a.size(-2), a.size(-1)});
  at::Tensor right = b.reshape({-1, b.size(-2), b.size(-1)});
  const at::Tensor product = at::bmm(left, right);
  left.reset();
  right.reset();
  return product.view(sizes);
}

void AddPenalty(at::Tensor& scores, const at::Tensor& mask) {
  at::Tensor open = at::rsub(mask, 1.0);
  const at::Tensor penalty = open * kPenalty;
  open.reset();
  scores += penalty;
}

// Returns the blocks that `indices` [b, h, ...] selects from `blocks` [b, h, n, ...].
at::Tensor Gather(const at::Tensor& blocks, const at::Tensor& indices) {
  const int64_t picked = indices.size(-2) * indices.size(-1);
  at::Tensor shift = at::arange(indices.size(0) * indices.size(1) * picked, indices.options());
  at::Tensor row = at::div(shift, picked, "floor");
  at::Tensor offsets = row * blocks.size(2);
  row.reset();
  at::Tensor flat_indices = indices.view(-1) + offsets;
  at::Tensor flat = blocks.reshape({-1, blocks.size(-2), blocks.size(-1)});
  at::Tensor out = flat.index_select(0, flat_indices);
  for (at::Tensor* local : {&shift, &offsets, &flat_indices, &flat}) local->reset();
  return out.reshape({blocks.size(0), blocks.size(1), picked, blocks.size(-2), blocks.size(-1)});
}

// "self": attention between blocks.
class BlockSparseAttention : public FullAttention {
 public:
  BlockSparseAttention(const BigBirdConfig& c, int64_t seed)
      : FullAttention(c), blocks_(c), seed_(static_cast<uint64_t>(seed)) {}

  at::Tensor Forward(const at::Tensor& x, const at::Tensor& blocked, const at::Tensor& band,
                     const at::Tensor& from, const at::Tensor& to) {
    ModuleScope scope(name());
    at::Tensor query = Heads(query_.Forward(x));
    at::Tensor key = Heads(key_.Forward(x));
    at::Tensor value = Heads(value_.Forward(x));
    at::Tensor context = Attend(query, key, value, blocked, band, from, to);
    context = context.contiguous().view({x.size(0), x.size(1), -1});
    for (at::Tensor* local : {&query, &key, &value}) local->reset();
    return context;
  }

 private:
  // Returns the random blocks that each block attends to, [heads, blocks - 2, random_blocks] on the
  // CPU, without the blocks that it always attends to.
  at::Tensor RandomBlocks(int64_t count) const {
    std::mt19937_64 random(seed_);
    const int64_t rows = count - 2, chosen = blocks_.random_blocks;
    at::Tensor out = at::empty({blocks_.heads, rows, chosen}, at::kLong);
    auto* at = out.mutable_data_ptr<int64_t>();
    std::vector<int64_t> allowed;
    for (int64_t row = 0; row < blocks_.heads * rows; ++row) {
      const int64_t own = 1 + row % rows;
      allowed.clear();
      for (int64_t block = 1; block < count - 1; ++block) {
        if (std::abs(block - own) > 1) allowed.push_back(block);
      }
      for (int64_t i = 0; i < chosen; ++i) {
        const auto left = static_cast<uint64_t>(allowed.size()) - static_cast<uint64_t>(i);
        std::swap(allowed[static_cast<size_t>(i)],
                  allowed[static_cast<size_t>(i) + random() % left]);
        *at++ = allowed[static_cast<size_t>(i)];
      }
    }
    return out;
  }

  at::Tensor RandomMask(const at::Tensor& blocked, const at::Tensor& chosen) const {
    std::vector<at::Tensor> rows;
    const std::vector<at::Tensor> masks = blocked.unbind(0), choices = chosen.unbind(0);
    for (size_t i = 0; i < masks.size(); ++i)
      rows.push_back(masks[i].index({choices[i].flatten()}));
    at::Tensor mask = at::stack(rows);
    rows.clear();
    mask = mask.view({blocked.size(0), blocks_.heads, blocked.size(1) - 2,
                      blocks_.random_blocks * blocks_.block});
    return at::einsum("blq,bhlk->bhlqk", {blocked.slice(1, 1, -1), mask});
  }

  // The tensors of the second block or of the second-last block. These two blocks attend to their
  // neighbours, the first and last block, and random blocks.
  struct Edge {
    at::Tensor keys, values, product, sequence_pad, random_pad, weights, context;
  };

  at::Tensor Attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const at::Tensor& blocked, const at::Tensor& band, const at::Tensor& from,
                    const at::Tensor& to) const {
    const int64_t batch = query.size(0), heads = query.size(1), seq = query.size(2);
    const int64_t block = blocks_.block, count = seq / block, some = blocks_.random_blocks * block;
    const double scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
    at::Tensor chosen = RandomBlocks(count).to(query.device());
    chosen.unsqueeze_(0);
    chosen = at::cat(std::vector<at::Tensor>(static_cast<size_t>(batch), chosen), 0);
    at::Tensor random_mask = RandomMask(blocked, chosen);

    const std::vector<int64_t> in_blocks{batch, heads, count, block, -1};
    at::Tensor queries = query.view(in_blocks), keys = key.view(in_blocks),
               values = value.view(in_blocks);
    const std::vector<int64_t> gathered{batch, heads, count - 2, some, -1};
    at::Tensor random_keys = Gather(keys, chosen);
    random_keys = random_keys.view(gathered);
    at::Tensor random_values = Gather(values, chosen);
    random_values = random_values.view(gathered);

    // The first and the last block attend to all blocks.
    const auto everything = [&](int64_t which, at::Tensor& product, at::Tensor& weights) {
      product = ProductTransposed(queries.select(2, which), key);
      product = product * scale;
      AddPenalty(product, to);
      weights = at::softmax(product, -1);
      at::Tensor context = Product(weights, value);
      context.unsqueeze_(2);
      return context;
    };
    const auto edge = [&](int64_t which, const std::vector<int64_t>& near, int64_t gathered_at,
                          const at::Tensor& pad_a, const at::Tensor& pad_b) {
      Edge e;
      const auto cut = [&](const at::Tensor& all, const at::Tensor& random) {
        std::vector<at::Tensor> parts;
        for (int64_t i : near) parts.push_back(all.select(2, i));
        parts.push_back(random.select(2, gathered_at));
        return at::cat(parts, 2);
      };
      e.keys = cut(keys, random_keys);
      e.values = cut(values, random_values);
      e.product = ProductTransposed(queries.select(2, which), e.keys);
      e.sequence_pad = at::cat({pad_a, pad_b, at::ones({batch, 1, 1, some}, to.options())}, 3);
      e.random_pad = at::cat({at::ones({batch, heads, block, 4 * block}, random_mask.options()),
                              random_mask.select(2, gathered_at)},
                             3);
      e.product = e.product * scale;
      {
        at::Tensor least = at::minimum(e.sequence_pad, e.random_pad);
        at::Tensor open = at::rsub(least, 1.0);
        least.reset();
        const at::Tensor penalty = open * kPenalty;
        open.reset();
        e.product += penalty;
      }
      e.weights = at::softmax(e.product, -1);
      e.context = Product(e.weights, e.values);
      e.context.unsqueeze_(2);
      return e;
    };

    at::Tensor first_product, first_weights;
    at::Tensor first = everything(0, first_product, first_weights);
    Edge second = edge(1, {0, 1, 2, -1}, 0, to.slice(3, 0, 3 * block), to.slice(3, -block));

    // Blocks in the middle attend to their neighbours, random blocks, the first block and the last.
    const auto neighbours = [](const at::Tensor& all) {
      return at::cat({all.slice(2, 1, -3), all.slice(2, 2, -2), all.slice(2, 3, -1)}, 3);
    };
    at::Tensor near_keys = neighbours(keys);
    at::Tensor near_values = neighbours(values);
    at::Tensor middle = queries.slice(2, 2, -2);
    at::Tensor inner = ProductTransposed(middle, near_keys);
    inner = inner * scale;
    at::Tensor random = ProductTransposed(middle, random_keys.slice(2, 1, -1));
    random = random * scale;
    at::Tensor to_first = at::einsum("bhlqd,bhkd->bhlqk", {middle, keys.select(2, 0)});
    to_first = to_first * scale;
    at::Tensor to_last = at::einsum("bhlqd,bhkd->bhlqk", {middle, keys.select(2, -1)});
    to_last = to_last * scale;
    AddPenalty(inner, band);
    AddPenalty(to_first, to.slice(3, 0, block).unsqueeze(3));
    AddPenalty(to_last, to.slice(3, -block).unsqueeze(3));
    AddPenalty(random, random_mask.slice(2, 1, -1));
    at::Tensor product = at::cat({to_first, inner, random, to_last}, -1);
    at::Tensor weights = at::softmax(product, -1);
    at::Tensor context = Product(weights.slice(4, block, 4 * block), near_values);
    {
      const at::Tensor share = weights.slice(4, 4 * block, -block);
      context += Product(share, random_values.slice(2, 1, -1));
    }
    context += at::einsum("bhlqk,bhkd->bhlqd", {weights.slice(4, 0, block), values.select(2, 0)});
    context += at::einsum("bhlqk,bhkd->bhlqd", {weights.slice(4, -block), values.select(2, -1)});

    Edge last_but_one =
        edge(-2, {0, -3, -2, -1}, -1, to.slice(3, 0, block), to.slice(3, -3 * block));
    at::Tensor last_product, last_weights;
    at::Tensor last = everything(-1, last_product, last_weights);

    context = at::cat({first, second.context, context, last_but_one.context, last}, 2);
    context = context.view({batch, heads, seq, -1}) * from;
    return context.transpose(1, 2);
  }

  const BigBirdConfig& blocks_;
  uint64_t seed_;
};

class Attention : public Module {
 public:
  Attention(const BigBirdConfig& c, int64_t seed) : Module("attention"), output_(c, c.hidden) {
    if (c.block_sparse) {
      sparse_ = std::make_unique<BlockSparseAttention>(c, seed);
      AddChild(sparse_.get());
    } else {
      full_ = std::make_unique<FullAttention>(c);
      AddChild(full_.get());
    }
    AddChild(&output_);
  }
  at::Tensor Forward(const at::Tensor& x, const Masks& masks) {
    ModuleScope scope(name());
    const at::ScalarType dtype = x.scalar_type();
    at::Tensor band, from, to;
    if (sparse_) {
      band = masks.band.to(dtype);
      from = masks.from.to(dtype);
      to = masks.to.to(dtype);
    }
    const at::Tensor context = sparse_ ? sparse_->Forward(x, masks.blocked, band, from, to)
                                       : full_->Forward(x, masks.full);
    return output_.Forward(context, x);
  }

 private:
  std::unique_ptr<BlockSparseAttention> sparse_;
  std::unique_ptr<FullAttention> full_;
  ResidualOutput output_;
};

class Layer : public Module {
 public:
  Layer(std::string name, const BigBirdConfig& c, int64_t number)
      : Module(std::move(name)), attention_(c, number), intermediate_(c), output_(c, c.inner) {
    AddChild(&attention_);
    AddChild(&intermediate_);
    AddChild(&output_);
  }
  at::Tensor Forward(const at::Tensor& x, const Masks& masks) {
    ModuleScope scope(name());
    const at::Tensor attended = attention_.Forward(x, masks);
    const at::Tensor inner = intermediate_.Forward(attended);
    return output_.Forward(inner, attended);
  }

 private:
  Attention attention_;
  Intermediate intermediate_;
  ResidualOutput output_;
};

class Encoder : public Module {
 public:
  explicit Encoder(const BigBirdConfig& c) : Module("encoder") {
    for (int64_t i = 0; i < c.layers; ++i) {
      layers_.push_back(std::make_unique<Layer>("layer." + std::to_string(i), c, i));
      AddChild(layers_.back().get());
    }
  }
  at::Tensor Forward(const at::Tensor& embeddings, const Masks& masks, const LayerRunner& runner) {
    ModuleScope scope(name());
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (auto& layer : layers_) {
      functions.push_back([layer = layer.get()](const at::Tensor& x, Carried& arguments) {
        return layer->Forward(x, MasksOf(arguments));
      });
    }
    return RunLayers(runner, embeddings, functions, "bert.encoder",
                     {masks.full, masks.band, masks.from, masks.to, masks.blocked});
  }
  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }

 private:
  // `arguments` contains the masks in the order of the Python layer's parameters.
  static Masks MasksOf(const Carried& arguments) {
    return {.full = arguments[0],
            .blocked = arguments[4],
            .band = arguments[1],
            .from = arguments[2],
            .to = arguments[3]};
  }

  std::vector<std::unique_ptr<Layer>> layers_;
};

// "bert": everything below the classifier.
class BigBird : public Module {
 public:
  explicit BigBird(const BigBirdConfig& c)
      : Module("bert"),
        config_(c),
        embeddings_(c),
        encoder_(c),
        pooler_("pooler", Dense(c, c.hidden, c.hidden)) {
    AddChild(&embeddings_);
    AddChild(&encoder_);
    AddChild(&pooler_);
  }

  struct Outputs {
    at::Tensor hidden, pooled;
  };
  Outputs Forward(const Batch& batch, const LayerRunner& runner, bool require_grad) {
    ModuleScope scope(name());
    at::Tensor ids = batch["input_ids"], given = batch["attention_mask"];
    at::Tensor types = embeddings_.TypeIds(ids);
    const int64_t padding =
        config_.block_sparse ? (config_.block - ids.size(1) % config_.block) % config_.block : 0;
    if (padding > 0) {
      ids = at::constant_pad_nd(ids, {0, padding}, config_.pad_token);
      given = at::constant_pad_nd(given, {0, padding}, 0);
      types = at::constant_pad_nd(types, {0, padding}, 0);
    }
    Masks masks = MasksOf(given);
    at::Tensor embeddings = embeddings_.Forward(ids, types, require_grad);
    Outputs out;
    out.hidden = encoder_.Forward(embeddings, masks, runner);
    {
      at::Tensor pooled = pooler_.Forward(out.hidden.select(1, 0));
      ModuleScope inner("activation");
      out.pooled = at::tanh(pooled);
    }
    if (padding > 0) out.hidden = out.hidden.slice(1, 0, -padding);
    return out;
  }
  std::vector<Module*> Layers() { return encoder_.Layers(); }

 private:
  Masks MasksOf(const at::Tensor& given) const {
    if (!config_.block_sparse) {
      Masks masks;
      masks.full = AdditiveMask(given, config_.dtype);
      return masks;
    }
    const int64_t batch = given.size(0), seq = given.size(1);
    Masks masks;
    masks.blocked = given.view({batch, seq / config_.block, config_.block});
    at::Tensor near = at::cat({masks.blocked.slice(1, 1, -3), masks.blocked.slice(1, 2, -2),
                               masks.blocked.slice(1, 3, -1)},
                              2);
    masks.band = at::einsum("blq,blk->blqk", {masks.blocked.slice(1, 2, -2), near});
    masks.band.unsqueeze_(1);
    near.reset();
    masks.from = given.view({batch, 1, seq, 1});
    masks.to = given.view({batch, 1, 1, seq});
    return masks;
  }

  const BigBirdConfig& config_;
  Embeddings embeddings_;
  Encoder encoder_;
  Linear pooler_;
};

class Head : public Module {
 public:
  explicit Head(const BigBirdConfig& c)
      : Module("classifier"),
        config_(c),
        dense_("dense", Dense(c, c.hidden, c.hidden)),
        out_("out_proj", Dense(c, c.hidden, c.classes)) {
    AddChild(&dense_);
    AddChild(&out_);
  }
  at::Tensor Forward(const at::Tensor& features) {
    ModuleScope scope(name());
    at::Tensor x = features.select(1, 0);
    x = Dropout(x, config_.classifier_dropout);
    x = dense_.Forward(x);
    x = Activate(config_.activation, "act_fn", x);
    x = Dropout(x, config_.classifier_dropout);
    x = out_.Forward(x);
    return x;
  }

 private:
  const BigBirdConfig& config_;
  Linear dense_, out_;
};

class BigBirdClassifier : public Model {
 public:
  explicit BigBirdClassifier(const BigBirdConfig& config)
      : Model(""), config_(config), bert_(config_), classifier_(config_) {
    AddChild(&bert_);
    AddChild(&classifier_);
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return ClassifierInputs(rows, seq, /*token_types=*/false);
  }
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    FillClassifier(host, config_.vocab, config_.classes, random);
  }
  at::Tensor Logits(const Batch& batch) override {
    outputs_ = bert_.Forward(batch, layer_runner, inputs_require_grad);
    return classifier_.Forward(outputs_.hidden);
  }
  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    at::Tensor loss = ClassifierLoss(logits, batch["labels"]);
    outputs_ = {};  // kept until the loss is computed, as in the original
    return loss;
  }
  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = bert_.Layers()}};
  }

 private:
  const BigBirdConfig config_;
  BigBird bert_;
  Head classifier_;
  BigBird::Outputs outputs_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<BigBirdConfig> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<BigBirdClassifier>(*config);
}

}  // namespace

Family Declare() {
  return {{.id = "big-bird",
           .title = "BigBird, sequence classification",
           .architectures = {"BigBirdForSequenceClassification"},
           .model_types = {"big_bird"},
           .inputs = "token ids and mask [batch, seq] and classes [batch], no padding",
           .batch = 2,
           .seq = 1024,
           .lora = {{"query, value", {"query", "value"}},
                    {"query, key, value", {"query", "key", "value"}},
                    {"all linear", {"query", "key", "value", "dense"}}},
           .limits = {{"attention", {"eager"}, "BigBird has its own block-sparse attention"}},
           .assumes =
               {"all sequences of a run have the same length, because a sequence that is too short "
                "for block-sparse attention would switch the model to full attention permanently"}},
          &Make};
}

}  // namespace vramscope::trainer::big_bird
