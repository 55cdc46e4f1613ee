#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;
using Change = TraceDiff::Change;

const TraceDiff::Site* Find(const TraceDiff& diff, const std::string& part) {
  for (const TraceDiff::Site& s : diff.sites) {
    if (s.name.find(part) != std::string::npos) return &s;
  }
  return nullptr;
}

std::shared_ptr<const trace::Trace> Program(const std::string& folder, uint32_t shift, bool b) {
  TraceMaker m;
  const auto at = [&](const std::string& function, uint32_t line) {
    return m.Stack(
        {{"at::_ops::mm::call()", "", 0}, {function, folder + "/src/model.py", line + shift}});
  };
  m.BeginStep(0);
  m.Alloc({.bytes = kMiB, .category = trace::Category::kActivation, .stack = at("same", 1)});
  m.Alloc({.bytes = (b ? 3 : 2) * kMiB, .stack = at("grown", 5)});
  m.Alloc({.bytes = 4 * kMiB, .stack = at(b ? "added" : "removed", 9)});
  m.EndStep();
  return m.Finish();
}

TEST(TraceDiff, MatchesStacksWithOtherLinesAndFolders) {
  const auto a = Program("/home/a", 0, false), b = Program("/data/b", 100, true);
  const auto diff = DiffTraces(*a, *b, std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_TRUE(diff->by_stack);
  ASSERT_EQ(diff->sites.size(), 4u);
  EXPECT_EQ(Find(*diff, "same")->change, Change::kSame);
  EXPECT_EQ(Find(*diff, "same")->category, trace::Category::kActivation);
  EXPECT_EQ(Find(*diff, "grown")->change, Change::kGrown);
  EXPECT_EQ(Find(*diff, "grown")->delta(), static_cast<int64_t>(kMiB));
  EXPECT_EQ(Find(*diff, "added")->change, Change::kAdded);
  EXPECT_EQ(Find(*diff, "removed")->change, Change::kRemoved);
  EXPECT_EQ(Find(*diff, "removed")->a_bytes, 4 * kMiB);
  ASSERT_EQ(diff->steps.size(), 1u);
  EXPECT_EQ(diff->steps[0].b_peak - diff->steps[0].a_peak, kMiB);
  EXPECT_THAT(diff->headline, HasSubstr("1.00 MiB higher"));
  // The greatest change is first.
  EXPECT_EQ(std::abs(diff->sites[0].delta()), static_cast<int64_t>(4 * kMiB));
}

// Two variants of a script may be in one folder. A comprehension has its own frame in Python 3.11,
// but not in Python 3.12.
TEST(TraceDiff, MatchesStacksOfARenamedScript) {
  const auto script = [](const std::string& name, bool comprehension, uint64_t bytes) {
    TraceMaker m;
    std::vector<TraceMaker::Frame> frames = {{"at::_ops::mm::call()", "", 0},
                                             {"forward", "/w/src/model.py", 4}};
    if (comprehension) frames.push_back({"<listcomp>", "/w/" + name, 8});
    frames.push_back({"train", "/w/" + name, 8});
    frames.push_back({"<module>", "/w/" + name, 20});
    m.BeginStep(0);
    m.Alloc({.bytes = bytes, .stack = m.Stack(frames)});
    frames[1].function = name;  // another function of the model is another site
    m.Alloc({.bytes = bytes, .stack = m.Stack(frames)});
    m.EndStep();
    return m.Finish();
  };
  const auto diff = DiffTraces(*script("train.py", true, kMiB),
                               *script("train_flash.py", false, 3 * kMiB), std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  ASSERT_EQ(diff->sites.size(), 3u);
  EXPECT_EQ(Find(*diff, "forward")->change, Change::kGrown);
  EXPECT_EQ(Find(*diff, "model.py:4 train.py")->change, Change::kRemoved);
  EXPECT_EQ(Find(*diff, "model.py:4 train_flash.py")->change, Change::kAdded);
}

TEST(TraceDiff, UsesModuleAndOpWithoutStacks) {
  const auto a = Program("/home/a", 0, false);
  TraceMaker m;
  m.BeginStep(0);
  m.Alloc({.bytes = kMiB, .op = "aten::mm", .module = "layer"});
  m.EndStep();
  const auto diff = DiffTraces(*a, *m.Finish(), 0);
  ASSERT_TRUE(diff.ok());
  EXPECT_FALSE(diff->by_stack);
  EXPECT_EQ(Find(*diff, "layer > aten::mm")->change, Change::kAdded);
}

TEST(TraceDiff, EqualTracesHaveNoDifference) {
  const auto a = Program("/home/a", 0, false);
  const auto diff = DiffTraces(*a, *a, 0);
  ASSERT_TRUE(diff.ok());
  for (const TraceDiff::Site& s : diff->sites) EXPECT_EQ(s.change, Change::kSame);
  EXPECT_THAT(diff->headline, HasSubstr("the same"));
  EXPECT_TRUE(absl::IsNotFound(DiffTraces(*a, *a, 7).status()));
  const auto empty = TraceMaker().Finish();
  EXPECT_TRUE(DiffTraces(*empty, *empty, std::nullopt).ok());
}

// Compares devices of the same number. A sum over several devices would mean nothing.
TEST(TraceDiff, ComparesDevicesOfEqualNumber) {
  const auto make = [](uint64_t first, uint64_t second) {
    TraceMaker m;
    m.Alloc({.address = kBase, .bytes = first, .op = "aten::mm", .device = 0});
    m.Alloc({.address = kBase, .bytes = second, .op = "aten::mm", .device = 1});
    return m.Finish();
  };
  const auto a = make(4 * kMiB, 2 * kMiB), b = make(4 * kMiB, 7 * kMiB);
  const auto pairs = analysis::DevicePairs(a, b);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].device, 1);
  const auto diff = DiffTraces(*pairs[1].a, *pairs[1].b, std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_EQ(diff->a.allocated, 2 * kMiB);
  EXPECT_EQ(diff->b.allocated, 7 * kMiB);
  ASSERT_EQ(diff->sites.size(), 1u);
  EXPECT_EQ(diff->sites[0].delta(), static_cast<int64_t>(5 * kMiB));
  const auto other = DiffTraces(*pairs[0].a, *pairs[0].b, std::nullopt);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->sites[0].delta(), 0);

  // If B has one device, it is compared with A's device of that number, even if another device of A
  // needs more.
  TraceMaker only;
  only.Alloc({.address = kBase, .bytes = 3 * kMiB, .op = "aten::mm", .device = 0});
  const auto with_one = analysis::DevicePairs(b, only.Finish());
  ASSERT_EQ(with_one.size(), 2u);
  const auto one = DiffTraces(*with_one[0].a, *with_one[0].b, std::nullopt);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->a.allocated, 4 * kMiB);
  EXPECT_EQ(one->b.allocated, 3 * kMiB);
  EXPECT_EQ(with_one[1].device, 1);
  EXPECT_EQ(with_one[1].b->allocations.size(), 0u) << "B has no such device";

  // If both files have only one device, these two are compared, even if their numbers differ. The
  // result has B's number.
  TraceMaker second;
  second.Alloc({.address = kBase, .bytes = 3 * kMiB, .op = "aten::mm", .device = 1});
  const auto t = second.Finish();
  EXPECT_EQ(analysis::DevicePairs(t, t).at(0).device, 1);
}

