// Frozen linear layers in 4 or 8 bits, as bitsandbytes' Linear4bit (NF4 in blocks of 64 with doubly
// quantised scales) and torchao's int8 weight-only linears. A copy in the type of the input is made
// for each product, in forward and again in backward.
#include <torch/custom_class.h>
#include <torch/torch.h>

#include <memory>

#include "trainer/capture/scopes.h"
#include "trainer/models/layers.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kBlock = 64;        // weights that share a scale
constexpr int64_t kScaleBlock = 256;  // scales that share a scale of theirs

// The quantiles of a normal distribution that four bits stand for (Dettmers et al. 2023, QLoRA,
// appendix E).
constexpr float kNormalFloat[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491748f,
                                    -0.28444138f, -0.18477343f, -0.09105003f, 0.0f,
                                    0.07958029f,  0.16093020f,  0.24611230f,  0.33791524f,
                                    0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

// What stands in place of a weight [rows, columns].
struct Quantised : torch::CustomClassHolder {
  int64_t rows = 0, columns = 0;
  std::shared_ptr<Parameter> bytes;
  // NF4: a byte for each block's scale, scales of these, both tables, their mean. int8: a scale for
  // each row.
  Buffer* scales = nullptr;
  Buffer* scales_of_scales = nullptr;
  Buffer* table = nullptr;
  Buffer* scale_table = nullptr;
  Buffer* offset = nullptr;
  at::Tensor bias;  // of the layer, frozen; undefined: none
  bool computes = false;
  bool four_bits = true;

  // [rows, columns] in `type`.
  at::Tensor Wide(at::ScalarType type) const {
    at::NoGradGuard no_grad;
    const at::Tensor& stored = bytes->tensor;
    if (!four_bits) return stored.to(type);
    const auto device = stored.options();
    at::Tensor scale = at::empty(scales->tensor.sizes(), device.dtype(at::kFloat));
    if (!computes) {  // two kernels, one after the other
      at::Tensor wide = at::empty({rows, columns}, device.dtype(type));
      return wide;
    }
    scale.copy_(scales->tensor.to(at::kFloat).div_(255));
    const at::Tensor pair =
        at::stack({stored.flatten().bitwise_right_shift(4), stored.flatten().bitwise_and(15)}, 1);
    at::Tensor values = table->tensor.index({pair.flatten().to(at::kLong)}).view({-1, kBlock});
    return (values * scale.unsqueeze(1)).mul_(0.05).view({rows, columns}).to(type);
  }
};

// y = x W^T with W made for the call; the graph keeps what W is made from.
struct QuantisedLinear : torch::autograd::Function<QuantisedLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const c10::intrusive_ptr<Quantised>& weight) {
    context->saved_data["weight"] = c10::IValue::make_capsule(weight);
    context->saved_data["type"] = static_cast<int64_t>(x.scalar_type());
    const at::Tensor wide = weight->Wide(x.scalar_type());
    return weight->bias.defined() ? at::linear(x, wide, weight->bias.to(x.scalar_type()))
                                  : at::linear(x, wide);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto weight =
        c10::static_intrusive_pointer_cast<Quantised>(context->saved_data["weight"].toCapsule());
    const auto type = static_cast<at::ScalarType>(context->saved_data["type"].toInt());
    return {at::matmul(gradients[0].to(type), weight->Wide(type)), at::Tensor()};
  }
};

Buffer Made(std::string name, std::vector<int64_t> shape, at::ScalarType type,
            std::function<at::Tensor()> value) {
  return {
      .name = std::move(name), .shape = std::move(shape), .dtype = type, .value = std::move(value)};
}

class Quantization final : public Technique {
 public:
  explicit Quantization(bool four_bits, bool computes)
      : four_bits_(four_bits), computes_(computes) {}

  absl::Status OnModel(Model& model) override {
    int changed = 0;
    model.Visit([&](Module& module, const std::string&) {
      auto* linear = dynamic_cast<Linear*>(&module);
      // The output layer stays as it is: it may be the embedding's weight.
      if (linear == nullptr || linear->name() == "lm_head") return;
      Replace(*linear);
      ++changed;
    });
    if (changed == 0) {
      return absl::InvalidArgumentError(
          "quantization: this model has no linear layer; set quantization=none");
    }
    for (Parameter* parameter : model.Parameters()) {
      const bool adapter = parameter->name().find(".lora.") != std::string::npos;
      parameter->trainable = parameter->trainable && adapter;
    }
    return absl::OkStatus();
  }

