#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using trace::Category;

TraceMaker::Frame Malloc() {
  return {"c10::cuda::CUDACachingAllocator::Native::malloc(void**, int)", "", 0};
}
TraceMaker::Frame Op(const std::string& name) {
  return {"at::_ops::" + name + "::call(at::Tensor const&)", "??", 0};
}

TEST(CallSites, AreNamedByPythonFrameAndOperator) {
  TraceMaker m;
  const TraceMaker::Frame step{"step", "/home/u/project/optimizer.py", 80};
  const TraceMaker::Frame wrapper{"wrapper", "/v/lib/python3.12/site-packages/torch/optim.py", 5};
  const auto one = m.Stack({Malloc(), Op("add_Tensor"), step, wrapper});
  const auto same =
      m.Stack({{"at::detail::empty_cuda(int)", "??", 0}, Op("add_Tensor"), step, wrapper});
  const auto other = m.Stack({Malloc(), Op("empty_like"), Op("mul"), step, wrapper});
  const auto backward =
      m.Stack({Malloc(),
               Op("mm"),
               {"torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", "", 0},
               {"torch::autograd::Engine::evaluate_function(int)", "", 0}});
  const auto library = m.Stack({Malloc(), wrapper});
  for (const trace::StackId stack : {one, same, other, backward, library}) {
    m.Alloc({.bytes = 512, .stack = stack});
  }
  m.Alloc({.bytes = 512, .op = "aten::mm", .module = "layers.0"});
  m.Alloc({.bytes = 512});
  const auto t = m.Finish();

  const CallSites sites = FindCallSites(*t);
  EXPECT_THAT(sites.site_of, ElementsAre(0, 0, 1, 2, 3, 4, 5));
  std::vector<std::string> names;
  for (const CallSite& s : sites.sites) names.push_back(s.name);
  EXPECT_THAT(names, ElementsAre("optimizer.py:80 step > aten::add",
                                 "optimizer.py:80 step > aten::mul", "MmBackward0 > aten::mm",
                                 "optim.py:5 wrapper", "layers.0 > aten::mm", "(unattributed)"));
  EXPECT_THAT(StackLines(*t, one, true),
              ElementsAre("at::_ops::add_Tensor::call", "step  /home/u/project/optimizer.py:80",
                          "wrapper  /v/lib/python3.12/site-packages/torch/optim.py:5"));
  EXPECT_EQ(StackLines(*t, one, false).size(), 4u);
  EXPECT_TRUE(StackLines(*t, {9999}, false).empty());
}

// Their folder differs between the versions that `plan --with` compares.
TEST(CallSites, PackagesOfVersionsAreNotTheProgram) {
  TraceMaker m;
  const TraceMaker::Frame model{
      "forward", "/home/u/.cache/vramscope/environments/transformers-4.46.0/transformers/llama.py",
      5};
  const TraceMaker::Frame train{"main", "/home/u/project/train.py", 9};
  m.Alloc({.bytes = 512, .stack = m.Stack({Malloc(), Op("mm"), model, train})});
  const CallSites sites = FindCallSites(*m.Finish());
  ASSERT_EQ(sites.sites.size(), 1u);
  EXPECT_EQ(sites.sites[0].name, "train.py:9 main > aten::mm");
}

TEST(CallSites, OperatorNamesExcludeArguments) {
  TraceMaker m;
  m.Alloc({.bytes = 512, .stack = m.Stack({{"at::_ops::redispatch_mm(at::Tensor)", "??", 0}})});
  const CallSites sites = FindCallSites(*m.Finish());
  ASSERT_EQ(sites.sites.size(), 1u);
  EXPECT_EQ(sites.sites[0].name, "aten::redispatch_mm");
}

TEST(CallSites, EqualNamesAreExtendedByCallers) {
  TraceMaker m;
  const TraceMaker::Frame forward{"forward", "model.py", 10};
  const auto a = m.Stack({forward, {"train", "main.py", 1}});
  const auto b = m.Stack({forward, {"evaluate", "main.py", 9}});
  m.Alloc({.bytes = 1, .stack = a});
  m.Alloc({.bytes = 1, .stack = b});
  const CallSites sites = FindCallSites(*m.Finish());
  ASSERT_EQ(sites.sites.size(), 2u);
  EXPECT_EQ(sites.sites[0].name, "model.py:10 forward < main.py:1 train");
  EXPECT_EQ(sites.sites[1].name, "model.py:10 forward < main.py:9 evaluate");
}

