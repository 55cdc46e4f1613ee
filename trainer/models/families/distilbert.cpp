// DistilBERT as a sequence classifier: learned positions, post-norm layers, a head over the first
// token. Mirrors Hugging Face transformers 4.51: models/distilbert/modeling_distilbert.py,
// attn_implementation "eager" or "sdpa", with the attention mask of sequences without padding.
#include <torch/types.h>

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

namespace vramscope::trainer::distilbert {
namespace {

constexpr double kEps = 1e-12;

struct Config {
  int64_t vocab = 0, width = 0, layers = 0, heads = 0, inner = 0, positions = 0, classes = 2;
  double dropout = 0, attention_dropout = 0, classifier_dropout = 0, range = 0.02;
  bool eager = true;
  at::ScalarType dtype = at::kFloat;
};

absl::StatusOr<Config> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  Config c;
  c.vocab = reader.Integer({"vocab_size"}, 2, run::kMaxVocabulary, int64_t{30522});
  c.width = reader.Integer({"dim", "hidden_size"}, 1, run::kMaxHidden, int64_t{768});
  c.layers = reader.Integer({"n_layers", "num_hidden_layers"}, 1, run::kMaxLayers, int64_t{6});
  c.heads = reader.Integer({"n_heads", "num_attention_heads"}, 1, run::kMaxHeads, int64_t{12});
  c.inner = reader.Integer({"hidden_dim"}, 1, run::kMaxIntermediate, int64_t{3072});
  c.positions = reader.Integer({"max_position_embeddings"}, 1, 1 << 20, int64_t{512});
  c.classes = reader.Classes();
  c.dropout = reader.Number("dropout", 0, 0.999, 0.1);
  c.attention_dropout = reader.Number("attention_dropout", 0, 0.999, 0.1);
  c.classifier_dropout = reader.Number("seq_classif_dropout", 0, 0.999, 0.2);
  c.range = reader.Number("initializer_range", 0, 10, 0.02);
  reader.Only("activation", "gelu");
  if (!reader.status().ok()) return reader.status();
  if (c.width % c.heads != 0) {
    reader.Fail("dim " + std::to_string(c.width) + " is not a multiple of n_heads " +
                std::to_string(c.heads));
  }
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
        words_("word_embeddings", c.vocab, c.width, c.dtype, c.range),
        positions_("position_embeddings", c.positions, c.width, c.dtype, c.range),
        norm_("LayerNorm", c.width, kEps, c.dtype) {
    AddChild(&words_);
    AddChild(&positions_);
    AddChild(&norm_);
    const int64_t n = c.positions;
    position_ids_ =
        AddBuffer({.name = "position_ids", .shape = {1, n}, .dtype = at::kLong, .value = [n] {
                     return at::arange(n, at::kLong).unsqueeze(0);
                   }});
  }

  at::Tensor Forward(const at::Tensor& ids, bool require_grad) {
    ModuleScope scope(name());
    at::Tensor words = words_.Forward(ids);
    if (require_grad) words.requires_grad_(true);
    at::Tensor positions = positions_.Forward(position_ids_->tensor.slice(1, 0, ids.size(1)));
    at::Tensor embeddings = words + positions;
    embeddings = norm_.Forward(embeddings);
    embeddings = Dropout(embeddings, dropout_);
    words.reset();
    positions.reset();
    return embeddings;
  }

 private:
  double dropout_;
  Embedding words_, positions_;
  LayerNorm norm_;
  Buffer* position_ids_;
};

class Attention : public Module {
 public:
  explicit Attention(const Config& c)
      : Module("attention"),
        config_(c),
        q_("q_lin", Dense(c, c.width, c.width)),
        k_("k_lin", Dense(c, c.width, c.width)),
        v_("v_lin", Dense(c, c.width, c.width)),
        out_("out_lin", Dense(c, c.width, c.width)) {
    for (Linear* projection : {&q_, &k_, &v_, &out_}) AddChild(projection);
  }

  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const int64_t batch = x.size(0), width = config_.width / config_.heads;
    const auto heads = [&](Linear& projection) {
      return projection.Forward(x).view({batch, -1, config_.heads, width}).transpose(1, 2);
    };
    const auto together = [&](const at::Tensor& heads_apart) {
      return heads_apart.transpose(1, 2).contiguous().view({batch, -1, config_.width});
    };
    at::Tensor query = heads(q_);
    at::Tensor key = heads(k_);
    at::Tensor value = heads(v_);
    at::Tensor scores, hidden, weights, context;
    if (config_.eager) {
      query = query / std::sqrt(static_cast<double>(width));
      scores = at::matmul(query, key.transpose(2, 3));
      hidden = (mask == 0).view({batch, 1, 1, key.size(2)}).expand_as(scores);
      // As in the original, the value to fill in is a scalar tensor on the host.
      scores = scores.masked_fill(
          hidden, at::scalar_tensor(LowestFinite(scores.scalar_type()), at::kFloat));
      weights = at::softmax(scores, -1);
      weights = Dropout(weights, config_.attention_dropout);
      context = at::matmul(weights, value);
    } else {
      context = at::scaled_dot_product_attention(query, key, value, {},
                                                 DropoutNow(config_.attention_dropout), false);
    }
    context = together(context);
    context = out_.Forward(context);
    for (at::Tensor* local : {&query, &key, &value, &scores, &hidden, &weights}) local->reset();
    return context;
  }

