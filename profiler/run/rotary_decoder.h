// What the config.json files of decoders with rotary positions have in common: read once, for every
// family of them.
//
//   ModelConfig config;
//   config.norm_eps = 1e-5;                       // the class's defaults, where the file is silent
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
  bool needs_kv_heads = false;  // else as many as heads
  // Keys that the family reads itself and that make it another model elsewhere.
  std::vector<std::string_view> own = {};
};

// `config` comes with the class's defaults (head_dim 0: hidden_size / heads). kInvalidArgument as
// ParseModelConfig().
absl::Status ReadRotaryDecoder(const nlohmann::json& object, const RotaryDecoderKeys& keys,
                               ModelConfig& config);

// How much of a head is turned: partial_rotary_factor of it, an even number.
int64_t RotaryWidth(ConfigReader& reader, int64_t head_dim, double fallback);

absl::StatusOr<Activation> ActivationOf(const std::string& name, const char* key);

}  // namespace vramscope::run