// The program is a script that calls a model in a package from one line. So all allocations have
// the same frame of the program.
TEST(CallSites, EqualNamesAreExtendedByPackageFrames) {
  const std::string torch = "/v/lib/python3.12/site-packages/torch/nn/modules/";
  const TraceMaker::Frame call{"_call_impl", torch + "module.py", 1787};
  const TraceMaker::Frame script{"<module>", "/w/train.py", 10};
  const auto resnet = [](uint32_t line) {
    return TraceMaker::Frame{"forward",
                             "/v/lib/python3.12/site-packages/torchvision/models/resnet.py", line};
  };
  TraceMaker m;
  const TraceMaker::Frame conv{"_conv_forward", torch + "conv.py", 548};
  const TraceMaker::Frame conv_forward{"forward", torch + "conv.py", 553};
  const TraceMaker::Frame norm{"forward", torch + "batchnorm.py", 193};
  m.Alloc({.bytes = 1, .stack = m.Stack({conv, conv_forward, call, resnet(155), call, script})});
  m.Alloc({.bytes = 1, .stack = m.Stack({conv, conv_forward, call, resnet(159), call, script})});
  m.Alloc({.bytes = 1, .stack = m.Stack({norm, call, resnet(156), call, script})});
  const auto alone = m.Stack({norm, call, script});
  m.Alloc({.bytes = 1, .stack = alone, .module = "layer1.0.bn1"});
  const auto t = m.Finish();
  std::vector<std::string> names;
  for (const CallSite& s : FindCallSites(*t).sites) names.push_back(s.name);
  EXPECT_THAT(
      names, ElementsAre("conv.py:548 _conv_forward < resnet.py:155 forward < train.py:10 <module>",
                         "conv.py:548 _conv_forward < resnet.py:159 forward < train.py:10 <module>",
                         "batchnorm.py:193 forward < resnet.py:156 forward < train.py:10 <module>",
                         "batchnorm.py:193 forward < train.py:10 <module>"));
  // All blocks come from one line outside of functions (train.py:10). For such a line, a group's
  // name begins with the innermost function that the line called.
  const std::vector<analysis::Group> groups =
      GroupBySite(*t, analysis::LiveAt(*t, t->events.size() - 1));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "batchnorm.py:193 forward < train.py:10 <module>");
  EXPECT_EQ(groups[1].name, "conv.py:548 _conv_forward < train.py:10 <module>");
  EXPECT_EQ(groups[1].count, 2u);
  // For a single block, its module is more informative.
  EXPECT_EQ(SiteOf(*t, {3}).name, "train.py:10 <module> > layer1.0.bn1");
}

TEST(CallSites, UseCountsAllocationsAndLifetimes) {
  TraceMaker m;
  const uint64_t kept = m.Alloc({.bytes = 1000, .rounded = 1024, .op = "kept"});  // at 1 us
  for (int i = 0; i < 3; ++i) {
    m.Free(m.Alloc({.bytes = 512, .category = Category::kTemporary, .op = "churn"}));
  }
  (void)kept;
  const auto t = m.Finish();  // ends at 10 us
  const CallSites sites = FindCallSites(*t);
  std::vector<SiteUse> uses = UseOfSites(*t, sites, {});
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(sites.sites[uses[0].site].name, "(no module) > kept");
  EXPECT_EQ(uses[0].alive_bytes, 1024u);
  EXPECT_EQ(uses[0].mean_life_ns, 9000);
  EXPECT_DOUBLE_EQ(uses[0].byte_seconds, 1024 * 9e-6);
  EXPECT_EQ(uses[1].count, 3u);
  EXPECT_EQ(uses[1].bytes, 3 * 512u);
  EXPECT_EQ(uses[1].peak_live_bytes, 512u);
  EXPECT_EQ(uses[1].alive_count, 0u);
  EXPECT_EQ(uses[1].mean_life_ns, 2000);
  EXPECT_EQ(uses[1].category, Category::kTemporary);
  Sort(uses, SiteOrder::kCount);
  EXPECT_EQ(uses[0].count, 3u);
  // In a range of events, counts the blocks that are allocated in it and still live at its end.
  uses = UseOfSites(*t, sites, {.first = 1, .last = 2});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].count, 1u);
  EXPECT_EQ(uses[0].alive_count, 1u);
  EXPECT_EQ(uses[0].mean_life_ns, 1000);

  EXPECT_EQ(*ParseSiteOrder("life"), SiteOrder::kLife);
  EXPECT_FALSE(ParseSiteOrder("colour").ok());
}

