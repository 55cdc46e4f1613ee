// T5 and mT5 for conditional generation: an encoder and a decoder with RMS norms, cross-attention
// and a gated MLP. The first layer of either stack computes a bias by relative position for its
// stack. Mirrors Hugging Face transformers 4.51: models/mt5/modeling_mt5.py and
// models/t5/modeling_t5.py, which have no sdpa. Training uses no cache. The attention mask is all
// ones, because sources have no padding. Decoder ids are the shifted labels.
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/models/causal_loss.h"
#include "trainer/models/family.h"
#include "trainer/models/generation.h"
#include "trainer/models/layers.h"
#include "trainer/models/layers_once.h"
#include "trainer/models/relative_attention.h"
#include "trainer/models/tokens.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer::t5 {
namespace {

enum class Act : uint8_t { kRelu, kGeluNew, kSilu };

struct Config : RelativeAttentionConfig {
  int64_t vocab = 0, inner = 0, layers = 0, decoder_layers = 0;
  int64_t start_token = 0, pad_token = 0;
  double eps = 1e-6;
  bool gated = true, tied = false;
  Act act = Act::kGeluNew;
};

absl::StatusOr<Config> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  const absl::StatusOr<run::ConfigNames> names = run::NamesOf(*object);
  if (!names.ok()) return names.status();
  const bool mt5 = names->architecture.empty() ? names->model_type == "mt5"
                                               : names->architecture.starts_with("MT5");
  run::ConfigReader reader(*object);
  Config c;
  c.vocab = reader.Integer({"vocab_size"}, 2, run::kMaxVocabulary);
  c.width = reader.Integer({"d_model"}, 1, run::kMaxHidden);
  c.head_dim = reader.Integer({"d_kv"}, 1, run::kMaxHidden, int64_t{64});
  c.inner = reader.Integer({"d_ff"}, 1, run::kMaxIntermediate);
  c.heads = reader.Integer({"num_heads"}, 1, run::kMaxHeads);
  c.layers = reader.Integer({"num_layers"}, 1, run::kMaxLayers);
  c.decoder_layers = reader.Integer({"num_decoder_layers"}, 1, run::kMaxLayers, c.layers);
  c.buckets = reader.Integer({"relative_attention_num_buckets"}, 4, 1 << 20, int64_t{32});
  c.max_distance = reader.Integer({"relative_attention_max_distance"}, 1, 1 << 30, int64_t{128});
  c.start_token = reader.Integer({"decoder_start_token_id"}, 0, run::kMaxVocabulary, int64_t{0});
  c.pad_token = reader.Integer({"pad_token_id"}, 0, run::kMaxVocabulary, int64_t{0});
  c.dropout = reader.Number("dropout_rate", 0, 0.999, 0.1);
  c.eps = reader.Number("layer_norm_epsilon", 0, 1, 1e-6);
  c.factor = reader.Number("initializer_factor", 0, 10, 1);
  c.tied = reader.Bool("tie_word_embeddings", !mt5);
  const std::string feed = reader.String("feed_forward_proj", mt5 ? "gated-gelu" : "relu");
  if (!reader.status().ok()) return reader.status();
  c.gated = feed.starts_with("gated-");
  if (feed == "relu") {
    c.act = Act::kRelu;
  } else if (feed == "gated-gelu") {
    c.act = Act::kGeluNew;
  } else if (feed == "gated-silu") {
    c.act = Act::kSilu;
  } else {
    reader.Fail("feed_forward_proj must be relu, gated-gelu or gated-silu");
  }
  if (c.max_distance <= c.buckets / 4) {
    reader.Fail("relative_attention_max_distance is too small for its buckets");
  }
  if (c.start_token >= c.vocab || c.pad_token >= c.vocab) {
    reader.Fail("decoder_start_token_id and pad_token_id must be below vocab_size");
  }
  if (!reader.status().ok()) return reader.status();
  c.dtype = options.dtype;
  return c;
}

at::Tensor Dropout(const char* name, const at::Tensor& x, double p) {
  ModuleScope scope(name);
  return at::dropout(x, p, Training());
}

