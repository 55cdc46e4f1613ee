#include "profiler/program/steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace vramscope::program {
namespace {

// Returns one mark for each letter. "Ff" is a forward pass that trains, "(f"
// one without gradients, and "[f" one with gradients of a model in evaluation
// mode.
Marks Written(std::string_view kinds) {
  Marks marks;
  for (const char c : kinds) {
    Mark mark;
    mark.kind = c == '(' || c == '[' ? MarkKind::kForward : static_cast<MarkKind>(c);
    mark.b = c == 'F' || c == '[';
    mark.c = c == 'F';
    marks.rows.push_back(mark);
  }
  return marks;
}

// "forward 2-3": the phase begins after mark 2 and ends after mark 3. "<2": before mark 2.
std::string Text(const Steps& steps) {
  const auto edge = [](const Edge& e) { return fmt::format("{}{}", e.behind ? "" : "<", e.mark); };
  std::string text;
  for (const StepSpan& s : steps.steps) {
    text += fmt::format("[{} {}-{}", s.number, edge(s.begin), edge(s.end));
    for (const MicroBatchSpan& m : s.micro_batches)
      text += fmt::format(" #{} {}-{}", m.number, edge(m.begin), edge(m.end));
    text += "] ";
  }
  for (const PhaseSpan& p : steps.phases)
    text +=
        fmt::format("{} {}-{}, ", std::string(trace::Name(p.phase)), edge(p.begin), edge(p.end));
  return text;
}

TEST(Steps, FindsStepsAndPhasesOfPlainLoop) {
  // There are two steps. Each sets gradients to zero at its end.
  EXPECT_EQ(Text(FindSteps(Written("XFfBbOoZzFfBbOoZz"))),
            "[0 <1-8] [1 8-16] setup <0-<1, forward <1-2, loss 2-<3, backward <3-4, optimizer "
            "4-6, zero_grad <7-8, data 8-<9, forward <9-10, loss 10-<11, backward <11-12, "
            "optimizer 12-14, zero_grad <15-16, ");
}

TEST(Steps, EvaluationWithGradientsEnabledIsNotAStep) {
  const std::string text = Text(FindSteps(Written("XFfBbOo[f[f")));
  EXPECT_NE(text.find("[0 <1-6] setup"), std::string::npos) << text;
  EXPECT_NE(text.find("eval <7-8, eval <9-10, "), std::string::npos) << text;
  // One model is trained in evaluation mode. Another model in evaluation mode only computes a loss.
  EXPECT_NE(Text(FindSteps(Written("X[fBbOoFf[fBbOo"))).find("[0 <1-6] [1 6-14]"),
            std::string::npos);
}

TEST(Steps, ZeroGradBeforeForwardBelongsToTheStep) {
  const std::string text = Text(FindSteps(Written("XZzFfBbOoZzFfBbOo")));
  EXPECT_EQ(text.substr(0, 19), "[0 <1-8] [1 8-16] s") << text;
}

TEST(Steps, ZeroGradMaySplitTheLoss) {
  const std::string text = Text(FindSteps(Written("XFfZzBbOo")));
  EXPECT_NE(text.find("loss 2-<3, zero_grad <3-4, loss 4-<5, backward <5-6"), std::string::npos)
      << text;
}

TEST(Steps, SplitsStepIntoMicroBatches) {
  const std::string text = Text(FindSteps(Written("XFfBbFfBbOo")));
  EXPECT_EQ(text.substr(0, text.find(']')), "[0 <1-10 #0 <1-4 #1 4-8") << text;
}

TEST(Steps, FindsStepsIfOptimizerRunsInBackward) {
  const std::string text = Text(FindSteps(Written("XFfBOoZzOobFfBOob")));
  EXPECT_EQ(text.substr(0, text.find("setup")), "[0 <1-10] [1 10-16] ") << text;
}

TEST(Steps, CheckpointsAndGenerationArePhasesBetweenSteps) {
  EXPECT_EQ(Text(FindSteps(Written("XLlFfBbOoWwDdFfBbOoP(f(fp"))),
            "[0 <3-8] [1 10-18] setup <0-<1, load <1-2, setup 2-<3, forward <3-4, loss 4-<5, "
            "backward <5-6, optimizer 6-8, save <9-10, data 10-<13, forward <13-14, loss 14-<15, "
            "backward <15-16, optimizer 16-18, generation <19-24, ");
  // A checkpoint has several files. The next batch does not come from a data loader.
  EXPECT_EQ(
      Text(FindSteps(Written("XFfBbOoWwWwFfBbOo"))),
      "[0 <1-6] [1 10-16] setup <0-<1, forward <1-2, loss 2-<3, backward <3-4, optimizer 4-6, "
      "save <7-10, data 10-<11, forward <11-12, loss 12-<13, backward <13-14, optimizer "
      "14-16, ");
  EXPECT_EQ(Text(FindSteps(Written("XLl"))), "setup <0-<1, load <1-2, setup 2-<3, ");
  EXPECT_EQ(Text(FindSteps(Written("XLlLLllAaLl"))),
            "setup <0-<1, load <1-6, setup 6-<9, load <9-10, setup 10-<11, ");
}

TEST(Steps, EvaluationIsNotAStep) {
  EXPECT_EQ(Text(FindSteps(Written("X(f(f"))), "setup <0-<1, eval <1-2, eval <3-4, ");
}

TEST(Steps, RecomputationInBackwardIsBackward) {
  const std::string text = Text(FindSteps(Written("XFfBFfBbbOo")));
  EXPECT_NE(text.find("backward <3-8"), std::string::npos) << text;
}

TEST(Steps, TruncatedStepLastsToTheEnd) {
  EXPECT_EQ(Text(FindSteps(Written("XFfB"))),
            "[0 <1-<4] setup <0-<1, forward <1-2, loss 2-<3, backward <3-<4, ");
  EXPECT_EQ(Text(FindSteps(Written("X"))), "setup <0-<1, ");
  EXPECT_EQ(Text(FindSteps(Written(""))), "");
}

TEST(Steps, IgnoresEndsWithoutBegins) {
  EXPECT_EQ(Text(FindSteps(Written("fboz"))), "setup <0-<4, ");
}

}  // namespace
}  // namespace vramscope::program
