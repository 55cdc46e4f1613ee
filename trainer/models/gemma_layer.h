// The layer of Gemma 2 and 3: norms before and after each part. Some layers have a window, and each
// of these applies its window to the mask itself.
//
//   GemmaLayer layer("layers.0", config, options, /*number=*/0);
//
// Not thread-safe; see module.h.
#pragma once

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include <memory>
#include <string>

#include "profiler/run/config_reader.h"
#include "profiler/run/family.h"
#include "trainer/models/decoder.h"

namespace vramscope::trainer {

struct GemmaConfig : DecoderConfig {
  int64_t window_pattern = 2;  // every window_pattern-th layer has no window
  double logits_cap = 0;
};

// Reads the keys that Gemma 2 and 3 have in common. `config` must contain the class's defaults.
absl::Status ReadGemma(const nlohmann::json& object, GemmaConfig& config);
std::unique_ptr<Model> MakeGemma(const GemmaConfig& config, const ModelOptions& options);
// Returns the limit for Gemma 2 and 3: only attention implementations that accept a mask.
run::FamilyDeclaration::Limit GemmaAttention();

class GemmaLayer : public Module {
 public:
  using Config = GemmaConfig;
  GemmaLayer(std::string name, const GemmaConfig& config, const ModelOptions& options,
             int64_t number);
  std::string kind() const override { return window_ > 0 ? "window" : ""; }
  at::Tensor Forward(const at::Tensor& input, const DecoderPass& pass);

 private:
  int64_t window_;  // 0: none
  SelfAttention attention_;
  GatedMlp mlp_;
  RmsNorm input_norm_, attended_norm_, feed_norm_, fed_norm_;
};

}  // namespace vramscope::trainer