// T5's norm computes the mean square in fp32. It subtracts no mean and adds no bias.
class Norm : public Module {
 public:
  Norm(std::string name, const Config& c) : Module(std::move(name)), eps_(c.eps) {
    weight_ = AddParameter("weight", {.shape = {c.width}, .dtype = c.dtype, .init = Init::kOnes});
  }
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor wide = x.to(at::kFloat);
    at::Tensor square = wide.pow(2);
    wide.reset();
    at::Tensor variance = square.mean(-1, /*keepdim=*/true);
    square.reset();
    at::Tensor shifted = variance + eps_;
    at::Tensor scale = at::rsqrt(shifted);
    shifted.reset();
    at::Tensor hidden = x * scale;
    scale.reset();
    const at::Tensor& weight = weight_->tensor;
    if (weight.scalar_type() == at::kHalf || weight.scalar_type() == at::kBFloat16) {
      hidden = hidden.to(weight.scalar_type());
    }
    at::Tensor result = weight * hidden;
    hidden.reset();
    variance.reset();
    return result;
  }

 private:
  double eps_;
  std::shared_ptr<Parameter> weight_;
};

class FeedForward : public Module {
 public:
  explicit FeedForward(const Config& c)
      : Module("DenseReluDense"),
        config_(c),
        up_(c.gated ? "wi_0" : "wi", Dense(c, c.width, c.inner, Power(c.width, -0.5))),
        gate_("wi_1", Dense(c, c.width, c.inner, Power(c.width, -0.5))),
        down_("wo", Dense(c, c.inner, c.width, Power(c.inner, -0.5))) {
    AddChild(&up_);
    if (c.gated) AddChild(&gate_);
    AddChild(&down_);
  }

  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor active, linear, hidden;
    hidden = up_.Forward(x);
    if (config_.gated) {
      active = Activate(hidden);
      hidden.reset();
      linear = gate_.Forward(x);
      hidden = active * linear;
    } else {
      hidden = Activate(hidden);
    }
    hidden = Dropout("dropout", hidden, config_.dropout);
    const at::ScalarType dtype = down_.weight()->tensor.scalar_type();
    if (hidden.scalar_type() != dtype) hidden = hidden.to(dtype);  // under autocast
    hidden = down_.Forward(hidden);
    active.reset();
    linear.reset();
    return hidden;
  }

 private:
  at::Tensor Activate(const at::Tensor& x) const {
    ModuleScope scope("act");
    switch (config_.act) {
      case Act::kRelu:
        return at::relu(x);
      case Act::kGeluNew:
        return GeluNew(x);
      case Act::kSilu:
        return at::silu(x);
    }
    return x;
  }

  const Config& config_;
  Linear up_, gate_, down_;
};

// "layer.0" to "layer.2" of a block: each has a norm, attention or an MLP, dropout, and a residual.
class AttentionLayer : public Module {
 public:
  AttentionLayer(std::string name, const Config& c, bool decoder, bool cross, bool first)
      : Module(std::move(name)),
        dropout_(c.dropout),
        attention_(cross ? "EncDecAttention" : "SelfAttention", c, decoder, cross, first),
        norm_("layer_norm", c) {
    AddChild(&attention_);
    AddChild(&norm_);
  }
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& memory, const StackMasks& shared,
                     at::Tensor& bias) {
    ModuleScope scope(name());
    const at::Tensor normed = norm_.Forward(x);
    const at::Tensor attended = attention_.Forward(normed, memory, shared, bias);
    const at::Tensor dropped = Dropout("dropout", attended, dropout_);
    return x + dropped;
  }

 private:
  double dropout_;
  RelativeAttention attention_;
  Norm norm_;
};

class FeedForwardLayer : public Module {
 public:
  FeedForwardLayer(std::string name, const Config& c)
      : Module(std::move(name)), dropout_(c.dropout), feed_(c), norm_("layer_norm", c) {
    AddChild(&feed_);
    AddChild(&norm_);
  }
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor forwarded = norm_.Forward(x);
    forwarded = feed_.Forward(forwarded);
    const at::Tensor dropped = Dropout("dropout", forwarded, dropout_);
    return x + dropped;
  }

 private:
  double dropout_;
  FeedForward feed_;
  Norm norm_;
};

// Indexes into `carried`, the tensors that pass from layer to layer.
enum : size_t { kBias, kMemory, kCrossBias };

class Block : public Module {
 public:
  Block(std::string name, const Config& c, bool decoder, bool first)
      : Module(std::move(name)),
        self_("layer.0", c, decoder, false, first),
        cross_("layer.1", c, decoder, true, first),
        feed_(decoder ? "layer.2" : "layer.1", c),
        decoder_(decoder) {
    AddChild(&self_);
    if (decoder) AddChild(&cross_);
    AddChild(&feed_);
  }

  at::Tensor Forward(const at::Tensor& x, Carried& carried, const StackMasks& shared) {
    ModuleScope scope(name());
    const at::Tensor attended = self_.Forward(x, {}, shared, carried[kBias]);
    if (!decoder_) return feed_.Forward(attended);
    at::Tensor length = shared.positions.select(0, -1) + 1;  // an argument, alive during the call
    at::Tensor crossed = cross_.Forward(attended, carried[kMemory], shared, carried[kCrossBias]);
    length.reset();
    return feed_.Forward(crossed);
  }

