#include "profiler/program/toggles.h"

#include <gtest/gtest.h>

#include "profiler/base/i18n.h"
#include "profiler/program/vary.h"

namespace vramscope::program {
namespace {

std::vector<Toggle> SampleToggles() {
  return *ParseToggles(R"({"toggles": [
    {"name": "bf16", "changes": "rounding", "values": [], "needs_value": false, "excludes": ["weights"],
     "applies_to": "models with 32-bit weights", "reduces": {"Activation": 0.5, "cached": 2, "Gradient": "x"}, "reduces_in": "eval"},
    {"name": "weights", "values": ["bf16", "fp16"], "default": "bf16", "excludes": []},
    {"name": "lora", "values": "RANK[@MODEL]", "default": "8", "excludes": []},
    {"name": "gc-threshold", "values": "FRACTION", "default": "0.8"},
    {"name": "optimizer", "values": ["sgd", "adafactor"], "needs_value": true, "slow": true},
    17, {"label": "no name"}]})");
}

std::string ChoiceError(const std::vector<std::string>& texts) {
  const auto chosen = ChooseToggles(SampleToggles(), texts);
  return chosen.ok() ? "" : std::string(chosen.status().message());
}

TEST(Toggles, ReadsDeclarations) {
  const std::vector<Toggle> all = SampleToggles();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(FindToggle(all, "lora")->value_kind, "RANK[@MODEL]");
  EXPECT_TRUE(FindToggle(all, "optimizer")->needs_value);
  EXPECT_TRUE(FindToggle(all, "optimizer")->slow);
  EXPECT_FALSE(FindToggle(all, "bf16")->takes_value());
  EXPECT_EQ(FindToggle(all, "none"), nullptr);
  EXPECT_EQ(FindToggle(all, "bf16")->reduces, (std::map<std::string, double>{{"Activation", 0.5}}));
  EXPECT_EQ(FindToggle(all, "bf16")->reduces_in, "eval");
  EXPECT_EQ(FindToggle(all, "bf16")->applies_to, "models with 32-bit weights");
  EXPECT_TRUE(FindToggle(all, "lora")->reduces.empty());
  for (const char* text : {"", "[]", "{", R"({"toggles": 3})"})
    EXPECT_FALSE(ParseToggles(text).ok()) << text;
}

TEST(Toggles, ChoosesByNameAndValue) {
  const auto chosen =
      ChooseToggles(SampleToggles(), {"bf16", "lora=16", "optimizer=sgd", "gc-threshold=0.5"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(ToggleVariable(*chosen),
            R"([["bf16",null],["lora","16"],["optimizer","sgd"],["gc-threshold","0.5"]])");
  EXPECT_EQ(TextOf((*chosen)[1]), "lora=16");
  const auto second = ChooseToggles(SampleToggles(), {"lora=16@2"});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->front().value, "16@2");
  EXPECT_EQ(ToggleVariable({}), "[]");
}

TEST(Toggles, TranslatesReasonsWithTheirArguments) {
  const ToggleReport refused{.why = "AdamW has no fused implementation"};
  const ToggleReport undone{
      .reached = 1,
      .overridden = "the program trains a model other than the one with the adapters"};
  EXPECT_EQ(ReasonText(refused), refused.why);
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "{} has no fused implementation") return "NO FUSED {}";
    return english == "the program trains a model other than the one with the adapters" ? "ANOTHER"
                                                                                        : "";
  });
  EXPECT_EQ(ReasonText(refused), "NO FUSED AdamW");
  EXPECT_EQ(ReasonText(undone), "ANOTHER");
  EXPECT_EQ(ReasonText({.why = "a reason of an older version"}), "a reason of an older version");
  EXPECT_EQ(ReasonText({.reached = 1}), "");
  i18n::SetTranslator(nullptr);
}

