// BERT as a sequence classifier: learned positions and token types, post-norm layers, a pooler over
// the first token. Mirrors Hugging Face transformers 4.51: models/bert/modeling_bert.py,
// attn_implementation "eager" or "sdpa", with the attention mask of sequences without padding.
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "trainer/models/bert_parts.h"
#include "trainer/models/family.h"
#include "trainer/models/tokens.h"

namespace vramscope::trainer::bert {
namespace {

absl::StatusOr<EncoderConfig> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  EncoderConfig c;
  c.vocab = 30522;
  c.positions = 512;
  reader.Only("hidden_act", "gelu");
  if (absl::Status status = ReadEncoder(reader, options, c); !status.ok()) return status;
  return c;
}

class Embeddings : public Module {
 public:
  explicit Embeddings(const EncoderConfig& c)
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
    // The token types of batches that have none.
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

class Attention : public Module {
 public:
  explicit Attention(const EncoderConfig& c) : Module("attention"), self_(c), output_(c, c.hidden) {
    AddChild(&self_);
    AddChild(&output_);
  }
  at::Tensor Forward(const at::Tensor& x, const at::Tensor& mask) {
    ModuleScope scope(name());
    const at::Tensor context = self_.Forward(x, mask);
    return output_.Forward(context, x);
  }

 private:
  FullAttention self_;
  ResidualOutput output_;
};

class Layer : public Module {
 public:
  Layer(std::string name, const EncoderConfig& c)
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
  ResidualOutput output_;
};

class Encoder : public Module {
 public:
  explicit Encoder(const EncoderConfig& c) : Module("encoder") {
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
      functions.push_back([layer = layer.get()](const at::Tensor& x, Carried& arguments) {
        return layer->Forward(x, arguments.front());
      });
    }
    return RunLayers(runner, embeddings, functions, "bert.encoder", {mask});
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
  explicit Pooler(const EncoderConfig& c)
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
  explicit Bert(const EncoderConfig& c)
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
  // Returns the additive mask [batch, 1, 1, seq], which is all zeros. For SDPA, it is undefined,
  // because transformers checks the given mask and then drops it.
  at::Tensor Mask(const at::Tensor& given) const {
    if (!config_.eager) {
      at::all(given == 1);
      return {};
    }
    return AdditiveMask(given, config_.dtype);
  }

  const EncoderConfig& config_;
  Embeddings embeddings_;
  Encoder encoder_;
  Pooler pooler_;
};

class BertClassifier : public Model {
 public:
  explicit BertClassifier(const EncoderConfig& config)
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
    outputs_ = {};  // kept until the loss is computed, as in the original
    pooled_.reset();
    return loss;
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = bert_.Layers()}};
  }

 private:
  const EncoderConfig config_;
  Bert bert_;
  Linear classifier_;
  Bert::Outputs outputs_;
  at::Tensor pooled_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<EncoderConfig> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<BertClassifier>(*config);
}

}  // namespace

Family Declare() {
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

}  // namespace vramscope::trainer::bert
