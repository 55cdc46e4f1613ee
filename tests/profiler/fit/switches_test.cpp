#include "profiler/fit/switches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace vramscope::fit {
namespace {

using run::Changes;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// A made-up program with toggles that save the given amounts of memory.
class Program {
 public:
  Planned start = {.reserved = 30 * kGiB, .step_ms = 100};
  std::vector<Switch> switches;
  std::vector<int64_t> saves;  // GiB; the plan fails if negative
  std::vector<double> slower;  // factors of the step time
  std::set<std::pair<size_t, size_t>> excluded;
  int calls = 0;
  std::function<double(const SwitchSet&)> needs;  // GiB; if set, replaces `saves`

  // Sets the expected saving of the toggle that was added last.
  void Expect(uint64_t gib) { switches.back().expected = gib * kGiB; }
  void Add(std::string name, Changes changes, int64_t save, double factor, std::string value = "") {
    switches.push_back({.name = std::move(name), .value = std::move(value), .changes = changes});
    saves.push_back(save);
    slower.push_back(factor);
  }
  Planned PlanOf(const SwitchSet& set) {
    ++calls;
    std::set<std::string> names;
    Planned planned = start;
    for (const size_t i : set) {
      EXPECT_TRUE(names.insert(switches[i].name).second) << "two toggles of one name";
      for (const size_t j : set) EXPECT_FALSE(excluded.contains({i, j}));
      if (saves[i] < 0) planned.error = "it fails";
      planned.reserved -= static_cast<uint64_t>(saves[i]) * kGiB;
      planned.step_ms *= slower[i];
    }
    if (needs) planned.reserved = static_cast<uint64_t>(needs(set) * static_cast<double>(kGiB));
    return planned.ok() ? planned : Planned{.error = planned.error};
  }
  SwitchSet Named(const std::set<std::string>& names) const {
    SwitchSet set;
    for (size_t i = 0; i < switches.size(); ++i)
      if (names.contains(switches[i].name)) set.push_back(i);
    return set;
  }
  absl::StatusOr<SwitchesFitted> Fit(uint64_t budget) {
    return FitSwitches({.start = start,
                        .budget = budget,
                        .switches = switches,
                        .excluded =
                            [&](size_t a, size_t b) {
                              return excluded.contains({a, b});
                            },
                        .plan =
                            [&](const std::vector<SwitchSet>& sets) {
                              std::vector<Planned> all;
                              for (const SwitchSet& set : sets) all.push_back(PlanOf(set));
                              return all;
                            }});
  }
};

TEST(Switches, ProposesSingleTogglesOrderedByTheirChanges) {
  Program p;
  p.Add("lora", Changes::kTraining, 20, 0.8);
  p.Add("bf16", Changes::kRounding, 8, 0.5);
  p.Add("checkpointing", Changes::kNothing, 10, 1.3);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 3u);
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({2}));
  EXPECT_EQ(fitted->proposals[1].set, SwitchSet({1}));
  EXPECT_EQ(fitted->proposals[2].set, SwitchSet({0}));
  EXPECT_EQ(fitted->singles.size(), 3u);
  EXPECT_FALSE(fitted->cut_short);
}

TEST(Switches, CombinesTogglesWithoutNeedlessOnes) {
  Program p;
  p.Add("little", Changes::kNothing, 1, 1.0);
  p.Add("more", Changes::kNothing, 4, 1.1);
  p.Add("most", Changes::kNothing, 6, 1.2);
  p.Add("other", Changes::kRounding, 2, 1.0);
  const auto fitted = p.Fit(20 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_FALSE(fitted->proposals.empty());
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({1, 2}));
  for (const SwitchProposal& one : fitted->proposals) EXPECT_TRUE(one.planned.FitsInto(20 * kGiB));
}

TEST(Switches, NeverCombinesExcludedToggles) {
  Program p;
  p.Add("micro-batch", Changes::kNothing, 3, 1.1, "2");
  p.Add("micro-batch", Changes::kNothing, 4, 1.2, "1");
  p.Add("a", Changes::kNothing, 4, 1.0);
  p.Add("b", Changes::kNothing, 4, 1.0);
  p.excluded = {{2, 3}, {3, 2}};
  const auto fitted = p.Fit(22 * kGiB);  // PlanOf() checks the exclusions
  ASSERT_TRUE(fitted.ok());
  ASSERT_GE(fitted->proposals.size(), 2u);
  EXPECT_TRUE(fitted->proposals[0].planned.FitsInto(22 * kGiB));
}

