// Runs each technique alone and in pairs on the CPU. If a technique does not change the
// mathematics, it must not change any loss (nor, therefore, any gradient). All runs must complete
// and free everything. Incompatible pairs must be refused with a reason.
#include <absl/status/status.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profiler/run/check_run.h"
#include "profiler/run/toggles.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

run::RunConfig Plain(const char* model = kTinyQwen) {
  run::RunConfig config = TinyConfig(run::Backend::kCpu, model);
  config.steps = model == kTinyQwen ? 3 : 2;
  config.Set("optimizer.lr", "0.001");
  if (model == kTinyVit) config.Set("attention", "math");
  return config;
}

// Techniques that change losses, because they use other types, other trained weights, another
// optimizer, or rounding, or do not train at all.
const std::set<std::string> kOtherMathematics = {"amp-bf16",
                                                 "amp-fp16",
                                                 "no-cast-cache",
                                                 "bf16",
                                                 "lora",
                                                 "dora",
                                                 "last-layer",
                                                 "first-layer",
                                                 "sgd",
                                                 "cosine",
                                                 "clipping",
                                                 "activation-int8",
                                                 "optimizer-8bit",
                                                 "optimizer-paged",
                                                 "inference",
                                                 "generate",
                                                 "cast-on-device",
                                                 "nf4",
                                                 "int8-weights",
                                                 "lora-fa",
                                                 "rslora",
                                                 "adapter-layer",
                                                 "adapter-tower",
                                                 "prefix",
                                                 "optimizer-16bit",
                                                 "optimizer-8bit-torchao",
                                                 "optimizer-4bit",
                                                 "galore"};
// How much losses may differ (relatively) when a technique is added that does not change the
// mathematics. This default allows for fp32 sums in another order.
constexpr double kKept = 5e-5;
// The tolerance if the named technique is also on. The figure in a comment is the largest measured
// difference; the tolerance is about three times as large. A tolerance without a figure was not
// measured.
const std::map<std::string, double> kTolerances = {
    {"bf16", 1e-2},      // 2.8e-3: a loss has eight bits; the last bit is 4e-3 of the loss
    {"prefix", 1.5e-2},  // 4.7e-3: the prefix is random and has a large weight
    {"lora", 1e-3},  // 3.2e-4: adapters start at zero, so that every rounding error is as large as
                     // the first step
    {"rslora", 1e-3},         // as LoRA
    {"lora-fa", 1e-3},        // as LoRA
    {"dora", 1e-3},           // as LoRA
    {"amp-bf16", 2e-4},       // 3.6e-5: products of eight bits, a loss of fp32
    {"no-cast-cache", 2e-4},  // as amp-bf16, which it includes
    {"activation-int8",
     2e-4},  // 4.4e-5: an activation close to one of the 255 rounding limits is rounded differently
    // Moments have few bits. A moment close to a rounding limit may be rounded differently.
    {"optimizer-16bit", 2e-4},
    {"optimizer-8bit", 1e-3},
    {"optimizer-paged", 1e-3},
    {"optimizer-8bit-torchao", 1e-3},
    {"optimizer-4bit", 1e-3},
    {"galore", 1e-3},  // the singular vectors of a gradient depend on the gradient's last bits
    {"nf4", 1e-2},     // computes in bf16
    {"int8-weights", 1e-2},    // computes in bf16
    {"cast-on-device", 1e-2},  // computes in bf16
};

double ToleranceOf(const std::string& id) {
  const auto own = kTolerances.find(id);
  return own == kTolerances.end() ? kKept : own->second;
}

double Distance(double loss, double expected) {
  return std::abs(loss - expected) / std::abs(expected);
}

bool TooFar(const std::string& technique, double loss, double expected) {
  return Distance(loss, expected) > ToleranceOf(technique);
}

// Notes the largest difference that occurred with each technique, and prints these differences.
class Farthest {
 public:
  void Add(const std::string& technique, const std::string& kept, double distance) {
    Seen& seen = seen_[technique];
    ++seen.pairs;
    if (distance >= seen.distance) seen = {distance, kept, seen.pairs};
  }
  void Print() const {
    for (const auto& [technique, seen] : seen_)
      std::printf("%s: maximum %.1e of the allowed %.1e, with %s\n", technique.c_str(),
                  seen.distance, ToleranceOf(technique), seen.kept.c_str());
  }

