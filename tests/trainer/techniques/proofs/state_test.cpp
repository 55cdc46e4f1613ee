// Checks the proofs of trainer/techniques/proofs.md about weights, gradients and optimizer state.
// Compares the declarations of each technique with its plan, to the byte.
#include "profiler/trace/activities.h"
#include "tests/trainer/techniques/proofs/planned.h"

namespace vramscope::trainer {
namespace {

using trace::Category;
using trace::EventKind;
using trace::MemorySpace;
using trace::Phase;

uint64_t StateOf(const Settings& settings) {
  return Planned(settings).AllocatedIn(Category::kOptimizerState);
}
// Applies `rule` to the number of elements of each parameter, and returns the sum.
uint64_t ByTensor(const std::function<uint64_t(uint64_t n)>& rule) {
  uint64_t sum = 0;
  for (const uint64_t n : Planned(Settings{}).Parameters()) sum += rule(n);
  return sum;
}

TEST(Proof, T01_SixteenBitWeightsHalveWeightsAndState) {
  const Planned wide(Settings{}), half(Settings{{"precision", "bf16"}});
  EXPECT_EQ(wide.AllocatedIn(Category::kParameter), 2 * half.AllocatedIn(Category::kParameter));
  EXPECT_EQ(wide.AllocatedIn(Category::kOptimizerState),
            2 * half.AllocatedIn(Category::kOptimizerState));
  EXPECT_EQ(wide.Peak(Category::kGradient, 2), 2 * half.Peak(Category::kGradient, 2));
}

TEST(Proof, T02_AutocastKeepsMastersAndCastsEachWeightOnce) {
  const Planned wide(Settings{{"seq", "28"}}),
      autocast(Settings{{"seq", "28"}, {"precision", "amp-bf16"}});
  for (const Category category : {Category::kParameter, Category::kOptimizerState}) {
    EXPECT_EQ(wide.AllocatedIn(category), autocast.AllocatedIn(category));
  }
  EXPECT_EQ(wide.Peak(Category::kGradient, 2), autocast.Peak(Category::kGradient, 2));
  // Each forward must make one 16-bit copy of each weight of a linear layer.
  const Shape s;
  std::map<uint64_t, int> wanted;  // bytes -> copies
  for (const int64_t n :
       {s.hidden * s.hidden, s.hidden * s.kv_heads * s.head(), s.hidden * s.kv_heads * s.head(),
        s.hidden * s.hidden, s.hidden * s.feed, s.hidden * s.feed, s.hidden * s.feed}) {
    wanted[2 * static_cast<uint64_t>(n)] += static_cast<int>(s.layers);
  }
  wanted[2 * static_cast<uint64_t>(s.vocab * s.hidden)] += 1;  // the output layer
  std::map<uint64_t, int> seen;
  const trace::AllocationTable& all = autocast.trace->allocations;
  for (uint32_t row : autocast.Blocks([&](uint32_t r) {
         return all.step[r] == 2 && all.phase[r] == Phase::kForward &&
                wanted.contains(all.bytes[r]) &&
                autocast.trace->String(all.op[r]).find("to") != std::string_view::npos;
       })) {
    ++seen[all.bytes[row]];
  }
  EXPECT_EQ(seen, wanted);
}

// In inference, there is no graph, so only autocast's cache keeps the casts of weights alive.
TEST(Proof, T02_WithoutCastCacheCastsAreFreedEarly) {
  const Shape s{.layers = 8, .hidden = 256, .feed = 1024};
  const auto plan = [&](Settings settings, const char* cache) {
    settings.insert(
        {{"precision", "amp-bf16"}, {"cast_cache", cache}, {"batch", "1"}, {"seq", "8"}});
    return Planned(settings, Qwen(s));
  };
  const auto layers = 2 * static_cast<uint64_t>(s.layers * (2 * s.hidden * s.hidden +
                                                            2 * s.hidden * s.kv_heads * s.head() +
                                                            3 * s.hidden * s.feed));
  const Settings inference = {{"mode", "inference"}}, train = {{"optimizer.name", "sgd"}},
                 checkpoints = {{"checkpointing.mode", "layer"}, {"optimizer.name", "sgd"}};
  const uint64_t saved = plan(inference, "true").PeakOfAll() - plan(inference, "false").PeakOfAll();
  EXPECT_GT(saved, layers * 9 / 10);
  EXPECT_LE(saved, layers);
  // In training, the graph keeps casts alive anyway. In forward, re-entrant checkpoints keep no
  // casts alive.
  EXPECT_EQ(plan(train, "true").PeakOfAll(), plan(train, "false").PeakOfAll());
  const auto in_forward = [&](const char* cache) {
    return plan(checkpoints, cache).Peak(Category::kTemporary, 2, Phase::kForward);
  };
  EXPECT_GT(in_forward("true"), in_forward("false") + layers * 8 / 10);
}

TEST(Proof, T02_Tf32IsFasterAndAllocatesTheSame) {
  const std::string model = Qwen({.layers = 2, .hidden = 1024, .feed = 4096, .heads = 8});
  const auto plan = [&](const char* tf32) {
    return Planned(Settings{{"tf32", tf32}, {"device", "a100-80gb"}, {"seq", "256"}}, model);
  };
  const Planned slow = plan("false"), fast = plan("true");
  EXPECT_EQ(slow.Stream(), fast.Stream());
  const auto kernels = [](const Planned& planned) {
    int64_t sum = 0;
    const trace::ActivityTable& all = planned.trace->activities;
    for (uint32_t row = 0; row < all.size(); ++row) {
      if (all.kind[row] == trace::ActivityKind::kKernel) sum += all.end_ns[row] - all.begin_ns[row];
    }
    return sum;
  };
  EXPECT_LT(kernels(fast), kernels(slow) / 2);
}

TEST(Proof, T11_SgdHasNoStateAndItsStepAllocatesNothing) {
  for (const char* impl : {"loop", "foreach", "fused"}) {
    const Planned sgd(Settings{{"optimizer.name", "sgd"}, {"optimizer.impl", impl}});
    EXPECT_EQ(sgd.AllocatedIn(Category::kOptimizerState), 0u) << impl;
    EXPECT_TRUE(
        sgd.Blocks([&](uint32_t r) { return sgd.trace->allocations.phase[r] == Phase::kOptimizer; })
            .empty())
        << impl;
  }
}

TEST(Proof, T12_EightBitStateMatchesItsRule) {
  const auto in_8_bits = [](uint64_t n) {
    return n < 4096 ? 8 * n : 2 * n + 2 * 4 * ((n + 255) / 256);
  };
  EXPECT_EQ(StateOf({{"optimizer.bits", "8"}, {"optimizer.embedding_bits", "8"}}),
            2 * 256 * 4 + ByTensor(in_8_bits));
  // transformers' Trainer keeps the moments of the embedding in fp32.
  const Shape s;
  const auto embedding = static_cast<uint64_t>(s.vocab * s.hidden);
  EXPECT_EQ(StateOf({{"optimizer.bits", "8"}}),
            2 * 256 * 4 + ByTensor(in_8_bits) - in_8_bits(embedding) + 8 * embedding);
}

// Modelled kernels must take as long as the memory needs to transfer the bytes that they access.
TEST(Proof, T12_QuantisedStepTimeMatchesAccessedBytes) {
  const std::string model =
      Qwen({.layers = 2, .hidden = 2048, .feed = 8192, .heads = 16, .kv_heads = 16, .vocab = 8192});
  const auto kernels_ns = [&](Settings settings, int step) {
    settings.insert({{"batch", "1"}, {"device", "rtx-4090"}, {"optimizer.embedding_bits", "8"}});
    const Planned plan(settings, model);
    int64_t sum = 0;
    const trace::ActivityTable& all = plan.trace->activities;
    const auto [begin, end] = plan.PhaseTimes(Phase::kOptimizer, step);
    for (uint32_t row = 0; row < all.size(); ++row) {
      if (all.kind[row] == trace::ActivityKind::kKernel && all.begin_ns[row] >= begin &&
          all.end_ns[row] <= end)
        sum += all.end_ns[row] - all.begin_ns[row];
    }
    EXPECT_GE(end - begin, sum);
    return static_cast<double>(sum);
  };
  const auto n = static_cast<double>(Sum(Planned(Settings{}, model).Parameters()));
  const double per_byte = 1e9 / (0.9 * run::FindDevice("rtx-4090")->bandwidth_bytes_per_s);
  // In fp32, the update reads the gradient, and reads and writes the weight. It also reads and
  // writes two moments of one byte each.
  const double update = (4 + 2 * 4 + 2 * 2) * n * per_byte;
  for (const Settings& settings :
       {Settings{{"optimizer.bits", "8"}},
        Settings{{"optimizer.bits", "8"}, {"optimizer.paged", "true"}}}) {
    // The tolerance allows for small tensors, which fit into the GPU's cache and so take less time.
    EXPECT_NEAR(kernels_ns(settings, 1) / update, 1.0, 0.05) << settings.size();
    EXPECT_EQ(kernels_ns(settings, 1), kernels_ns(settings, 2));
  }
  EXPECT_GT(kernels_ns({{"optimizer.bits", "8"}, {"optimizer.library", "torchao"}}, 1), update);
  EXPECT_GT(kernels_ns({{"optimizer.bits", "4"}}, 1), (4 + 2 * 4 + 2 * 1) * n * per_byte);
}

// In forward, the weights must be dequantised by kernels that have a modelled duration.
TEST(Proof, X03_QuantisedLayersLaunchTimedKernels) {
  for (const auto& [how, kernel] : {std::pair{"nf4", "bitsandbytes::dequantize_4bit"},
                                    std::pair{"int8", "bitsandbytes::int8_linear_matmul"}}) {
    const Planned plan(Settings{{"quantization", how}, {"lora.rank", "8"}, {"precision", "bf16"}});
    int launched = 0;
    const trace::ActivityTable& all = plan.trace->activities;
    const auto [begin, end] = plan.PhaseTimes(Phase::kForward, 2);
    for (uint32_t row = 0; row < all.size(); ++row) {
      const bool matches = all.kind[row] == trace::ActivityKind::kKernel &&
                           plan.trace->String(all.name[row]).starts_with(kernel) &&
                           all.begin_ns[row] >= begin && all.end_ns[row] <= end;
      if (!matches) continue;
      EXPECT_GE(all.end_ns[row] - all.begin_ns[row], 1000) << how;
      ++launched;
    }
    EXPECT_EQ(launched, 7 * Shape{}.layers) << how;
  }
}

// prepare_kbit_training converts embeddings and norms to fp32, which takes two more bytes per
// weight. Biases of 4-bit layers are converted back to 16 bits.
TEST(Proof, X03_KbitPreparationCastsTheRestToFp32) {
  const Settings qlora = {{"quantization", "nf4"}, {"lora.rank", "8"}, {"precision", "bf16"}};
  Settings prepared = qlora;
  prepared["prepare_kbit_training"] = "true";
  const auto weights = [](const Settings& settings) {
    const Planned plan(settings);
    return plan.At(EventKind::kStepEnd, Phase::kNone, 2)[Planned::Index(Category::kParameter)];
  };
  const Shape s;
  const int64_t kept = s.vocab * s.hidden + s.layers * 2 * s.hidden + s.hidden;
  EXPECT_EQ(weights(prepared), weights(qlora) + 2 * static_cast<uint64_t>(kept));
}

TEST(Proof, T13_OffloadedOptimizerLeavesNoStateOnTheGpu) {
  const Planned offloaded(Settings{{"offload.optimizer", "cpu"}});
  EXPECT_EQ(offloaded.AllocatedIn(Category::kOptimizerState), 0u);
  const uint64_t n = 4 * Sum(Planned(Settings{}).Parameters());
  // e_g N bytes of gradients must be copied to the host, and e_w N bytes of weights back.
  EXPECT_EQ(offloaded.Copied(MemorySpace::kDevice, MemorySpace::kPinned, 2) +
                offloaded.Copied(MemorySpace::kDevice, MemorySpace::kPageable, 2),
            n);
  const Planned plain(Settings{});
  const auto to_gpu = [](const Planned& plan) {
    return plan.Copied(MemorySpace::kPinned, MemorySpace::kDevice, 2) +
           plan.Copied(MemorySpace::kPageable, MemorySpace::kDevice, 2);
  };
  EXPECT_EQ(to_gpu(offloaded) - to_gpu(plain), n);
}

TEST(Proof, T14_ShardsAddUpAndLayersAreGatheredTwice) {
  const Planned whole(Settings{});
  const auto shared = [](const char* rank) {
    return Planned(
        Settings{{"shard.strategy", "zero3"}, {"shard.ranks", "2"}, {"shard.rank", rank}});
  };
  uint64_t weights = 0, state = 0;
  for (const char* rank : {"0", "1"}) {
    const Planned part = shared(rank);
    const Planned::Bytes idle = part.At(EventKind::kPhaseBegin, Phase::kData, 2);
    weights += idle[Planned::Index(Category::kParameter)];
    state += part.AllocatedIn(Category::kOptimizerState);
  }
  EXPECT_EQ(weights, whole.AllocatedIn(Category::kParameter));
  EXPECT_EQ(state, whole.AllocatedIn(Category::kOptimizerState));
  // Each layer must be gathered twice. The rest of the model stays gathered until backward, so it
  // is gathered once.
  const Planned part = shared("0");
  int gathers = 0;
  const trace::ActivityTable& work = part.trace->activities;
  int64_t begin = 0, end = 0;
  for (uint32_t i = 0; i < part.trace->events.size(); ++i) {
    if (part.trace->events.id[i] != 2) continue;
    if (part.trace->events.kind[i] == EventKind::kStepBegin) begin = part.trace->events.time_ns[i];
    if (part.trace->events.kind[i] == EventKind::kStepEnd) end = part.trace->events.time_ns[i];
  }
  for (uint32_t row = 0; row < work.size(); ++row) {
    const trace::Activity activity = work.Row(row);
    const std::string_view name = part.trace->String(activity.name);
    gathers += activity.begin_ns >= begin && activity.begin_ns < end &&
               name.find("AllGather") != std::string_view::npos;
  }
  EXPECT_EQ(gathers, 2 * Shape{}.layers + 1);
}

// The step must take as long as it takes to read and write weights, gradients and two moments at
// the rate that the plan states.
TEST(Proof, T13_HostStepTakesTheModelledTime) {
  const auto takes_ns = [](const Settings& settings) {
    const Planned plan(settings, Qwen({.hidden = 256, .feed = 1024}));
    const trace::EventTable& events = plan.trace->events;
    int64_t begin = 0, takes = 0;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (static_cast<Phase>(events.detail[i]) != Phase::kOptimizer) continue;
      if (events.kind[i] == EventKind::kPhaseBegin) begin = events.time_ns[i];
      if (events.kind[i] == EventKind::kPhaseEnd) takes = events.time_ns[i] - begin;
    }
    return takes;
  };
  const uint64_t n = Sum(Planned(Settings{}, Qwen({.hidden = 256, .feed = 1024})).Parameters());
  const auto host_ns = static_cast<int64_t>(4 * 7 * n / 20);
  EXPECT_GT(takes_ns({{"offload.optimizer", "cpu"}}), host_ns);
  EXPECT_EQ(takes_ns({{"shard.strategy", "zero3"}, {"offload.parameters", "cpu"}}), host_ns);
  EXPECT_LT(takes_ns(Settings{}), host_ns / 2);
}

TEST(Proof, T15_OffloadedShardsLeaveTheGpuBetweenSteps) {
  const Planned part(
      Settings{{"shard.strategy", "zero3"}, {"shard.ranks", "2"}, {"offload.parameters", "cpu"}});
  const Planned::Bytes idle = part.At(EventKind::kPhaseBegin, Phase::kData, 2);
  EXPECT_EQ(idle[Planned::Index(Category::kParameter)], 0u);
  EXPECT_EQ(idle[Planned::Index(Category::kGradient)], 0u);
  EXPECT_EQ(part.AllocatedIn(Category::kOptimizerState), 0u);
  // During the step, layers are on the GPU only while they are gathered, so never all at once.
  const Planned whole(Settings{}),
      on_gpu(Settings{{"shard.strategy", "zero3"}, {"shard.ranks", "2"}});
  const uint64_t peak = part.Peak(Category::kParameter, 2);
  EXPECT_GT(peak, 0u);
  EXPECT_LT(peak, whole.AllocatedIn(Category::kParameter));
  // This rank's half of each layer must be copied to the GPU twice, and its half of the rest once.
  // Its half of the gradients must be copied back.
  const auto copied = [](const Planned& plan, bool to_gpu) {
    uint64_t bytes = 0;
    for (const MemorySpace host : {MemorySpace::kPinned, MemorySpace::kPageable})
      bytes += to_gpu ? plan.Copied(host, MemorySpace::kDevice, 2)
                      : plan.Copied(MemorySpace::kDevice, host, 2);
    return bytes;
  };
  const Shape s;
  const uint64_t all = 4 * Sum(whole.Parameters());
  const uint64_t rest = 4 * static_cast<uint64_t>(s.vocab * s.hidden + s.hidden);
  EXPECT_EQ(copied(part, true) - copied(on_gpu, true), (2 * (all - rest) + rest) / 2);
  EXPECT_EQ(copied(part, false) - copied(on_gpu, false), all / 2);
}

TEST(Proof, T18_ZeroGradReleasesOrKeepsGradients) {
  const Planned released(Settings{}), stay(Settings{{"zero_grad", "zero"}});
  const auto at_the_start = [](const Planned& plan) {
    return plan.At(EventKind::kPhaseBegin, Phase::kForward, 2)[Planned::Index(Category::kGradient)];
  };
  EXPECT_EQ(at_the_start(released), 0u);
  EXPECT_EQ(at_the_start(stay), 4 * Sum(released.Parameters()));
}

TEST(Proof, T25_CastOnDeviceReservesTheFp32Size) {
  const auto after_load = [](const Settings& settings) {
    uint64_t reserved = 0;
    std::string model = Qwen({.hidden = 512, .feed = 2048, .vocab = 32000});
    model.replace(model.find("true"), 4, "false");
    const Planned plan(settings, model);
    const trace::EventTable& events = plan.trace->events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == EventKind::kStepBegin) break;
      if (events.kind[i] == EventKind::kSegmentAlloc) reserved += events.bytes[i];
      if (events.kind[i] == EventKind::kSegmentFree) reserved -= events.bytes[i];
    }
    return std::pair(reserved, plan.AllocatedIn(Category::kParameter));
  };
  const auto [cast, wide] = after_load({{"precision", "bf16"}, {"load", "cast-on-device"}});
  const auto [made, narrow] = after_load({{"precision", "bf16"}, {"init_on_device", "true"}});
  const auto [moved, same] = after_load({{"precision", "bf16"}, {"load", "cast-on-cpu"}});
  EXPECT_GT(cast, 2 * narrow * 9 / 10);
  EXPECT_LT(made, narrow * 13 / 10);
  EXPECT_LT(moved, narrow * 13 / 10);
  EXPECT_EQ(narrow, same);
}