TEST(Switches, ProposesTheSmallestIfNothingFits) {
  Program p;
  p.Add("a", Changes::kNothing, 3, 1.0);
  p.Add("b", Changes::kTraining, 5, 1.0);
  p.Add("broken", Changes::kNothing, -1, 1.0);
  const auto fitted = p.Fit(2 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({0, 1})) << "the smallest";
  EXPECT_FALSE(fitted->proposals[0].planned.FitsInto(2 * kGiB));
  EXPECT_EQ(fitted->singles[2].planned.error, "it fails");
}

TEST(Switches, TriesSlowTogglesOnlyIfOthersDoNotSuffice) {
  Program p;
  p.Add("offload", Changes::kNothing, 12, 3.0);
  p.Add("a", Changes::kNothing, 3, 1.0);
  p.switches[0].slow = true;
  EXPECT_EQ(p.Fit(28 * kGiB)->proposals[0].set, SwitchSet({1}));
  EXPECT_EQ(p.Fit(18 * kGiB)->proposals[0].set, SwitchSet({0}));
}

TEST(Switches, StopsWhenTheTimeIsUp) {
  Program p;
  for (int i = 0; i < 8; ++i) p.Add("s" + std::to_string(i), Changes::kNothing, 1, 1.0);
  SwitchSearch search{.start = p.start, .budget = 2 * kGiB, .switches = p.switches};
  search.plan = [&](const std::vector<SwitchSet>& sets) {
    std::vector<Planned> all;
    for (const SwitchSet& set : sets) all.push_back(p.PlanOf(set));
    return all;
  };
  search.patience = std::chrono::milliseconds(0);
  const auto fitted = FitSwitches(search);
  ASSERT_TRUE(fitted.ok());
  EXPECT_TRUE(fitted->cut_short);
  EXPECT_EQ(fitted->plans, 2) << "one round of parallel plans";
}

TEST(Switches, SkipsTogglesExpectedToSaveTooLittle) {
  Program p;
  for (int i = 0; i < 6; ++i) {
    p.Add("little" + std::to_string(i), Changes::kNothing, 1, 1.0);
    p.Expect(1);
  }
  p.Add("weights", Changes::kRounding, 9, 0.9);
  p.Expect(10);
  p.Add("checkpointing", Changes::kNothing, 8, 1.3);
  p.Expect(12);
  p.Add("lora", Changes::kTraining, 20, 0.8);
  p.Expect(15);
  p.Add("sgd", Changes::kTraining, 14, 0.9);
  p.Expect(14);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 3u);
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({7}));
  EXPECT_EQ(fitted->proposals[1].set, SwitchSet({6}));
  EXPECT_LE(fitted->plans, 4);
  EXPECT_EQ(fitted->plans, p.calls);
}

TEST(Switches, TriesTheFastestSufficientValueFirst) {
  Program p;
  p.Add("micro-batch", Changes::kNothing, 2, 1.05, "4");
  p.Expect(2);
  p.Add("micro-batch", Changes::kNothing, 9, 1.1, "2");
  p.Expect(9);
  p.Add("micro-batch", Changes::kNothing, 13, 1.4, "1");
  p.Expect(13);
  p.Add("lora", Changes::kTraining, 20, 0.8);
  p.Expect(20);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({1})) << "the fastest value that suffices";
  EXPECT_TRUE(std::ranges::none_of(fitted->singles, [](const SwitchProposal& one) {
    return one.set == SwitchSet({0});
  })) << "its expected saving is too small";
}

TEST(Switches, PlansASufficientCombinationAtOnce) {
  Program p;
  for (int i = 0; i < 4; ++i) {
    p.Add("s" + std::to_string(i), Changes::kNothing, 3, 1.1);
    p.Expect(3);
  }
  const auto fitted = p.Fit(22 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_FALSE(fitted->proposals.empty());
  EXPECT_EQ(fitted->proposals[0].set.size(), 3u);
  EXPECT_TRUE(fitted->proposals[0].planned.FitsInto(22 * kGiB));
  EXPECT_TRUE(fitted->singles.empty()) << "no toggle suffices alone";
}

TEST(Switches, FindsAFitDespiteWrongExpectations) {
  Program p;
  p.Add("a", Changes::kNothing, 1, 1.0);
  p.Expect(20);  // this toggle saves almost nothing
  p.Add("b", Changes::kNothing, -1, 1.0);
  p.Expect(20);  // this toggle's plan fails
  p.Add("c", Changes::kRounding, 7, 1.0);
  p.Expect(3);  // this toggle saves enough
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_FALSE(fitted->proposals.empty());
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({2}));
  EXPECT_TRUE(fitted->proposals[0].planned.FitsInto(24 * kGiB));
}

