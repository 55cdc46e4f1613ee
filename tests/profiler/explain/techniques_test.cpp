// Compares the savings of techniques with values that the tests state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;
using trace::Category;
using trace::Phase;

// Builds a trace that runs out of memory. The test chooses the failing allocation and the device.
class Failing {
 public:
  void Begin(Phase phase) {
    m.Add({.kind = trace::EventKind::kPhaseBegin, .detail = static_cast<uint8_t>(phase)});
  }
  void End() { m.Add({.kind = trace::EventKind::kPhaseEnd}); }
  void Allocate(Category category, uint64_t bytes, const std::string& op = "",
                const std::string& module = "", trace::StackId stack = {}) {
    m.Alloc({.address = next_,
             .bytes = bytes,
             .category = category,
             .stack = stack,
             .op = op,
             .module = module});
    next_ += bytes;
  }
  OutOfMemory FailAllocation(uint64_t bytes, const std::vector<TraceMaker::Frame>& frames = {}) {
    const trace::StackId stack = frames.empty() ? trace::StackId{} : m.Stack(frames);
    m.Add({.kind = trace::EventKind::kOutOfMemory, .stack = stack, .bytes = bytes});
    const auto page = ExplainOutOfMemory(*m.Finish(), {.replay = false});
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() && !page->events.empty() ? page->events[0] : OutOfMemory{};
  }
  TraceMaker m;

 private:
  uint64_t next_ = kBase;
};

const WayOut* Find(const OutOfMemory& o, const std::string& name) {
  for (const WayOut& w : o.ways) {
    if (w.name.find(name) != std::string::npos) return &w;
  }
  return nullptr;
}
uint64_t Frees(const OutOfMemory& o, const std::string& name) {
  const WayOut* way = Find(o, name);
  return way == nullptr ? 0 : way->bytes;
}

// The model has two parameters of 8 MiB, with gradients and state of the same size, and four layers
// with activations of 2 and 6 MiB each.
TEST(Techniques, SavingsAreComputedFromLiveBlocks) {
  Failing f;
  for (int i = 0; i < 2; ++i) f.Allocate(Category::kParameter, 8 * kMiB);
  for (int i = 0; i < 2; ++i) f.Allocate(Category::kOptimizerState, 8 * kMiB);
  f.Allocate(Category::kOptimizerState, 512);  // a step counter: does not shrink with 8-bit state
  f.m.BeginStep(1);
  f.Begin(Phase::kForward);
  for (int i = 0; i < 4; ++i) {
    const std::string layer = "model.layers." + std::to_string(i);
    f.Allocate(Category::kActivation, 2 * kMiB, "aten::add", layer);
    f.Allocate(Category::kActivation, 6 * kMiB, "aten::mm", layer + ".mlp");
  }
  f.Allocate(Category::kActivation, 4 * kMiB, "aten::exp", "model");
  f.Allocate(Category::kTemporary, 4 * kMiB, "aten::_to_copy", "model");  // 16-bit copy of a weight
  f.m.Add({.kind = trace::EventKind::kOpBegin, .name = f.m.String("aten::mm")});
  const OutOfMemory o = f.FailAllocation(6 * kMiB);
  ASSERT_EQ(o.context.phase, Phase::kForward);

  EXPECT_EQ(Frees(o, "half the batch"), 36 / 2 * kMiB + 3 * kMiB) << "without the weight's copy";
  // At this time, no gradient is allocated, but there must have been gradients before, because
  // there is optimizer state.
  EXPECT_EQ(Frees(o, "two micro-batches"), 21 * kMiB);
  const WayOut* checkpointing = Find(o, "checkpointing");
  ASSERT_NE(checkpointing, nullptr);
  EXPECT_EQ(checkpointing->bytes, 3 * 6 * kMiB);
  EXPECT_THAT(checkpointing->how,
              HasSubstr("4 layers hold 32.00 MiB of the 36.00 MiB of live activations. "));
  // Autocast keeps sums and exp in fp32, and needs memory for copies of the weights.
  EXPECT_EQ(Frees(o, "autocast"), (4 * 6 / 2 + 3 - 8) * kMiB);
  EXPECT_EQ(Frees(o, "weights in bf16"), (40 / 2 + 32 / 2 + 3) * kMiB);
  constexpr uint64_t kElements = 2 * kMiB;
  EXPECT_EQ(Frees(o, "8-bit"), 2 * (8 * kMiB - (kElements + 4 * kElements / 256)));
  EXPECT_EQ(Frees(o, "on the CPU"), 16 * kMiB + 512);
  // LoRA with rank 8 and weights of 1448 x 1448 needs two adapters, their gradients, and state of
  // twice their size.
  constexpr uint64_t kAdapters = 2 * (2 * 8 * 1448) * 4;
  EXPECT_NEAR(static_cast<double>(Frees(o, "LoRA")),
              static_cast<double>(16 * kMiB + 512 - 3 * kAdapters), 64.0);
  EXPECT_EQ(Find(o, "fused optimizer"), nullptr);
  EXPECT_EQ(Find(o, "zero_grad"), nullptr);
  EXPECT_EQ(Find(o, "fused attention"), nullptr);
  EXPECT_EQ(Find(o, "loss in"), nullptr);
  for (const WayOut& w : o.ways) EXPECT_THAT(w.how, HasSubstr("estimate: "));
}

