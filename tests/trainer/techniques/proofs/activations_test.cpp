// Checks the proofs of trainer/techniques/proofs.md about the memory that forward keeps, adapters,
// and allocations.
#include "profiler/trace/activities.h"
#include "tests/trainer/techniques/proofs/planned.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::EventKind;
using trace::MemorySpace;
using trace::Phase;

constexpr uint64_t kBatch = 4, kSeq = 64;

Settings With(Settings settings) {
  settings.try_emplace("batch", std::to_string(kBatch));
  settings.try_emplace("seq", std::to_string(kSeq));
  settings.try_emplace("optimizer.name", "sgd");
  return settings;
}
uint64_t KeptOf(const Settings& settings, int64_t layers = 3) {
  return Planned(With(settings), Qwen({.layers = layers})).Kept();
}
// Returns how many bytes an additional layer keeps for backward.
uint64_t PerLayer(const Settings& settings) {
  const uint64_t few = KeptOf(settings, 4), many = KeptOf(settings, 8);
  return (many - few) / 4;
}
constexpr uint64_t kInput = kBatch * kSeq * 64 * 4;  // per layer

TEST(Proof, T03_CheckpointsKeepOnlyTheirInputs) {
  const Settings layer = {{"checkpointing.mode", "layer"}};
  for (const char* reentrant : {"true", "false"}) {
    Settings settings = layer;
    settings["checkpointing.reentrant"] = reentrant;
    EXPECT_EQ(PerLayer(settings), kInput) << reentrant;
  }
  EXPECT_EQ(PerLayer({{"checkpointing.mode", "every-k"}, {"checkpointing.k", "2"}}), kInput / 2);
  EXPECT_EQ(PerLayer({{"checkpointing.mode", "alternate"}}), (PerLayer({}) + kInput) / 2);
  for (const char* part : {"attention", "ffn"}) {
    EXPECT_LT(PerLayer({{"checkpointing.mode", part}}), PerLayer(Settings{})) << part;
    EXPECT_GT(PerLayer({{"checkpointing.mode", part}}), kInput) << part;
  }
  // In each step, each module in a checkpointed layer must run twice. Only one layer at a time may
  // have all its activations.
  const Planned plan(With(layer), Qwen({.layers = 4})), more(With(layer), Qwen({.layers = 8}));
  EXPECT_EQ(plan.Calls("layers.1.mlp.up_proj", Phase::kForward, 2), 1);
  EXPECT_EQ(plan.Calls("layers.1.mlp.up_proj", Phase::kBackward, 2), 1);
  EXPECT_EQ(more.Peak(Category::kActivation, 2, Phase::kBackward) -
                plan.Peak(Category::kActivation, 2, Phase::kBackward),
            4 * kInput);
}

