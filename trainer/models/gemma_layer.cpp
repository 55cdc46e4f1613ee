#include "trainer/models/gemma_layer.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "profiler/run/rotary_decoder.h"
#include "trainer/models/causal_model.h"

namespace vramscope::trainer {
namespace {

// Returns two tensors that the layer's Python frame keeps: a mask that also hides all positions
// before the window, and the flags of these positions.
std::pair<at::Tensor, at::Tensor> WithWindow(const at::Tensor& mask, int64_t window) {
  at::Tensor behind = at::tril(at::ones_like(mask, mask.options().dtype(at::kBool)), -window);
  const at::Tensor cut = at::where(behind, LowestFinite(mask.scalar_type()), mask);
  return {cut.slice(-1, 0, std::max(mask.size(-1), window)), std::move(behind)};
}

}  // namespace

absl::Status ReadGemma(const nlohmann::json& object, GemmaConfig& c) {
  c.tie_embeddings = true;
  c.activation = run::Activation::kGeluTanh;
  c.mask_by_triangle = c.mask_always = true;
  c.mask_extra_columns = 0;
  c.norm_scale = RmsNorm::Scale::kOnePlusWeight;
  if (absl::Status status =
          run::ReadRotaryDecoder(object,
                                 {.activation = "hidden_activation",
                                  .needs_kv_heads = true,
                                  .own = {"attn_logit_softcapping", "final_logit_softcapping"}},
                                 c);
      !status.ok()) {
    return status;
  }
  run::ConfigReader reader(object);
  c.qkv_bias = c.output_bias = reader.Bool("attention_bias", false);
  c.sliding_window = reader.Integer({"sliding_window"}, 1, run::kMaxPositions, c.sliding_window);
  c.attention_scale = 1 / std::sqrt(reader.Number("query_pre_attn_scalar", 1e-6, 1e9, 256));
  const auto cap = [&](const char* key, double fallback) {
    const auto stated = object.find(key);
    if (stated != object.end() && stated->is_null()) return 0.0;
    return reader.Number(key, 1e-6, 1e9, fallback);
  };
  c.attention_cap = cap("attn_logit_softcapping", c.attention_cap);
  c.logits_cap = cap("final_logit_softcapping", c.logits_cap);
  return reader.status();
}

std::unique_ptr<Model> MakeGemma(const GemmaConfig& config, const ModelOptions& options) {
  return std::make_unique<CausalModel<RotaryDecoder<GemmaLayer>>>(
      config, options, CausalHead{.cap = config.logits_cap});
}

run::FamilyDeclaration::Limit GemmaAttention() {
  return {"attention",
          {"eager", "math", "efficient"},
          "every layer has an attention mask, which flash kernels do not accept: use "
          "attention=efficient, which does not keep scores either"};
}

GemmaLayer::GemmaLayer(std::string name, const GemmaConfig& c, const ModelOptions& o,
                       int64_t number)
    : Module(std::move(name)),
      window_((number + 1) % c.window_pattern != 0 ? c.sliding_window : 0),
      attention_(c, o),
      mlp_(c, o),
      input_norm_("input_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale),
      attended_norm_("post_attention_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale),
      feed_norm_("pre_feedforward_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale),
      fed_norm_("post_feedforward_layernorm", c.hidden_size, c.norm_eps, o.dtype, c.norm_scale) {
  AddChild(&attention_);
  AddChild(&mlp_);
  for (RmsNorm* norm : {&input_norm_, &attended_norm_, &feed_norm_, &fed_norm_}) AddChild(norm);
}

at::Tensor GemmaLayer::Forward(const at::Tensor& input, const DecoderPass& pass) {
  ModuleScope scope(name());
  at::Tensor mask = pass.mask, behind;
  if (window_ > 0) std::tie(mask, behind) = WithWindow(pass.mask, window_);
  const bool local = window_ > 0 && pass.local_cos.defined();
  at::Tensor residual = input;
  at::Tensor hidden = input_norm_.Forward(input);
  // The attention weights live until the layer returns. When backward runs this part again, the new
  // weights are discarded.
  const auto weights = std::make_shared<at::Tensor>();
  hidden = RunPart(
      Part::kAttention, hidden,
      [this, mask, cos = local ? pass.local_cos : pass.cos, sin = local ? pass.local_sin : pass.sin,
       wanted = std::weak_ptr(weights)](const at::Tensor& in) {
        auto [output, w] = attention_.Forward(in, mask, cos, sin);
        if (const auto named = wanted.lock()) *named = std::move(w);
        return output;
      });
  hidden = attended_norm_.Forward(hidden);
  hidden = residual + hidden;
  residual = hidden;
  hidden = feed_norm_.Forward(hidden);
  at::Tensor kept;
  hidden = mlp_.Run(hidden, kept);
  hidden = fed_norm_.Forward(hidden);
  at::Tensor result = residual + hidden;
  for (at::Tensor* frame : {&hidden, &mask, &behind, &residual, weights.get()}) frame->reset();
  return result;
}

}  // namespace vramscope::trainer
