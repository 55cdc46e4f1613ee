// torchvision's VisionTransformer: patches made by a convolution, a class token, learned positions,
// pre-norm blocks (nn.MultiheadAttention and a GELU MLP), and a linear head over the class token.
// Mirrors torchvision 0.26: models/vision_transformer.py. Two additional options serve designs
// without a class token: "class_token": false and "pool": "mean".
//
// config.json: torchvision's own argument names, under "model_type": "vision_transformer";
// image_size is a number or [height, width].
#include <torch/types.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"
#include "trainer/models/family.h"
#include "trainer/models/layers.h"
#include "trainer/models/multihead_attention.h"
#include "trainer/models/parts.h"
#include "trainer/models/training_mode.h"

namespace vramscope::trainer::vit {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kMaxImage = 1 << 14;
constexpr int64_t kMaxClasses = 10'000'000;

struct Config {
  int64_t height = 0, width = 0, patch = 0;
  int64_t layers = 0, heads = 0, hidden = 0, mlp = 0, classes = 0;
  double dropout = 0, attention_dropout = 0;
  bool class_token = true;
  bool mean = false;  // pool over all tokens instead of the class token

  int64_t patches() const { return (height / patch) * (width / patch); }
  int64_t tokens() const { return patches() + (class_token ? 1 : 0); }
};

absl::StatusOr<Config> Read(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(json);
  if (!object.ok()) return object.status();
  run::ConfigReader reader(*object);
  Config c;
  const auto size = object->find("image_size");
  if (size != object->end() && size->is_array()) {
    const nlohmann::json sides = {{"height", size->empty() ? nlohmann::json() : size->front()},
                                  {"width", size->size() == 2 ? size->back() : nlohmann::json()}};
    run::ConfigReader sides_reader(sides, "image_size.");
    c.height = sides_reader.Integer({"height"}, 1, kMaxImage);
    c.width = sides_reader.Integer({"width"}, 1, kMaxImage);
    if (!sides_reader.status().ok()) return sides_reader.status();
  } else {
    c.height = c.width = reader.Integer({"image_size"}, 1, kMaxImage);
  }
  c.patch = reader.Integer({"patch_size"}, 1, kMaxImage);
  c.layers = reader.Integer({"num_layers"}, 1, run::kMaxLayers);
  c.heads = reader.Integer({"num_heads"}, 1, run::kMaxHeads);
  c.hidden = reader.Integer({"hidden_dim"}, 1, run::kMaxHidden);
  c.mlp = reader.Integer({"mlp_dim"}, 1, run::kMaxIntermediate);
  c.classes = reader.Integer({"num_classes"}, 1, kMaxClasses, int64_t{1000});
  c.dropout = reader.Number("dropout", 0, 0.999, 0);
  c.attention_dropout = reader.Number("attention_dropout", 0, 0.999, 0);
  c.class_token = reader.Bool("class_token", true);
  const std::string pool = reader.String("pool", c.class_token ? "class" : "mean");
  c.mean = pool == "mean";
  if (!reader.status().ok()) return reader.status();
  if (pool != "mean" && pool != "class") reader.Fail("pool must be \"class\" or \"mean\"");
  if (!c.mean && !c.class_token) reader.Fail("pool \"class\" needs class_token true");
  if (c.height % c.patch != 0 || c.width % c.patch != 0) {
    reader.Fail("image_size is not a multiple of patch_size " + std::to_string(c.patch));
  }
  if (c.hidden % c.heads != 0) {
    reader.Fail("hidden_dim " + std::to_string(c.hidden) + " is not a multiple of num_heads " +
                std::to_string(c.heads));
  }
  if (!reader.status().ok()) return reader.status();
  return c;
}

double Xavier(int64_t inputs, int64_t outputs) {
  return std::sqrt(2.0 / static_cast<double>(inputs + outputs));
}

at::Tensor Dropout(const char* name, const at::Tensor& x, double p) {
  ModuleScope scope(name);
  return at::dropout(x, p, Training());
}

class Mlp : public Module {
 public:
  Mlp(const Config& c, at::ScalarType dtype)
      : Module("mlp"),
        dropout_(c.dropout),
        up_("0", {.inputs = c.hidden,
                  .outputs = c.mlp,
                  .bias = true,
                  .dtype = dtype,
                  .standard_deviation = Xavier(c.hidden, c.mlp)}),
        down_("3", {.inputs = c.mlp,
                    .outputs = c.hidden,
                    .bias = true,
                    .dtype = dtype,
                    .standard_deviation = Xavier(c.hidden, c.mlp)}) {
    AddChild(&up_);
    AddChild(&down_);
  }

