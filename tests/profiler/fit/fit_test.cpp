// Tests the search with made-up plans, in which each technique saves a few gigabytes and costs
// time.
#include "profiler/fit/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "profiler/fit/waterfall.h"

namespace vramscope::fit {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;

run::RunConfig Config(const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  run::RunConfigBuilder builder;
  for (const auto& [key, value] : settings) EXPECT_TRUE(builder.Set(key, value).ok()) << key;
  const absl::StatusOr<run::RunConfig> config = builder.Build();
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// Without techniques, a plan needs 12 GiB and 100 ms. Techniques influence each other: for example,
// autocast saves no memory if checkpointing is on.
Planned Model(const run::RunConfig& c) {
  Planned p;
  p.step_ms = 100;
  p.context = kGiB / 2;
  double state = 6, activations = 6;
  if (c.Is("checkpointing.mode", "layer")) {
    activations = 1;
    p.step_ms += 30;
  } else if (c.Is("precision", "amp-bf16")) {
    activations = 4;
    p.step_ms -= 5;
  }
  if (c.Integer("lora.rank") > 0) {
    state = 2;
    p.step_ms -= 30;
  }
  activations *= static_cast<double>(c.batch) / (2.0 * c.micro_batches) * c.seq / 512.0;
  if (c.micro_batches > 1) p.step_ms += 10;
  p.reserved = static_cast<uint64_t>((state + activations) * static_cast<double>(kGiB));
  p.peak = p.reserved - kGiB / 8;
  return p;
}

absl::StatusOr<Fitted> Search(const run::RunConfig& config, uint64_t budget,
                              const Options& options = {}) {
  return Fit(
      config, budget,
      [](const std::vector<run::RunConfig>& configs) -> absl::StatusOr<std::vector<Planned>> {
        std::vector<Planned> planned;
        for (const run::RunConfig& each : configs) planned.push_back(Model(each));
        return planned;
      },
      options);
}

void ExpectSound(const Fitted& fitted, const run::RunConfig& start, uint64_t budget) {
  std::pair<run::Changes, double> before{};
  for (const Proposal& proposal : fitted.proposals) {
    run::RunConfigBuilder builder(start);
    for (const auto& [key, value] : proposal.settings) EXPECT_TRUE(builder.Set(key, value).ok());
    const Planned planned = Model(*builder.Build());
    EXPECT_EQ(planned.reserved, proposal.planned.reserved)
        << "a proposal has the figures of its plan";
    EXPECT_EQ(proposal.fits, planned.needed() <= budget);
    const std::pair rank(proposal.changes, planned.step_ms);
    EXPECT_GE(rank, before) << "smallest change first, then the fastest";
    before = rank;
    int64_t saved = 0;
    double cost = 0;
    for (const Step& step : proposal.steps) {
      saved += step.saves;
      cost += step.costs_ms;
      EXPECT_FALSE(step.move.why.empty());
      EXPECT_LE(step.move.changes, proposal.changes);
      EXPECT_FALSE(step.settings.empty());
    }
    EXPECT_EQ(saved,
              static_cast<int64_t>(fitted.start.reserved) - static_cast<int64_t>(planned.reserved));
    EXPECT_NEAR(cost, planned.step_ms - fitted.start.step_ms, 1e-9);
  }
  for (size_t i = 0; i < fitted.proposals.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(fitted.proposals[i].settings, fitted.proposals[j].settings) << "proposals differ";
  for (size_t i = 1; i < fitted.front.size(); ++i) {
    EXPECT_GE(fitted.front[i].planned.step_ms, fitted.front[i - 1].planned.step_ms);
    EXPECT_LT(fitted.front[i].planned.needed(), fitted.front[i - 1].planned.needed());
  }
}

TEST(Fit, ProposesUnchangedTrainingFirst) {
  const run::RunConfig start = Config();
  const absl::StatusOr<Fitted> fitted = Search(start, 8 * kGiB);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_FALSE(fitted->start_fits);
  ASSERT_GE(fitted->proposals.size(), 2u);
  for (const Proposal& proposal : fitted->proposals) EXPECT_TRUE(proposal.fits);
  ExpectSound(*fitted, start, 8 * kGiB);
  // Of the runs that train all weights, only checkpointing fits. LoRA with autocast takes 65 ms.
  EXPECT_EQ(fitted->proposals[0].changes, run::Changes::kNothing);
  EXPECT_EQ(fitted->proposals.back().changes, run::Changes::kTraining);
  EXPECT_TRUE(std::ranges::any_of(fitted->proposals, [](const Proposal& p) {
    return p.changes == run::Changes::kTraining && std::abs(p.planned.step_ms - 65) < 1e-9;
  })) << "the fastest plan that fits";
}

// The figures of a proposal are from a plan on a GPU whose memory is the budget. If that plan ran
// out of memory, the proposal does not fit, even if the plan reserved little.
TEST(Fit, PlansOnAGpuOfTheBudget) {
  int planned = 0;
  const absl::StatusOr<Fitted> fitted =
      Fit(Config(), 8 * kGiB,
          [&](const std::vector<run::RunConfig>& configs) -> absl::StatusOr<std::vector<Planned>> {
            std::vector<Planned> out;
            for (const run::RunConfig& each : configs) {
              EXPECT_EQ(run::ResolveDevice(each)->memory_bytes, 8 * kGiB);
              ++planned;
              out.push_back(Model(each));
              if (each.Integer("lora.rank") > 0) {
                out.back().out_of_memory = true;
                out.back().reserved = kGiB;
              }
            }
            return out;
          });
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_GT(planned, 3);
  ASSERT_FALSE(fitted->proposals.empty());
  for (const Proposal& proposal : fitted->proposals) {
    EXPECT_TRUE(proposal.fits);
    EXPECT_EQ(proposal.config.Integer("lora.rank"), 0);
    EXPECT_EQ(proposal.config.custom_device.memory_bytes, 0u)
        << "a proposal keeps the GPU of the run";
  }
}

TEST(UnderBudget, KeepsTheRunIfItsGpuHasTheBudget) {
  const run::RunConfig config = Config({{"device", "rtx-4090"}});
  const uint64_t memory = run::ResolveDevice(config)->memory_bytes;
  EXPECT_EQ(run::ToJson(UnderBudget(config, memory)), run::ToJson(config));
  EXPECT_EQ(run::ResolveDevice(UnderBudget(config, 8 * kGiB))->memory_bytes, 8 * kGiB);
  // A budget smaller than the CUDA context can be planned, too.
  const run::DeviceProfile tiny = *run::ResolveDevice(UnderBudget(config, 1));
  EXPECT_GT(tiny.memory_bytes, tiny.context_bytes);
}

// One move is enough to fit. To give more headroom, each further proposal adds a second move. The
// search tries these moves in the order of their savings until there are three proposals.
TEST(Fit, ProposesRunsWithMoreHeadroomIfOneMoveFits) {
  const run::RunConfig start = Config();
  int planned = 0;
  const auto model =
      [&](const std::vector<run::RunConfig>& configs) -> absl::StatusOr<std::vector<Planned>> {
    std::vector<Planned> out;
    for (const run::RunConfig& config : configs) {
      ++planned;
      Planned p{.reserved = 60 * kGiB, .step_ms = 100};
      if (config.Integer("lora.rank") > 0) {
        p.reserved = 20 * kGiB;
        // In addition to adapters, checkpointing or quantization saves memory but costs time.
        // optimizer.in_backward saves less than a twentieth of the memory.
        if (config.Is("checkpointing.mode", "layer")) p = {.reserved = 10 * kGiB, .step_ms = 130};
        if (config.Is("quantization", "nf4")) p = {.reserved = 15 * kGiB, .step_ms = 115};
        if (config.Is("optimizer.in_backward", "true")) p.reserved -= kGiB / 2;
      } else if (config.Is("checkpointing.mode", "layer")) {
        p.reserved = 50 * kGiB;
      }
      p.peak = p.reserved;
      out.push_back(p);
    }
    return out;
  };
  const absl::StatusOr<Fitted> fitted = Fit(start, 24 * kGiB, model, {.limits = false});
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  ASSERT_EQ(fitted->proposals.size(), 3u);
  for (const Proposal& proposal : fitted->proposals) {
    EXPECT_TRUE(proposal.fits);
    EXPECT_EQ(proposal.config.Is("lora.rank", "0"), false);
  }
  EXPECT_LE(fitted->proposals[0].planned.step_ms, 100);
  EXPECT_GT(fitted->proposals[1].planned.step_ms, 100);
  EXPECT_EQ(fitted->plans, planned) << "every combination that was considered was planned";
}

// On a very busy computer, the time for the search may end before the first combination is
// planned.
TEST(Fit, ContinuesPastItsPatienceUntilSomethingFits) {
  const run::RunConfig start = Config();
  const uint64_t budget = 4 * kGiB;  // LoRA with checkpointing needs 3.5 GiB
  const auto proposed = [&](std::chrono::milliseconds most) {
    const absl::StatusOr<Fitted> fitted =
        Search(start, budget, {.patience = std::chrono::milliseconds(0), .most_patience = most});
    EXPECT_TRUE(fitted.ok()) << fitted.status();
    ExpectSound(*fitted, start, budget);
    EXPECT_TRUE(fitted->cut_short);
    return fitted->proposals.at(0);
  };
  EXPECT_TRUE(proposed(std::chrono::hours(1)).fits);
  EXPECT_FALSE(proposed(std::chrono::milliseconds(0)).fits);
}

TEST(Fit, ProposesAFittingStartUnchangedAndFasterRuns) {
  const run::RunConfig start = Config();
  const absl::StatusOr<Fitted> fitted = Search(start, 24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  EXPECT_TRUE(fitted->start_fits);
  ExpectSound(*fitted, start, 24 * kGiB);
  for (const Proposal& proposal : fitted->proposals) EXPECT_TRUE(proposal.fits);
  // Only moves that change the training are faster: autocast alone, or, faster still, LoRA with
  // autocast.
  ASSERT_GE(fitted->proposals.size(), 2u);
  EXPECT_TRUE(fitted->proposals[0].settings.empty());
  EXPECT_EQ(fitted->proposals[0].planned.step_ms, fitted->start.step_ms);
  for (size_t i = 1; i < fitted->proposals.size(); ++i)
    EXPECT_LT(fitted->proposals[i].planned.step_ms, fitted->start.step_ms);
  EXPECT_NEAR(fitted->proposals.back().planned.step_ms, 65, 1e-9) << "the fastest";
}

TEST(Fit, ProposesTheSmallestRunIfNothingFits) {
  const absl::StatusOr<Fitted> fitted = Search(Config(), kGiB);
  ASSERT_TRUE(fitted.ok());
  EXPECT_FALSE(fitted->cut_short) << "the search was completed";
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_FALSE(fitted->proposals[0].fits);
  // This proposal needs the least of all planned runs. LoRA with checkpointing takes 3 GiB.
  ASSERT_FALSE(fitted->front.empty());
  EXPECT_EQ(fitted->proposals[0].planned.needed(), fitted->front.back().planned.needed());
  EXPECT_LE(fitted->proposals[0].planned.reserved, 3 * kGiB);
}

// The search first applies checkpointing, which then saves nothing in addition to micro-batches.
TEST(Fit, ProposalHasNoIdleMove) {
  const auto model =
      [](const std::vector<run::RunConfig>& configs) -> absl::StatusOr<std::vector<Planned>> {
    std::vector<Planned> out;
    for (const run::RunConfig& config : configs) {
      Planned p{.reserved = 12 * kGiB, .step_ms = 100};
      if (config.micro_batches > 1) {
        p.reserved -= 5 * kGiB;
        p.step_ms += 10;
      } else if (config.Is("checkpointing.mode", "layer")) {
        p.reserved -= 3 * kGiB;
      }
      if (config.Integer("lora.rank") > 0) {
        p.reserved -= 4 * kGiB;
        p.step_ms += 50;
      }
      p.peak = p.reserved;
      out.push_back(p);
    }
    return out;
  };
  const absl::StatusOr<Fitted> fitted =
      Fit(Config({{"batch", "2"}}), kGiB, model, {.limits = false});
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  ASSERT_EQ(fitted->proposals.size(), 1u);
  const Proposal& smallest = fitted->proposals[0];
  EXPECT_EQ(smallest.planned.reserved, 3 * kGiB);
  EXPECT_EQ(smallest.steps.size(), 2u);
  EXPECT_FALSE(smallest.config.Is("checkpointing.mode", "layer"));
  EXPECT_EQ(smallest.config.micro_batches, 2);
}

TEST(Fit, FindsLargestBatchAndLongestSequence) {
  // Memory grows with the sequence length: linearly, quadratically, in steps (like an allocator's),
  // or with the square root. A length above 16384 is refused.
  const auto grows = [](const run::RunConfig& c) {
    const double seq = c.seq / 512.0;
    const double batch = c.batch / (2.0 * c.micro_batches);
    return std::array{batch * seq, batch * seq * seq, std::ceil(batch * seq * 3) / 3,
                      batch * std::sqrt(seq)};
  };
  for (size_t kind = 0; kind < 4; ++kind) {
    const auto plan = [&](const run::RunConfig& c) {
      Planned p = Model(c);
      const double activations = c.Is("checkpointing.mode", "layer") ? 0.125 : 3;
      p.reserved = static_cast<uint64_t>((2 + activations * grows(c)[kind]) * kGiB);
      if (c.seq > 16384) p.error = "refused";
      return p;
    };
    int limits = 0;
    const PlanAll plans = [&](const std::vector<run::RunConfig>& configs) {
      std::vector<Planned> planned;
      for (const run::RunConfig& each : configs) planned.push_back(plan(each));
      for (const run::RunConfig& each : configs) limits += each.batch != 2 || each.seq != 512;
      return planned;
    };
    const absl::StatusOr<Fitted> fitted = Fit(Config(), 8 * kGiB, plans);
    ASSERT_TRUE(fitted.ok()) << fitted.status();
    const auto fits = [&](const run::RunConfig& c) {
      const Planned p = plan(c);
      return p.ok() && p.needed() <= 8 * kGiB;
    };
    for (const Proposal& proposal : fitted->proposals) {
      ASSERT_GT(proposal.largest_batch, 0);
      ASSERT_GT(proposal.longest_seq, 0);
      const auto with = [&](const char* key, int64_t value) {
        return *With({{key, std::to_string(value)}}, proposal.config);
      };
      const int64_t batch = proposal.largest_batch, seq = proposal.longest_seq;
      EXPECT_TRUE(fits(with("batch", batch))) << kind;
      EXPECT_EQ((batch - proposal.config.batch) % proposal.config.micro_batches, 0);
      const int64_t more = std::max<int64_t>(proposal.config.micro_batches, batch / 64);
      EXPECT_TRUE(batch + more > 16384 || !fits(with("batch", batch + more))) << kind;
      EXPECT_TRUE(fits(with("seq", seq))) << kind;
      EXPECT_FALSE(fits(with("seq", seq + std::max<int64_t>(64, seq / 64)))) << kind;
    }
    EXPECT_LE(limits, 10 * 2 * static_cast<int>(fitted->proposals.size())) << kind;
  }
}

TEST(Fit, PlannerErrorEndsTheSearch) {
  const auto failed = Fit(Config(), kGiB, [](const auto&) -> absl::StatusOr<std::vector<Planned>> {
    return absl::CancelledError("cancelled");
  });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kCancelled);
}

TEST(Moves, OmitTechniquesInUse) {
  const auto has = [](const run::RunConfig& config, std::string_view id) {
    return std::ranges::any_of(Moves(config), [&](const Move& move) { return move.id == id; });
  };
  EXPECT_TRUE(has(Config(), "checkpoint-layer"));
  EXPECT_FALSE(has(Config({{"checkpointing.mode", "layer"}}), "checkpoint-layer"));
  EXPECT_TRUE(has(Config({{"batch", "8"}}), "accumulate-8"));
  EXPECT_FALSE(has(Config({{"batch", "8"}}), "accumulate-16"));
  EXPECT_TRUE(has(Config({{"batch", "8"}, {"micro_batches", "4"}}), "accumulate-8"));
  EXPECT_FALSE(has(Config({{"batch", "3"}}), "accumulate-2"));
}

// Only declared techniques are listed.
TEST(Moves, FollowTheDeclarations) {
  const std::vector<Move> moves = Moves(Config());
  const auto find = [&](std::string_view id) {
    const auto at = std::ranges::find(moves, id, &Move::id);
    return at == moves.end() ? nullptr : &*at;
  };
  for (const char* id : {"lora", "dora", "nf4", "lion", "adafactor", "optimizer-paged", "fused",
                         "offload-activations", "expandable-segments", "chunked-loss"})
    EXPECT_NE(find(id), nullptr) << id;
  for (const char* id : {"sgd", "zero3", "last-layer", "generate", "adam-2023"})
    EXPECT_EQ(find(id), nullptr) << id << ": not the requested training";
  EXPECT_EQ(find("chunked-loss")->changes, run::Changes::kNothing);
  EXPECT_EQ(find("bf16")->changes, run::Changes::kRounding);
  EXPECT_EQ(find("lora")->changes, run::Changes::kTraining);

  // Moves must obey the rules in the declarations of techniques. For example, 4-bit weights need
  // adapters, and Lion exists only as a loop over the parameters.
  EXPECT_THAT(std::string(Applied(*find("nf4"), Config()).status().message()), HasSubstr("lora"));
  const auto adapters = Applied(*find("lora"), Config());
  ASSERT_TRUE(adapters.ok()) << adapters.status();
  EXPECT_TRUE(Applied(*find("nf4"), *adapters).ok());
  const auto lion = Applied(*find("lion"), Config());
  ASSERT_TRUE(lion.ok()) << lion.status();
  EXPECT_EQ(lion->Get("optimizer.impl"), "loop");
  EXPECT_THAT(Changed(Config(), *lion),
              ::testing::Contains(Settings::value_type{"optimizer.impl", "loop"}));
}

TEST(Ladder, HasOneRungPerTechniqueInTheGivenOrder) {
  const run::RunConfig now = Config(
      {{"precision", "bf16"}, {"attention", "flash"}, {"lora.rank", "8"}, {"lora.alpha", "32"}});
  auto ladder = Ladder(Config(), now, {"lora", "precision"});
  ASSERT_TRUE(ladder.ok()) << ladder.status();
  ASSERT_EQ(ladder->size(), 4u);
  EXPECT_EQ((*ladder)[1].name, "lora");
  EXPECT_EQ((*ladder)[1].settings.size(), 2u);
  EXPECT_EQ((*ladder)[2].name, "precision");
  EXPECT_EQ(run::ToJson(ladder->back().config), run::ToJson(now));
  // This order has flash attention before the 16-bit precision that flash attention needs.
  ladder = Ladder(Config(), now, {"attention"});
  EXPECT_THAT(std::string(ladder.status().message()), HasSubstr("--order"));
  EXPECT_THAT(std::string(Ladder(Config(), now, {"seq"}).status().message()),
              HasSubstr("precision"));
  std::vector<Planned> planned;
  ladder = Ladder(Config(), now, {});
  ASSERT_TRUE(ladder.ok()) << ladder.status();
  for (const Rung& rung : *ladder) planned.push_back(Model(rung.config));
  const std::string svg = WaterfallSvg(*ladder, planned);
  EXPECT_THAT(svg, HasSubstr("baseline"));
  EXPECT_THAT(svg, HasSubstr("lora"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

}  // namespace
}  // namespace vramscope::fit
