// Small models and runs for the trainer's tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/trace.h"
#include "trainer/trainer.h"

namespace vramscope::trainer {

inline const char kTinyQwen[] = R"({
  "architectures": ["Qwen2ForCausalLM"], "vocab_size": 96, "hidden_size": 32,
  "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
  "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "tie_word_embeddings": true})";

inline const char kTinyLlama[] = R"({
  "architectures": ["LlamaForCausalLM"], "vocab_size": 96, "hidden_size": 32, "head_dim": 16,
  "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                   "high_freq_factor": 4.0, "original_max_position_embeddings": 64}})";

inline const char kTinyMistral[] = R"({
  "architectures": ["MistralForCausalLM"], "vocab_size": 96, "hidden_size": 32,
  "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "sliding_window": 8})";

inline const char kTinyGpt2[] = R"({
  "architectures": ["GPT2LMHeadModel"], "vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4,
  "n_positions": 32, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "attn_pdrop": 0.0})";

inline const char kTinyGpt2Dropout[] = R"({
  "architectures": ["GPT2LMHeadModel"], "vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4,
  "n_positions": 32})";

inline const char kTinyT5[] = R"({
  "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "vocab_size": 96,
  "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2, "dropout_rate": 0.0})";

inline const char kTinyBert[] = R"({
  "architectures": ["BertForSequenceClassification"], "model_type": "bert", "vocab_size": 96,
  "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
  "max_position_embeddings": 32, "type_vocab_size": 2, "hidden_dropout_prob": 0.0,
  "attention_probs_dropout_prob": 0.0})";

inline const char kTinyVit[] = R"({
  "model_type": "vision_transformer", "image_size": 8, "patch_size": 4, "num_layers": 3,
  "num_heads": 2, "hidden_dim": 16, "mlp_dim": 32, "num_classes": 10})";

inline run::RunConfig TinyConfig(run::Backend backend, const char* model) {
  run::RunConfig config;
  config.backend = backend;
  config.model = "tiny";
  config.model_config_json = model;
  config.batch = 4;
  config.seq = 16;
  config.steps = 3;
  config.Set("optimizer.weight_decay", "0");
  return config;
}

// Returns the program's only Trainer: LibTorch and its CUDA device exist once in a process.
inline Trainer& SharedTrainer() {
  static auto* trainer = new Trainer;
  return *trainer;
}

struct RunResult {
  absl::Status status;
  absl::Status sink_status;
  std::shared_ptr<const trace::Trace> trace;
};

inline RunResult RunTiny(const run::RunConfig& config, const RunHooks& hooks = {}) {
  trace::BuilderSink sink;
  RunResult result;
  result.status = SharedTrainer().Run(config, sink, hooks);
  result.sink_status = sink.status();
  result.trace = sink.Trace();
  return result;
}

// Returns the loss of each step, which a run that computes values writes into markers.
inline std::vector<double> Losses(const trace::Trace& trace) {
  std::vector<double> out;
  for (const trace::Marker& marker : trace.markers) {
    const std::string_view name = trace.String(marker.name);
    if (name.starts_with("loss=")) out.push_back(std::stod(std::string(name.substr(5))));
  }
  return out;
}

}  // namespace vramscope::trainer
