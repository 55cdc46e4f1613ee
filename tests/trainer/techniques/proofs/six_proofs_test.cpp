// Checks properties that every configuration must have (trainer/techniques/proofs.md). Runs each
// technique of the catalogue on three models. Runs all compatible pairs on one of the models, and
// half of the pairs on each of the other two.
#include <absl/status/status.h>

#include "profiler/run/check_run.h"
#include "profiler/run/toggles.h"
#include "tests/trainer/loop/replay.h"
#include "tests/trainer/techniques/proofs/planned.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::EventKind;

const std::vector<std::pair<const char*, const char*>>& ModelsOfAllProofs() {
  static const auto* models = new std::vector<std::pair<const char*, const char*>>{
      {"Qwen2", kTinyQwen}, {"GPT-2", kTinyGpt2}, {"BERT", kTinyBert}};
  return *models;
}

run::RunConfig Plain(const char* model, int steps) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, model);
  config.steps = steps;
  return config;
}

// Switches the toggle on. Adapters are added to layers whose names depend on the model.
run::RunConfig On(const run::Toggle& toggle, const run::RunConfig& config, const char* model) {
  run::RunConfig on = run::SwitchedOn(toggle, config);
  if (model == kTinyGpt2) on.Set("lora.targets", "c_attn");
  if (model == kTinyBert) on.Set("lora.targets", "query,value");
  return on;
}

// Returns whether the model itself refuses the settings and names a remedy.
bool NamesARemedy(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument &&
         (status.message().find("set ") != std::string_view::npos ||
          status.message().find("use ") != std::string_view::npos);
}

// Checks properties 1, 3, 4, 5 and the second half of 2. Returns what is wrong, or "".
std::string Broken(const trace::Trace& trace, const run::RunConfig& config) {
  const Replay replay(trace);  // checks 1, 4, and the order of sizes
  if (!replay.error.empty()) return replay.error;
  if (replay.unknown_after_setup != 0) return "bytes in Unknown after setup";
  for (const Category category :
       {Category::kActivation, Category::kTemporary, Category::kInput, Category::kAutogradDetail}) {
    const uint64_t left = replay.after[static_cast<size_t>(category)];
    if (left != 0) {
      return std::string(trace::Name(category)) + " after the last step: " + std::to_string(left);
    }
  }
  const bool gradients =
      config.Is("zero_grad", "zero") || config.Is("zero_grad_when", "before_backward") ||
      config.Is("gradients.dtype", "fp32") || config.Is("shard.gradients", "views") ||
      config.Is("shard.implementation", "fsdp1");  // FSDP1 keeps gradients until the next forward
  if (!gradients && replay.after[static_cast<size_t>(Category::kGradient)] != 0) {
    return "gradients after zero_grad";
  }
  const trace::AllocationTable& all = trace.allocations;
  for (uint32_t row = 0; row < all.size(); ++row) {
    const uint64_t slack = all.bytes_rounded[row] - all.bytes[row];
    // alloc.roundup_power2_divisions rounds sizes up to quarters of a power of two.
    const bool rounds = !config.Is("alloc.roundup_power2_divisions", "");
    const uint64_t rounding = rounds ? all.bytes[row] / 4 : 0;
    if (slack > (uint64_t{1} << 20) + 512 + rounding) {
      return "a block is much larger than its request";
    }
    if (all.pool[row] == trace::Pool::kSmall && slack >= 512 + rounding && all.bytes[row] > 0) {
      return "a small block is 512 B larger than its request";
    }
    if (all.birth_category[row] == Category::kOptimizerState && all.step[row] > 0) {
      return "optimizer state after the first step";
    }
  }
  return "";
}

