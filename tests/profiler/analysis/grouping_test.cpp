#include "profiler/analysis/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using trace::Event;
using trace::EventKind;

GroupExpression Parsed(std::string_view text) {
  const absl::StatusOr<GroupExpression> by = ParseGroupExpression(text);
  EXPECT_TRUE(by.ok()) << text << ": " << by.status();
  return by.ok() ? *by : GroupExpression(GroupBy::kCategory);
}

TEST(GroupExpression, ParsesFieldsWithDetails) {
  EXPECT_TRUE(Parsed("stack").Is(GroupBy::kStack));
  EXPECT_EQ(Parsed("category"), GroupExpression(GroupBy::kCategory));
  const GroupExpression three = Parsed(" module:* ,file : 2, phase");
  EXPECT_THAT(three.parts(), ElementsAre(GroupPart{.by = GroupBy::kModule, .merge_numbers = true},
                                         GroupPart{.by = GroupBy::kFile, .components = 2},
                                         GroupPart{.by = GroupBy::kPhase}));
  EXPECT_FALSE(three.Is(GroupBy::kModule));
  EXPECT_FALSE(Parsed("module:2").Is(GroupBy::kModule));
  EXPECT_EQ(Parsed("op, op").parts().size(), 1u);
}

TEST(GroupExpression, TextParsesToTheSameExpression) {
  for (const std::string& name : GroupByNames()) EXPECT_EQ(Parsed(name).Text(), name);
  for (const char* text :
       {"module:*, category", "module:3, stack:2, file:1", "age, size, annotation"})
    EXPECT_EQ(Parsed(text).Text(), text);
}

