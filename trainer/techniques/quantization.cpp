// Freezes linear layers in 4 or 8 bits, as from_pretrained does with bitsandbytes: load_in_4bit
// (NF4 with doubly quantized scales) or load_in_8bit (LLM.int8). PEFT's adapters have the layer's
// type. Preparation casts the remaining 16-bit parameters to fp32 before adapters are created, like
// PEFT's prepare_model_for_kbit_training.
#include <ATen/DeviceAccelerator.h>
#include <torch/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/models/layers.h"
#include "trainer/techniques/quantised_weight.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// The output layer is not quantized, because it may share the embedding's weight.
bool IsKept(const std::string& path) {
  const std::string first = path.substr(0, path.find('.'));
  return first == "lm_head" || first == "classifier";
}

class Quantization final : public Technique {
 public:
  Quantization(bool four_bits, bool prepares, bool computes)
      : four_bits_(four_bits), prepares_(prepares), computes_(computes) {}

  absl::Status OnModel(Model& model) override {
    model.Visit([&](Module& module, const std::string& path) {
      auto* linear = dynamic_cast<Linear*>(&module);
      if (linear == nullptr || IsKept(path)) return;
      Replace(*linear);
      // Linear4bit casts its bias back to the compute type in its first forward.
      if (four_bits_) narrow_.insert(path + ".bias");
    });
    if (weights_.empty()) {
      return absl::InvalidArgumentError(
          "quantization: this model has no linear layer; set quantization=none");
    }
    for (Parameter* parameter : model.Parameters()) {
      const bool adapter = parameter->name().find(".lora.") != std::string::npos;
      parameter->trainable = parameter->trainable && adapter;
    }
    return absl::OkStatus();
  }
  void AfterLoad(const RunContext& run, Model& model) override {
    if (!prepares_) return;
    at::NoGradGuard no_grad;
    for (Parameter* parameter : model.Parameters()) {
      // PEFT creates adapters only after the preparation.
      const bool adapter =
          parameter->trainable || parameter->name().find(".lora.") != std::string::npos;
      if (adapter || narrow_.contains(parameter->name()) ||
          !c10::isReducedFloatingType(parameter->tensor.scalar_type()))
        continue;
      OwnerScope owner(parameter->name());
      CategoryScope category(trace::Category::kParameter);
      at::Tensor cast = parameter->tensor.to(at::kFloat);
      TagStorage(cast, trace::Category::kParameter, "parameter");
      parameter->tensor = std::move(cast);
    }
    if (!run.device.is_cpu()) at::accelerator::emptyCache();  // PEFT's auto_clear_cache
  }
  void AfterRun() override {
    for (const auto& weight : weights_) weight->Release();
  }

 private:
  void Replace(Linear& linear) {
    auto weight = four_bits_ ? MakeNf4Weight(table_, linear.outputs(), linear.inputs(), computes_)
                             : MakeInt8Weight(linear.outputs(), linear.inputs(), computes_);
    weights_.push_back(weight);
    const int64_t count = linear.outputs() * linear.inputs();
    const bool transposed = linear.transposed();
    linear.weight()->Store(weight->stored(), count, [weight, transposed](const at::Tensor& wide) {
      return weight->Keep(transposed ? wide.t().contiguous() : wide);
    });
    linear.SetBase(
        [weight](const at::Tensor& x, const at::Tensor& bias) { return weight->Product(x, bias); },
        /*copies=*/four_bits_);
  }

  bool four_bits_, prepares_, computes_;
  std::shared_ptr<ScaleTable> table_ = std::make_shared<ScaleTable>();
  std::vector<c10::intrusive_ptr<QuantisedWeight>> weights_;
  std::set<std::string> narrow_;  // parameters that preparation leaves in 16 bits
};

// Declares blocks as modelled: the outputs of bitsandbytes' kernels, in every category.
std::vector<run::ModelledBlocks> Modelled() {
  const std::vector<std::string> of_four = {
      "bitsandbytes::quantize_4bit", "bitsandbytes::quantize_blockwise",
      "bitsandbytes::dequantize_4bit", "bitsandbytes::dequantize_blockwise"};
  const std::vector<std::string> of_eight = {"bitsandbytes::int8_vectorwise_quant",
                                             "bitsandbytes::int8_linear_matmul",
                                             "bitsandbytes::int8_mm_dequant"};
  std::vector<run::ModelledBlocks> out;
  for (const char* category : {"Parameter", "Buffer", "Activation", "Temporary"}) {
    out.push_back({.assumed = 0, .category = category, .ops = of_four});
    out.push_back({.assumed = 1, .category = category, .ops = of_eight});
  }
  return out;
}

}  // namespace