 private:
  AttentionLayer self_, cross_;
  FeedForwardLayer feed_;
  bool decoder_;
};

class T5Stack : public Module {
 public:
  T5Stack(std::string name, const Config& c, bool decoder)
      : Module(std::move(name)), config_(c), decoder_(decoder), norm_("final_layer_norm", c) {
    for (int64_t i = 0; i < (decoder ? c.decoder_layers : c.layers); ++i) {
      blocks_.push_back(std::make_unique<Block>("block." + std::to_string(i), c, decoder, i == 0));
      AddChild(blocks_.back().get());
    }
    AddChild(&norm_);
  }

  // In a decoder, `memory` is the encoder's output and `memory_mask` the mask of the sources. In
  // generation, `embedded` contains the tokens that are not in the cache yet.
  at::Tensor Forward(const at::Tensor& embedded, const at::Tensor& given_mask,
                     const at::Tensor& memory, const at::Tensor& memory_mask,
                     const LayerRunner& runner) {
    StackMasks shared;
    shared.checkpointed = RunsAgain(runner) && Training();
    const GenerationPass* pass = decoder_ ? Generating() : nullptr;
    shared.positions = pass != nullptr
                           ? pass->positions
                           : at::arange(embedded.size(1), embedded.options().dtype(at::kLong));
    at::Tensor ones;
    if (decoder_) {
      const int64_t before = pass != nullptr && pass->cache != nullptr ? pass->cache->tokens() : 0;
      ones = at::ones({embedded.size(0), before + embedded.size(1)},
                      embedded.options().dtype(at::kFloat));
      shared.mask = CausalMask(ones, shared.positions, embedded.scalar_type());
      shared.cross_mask = Additive(memory_mask, config_.dtype);
    } else {
      shared.mask = Additive(given_mask, embedded.scalar_type());
    }
    std::vector<LayerFunction> functions;
    functions.reserve(blocks_.size());
    for (auto& block : blocks_) {
      functions.push_back([block = block.get(), shared](const at::Tensor& x, Carried& carried) {
        return block->Forward(x, carried, shared);
      });
    }
    at::Tensor hidden = Dropout("dropout", embedded, config_.dropout);
    Carried carried{at::Tensor(), memory, at::Tensor()};  // lives as long as this frame
    if (runner) {
      hidden = runner(std::move(hidden), functions, name(), carried);
    } else {
      for (const LayerFunction& function : functions) hidden = function(hidden, carried);
    }
    hidden = norm_.Forward(hidden);
    hidden = Dropout("dropout", hidden, config_.dropout);
    return hidden;
  }

  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& block : blocks_) out.push_back(block.get());
    return out;
  }

 private:
  static at::Tensor Additive(const at::Tensor& given, at::ScalarType dtype) {
    at::Tensor mask = given.unsqueeze(1).unsqueeze(2).to(dtype);
    at::Tensor inverse = 1.0 - mask;
    return inverse * LowestFinite(dtype);
  }

  static at::Tensor CausalMask(const at::Tensor& given, const at::Tensor& positions,
                               at::ScalarType dtype) {
    const int64_t rows = positions.size(0), length = given.size(1);
    const double lowest = LowestFinite(dtype);
    at::Tensor mask = at::full({rows, length}, lowest, given.options().dtype(dtype));
    if (rows != 1) mask = at::triu(mask, 1);
    at::Tensor range = at::arange(length, positions.options());
    at::Tensor beyond = range > positions.reshape({-1, 1});
    range.reset();
    mask *= beyond;
    beyond.reset();
    mask = mask.unsqueeze(0).unsqueeze(0).expand({given.size(0), 1, -1, -1});
    mask = mask.clone();
    at::Tensor padding = mask + given.unsqueeze(1).unsqueeze(2);
    padding = padding == 0;
    at::Tensor filled = mask.masked_fill(padding, lowest);
    mask.copy_(filled);
    filled.reset();
    padding.reset();
    return mask;
  }

  const Config& config_;
  bool decoder_;
  std::vector<std::unique_ptr<Block>> blocks_;
  Norm norm_;
};

