// Finds the KV cache in recordings of generation and serving: by stacks, and by lifetimes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"
#include "tests/profiler/inference/made.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Confusion;
using testing::MadeStack;
using testing::Program;
using testing::Stripped;
using trace::Category;
using trace::Phase;

const std::string kSite = "/venv/lib/python3.12/site-packages/";
const testing::MadeFrame kCall = {"_call_impl", kSite + "torch/nn/modules/module.py", 1784};
const testing::MadeFrame kScript = {"<module>", "/home/someone/serve.py", 12};
const MadeStack kAttention = {
    {"forward", kSite + "transformers/models/llama/modeling_llama.py", 250}, kCall, kScript};
const MadeStack kLoad = {{"from_pretrained", kSite + "transformers/modeling_utils.py", 4000},
                         kScript};

MadeStack Onto(MadeStack stack, const MadeStack& outer) {
  stack.insert(stack.end(), outer.begin(), outer.end());
  return stack;
}

struct Model {
  uint32_t layers = 8;
  uint64_t hidden = 1024, keys = 256;
};

void Load(Program& p, const Model& m) {
  p.Enter(Phase::kSetup);
  const uint32_t load = p.Stack(kLoad);
  for (uint32_t l = 0; l < m.layers; ++l) {
    for (const uint64_t bytes : {m.hidden * m.hidden * 2, m.hidden * m.keys * 2,
                                 m.hidden * m.keys * 2, m.hidden * m.hidden * 8, m.hidden * 2}) {
      p.Alloc(bytes, Category::kParameter, load);
    }
  }
}

// Simulates generate() with a DynamicCache. In every pass, torch.cat allocates each layer's keys
// and values again, one token longer. Blocks allocated for the prompt are kept as they are.
void Generate(Program& p, const Model& m, uint64_t prompt, int tokens) {
  p.Enter(Phase::kForward);
  const uint32_t forward = p.Stack(kAttention);
  const MadeStack update = {{"update", kSite + "transformers/cache_utils.py", 450}};
  const uint32_t grow_keys = p.Stack(Onto(update, kAttention));
  const uint32_t grow_values =
      p.Stack(Onto({{"update", kSite + "transformers/cache_utils.py", 451}}, kAttention));
  std::vector<uint32_t> cache(m.layers * size_t{2}, UINT32_MAX);
  uint32_t ids = p.Alloc(prompt * 8, Category::kTemporary, p.Stack({kScript}));
  for (int pass = 0; pass < tokens; ++pass) {
    const uint64_t length = pass == 0 ? prompt : 1;
    uint32_t hidden = p.Alloc(length * m.hidden * 2, Category::kTemporary, forward);
    for (uint32_t l = 0; l < m.layers; ++l) {
      const uint32_t query = p.Alloc(length * m.hidden * 2, Category::kTemporary, forward);
      for (const size_t which : {2 * size_t{l}, 2 * size_t{l} + 1}) {
        const uint32_t made = p.Alloc(length * m.keys * 2, Category::kTemporary, forward);
        if (pass == 0) {
          cache[which] = made;
          p.Becomes(made, Category::kKvCache);
          continue;
        }
        const uint32_t grown =
            p.Alloc((prompt + static_cast<uint64_t>(pass)) * m.keys * 2, Category::kKvCache,
                    which % 2 == 0 ? grow_keys : grow_values);
        // The two frees may have either order: a variable may keep the new token's keys alive.
        which % 4 == 0 ? p.Free({cache[which], made}) : p.Free({made, cache[which]});
        cache[which] = grown;
      }
      const uint32_t out = p.Alloc(length * m.hidden * 2, Category::kTemporary, forward);
      p.Free({query, hidden});
      hidden = out;
    }
    const uint32_t logits = p.Alloc(32000 * 4, Category::kTemporary, forward);
    const uint32_t longer = p.Alloc((prompt + static_cast<uint64_t>(pass) + 1) * 8,
                                    Category::kTemporary, p.Stack({kScript}));
    p.Free({ids, logits, hidden});
    ids = longer;
  }
}

double InferredBytes(const Confusion::Matrix& m, Category category) {
  double sum = 0;
  for (const auto& row : m) sum += row[static_cast<size_t>(category)];
  return sum;
}

// Expects that precision and recall of the category KvCache, measured in bytes, are at least
// `share`.
void ExpectCaches(const Confusion::Matrix& m, double share) {
  const auto cache = static_cast<size_t>(Category::kKvCache);
  double true_bytes = 0;
  for (const double bytes : m[cache]) true_bytes += bytes;
  ASSERT_GT(true_bytes, 0);
  EXPECT_GE(m[cache][cache], share * true_bytes);
  EXPECT_GE(m[cache][cache], share * InferredBytes(m, Category::kKvCache));
}

class GrowingKvCache : public ::testing::TestWithParam<std::tuple<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, GrowingKvCache,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST_P(GrowingKvCache, FindsCacheOfGenerate) {
  const auto [stacks, older] = GetParam();
  for (const double cut : {0.4, 0.77, 1.0}) {
    Program p;
    const Model model;
    Load(p, model);
    if (older) p.Record();
    Generate(p, model, 64, 24);
    const Stripped made = p.Take({.stacks = stacks, .cut = cut});
    const Labels labels = Infer(made.recording, made.history);
    const Confusion c = testing::Compare(made, labels);
    SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(c.peak) + "MiB s:\n" +
                 Confusion::Table(c.time));
    ExpectCaches(c.peak, 0.95);
    ExpectCaches(c.time, 0.95);
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kParameter));
    EXPECT_THAT(labels.rule, ::testing::Contains(stacks ? kStackKvCache : kLifeKvCache));
    // Blocks allocated for the prompt are not a cache at first, so their category must change
    // later.
    EXPECT_FALSE(labels.retags.empty());
  }
}