TEST(Techniques, FindsLayersByRepeatedStacks) {
  Failing f;
  const auto stack = [&](const std::string& function, uint32_t line) {
    return f.m.Stack({{.function = function, .file = "/home/user/model.py", .line = line}});
  };
  const trace::StackId embed = stack("embed", 1), norm = stack("norm", 2), mlp = stack("mlp", 3);
  f.Begin(Phase::kForward);
  f.Allocate(Category::kActivation, 3 * kMiB, "", "", embed);
  for (int i = 0; i < 5; ++i) {
    f.Allocate(Category::kActivation, kMiB, "", "", norm);
    f.Allocate(Category::kActivation, 4 * kMiB, "", "", mlp);
  }
  f.Allocate(Category::kActivation, kMiB, "", "", norm);  // the sixth layer has only begun
  const OutOfMemory o = f.FailAllocation(4 * kMiB);
  EXPECT_EQ(Frees(o, "checkpointing"), 4 * 4 * kMiB);
  EXPECT_THAT(Find(o, "checkpointing")->how, HasSubstr("6 layers"));
}

// As in a graph network, one stack occurs twice in each layer, and another stack occurs about as
// often before the layers.
TEST(Techniques, FindsLayersAmongOtherRepetitions) {
  Failing f;
  const auto stack = [&](const std::string& function, uint32_t line) {
    return f.m.Stack({{.function = function, .file = "/home/user/model.py", .line = line}});
  };
  const trace::StackId copy = stack("broadcast", 1), twice = stack("gather", 2),
                       once = stack("relu", 3);
  f.Begin(Phase::kForward);
  for (int i = 0; i < 13; ++i) f.Allocate(Category::kActivation, kMiB / 8, "", "", copy);
  for (int i = 0; i < 6; ++i) {
    f.Allocate(Category::kActivation, 2 * kMiB, "", "", twice);
    f.Allocate(Category::kActivation, 2 * kMiB, "", "", twice);
    if (i < 5) f.Allocate(Category::kActivation, 4 * kMiB, "", "", once);
  }
  const OutOfMemory o = f.FailAllocation(4 * kMiB);
  const WayOut* checkpointing = Find(o, "checkpointing");
  ASSERT_NE(checkpointing, nullptr);
  EXPECT_GE(checkpointing->bytes, 4 * 4 * kMiB) << checkpointing->how;
  EXPECT_LE(checkpointing->bytes, 5 * 6 * kMiB) << checkpointing->how;
}

TEST(Techniques, ComputesSavingsInTheOptimizerStep) {
  Failing f;
  for (int i = 0; i < 3; ++i) f.Allocate(Category::kParameter, (2 + i) * kMiB);
  f.Begin(Phase::kOptimizer);
  f.Allocate(Category::kTemporary, 9 * kMiB, "aten::_foreach_sqrt");
  const OutOfMemory o =
      f.FailAllocation(4 * kMiB, {{.function = "at::_ops::_foreach_div::call()"}});
  EXPECT_EQ(Frees(o, "fused optimizer"), 13 * kMiB);
  EXPECT_TRUE(Find(o, "fused optimizer")->passes) << "the failing allocation itself is not needed";
  EXPECT_EQ(Frees(o, "foreach=False"), 5 * kMiB) << "minus twice the largest parameter";
  EXPECT_EQ(Frees(o, "half the batch"), 0u) << "nothing here grows with the batch";
}