class T5 : public Model {
 public:
  explicit T5(const Config& config)
      : Model(""),
        config_(config),
        shared_("shared", config_.vocab, config_.width, config_.dtype, config_.factor),
        encoder_("encoder", config_, false),
        decoder_("decoder", config_, true) {
    AddChild(&shared_);
    AddChild(&encoder_);
    AddChild(&decoder_);
    const Linear::Options head = Dense(config_, config_.width, config_.vocab, 1);
    head_ = config_.tied ? std::make_unique<Linear>("lm_head", head, shared_.weight())
                         : std::make_unique<Linear>("lm_head", head);
    AddChild(head_.get());
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return {{.name = "input_ids", .shape = {rows, seq}},
            {.name = "attention_mask", .shape = {rows, seq}},
            {.name = "labels", .shape = {rows, seq}}};
  }
  // Makes a task that can be learned: to repeat the source.
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    at::Tensor tokens[] = {host[0], host[2]};
    FillTokens(tokens, config_.vocab, Labels::kCopies, random);
    host[1].fill_(1);
  }

  at::Tensor Logits(const Batch& batch) override {
    if (const GenerationPass* pass = Generating()) return NextToken(*pass, batch["input_ids"]);
    encoded_ = Encode(batch);
    decoder_ids_ = Shifted(batch["labels"]);
    decoder_output_ = Decode(decoder_ids_, encoded_, batch["attention_mask"]);
    decoded_ = decoder_output_;
    if (config_.tied) decoded_ = decoded_ * Power(config_.width, -0.5);
    return head_->Forward(decoded_);
  }
  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    at::Tensor loss =
        at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), batch["labels"].view(-1));
    // As in the original, these are kept until the loss is computed.
    for (at::Tensor* local : {&decoder_ids_, &encoded_, &decoder_output_, &decoded_})
      local->reset();
    return loss;
  }

  GenerationForm generation() const override {
    return {.encodes = true, .start_token = config_.start_token};
  }
  at::Tensor Encode(const Batch& batch) override {
    ModuleScope scope("encoder");
    const at::Tensor embedded = Embedded(batch["input_ids"]);
    return encoder_.Forward(embedded, batch["attention_mask"], {}, {}, layer_runner);
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = encoder_.Layers()},
            {.name = "decoder", .layers = decoder_.Layers()}};
  }

 private:
  at::Tensor Embedded(const at::Tensor& ids) {
    at::Tensor embedded = shared_.Forward(ids);
    if (inputs_require_grad) embedded.requires_grad_(true);
    return embedded;
  }
  at::Tensor Decode(const at::Tensor& ids, const at::Tensor& encoded, const at::Tensor& mask) {
    ModuleScope scope("decoder");
    const at::Tensor embedded = Embedded(ids);
    return decoder_.Forward(embedded, {}, encoded, mask, layer_runner);
  }
  at::Tensor NextToken(const GenerationPass& pass, const at::Tensor& ids) {
    if (pass.prepared) pass.prepared();
    if (pass.cross != nullptr) pass.cross->Begin();
    const at::Tensor output = Decode(ids, pass.encoded, pass.mask);
    at::Tensor decoded = output;
    if (config_.tied) decoded = decoded * Power(config_.width, -0.5);
    return head_->Forward(decoded);
  }
  at::Tensor Shifted(const at::Tensor& labels) const {
    using at::indexing::Ellipsis;
    at::Tensor ids = at::zeros(labels.sizes(), labels.options());
    {
      const at::Tensor before = labels.slice(-1, 0, -1).clone();
      ids.slice(-1, 1).copy_(before);
    }
    ids.index_put_({Ellipsis, 0}, config_.start_token);
    const at::Tensor ignored = ids == -100;
    ids.masked_fill_(ignored, config_.pad_token);
    return ids;
  }

  const Config config_;
  Embedding shared_;
  T5Stack encoder_, decoder_;
  std::unique_ptr<Linear> head_;
  at::Tensor encoded_, decoder_ids_, decoder_output_, decoded_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Config> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<T5>(*config);
}

}  // namespace

Family Declare() {
  return {
      {.id = "t5",
       .title = "T5, mT5",
       .architectures = {"T5ForConditionalGeneration", "MT5ForConditionalGeneration"},
       .model_types = {"t5", "mt5"},
       .inputs = "source ids and mask [batch, seq], target ids [batch, seq], no padding",
       .batch = 8,
       .seq = 128,
       .lora = {{"q, v", {"q", "v"}},
                {"attention", {"q", "k", "v", "o"}},
                {"all linear", {"q", "k", "v", "o", "wi_0", "wi_1", "wo"}}},
       .limits =
           {{"attention", {"eager"}, "T5 adds a bias to its attention scores"},
            {"precision",
             {"fp32", "bf16", "amp-bf16", "amp-fp16"},
             "T5's activations overflow in fp16, and transformers' workaround is not supported"}}},
      &Make};
}

}  // namespace vramscope::trainer::t5