// Lists of token ids grow in the same way as a cache.
TEST(KvCache, GrowingTokenListsAreNotKvCache) {
  Program p;
  const Model model{.layers = 1};
  Load(p, model);
  p.Record();
  p.Enter(Phase::kForward);
  uint32_t ids[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  for (uint64_t pass = 0; pass < 20; ++pass) {
    p.Free(p.Alloc(4096, Category::kTemporary));
    for (uint32_t& list : ids) {
      const uint32_t old = list;
      list = p.Alloc(512 + 8 * pass, Category::kTemporary);
      if (old != UINT32_MAX) p.Free(old);
    }
  }
  const Stripped made = p.Take({.stacks = false});
  const Labels labels = Infer(made.recording, made.history);
  EXPECT_THAT(labels.category, ::testing::Not(::testing::Contains(Category::kKvCache)));
}

// A serving engine allocates the whole cache when it starts.
TEST(KvCache, FindsCachesAllocatedByServingEngines) {
  const MadeStack engines[] = {
      {{"_allocate_kv_cache", kSite + "vllm/worker/cache_engine.py", 83},
       {"__init__", kSite + "vllm/worker/cache_engine.py", 64},
       {"initialize_cache", kSite + "vllm/worker/worker.py", 307},
       {"_initialize_kv_caches", kSite + "vllm/engine/llm_engine.py", 445},
       {"__init__", kSite + "vllm/engine/llm_engine.py", 283},
       kScript},
      {{"_allocate_kv_cache_tensors", kSite + "vllm/v1/worker/gpu_model_runner.py", 4100},
       {"initialize_kv_cache", kSite + "vllm/v1/worker/gpu_model_runner.py", 4200},
       kScript},
      {{"_create_buffers", kSite + "sglang/srt/mem_cache/memory_pool.py", 300},
       {"__init__", kSite + "sglang/srt/mem_cache/memory_pool.py", 250},
       {"init_memory_pool", kSite + "sglang/srt/model_executor/model_runner.py", 900},
       {"__init__", kSite + "sglang/srt/model_executor/model_runner.py", 200},
       kScript},
      {{"early_initialization", kSite + "transformers/cache_utils.py", 300},
       {"_prepare_cache_for_generation", kSite + "transformers/generation/utils.py", 1800},
       {"generate", kSite + "transformers/generation/utils.py", 2200},
       kScript}};
  for (const MadeStack& engine : engines) {
    SCOPED_TRACE(engine.front().file);
    Program p;
    const Model model;
    Load(p, model);
    const uint32_t cache = p.Stack(Onto({{"at::_ops::zeros::call(x)"}}, engine));
    for (uint32_t l = 0; l < model.layers; ++l) {
      p.Alloc(uint64_t{32} << 20, Category::kKvCache, cache);
    }
    // When it starts, the engine runs the model once to measure how much memory is left.
    p.Enter(Phase::kForward);
    for (int i = 0; i < 40; ++i) {
      p.Free(p.Alloc(1 << 20, Category::kTemporary, p.Stack(kAttention)));
    }
    const Stripped made = p.Take({});
    const Confusion c = testing::Compare(made, Infer(made.recording, made.history));
    SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(c.peak));
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kKvCache));
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kParameter));
  }
}

// The code of a cache also allocates blocks that it frees immediately, such as dequantised weights.
TEST(KvCache, TemporariesOfCacheCodeAreNotKvCache) {
  Program p;
  Load(p, {});
  p.Enter(Phase::kForward);
  const uint32_t dequantise =
      p.Stack(Onto({{"_dequantize", kSite + "transformers/cache_utils.py", 700}}, kAttention));
  for (int i = 0; i < 40; ++i) {
    p.Free(p.Alloc(1 << 16, Category::kTemporary, dequantise));
    p.Free(p.Alloc(1 << 18, Category::kTemporary, p.Stack(kAttention)));
  }
  const Stripped made = p.Take({});
  const Labels labels = Infer(made.recording, made.history);
  EXPECT_THAT(labels.category, ::testing::Not(::testing::Contains(Category::kKvCache)));
}

// In training with use_cache, update() allocates blocks that are saved for backward and freed
// during backward.
TEST(KvCache, TrainingWithUseCacheHasNoKvCache) {
  Program p;
  const Model model;
  Load(p, model);
  const uint32_t update =
      p.Stack(Onto({{"update", kSite + "transformers/cache_utils.py", 450}}, kAttention));
  const uint32_t node =
      p.Stack({{"torch::autograd::generated::CatBackward0::apply(variable_list&&)"},
               {"torch::autograd::Engine::thread_main(x)"}});
  for (int step = 0; step < 2; ++step) {
    p.Enter(Phase::kForward);
    std::vector<uint32_t> saved;
    for (uint32_t l = 0; l < model.layers; ++l) {
      saved.push_back(p.Alloc(1 << 18, Category::kActivation, update));
      saved.push_back(p.Alloc(1 << 20, Category::kActivation, p.Stack(kAttention)));
    }
    p.Enter(Phase::kBackward);
    while (!saved.empty()) {
      p.Free(p.Alloc(1 << 17, Category::kAutogradDetail, node));
      p.Free(saved.back());
      saved.pop_back();
    }
  }
  const Stripped made = p.Take({});
  const Labels labels = Infer(made.recording, made.history);
  EXPECT_THAT(labels.category, ::testing::Not(::testing::Contains(Category::kKvCache)));
  EXPECT_TRUE(Confusion::Exact(testing::Compare(made, labels).peak, Category::kActivation));
}

}  // namespace
}  // namespace vramscope::inference