TEST(Toggles, RejectsInvalidChoices) {
  EXPECT_NE(ChoiceError({"bf61"}).find("\"bf16\"?"), std::string::npos);
  EXPECT_NE(ChoiceError({"bf16=1"}).find("takes no value"), std::string::npos);
  EXPECT_NE(ChoiceError({"optimizer"}).find("optimizer=sgd|adafactor"), std::string::npos);
  EXPECT_NE(ChoiceError({"optimizer=lion"}).find("one of sgd, adafactor"), std::string::npos);
  EXPECT_NE(ChoiceError({"lora=0"}).find("whole number"), std::string::npos);
  for (const char* text : {"lora=8@", "lora=@2", "lora=8@0", "lora=8@2@3", "lora=8@-1"})
    EXPECT_NE(ChoiceError({text}).find("number of a model"), std::string::npos) << text;
  EXPECT_NE(ChoiceError({"lora=8.5"}).find("whole number"), std::string::npos);
  EXPECT_NE(ChoiceError({"gc-threshold=1.5"}).find("between 0 and 1"), std::string::npos);
  EXPECT_NE(ChoiceError({"lora", "lora=4"}).find("twice"), std::string::npos);
  EXPECT_NE(ChoiceError({"bf16", "weights"}).find("cannot be combined"), std::string::npos);
  EXPECT_NE(ChoiceError({"weights", "bf16"}).find("cannot be combined"), std::string::npos);
}

TEST(Toggles, ReadsReportsOfAProcess) {
  const auto reports = ParseToggleReports(R"([
    {"name": "bf16", "on": true, "reached": 2, "change": [{"text": "bf16=True", "where": "a.py:3"}, 4]},
    {"name": "lora", "value": "8", "on": true, "reached": 1, "overridden": "undone", "proposals": ["8", null, 3], "shares": [0.25, 7, 1, 1]},
    {"name": 3, "on": "yes", "reached": -1, "change": "x"}, null])");
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_TRUE(reports[0].applies());
  ASSERT_EQ(reports[0].changes.size(), 1u);
  EXPECT_EQ(reports[0].changes[0].where, "a.py:3");
  EXPECT_FALSE(reports[1].applies()) << "it had no effect";
  EXPECT_EQ(reports[1].proposals, (std::vector<std::string>{"8", ""}));
  EXPECT_EQ(reports[1].shares, (std::vector<double>{0.25, 1}))
      << "not more than there are proposals";
  EXPECT_FALSE(reports[2].on);
  EXPECT_FALSE(reports[2].applies());
  for (const char* text : {"", "{}", "[[", "3"}) EXPECT_TRUE(ParseToggleReports(text).empty());
}

TEST(Toggles, JoinsChangesOfOneVariable) {
  const ToggleChange expandable{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "environment"};
  const ToggleChange split{"PYTORCH_CUDA_ALLOC_CONF=backend:native,max_split_size_mb:128",
                           "environment"};
  const ToggleChange line{"x=1", "a.py:3"}, elsewhere{"x=2", "b.py:3"};
  EXPECT_EQ(
      JoinChanges({line, expandable, elsewhere, split, line, expandable}),
      (std::vector<ToggleChange>{line,
                                 {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,backend:native,"
                                  "max_split_size_mb:128",
                                  "environment"},
                                 elsewhere}));
  EXPECT_EQ(JoinChanges({{"A=1", "environment"}, {"AB=1", "environment"}}).size(), 2u);
}

TEST(Toggles, JoinsReportsOfProcesses) {
  const ToggleReport absent{.name = "bf16", .why = "no model"};
  const ToggleReport applied{.name = "bf16", .on = true, .reached = 2};
  const ToggleReport already{.name = "bf16", .already_on = true};
  const auto joined = JoinReports({{absent, {.name = "lora"}}, {already}, {applied}, {absent}});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].reached, 2u);
  EXPECT_EQ(joined[1].name, "lora");
  EXPECT_TRUE(JoinReports({{absent}, {already}})[0].already_on);
  EXPECT_TRUE(JoinReports({}).empty());
}

