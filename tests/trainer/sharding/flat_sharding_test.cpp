// Checks the memory of an FSDP1 rank to the byte. The rank has an equal part of each unit, gathers
// units as its strategy defines, and has one gradient tensor for each unit.
#include "tests/trainer/techniques/proofs/planned.h"
#include "trainer/sharding/flat_sharded.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::EventKind;
using trace::Phase;

Settings Flat(const Settings& more = {}) {
  Settings settings = {
      {"shard.strategy", "zero3"}, {"shard.implementation", "fsdp1"}, {"shard.ranks", "4"}};
  for (const auto& [key, value] : more) settings[key] = value;
  return settings;
}

// The number of elements of a layer of Qwen(), and of the rest. In FSDP1, neither needs padding.
uint64_t LayerElements(const Shape& s = {}) {
  const int64_t keys = s.kv_heads * s.head();
  return static_cast<uint64_t>(2 * s.hidden * s.hidden + 2 * keys * s.hidden + s.hidden + 2 * keys +
                               3 * s.hidden * s.feed + 2 * s.hidden);
}
uint64_t RestElements(const Shape& s = {}) {
  return static_cast<uint64_t>(s.vocab * s.hidden + s.hidden);
}

uint64_t Live(const Planned& plan, Category category, EventKind kind, Phase phase) {
  return plan.At(kind, phase, plan.last_step)[Planned::Index(category)];
}

// Returns how many blocks of `bytes` are allocated in a phase of the last step.
size_t Times(const Planned& plan, uint64_t bytes, Phase phase) {
  const trace::AllocationTable& all = plan.trace->allocations;
  return plan
      .Blocks([&](uint32_t row) {
        return all.bytes[row] == bytes && all.phase[row] == phase &&
               static_cast<int>(all.step[row]) == plan.last_step;
      })
      .size();
}

TEST(FlatSharding, EveryRankHasAnEqualShareOfEachUnit) {
  const uint64_t layer = 4 * LayerElements(), rest = 4 * RestElements();
  const uint64_t layers = static_cast<uint64_t>(Shape{}.layers);
  for (const char* rank : {"0", "3"}) {
    const Planned plan(Flat({{"shard.rank", rank}}));
    EXPECT_EQ(Live(plan, Category::kParameter, EventKind::kPhaseBegin, Phase::kData),
              (layers * layer + rest) / 4);
    EXPECT_EQ(plan.AllocatedIn(Category::kOptimizerState), 2 * (layers * layer + rest) / 4);
  }
  // The number of elements is not a multiple of 5, so the shards are padded.
  const Planned plan(Flat({{"shard.ranks", "5"}}));
  const auto fifth = [](uint64_t elements) { return 4 * ((elements + 4) / 5); };
  EXPECT_EQ(Live(plan, Category::kParameter, EventKind::kPhaseBegin, Phase::kData),
            layers * fifth(LayerElements()) + fifth(RestElements()));
}

TEST(FlatSharding, Zero3GathersLayersTwiceAndZero2Once) {
  const uint64_t layer = 4 * LayerElements();
  const auto layers = static_cast<size_t>(Shape{}.layers);
  // A layer's gradients have the same size as its parameters, so the category is checked, too.
  const auto gathered = [&](const char* strategy, Phase phase) {
    const Planned plan(Flat({{"shard.strategy", strategy}}));
    const trace::AllocationTable& all = plan.trace->allocations;
    return plan
        .Blocks([&](uint32_t row) {
          return all.bytes[row] == layer && all.birth_category[row] == Category::kParameter &&
                 all.phase[row] == phase && static_cast<int>(all.step[row]) == plan.last_step;
        })
        .size();
  };
  // The first unit is gathered before the phase begins, together with the rest of the model.
  EXPECT_EQ(gathered("zero3", Phase::kForward), layers);
  EXPECT_EQ(gathered("zero3", Phase::kBackward), layers);
  EXPECT_EQ(gathered("zero2", Phase::kForward), layers);
  EXPECT_EQ(gathered("zero2", Phase::kBackward), 0u);
}

TEST(FlatSharding, UnitGradientIsOneTensorUntilNextForward) {
  const uint64_t layer = 4 * LayerElements(), rest = 4 * RestElements();
  const auto layers = static_cast<size_t>(Shape{}.layers);
  const Planned plan(Flat());
  EXPECT_EQ(Times(plan, layer / 4, Phase::kBackward), layers);
  const uint64_t shards = (layers * layer + rest) / 4;
  EXPECT_EQ(Live(plan, Category::kGradient, EventKind::kPhaseEnd, Phase::kZeroGrad), shards);
  const Planned rows(Flat({{"shard.implementation", "fsdp2"}}));
  EXPECT_EQ(Live(rows, Category::kGradient, EventKind::kPhaseEnd, Phase::kZeroGrad), 0u);
}

TEST(FlatSharding, NoSyncAccumulatesUnshardedGradients) {
  const uint64_t all =
      4 * (static_cast<uint64_t>(Shape{}.layers) * LayerElements() + RestElements());
  const Settings batches = {{"batch", "4"}, {"micro_batches", "2"}};
  Settings without = Flat(batches);
  without["shard.no_sync"] = "true";
  EXPECT_LT(Planned(Flat(batches)).Peak(Category::kGradient, 2, Phase::kForward), all);
  // The gradients of the previous step must be freed before.
  EXPECT_EQ(Planned(without).Peak(Category::kGradient, 2, Phase::kForward), all);
}