TEST(GroupExpression, RejectsWhatItDoesNotKnow) {
  const auto error = [](std::string_view text) {
    const absl::Status status = ParseGroupExpression(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_THAT(error("colour"), HasSubstr("category, module, op, stack, phase"));
  EXPECT_THAT(error(""), HasSubstr("a field is missing"));
  EXPECT_THAT(error("module,"), HasSubstr("a field is missing"));
  EXPECT_THAT(error("op,\nage\x1b"), HasSubstr("cannot group by \"age?\""));
  EXPECT_LT(error(std::string(100'000, 'x')).size(), 300u);
  EXPECT_THAT(error("phase:2"), HasSubstr("\"phase\" cannot have a \":\""));
  for (const char* text : {"module:", "module:0", "module:-1", "module:65", "module:99999999999",
                           "module:2:3", "module:**"})
    EXPECT_THAT(error(text), HasSubstr("neither * nor a number from 1 to 64")) << text;
  EXPECT_THAT(error("file:*"), HasSubstr("not a number from 1 to 64"));
  EXPECT_THAT(error("category,op,phase,size,age"), HasSubstr("at most 4"));
  error(std::string(100'000, ','));
}

class GroupingOfModules : public ::testing::Test {
 protected:
  void SetUp() override {
    trace::TraceBuilder b;
    const std::vector<std::string> strings = {
        "",     "model.layers.0.mlp", "model.layers.1.mlp", "model.layers.10.attn2",
        "head", "/a//b/train.py",     "C:\\c\\b\\train.py", "main",
        "step"};
    ASSERT_TRUE(b.AddStrings(0, strings).ok());
    trace::StackIncrement stacks;
    stacks.function = {{8}, {7}, {7}};
    stacks.file = {{5}, {5}, {6}};
    stacks.line = {3, 9, 4};
    stacks.lengths = {2, 1};
    stacks.frames = {0, 1, 2};
    ASSERT_TRUE(b.AddStacks(stacks).ok());
    std::vector<Event> events;
    const auto alloc = [&](uint64_t bytes, uint32_t module, uint32_t stack,
                           trace::Category category) {
      Event e;
      e.kind = EventKind::kAlloc;
      e.id = events.size();
      e.bytes = e.bytes_rounded = bytes;
      e.module = {module};
      e.stack = {stack};
      e.category = category;
      events.push_back(e);
    };
    alloc(4096, 1, 1, trace::Category::kParameter);
    alloc(2048, 2, 1, trace::Category::kParameter);
    alloc(1024, 3, 2, trace::Category::kGradient);
    alloc(512, 4, 2, trace::Category::kParameter);
    ASSERT_TRUE(b.AddEvents(events).ok());
    trace_ = b.Finish(true, "");
    live_ = LiveAt(*trace_, trace_->events.size());
  }
  std::vector<std::string> Names(std::string_view by) const {
    std::vector<std::string> out;
    for (const Group& g : GroupLive(*trace_, live_, Parsed(by)))
      out.push_back(g.name + " " + std::to_string(g.bytes) + " " + std::to_string(g.count));
    return out;
  }

  std::shared_ptr<const trace::Trace> trace_;
  LiveSet live_;
};

TEST_F(GroupingOfModules, MergesTheNumbersOfLayersOnly) {
  EXPECT_THAT(Names("module:*"), ElementsAre("model.layers.*.mlp 6144 2",
                                             "model.layers.*.attn2 1024 1", "head 512 1"));
}

TEST_F(GroupingOfModules, TakesTheFirstComponentsOfAModule) {
  EXPECT_THAT(Names("module:2"), ElementsAre("model.layers 7168 3", "head 512 1"));
}

TEST_F(GroupingOfModules, TakesTheLastComponentsOfAFile) {
  EXPECT_THAT(Names("file:1"), ElementsAre("train.py 7680 4"));
  EXPECT_THAT(Names("file:3"), ElementsAre("a/b/train.py 6144 2", "c/b/train.py 1536 2"));
  EXPECT_THAT(Names("file:9"), ElementsAre("a/b/train.py 6144 2", "C:/c/b/train.py 1536 2"));
  EXPECT_THAT(Names("file"), ElementsAre("/a//b/train.py 6144 2", "C:\\c\\b\\train.py 1536 2"));
}

TEST_F(GroupingOfModules, AddsCallersToACallSite) {
  EXPECT_THAT(Names("stack"),
              ElementsAre(StartsWith("train.py:3 step 6144"), StartsWith("train.py:4 main 1536")));
  EXPECT_THAT(Names("stack:2"), ElementsAre(StartsWith("train.py:3 step < train.py:9 main 6144"),
                                            StartsWith("train.py:4 main 1536")));
}

TEST_F(GroupingOfModules, CombinesFields) {
  EXPECT_THAT(Names("category, module:2"),
              ElementsAre("Parameter, model.layers 6144 2", "Gradient, model.layers 1024 1",
                          "Parameter, head 512 1"));
}

// If an expression has several fields, two blocks must be in the same group if and only if they are
// in the same group for each of the fields.
TEST(Grouping, GroupsOfSeveralFieldsAreIntersections) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto t = MakeRandomTrace({.seed = seed, .tear_down = false});
    const LiveSet live = LiveAt(*t, t->events.size() * 2 / 3);
    ASSERT_GT(live.allocations.size(), 5u);
    const std::vector<std::string> fields = {"category", "module:*", "phase", "size"};
    const LiveGroups whole = GroupBlocks(
        *t, live, Parsed(fields[0] + "," + fields[1] + "," + fields[2] + "," + fields[3]));
    std::vector<LiveGroups> each;
    for (const std::string& field : fields) each.push_back(GroupBlocks(*t, live, Parsed(field)));
    std::map<std::vector<uint32_t>, uint32_t> group_of;
    std::set<uint32_t> groups;
    for (size_t i = 0; i < live.allocations.size(); ++i) {
      std::vector<uint32_t> key;
      for (size_t f = 0; f < fields.size(); ++f) {
        key.push_back(each[f].group_of[i]);
        EXPECT_EQ(whole.groups[whole.group_of[i]].parts[f], each[f].groups[key.back()].name);
      }
      groups.insert(whole.group_of[i]);
      EXPECT_EQ(group_of.try_emplace(key, whole.group_of[i]).first->second, whole.group_of[i]);
    }
    EXPECT_EQ(groups.size(), group_of.size());
    EXPECT_EQ(groups.size(), whole.groups.size());
    uint64_t bytes = 0;
    for (const Group& g : whole.groups) bytes += g.bytes;
    EXPECT_EQ(bytes, live.allocated);
  }
}

}  // namespace
}  // namespace vramscope::analysis