TEST(Proof, T04_OnlyAdaptersHaveGradientsAndState) {
  for (const auto& [preset, targets, n] : {std::tuple("qwen2-0.5b", "q_proj,v_proj", 540'672u),
                                           std::tuple("mt5-base", "q,v", 884'736u)}) {
    run::RunConfigBuilder builder;
    ASSERT_TRUE(builder.SetPreset(preset).ok());
    for (const auto& [key, value] :
         {std::pair("batch", "1"), std::pair("seq", "16"), std::pair("lora.rank", "8"),
          std::pair("lora.targets", targets), std::pair("optimizer.name", "adamw")}) {
      ASSERT_TRUE(builder.Set(key, value).ok()) << key;
    }
    const RunResult result = RunTiny(*builder.Build());
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.trace->info.model.trainable_count, n);
    uint64_t state = 0;
    const trace::AllocationTable& all = result.trace->allocations;
    for (uint32_t row = 0; row < all.size(); ++row) {
      const std::string_view module = result.trace->String(all.module[row]);
      if (all.main_category[row] == Category::kOptimizerState) state += all.bytes[row];
      if (all.main_category[row] == Category::kGradient) {
        EXPECT_NE(module.find(".lora"), std::string_view::npos) << module;
      }
    }
    EXPECT_EQ(state, 8u * n) << preset;
  }
}

TEST(Proof, T05_LayerAdaptersKeepLessAndTrainAlone) {
  const Settings settings = With({{"lora.placement", "layer-parallel"}, {"lora.rank", "4"}});
  const Planned plan(settings);
  EXPECT_EQ(plan.trace->info.model.trainable_count, 3u * 4 * 2 * 64);
  EXPECT_LT(plan.Kept(), KeptOf(Settings{}));
  // Backward must run through the frozen layers, but their weights must not get gradients.
  const trace::AllocationTable& all = plan.trace->allocations;
  EXPECT_FALSE(plan.Blocks([&](uint32_t r) {
                     return all.step[r] == 2 && all.phase[r] == Phase::kBackward &&
                            plan.trace->String(all.module[r]).find("mlp") != std::string_view::npos;
                   })
                   .empty());
  EXPECT_EQ(plan.Peak(Category::kGradient, 2), 4u * 3 * 4 * 2 * 64);
}

TEST(Proof, T06_TowerLeavesTheTrunkWithoutBackward) {
  const auto tower = [](int64_t layers) {
    return Planned(With({{"lora.placement", "tower"}, {"lora.rank", "4"}}),
                   Qwen({.layers = layers}));
  };
  const Planned plan = tower(4), more = tower(8);
  const trace::AllocationTable& all = plan.trace->allocations;
  EXPECT_TRUE(plan.Blocks([&](uint32_t r) {
                    const std::string_view module = plan.trace->String(all.module[r]);
                    return all.step[r] == 2 && all.phase[r] == Phase::kBackward &&
                           module.find("layers.") != std::string_view::npos;
                  })
                  .empty());
  // An additional layer keeps its output, which the tower reads, and the projection of this output
  // to the few dimensions of the tower.
  const uint64_t each = (more.Kept() - plan.Kept()) / 4;
  EXPECT_EQ(each, kInput + kInput * 4 / 64);
  EXPECT_LT(each, PerLayer(Settings{{"lora.placement", "layer-parallel"}, {"lora.rank", "4"}}) / 4);
}

TEST(Proof, T07_LayersBelowTheTrainedOnesKeepNothing) {
  EXPECT_EQ(PerLayer({{"trainable", "last-layer"}}), 0u);
  EXPECT_GT(PerLayer({{"trainable", "first-layer"}}), 0u);
  EXPECT_LT(PerLayer({{"trainable", "first-layer"}}), PerLayer(Settings{}));
  const Planned first(With({{"trainable", "first-layer"}})),
      last(With({{"trainable", "last-layer"}}));
  EXPECT_EQ(first.Peak(Category::kGradient, 2), last.Peak(Category::kGradient, 2));
  EXPECT_EQ(first.trace->info.model.trainable_count, last.trace->info.model.trainable_count);
}

TEST(Proof, T08_ScoresAreQuadraticUnlessFused) {
  const auto second_difference = [](const char* attention) {
    const auto kept = [&](const char* seq) {
      return static_cast<int64_t>(KeptOf({{"attention", attention}, {"seq", seq}}));
    };
    return kept("96") - 2 * kept("64") + kept("32");
  };
  EXPECT_EQ(second_difference("efficient"), 0);
  // Without a fused kernel, each layer keeps the result of softmax, which has 4 b a s^2 bytes.
  EXPECT_EQ(second_difference("eager"), 3 * 4 * static_cast<int64_t>(kBatch) * 4 * 2 * 32 * 32);
  EXPECT_GT(second_difference("math"), 0);
  for (const char* refused : {"flash", "cudnn"}) {
    run::RunConfig config = TinyConfig(run::Backend::kPlan, Qwen().c_str());
    config.Set("attention", refused);
    const RunResult result = RunTiny(config);
    EXPECT_NE(std::string(result.status.message()).find("needs a 16-bit precision"),
              std::string::npos)
        << refused;
  }
}

TEST(Proof, T09_KeptBytesAreLinearInTheBatch) {
  const auto kept = [](const char* batch) { return KeptOf({{"batch", batch}}); };
  EXPECT_EQ(kept("6") - kept("4"), kept("4") - kept("2"));
}

TEST(Proof, T10_AccumulationKeepsOneMicroBatchAndGradients) {
  const Planned parts(With({{"batch", "8"}, {"micro_batches", "4"}}));
  const Planned one(With({{"batch", "2"}}));
  EXPECT_EQ(parts.Kept(), one.Kept());
  const uint64_t all = 4 * Sum(parts.Parameters());
  int steps = 0, micro_batch = -1;
  uint64_t least = all;
  bool inside = false;
  parts.Walk([&](uint32_t i, const Planned::Bytes& live) {
    const trace::EventTable& events = parts.trace->events;
    const auto phase = static_cast<Phase>(events.detail[i]);
    if (events.kind[i] == EventKind::kPhaseBegin && phase == Phase::kOptimizer) ++steps;
    if (events.kind[i] == EventKind::kMicroBatchBegin) {
      micro_batch = static_cast<int>(events.id[i]);
      inside = micro_batch > 0;
    }
    if (events.kind[i] == EventKind::kStepEnd || events.kind[i] == EventKind::kStepBegin ||
        (events.kind[i] == EventKind::kPhaseBegin && phase == Phase::kZeroGrad)) {
      inside = false;
    }
    if (inside) least = std::min(least, live[Planned::Index(Category::kGradient)]);
  });
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(least, all);
}

TEST(Proof, T16_Int8ActivationsHaveAScalePer256) {
  const Settings large = {{"batch", "16"}};
  Settings packed = large;
  packed["activation_compression"] = "int8";
  const uint64_t wide = KeptOf(large), bytes = KeptOf(packed);
  EXPECT_LT(bytes, wide * 45 / 100);
  EXPECT_GT(bytes, wide / 4);
  // Each element takes one byte. Each group of 256 elements also has a scale of four bytes.
  const Planned plan(With(packed));
  const trace::AllocationTable& all = plan.trace->allocations;
  uint64_t codes = 0, scales = 0;
  for (uint32_t row : plan.Blocks([&](uint32_t r) {
         return all.step[r] == 2 && all.phase[r] != Phase::kBackward &&
                all.main_category[r] == Category::kActivation;
       })) {
    const std::string_view op = plan.trace->String(all.op[row]);
    if (op == "aten::to" || op == "aten::_to_copy") codes += all.bytes[row];
    if (op == "aten::amax") scales += all.bytes[row];
  }
  EXPECT_GT(codes, 0u);
  EXPECT_EQ(codes, scales * 64);
}

TEST(Proof, T17_WithoutGraphNothingIsKept) {
  const Planned inference(With({{"mode", "inference"}}));
  const Planned::Bytes live = inference.At(EventKind::kPhaseEnd, Phase::kLoss, 2);
  EXPECT_EQ(live[Planned::Index(Category::kActivation)], 0u);
  EXPECT_EQ(inference.AllocatedIn(Category::kGradient), 0u);
  EXPECT_EQ(inference.AllocatedIn(Category::kOptimizerState), 0u);
  const auto evaluated = [](const char* how) {
    const Planned plan(With({{"eval", how}, {"batch", "16"}}));
    uint64_t peak = 0;
    bool inside = false;
    plan.Walk([&](uint32_t i, const Planned::Bytes& now) {
      const trace::EventTable& events = plan.trace->events;
      const bool eval = static_cast<Phase>(events.detail[i]) == Phase::kEval;
      if (eval && events.kind[i] == EventKind::kPhaseBegin) inside = true;
      if (eval && events.kind[i] == EventKind::kPhaseEnd) inside = false;
      uint64_t sum = 0;
      for (const uint64_t bytes : now) sum += bytes;
      if (inside) peak = std::max(peak, sum);
    });
    return peak;
  };
  EXPECT_LT(evaluated("no_grad"), evaluated("grad") / 2);
}

TEST(Proof, T21_PinnedBatchesDoNotChangeGpuMemory) {
  EXPECT_EQ(Planned(With({})).Stream(), Planned(With({{"pin_memory", "true"}})).Stream());
}

TEST(Proof, T22_KvCacheInTrainingMatchesItsFormula) {
  const Shape s;
  // With checkpointing, the cache adds 2 L b s kv d e bytes. Without checkpointing, keys and values
  // are kept for backward anyway.
  const uint64_t keys_and_values =
      2 * 4 * kBatch * kSeq * static_cast<uint64_t>(s.kv_heads * s.head());
  Settings settings = {{"checkpointing.mode", "layer"}};
  const uint64_t without = PerLayer(settings);
  settings["use_cache"] = "true";
  EXPECT_EQ(Planned(With(settings)).Peak(Category::kKvCache, 2, Phase::kForward),
            3 * keys_and_values);
  EXPECT_EQ(without, kInput);
}

TEST(Proof, T23_Int8InferenceWeightsMatchFormula) {
  const Shape s;
  const Planned plan(With({{"mode", "inference"}, {"quantization", "int8"}}));
  const Planned::Bytes live = plan.At(EventKind::kPhaseBegin, Phase::kForward, 2);
  const auto h = static_cast<uint64_t>(s.hidden), f = static_cast<uint64_t>(s.feed);
  const auto kv = static_cast<uint64_t>(s.kv_heads * s.head()), l = static_cast<uint64_t>(s.layers);
  const uint64_t linear = l * (2 * h * h + 2 * kv * h + 3 * h * f);
  const uint64_t rest = l * (2 * h + h + 2 * kv) + h + static_cast<uint64_t>(s.vocab) * h;
  EXPECT_EQ(live[Planned::Index(Category::kParameter)], linear + 4 * rest);
  const uint64_t rows = l * (2 * h + 2 * kv + 2 * f + h);
  EXPECT_GE(live[Planned::Index(Category::kBuffer)], 4 * rows);
  EXPECT_LT(live[Planned::Index(Category::kBuffer)], 4 * rows + 4096);
}

TEST(Proof, T24_PrefixMatchesItsFormula) {
  const Shape s;
  const uint64_t p = 16;
  const Planned plan(With({{"prefix.tokens", "16"}}));
  const uint64_t n = p * 2 * static_cast<uint64_t>(s.layers * s.kv_heads * s.head());
  EXPECT_EQ(plan.trace->info.model.trainable_count, n);
  EXPECT_EQ(plan.Peak(Category::kGradient, 2), 4 * n);
  // Attention scores over s tokens and p tokens of the prefix must be saved.
  const uint64_t scores = 4 * kBatch * 4 * kSeq * (kSeq + p);
  const trace::AllocationTable& all = plan.trace->allocations;
  EXPECT_GE(plan.Blocks([&](uint32_t r) {
                  return all.step[r] == 2 && all.bytes[r] == scores &&
                         all.main_category[r] == Category::kActivation;
                })
                .size(),
            3u);
}

TEST(Proof, T28_CachedTrunkOutputsAreCopiedFromTheHost) {
  const Planned plan(
      With({{"lora.placement", "tower"}, {"lora.rank", "4"}, {"lora.trunk", "cached"}}));
  EXPECT_GT(plan.Calls("layers.1.mlp", Phase::kForward, 0), 0);
  for (const int step : {1, 2}) {
    EXPECT_EQ(plan.Calls("layers.", Phase::kForward, step), 0) << step;
    EXPECT_GE(plan.Copied(MemorySpace::kPinned, MemorySpace::kDevice, step), 3 * kInput) << step;
  }
  const Planned runs(With({{"lora.placement", "tower"}, {"lora.rank", "4"}}));
  const auto weights = [](const Planned& p) {
    return p.At(EventKind::kPhaseBegin, Phase::kForward, 2)[Planned::Index(Category::kParameter)];
  };
  EXPECT_LT(weights(plan), weights(runs));
}

TEST(Proof, X02_ChunkedLossLowersThePeak) {
  const auto peak = [](const Settings& settings) {
    return Planned(With(settings), Qwen({.vocab = 32768})).PeakOfAll();
  };
  Settings settings = {{"batch", "16"}};
  const uint64_t full = peak(settings);
  settings["loss"] = "chunked";
  settings["loss_chunks"] = "8";
  const uint64_t eight = peak(settings);
  settings["loss_chunks"] = "32";
  EXPECT_LT(peak(settings), eight);
  // Three tensors, each as large as the logits, must shrink to an eighth.
  const uint64_t logits = 16 * kSeq * 32768 * 4;
  EXPECT_GT(full - eight, 2 * logits);
}

// If logits are kept, all of them exist when backward begins. They have the type of the weights,
// and the loss saves two more numbers per row. If logits are recomputed, none exist when backward
// begins. The output layer may keep its input, too.
TEST(Proof, X02_KeptLogitsAddTheirSize) {
  constexpr uint64_t kVocabulary = 32768, kBatch = 16;
  const auto plan = [](const char* keeps) {
    return Planned(
        With({{"batch", "16"}, {"precision", "bf16"}, {"loss", "chunked"}, {"loss_keeps", keeps}}),
        Qwen({.vocab = kVocabulary}));
  };
  const Planned again = plan("nothing"), kept = plan("logits");
  const uint64_t tokens = kBatch * kSeq, logits = tokens * kVocabulary * 2;
  const uint64_t rows = tokens * (2 * sizeof(float) + 2 * sizeof(int64_t)), parts = tokens * 64 * 2;
  EXPECT_GE(kept.Kept() - again.Kept(), logits + tokens * 2 * sizeof(float));
  EXPECT_LE(kept.Kept() - again.Kept(), logits + rows + parts + 4096);
}

// While the loss is computed, there is a second fp32 copy of all logits but those of the last
// token. If the model converts the logits to fp32, it has freed the 16-bit logits by then.
TEST(Proof, X02_OlderVersionsCopyTheLogits) {
  constexpr uint64_t kVocabulary = 32768, kBatch = 16;
  const auto plan = [](const char* path, const char* precision) {
    return Planned(With({{"batch", "16"}, {"loss_path", path}, {"precision", precision}}),
                   Qwen({.vocab = kVocabulary}));
  };
  const auto copies = [](const Planned& planned) {
    const auto& bytes = planned.trace->allocations.bytes;
    return std::ranges::count(bytes, uint64_t{4} * kBatch * (kSeq - 1) * kVocabulary);
  };
  for (const char* precision : {"fp32", "bf16"}) {
    EXPECT_EQ(copies(plan("labels-shifted", precision)), 0) << precision;
    const auto cut = copies(plan("logits-cut", precision));
    EXPECT_GE(cut, 3 * 3) << precision << ": the copy, its log-softmax and gradient of three steps";
    EXPECT_EQ(copies(plan("upcast-in-model", precision)), cut) << precision;
  }
  EXPECT_EQ(plan("upcast-in-model", "fp32").PeakOfAll(), plan("logits-cut", "fp32").PeakOfAll());
  EXPECT_LT(plan("upcast-in-model", "bf16").PeakOfAll(), plan("logits-cut", "bf16").PeakOfAll());
}

TEST(Proof, X05_KeptBytesGrowWithTheBudget) {
  uint64_t before = 0;
  for (const char* budget : {"0", "0.25", "0.5", "0.75", "1"}) {
    const uint64_t kept =
        PerLayer({{"checkpointing.mode", "budget"}, {"checkpointing.budget", budget}});
    EXPECT_GE(kept, before) << budget;
    before = kept;
    if (budget == std::string_view("0")) {
      EXPECT_EQ(kept, kInput);
    }
  }
  EXPECT_LT(before, PerLayer(Settings{}));
  EXPECT_GT(PerLayer({{"checkpointing.mode", "selective"}}), kInput);
  EXPECT_LT(PerLayer({{"checkpointing.mode", "selective"}}), PerLayer(Settings{}));
}

// The layer has several sets of products that fill the budget at equal cost, so PyTorch's solver
// has a choice. dp_knapsack of torch 2.11 returns k_proj, attention, gate_proj and down_proj.
TEST(Proof, X05_BudgetMatchesPyTorchsSolver) {
  const auto kept = [](const char* budget) {
    const auto of = [&](int64_t layers) {
      return Planned(With({{"checkpointing.mode", "budget"},
                           {"checkpointing.budget", budget},
                           {"attention", "efficient"}}),
                     Qwen({.layers = layers, .feed = 384}))
          .Kept();
    };
    return (of(8) - of(4)) / 4;
  };
  const uint64_t outputs = kBatch * kSeq * (32 + 64 + 384 + 64) * 4;
  const uint64_t sums = kBatch * 4 * kSeq * 4;  // sums of attention's exponentials
  EXPECT_GE(kept("0.5") - kept("0"), outputs + sums);
  EXPECT_LT(kept("0.5") - kept("0"),
            outputs + sums + 1024);  // the state of the random number generator
}

TEST(Proof, X06_OffloadedActivationsAreCopiedBack) {
  const Planned plan(With({{"offload.activations", "cpu"}, {"batch", "16"}}));
  const Planned plain(With({{"batch", "16"}}));
  const uint64_t out = plan.Copied(MemorySpace::kDevice, MemorySpace::kPinned, 2);
  const uint64_t back = plan.Copied(MemorySpace::kPinned, MemorySpace::kDevice, 2) -
                        plain.Copied(MemorySpace::kPinned, MemorySpace::kDevice, 2);
  // A tensor is copied back several times if several autograd nodes need it.
  EXPECT_GE(back, out);
  EXPECT_GT(out, plain.Kept() / 2);
  EXPECT_LT(plan.Kept(), plain.Kept() / 4);
}

// The setting alloc.NAME must have the same effect as NAME in alloc_conf, which is the text that
// PyTorch reads.
TEST(Proof, T20_AllocSettingsEqualAllocConfText) {
  const Settings lengths =
      With({{"lengths", "100,180,260,340,420,500"}, {"batch", "16"}, {"steps", "6"}});
  const auto segments = [](const Planned& planned) {
    std::vector<std::pair<trace::EventKind, uint64_t>> out;
    const trace::EventTable& events = planned.trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == trace::EventKind::kSegmentAlloc ||
          events.kind[i] == trace::EventKind::kSegmentFree) {
        out.emplace_back(events.kind[i], events.bytes[i]);
      }
    }
    return out;
  };
  const auto by_default = segments(Planned(lengths));
  for (const auto& [name, value, differs] :
       std::initializer_list<std::tuple<const char*, const char*, bool>>{
           {"max_split_size_mb", "20", true},
           {"roundup_power2_divisions", "[1:2,>:2]", true},
           {"per_process_memory_fraction", "0.9", false}}) {
    Settings one = lengths, text = lengths;
    one[std::string("alloc.") + name] = value;
    text["alloc_conf"] = std::string(name) + ":" + value;
    const Planned by_setting(one), by_text(text);
    EXPECT_EQ(by_setting.Stream(), by_text.Stream()) << name;
    EXPECT_EQ(segments(by_setting), segments(by_text)) << name;
    EXPECT_EQ(segments(by_setting) != by_default, differs) << name;
    EXPECT_EQ(by_setting.trace->info.alloc_conf, text["alloc_conf"]);
  }
}