  at::Tensor Forward(const at::Tensor& input) {
    ModuleScope scope(name());
    at::Tensor x = up_.Forward(input);
    {
      ModuleScope inner("1");
      x = at::gelu(x);
    }
    x = Dropout("2", x, dropout_);
    x = down_.Forward(x);
    x = Dropout("4", x, dropout_);
    return x;
  }

 private:
  double dropout_;
  Linear up_, down_;
};

class Block : public Module {
 public:
  Block(std::string name, const Config& c, at::ScalarType dtype)
      : Module(std::move(name)),
        dropout_(c.dropout),
        norm1_("ln_1", c.hidden, 1e-6, dtype),
        attention_("self_attention", {.width = c.hidden,
                                      .heads = c.heads,
                                      .dropout = c.attention_dropout,
                                      .batch_first = true,
                                      .dtype = dtype}),
        norm2_("ln_2", c.hidden, 1e-6, dtype),
        mlp_(c, dtype) {
    AddChild(&norm1_);
    AddChild(&attention_);
    AddChild(&norm2_);
    AddChild(&mlp_);
  }

  at::Tensor Forward(const at::Tensor& input) {
    ModuleScope scope(name());
    at::Tensor x = norm1_.Forward(input);
    x = RunPart(Part::kAttention, x,
                [this](const at::Tensor& in) { return attention_.Forward(in, in); });
    x = Dropout("dropout", x, dropout_);
    x = x + input;
    at::Tensor y = norm2_.Forward(x);
    y = RunPart(Part::kFeedForward, y, [this](const at::Tensor& in) { return mlp_.Forward(in); });
    at::Tensor result = x + y;
    x.reset();
    y.reset();
    return result;
  }

 private:
  double dropout_;
  LayerNorm norm1_;
  MultiheadAttention attention_;
  LayerNorm norm2_;
  Mlp mlp_;
};

class Encoder : public Module {
 public:
  Encoder(const Config& c, at::ScalarType dtype)
      : Module("encoder"), dropout_(c.dropout), norm_("ln", c.hidden, 1e-6, dtype) {
    positions_ =
        AddParameter("pos_embedding", {.shape = {1, c.tokens(), c.hidden}, .dtype = dtype});
    for (int64_t i = 0; i < c.layers; ++i) {
      blocks_.push_back(
          std::make_unique<Block>("layers.encoder_layer_" + std::to_string(i), c, dtype));
      AddChild(blocks_.back().get());
    }
    AddChild(&norm_);
  }

  at::Tensor Forward(const at::Tensor& tokens, const LayerRunner& runner, bool require_grad) {
    ModuleScope scope(name());
    at::Tensor input = tokens + positions_->tensor;
    if (require_grad) input.requires_grad_(true);
    std::vector<LayerFunction> functions;
    functions.reserve(blocks_.size());
    for (auto& block : blocks_) {
      functions.push_back(
          [block = block.get()](const at::Tensor& x, Carried&) { return block->Forward(x); });
    }
    at::Tensor hidden = RunLayers(runner, Dropout("dropout", input, dropout_), functions, name());
    at::Tensor result = norm_.Forward(hidden);
    hidden.reset();
    input.reset();
    return result;
  }

  std::vector<Module*> Layers() {
    std::vector<Module*> out;
    for (auto& block : blocks_) out.push_back(block.get());
    return out;
  }

 private:
  double dropout_;
  std::shared_ptr<Parameter> positions_;
  std::vector<std::unique_ptr<Block>> blocks_;
  LayerNorm norm_;
};

class Patches : public Module {
 public:
  Patches(const Config& c, at::ScalarType dtype) : Module("conv_proj"), patch_(c.patch) {
    const double fan_in = static_cast<double>(kChannels * c.patch * c.patch);
    weight_ = AddParameter("weight", {.shape = {c.hidden, kChannels, c.patch, c.patch},
                                      .dtype = dtype,
                                      .standard_deviation = std::sqrt(1 / fan_in)});
    bias_ = AddParameter("bias", {.shape = {c.hidden}, .dtype = dtype, .init = Init::kZeros});
  }
  at::Tensor Forward(const at::Tensor& pixels) {
    ModuleScope scope(name());
    return at::conv2d(pixels, weight_->tensor, bias_->tensor, {patch_, patch_});
  }

