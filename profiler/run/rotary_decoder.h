// Reads the common part of the config.json files of decoders with rotary positions. All families of
// such decoders use this reader.
//
//   ModelConfig config;
//   config.norm_eps = 1e-5;   // transformers' default for the family
//   RETURN_IF_ERROR(ReadRotaryDecoder(object, {.own = {"num_local_experts"}}, config));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/config_reader.h"
#include "profiler/run/model_config.h"

namespace vramscope::run {

struct RotaryDecoderKeys {
  const char* norm_eps = "rms_norm_eps";
  const char* activation = "hidden_act";
  // Whether num_key_value_heads is required; if not, it defaults to the number of heads.
  bool needs_kv_heads = false;
  // Keys that the family itself reads. In other families, a model with such a key is not supported.
  std::vector<std::string_view> own = {};
};

// On entry, `config` must have the defaults of the family's config class in transformers; head_dim
// 0 means hidden_size / heads. kInvalidArgument: as in ParseModelConfig().
absl::Status ReadRotaryDecoder(const nlohmann::json& object, const RotaryDecoderKeys& keys,
                               ModelConfig& config);

// Returns the width of a head's rotated part: partial_rotary_factor x head_dim, an even number.
int64_t RotaryWidth(ConfigReader& reader, int64_t head_dim, double fallback);

absl::StatusOr<Activation> ActivationOf(const std::string& name, const char* key);

}  // namespace vramscope::run
