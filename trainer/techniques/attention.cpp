// The model's implementation of attention: elementary operators, or one implementation of
// scaled_dot_product_attention.
#include <torch/types.h>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer::attention_technique {
namespace {

AttentionKind KindOf(const run::RunConfig& config) {
  const std::string& name = config.Get("attention");
  if (name == "math") return AttentionKind::kMath;
  if (name == "efficient") return AttentionKind::kEfficient;
  if (name == "flash") return AttentionKind::kFlash;
  if (name == "flash-2") return AttentionKind::kFlash2;
  if (name == "cudnn") return AttentionKind::kCudnn;
  return AttentionKind::kEager;
}

// Sets the allowed implementations of SDPA while the object exists.
class SdpaScope final : public Held {
 public:
  explicit SdpaScope(AttentionKind kind) {
    auto& context = at::globalContext();
    flash_ = context.userEnabledFlashSDP();
    efficient_ = context.userEnabledMemEfficientSDP();
    math_ = context.userEnabledMathSDP();
    cudnn_ = context.userEnabledCuDNNSDP();
    Set(kind == AttentionKind::kFlash, kind == AttentionKind::kEfficient,
        kind == AttentionKind::kMath, kind == AttentionKind::kCudnn);
  }
  ~SdpaScope() override { Set(flash_, efficient_, math_, cudnn_); }

 private:
  static void Set(bool flash, bool efficient, bool math, bool cudnn) {
    auto& context = at::globalContext();
    context.setSDPUseFlash(flash);
    context.setSDPUseMemEfficient(efficient);
    context.setSDPUseMath(math);
    context.setSDPUseCuDNN(cudnn);
  }
  bool flash_, efficient_, math_, cudnn_;
};

class Attention final : public Technique {
 public:
  explicit Attention(AttentionKind kind) : kind_(kind) {}
  void OnOptions(ModelOptions& options) override { options.attention = kind_; }
  std::unique_ptr<Held> AroundRun(const RunContext&) override {
    return std::make_unique<SdpaScope>(kind_);
  }

 private:
  AttentionKind kind_;
};

run::Toggle Row(std::string id, std::string title, std::string explanation,
                const std::string& kind) {
  return {.id = std::move(id),
          .title = std::move(title),
          .explanation = std::move(explanation),
          .on = {{"attention", true, {kind}}},
          .ways = {{{"attention", kind}}}};
}

}  // namespace

TechniqueEntry DeclareTechnique_attention() {
  return {
      .declaration =
          {.id = "attention",
           .group = "Attention",
           .title = "Attention",
           .explanation = "Explicit attention keeps a tokens x tokens matrix of scores for each "
                          "head. A fused kernel keeps only its output and one number per row, and "
                          "recomputes the scores in backward.",
           .settings =
               {{.key = "attention",
                 .help = "\"eager\" computes explicit scores. \"math\", \"efficient\", \"flash\" "
                         "and \"cudnn\" are implementations of SDPA. \"flash-2\" uses the "
                         "flash-attn package, which does not expand key and value heads",
                 .kind = run::ValueKind::kChoice,
                 .default_value = "eager",
                 .choices = {{"eager", ""},
                             {"math", ""},
                             {"efficient", ""},
                             {"flash", ""},
                             {"flash-2", "FlashAttention-2's package"},
                             {"cudnn", ""}}}},
           .toggles = {Row("flash", "Flash attention", "no T\u00d7T score matrices", "flash"),
                       Row("flash-2", "FlashAttention-2", "does not expand key and value heads",
                           "flash-2"),
                       Row("efficient", "Memory-efficient attention",
                           "no score matrices, also with fp32", "efficient"),
                       Row("sdpa-math", "SDPA, math", "one call, but the scores still need memory",
                           "math"),
                       Row("cudnn-attention", "cuDNN attention",
                           "no score matrices, with cuDNN's kernels", "cudnn")},
           .rules =
               {{.when = {{"attention", true, {"flash-2"}}, {"precision", true, {"fp32"}}},
                 .why = "attention=flash-2 needs a 16-bit precision: set precision to bf16, fp16, "
                        "amp-bf16 or amp-fp16, or set attention to efficient or math",
                 .instead = {{"attention", "efficient"}}},
                {.when = {{"attention", true, {"flash-2"}}, {"model.family", false, {"llama"}}},
                 .why = "attention=flash-2 is only supported for the Llama family: set "
                        "attention=flash",
                 .instead = {{"attention", "flash"}}},
                {.when = {{"attention", true, {"flash"}},
                          {"precision", true, {"fp32"}},
                          {"backend", false, {"cpu"}}},
                 .why = "attention=flash needs a 16-bit precision: set precision to bf16, fp16, "
                        "amp-bf16 or amp-fp16, or set attention to efficient or math",
                 .instead = {{"attention", "efficient"}}},
                {.when = {{"attention", true, {"cudnn"}}, {"precision", true, {"fp32"}}},
                 .why = "attention=cudnn needs a 16-bit precision: set precision to bf16, fp16, "
                        "amp-bf16 or amp-fp16",
                 .instead = {{"attention", "efficient"}}},
                {.when = {{"attention", true, {"efficient", "cudnn", "flash-2"}},
                          {"backend", true, {"cpu"}}},
                 .why = "attention=efficient, flash-2 and cudnn have no CPU implementation: use "
                        "eager, math "
                        "or flash"}}},
      .fit = {{.row = "flash"}, {.row = "efficient"}},
      .order = 20,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        return std::make_unique<Attention>(KindOf(config));
      }};
}

}  // namespace vramscope::trainer::attention_technique
