// Infers categories in other people's recordings (../shared), and compares them with what is known
// about the model.
#include "tests/profiler/inference/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Confusion;
using testing::RecordedModel;
using testing::Stripped;
using trace::Category;

constexpr char kSkip[] = "no ../shared/snapshots next to the sources";

uint64_t Of(const std::array<uint64_t, trace::kCategoryCount>& totals, Category category) {
  return totals[static_cast<size_t>(category)];
}

class MediumTraining : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(MediumTraining, CategoriesMatchTensorsOfTheModel) {
  const auto shared = testing::SharedFolder();
  if (!shared) GTEST_SKIP() << kSkip;
  const auto [context, stacks] = GetParam();
  const std::string name = "medium_" + std::to_string(context) + "_training";
  auto recorded = testing::ReadRecorded(*shared + "/snapshots/" + name + ".pickle.zst");
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  if (!stacks) testing::WithoutStacks(*recorded);
  const Labels labels = Infer(recorded->recording, recorded->history);
  const RecordedModel model = testing::Medium(static_cast<uint64_t>(context));
  const auto truth = testing::AddMediumTruth(*shared + "/reference/" + name + "_requests.csv.zst",
                                             model, labels, *recorded);
  ASSERT_TRUE(truth.ok()) << truth;
  const Confusion confusion = testing::Compare(*recorded, labels);
  SCOPED_TRACE("MiB at the peak:\n" + Confusion::Table(confusion.peak) + "MiB s:\n" +
               Confusion::Table(confusion.time));
  EXPECT_GE(Confusion::Right(confusion.peak), 0.999);
  EXPECT_GE(Confusion::Right(confusion.time), 0.99);
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kParameter));
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kOptimizerState));
  EXPECT_TRUE(Confusion::Exact(confusion.peak, Category::kGradient));
  EXPECT_GE(testing::PhasesRight(*recorded, labels), 0.999);
  EXPECT_EQ(labels.steps.size(), 1u);
  const auto totals = testing::InferredTotals(*recorded, labels);
  EXPECT_EQ(Of(totals.at_end, Category::kParameter), model.ParameterBytes());
  EXPECT_EQ(Of(totals.at_end, Category::kGradient), model.ParameterBytes());
  EXPECT_EQ(Of(totals.at_end, Category::kOptimizerState), 2 * model.ParameterBytes());
}
INSTANTIATE_TEST_SUITE_P(All, MediumTraining,
                         ::testing::Combine(::testing::Values(128, 256), ::testing::Bool()));

// A tolerance: without gradients, buffers and inputs look like parameters.
constexpr double kBuffersToo = 1.0002;

class OtherRecordings : public ::testing::TestWithParam<bool> {
 protected:
  void Read(const std::string& name) {
    const auto shared = testing::SharedFolder();
    if (!shared) GTEST_SKIP() << kSkip;
    auto read = testing::ReadRecorded(*shared + "/snapshots/" + name + ".pickle.zst");
    ASSERT_TRUE(read.ok()) << read.status();
    recorded = *std::move(read);
    if (!GetParam()) testing::WithoutStacks(recorded);
    labels = Infer(recorded.recording, recorded.history);
    totals = testing::InferredTotals(recorded, labels);
  }
  Stripped recorded;
  Labels labels;
  testing::Totals totals;
};
INSTANTIATE_TEST_SUITE_P(All, OtherRecordings, ::testing::Bool());

TEST_P(OtherRecordings, MediumInferenceHasNoGradientsOrOptimizerState) {
  ASSERT_NO_FATAL_FAILURE(Read("medium_128_inference"));
  if (IsSkipped()) return;
  const uint64_t parameters = testing::Medium(128).ParameterBytes();
  EXPECT_GE(Of(totals.at_peak, Category::kParameter), parameters);
  EXPECT_LE(static_cast<double>(Of(totals.at_peak, Category::kParameter)),
            kBuffersToo * static_cast<double>(parameters));
  EXPECT_EQ(Of(totals.at_peak, Category::kOptimizerState), 0u);
  EXPECT_EQ(Of(totals.at_peak, Category::kGradient), 0u);
  EXPECT_EQ(Of(totals.at_peak, Category::kActivation), 0u);
  // No rule may infer gradients.
  EXPECT_THAT(labels.rule, ::testing::Not(::testing::Contains(kPersistentParameter)));
}

TEST_P(OtherRecordings, KkFullStepHasGradientsAndOptimizerState) {
  ASSERT_NO_FATAL_FAILURE(Read("kk_ctx128_fullstep"));
  if (IsSkipped()) return;
  const uint64_t parameters = testing::Kk(128).ParameterBytes();
  for (const auto& at : {totals.at_peak, totals.at_end}) {
    EXPECT_EQ(Of(at, Category::kParameter), parameters);
    EXPECT_EQ(Of(at, Category::kGradient), parameters);
    EXPECT_EQ(Of(at, Category::kOptimizerState), 2 * parameters);
  }
  EXPECT_EQ(labels.steps.size(), 1u);
}