 private:
  void Replace(Linear& linear) {
    auto weight = c10::make_intrusive<Quantised>();
    weight->rows = linear.outputs();
    weight->columns = linear.inputs();
    weight->bytes = linear.weight();
    weight->computes = computes_;
    weight->four_bits = four_bits_;
    const int64_t count = weight->rows * weight->columns;
    if (four_bits_) {
      const int64_t blocks = (count + kBlock - 1) / kBlock;
      const int64_t groups = (blocks + kScaleBlock - 1) / kScaleBlock;
      linear.weight()->Store({.shape = {(count + 1) / 2, 1}, .dtype = at::kByte}, count);
      weight->scales = linear.AddState(Made("absmax", {blocks}, at::kByte, [blocks] {
        return at::full({blocks}, 255, at::TensorOptions().dtype(at::kByte));
      }));
      weight->table = linear.AddState(Made("code", {16}, at::kFloat, [] {
        return at::from_blob(const_cast<float*>(kNormalFloat), {16}).clone();
      }));
      weight->scales_of_scales = linear.AddState(
          Made("absmax.absmax", {groups}, at::kFloat, [groups] { return at::ones({groups}); }));
      weight->scale_table =
          linear.AddState(Made("absmax.code", {256}, at::kFloat, [] { return at::ones({256}); }));
      weight->offset =
          linear.AddState(Made("offset", {}, at::kFloat, [] { return at::zeros({}); }));
    } else {
      linear.weight()->Store({.shape = {weight->rows, weight->columns}, .dtype = at::kChar}, count);
      weight->scales = linear.AddState(Made("scale", {weight->rows}, at::kFloat, [weight] {
        return at::full({weight->rows}, 0.05 / 127);
      }));
    }
    linear.SetBase([weight](const at::Tensor& x, const at::Tensor& bias) {
      // Scales of 8 bits belong to rows: they and the bias go over the product.
      if (weight->four_bits) {
        weight->bias = bias;
        at::Tensor out = QuantisedLinear::apply(x, weight);
        weight->bias.reset();
        return out;
      }
      at::Tensor product = QuantisedLinear::apply(x, weight);
      at::Tensor scaled = product * weight->scales->tensor.to(product.scalar_type());
      product.reset();
      return bias.defined() ? scaled + bias.to(scaled.scalar_type()) : scaled;
    });
  }

  bool four_bits_, computes_;
};

}  // namespace

TechniqueEntry DeclareTechnique_quantization() {
  return {
      .declaration =
          {.id = "quantization",
           .group = "Parameters",
           .title = "Quantised base weights",
           .explanation =
               "Frozen linear layers take half a byte (NF4) or a byte a weight; for each product "
               "a copy in 16 or 32 bits is made and let go. Embeddings, norms and the output layer "
               "stay.",
           .settings = {{.key = "quantization",
                         .help = "frozen linear layers in nf4 (QLoRA) or int8",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"int8", ""}, {"nf4", ""}}}},
           .toggles = {{.id = "nf4",
                        .title = "4-bit base weights",
                        .explanation = "NF4, as QLoRA: with adapters, or to infer",
                        .on = {{"quantization", true, {"nf4"}}},
                        .ways = {{{"quantization", "nf4"}}}},
                       {.id = "int8-weights",
                        .title = "8-bit base weights",
                        .explanation = "a byte a weight, a scale a row",
                        .on = {{"quantization", true, {"int8"}}},
                        .ways = {{{"quantization", "int8"}}}}},
           .rules = {{.when = {{"quantization", true, {"nf4", "int8"}},
                               {"lora.rank", true, {"0"}},
                               {"mode", true, {"train"}}},
                      .why =
                          "quantization: weights of 4 or 8 bits can't be trained; set lora.rank, "
                          "or mode=inference",
                      .instead = {{"lora.rank", "8"}}},
                     {.when = {{"quantization", true, {"nf4", "int8"}},
                               {"model.linear_layers", true, {"none"}}},
                      .why = "{model} has no linear layers to quantise",
                      .instead = {{"quantization", "none"}}}},
           .assumes =
               {{.when = {{"quantization", true, {"nf4"}}},
                 .what = "bitsandbytes' 4-bit kernels are modelled: a product asks for the scales "
                         "in fp32 and for a copy of its weight in the input's type, and for "
                         "nothing else"},
                {.when = {{"quantization", true, {"int8"}}},
                 .what = "torchao's weight-only int8 linear is modelled: a product asks for a copy "
                         "of its weight in the input's type, and scales what comes out"}}},
      // Before LoRA, which puts adapters beside what is there then.
      .order = 39,
      .place = 46,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("quantization", "none")) return nullptr;
        return std::make_unique<Quantization>(config.Is("quantization", "nf4"),
                                              config.backend != run::Backend::kPlan);
      }};
}

}  // namespace vramscope::trainer
