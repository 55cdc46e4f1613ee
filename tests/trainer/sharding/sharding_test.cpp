// Checks the memory of one of several ranks, whose training state is sharded, on the GPU or on the
// host. Each technique must either work with sharding or be refused with a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiler/run/toggles.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using Settings = std::map<std::string, std::string>;

run::RunConfig Config(const Settings& settings) {
  run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
  config.steps = 2;
  for (const auto& [key, value] : settings) config.Set(key, value);
  return config;
}

// Returns the bytes of the optimizer state, which is not freed before the end of the run.
uint64_t StateOf(Settings settings) {
  const RunResult result = RunTiny(Config(settings));
  EXPECT_TRUE(result.status.ok()) << result.status;
  uint64_t bytes = 0;
  if (!result.status.ok()) return bytes;
  const trace::AllocationTable& allocations = result.trace->allocations;
  for (uint32_t i = 0; i < allocations.size(); ++i) {
    EXPECT_NE(allocations.free_event[i], trace::kNoEvent) << i;
    if (allocations.category[i] == Category::kOptimizerState) bytes += allocations.bytes[i];
  }
  return bytes;
}

TEST(Sharding, Zero1SplitsStateAmongRanks) {
  const Settings plain = {{"optimizer.name", "sgd"}, {"optimizer.momentum", "0.9"}};
  const uint64_t whole = StateOf(plain);
  ASSERT_GT(whole, 0u);
  uint64_t sum = 0;
  for (const char* rank : {"0", "1", "2"}) {
    Settings settings = plain;
    settings["shard.strategy"] = "zero1";
    settings["shard.ranks"] = "3";
    settings["shard.rank"] = rank;
    const uint64_t own = StateOf(settings);
    EXPECT_LT(own, whole / 2) << rank;
    EXPECT_GT(own, whole / 5) << rank;
    sum += own;
  }
  EXPECT_EQ(sum, whole);
}

// ZeRO-1 shards any optimizer. Each rank with 8-bit state also has two tables of 256 numbers.
TEST(Sharding, Zero1SplitsEightBitStateAmongRanks) {
  constexpr uint64_t kTables = 2 * 256 * sizeof(float);
  const uint64_t whole = StateOf({{"optimizer.bits", "8"}});
  ASSERT_GT(whole, kTables);
  uint64_t sum = 0;
  for (const char* rank : {"0", "1"}) {
    sum += StateOf({{"optimizer.bits", "8"},
                    {"shard.strategy", "zero1"},
                    {"shard.ranks", "2"},
                    {"shard.rank", rank}});
  }
  // If all parameters of a rank are small, it has no 8-bit state and no tables.
  EXPECT_TRUE(sum == whole || sum == whole + kTables) << sum << " of " << whole;
}

// Layers that are checkpointed together must be gathered together.
TEST(Sharding, GathersLayersCheckpointedTogetherAsOneUnit) {
  const auto gathered = [](const Settings& more) {
    Settings settings = {{"shard.strategy", "zero3"}, {"shard.ranks", "2"}};
    settings.insert(more.begin(), more.end());
    const RunResult result = RunTiny(Config(settings));
    EXPECT_TRUE(result.status.ok()) << result.status;
    std::set<uint64_t> sizes;
    const trace::AllocationTable& all = result.trace->allocations;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all.category[i] == Category::kCommunication) sizes.insert(all.bytes[i]);
    }
    return sizes;
  };
  const std::set<uint64_t> one = gathered({});
  const std::set<uint64_t> two =
      gathered({{"checkpointing.mode", "every-k"}, {"checkpointing.k", "2"}});
  ASSERT_FALSE(one.empty());
  for (const uint64_t size : one) EXPECT_TRUE(two.contains(size) || two.contains(2 * size)) << size;
  EXPECT_GT(*two.rbegin(), *one.rbegin()) << "two layers at once";
}

