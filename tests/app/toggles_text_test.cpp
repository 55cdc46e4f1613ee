#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "app/cli/toggles.h"

namespace vramscope::cli {
namespace {

using program::ToggleReport;

constexpr uint64_t kMiB = 1 << 20;

ToggleReport Applied(uint64_t reached, uint64_t places) {
  ToggleReport report;
  report.name = "bf16";
  report.on = true;
  report.reached = reached;
  report.places = places;
  report.changes = {{"bf16=True", "/home/me/train.py:12"}};
  return report;
}
ToggleReport AlreadyOn() {
  ToggleReport report;
  report.name = "optimizer-impl";
  report.value = "fused";
  report.on = report.already_on = true;
  report.why = "AdamW is already fused";
  return report;
}
ToggleReport NotApplied() {
  ToggleReport report;
  report.name = "lora";
  report.on = true;
  report.why = "the model is not from transformers";
  report.applies_to = "models of transformers";
  return report;
}
ToggleReport Undone() {
  ToggleReport report = Applied(1, 1);
  report.overridden = "the program sets bf16=False afterwards";
  report.applies_to = "everything";
  return report;
}

ToggleReport Unusable() {
  ToggleReport report = Applied(1, 1);
  report.unusable = "gradients are clipped in train.py:3";
  return report;
}

// Joins the lines into which paragraphs are broken on a terminal.
std::string OneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(TogglesText, SaysWhatAToggleDid) {
  EXPECT_EQ(OutcomeText(Applied(1, 1)), "applied at one place");
  EXPECT_EQ(OutcomeText(Applied(4, 1)), "applied at one place, 4 times");
  EXPECT_EQ(OutcomeText(Applied(4, 2)), "applied at 2 places, 4 times");
  EXPECT_EQ(OutcomeText(AlreadyOn()), "already on: AdamW is already fused");
  EXPECT_EQ(OutcomeText(NotApplied()),
            "not applied: the model is not from transformers (applies to: models of transformers)");
  EXPECT_EQ(OutcomeText(Undone()), "no effect: the program sets bf16=False afterwards");
  EXPECT_EQ(OutcomeText(Unusable()), "not usable: gradients are clipped in train.py:3");
}

TEST(TogglesText, ComparesPeaks) {
  fit::Planned without;
  without.peak = 100 * kMiB;
  without.reserved = 200 * kMiB;
  fit::Planned with = without;
  EXPECT_EQ(EffectText(without, with),
            "the peak is the same: 100.00 MiB allocated, 200.00 MiB reserved");
  EXPECT_EQ(EffectJson(without, with)["same_peak"], true);
  with.peak = 90 * kMiB;
  EXPECT_EQ(EffectText(without, with),
            "peak 90.00 MiB allocated (-10.00 MiB), 200.00 MiB reserved (unchanged)");
  EXPECT_EQ(EffectJson(without, with)["same_peak"], false);
  EXPECT_EQ(EffectJson(without, with)["saves_allocated"], static_cast<int64_t>(10 * kMiB));
  with = without;
  with.reserved = 202 * kMiB;
  EXPECT_EQ(EffectText(without, with),
            "peak 100.00 MiB allocated (unchanged), 202.00 MiB reserved (+2.00 MiB)");
  EXPECT_EQ(EffectJson(without, with)["saves_reserved"], -static_cast<int64_t>(2 * kMiB));
}

TEST(TogglesText, NamesTheCommandThatTellsTheSaving) {
  const std::string text = OneLine(TogglesText({Applied(2, 1), AlreadyOn(), NotApplied()}));
  EXPECT_NE(text.find("bf16: applied at one place, 2 times; code to write in the program:"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("train.py:12"), std::string::npos) << text;
  EXPECT_NE(text.find("optimizer-impl=fused: already on"), std::string::npos) << text;
  EXPECT_NE(text.find("`vramscope toggles --savings --toggle bf16 -- ...`"), std::string::npos)
      << text;
  EXPECT_EQ(TogglesText({AlreadyOn(), NotApplied()}).find("--savings"), std::string::npos)
      << "nothing was applied, so nothing is saved";
}

TEST(TogglesText, JudgesWhetherTheRunHasTheSettings) {
  EXPECT_TRUE(SayUnapplied({Applied(1, 1), AlreadyOn()}));
  EXPECT_FALSE(SayUnapplied({Applied(1, 1), NotApplied()}));
  EXPECT_FALSE(SayUnapplied({Undone()}));
  ToggleReport off = NotApplied();
  off.on = false;
  EXPECT_TRUE(SayUnapplied({off}));
}

TEST(TogglesText, ListsReasonsInTwoTables) {
  const std::string text = ReasonsText({Applied(1, 1), AlreadyOn(), NotApplied()});
  const size_t already = text.find("Already on"), others = text.find("Does not apply");
  ASSERT_NE(already, std::string::npos);
  ASSERT_NE(others, std::string::npos);
  const size_t row = text.find("AdamW is already fused");
  EXPECT_TRUE(already < row && row < others) << text;
  EXPECT_GT(text.find("lora"), others);
  EXPECT_EQ(text.find("bf16"), std::string::npos);
  EXPECT_EQ(ReasonsText({Applied(1, 1)}), "");
}

TEST(TogglesText, WritesOutcomesAsJson) {
  ToggleReport off = AlreadyOn();
  off.on = false;
  const Json json =
      TogglesJson({Applied(4, 2), AlreadyOn(), NotApplied(), Undone(), off, Unusable()}, true);
  std::vector<std::string> states;
  for (const Json& one : json) states.push_back(one["state"].get<std::string>());
  EXPECT_EQ(states, (std::vector<std::string>{"applied", "already on", "not applied", "no effect",
                                              "already on", "not usable"}));
  EXPECT_EQ(json[0]["places"], 2);
  EXPECT_EQ(json[2]["applies_to"], "models of transformers");
  // `fit` reads the JSON of `plan`.
  const auto again = program::ParseToggleReports(json.dump());
  ASSERT_EQ(again.size(), 6u);
  EXPECT_EQ(again[0].places, 2u);
  EXPECT_TRUE(again[1].in_force());
  EXPECT_EQ(again[2].applies_to, "models of transformers");
  EXPECT_EQ(again[3].outcome(), program::ToggleOutcome::kNoEffect);
  EXPECT_EQ(again[5].outcome(), program::ToggleOutcome::kUnusable);
}

}  // namespace
}  // namespace vramscope::cli