 private:
  const Config& config_;
  Linear q_, k_, v_, out_;
};

class Mlp : public Module {
 public:
  explicit Mlp(const Config& c)
      : Module("ffn"),
        dropout_(c.dropout),
        up_("lin1", Dense(c, c.width, c.inner)),
        down_("lin2", Dense(c, c.inner, c.width)) {
    AddChild(&up_);
    AddChild(&down_);
  }
  at::Tensor Forward(const at::Tensor& input) {
    ModuleScope scope(name());
    at::Tensor x = up_.Forward(input);
    {
      ModuleScope inner("activation");
      x = at::gelu(x);
    }
    x = down_.Forward(x);
    x = Dropout(x, dropout_);
    return x;
  }

 private:
  double dropout_;
  Linear up_, down_;
};

class Layer : public Module {
 public:
  Layer(std::string name, const Config& c)
      : Module(std::move(name)),
        attention_(c),
        norm1_("sa_layer_norm", c.width, kEps, c.dtype),
        mlp_(c),
        norm2_("output_layer_norm", c.width, kEps, c.dtype) {
    AddChild(&attention_);
    AddChild(&norm1_);
    AddChild(&mlp_);
    AddChild(&norm2_);
  }
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    at::Tensor attended = attention_.Forward(x, mask);
    attended = norm1_.Forward(attended + x);
    at::Tensor output = mlp_.Forward(attended);
    output = norm2_.Forward(output + attended);
    attended.reset();
    return output;
  }

 private:
  Attention attention_;
  LayerNorm norm1_;
  Mlp mlp_;
  LayerNorm norm2_;
};

// "distilbert": everything below the head.
class Trunk : public Module {
 public:
  explicit Trunk(const Config& c) : Module("distilbert"), config_(c), embeddings_(c) {
    AddChild(&embeddings_);
    for (int64_t i = 0; i < c.layers; ++i) {
      layers_.push_back(std::make_unique<Layer>("transformer.layer." + std::to_string(i), c));
      AddChild(layers_.back().get());
    }
  }

  at::Tensor Forward(const Batch& batch, const LayerRunner& runner, bool require_grad) {
    ModuleScope scope(name());
    const at::Tensor embeddings = embeddings_.Forward(batch["input_ids"], require_grad);
    const at::Tensor& mask = batch["attention_mask"];
    if (!config_.eager) at::all(mask == 1);  // the original checks the mask, too
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (auto& layer : layers_) {
      functions.push_back([layer = layer.get()](const at::Tensor& x, Carried& arguments) {
        return layer->Forward(x, arguments.front());
      });
    }
    return RunLayers(runner, embeddings, functions, name(), {config_.eager ? mask : at::Tensor()});
  }
  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }

 private:
  const Config& config_;
  Embeddings embeddings_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

class DistilBertClassifier : public Model {
 public:
  explicit DistilBertClassifier(const Config& config)
      : Model(""),
        config_(config),
        trunk_(config_),
        pre_classifier_("pre_classifier", Dense(config_, config_.width, config_.width)),
        classifier_("classifier", Dense(config_, config_.width, config_.classes)) {
    AddChild(&trunk_);
    AddChild(&pre_classifier_);
    AddChild(&classifier_);
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    return ClassifierInputs(rows, seq, /*token_types=*/false);
  }
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    FillClassifier(host, config_.vocab, config_.classes, random);
  }

  at::Tensor Logits(const Batch& batch) override {
    hidden_ = trunk_.Forward(batch, layer_runner, inputs_require_grad);
    pooled_ = pre_classifier_.Forward(hidden_.select(1, 0));
    pooled_ = at::relu(pooled_);
    pooled_ = Dropout(pooled_, config_.classifier_dropout);
    return classifier_.Forward(pooled_);
  }
  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    at::Tensor loss = ClassifierLoss(logits, batch["labels"]);
    hidden_.reset();  // kept until the loss is computed, as in the original
    pooled_.reset();
    return loss;
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "transformer", .layers = trunk_.Layers()}};
  }

 private:
  const Config config_;
  Trunk trunk_;
  Linear pre_classifier_, classifier_;
  at::Tensor hidden_, pooled_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Config> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<DistilBertClassifier>(*config);
}

}  // namespace

Family Declare() {
  return {{.id = "distilbert",
           .title = "DistilBERT, sequence classification",
           .architectures = {"DistilBertForSequenceClassification"},
           .model_types = {"distilbert"},
           .inputs = "token ids and mask [batch, seq], classes [batch], no padding",
           .batch = 16,
           .seq = 128,
           .lora = {{"q, v", {"q_lin", "v_lin"}},
                    {"attention", {"q_lin", "k_lin", "v_lin", "out_lin"}},
                    {"all linear", {"q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2"}}}},
          &Make};
}

}  // namespace vramscope::trainer::distilbert