TEST(SixProofs, HoldForEachTechniqueOnThreeModels) {
  int planned = 0, blocked = 0;
  for (const auto& [name, model] : ModelsOfAllProofs()) {
    const run::RunConfig plain = Plain(model, 4);
    std::vector<std::string> without;
    {
      const RunResult result = RunTiny(plain);
      ASSERT_TRUE(result.status.ok()) << name << ": " << result.status;
      without = Planned::Of(result.trace).Stream();
    }
    for (const run::ToggleRow& row : run::Toggles()) {
      SCOPED_TRACE(std::string(name) + " + " + row.toggle->id);
      const std::string why = run::BlockedBecause(*row.toggle, plain);
      if (!why.empty()) {
        EXPECT_GT(why.size(), 10u);
        ++blocked;
        continue;
      }
      const run::RunConfig config = On(*row.toggle, plain, model);
      const RunResult result = RunTiny(config);
      if (!result.status.ok() && result.status.code() == absl::StatusCode::kInvalidArgument &&
          run::CheckRun(config).ok()) {
        // If the model has nothing that the technique applies to, the error must name the key.
        EXPECT_TRUE(NamesARemedy(result.status)) << result.status;
        ++blocked;
        continue;
      }
      ASSERT_TRUE(result.status.ok()) << result.status;
      EXPECT_EQ(Broken(*result.trace, config), "");
      const Planned steps = Planned::Of(result.trace);
      // In data-parallel runs, NCCL's watchdog frees memory at some host time. So frees are ignored
      // in these runs.
      const bool by_the_clock =
          config.Is("shard.strategy", "ddp") || config.Is("shard.strategy", "zero1");
      const auto step = [&](int number) {
        std::vector<std::string> stream = steps.Stream(number);
        if (by_the_clock)
          std::erase_if(stream, [](const std::string& s) { return !s.starts_with("alloc"); });
        return stream;
      };
      EXPECT_TRUE(step(2) == step(3)) << "2: steps differ";
      ++planned;
      // Property 6: switching the toggle off must restore the original run.
      const run::RunConfig off = run::SwitchedOff(*row.toggle, config);
      const RunResult again = RunTiny(off);
      ASSERT_TRUE(again.status.ok()) << again.status;
      EXPECT_TRUE(Planned::Of(again.trace).Stream() == without) << "6: off again is another stream";
    }
  }
  EXPECT_GT(planned, 100);
  EXPECT_GT(blocked, 0);
}

// Tries only one in `every` pairs, beginning with number `first`, to save time.
void TryPairs(const char* name, const char* model, size_t every = 1, size_t first = 0) {
  size_t turn = first;
  int planned = 0, blocked = 0;
  const run::RunConfig plain = Plain(model, 2);
  const std::vector<run::ToggleRow>& rows = run::Toggles();
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = i + 1; j < rows.size(); ++j) {
      if (turn++ % every != 0) continue;
      const run::Toggle &a = *rows[i].toggle, &b = *rows[j].toggle;
      if (!run::BlockedBecause(a, plain).empty()) continue;
      const run::RunConfig with_a = On(a, plain, model);
      const std::string why = run::BlockedBecause(b, with_a);
      SCOPED_TRACE(std::string(name) + " + " + a.id + " + " + b.id);
      if (!why.empty()) {
        EXPECT_GT(why.size(), 10u);
        ++blocked;
        continue;
      }
      const run::RunConfig both = On(b, with_a, model);
      // If two techniques set the same key, one replaces the other.
      if (!run::IsOn(a, both)) continue;
      const RunResult result = RunTiny(both);
      if (!result.status.ok() && NamesARemedy(result.status)) {
        ++blocked;
        continue;
      }
      ASSERT_TRUE(result.status.ok()) << result.status;
      EXPECT_EQ(Broken(*result.trace, both), "");
      ++planned;
    }
  }
  EXPECT_GT(planned, 400);
  EXPECT_GT(blocked, 100);
  std::printf("%s: %d pairs planned, %d refused with a reason\n", name, planned, blocked);
}

TEST(SixProofs, HoldForPairsOnQwen2) { TryPairs("Qwen2", kTinyQwen); }
TEST(SixProofs, HoldForPairsOnGpt2) { TryPairs("GPT-2", kTinyGpt2, 2, 0); }
TEST(SixProofs, HoldForPairsOnBert) { TryPairs("BERT", kTinyBert, 2, 1); }

}  // namespace
}  // namespace vramscope::trainer