TEST(Toggles, TellsOutcomes) {
  const auto reports = ParseToggleReports(R"([
    {"name": "bf16", "on": true, "reached": 4, "places": 2, "applies_to": "models"},
    {"name": "bf16", "on": true, "reached": 0, "already_on": true, "why": "under autocast"},
    {"name": "bf16", "on": true, "reached": 1, "overridden": "undone"},
    {"name": "bf16", "on": true, "reached": 0, "why": "no model"},
    {"name": "bf16", "on": true, "reached": 1, "unusable": "two losses"},
    {"name": "bf16", "on": true, "reached": 1, "already_on": true},
    {"name": "bf16", "on": true, "reached": -1, "places": "x", "already_on": 1}])");
  ASSERT_EQ(reports.size(), 7u);
  const std::vector<std::pair<ToggleOutcome, bool>> expected = {
      {ToggleOutcome::kApplied, true},    {ToggleOutcome::kAlreadyOn, true},
      {ToggleOutcome::kNoEffect, false},  {ToggleOutcome::kNotApplied, false},
      {ToggleOutcome::kUnusable, false},  {ToggleOutcome::kApplied, true},
      {ToggleOutcome::kNotApplied, false}};
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].outcome(), expected[i].first) << i;
    EXPECT_EQ(reports[i].in_force(), expected[i].second) << i;
    EXPECT_EQ(reports[i].applies(), expected[i].first == ToggleOutcome::kApplied) << i;
  }
  EXPECT_EQ(reports[0].places, 2u);
  EXPECT_EQ(reports[0].applies_to, "models");
  EXPECT_EQ(reports[6].places, 0u);
  EXPECT_EQ(ReasonText(reports[4]), "two losses");
}

TEST(Toggles, LimitsReportsOfAProcess) {
  std::string many = "[";
  for (int i = 0; i < 5000; ++i)
    many += R"({"name": "x", "why": ")" + std::string(3000, 'y') + "\"},";
  many += "1]";
  const auto reports = ParseToggleReports(many);
  EXPECT_LE(reports.size(), 256u);
  EXPECT_LE(reports[0].why.size(), 2000u);
}

TEST(Vary, ReadsListsAndRanges) {
  const auto doubled = ParseVariation("--batch-size=1..20");
  ASSERT_TRUE(doubled.ok());
  EXPECT_EQ(doubled->name, "--batch-size");
  EXPECT_TRUE(doubled->is_range);
  EXPECT_EQ(doubled->values, (std::vector<std::string>{"1", "2", "4", "8", "16", "20"}));
  EXPECT_EQ(ParseVariation("seq=512,1024")->values, (std::vector<std::string>{"512", "1024"}));
  EXPECT_EQ(ParseVariation("n=7..7")->values, (std::vector<std::string>{"7"}));
  for (const char* text : {"seq", "=3", "seq=", "seq=1,,2", "seq=8..2", "seq=0..4", "seq=a..b",
                           "seq=1..9223372036854775807"})
    EXPECT_FALSE(ParseVariation(text).ok()) << text;
}

TEST(Vary, SetsValueInTheCommand) {
  using Words = std::vector<std::string>;
  const Words plain = {"python", "train.py", "--batch-size", "8", "--lr=3", "epochs=2"};
  EXPECT_EQ((*WithValue({"python", "t.py", "-b{b}x{b}"}, "b", "4"))[2], "-b4x4");
  EXPECT_EQ((*WithValue(plain, "--batch-size", "4"))[3], "4");
  EXPECT_EQ((*WithValue(plain, "batch-size", "4"))[3], "4");
  EXPECT_EQ((*WithValue(plain, "lr", "4"))[4], "--lr=4");
  EXPECT_EQ((*WithValue(plain, "epochs", "4"))[5], "epochs=4");
  EXPECT_EQ(*WithValue({"python", "t.py"}, "--seq", "9"), (Words{"python", "t.py", "--seq", "9"}));
  const auto none = WithValue(plain, "seq", "9");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("{seq}"), std::string::npos);
}

TEST(Vary, ChangesTheArgumentsOfARequest) {
  const Request request = {.script = "/a b/train.py", .arguments = "--lr=3 --name 'two words'"};
  const auto changed = RequestWithValue(request, "lr", "4");
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->script, request.script);
  EXPECT_EQ(changed->arguments, "--lr=4 --name 'two words'");
  EXPECT_EQ(RequestWithValue(request, "--seq", "9")->arguments, request.arguments + " --seq 9");
  EXPECT_FALSE(RequestWithValue(request, "seq", "9").ok());
  EXPECT_FALSE(RequestWithValue({.script = "t.py", .arguments = "'"}, "lr", "4").ok());
}

}  // namespace
}  // namespace vramscope::program