// Blocks older than the recording and blocks that it allocated are different sites.
TEST(TraceDiff, SeparatesBlocksFromBeforeTheRecording) {
  const auto make = [](uint64_t older) {
    TraceMaker m;
    m.Alloc({.address = kBase, .bytes = older});
    m.Add({.kind = trace::EventKind::kMarker,
           .name = m.String(std::string(trace::kMarkerRecordingBegin))});
    m.Alloc({.address = kBase + 64 * kMiB, .bytes = 8 * kMiB});
    return m.Finish();
  };
  const auto diff = DiffTraces(*make(3 * kMiB), *make(5 * kMiB), std::nullopt);
  ASSERT_TRUE(diff.ok());
  ASSERT_EQ(diff->sites.size(), 2u);
  EXPECT_EQ(diff->sites[0].delta(), static_cast<int64_t>(2 * kMiB));
  EXPECT_EQ(diff->sites[1].delta(), 0);
  EXPECT_EQ(diff->sites[1].a_bytes, 8 * kMiB);
}

// Another launcher started the program, so the same line of the program has other callers.
TEST(TraceDiff, MatchesALineAcrossCallers) {
  const auto program = [](const std::string& launcher, uint64_t bytes) {
    TraceMaker m;
    m.BeginStep(0);
    m.Alloc({.bytes = bytes,
             .stack = m.Stack({{"at::_ops::mm::call()", "", 0},
                               {"forward", "/w/src/model.py", 4},
                               {launcher, "/w/tools/" + launcher + ".py", 9}})});
    m.EndStep();
    return m.Finish();
  };
  const auto a = program("run", 522 * kMiB), b = program("launch", 536 * kMiB);
  const auto diff = DiffTraces(*a, *b, std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  ASSERT_EQ(diff->sites.size(), 1u);
  EXPECT_EQ(diff->sites[0].change, Change::kGrown);
  EXPECT_EQ(diff->sites[0].delta(), static_cast<int64_t>(14 * kMiB));
  EXPECT_EQ(diff->sites[0].a_blocks.size(), 1u);
}

// A compiled graph is generated code in which each node has its own line.
TEST(TraceDiff, SeparatesNodesOfACompiledGraph) {
  const auto program = [](const std::string& file, uint64_t bytes) {
    TraceMaker m;
    const auto node = [&](uint32_t line) {
      return m.Stack({{"__call__", "/usr/lib/python3/dist-packages/torch/_ops.py", 841},
                      {"forward", file, line},
                      {"inner", "/usr/lib/python3/dist-packages/torch/_dynamo/eval_frame.py", 9}});
    };
    m.BeginStep(0);
    m.Alloc({.bytes = kMiB, .stack = node(5)});
    m.Alloc({.bytes = bytes, .stack = node(9)});
    m.EndStep();
    return m.Finish();
  };
  const auto a = program("<eval_with_key>.3", kMiB), b = program("<eval_with_key>.12", 2 * kMiB);
  const auto diff = DiffTraces(*a, *b, std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  ASSERT_EQ(diff->sites.size(), 2u);
  EXPECT_EQ(diff->sites[0].name, "graph:9 forward");
  EXPECT_EQ(diff->sites[0].change, Change::kGrown);
  EXPECT_EQ(diff->sites[1].name, "graph:5 forward");
  EXPECT_EQ(diff->sites[1].change, Change::kSame);
}

}  // namespace
}  // namespace vramscope::explain
