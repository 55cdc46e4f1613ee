// Tests models without a backend: parameter counts, names, tied weights, initial values, gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <map>
#include <set>

#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"
#include "tests/trainer/loop/run_helpers.h"
#include "trainer/models/family.h"
#include "trainer/models/layers.h"
#include "trainer/techniques/recompute/reentrant.h"
#include "trainer/techniques/trainable.h"

namespace vramscope::trainer {
namespace {

std::unique_ptr<Model> Make(std::string_view json, ModelOptions options = {}) {
  auto model = MakeModel(json, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

Batch Tokens(const at::Tensor& ids) {
  Batch batch;
  batch.Set("input_ids", ids);
  batch.Set("labels", ids);
  return batch;
}

std::string_view PresetJson(std::string_view name) {
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    if (preset.name == name) return preset.config_json;
  }
  ADD_FAILURE() << "no preset " << name;
  return "";
}

// Covers all families, also families that have no test file of their own.
TEST(Families, AreDeclaredOnceAndRejectUnknownModels) {
  std::set<std::string> ids, names;
  for (const Family& family : Families()) {
    const run::FamilyDeclaration& d = family.declaration;
    EXPECT_TRUE(ids.insert(d.id).second) << d.id;
    EXPECT_FALSE(d.title.empty() || d.inputs.empty() || d.model_types.empty()) << d.id;
    for (const auto* list : {&d.architectures, &d.model_types}) {
      for (const std::string& name : *list) EXPECT_TRUE(names.insert(name).second) << name;
    }
    for (const std::string& type : d.model_types) {
      const auto found = FindFamily(R"({"model_type": ")" + type + "\"}");
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ((*found)->declaration.id, d.id);
    }
  }
  const auto message = [](std::string_view json) {
    return std::string(MakeModel(json, {}).status().message());
  };
  EXPECT_THAT(message(R"({"model_type": "mamba"})"),
              testing::HasSubstr("architecture \"mamba\" is not supported; supported: "));
  // `architectures` has precedence over `model_type`.
  EXPECT_THAT(message(R"({"architectures": ["BertModel"], "model_type": "llama"})"),
              testing::HasSubstr("BertModel"));
  EXPECT_THAT(message("{}"), testing::HasSubstr("architectures"));
  EXPECT_THAT(message("[1]"), testing::HasSubstr("not a JSON object"));
}

// The names of layers that can be printed before a run must be the real names of the modules.
TEST(Models, LinearLayerNamesMatchModules) {
  for (const char* name : {"qwen2-0.5b", "gpt2", "llama-3.2-1b", "basics-medium"}) {
    const std::string_view json = PresetJson(name);
    std::set<std::string_view> declared;
    for (std::string_view layer : run::LinearLayerNames(*run::ParseModelConfig(json)))
      declared.insert(layer);
    std::set<std::string> created;
    Make(json, {.seq = 8})->Visit([&](Module& module, const std::string&) {
      if (dynamic_cast<Linear*>(&module) != nullptr) created.insert(module.name());
    });
    EXPECT_EQ(std::set<std::string>(declared.begin(), declared.end()), created) << name;
  }
}

TEST(Models, PresetsHavePublishedParameterCounts) {
  // These are counts of the published checkpoints. Tied embeddings count once.
  const std::map<std::string, uint64_t> counts = {{"qwen2-0.5b", 494032768},
                                                  {"gpt2", 124439808},
                                                  {"gpt2-medium", 354823168},
                                                  {"llama-3.2-1b", 1235814400}};
  for (const auto& [name, count] : counts) {
    auto model = Make(PresetJson(name));
    EXPECT_EQ(Count(*model).count, count) << name;
    EXPECT_EQ(Count(*model).bytes, 4 * count) << name;
  }
  auto half = Make(PresetJson("qwen2-0.5b"), {.dtype = at::kBFloat16});
  EXPECT_EQ(Count(*half).bytes, 2 * 494032768u);
}

TEST(Models, LoraTrainsOnlyAdapters) {
  auto model = Make(PresetJson("qwen2-0.5b"), {.dtype = at::kBFloat16});
  LoraConfig lora{.rank = 8, .alpha = 16, .dropout = 0, .targets = {"q_proj", "v_proj"}};
  ASSERT_TRUE(ApplyLora(*model, lora).ok());
  EXPECT_EQ(Count(*model).trainable, 540672u);
  EXPECT_EQ(Count(*model).count, 494032768u + 540672u);
  for (Parameter* p : model->Parameters()) {
    const bool adapter = p->name().find(".lora.") != std::string::npos;
    EXPECT_EQ(p->trainable, adapter) << p->name();
    EXPECT_EQ(p->spec().dtype, adapter ? at::kFloat : at::kBFloat16) << p->name();
  }
}

TEST(Models, ParameterNamesMatchHuggingFace) {
  auto qwen = Make(kTinyQwen);
  std::vector<std::string> names;
  for (Parameter* p : qwen->Parameters()) names.push_back(p->name());
  EXPECT_EQ(names.front(), "model.embed_tokens.weight");
  EXPECT_THAT(names, testing::Contains("model.layers.1.self_attn.q_proj.bias"));
  EXPECT_THAT(names, testing::Contains("model.layers.2.post_attention_layernorm.weight"));
  EXPECT_EQ(names.back(), "model.norm.weight");  // the output layer is tied
  auto llama = Make(kTinyLlama);
  EXPECT_EQ(llama->Parameters().back()->name(), "lm_head.weight");
  auto gpt2 = Make(kTinyGpt2);
  EXPECT_EQ(gpt2->Parameters().front()->name(), "transformer.wte.weight");
}

TEST(Models, TrainableSelectsLayers) {
  for (const char* selection : {"first-layer", "last-layer", "model.layers.1.*"}) {
    auto model = Make(kTinyQwen);
    ASSERT_TRUE(ApplyTrainable(*model, selection).ok());
    const std::string prefix = selection == std::string("first-layer")  ? "model.layers.0."
                               : selection == std::string("last-layer") ? "model.layers.2."
                                                                        : "model.layers.1.";
    for (Parameter* p : model->Parameters()) {
      EXPECT_EQ(p->trainable, p->name().starts_with(prefix)) << selection << " " << p->name();
    }
  }
}

TEST(GlobMatch, Wildcards) {
  EXPECT_TRUE(GlobMatch("*.bias", "a.b.bias"));
  EXPECT_TRUE(GlobMatch("a*c*e", "abcde"));
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("layers.?.x", "layers.3.x"));
  EXPECT_FALSE(GlobMatch("layers.?.x", "layers.13.x"));
  EXPECT_FALSE(GlobMatch("abc", "abcd"));
}

// ---- gradients

struct Setting {
  AttentionKind attention = AttentionKind::kEager;
  int checkpoint_every = 0;  // 0: none
  int micro_batches = 1;
};

class Sdpa {
 public:
  explicit Sdpa(AttentionKind attention) {
    at::globalContext().setSDPUseFlash(attention == AttentionKind::kFlash);
    at::globalContext().setSDPUseMath(attention == AttentionKind::kMath);
  }
  ~Sdpa() {
    at::globalContext().setSDPUseFlash(true);
    at::globalContext().setSDPUseMath(true);
  }
};

std::map<std::string, at::Tensor> Gradients(const char* json, const Setting& setting,
                                            double* loss_out = nullptr) {
  Sdpa sdpa(setting.attention);
  auto model = Make(json, {.attention = setting.attention, .seq = 16});
  Materialize(*model, {.seed = 3});
  at::manual_seed(11);
  if (setting.checkpoint_every > 0) {
    model->layer_runner = MakeCheckpointRunner({.layers_per_segment = setting.checkpoint_every});
  }
  at::Tensor ids = (at::arange(4 * 16, at::kLong) * 7 % 96).view({4, 16});
  double total = 0;
  for (const at::Tensor& part : ids.chunk(setting.micro_batches)) {
    const Batch batch = Tokens(part);
    at::Tensor logits = model->Logits(batch);
    at::Tensor loss = model->Loss(logits, batch) / setting.micro_batches;
    total += loss.item<double>();
    loss.backward();
  }
  if (loss_out != nullptr) *loss_out = total;
  std::map<std::string, at::Tensor> out;
  for (Parameter* p : model->Parameters()) out[p->name()] = p->tensor.grad();
  return out;
}

void ExpectSame(const std::map<std::string, at::Tensor>& a,
                const std::map<std::string, at::Tensor>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, expected] : a) {
    const at::Tensor& actual = b.at(name);
    ASSERT_TRUE(expected.defined() && actual.defined()) << what << " " << name;
    const double scale = std::max(expected.norm().item<double>(), 1e-6);
    // The results may only differ because fp32 sums are computed in another order.
    EXPECT_LT((expected - actual).norm().item<double>(), 1e-5 * scale) << what << " " << name;
  }
}

