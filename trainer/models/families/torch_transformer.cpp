// torch.nn.Transformer on float inputs: post-norm encoder and decoder layers, made of
// nn.MultiheadAttention and a ReLU MLP, and a norm after each stack. Targets are dense. The loss is
// the cross entropy over dimension 1, as in nn.CrossEntropyLoss. Mirrors torch 2.11:
// nn/modules/transformer.py.
//
// config.json: nn.Transformer's own argument names under "model_type": "torch_transformer".
// "transposed": the model gets inputs [batch, seq, d_model] and transposes them, instead of the
// class's [seq, batch, d_model]. "adapter": {"placement", "rank", "scale"}: only adapters are
// trained, either "embedded" in every decoder layer, or "decoupled" in a separate tower that reads
// the decoder's outputs.
#include <torch/types.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/models/family.h"
#include "trainer/models/layer_adapter.h"
#include "trainer/models/layers.h"
#include "trainer/models/multihead_attention.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer::torch_transformer {
namespace {

enum class Placement : uint8_t { kNone, kEmbedded, kDecoupled };

struct Config {
  int64_t width = 0, heads = 0, encoder_layers = 0, decoder_layers = 0, inner = 0;
  double dropout = 0.1, eps = 1e-5;
  bool transposed = false;
  Placement placement = Placement::kNone;
  int64_t rank = 0;
  double scale = 1;
  at::ScalarType dtype = at::kFloat;
};

absl::StatusOr<Config> Read(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  Config c;
  c.width = reader.Integer({"d_model"}, 1, run::kMaxHidden, int64_t{512});
  c.heads = reader.Integer({"nhead"}, 1, run::kMaxHeads, int64_t{8});
  c.encoder_layers = reader.Integer({"num_encoder_layers"}, 1, run::kMaxLayers, int64_t{6});
  c.decoder_layers = reader.Integer({"num_decoder_layers"}, 1, run::kMaxLayers, int64_t{6});
  c.inner = reader.Integer({"dim_feedforward"}, 1, run::kMaxIntermediate, int64_t{2048});
  c.dropout = reader.Number("dropout", 0, 0.999, 0.1);
  c.eps = reader.Number("layer_norm_eps", 0, 1, 1e-5);
  c.transposed = reader.Bool("transposed", false);
  reader.Only("activation", "relu");
  if (!reader.status().ok()) return reader.status();
  if (c.width % c.heads != 0) {
    reader.Fail("d_model " + std::to_string(c.width) + " is not a multiple of nhead " +
                std::to_string(c.heads));
  }
  if (reader.Bool("norm_first", false)) reader.Fail("norm_first = true is not supported");
  if (!reader.status().ok()) return reader.status();
  if (const auto adapter = object->find("adapter");
      adapter != object->end() && !adapter->is_null()) {
    if (!adapter->is_object()) return run::InvalidModelConfig("adapter is not an object");
    run::ConfigReader inner(*adapter, "adapter.");
    const std::string placement = inner.String("placement", "");
    c.rank = inner.Integer({"rank"}, 1, c.width);
    c.scale = inner.Number("scale", -1e6, 1e6, 1);
    if (!inner.status().ok()) return inner.status();
    if (placement != "embedded" && placement != "decoupled") {
      return run::InvalidModelConfig("adapter.placement must be embedded or decoupled");
    }
    c.placement = placement == "embedded" ? Placement::kEmbedded : Placement::kDecoupled;
  }
  c.dtype = options.dtype;
  return c;
}

at::Tensor Dropout(const char* name, const at::Tensor& x, double p) {
  ModuleScope scope(name);
  return at::dropout(x, p, Training());
}

Linear::Options Dense(const Config& c, int64_t inputs, int64_t outputs) {
  return {.inputs = inputs,
          .outputs = outputs,
          .bias = true,
          .dtype = c.dtype,
          .standard_deviation = std::sqrt(2.0 / static_cast<double>(inputs + outputs))};
}

MultiheadAttention::Options Heads(const Config& c) {
  return {.width = c.width, .heads = c.heads, .dropout = c.dropout, .dtype = c.dtype};
}

// A layer of the encoder or the decoder. In the decoder, it also attends to the encoder's output.
class Layer : public Module {
 public:
  Layer(std::string name, const Config& c, bool decoder)
      : Module(std::move(name)),
        dropout_(c.dropout),
        decoder_(decoder),
        self_("self_attn", Heads(c)),
        cross_("multihead_attn", Heads(c)),
        up_("linear1", Dense(c, c.width, c.inner)),
        down_("linear2", Dense(c, c.inner, c.width)),
        norm1_("norm1", c.width, c.eps, c.dtype),
        norm2_("norm2", c.width, c.eps, c.dtype),
        norm3_("norm3", c.width, c.eps, c.dtype) {
    AddChild(&self_);
    if (decoder) AddChild(&cross_);
    AddChild(&up_);
    AddChild(&down_);
    AddChild(&norm1_);
    AddChild(&norm2_);
    if (decoder) AddChild(&norm3_);
  }

