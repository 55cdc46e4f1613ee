// Tests that the weights of a 4-bit base model are always parameters, although they are not
// trained, and that nothing is optimizer state if no optimizer ran.
#include "tests/profiler/inference/qlora.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/infer.h"
#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Confusion;
using testing::Program;
using testing::Qlora;
using testing::Stripped;
using trace::Category;

double InferredBytes(const Confusion::Matrix& m, Category category) {
  double sum = 0;
  for (const auto& row : m) sum += row[static_cast<size_t>(category)];
  return sum;
}

// At rank 8, the absmax of a 2048 x 2048 weight and an adapter of this weight have the same size.
class QloraTest : public ::testing::TestWithParam<std::tuple<bool, bool, uint32_t>> {
 protected:
  Qlora::Options options(bool from_start = false) const {
    return {.rank = std::get<2>(GetParam()),
            .checkpointing = std::get<1>(GetParam()),
            .recorded_from_start = from_start};
  }
  Confusion InferAndCompare(Qlora& run, double cut = 1) {
    made_ = run.program().Take({.stacks = std::get<0>(GetParam()), .cut = cut});
    labels_ = Infer(made_.recording, made_.history);
    return testing::Compare(made_, labels_);
  }
  static std::string Tables(const Confusion& c) {
    return "MiB at the peak:\n" + Confusion::Table(c.peak) + "MiB s:\n" + Confusion::Table(c.time);
  }
  // Returns what share of all bytes x seconds are parameters that were inferred as gradients,
  // optimizer state, activations or temporaries.
  static double MisclassifiedShare(const Confusion& c) {
    const auto& row = c.time[static_cast<size_t>(Category::kParameter)];
    return Confusion::Total(c.time) == 0 ? 0
                                         : (row[static_cast<size_t>(Category::kGradient)] +
                                            row[static_cast<size_t>(Category::kOptimizerState)] +
                                            row[static_cast<size_t>(Category::kActivation)] +
                                            row[static_cast<size_t>(Category::kTemporary)]) /
                                               Confusion::Total(c.time);
  }
  // Returns the bytes of all adapters' moments plus the bytes of batches, which look like moments.
  static double MaxStateBytes(const Qlora& run) {
    constexpr uint64_t kBatches = uint64_t{3} * 4096;
    return static_cast<double>(2 * run.AdapterBytes() + kBatches);
  }
  Stripped made_;
  Labels labels_;
};
INSTANTIATE_TEST_SUITE_P(
    All, QloraTest,
    ::testing::Combine(::testing::Bool(), ::testing::Bool(), ::testing::Values(8u, 16u)),
    [](const auto& info) {
      return fmt::format("{}{}rank{}", std::get<0>(info.param) ? "stacks_" : "nothing_",
                         std::get<1>(info.param) ? "checkpointing_" : "", std::get<2>(info.param));
    });

TEST_P(QloraTest, NoOptimizerStateWithoutOptimizerStep) {
  for (const int passes : {1, 2, 3}) {
    Qlora run(options());
    for (int i = 0; i < passes; ++i) {
      run.Forward();
      run.Backward();
    }
    for (const double cut : {0.1, 0.3, 0.45, 0.55, 0.7, 0.8, 0.9, 0.97, 1.0}) {
      SCOPED_TRACE(fmt::format("{} passes, cut at {}", passes, cut));
      const Confusion c = InferAndCompare(run, cut);
      SCOPED_TRACE(Tables(c));
      EXPECT_EQ(InferredBytes(c.peak, Category::kOptimizerState), 0);
      EXPECT_EQ(InferredBytes(c.time, Category::kOptimizerState), 0);
      EXPECT_EQ(MisclassifiedShare(c), 0);
      EXPECT_TRUE(Confusion::Exact(c.peak, Category::kParameter));
    }
  }
}

TEST_P(QloraTest, InferenceHasNoGradientsOrOptimizerState) {
  Qlora run(options());
  run.Generate(4);
  for (const double cut : {0.2, 0.6, 1.0}) {
    const Confusion c = InferAndCompare(run, cut);
    SCOPED_TRACE(Tables(c));
    EXPECT_EQ(InferredBytes(c.time, Category::kOptimizerState), 0);
    EXPECT_EQ(InferredBytes(c.time, Category::kGradient), 0);
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kParameter));
  }
}

// The recording contains the first step of the optimizer, so all of its state is new.
TEST_P(QloraTest, OptimizerStateIsThatOfTheAdapters) {
  for (const bool from_start : {false, true}) {
    Qlora run(options(from_start));
    run.Train(3);
    SCOPED_TRACE(from_start ? "from the start" : "from the first step");
    const Confusion c = InferAndCompare(run);
    SCOPED_TRACE(Tables(c));
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kParameter));
    if (!from_start) {
      // Not checked from the start of the program, because loading converts bf16 weights to fp32.
      EXPECT_EQ(MisclassifiedShare(c), 0);
      EXPECT_LE(InferredBytes(c.peak, Category::kOptimizerState), MaxStateBytes(run));
    }
    EXPECT_TRUE(Confusion::Exact(c.peak, Category::kOptimizerState));
    EXPECT_GE(Confusion::Right(c.peak), 0.99);
    EXPECT_GE(Confusion::Right(c.time), 0.97);
    EXPECT_EQ(labels_.steps.size(), 3u);
    EXPECT_GE(testing::PhasesRight(made_, labels_), 0.98);
  }
}

// From the second step on, the optimizer state of the adapters is older than the recording.
TEST_P(QloraTest, OptimizerStateIsBoundedIfRecordedFromSecondStep) {
  Qlora run(options());
  run.Train(1);
  run.program().Record();
  run.Train(2);
  for (const double cut : {0.1, 0.3, 0.5, 1.0}) {
    const Confusion c = InferAndCompare(run, cut);
    SCOPED_TRACE(fmt::format("cut at {}\n", cut) + Tables(c));
    EXPECT_LE(InferredBytes(c.peak, Category::kOptimizerState), MaxStateBytes(run));
    // If the recording is cut, adapters, moments and absmax of equal size cannot be distinguished.
    if (cut == 1) {
      EXPECT_GE(Confusion::Right(c.peak), 0.97);
    }
  }
}

}  // namespace
}  // namespace vramscope::inference