TEST(Proof, T26_DdpKeepsAllWeightsAndStateOnEachRank) {
  const Planned one(Settings{});
  const Planned rank(Settings{{"shard.strategy", "ddp"}, {"shard.ranks", "4"}});
  EXPECT_EQ(rank.AllocatedIn(Category::kParameter), one.AllocatedIn(Category::kParameter));
  EXPECT_EQ(rank.AllocatedIn(Category::kOptimizerState),
            one.AllocatedIn(Category::kOptimizerState));
}

// From the second step on, buckets must have the requested size.
TEST(Proof, T27_BucketsHaveTheRequestedSize) {
  const std::string model = Qwen({.layers = 6, .hidden = 256, .feed = 1024, .vocab = 512});
  const auto buckets = [&](const char* mib) {
    const Planned plan(Settings{{"shard.strategy", "ddp"},
                                {"shard.ranks", "2"},
                                {"shard.bucket_mb", mib},
                                {"optimizer.name", "sgd"}},
                       model);
    std::vector<uint64_t> sizes;
    const trace::AllocationTable& all = plan.trace->allocations;
    for (uint32_t row : plan.Blocks([&](uint32_t r) {
           return all.main_category[r] == Category::kCommunication && all.step[r] == 1 &&
                  all.bytes[r] > 65536;
         })) {
      sizes.push_back(all.bytes[row]);
    }
    return sizes;
  };
  const std::vector<uint64_t> small = buckets("2"), large = buckets("8");
  EXPECT_EQ(Sum(small), Sum(large));  // a second copy of all gradients
  EXPECT_GT(small.size(), large.size());
  // The gradient that fills a bucket is still added to it, so buckets may be larger.
  const uint64_t largest = 4 * 256 * 1024;
  for (const uint64_t size : small) EXPECT_LT(size, (2u << 20) + largest);
  EXPECT_GT(*std::max_element(large.begin(), large.end()), 8u << 20);
}