TEST(Switches, StopsAddingTogglesThatCannotSuffice) {
  Program p;
  p.Add("checkpointing", Changes::kNothing, 0, 1.3);
  p.Expect(4);
  p.Add("offload", Changes::kNothing, 0, 1.5);
  p.Expect(3);
  p.Add("lora", Changes::kTraining, 10, 0.8);
  p.Expect(10);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_EQ(fitted->proposals[0].set, p.Named({"lora"}));
  EXPECT_EQ(fitted->plans, 3) << "offload is not planned alone after checkpointing saved nothing";
}

TEST(Switches, CombinesHarmlessTogglesEvenIfOthersFitAlone) {
  Program p;
  p.Add("checkpointing", Changes::kNothing, 4, 1.3);
  p.Expect(4);
  p.Add("fused", Changes::kNothing, 3, 1.0);
  p.Expect(3);
  for (const char* name : {"lora", "sgd", "adafactor"}) {
    p.Add(name, Changes::kTraining, 10, 0.9);
    p.Expect(10);
  }
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({0, 1}));
  EXPECT_EQ(fitted->proposals.size(), 3u);
}

bool Has(const SwitchSet& set, size_t one) { return std::ranges::find(set, one) != set.end(); }

// As in nanoGPT, offloading saves the same memory as checkpointing, and there is no cached memory
// that the allocator's toggles could release.
TEST(Switches, ProposesOnlyTogglesThatAreNeeded) {
  Program p;
  p.start.reserved = 14 * kGiB;
  p.Add("checkpointing", Changes::kNothing, 0, 1.3);
  p.Expect(5);
  for (const char* name : {"expandable-segments", "max-split-size", "gc-threshold"}) {
    p.Add(name, Changes::kNothing, 0, 1.0);
    p.Expect(2);
    p.switches.back().reduces_only = "cached";
  }
  p.Add("offload", Changes::kNothing, 0, 1.5);
  p.Expect(5);
  p.switches.back().slow = true;
  p.Add("adafactor", Changes::kTraining, 0, 1.0);
  p.Expect(1);
  p.needs = [](const SwitchSet& set) {
    return 14 - (Has(set, 4) ? 5.5 : Has(set, 0) ? 4 : 0) - (Has(set, 5) ? 1 : 0);
  };
  const auto fitted = p.Fit(8 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_EQ(fitted->proposals[0].set, p.Named({"offload", "adafactor"}));
  EXPECT_LE(p.calls, 12);
}

// 4 GiB are only cached, and are released when the GPU is full. So 2 GiB are missing, not 6.
TEST(Switches, CountsOnCachedMemoryToBeReleased) {
  static constexpr uint64_t kBudget = 24 * kGiB;
  SwitchSearch search{
      .start = {.peak = 26 * kGiB, .reserved = 30 * kGiB, .step_ms = 100},
      .budget = kBudget,
      .switches = {
          {.name = "checkpointing", .expected = 3 * kGiB},
          {.name = "expandable-segments", .expected = 4 * kGiB, .reduces_only = "cached"}}};
  search.plan = [](const std::vector<SwitchSet>& sets) {
    std::vector<Planned> all;
    for (const SwitchSet& set : sets) {
      const uint64_t peak = (Has(set, 0) ? 23 : 26) * kGiB;
      const uint64_t reserved = Has(set, 1) ? peak : peak + 4 * kGiB;
      all.push_back({.peak = peak,
                     .reserved = peak <= kBudget ? std::min(reserved, kBudget) : reserved,
                     .step_ms = 100});
    }
    return all;
  };
  const auto fitted = FitSwitches(search);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_EQ(fitted->proposals[0].set, SwitchSet({0}));
}

TEST(Switches, FirstLeavesOutWhatChangesTheTraining) {
  Program p;
  p.Add("lora", Changes::kTraining, 0, 1.0);
  p.Expect(3);
  for (const char* name : {"a", "b"}) {
    p.Add(name, Changes::kNothing, 0, 1.0);
    p.Expect(2);  // too little for both to be tried without "lora"
  }
  p.needs = [](const SwitchSet& set) {
    return 30 - (Has(set, 0) ? 3.0 : 0) - (Has(set, 1) ? 3.5 : 0) - (Has(set, 2) ? 3.5 : 0);
  };
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_FALSE(fitted->proposals.empty());
  EXPECT_EQ(fitted->proposals[0].set, p.Named({"a", "b"}));
  EXPECT_EQ(fitted->proposals[0].changes, Changes::kNothing);
}

TEST(Switches, NoProposalContainsAnother) {
  Program p;
  p.Add("checkpointing", Changes::kNothing, 8, 1.3);
  p.Add("bf16", Changes::kRounding, 9, 0.6);
  p.Add("expandable-segments", Changes::kNothing, 1, 0.9);
  p.Add("little", Changes::kNothing, 2, 1.0);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 2u) << "the others together save too little";
  for (const SwitchProposal& one : fitted->proposals)
    for (const SwitchProposal& other : fitted->proposals)
      EXPECT_EQ(std::ranges::includes(one.set, other.set), one.set == other.set);
}