// In a unit with trained adapters, frozen weights also have gradients until these are scattered.
TEST(FlatSharding, FrozenWeightsInTrainedUnitsHaveGradients) {
  const Planned plan(Flat({{"lora.rank", "4"}}));
  EXPECT_GT(plan.Peak(Category::kGradient, 2, Phase::kBackward), 4 * LayerElements());
  EXPECT_LT(plan.AllocatedIn(Category::kOptimizerState), LayerElements());
}

TEST(FlatSharding, StateIsPerFlatParameterIfOriginalsAreHidden) {
  const Planned rows(Flat()), flat(Flat({{"shard.original_parameters", "false"}}));
  EXPECT_EQ(flat.AllocatedIn(Category::kOptimizerState),
            rows.AllocatedIn(Category::kOptimizerState));
  const auto states = [](const Planned& plan) {
    return plan
        .Blocks([&](uint32_t row) {
          return plan.trace->allocations.main_category[row] == Category::kOptimizerState;
        })
        .size();
  };
  EXPECT_EQ(states(flat), 2u * static_cast<size_t>(Shape{}.layers + 1));
  EXPECT_GT(states(rows), states(flat));
}

TEST(FlatSharding, GatheringInBf16HalvesGatheredBytes) {
  const auto peak = [](const char* type) {
    return Planned(Flat({{"shard.gathered_as", type}})).Peak(Category::kParameter, 2);
  };
  const uint64_t shards =
      Live(Planned(Flat()), Category::kParameter, EventKind::kPhaseBegin, Phase::kData);
  EXPECT_EQ(peak("weights") - shards, 2 * (peak("bf16") - shards));
}

// With HYBRID_SHARD, shards must be as large as with one group. Scattered gradients are summed over
// the groups in place.
TEST(FlatSharding, HybridShardReplicatesModelPerGroup) {
  const Planned one(Flat());
  for (const char* rank : {"0", "5", "7"}) {
    const Planned groups(
        Flat({{"shard.ranks", "8"}, {"shard.replicas", "2"}, {"shard.rank", rank}}));
    for (const Category category : {Category::kParameter, Category::kOptimizerState}) {
      EXPECT_EQ(groups.AllocatedIn(category), one.AllocatedIn(category)) << rank;
    }
    EXPECT_EQ(groups.Peak(Category::kGradient, 2, Phase::kZeroGrad),
              one.Peak(Category::kGradient, 2, Phase::kZeroGrad));
  }
  EXPECT_LT(Planned(Flat({{"shard.ranks", "8"}})).AllocatedIn(Category::kOptimizerState),
            one.AllocatedIn(Category::kOptimizerState));
}

// ShardedGradScaler sums the overflow flag over the ranks in place. With clipping, it unscales
// gradients before their norm is computed.
TEST(FlatSharding, LossScalerAddsEightBytesOfBuffers) {
  for (const Settings& more : {Settings{},
                               {{"clip_grad_norm", "1"}},
                               {{"optimizer.impl", "fused"}},
                               {{"shard.ranks", "8"}, {"shard.replicas", "2"}}}) {
    Settings settings = Flat(more);
    settings["precision"] = "amp-bf16";
    const Planned bf16(settings);
    settings["precision"] = "amp-fp16";
    const Planned fp16(settings);
    EXPECT_EQ(fp16.AllocatedIn(Category::kOptimizerState),
              bf16.AllocatedIn(Category::kOptimizerState));
    EXPECT_EQ(fp16.AllocatedIn(Category::kBuffer), bf16.AllocatedIn(Category::kBuffer) + 8)
        << "the scale, and how many steps were without an overflow";
  }
}

TEST(FlatSharding, RejectsSettingsUnsupportedByPyTorch) {
  for (const auto& [settings, why] : std::vector<std::pair<Settings, std::string>>{
           {{{"lora.rank", "4"}, {"precision", "bf16"}}, "set lora.dtype=weights"},
           {{{"lora.rank", "4"}, {"shard.original_parameters", "false"}},
            "set shard.original_parameters=true"},
           {{{"shard.forward_prefetch", "2"}}, "set shard.forward_prefetch=1"},
           {{{"shard.replicas", "3"}}, "does not divide shard.ranks = 4"},
           {{{"shard.replicas", "4"}}, "groups of two or more"},
           {{{"shard.replicas", "2"}, {"shard.implementation", "fsdp2"}},
            "shard.implementation=fsdp1"},
           {{{"shard.replicas", "2"}, {"shard.strategy", "ddp"}}, "shard.strategy=zero3"}}) {
    run::RunConfig config = TinyConfig(run::Backend::kPlan, kTinyQwen);
    for (const auto& [key, value] : Flat(settings)) config.Set(key, value);
    const RunResult result = RunTiny(config);
    EXPECT_NE(std::string(result.status.message()).find(why), std::string::npos) << result.status;
  }
}

}  // namespace
}  // namespace vramscope::trainer