// With find_unused_parameters, DistributedDataParallel keeps its initial buckets, which have
// the requested size. Without it, there is one bucket until the order of the gradients is
// known.
TEST(Proof, T27_FindUnusedKeepsTheInitialBuckets) {
  const std::string model = Qwen({.layers = 6, .hidden = 256, .feed = 1024, .vocab = 512});
  const auto largest = [&](const char* finds) {
    const Planned plan(Settings{{"shard.strategy", "ddp"},
                                {"shard.ranks", "2"},
                                {"shard.bucket_mb", "2"},
                                {"shard.find_unused", finds},
                                {"optimizer.name", "sgd"}},
                       model);
    uint64_t bytes = 0;
    const trace::AllocationTable& all = plan.trace->allocations;
    for (uint32_t row = 0; row < all.size(); ++row) {
      if (all.main_category[row] == Category::kCommunication)
        bytes = std::max(bytes, all.bytes[row]);
    }
    return bytes;
  };
  EXPECT_EQ(largest("false"), 4 * Sum(Planned(Settings{}, model).Parameters()));
  EXPECT_LT(largest("true"), (2u << 20) + 4 * 256 * 1024);
}

TEST(Proof, X01_StepInBackwardLowersGradientMemory) {
  const Planned inside(Settings{{"optimizer.in_backward", "true"}});
  const std::vector<uint64_t> sizes = inside.Parameters();
  const uint64_t largest = 4 * *std::max_element(sizes.begin(), sizes.end());
  EXPECT_LE(inside.Peak(Category::kGradient, 2), 2 * largest);
  EXPECT_LT(inside.Peak(Category::kGradient, 2), 4 * Sum(sizes) / 2);
}