TEST(Gradients, EqualUnderEveryTechnique) {
  for (const char* json : {kTinyQwen, kTinyLlama, kTinyGpt2}) {
    const auto plain = Gradients(json, {});
    ExpectSame(plain, Gradients(json, {.attention = AttentionKind::kMath}), "math");
    ExpectSame(plain, Gradients(json, {.attention = AttentionKind::kFlash}), "flash");
    ExpectSame(plain, Gradients(json, {.checkpoint_every = 1}), "checkpointing, layer");
    ExpectSame(plain, Gradients(json, {.checkpoint_every = 2}), "checkpointing, every 2");
    ExpectSame(plain, Gradients(json, {.micro_batches = 4}), "accumulation");
    ExpectSame(
        plain,
        Gradients(json,
                  {.attention = AttentionKind::kFlash, .checkpoint_every = 2, .micro_batches = 2}),
        "all");
  }
}

TEST(Gradients, CheckpointingIsBitExactWithDropout) {
  const auto plain = Gradients(kTinyGpt2Dropout, {});
  const auto checkpointed = Gradients(kTinyGpt2Dropout, {.checkpoint_every = 1});
  for (const auto& [name, gradient] : plain) {
    EXPECT_TRUE(at::equal(gradient, checkpointed.at(name))) << name;
  }
}