 private:
  struct Seen {
    double distance = 0;
    std::string kept;
    int pairs = 0;
  };
  std::map<std::string, Seen> seen_;
};

std::vector<double> LossesOf(const run::RunConfig& config, const std::string& what) {
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << what << ": " << result.status;
  if (!result.status.ok()) return {};
  const trace::Trace& trace = *result.trace;
  for (uint32_t i = 0; i < trace.allocations.size(); ++i) {
    EXPECT_NE(trace.allocations.free_event[i], trace::kNoEvent) << what << ": allocation " << i;
    if (trace.allocations.free_event[i] == trace::kNoEvent) break;
  }
  return Losses(trace);
}

// Returns the run with the toggle on, or nullopt if the toggle is blocked. There must be a reason.
std::optional<run::RunConfig> With(const run::Toggle& toggle, const run::RunConfig& config) {
  const std::string why = run::BlockedBecause(toggle, config);
  if (!why.empty()) {
    EXPECT_GT(why.size(), 10u) << toggle.id;
    return std::nullopt;
  }
  run::RunConfig on = run::SwitchedOn(toggle, config);
  // Adapters are added to layers whose names depend on the model.
  if (config.model_config_json == kTinyBert) on.Set("lora.targets", "query,value");
  if (config.model_config_json == kTinyVit) on.Set("lora.targets", "mlp.0,mlp.3");
  return on;
}

// Returns whether the model contains what the technique applies to. Makes a plan to find out.
bool CanApply(const run::RunConfig& config) {
  run::RunConfig plan = config;
  plan.steps = 1;
  const absl::Status status = RunTiny(plan).status;
  if (status.code() != absl::StatusCode::kInvalidArgument) return true;
  EXPECT_TRUE(status.message().find("set ") != std::string_view::npos ||
              status.message().find("use ") != std::string_view::npos)
      << status;
  return false;
}

void TryAloneAndInPairs(const char* model, int least_pairs) {
  const std::vector<double> plain = LossesOf(Plain(model), "plain");
  const size_t steps = plain.size();
  ASSERT_GE(steps, 2u);
  std::map<std::string, std::vector<double>> alone;
  for (const run::ToggleRow& row : run::Toggles()) {
    const auto config = With(*row.toggle, Plain(model));
    if (!config || !CanApply(*config)) continue;
    const std::vector<double>& losses = alone[row.toggle->id] = LossesOf(*config, row.toggle->id);
    // Generation computes no loss.
    ASSERT_EQ(losses.size(), row.toggle->id == "generate" ? 0u : steps) << row.toggle->id;
    if (kOtherMathematics.contains(row.toggle->id)) continue;
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_NEAR(losses[i], plain[i], 2e-5 * std::abs(plain[i]))
          << row.toggle->id << " step " << i;
    }
  }
  int run_pairs = 0, refused = 0;
  Farthest farthest;
  const std::vector<run::ToggleRow>& rows = run::Toggles();
  for (size_t i = 0; i < rows.size(); ++i) {
    const run::Toggle& a = *rows[i].toggle;
    const auto with_a = With(a, Plain(model));
    if (!with_a || !alone.contains(a.id)) continue;
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const run::Toggle& b = *rows[j].toggle;
      if (run::IsOn(b, *with_a) || !alone.contains(b.id)) continue;
      const auto both = With(b, *with_a);
      if (!both) {
        ++refused;
        continue;
      }
      // If two techniques set the same key, one replaces the other.
      if (!run::IsOn(a, *both)) continue;
      const std::string what = a.id + " + " + b.id;
      const std::vector<double> losses = LossesOf(*both, what);
      ++run_pairs;
      // If a technique keeps the losses of a plain run, it must also keep the losses of a run with
      // another technique. 16-bit arithmetic and rounding cause small differences.
      for (const auto& [keeper, other] : {std::pair(&b, &a), std::pair(&a, &b)}) {
        if (kOtherMathematics.contains(keeper->id) || losses.size() != steps ||
            alone[other->id].size() != steps) {
          continue;
        }
        for (size_t k = 0; k < losses.size(); ++k) {
          const double distance = Distance(losses[k], alone[other->id][k]);
          farthest.Add(other->id, keeper->id, distance);
          EXPECT_FALSE(TooFar(other->id, losses[k], alone[other->id][k]))
              << what << " step " << k << ": " << distance;
        }
      }
    }
  }
  EXPECT_GT(run_pairs, least_pairs);
  EXPECT_GT(refused, 0);
  std::printf("%d pairs run, %d refused with a reason\n", run_pairs, refused);
  farthest.Print();
}