  at::Tensor Forward(const at::Tensor& input, const at::Tensor& memory) {
    ModuleScope scope(name());
    at::Tensor x = Add(norm1_, input, [&](const at::Tensor& h) {
      return Dropout("dropout1", self_.Forward(h, h), dropout_);
    });
    if (decoder_) {
      x = Add(norm2_, x, [&](const at::Tensor& h) {
        return Dropout("dropout2", cross_.Forward(h, memory), dropout_);
      });
    }
    x = Add(decoder_ ? norm3_ : norm2_, x, [&](const at::Tensor& h) { return FeedForward(h); });
    return x;
  }

 private:
  template <class Block>
  static at::Tensor Add(LayerNorm& norm, const at::Tensor& x, const Block& block) {
    at::Tensor made = block(x);
    at::Tensor sum = x + made;
    made.reset();
    return norm.Forward(sum);
  }
  at::Tensor FeedForward(const at::Tensor& x) {
    at::Tensor hidden = up_.Forward(x);
    hidden = at::relu(hidden);
    hidden = Dropout("dropout", hidden, dropout_);
    hidden = down_.Forward(hidden);
    return Dropout(decoder_ ? "dropout3" : "dropout2", hidden, dropout_);
  }

  double dropout_;
  bool decoder_;
  MultiheadAttention self_, cross_;
  Linear up_, down_;
  LayerNorm norm1_, norm2_, norm3_;
};

enum : size_t { kMemory, kTower };  // indexes into the tensors that the decoder's layers carry

class LayersAndNorm : public Module {
 public:
  LayersAndNorm(std::string name, const Config& c, bool decoder)
      : Module(std::move(name)), norm_("norm", c.width, c.eps, c.dtype) {
    const bool adapted = decoder && c.placement != Placement::kNone;
    embedded_ = c.placement == Placement::kEmbedded;
    for (int64_t i = 0; i < (decoder ? c.decoder_layers : c.encoder_layers); ++i) {
      const std::string number = std::to_string(i);
      layers_.push_back(std::make_unique<Layer>("layers." + number, c, decoder));
      AddChild(layers_.back().get());
      if (!adapted) continue;
      adapters_.push_back(std::make_unique<LayerAdapter>(
          "adapters." + number,
          LayerAdapterOptions{
              .width = c.width, .rank = c.rank, .scale = c.scale, .dtype = c.dtype}));
      AddChild(adapters_.back().get());
    }
    AddChild(&norm_);
  }

  at::Tensor Forward(const at::Tensor& input, const at::Tensor& memory, const LayerRunner& runner) {
    ModuleScope scope(name());
    std::vector<LayerFunction> functions;
    functions.reserve(layers_.size());
    for (size_t i = 0; i < layers_.size(); ++i) {
      Layer* layer = layers_[i].get();
      LayerAdapter* adapter = adapters_.empty() ? nullptr : adapters_[i].get();
      functions.push_back(
          [layer, adapter, embedded = embedded_](const at::Tensor& x, Carried& carried) {
            if (adapter == nullptr) return layer->Forward(x, carried[kMemory]);
            if (!embedded) {
              at::Tensor out = layer->Forward(x, carried[kMemory]);
              at::Tensor& tower = carried[kTower];
              tower = adapter->Forward(tower.defined() ? out + tower : out);
              return out;
            }
            at::Tensor beside = adapter->Forward(x);
            at::Tensor out = layer->Forward(x, carried[kMemory]);
            return beside + out;
          });
    }
    Carried carried{memory, at::Tensor()};
    at::Tensor hidden = input;
    if (runner) {
      hidden = runner(std::move(hidden), functions, name(), carried);
    } else {
      for (const LayerFunction& function : functions) hidden = function(hidden, carried);
    }
    hidden = norm_.Forward(hidden);
    return carried[kTower].defined() ? hidden + carried[kTower] : hidden;
  }