TEST(Proof, X11_ExpandableSegmentsLowerReservedPeak) {
  const Settings lengths =
      With({{"lengths", "100,180,260,340,420,500"}, {"batch", "16"}, {"steps", "6"}});
  Settings grown = lengths;
  grown["alloc_conf"] = "expandable_segments:True";
  const Planned fixed(lengths), expandable(grown);
  EXPECT_EQ(fixed.Stream(), expandable.Stream());
  EXPECT_LT(expandable.PeakReserved(), fixed.PeakReserved());
}

// A fused norm keeps its input and one number per row. A fused silu(gate) * up keeps its two inputs
// and the product.
TEST(Proof, X17_FusedKernelsKeepFewerTensors) {
  const Shape s;
  const uint64_t tokens = kBatch * kSeq;
  EXPECT_EQ(PerLayer({}) - PerLayer({{"kernels", "fused"}}),
            tokens * 4 * static_cast<uint64_t>(2 * s.hidden + s.feed));
}

TEST(Proof, X21_LoraFaTrainsOnlyMatrixB) {
  const Settings lora = {{"lora.rank", "8"}, {"precision", "bf16"}};
  Settings frozen = lora, stable = lora;
  frozen["lora.kind"] = "lora-fa";
  stable["lora.kind"] = "rslora";
  const auto trained = [](const Settings& settings) {
    return Planned(With(settings)).trace->info.model.trainable_count;
  };
  const Shape s;
  const uint64_t outputs = static_cast<uint64_t>(s.hidden + s.kv_heads * s.head());
  EXPECT_EQ(trained(frozen), 3 * 8 * outputs);
  EXPECT_EQ(trained(lora), 3 * 8 * (outputs + 2 * static_cast<uint64_t>(s.hidden)));
  // LoRA-FA freezes A, so the inputs of the adapters (in fp32) are not kept for backward.
  EXPECT_EQ(PerLayer(lora) - PerLayer(frozen), 2 * kInput);
  EXPECT_EQ(Planned(With(lora)).Stream(), Planned(With(stable)).Stream());
}

TEST(Proof, X24_GroupedKeysAndTyingSaveParameters) {
  const Planned grouped(With({})), all(With({}), Qwen({.kv_heads = 4}));
  const Shape s;
  const uint64_t more = static_cast<uint64_t>(2 * 2 * s.head());  // columns of keys and values
  EXPECT_EQ(all.trace->info.model.parameter_count - grouped.trace->info.model.parameter_count,
            3 * (more * 64 + more));
  std::string untied = Qwen();
  untied.replace(untied.find("true"), 4, "false");
  const Planned apart(With({}), untied);
  EXPECT_EQ(apart.trace->info.model.parameter_count - grouped.trace->info.model.parameter_count,
            512u * 64);
}

}  // namespace
}  // namespace vramscope::trainer