TEST(Techniques, RunAloneAndInPairsOnADecoder) { TryAloneAndInPairs(kTinyQwen, 600); }
TEST(Techniques, RunAloneAndInPairsOnAnEncoder) { TryAloneAndInPairs(kTinyBert, 300); }
TEST(Techniques, RunAloneAndInPairsOnAVisionTransformer) { TryAloneAndInPairs(kTinyVit, 300); }

// Each tolerance must belong to an existing technique, and larger differences must fail. A wrong
// gradient causes far larger differences than rounding.
TEST(Techniques, DetectLossesBeyondTheTolerance) {
  std::set<std::string> ids;
  for (const run::ToggleRow& row : run::Toggles()) ids.insert(row.toggle->id);
  for (const auto& [id, tolerance] : kTolerances) {
    EXPECT_TRUE(ids.contains(id)) << id;
    EXPECT_TRUE(kOtherMathematics.contains(id)) << id;
    EXPECT_FALSE(TooFar(id, 7.0 * (1 + 0.9 * tolerance), 7.0)) << id;
    EXPECT_TRUE(TooFar(id, 7.0 * (1 + 1.1 * tolerance), 7.0)) << id;
    EXPECT_TRUE(TooFar(id, 7.0 * (1 - 1.1 * tolerance), 7.0)) << id;
  }
  EXPECT_TRUE(TooFar("checkpoint-layer", 7.0 * (1 + 1.1 * kKept), 7.0));
  for (const char* id : {"amp-bf16", "activation-int8"}) {
    const auto config = With(*run::FindToggle(id), Plain());
    ASSERT_TRUE(config) << id;
    run::RunConfig other = *config;
    other.Set("optimizer.lr", "0.0012");  // each update is a fifth larger
    const std::vector<double> right = LossesOf(*config, id), wrong = LossesOf(other, id);
    ASSERT_EQ(wrong.size(), right.size());
    EXPECT_TRUE(TooFar(id, wrong.back(), right.back()))
        << id << ": " << Distance(wrong.back(), right.back());
  }
}