TEST(Techniques, FailingStateAllocationCountsAsState) {
  Failing f;
  f.Allocate(Category::kParameter, 8 * kMiB);
  f.Begin(Phase::kOptimizer);
  const OutOfMemory o = f.FailAllocation(8 * kMiB, {{.function = "at::_ops::zeros_like::call()"}});
  EXPECT_EQ(Frees(o, "on the CPU"), 8 * kMiB);
  EXPECT_TRUE(Find(o, "on the CPU")->passes);
  EXPECT_EQ(Find(o, "fused optimizer"), nullptr);
}

TEST(Techniques, SoftmaxOfTheLossIsNotAttention) {
  Failing f;
  f.Begin(Phase::kForward);
  f.Allocate(Category::kActivation, 3 * kMiB, "aten::_softmax");
  const trace::StackId own = f.m.Stack({{.function = "softmax", .file = "/home/user/nn.py"}});
  f.Allocate(Category::kActivation, 2 * kMiB, "aten::exp", "", own);
  f.End();
  f.Begin(Phase::kLoss);
  f.Allocate(Category::kActivation, 16 * kMiB, "aten::_log_softmax");
  const OutOfMemory o = f.FailAllocation(8 * kMiB);
  EXPECT_EQ(Frees(o, "fused attention"), 5 * kMiB);
  EXPECT_EQ(Frees(o, "loss in 8 chunks"), 14 * kMiB + 7 * kMiB);
}

TEST(Techniques, ZeroGradFreesGradientsOfEarlierSteps) {
  Failing f;
  f.m.BeginStep(0);
  f.Allocate(Category::kGradient, 5 * kMiB);
  f.m.EndStep();
  f.m.BeginStep(1);
  f.Allocate(Category::kGradient, 7 * kMiB);  // allocated in an earlier micro-batch
  f.Begin(Phase::kForward);
  f.Allocate(Category::kActivation, 2 * kMiB);
  const OutOfMemory o = f.FailAllocation(4 * kMiB);
  EXPECT_EQ(Frees(o, "zero_grad"), 5 * kMiB);
}

TEST(Techniques, LowerPrecisionKeepsDropoutMasks) {
  Failing f;
  f.Allocate(Category::kParameter, kMiB);
  f.Begin(Phase::kForward);
  f.Allocate(Category::kActivation, 8 * kMiB, "aten::native_dropout");
  f.Allocate(Category::kActivation, 2 * kMiB, "aten::native_dropout");
  f.Allocate(Category::kActivation, kMiB, "aten::gt");
  const OutOfMemory o = f.FailAllocation(2 * kMiB);
  EXPECT_EQ(Frees(o, "autocast"), 4 * kMiB - kMiB / 2);
  EXPECT_EQ(Frees(o, "weights in bf16"), 4 * kMiB + kMiB / 2 + kMiB);
}

TEST(Techniques, ExplanationOmitsEmptyCategories) {
  Failing f;
  f.Allocate(Category::kParameter, 8 * kMiB);
  f.Begin(Phase::kForward);
  const OutOfMemory o = f.FailAllocation(2 * kMiB);
  const WayOut* bf16 = Find(o, "weights in bf16");
  ASSERT_NE(bf16, nullptr);
  EXPECT_THAT(bf16->how, HasSubstr("half of the 8.00 MiB of parameters"));
}

TEST(Techniques, TechniquesInUseAreNotProposed) {
  Failing f;
  f.m.Stack({{.function = "at::autocast::cached_cast(c10::ScalarType)"}});
  f.Begin(Phase::kForward);
  f.Allocate(Category::kActivation, 8 * kMiB, "aten::mm");
  const OutOfMemory o = f.FailAllocation(4 * kMiB);
  EXPECT_EQ(Find(o, "bf16"), nullptr);
  EXPECT_NE(Find(o, "half the batch"), nullptr);
}

}  // namespace
}  // namespace vramscope::explain