TEST_P(OtherRecordings, KkForwardHasNoGradientsOrOptimizerState) {
  for (const char* name : {"kk_ctx128_forward", "kk_ctx128_forward_mixed"}) {
    SCOPED_TRACE(name);
    ASSERT_NO_FATAL_FAILURE(Read(name));
    if (IsSkipped()) return;
    const uint64_t parameters = testing::Kk(128).ParameterBytes();
    EXPECT_GE(Of(totals.at_end, Category::kParameter), parameters);
    EXPECT_LE(static_cast<double>(Of(totals.at_end, Category::kParameter)),
              kBuffersToo * static_cast<double>(parameters));
    EXPECT_EQ(Of(totals.at_end, Category::kOptimizerState), 0u);
    EXPECT_EQ(Of(totals.at_end, Category::kGradient), 0u);
    EXPECT_GT(Of(totals.at_end, Category::kActivation), uint64_t{5} << 30);
    EXPECT_THAT(labels.rule, ::testing::Not(::testing::Contains(kPersistentParameter)));
    EXPECT_THAT(labels.rule, ::testing::Not(::testing::Contains(kLifeActivation)));
  }
}

// The recordings have only forward and backward passes, and gradients are never freed. The number
// of blocks of each size is a multiple of four, because embedding and head have the same size. This
// must not lead to the inference that there are two optimizer states for each parameter.
TEST_P(OtherRecordings, ForwardAndBackwardHaveNoOptimizerState) {
  if (!GetParam()) GTEST_SKIP() << "without stacks, it is unknown whether backward is complete";
  ASSERT_NO_FATAL_FAILURE(Read("more/magma27"));
  if (IsSkipped()) return;
  constexpr uint64_t kParameters = 514'501'632;
  for (const auto& at : {totals.at_peak, totals.at_end}) {
    EXPECT_EQ(Of(at, Category::kParameter), kParameters);
    EXPECT_EQ(Of(at, Category::kGradient), kParameters);
    EXPECT_EQ(Of(at, Category::kOptimizerState), 0u);
  }
}

// The recording has three devices. One runs out of memory in a forward pass, and one has run an
// encoder that is not trained. torch.compile made graphs for forward and backward, and the
// gradients are never freed.
TEST_P(OtherRecordings, OutOfMemoryInForwardHasNoGradients) {
  ASSERT_NO_FATAL_FAILURE(Read("more/code_location"));
  if (IsSkipped()) return;
  EXPECT_EQ(Of(totals.at_end, Category::kOptimizerState), 0u);
  EXPECT_EQ(Of(totals.at_end, Category::kGradient), 0u);
  EXPECT_GE(Of(totals.at_end, Category::kActivation), uint64_t{24'000} << 20);
}

TEST_P(OtherRecordings, CompiledStepHasAllPhasesAndOptimizerState) {
  if (!GetParam()) GTEST_SKIP() << "without stacks, compiled code is unknown";
  ASSERT_NO_FATAL_FAILURE(Read("more/bcrafton"));
  if (IsSkipped()) return;
  const uint64_t parameters = 761'840'640;
  for (const auto& at : {totals.at_peak, totals.at_end}) {
    EXPECT_EQ(Of(at, Category::kParameter), parameters);
    EXPECT_EQ(Of(at, Category::kGradient), parameters);
    EXPECT_EQ(Of(at, Category::kOptimizerState), 2 * parameters);
  }
  EXPECT_EQ(labels.steps.size(), 1u);
  std::vector<trace::Phase> phases;
  for (const Labels::PhaseRange& p : labels.phases) phases.push_back(p.phase);
  EXPECT_THAT(phases, ::testing::ElementsAre(trace::Phase::kSetup, trace::Phase::kForward,
                                             trace::Phase::kLoss, trace::Phase::kBackward,
                                             trace::Phase::kOptimizer));
  EXPECT_THAT(labels.rule, ::testing::Not(::testing::Contains(kLifeRecomputed)));
}

// Layers are moved to the GPU one by one, are used there, and are moved back. While they are on the
// GPU, they are parameters.
TEST_P(OtherRecordings, LayersMovedToTheGpuAreParameters) {
  if (!GetParam()) GTEST_SKIP() << "without stacks, moves are unknown";
  ASSERT_NO_FATAL_FAILURE(Read("more/sqattn"));
  if (IsSkipped()) return;
  EXPECT_GT(Of(totals.at_peak, Category::kParameter), uint64_t{400} << 20);
}

}  // namespace
}  // namespace vramscope::inference