 private:
  int64_t patch_;
  std::shared_ptr<Parameter> weight_, bias_;
};

// As in torchvision, the initial weight and bias are zero.
class Heads : public Module {
 public:
  Heads(const Config& c, at::ScalarType dtype)
      : Module("heads"),
        head_("head", {.inputs = c.hidden,
                       .outputs = c.classes,
                       .bias = true,
                       .dtype = dtype,
                       .standard_deviation = 0}) {
    AddChild(&head_);
  }
  at::Tensor Forward(const at::Tensor& x) {
    ModuleScope scope(name());
    return head_.Forward(x);
  }

 private:
  Linear head_;
};

class VisionTransformer : public Model {
 public:
  VisionTransformer(const Config& c, at::ScalarType dtype)
      : Model(""),
        config_(c),
        dtype_(dtype),
        patches_(c, dtype),
        encoder_(c, dtype),
        heads_(c, dtype) {
    if (c.class_token) {
      class_token_ = AddParameter(
          "class_token", {.shape = {1, 1, c.hidden}, .dtype = dtype, .init = Init::kZeros});
    }
    AddChild(&patches_);
    AddChild(&encoder_);
    AddChild(&heads_);
  }

  std::vector<InputSpec> Inputs(int64_t rows, int64_t) const override {
    return {{.name = "pixels",
             .shape = {rows, kChannels, config_.height, config_.width},
             .dtype = dtype_},
            {.name = "labels", .shape = {rows}}};
  }

  // All images of a class have the same brightness, which differs between classes.
  void FillInputs(std::span<at::Tensor> host, std::mt19937_64& random) const override {
    const int64_t classes = std::min<int64_t>(config_.classes, 4);
    auto* label = host[1].mutable_data_ptr<int64_t>();
    for (int64_t row = 0; row < host[1].numel(); ++row) {
      label[row] = static_cast<int64_t>(random() % static_cast<uint64_t>(classes));
      host[0][row].fill_(static_cast<double>(label[row]) - 1.5);
    }
  }

  at::Tensor Logits(const Batch& batch) override {
    at::Tensor x = patches_.Forward(batch["pixels"]);
    const int64_t rows = x.size(0);
    x = x.reshape({rows, config_.hidden, config_.patches()}).permute({0, 2, 1});
    if (class_token_) x = at::cat({class_token_->tensor.expand({rows, -1, -1}), x}, 1);
    x = encoder_.Forward(x, layer_runner, inputs_require_grad);
    x = config_.mean ? x.mean(1) : x.select(1, 0);
    x = heads_.Forward(x);
    return x;
  }

  at::Tensor Loss(const at::Tensor& logits, const Batch& batch) override {
    return at::cross_entropy_loss(logits, batch["labels"]);
  }

  std::vector<LayerStack> Stacks() override {
    return {{.name = "encoder", .layers = encoder_.Layers()}};
  }

 private:
  const Config config_;
  at::ScalarType dtype_;
  std::shared_ptr<Parameter> class_token_;
  Patches patches_;
  Encoder encoder_;
  Heads heads_;
};

absl::StatusOr<std::unique_ptr<Model>> Make(std::string_view json, const ModelOptions& options) {
  const absl::StatusOr<Config> config = Read(json);
  if (!config.ok()) return config.status();
  return std::make_unique<VisionTransformer>(*config, options.dtype);
}

}  // namespace

Family Declare() {
  return {{.id = "vit",
           .title = "Vision Transformer (torchvision)",
           .architectures = {"VisionTransformer"},
           .model_types = {"vision_transformer"},
           .inputs = "images [batch, 3, height, width] and classes [batch]",
           .batch = 16,
           .lora = {{"MLP", {"mlp.0", "mlp.3"}}},
           .limits = {{"attention",
                       {"math", "efficient", "flash"},
                       "nn.MultiheadAttention uses scaled_dot_product_attention"},
                      {"seq", {}, "the patches of an image are its sequence"}}},
          &Make};
}

}  // namespace vramscope::trainer::vit