// The optimizer must not step before all chunks have added to the output layer's gradient.
TEST(Techniques, StepInBackwardWorksWithChunkedLoss) {
  run::RunConfig together = Plain();
  together.Set("loss", "chunked");
  const std::vector<double> after = LossesOf(together, "after backward");
  together.Set("optimizer.in_backward", "true");
  const std::vector<double> inside = LossesOf(together, "in backward");
  ASSERT_EQ(inside.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(inside[i], after[i], 2e-5 * after[i]) << i;
}

// Whether logits are recomputed or kept, the loss and its gradients must equal those of the whole
// loss.
TEST(Techniques, ChunkedLossEqualsTheWholeLoss) {
  for (const char* model : {kTinyQwen, kTinyGpt2}) {
    const std::vector<double> whole = LossesOf(Plain(model), "whole");
    for (const char* keeps : {"nothing", "logits"}) {
      run::RunConfig config = Plain(model);
      config.Set("loss", "chunked");
      config.Set("loss_chunks", "3");
      config.Set("loss_keeps", keeps);
      const std::vector<double> losses = LossesOf(config, keeps);
      ASSERT_EQ(losses.size(), whole.size());
      for (size_t i = 0; i < whole.size(); ++i)
        EXPECT_NEAR(losses[i], whole[i], 2e-5 * whole[i]) << keeps << " step " << i;
    }
  }
}

// Each parameter must have its own moments, in whatever form they are stored.
TEST(Techniques, StepInBackwardWorksWithQuantisedMoments) {
  for (const char* bits : {"16", "8", "4"}) {
    run::RunConfig config = Plain();
    config.Set("optimizer.bits", bits);
    const std::vector<double> after = LossesOf(config, bits);
    config.Set("optimizer.in_backward", "true");
    EXPECT_EQ(LossesOf(config, "in backward"), after) << bits;
  }
}

// In inference, dropout must be inactive, as after model.eval().
TEST(Techniques, InferenceIgnoresDropout) {
  run::RunConfig plain = TinyConfig(run::Backend::kCpu, kTinyGpt2);
  run::RunConfig drops = TinyConfig(run::Backend::kCpu, kTinyGpt2Dropout);
  for (run::RunConfig* config : {&plain, &drops}) config->Set("attention", "math");
  EXPECT_NE(LossesOf(plain, "trained"), LossesOf(drops, "trained with dropout"));
  for (run::RunConfig* config : {&plain, &drops}) config->Set("mode", "inference");
  EXPECT_EQ(LossesOf(plain, "inference"), LossesOf(drops, "inference with dropout"));
}

// A technique that is switched on and off again must leave the original configuration. Switching it
// off once more must change nothing.
TEST(Techniques, SwitchingOffRestoresTheConfiguration) {
  run::RunConfig plain = Plain();
  // Starts with PyTorch's default weight decay, because a change of the optimizer sets it.
  run::SetDefaultWeightDecay(plain);
  int switched = 0;
  for (const run::ToggleRow& row : run::Toggles()) {
    const auto on = With(*row.toggle, plain);
    if (!on) continue;
    ++switched;
    EXPECT_TRUE(run::IsOn(*row.toggle, *on)) << row.toggle->id;
    EXPECT_NE(run::ToJson(*on), run::ToJson(plain)) << row.toggle->id;
    const run::RunConfig off = run::SwitchedOff(*row.toggle, *on);
    EXPECT_FALSE(run::IsOn(*row.toggle, off)) << row.toggle->id;
    EXPECT_EQ(run::ToJson(off), run::ToJson(plain)) << row.toggle->id;
    EXPECT_EQ(run::ToJson(run::SwitchedOff(*row.toggle, off)), run::ToJson(off)) << row.toggle->id;
  }
  EXPECT_GT(switched, 30);
}

// Returns the status of a configuration after applying the remedies of all rules that refuse it,
// except `taken`. (Several rules may refuse the same configuration.)
absl::Status StatusAfterOtherRemedies(run::RunConfig config, const run::Rule& taken) {
  absl::Status status = run::CheckRun(config).status();
  for (int round = 0; round < 3 && !status.ok(); ++round) {
    for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques)
      for (const run::Rule& rule : technique.rules)
        if (rule.why != taken.why && status.message().find(rule.why) != std::string_view::npos)
          for (const auto& [key, value] : rule.instead) config.Set(key, value);
    status = run::CheckRun(config).status();
  }
  return status;
}

TEST(Techniques, CheckRunEnforcesEveryRefusingRule) {
  for (const run::TechniqueDeclaration& technique : run::TheCatalogue().techniques) {
    for (const run::Rule& rule : technique.rules) {
      if (!rule.refuses) continue;
      run::RunConfig config = Plain();
      config.backend = run::Backend::kPlan;
      bool settable = true;
      for (const run::Condition& c : rule.when) {
        const run::SettingDeclaration* setting = run::FindSetting(c.key);
        settable = settable && setting != nullptr && c.is;
        if (settable) config.Set(c.key, c.values.front());
      }
      if (!settable) continue;
      EXPECT_FALSE(run::CheckRun(config).ok()) << rule.why;
      for (const auto& [key, value] : rule.instead) config.Set(key, value);
      EXPECT_EQ(StatusAfterOtherRemedies(config, rule), absl::OkStatus()) << rule.why;
    }
  }
}

}  // namespace
}  // namespace vramscope::trainer