// Returns how much memory is used for gathered layers at most during forward.
uint64_t GatheredAtOnce(const Settings& more) {
  Settings settings = {{"shard.strategy", "zero3"}, {"shard.ranks", "2"}};
  settings.insert(more.begin(), more.end());
  const RunResult result = RunTiny(Config(settings));
  EXPECT_TRUE(result.status.ok()) << result.status;
  uint64_t live = 0, most = 0;
  std::map<uint64_t, uint64_t> blocks;
  const trace::EventTable& events = result.trace->events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == trace::EventKind::kAlloc &&
        events.category[i] == Category::kCommunication &&
        result.trace->allocations.phase[events.id[i]] != trace::Phase::kBackward) {
      blocks[events.id[i]] = events.bytes[i];
      most = std::max(most, live += events.bytes[i]);
    } else if (events.kind[i] == trace::EventKind::kFreeCompleted) {
      const auto at = blocks.find(events.id[i]);
      if (at != blocks.end()) live -= at->second;
    }
  }
  return most;
}

TEST(Sharding, ForwardPrefetchRaisesGatheredMemory) {
  const uint64_t own = GatheredAtOnce({});
  const uint64_t forward = GatheredAtOnce({{"shard.forward_prefetch", "2"}});
  EXPECT_GT(forward, own);
  EXPECT_EQ(GatheredAtOnce({{"shard.backward_prefetch", "2"}}), own);
  EXPECT_GT(GatheredAtOnce({{"shard.units", "model"}}), own);
}

TEST(Sharding, OffloadedShardsLeaveNoStateOnTheGpu) {
  Settings settings = {{"shard.strategy", "zero3"}, {"shard.ranks", "2"}};
  EXPECT_GT(StateOf(settings), 0u);
  for (const char* ranks : {"1", "2"}) {
    settings["shard.ranks"] = ranks;
    settings["offload.parameters"] = "cpu";
    EXPECT_EQ(StateOf(settings), 0u) << ranks << " ranks";
  }
}

uint64_t BytesOf(const trace::Trace& trace, Category category) {
  uint64_t bytes = 0;
  const trace::AllocationTable& all = trace.allocations;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all.category[i] == category) bytes += all.bytes[i];
  }
  return bytes;
}

// The ranks share heads and feed-forward width. Every rank has the whole embedding and norms.
TEST(Sharding, TensorParallelSplitsLayersNotEmbeddings) {
  constexpr uint64_t kHidden = 32, kWidth = 48, kKeys = 16, kLayers = 3, kVocabulary = 96;
  const uint64_t split = kLayers * (2 * kHidden * kHidden + 2 * kKeys * kHidden + kHidden +
                                    2 * kKeys + 3 * kHidden * kWidth);
  const uint64_t whole = kVocabulary * kHidden + (2 * kLayers + 1) * kHidden;
  for (const char* rank : {"0", "1"}) {
    const RunResult result = RunTiny(Config({{"shard.strategy", "tensor"},
                                             {"shard.ranks", "2"},
                                             {"shard.rank", rank},
                                             {"optimizer.impl", "loop"}}));
    ASSERT_TRUE(result.status.ok()) << result.status;
    const trace::Trace& trace = *result.trace;
    EXPECT_EQ(trace.info.model.parameter_count, split + whole);
    EXPECT_EQ(trace.info.model.parameter_bytes, 4 * (split / 2 + whole));
    EXPECT_EQ(BytesOf(trace, Category::kOptimizerState), 2 * 4 * (split / 2 + whole));
    // In forward, each layer needs two all-reduces. In backward, it needs one for each of the five
    // matrices that are split by outputs.
    uint64_t sums = 0;
    const trace::AllocationTable& all = trace.allocations;
    for (uint32_t i = 0; i < all.size(); ++i) sums += all.category[i] == Category::kCommunication;
    EXPECT_EQ(sums, 2 * kLayers * (2 + 5));
  }
}

