#include "profiler/run/model_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/base/i18n.h"
#include "profiler/run/messages.h"

namespace vramscope::run {
namespace {

using nlohmann::json;

// Keys that ParseModelConfig() reads, or that do not affect the memory of a training step.
constexpr std::string_view kKnown[] = {"_attn_implementation",
                                       "_name_or_path",
                                       "activation_function",
                                       "add_cross_attention",
                                       "architectures",
                                       "attention_bias",
                                       "attention_dropout",
                                       "attn_implementation",
                                       "attn_pdrop",
                                       "auto_map",
                                       "begin_suppress_tokens",
                                       "bos_token_id",
                                       "context_length",
                                       "do_sample",
                                       "dtype",
                                       "embd_pdrop",
                                       "eos_token_id",
                                       "finetuning_task",
                                       "head_dim",
                                       "hidden_act",
                                       "hidden_size",
                                       "id2label",
                                       "initializer_range",
                                       "intermediate_size",
                                       "is_decoder",
                                       "label2id",
                                       "layer_norm_epsilon",
                                       "max_length",
                                       "max_position_embeddings",
                                       "max_window_layers",
                                       "mlp_bias",
                                       "model_type",
                                       "n_ctx",
                                       "n_embd",
                                       "n_head",
                                       "n_inner",
                                       "n_layer",
                                       "n_positions",
                                       "num_attention_heads",
                                       "num_hidden_layers",
                                       "num_key_value_heads",
                                       "pad_token_id",
                                       "predict_special_tokens",
                                       "problem_type",
                                       "reorder_and_upcast_attn",
                                       "resid_pdrop",
                                       "return_dict",
                                       "rms_norm_eps",
                                       "rope_parameters",
                                       "rope_scaling",
                                       "rope_theta",
                                       "scale_attn_by_inverse_layer_idx",
                                       "scale_attn_weights",
                                       "sliding_window",
                                       "summary_activation",
                                       "summary_first_dropout",
                                       "summary_proj_to_labels",
                                       "summary_type",
                                       "summary_use_proj",
                                       "task_specific_params",
                                       "tie_word_embeddings",
                                       "tokenizer_class",
                                       "torch_dtype",
                                       "transformers_version",
                                       "unk_token_id",
                                       "use_cache",
                                       "use_sliding_window",
                                       "vocab_size",
                                       "vramscope_defaults"};

// A feature is not used if its key is null, false, 0, or an empty text, list or object.
bool IsUsed(const json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  return !value.empty();
}
bool IsMoreThanOne(const json& value) {
  return value.is_number() ? value.get<double>() > 1 : IsUsed(value);
}
bool IsNotOne(const json& value) { return value.is_number() && value.get<double>() != 1; }

struct Refused {
  std::string_view key;
  bool (*says)(const json&);
  std::string_view what;
};
constexpr std::string_view kExperts = TEXT_MARK("a mixture of experts is not supported");
constexpr std::string_view kLatent = TEXT_MARK("latent attention is not supported");
constexpr std::string_view kParts =
    TEXT_MARK("a model of several parts is not supported; use the config.json of its text model");
constexpr Refused kRefused[] = {
    {"quantization_config", IsUsed,
     TEXT_MARK("a quantized checkpoint (4 or 8 bits) is not supported; remove this key to plan the "
               "model unquantized")},
    {"compression_config", IsUsed,
     TEXT_MARK("a compressed checkpoint is not supported; remove this key to plan the model "
               "uncompressed")},
    {"num_experts", IsMoreThanOne, kExperts},
    {"num_local_experts", IsMoreThanOne, kExperts},
    {"n_routed_experts", IsMoreThanOne, kExperts},
    {"moe_num_experts", IsMoreThanOne, kExperts},
    {"kv_lora_rank", IsUsed, kLatent},
    {"q_lora_rank", IsUsed, kLatent},
    {"text_config", IsUsed, kParts},
    {"vision_config", IsUsed, kParts},
    {"audio_config", IsUsed, kParts},
    {"is_encoder_decoder", IsUsed,
     TEXT_MARK("this model family is supported only without an encoder")},
    {"pretraining_tp", IsMoreThanOne,
     TEXT_MARK("sliced projections are not supported; set pretraining_tp to 1")},
    {"partial_rotary_factor", IsNotOne,
     TEXT_MARK(
         "rotary positions on only a part of each head are not supported for this model family")},
    {"num_nextn_predict_layers", IsUsed,
     TEXT_MARK("layers for multi-token prediction are not supported")},
    {"attn_logit_softcapping", IsUsed, TEXT_MARK("capped attention scores are not supported")},
    {"final_logit_softcapping", IsUsed, TEXT_MARK("capped logits are not supported")},
};

// A key that a plan ignores, although its feature may need memory. `what`: the plan's assumption.
struct Ignored {
  std::string_view key, what;
};
constexpr Ignored kIgnored[] = {
    {"gradient_checkpointing",
     TEXT_MARK("ignored; the run's setting checkpointing.mode decides what is recomputed")},
    {"output_attentions", TEXT_MARK("ignored; a plan does not keep the attention weights of all "
                                    "layers as outputs of the model")},
    {"output_hidden_states",
     TEXT_MARK(
         "ignored; a plan does not keep the hidden states of all layers as outputs of the model")},
};

}  // namespace

absl::Status RefuseOtherModels(const json& object, std::span<const std::string_view> own) {
  for (const Refused& refused : kRefused) {
    const auto found = object.find(refused.key);
    if (found == object.end() || !refused.says(*found)) continue;
    if (std::ranges::find(own, refused.key) != own.end()) continue;
    return absl::InvalidArgumentError(
        i18n::Format("config.json: {} is set: {}", refused.key, i18n::Text(refused.what)));
  }
  return absl::OkStatus();
}

absl::Status TakeOtherKeys(const json& object, ModelConfig& config) {
  if (absl::Status status = RefuseOtherModels(object); !status.ok()) return status;
  if (const auto kinds = object.find("layer_types"); kinds != object.end() && kinds->is_array()) {
    for (const json& entry : *kinds) {
      const std::string kind =
          entry.is_string() ? entry.get<std::string>() : entry.dump().substr(0, 100);
      if (kind == "full_attention") continue;
      if (kind == "sliding_attention" && config.sliding_window > 0) continue;
      return absl::InvalidArgumentError(
          i18n::Format("config.json: layer_types contains {}, but only full_attention and (if "
                       "sliding_window is set) sliding_attention are supported",
                       Quoted(kind)));
    }
  }
  for (const auto& [key, value] : object.items()) {
    const auto is_it = [&key = key](const auto& row) { return row.key == key; };
    const auto* ignored = std::ranges::find_if(kIgnored, is_it);
    if (ignored != std::end(kIgnored)) {
      if (IsUsed(value)) config.ignored.push_back(fmt::format("{}: {}", key, ignored->what));
    } else if (key != "layer_types" && std::ranges::none_of(kRefused, is_it) &&
               std::ranges::find(kKnown, key) == std::end(kKnown)) {
      config.unknown.push_back(key);
    }
  }
  return absl::OkStatus();
}

}  // namespace vramscope::run