TEST(Switches, FindsAnotherProposalWithoutAnyOfTheFirst) {
  Program p;
  p.Add("checkpointing", Changes::kNothing, 8, 1.3);
  p.Add("bf16", Changes::kRounding, 7, 0.6);
  p.Add("a", Changes::kNothing, 4, 1.0);
  p.Add("b", Changes::kNothing, 3, 1.0);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 3u);
  EXPECT_TRUE(std::ranges::any_of(fitted->proposals, [&](const SwitchProposal& one) {
    return one.set == p.Named({"a", "b"});
  }));
}

TEST(Switches, PlansNothingIfTheProgramFits) {
  Program p;
  p.Add("bf16", Changes::kRounding, 9, 0.6);
  const auto fitted = p.Fit(30 * kGiB);
  ASSERT_TRUE(fitted.ok());
  EXPECT_TRUE(fitted->proposals.empty());
  EXPECT_EQ(p.calls, 0);
}

TEST(Switches, TheSmallestHasNoIdleToggle) {
  Program p;
  p.Add("checkpointing", Changes::kNothing, 0, 1.3);
  p.Expect(6);
  p.Add("gc-threshold", Changes::kNothing, 0, 1.0);
  p.Expect(2);
  p.Add("adafactor", Changes::kTraining, 0, 1.0);
  p.Expect(2);
  p.needs = [](const SwitchSet& set) {
    return 30 - (Has(set, 0) ? 6.0 : 0) - (Has(set, 2) ? 2 : 0);
  };
  const auto fitted = p.Fit(10 * kGiB);
  ASSERT_TRUE(fitted.ok());
  ASSERT_EQ(fitted->proposals.size(), 1u);
  EXPECT_EQ(fitted->proposals[0].set, p.Named({"checkpointing", "adafactor"}));
}

TEST(Switches, ARunOutOfMemoryBelowTheBudgetIsSearched) {
  Program p;
  p.start.reserved = 20 * kGiB;
  p.start.out_of_memory = true;  // one allocation was too large
  p.Add("a", Changes::kNothing, 1, 1.0);
  p.Expect(1);
  const auto fitted = p.Fit(24 * kGiB);
  ASSERT_TRUE(fitted.ok());
  for (const SwitchProposal& one : fitted->proposals)
    EXPECT_FALSE(one.planned.FitsInto(24 * kGiB)) << "the made-up plans stay out of memory";
}

TEST(Switches, PlannerErrorEndsTheSearch) {
  Program p;
  p.Add("a", Changes::kNothing, 1, 1.0);
  SwitchSearch search{.start = p.start, .budget = kGiB, .switches = p.switches};
  search.plan = [](const auto&) -> absl::StatusOr<std::vector<Planned>> {
    return absl::NotFoundError("no such program");
  };
  EXPECT_TRUE(absl::IsNotFound(FitSwitches(search).status()));
}

}  // namespace
}  // namespace vramscope::fit