// The longest lifetime that a file can contain, in nanoseconds, is not exact as a
// double.
TEST(CallSites, MeanOfTheLongestLifetimeIsExact) {
  TraceMaker m;
  m.NextAt(0);
  const uint64_t id = m.Alloc({.bytes = 512, .op = "forever"});
  m.FreeRequested(id);
  m.NextAt(INT64_MAX);
  m.Add({.kind = trace::EventKind::kFreeCompleted, .id = id});
  const auto t = m.Finish();
  const std::vector<SiteUse> uses = UseOfSites(*t, FindCallSites(*t), {});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].longest_life_ns, INT64_MAX);
  EXPECT_EQ(uses[0].mean_life_ns, INT64_MAX);
}

// Returns a trace of training steps. Each allocates and frees an activation and replaces the
// previous gradient. If `leak`, each step also leaves a block of 3 MiB behind. If `tear_down`,
// these blocks are freed after the last step.
std::shared_ptr<const trace::Trace> Steps(int steps, bool leak, bool tear_down) {
  TraceMaker m;
  m.info.device.memory_bytes = 100 * kMiB;
  std::vector<uint64_t> all;
  m.Alloc({.bytes = 4 * kMiB, .category = Category::kParameter, .op = "parameter"});
  uint64_t gradient = 0;
  for (int k = 0; k < steps; ++k) {
    m.BeginStep(static_cast<uint64_t>(k));
    const uint64_t activation = m.Alloc({.bytes = 2 * kMiB, .op = "activation"});
    if (k > 0) m.Free(gradient);
    gradient = m.Alloc({.bytes = kMiB, .op = "gradient"});
    if (k == 0) m.Alloc({.bytes = 8 * kMiB, .op = "state"});
    if (leak) all.push_back(m.Alloc({.bytes = 3 * kMiB, .op = "leak"}));
    m.Free(activation);
    m.EndStep();
  }
  if (tear_down) {
    for (const uint64_t id : all) m.Free(id);
  }
  return m.Finish();
}

TEST(Leaks, FindsNoneInSteadyTraining) {
  const auto t = Steps(6, false, false);
  const Leaks leaks = FindLeaks(*t, FindCallSites(*t));
  EXPECT_TRUE(leaks.known);
  EXPECT_TRUE(leaks.leaks.empty());
  EXPECT_EQ(leaks.steps.size(), 6u);
  EXPECT_THAT(leaks.headline, HasSubstr("No leak"));
}

TEST(Leaks, FindsBlocksThatEveryStepLeaves) {
  for (const bool tear_down : {false, true}) {
    const auto t = Steps(6, true, tear_down);
    const CallSites sites = FindCallSites(*t);
    const Leaks leaks = FindLeaks(*t, sites);
    ASSERT_EQ(leaks.leaks.size(), 1u);
    const Leak& leak = leaks.leaks[0];
    EXPECT_EQ(sites.sites[leak.site].name, "(no module) > leak");
    EXPECT_EQ(leak.bytes_per_step, 3.0 * kMiB);
    EXPECT_EQ(leak.bytes, 18 * kMiB);
    EXPECT_EQ(leak.stayed, std::vector<uint64_t>(6, 3 * kMiB));
    EXPECT_GT(leak.confidence, 0.9);
    EXPECT_EQ(leak.examples.size(), 5u);
    // Of 100 MiB, 4 + 1 + 8 + 18 MiB are used. Each step leaks 3 MiB.
    EXPECT_DOUBLE_EQ(leaks.steps_until_full, 69 / 3.0);
  }
}

TEST(Leaks, FewStepsGiveLowConfidence) {
  const auto three = Steps(3, true, false);
  const Leaks leaks = FindLeaks(*three, FindCallSites(*three));
  ASSERT_EQ(leaks.leaks.size(), 1u);
  EXPECT_LE(leaks.leaks[0].confidence, 0.5);
  const auto two = Steps(2, true, false);
  EXPECT_FALSE(FindLeaks(*two, FindCallSites(*two)).known);
}

TEST(Leaks, IgnoresFillingCachesAndRingBuffers) {
  TraceMaker m;
  std::vector<uint64_t> ring;
  for (uint64_t k = 0; k < 12; ++k) {
    m.BeginStep(k);
    if (k < 4) m.Alloc({.bytes = kMiB, .op = "cache"});
    ring.push_back(m.Alloc({.bytes = kMiB, .op = "ring"}));
    if (ring.size() > 3) m.Free(ring[ring.size() - 4]);
    m.EndStep();
  }
  const auto t = m.Finish();
  EXPECT_TRUE(FindLeaks(*t, FindCallSites(*t)).leaks.empty());
}

}  // namespace
}  // namespace vramscope::explain