TechniqueEntry DeclareTechnique_quantization() {
  return {
      .declaration =
          {.id = "quantization",
           .group = "Parameters",
           .title = "Quantised base weights",
           .explanation =
               "Frozen linear layers need half a byte (NF4) or one byte (int8) per weight. NF4 "
               "weights are dequantized temporarily for each matrix multiplication. int8 weights "
               "are "
               "dequantized only in backward, and int8 layers keep quantized inputs. Embeddings, "
               "norms and the output layer keep their type, unless prepare_kbit_training=true "
               "casts them to "
               "fp32, like PEFT's prepare_model_for_kbit_training. The cast needs 2 more bytes for "
               "each of these weights, and makes hidden states fp32.",
           .settings = {{.key = "quantization",
                         .help = "frozen linear layers in nf4 (QLoRA) or int8",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""}, {"int8", ""}, {"nf4", ""}}},
                        {.key = "prepare_kbit_training",
                         .help = "cast unquantized 16-bit weights to fp32, like PEFT's "
                                 "prepare_model_for_kbit_training; with precision=amp-*, these "
                                 "weights are already fp32",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}},
                         .label = "prepare_model_for_kbit_training"}},
           .toggles = {{.id = "nf4",
                        .title = "4-bit base weights",
                        .explanation = "NF4, as in QLoRA: with adapters or for inference",
                        .on = {{"quantization", true, {"nf4"}}},
                        .ways = {{{"quantization", "nf4"}}},
                        .controls = {"prepare_kbit_training"}},
                       {.id = "int8-weights",
                        .title = "8-bit base weights",
                        .explanation = "one byte per weight, and a scale per row",
                        .on = {{"quantization", true, {"int8"}}},
                        .ways = {{{"quantization", "int8"}}},
                        .controls = {"prepare_kbit_training"}}},
           .rules = {{.when = {{"quantization", true, {"nf4", "int8"}},
                               {"lora.rank", true, {"0"}},
                               {"mode", true, {"train"}}},
                      .why = "4-bit and 8-bit weights (quantization) can't be trained; set "
                             "lora.rank to train adapters, or set mode=inference",
                      .instead = {{"lora.rank", "8"}}},
                     {.when = {{"quantization", true, {"nf4", "int8"}},
                               {"model.linear_layers", true, {"none"}}},
                      .why = "{model} has no linear layers to quantize",
                      .instead = {{"quantization", "none"}}},
                     {.when = {{"prepare_kbit_training", true, {"true"}},
                               {"quantization", true, {"nf4", "int8"}},
                               {"precision", true, {"bf16", "fp16"}},
                               {"attention", true, {"flash", "flash-2", "cudnn"}}},
                      .why =
                          "prepare_kbit_training=true makes hidden states fp32, and this attention "
                          "does not accept fp32: use attention=efficient, or precision=amp-*",
                      .instead = {{"attention", "efficient"}}}},
           .assumes =
               {{.when = {{"quantization", true, {"nf4"}}},
                 .what = "bitsandbytes' 4-bit kernels are modelled: a matrix product allocates the "
                         "scales in fp32 and a copy of its weight in the input's type. It does so "
                         "even for few tokens, where newer versions need no copy"},
                {.when = {{"quantization", true, {"int8"}}},
                 .what = "bitsandbytes' LLM.int8 is modelled without outliers (activations of 6 or "
                         "more). Columns with outliers would also be multiplied in 16 bits"}}},
      .fit = {{.row = "nf4", .changes = run::Changes::kTraining},
              {.row = "int8-weights", .changes = run::Changes::kTraining}},
      .modelled = Modelled(),
      // Quantization precedes LoRA, which adds adapters to the existing layers.
      .order = 39,
      .place = 46,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("quantization", "none")) return nullptr;
        return std::make_unique<Quantization>(config.Is("quantization", "nf4"),
                                              config.Is("prepare_kbit_training", "true"),
                                              config.backend != run::Backend::kPlan);
      }};
}

}  // namespace vramscope::trainer
