// BERT as a sequence classifier: learned positions and token types, post-norm layers, a pooler over
// the first token. Mirrors Hugging Face transformers 4.51: models/bert/modeling_bert.py,
// attn_implementation "eager" or "sdpa", with the attention mask of sequences without padding.
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/models/family.h"
#include "trainer/models/layers.h"
#include "trainer/models/tokens.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer {
namespace {

struct Config {
  int64_t vocab = 0, hidden = 0, layers = 0, heads = 0, inner = 0, positions = 0, types = 0;
  int64_t classes = 2;
  double dropout = 0, attention_dropout = 0, classifier_dropout = 0;
  double eps = 1e-12, range = 0.02;
  bool eager = true;
  at::ScalarType dtype = at::kFloat;
};

absl::StatusOr<Config> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  Config c;
  c.vocab = reader.Integer({"vocab_size"}, 2, run::kMaxVocabulary, int64_t{30522});
  c.hidden = reader.Integer({"hidden_size"}, 1, run::kMaxHidden, int64_t{768});
  c.layers = reader.Integer({"num_hidden_layers"}, 1, run::kMaxLayers, int64_t{12});
  c.heads = reader.Integer({"num_attention_heads"}, 1, run::kMaxHeads, int64_t{12});
  c.inner = reader.Integer({"intermediate_size"}, 1, run::kMaxIntermediate, int64_t{3072});
  c.positions = reader.Integer({"max_position_embeddings"}, 1, 1 << 20, int64_t{512});
  c.types = reader.Integer({"type_vocab_size"}, 1, 1 << 20, int64_t{2});
  c.classes = reader.Classes();
  c.dropout = reader.Number("hidden_dropout_prob", 0, 0.999, 0.1);
  c.attention_dropout = reader.Number("attention_probs_dropout_prob", 0, 0.999, 0.1);
  c.classifier_dropout = reader.Number("classifier_dropout", 0, 0.999, c.dropout);
  c.eps = reader.Number("layer_norm_eps", 0, 1, 1e-12);
  c.range = reader.Number("initializer_range", 0, 10, 0.02);
  reader.Only("hidden_act", "gelu");
  reader.Only("position_embedding_type", "absolute");
  if (!reader.status().ok()) return reader.status();
  if (c.hidden % c.heads != 0) {
    reader.Fail("hidden_size " + std::to_string(c.hidden) +
                " is not a multiple of num_attention_heads " + std::to_string(c.heads));
  }
  if (reader.Bool("is_decoder", false)) reader.Fail("is_decoder = true is not planned");
  if (!reader.status().ok()) return reader.status();
  if (options.seq > c.positions) {
    return absl::InvalidArgumentError("seq = " + std::to_string(options.seq) +
                                      " is longer than the model's " + std::to_string(c.positions) +
                                      " positions");
  }
  c.eager = options.attention == AttentionKind::kEager;
  c.dtype = options.dtype;
  return c;
}

Linear::Options Dense(const Config& c, int64_t inputs, int64_t outputs) {
  return {.inputs = inputs,
          .outputs = outputs,
          .bias = true,
          .dtype = c.dtype,
          .standard_deviation = c.range};
}

at::Tensor Dropout(const at::Tensor& x, double p) {
  ModuleScope scope("dropout");
  return at::dropout(x, p, Training());
}

class Embeddings : public Module {
 public:
  explicit Embeddings(const Config& c)
      : Module("embeddings"),
        dropout_(c.dropout),
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
    // Read where a batch has no token types.
    AddBuffer({.name = "token_type_ids", .shape = {1, n}, .dtype = at::kLong, .value = [n] {
                 return at::zeros({1, n}, at::kLong);
               }});
  }

  at::Tensor Forward(const at::Tensor& ids, const at::Tensor& type_ids, bool require_grad) {
    ModuleScope scope(name());
    at::Tensor words = words_.Forward(ids);
    if (require_grad) words.requires_grad_(true);
    at::Tensor types = types_.Forward(type_ids);
    at::Tensor embeddings = words + types;
    at::Tensor positions = positions_.Forward(position_ids_->tensor.slice(1, 0, ids.size(1)));
    embeddings += positions;
    embeddings = norm_.Forward(embeddings);
    embeddings = Dropout(embeddings, dropout_);
    for (at::Tensor* local : {&words, &types, &positions}) local->reset();
    return embeddings;
  }

 private:
  double dropout_;
  Embedding words_, positions_, types_;
  LayerNorm norm_;
  Buffer* position_ids_;
};