TEST(Gradients, LossDependsOnTheModel) {
  // The comparisons above would succeed if models ignored their weights. This test excludes that.
  double qwen = 0, llama = 0;
  Gradients(kTinyQwen, {}, &qwen);
  Gradients(kTinyLlama, {}, &llama);
  EXPECT_NE(qwen, llama);
  EXPECT_NEAR(qwen, std::log(96.0), 0.7);
}

TEST(Models, CausalMaskHidesFutureTokens) {
  for (auto attention : {AttentionKind::kEager, AttentionKind::kFlash}) {
    for (const char* json : {kTinyQwen, kTinyGpt2}) {
      auto model = Make(json, {.attention = attention, .seq = 16});
      Materialize(*model, {.seed = 5});
      at::NoGradGuard no_grad;
      at::Tensor ids = at::arange(16, at::kLong).view({1, 16});
      at::Tensor changed = ids.clone();
      changed[0][10] = 50;
      at::Tensor a = model->Logits(Tokens(ids)), b = model->Logits(Tokens(changed));
      EXPECT_TRUE(at::allclose(a.narrow(1, 0, 10), b.narrow(1, 0, 10), 1e-5, 1e-6));
      EXPECT_FALSE(at::allclose(a.narrow(1, 10, 6), b.narrow(1, 10, 6), 1e-5, 1e-6));
    }
  }
}

TEST(Models, SlidingWindowHidesOldTokens) {
  auto model = Make(kTinyMistral, {.seq = 24});
  Materialize(*model, {.seed = 5});
  at::NoGradGuard no_grad;
  at::Tensor ids = at::arange(24, at::kLong).view({1, 24});
  at::Tensor changed = ids.clone();
  changed[0][0] = 50;
  at::Tensor a = model->Logits(Tokens(ids)), b = model->Logits(Tokens(changed));
  // With two layers and a window of 8, a token attends to no more than the 14 tokens before it.
  EXPECT_TRUE(at::allclose(a.narrow(1, 20, 4), b.narrow(1, 20, 4), 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(a.narrow(1, 1, 6), b.narrow(1, 1, 6), 1e-5, 1e-6));
}

}  // namespace
}  // namespace vramscope::trainer