  std::vector<Module*> All() {
    std::vector<Module*> out;
    for (auto& layer : layers_) out.push_back(layer.get());
    return out;
  }
  std::vector<Module*> Adapters() {
    std::vector<Module*> out;
    for (auto& adapter : adapters_) out.push_back(adapter.get());
    return out;
  }

 private:
  bool embedded_ = false;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::unique_ptr<LayerAdapter>> adapters_;
  LayerNorm norm_;
};

class TorchTransformer : public Model {
 public:
  explicit TorchTransformer(const Config& config)
      : Model(""),
        config_(config),
        encoder_("encoder", config_, false),
        decoder_("decoder", config_, true) {
    AddChild(&encoder_);
    AddChild(&decoder_);
    if (config_.placement == Placement::kNone) return;
    for (Parameter* parameter : Parameters()) parameter->trainable = false;
    for (Module* adapter : decoder_.Adapters()) {
      for (Parameter* parameter : adapter->Parameters()) parameter->trainable = true;
    }
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t seq) const override {
    const std::vector<int64_t> shape = config_.transposed
                                           ? std::vector<int64_t>{rows, seq, config_.width}
                                           : std::vector<int64_t>{seq, rows, config_.width};
    return {{.name = "src", .shape = shape, .dtype = config_.dtype},
            {.name = "tgt", .shape = shape, .dtype = config_.dtype},
            {.name = "labels", .shape = shape, .dtype = config_.dtype}};
  }
  // Makes a task that can be learned: the labels are the softmax of the targets.
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    const int64_t samples = config_.transposed ? 0 : 1;  // dimension of the samples
    for (int64_t row = 0; row < host[0].size(samples); ++row) {
      at::Generator generator = at::detail::createCPUGenerator(random());
      host[0].select(samples, row).normal_(0, 1, generator);
      host[1].select(samples, row).uniform_(0, 1, generator);
    }
    host[2].copy_(at::softmax(host[1].to(at::kFloat) * 4, 1));
  }

  at::Tensor Logits(const Batch& batch) override {
    const auto turned = [&](const at::Tensor& x) {
      return config_.transposed ? x.transpose(0, 1) : x;
    };
    at::Tensor src = turned(batch["src"]), tgt = turned(batch["tgt"]);
    // A re-entrant checkpoint whose input requires no gradient would give its weights no gradients.
    if (inputs_require_grad && Training()) {
      src = src.detach().requires_grad_(true);
      tgt = tgt.detach().requires_grad_(true);
    }
    const at::Tensor memory = encoder_.Forward(src, {}, layer_runner);
    return turned(decoder_.Forward(tgt, memory, layer_runner));
  }
  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    return at::cross_entropy_loss(logits, batch["labels"]);
  }
  bool embeds() const override { return false; }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = encoder_.All()},
            {.name = "decoder", .layers = decoder_.All()}};
  }

 private:
  const Config config_;
  LayersAndNorm encoder_, decoder_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Config> config = Read(json, options);
  if (!config.ok()) return config.status();
  return std::make_unique<TorchTransformer>(*config);
}

}  // namespace

Family Declare() {
  return {{.id = "torch_transformer",
           .title = "torch.nn.Transformer",
           .model_types = {"torch_transformer"},
           .inputs = "float source, target and labels [seq, batch, d_model]",
           .batch = 1024,
           .seq = 1,
           .lora = {{"MLP", {"linear1", "linear2"}}},
           .limits = {{"attention",
                       {"math", "efficient", "flash"},
                       "nn.MultiheadAttention uses scaled_dot_product_attention"}}},
          &Make};
}

}  // namespace vramscope::trainer::torch_transformer