class SelfAttention : public Module {
 public:
  explicit SelfAttention(const Config& c)
      : Module("self"),
        config_(c),
        query_("query", Dense(c, c.hidden, c.hidden)),
        key_("key", Dense(c, c.hidden, c.hidden)),
        value_("value", Dense(c, c.hidden, c.hidden)) {
    for (Linear* projection : {&query_, &key_, &value_}) AddChild(projection);
  }

  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), seq = x.size(1), width = config_.hidden / config_.heads;
    const auto heads = [&](const at::Tensor& projected) {
      return projected.view({batch, seq, config_.heads, width}).permute({0, 2, 1, 3});
    };
    if (!config_.eager) {
      at::Tensor query = heads(query_.Forward(x));
      at::Tensor key = heads(key_.Forward(x));
      at::Tensor value = heads(value_.Forward(x));
      at::Tensor output = at::scaled_dot_product_attention(
          query, key, value, {}, DropoutNow(config_.attention_dropout), false);
      output = output.transpose(1, 2);
      output = output.reshape({batch, seq, config_.hidden});
      for (at::Tensor* local : {&query, &key, &value}) local->reset();
      return output;
    }
    at::Tensor mixed = query_.Forward(x);
    at::Tensor key = heads(key_.Forward(x));
    at::Tensor value = heads(value_.Forward(x));
    at::Tensor query = heads(mixed);
    at::Tensor scores = at::matmul(query, key.transpose(-1, -2));
    scores = scores / std::sqrt(static_cast<double>(width));
    scores = scores + mask;
    at::Tensor weights = at::softmax(scores, -1);
    weights = Dropout(weights, config_.attention_dropout);
    at::Tensor context = at::matmul(weights, value);
    context = context.permute({0, 2, 1, 3}).contiguous();
    context = context.view({batch, seq, config_.hidden});
    for (at::Tensor* local : {&mixed, &key, &value, &query, &scores, &weights}) local->reset();
    return context;
  }

 private:
  const Config& config_;
  Linear query_, key_, value_;
};

// A projection back to the residual stream, and its norm.
class Output : public Module {
 public:
  Output(const Config& c, int64_t inputs)
      : Module("output"),
        dropout_(c.dropout),
        dense_("dense", Dense(c, inputs, c.hidden)),
        norm_("LayerNorm", c.hidden, c.eps, c.dtype) {
    AddChild(&dense_);
    AddChild(&norm_);
  }

  at::Tensor Forward(const at::Tensor& x, const at::Tensor& residual) {
    ModuleScope scope(name());
    at::Tensor hidden = dense_.Forward(x);
    hidden = Dropout(hidden, dropout_);
    hidden = norm_.Forward(hidden + residual);
    return hidden;
  }

 private:
  double dropout_;
  Linear dense_;
  LayerNorm norm_;
};

class Attention : public Module {
 public:
  explicit Attention(const Config& c) : Module("attention"), self_(c), output_(c, c.hidden) {
    AddChild(&self_);
    AddChild(&output_);
  }
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const at::Tensor context = self_.Forward(x, mask);
    return output_.Forward(context, x);
  }

 private:
  SelfAttention self_;
  Output output_;
};

class Intermediate : public Module {
 public:
  explicit Intermediate(const Config& c)
      : Module("intermediate"), dense_("dense", Dense(c, c.hidden, c.inner)) {
    AddChild(&dense_);
  }
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    at::Tensor hidden = dense_.Forward(x);
    ModuleScope inner("intermediate_act_fn");
    hidden = at::gelu(hidden);
    return hidden;
  }

 private:
  Linear dense_;
};

class Layer : public Module {
 public:
  Layer(std::string name, const Config& c)
      : Module(std::move(name)), attention_(c), intermediate_(c), output_(c, c.inner) {
    AddChild(&attention_);
    AddChild(&intermediate_);
    AddChild(&output_);
  }
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const at::Tensor attended = attention_.Forward(x, mask);
    const at::Tensor inner = intermediate_.Forward(attended);
    return output_.Forward(inner, attended);
  }

 private:
  Attention attention_;
  Intermediate intermediate_;
  Output output_;
};