// If the output layer is tied to the embedding, it must be sharded with its gradient and state. The
// embedding's own gradient is complete on each rank, and must be freed before the step.
TEST(Sharding, ShardsOutputLayerTiedToEmbedding) {
  constexpr uint64_t kHidden = 32, kVocabulary = 96, kTable = kVocabulary * kHidden;
  Settings settings = {
      {"shard.strategy", "tensor"}, {"shard.ranks", "2"}, {"optimizer.impl", "loop"}};
  const RunResult whole = RunTiny(Config(settings));
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  for (const char* vocabulary : {"parts", "loss"}) {
    SCOPED_TRACE(vocabulary);
    settings["shard.vocabulary"] = vocabulary;
    const RunResult result = RunTiny(Config(settings));
    ASSERT_TRUE(result.status.ok()) << result.status;
    const trace::Trace &before = *whole.trace, &trace = *result.trace;
    EXPECT_EQ(trace.info.model.parameter_count, before.info.model.parameter_count);
    EXPECT_EQ(trace.info.model.parameter_bytes, before.info.model.parameter_bytes - 4 * kTable / 2);
    EXPECT_EQ(BytesOf(trace, Category::kOptimizerState),
              BytesOf(before, Category::kOptimizerState) - 2 * 4 * kTable / 2);
    // In each step, backward allocates the embedding's complete gradient and this rank's part of
    // it. The part is then added to the output layer's gradient.
    const trace::AllocationTable& all = trace.allocations;
    int complete = 0, parts = 0;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all.step[i] != 1) continue;
      if (all.bytes[i] == 4 * kTable && all.phase[i] == trace::Phase::kBackward) {
        ++complete;
        EXPECT_NE(all.free_event[i], trace::kNoEvent);
      }
      parts += all.bytes[i] == 4 * kTable / 2 && all.category[i] == Category::kGradient;
    }
    EXPECT_GE(complete, 1);
    EXPECT_EQ(parts, 1);
  }
}

TEST(Sharding, TensorParallelRejectsIndivisibleHeads) {
  for (const auto& [ranks, why] : std::map<std::string, std::string>{
           {"3", "does not divide the model's 4 attention heads (num_attention_heads)"},
           {"4", "does not divide the model's 2 key-value heads (num_key_value_heads)"}}) {
    const RunResult result = RunTiny(
        Config({{"shard.strategy", "tensor"}, {"shard.ranks", ranks}, {"optimizer.impl", "loop"}}));
    EXPECT_NE(std::string(result.status.message()).find(why), std::string::npos) << result.status;
  }
  const RunResult lists = RunTiny(Config({{"shard.strategy", "tensor"}, {"shard.ranks", "2"}}));
  EXPECT_NE(std::string(lists.status.message()).find("set optimizer.impl=loop"), std::string::npos);
}

TEST(Sharding, EachTechniqueRunsWithShardingOrIsRefused) {
  const std::vector<Settings> shared = {
      {{"shard.strategy", "ddp"}, {"shard.find_unused", "true"}},
      {{"shard.strategy", "zero1"}},
      {{"shard.strategy", "zero2"}},
      {{"shard.strategy", "zero3"}, {"offload.parameters", "cpu"}},
      {{"shard.strategy", "zero3"}, {"shard.implementation", "fsdp1"}},
      {{"shard.strategy", "tensor"}, {"optimizer.impl", "loop"}},
  };
  int ran = 0, refused = 0;
  for (Settings settings : shared) {
    settings["shard.ranks"] = "2";
    const run::RunConfig config = Config(settings);
    for (const run::ToggleRow& row : run::Toggles()) {
      if (run::IsOn(*row.toggle, config)) continue;
      const std::string why = run::BlockedBecause(*row.toggle, config);
      if (!why.empty()) {
        EXPECT_GT(why.size(), 10u) << row.toggle->id;
        ++refused;
        continue;
      }
      const RunResult result = RunTiny(run::SwitchedOn(*row.toggle, config));
      EXPECT_TRUE(result.status.ok())
          << settings["shard.strategy"] << " + " << row.toggle->id << ": " << result.status;
      ++ran;
    }
  }
  EXPECT_GT(ran, 60);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace vramscope::trainer