TEST(Proof, X04_PagedStateIsOutsideTheAllocator) {
  const std::string model = Qwen({.hidden = 512, .feed = 1024, .vocab = 2048});
  const Planned paged(Settings{{"optimizer.bits", "8"}, {"optimizer.paged", "true"}}, model);
  uint64_t wanted = 2 * 256 * 4;
  for (const uint64_t n : paged.Parameters()) {
    if (n == 512 * 2048) continue;  // the embedding has paged fp32 moments
    wanted += n < 4096 ? 8 * n : 2 * 4 * ((n + 255) / 256) + (n < 100'000 ? 2 * n : 0);
  }
  EXPECT_EQ(paged.AllocatedIn(Category::kOptimizerState), wanted);
}

TEST(Proof, X07_ForeachNeedsTemporariesAndFusedNone) {
  const auto temporaries = [](const char* impl) {
    return Planned(Settings{{"optimizer.impl", impl}})
        .Peak(Category::kTemporary, 2, Phase::kOptimizer);
  };
  const std::vector<uint64_t> sizes = Planned(Settings{}).Parameters();
  EXPECT_EQ(temporaries("foreach"), 4 * Sum(sizes));
  EXPECT_EQ(temporaries("fused"), 0u);
  EXPECT_LE(temporaries("loop"), 2 * 4 * *std::max_element(sizes.begin(), sizes.end()));
  EXPECT_GT(temporaries("loop"), 0u);
}

TEST(Proof, X08_StateOfEachOptimizerMatchesItsRule) {
  const auto of = [](const char* name) {
    return StateOf({{"optimizer.name", name}, {"optimizer.impl", "loop"}});
  };
  const uint64_t n = Sum(Planned(Settings{}).Parameters());
  EXPECT_EQ(of("lion"), 4 * n);
  EXPECT_EQ(of("adagrad"), 4 * n);
  EXPECT_EQ(StateOf({{"optimizer.name", "sgd"}, {"optimizer.momentum", "0.9"}}), 4 * n);
  // Adafactor has one number for each row and column of a matrix, and a full moment for vectors.
  const Shape s;
  const auto h = static_cast<uint64_t>(s.hidden), f = static_cast<uint64_t>(s.feed);
  const auto kv = static_cast<uint64_t>(s.kv_heads * s.head()), l = static_cast<uint64_t>(s.layers);
  const uint64_t vectors = l * (2 * h + h + 2 * kv) + h;
  const auto matrices = [&](const std::function<uint64_t(uint64_t rows, uint64_t columns)>& rule) {
    return l * (2 * rule(h, h) + 2 * rule(kv, h) + 2 * rule(f, h) + rule(h, f)) +
           rule(static_cast<uint64_t>(s.vocab), h);
  };
  EXPECT_EQ(of("adafactor"),
            4 * (matrices([](uint64_t m, uint64_t c) { return m + c; }) + vectors));
  // The second moment has one number for each row of a matrix and one for each whole vector.
  EXPECT_EQ(of("adam-mini"),
            4 * (n + matrices([](uint64_t m, uint64_t) { return m; }) + 5 * l + 2 * 0 + 1));
  // Muon keeps one moment for matrices. Vectors have the two moments of AdamW.
  EXPECT_EQ(of("muon"), 4 * (n - vectors) + 8 * vectors);
}

TEST(Proof, X09_GaloreStateMatchesItsRule) {
  const Shape s;
  const auto h = static_cast<uint64_t>(s.hidden), f = static_cast<uint64_t>(s.feed);
  const auto kv = static_cast<uint64_t>(s.kv_heads * s.head()), l = static_cast<uint64_t>(s.layers);
  const uint64_t rank = 8;
  const uint64_t vectors = l * (2 * h + h + 2 * kv) + h;
  // GaLore keeps a slice of the singular vectors. It is a view, so all vectors stay allocated.
  const auto chosen = [&](uint64_t m, uint64_t c) {
    return std::min(m, c) * std::min(m, c) + 2 * rank * std::max(m, c);
  };
  const uint64_t attention = 2 * chosen(h, h) + 2 * chosen(kv, h), mlp = 3 * chosen(f, h);
  const uint64_t embedding = static_cast<uint64_t>(s.vocab) * h;
  const auto state = [](const Settings& settings) {
    return Planned(settings).At(EventKind::kPhaseEnd, Phase::kOptimizer,
                                2)[Planned::Index(Category::kOptimizerState)];
  };
  // By default, GaLore projects the layers' linear modules. The embedding has full moments.
  EXPECT_EQ(state({{"galore.rank", "8"}}), 4 * (l * (attention + mlp) + 2 * (vectors + embedding)));
  EXPECT_EQ(state({{"galore.rank", "8"}, {"galore.targets", "mlp"}}),
            4 * (l * (mlp + 2 * (2 * h * h + 2 * kv * h)) + 2 * (vectors + embedding)));
  // If the rank is not smaller than a side, the state is as large as without GaLore. The projection
  // is still computed, and is stored in addition to the state.
  EXPECT_GT(state({{"galore.rank", "64"}}), state({}));
}

TEST(Proof, X09_RejectsInvalidGaloreTargets) {
  const auto error = [](const char* model, const char* targets) {
    run::RunConfig config = TinyConfig(run::Backend::kPlan, model);
    config.Set("galore.rank", "4");
    config.Set("galore.targets", targets);
    const absl::Status status = RunTiny(config).status;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_NE(error(kTinyGpt2, "layers").find("Conv1D"), std::string::npos);
  EXPECT_NE(error(kTinyBert, "attn").find("query"), std::string::npos);
  // The output layer is tied to the embedding, so its weight would be in both groups.
  EXPECT_NE(error(kTinyQwen, "all-linear").find("two parameter groups"), std::string::npos);
}

TEST(Proof, X10_SixteenAndFourBitStateMatchesRule) {
  EXPECT_EQ(StateOf({{"optimizer.bits", "16"}}), ByTensor([](uint64_t n) { return 4 * n; }));
  EXPECT_EQ(StateOf({{"optimizer.bits", "4"}}), ByTensor([](uint64_t n) {
              return n < 4096 || n % 128 != 0 ? 8 * n : n + 2 * 4 * (n / 128) + 2 * 16 * 4;
            }));
  EXPECT_EQ(StateOf({{"optimizer.bits", "8"}, {"optimizer.library", "torchao"}}),
            ByTensor([](uint64_t n) {
              return n < 4096 || n % 256 != 0 ? 8 * n : 2 * n + 2 * 4 * (n / 256) + 2 * 256 * 4;
            }));
  // Unlike the optimizers of bitsandbytes, those of torchao support sharded parameters.
  const Planned sharded(Settings{{"shard.strategy", "zero3"},
                                 {"shard.ranks", "2"},
                                 {"optimizer.bits", "8"},
                                 {"optimizer.library", "torchao"}});
  EXPECT_GT(sharded.AllocatedIn(Category::kOptimizerState), 0u);
  EXPECT_LT(sharded.AllocatedIn(Category::kOptimizerState), StateOf(Settings{}) / 2);
}

TEST(Proof, X18_BucketViewsSaveMemoryFp32GradientsStay) {
  const auto communication = [](const char* how) {
    return Planned(Settings{
        {"shard.strategy", "ddp"}, {"shard.ranks", "2"}, {"shard.gradients", how}, {"steps", "6"}});
  };
  const Planned copies = communication("copies"), views = communication("views");
  // The buckets do not change from step 2 on. The first buckets may still exist then, because
  // NCCL's watchdog frees them at some host time. So this returns the minimum over the steps.
  const auto both = [](const Planned& plan) {
    std::map<int, uint64_t> most;
    int step = -1;
    plan.Walk([&](uint32_t i, const Planned::Bytes& live) {
      const trace::EventTable& events = plan.trace->events;
      if (events.kind[i] == EventKind::kStepBegin) step = static_cast<int>(events.id[i]);
      if (step < 2) return;
      most[step] = std::max(most[step], live[Planned::Index(Category::kGradient)] +
                                            live[Planned::Index(Category::kCommunication)]);
    });
    EXPECT_EQ(most.size(), 4u);
    uint64_t least = most[2];
    for (const auto& [number, bytes] : most) least = std::min(least, bytes);
    return least;
  };
  const uint64_t n = Sum(copies.Parameters());
  // Views save the memory of all gradients but the one that is being copied into its bucket.
  const std::vector<uint64_t> sizes = copies.Parameters();
  EXPECT_EQ(both(copies) - both(views), 4 * (n - *std::max_element(sizes.begin(), sizes.end())));
  const Planned half(Settings{{"precision", "bf16"}});
  const Planned sums(Settings{{"precision", "bf16"}, {"gradients.dtype", "fp32"}});
  const uint64_t kept =
      sums.At(EventKind::kPhaseBegin, Phase::kForward, 2)[Planned::Index(Category::kGradient)];
  EXPECT_EQ(kept, 4 * n);
  EXPECT_EQ(
      half.At(EventKind::kPhaseBegin, Phase::kForward, 2)[Planned::Index(Category::kGradient)], 0u);
}

}  // namespace
}  // namespace vramscope::trainer