class Encoder : public Module {
 public:
  explicit Encoder(const Config& c) : Module("encoder") {
    for (int64_t i = 0; i < c.layers; ++i) {
      layers_.push_back(std::make_unique<Layer>("layer." + std::to_string(i), c));
      AddChild(layers_.back().get());
    }
  }
  at::Tensor Forward(const at::Tensor& embeddings, const at::Tensor& mask,
                     const LayerRunner& runner) {
    ModuleScope scope(name());
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (auto& layer : layers_) {
      functions.push_back([layer = layer.get(), mask](const at::Tensor& x, Carried&) {
        return layer->Forward(x, mask);
      });
    }
    return RunLayers(runner, embeddings, functions, "bert.encoder");
  }
  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

class Pooler : public Module {
 public:
  explicit Pooler(const Config& c)
      : Module("pooler"), dense_("dense", Dense(c, c.hidden, c.hidden)) {
    AddChild(&dense_);
  }
  at::Tensor Forward(const at::Tensor& hidden) {
    ModuleScope scope(name());
    at::Tensor pooled = dense_.Forward(hidden.select(1, 0));
    ModuleScope inner("activation");
    pooled = at::tanh(pooled);
    return pooled;
  }

 private:
  Linear dense_;
};

// "bert": everything below the classifier.
class Bert : public Module {
 public:
  explicit Bert(const Config& c)
      : Module("bert"), config_(c), embeddings_(c), encoder_(c), pooler_(c) {
    AddChild(&embeddings_);
    AddChild(&encoder_);
    AddChild(&pooler_);
  }

  struct Outputs {
    at::Tensor hidden, pooled;
  };
  Outputs Forward(const Batch& batch, const LayerRunner& runner, bool require_grad) {
    ModuleScope scope(name());
    const at::Tensor embeddings =
        embeddings_.Forward(batch["input_ids"], batch["token_type_ids"], require_grad);
    const at::Tensor mask = Mask(batch["attention_mask"]);
    Outputs out;
    out.hidden = encoder_.Forward(embeddings, mask, runner);
    out.pooled = pooler_.Forward(out.hidden);
    return out;
  }
  std::vector<Module*> Layers() { return encoder_.Layers(); }

 private:
  // Additive [batch, 1, 1, seq] of zeros; undefined for SDPA, which is looked at and not needed.
  at::Tensor Mask(const at::Tensor& given) const {
    if (!config_.eager) {
      at::all(given == 1);
      return {};
    }
    at::Tensor mask = given.unsqueeze(1).unsqueeze(2).to(config_.dtype);
    at::Tensor inverse = 1.0 - mask;
    at::Tensor additive = inverse * LowestFinite(config_.dtype);
    inverse.reset();
    return additive;
  }

  const Config& config_;
  Embeddings embeddings_;
  Encoder encoder_;
  Pooler pooler_;
};

class BertClassifier : public Model {
 public:
  explicit BertClassifier(const Config& config)
      : Model(""),
        config_(config),
        bert_(config_),
        classifier_("classifier", Dense(config_, config_.hidden, config_.classes)) {
    AddChild(&bert_);
    AddChild(&classifier_);
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return ClassifierInputs(rows, seq, /*token_types=*/true);
  }
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    FillClassifier(host, config_.vocab, config_.classes, random);
  }

  at::Tensor Logits(const Batch& batch) override {
    outputs_ = bert_.Forward(batch, layer_runner, inputs_require_grad);
    pooled_ = Dropout(outputs_.pooled, config_.classifier_dropout);
    return classifier_.Forward(pooled_);
  }
  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    at::Tensor loss = ClassifierLoss(logits, batch["labels"]);
    outputs_ = {};  // locals of the function that also computes the loss
    pooled_.reset();
    return loss;
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = bert_.Layers()}};
  }

 private:
  const Config config_;
  Bert bert_;
  Linear classifier_;
  Bert::Outputs outputs_;
  at::Tensor pooled_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Config> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<BertClassifier>(*config);
}

}  // namespace

Family DeclareFamily_bert() {
  return {{.id = "bert",
           .title = "BERT, sequence classification",
           .architectures = {"BertForSequenceClassification"},
           .model_types = {"bert"},
           .inputs = "token ids, token types, mask [batch, seq] and classes [batch], no padding",
           .batch = 16,
           .seq = 128,
           .lora = {{"query, value", {"query", "value"}},
                    {"query, key, value", {"query", "key", "value"}},
                    {"all linear", {"query", "key", "value", "dense"}}}},
          &Make};
}

}  // namespace vramscope::trainer
