// Tests inference for snapshots without a history, which only has the stacks of blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"
#include "tests/profiler/inference/made.h"
#include "tests/profiler/inference/recorded.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Program;
using testing::Stripped;
using trace::Category;

const std::string kSite = "/venv/lib/python3.12/site-packages/";

TEST(State, InfersCategoriesFromStacksAlone) {
  const std::pair<Category, testing::MadeStack> kBlocks[] = {
      {Category::kParameter,
       {{"convert", kSite + "torch/nn/modules/module.py", 1355},
        {"_apply", kSite + "torch/nn/modules/module.py", 957},
        {"to", kSite + "torch/nn/modules/module.py", 1371}}},
      {Category::kBuffer,
       {{"convert", kSite + "torch/nn/modules/module.py", 1355},
        {"_apply", kSite + "torch/nn/modules/module.py", 981},
        {"to", kSite + "torch/nn/modules/module.py", 1371}}},
      {Category::kParameter,
       {{"create_weights", kSite + "vllm/model_executor/layers/linear.py", 178},
        {"__init__", kSite + "vllm/model_executor/layers/linear.py", 398}}},
      {Category::kKvCache,
       {{"_allocate_kv_cache", kSite + "vllm/worker/cache_engine.py", 83},
        {"__init__", kSite + "vllm/worker/cache_engine.py", 64}}},
      {Category::kWorkspace, {{"at::cuda::getNewWorkspace()"}}},
      {Category::kOptimizerState,
       {{"_init_group", kSite + "torch/optim/adamw.py", 180},
        {"step", kSite + "torch/optim/adamw.py", 230}}},
      {Category::kOptimizerState,
       {{"_build_model_and_main_param_groups",
         kSite + "megatron/core/optimizer/distrib_optimizer.py", 376},
        {"__init__", kSite + "megatron/core/optimizer/distrib_optimizer.py", 567}}},
      {Category::kParameter,
       {{"__init__", kSite + "megatron/core/distributed/param_and_grad_buffer.py", 586}}},
      {Category::kGradient,
       {{"__init__", kSite + "megatron/core/distributed/param_and_grad_buffer.py", 592}}},
      {Category::kActivation,
       {{"forward", kSite + "diffusers/models/attention.py", 372},
        {"_call_impl", kSite + "torch/nn/modules/module.py", 1520}}},
      {Category::kTemporary,
       {{"forward", kSite + "vllm/model_executor/models/qwen2.py", 250},
        {"_call_impl", kSite + "torch/nn/modules/module.py", 1520},
        {"capture_model", kSite + "vllm/worker/model_runner.py", 1500}}},
      {Category::kUnknown, {{"main", "/home/someone/main.py", 3}}},
  };
  Program p;
  for (const auto& [category, stack] : kBlocks) {
    for (int i = 0; i < 12; ++i) p.Alloc(1 << 20, category, p.Stack(stack));
  }
  for (int i = 0; i < 12; ++i) p.Alloc(1 << 20, Category::kUnknown);  // without a stack
  p.Record();
  const Stripped made = p.Take({.older_stacks = true});
  const Labels labels = Infer(made.recording, made.history);
  ASSERT_EQ(labels.category.size(), made.birth.size());
  for (uint32_t a = 0; a < made.birth.size(); ++a) {
    EXPECT_EQ(labels.category[a], made.birth[a]) << "block " << a;
    EXPECT_EQ(labels.rule[a] == kStatedByProducer, made.birth[a] == Category::kUnknown);
  }
  EXPECT_TRUE(labels.steps.empty());
  EXPECT_TRUE(labels.phases.empty());
  EXPECT_TRUE(labels.retags.empty());
}

uint64_t Of(const std::array<uint64_t, trace::kCategoryCount>& totals, Category category) {
  return totals[static_cast<size_t>(category)];
}

// One process trains and runs a serving engine. The engine's keys and values of 24 layers have 20.3
// GiB.
TEST(State, FindsCategoriesOfTrainerAndServingEngine) {
  const auto shared = testing::SharedFolder();
  if (!shared) GTEST_SKIP() << "no ../shared/snapshots beside the sources";
  const auto recorded = testing::ReadRecorded(*shared + "/snapshots/more/verl_mem.pickle.zst");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const Labels labels = Infer(recorded->recording, recorded->history);
  const auto totals = testing::InferredTotals(*recorded, labels).at_end;
  EXPECT_EQ(Of(totals, Category::kKvCache), 21'770'305'536u);
  EXPECT_GT(Of(totals, Category::kGradient), uint64_t{900} << 20);
  EXPECT_GT(Of(totals, Category::kOptimizerState), uint64_t{400} << 20);
  EXPECT_GT(Of(totals, Category::kParameter), uint64_t{1000} << 20);
  EXPECT_TRUE(labels.steps.empty());
  EXPECT_TRUE(labels.phases.empty());
}

TEST(State, AllBlocksOfOffloadedModelAreParameters) {
  const auto shared = testing::SharedFolder();
  if (!shared) GTEST_SKIP() << "no ../shared/snapshots beside the sources";
  const auto recorded = testing::ReadRecorded(*shared + "/snapshots/more/yiyi_oom.pickle.zst");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const Labels labels = Infer(recorded->recording, recorded->history);
  const auto totals = testing::InferredTotals(*recorded, labels).at_end;
  uint64_t all = 0;
  for (const uint64_t bytes : totals) all += bytes;
  EXPECT_EQ(Of(totals, Category::kParameter), all);
  EXPECT_TRUE(labels.steps.empty());
}

}  // namespace
}  // namespace vramscope::inference
