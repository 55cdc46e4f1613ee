#include "profiler/query/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/query/kernel_sums.h"
#include "profiler/query/matcher.h"
#include "profiler/query/search.h"
#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::query {
namespace {

using ::testing::HasSubstr;

// Returns the filter's tree as a text with brackets around every operation.
std::string Shape(const Filter& filter, uint32_t at) {
  const FilterNode& node = filter.nodes()[at];
  switch (node.is) {
    case FilterNode::Is::kText:
      return "'" + node.text + "'";
    case FilterNode::Is::kCompare:
      return std::string(Name(node.field)) + "?";
    case FilterNode::Is::kNot:
      return "!" + Shape(filter, node.left);
    case FilterNode::Is::kAnd:
      return "(" + Shape(filter, node.left) + "&" + Shape(filter, node.right) + ")";
    case FilterNode::Is::kOr:
      return "(" + Shape(filter, node.left) + "|" + Shape(filter, node.right) + ")";
  }
  return "";
}

std::string Parsed(std::string_view text) {
  const auto filter = ParseFilter(text);
  if (!filter.ok()) return std::string(filter.status().message());
  return filter->empty() ? "" : Shape(*filter, static_cast<uint32_t>(filter->nodes().size() - 1));
}

TEST(FilterTest, AndBindsCloserThanOr) {
  EXPECT_EQ(Parsed("size > 1 or op = a and phase = backward"), "(size?|(op?&phase?))");
  EXPECT_EQ(Parsed("(size > 1 or op = a) and not phase = backward"), "((size?|op?)&!phase?)");
  EXPECT_EQ(Parsed("gemm and SIZE>=10MiB"), "('gemm'&size?)");
  EXPECT_EQ(Parsed("not not (gemm)"), "!!'gemm'");
  EXPECT_EQ(Parsed("  "), "");
}

TEST(FilterTest, ValuesExtendToTheNextKeyword) {
  const auto filter = ParseFilter("category = Optimizer State and age < 20 us and size != 1.5 MiB");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->nodes()[0].text, "optimizer state");
  EXPECT_EQ(filter->nodes()[1].number, 20'000);
  EXPECT_EQ(filter->nodes()[3].number, 1.5 * 1024 * 1024);
  const auto quoted = ParseFilter(R"(name ~ "a < \"b\" and c" or op = f(x))");
  ASSERT_TRUE(quoted.ok()) << quoted.status();
  EXPECT_EQ(quoted->nodes()[0].text, "a < \"b\" and c");
  EXPECT_EQ(quoted->nodes()[1].text, "f(x)");
  // Quoted() must escape text so that parsing returns it unchanged.
  const std::string hostile = "a \"b\\ and (";
  const auto again = ParseFilter("name = " + Quoted(hostile));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->nodes()[0].text, hostile);
}

TEST(FilterTest, ErrorsNameColumnAndCause) {
  EXPECT_THAT(Parsed("size > 10 apples"), HasSubstr("column 8: "));
  EXPECT_THAT(Parsed("weight > 3"),
              HasSubstr("column 1: \"weight\" is not a field; fields are size, "));
  EXPECT_THAT(Parsed("size > 1 and"), HasSubstr("column 13: a field or a text is missing here"));
  EXPECT_THAT(Parsed("size >"), HasSubstr("column 7: a value is missing here"));
  EXPECT_THAT(Parsed("(size > 1"), HasSubstr("column 1: this bracket is not closed"));
  EXPECT_THAT(Parsed("size > 1)"), HasSubstr("column 9: this bracket was never opened"));
  EXPECT_THAT(Parsed("module < a"), HasSubstr("column 10: module is a text"));
  EXPECT_THAT(Parsed("size ~ 3"), HasSubstr("column 8: size is a number"));
  EXPECT_THAT(Parsed("size > 1 op = a"), HasSubstr("\"and\" or \"or\" is missing"));
  EXPECT_THAT(Parsed("name = \"a"), HasSubstr("column 8: these quotes are not closed"));
  EXPECT_THAT(Parsed("= 3"), HasSubstr("column 1: a field is missing"));
  EXPECT_THAT(Parsed("ä and size > x"), HasSubstr("column 14: "))
      << "columns are counted in characters, not bytes";
  EXPECT_THAT(Parsed(std::string(kLongestFilter + 1, 'a')), HasSubstr("at most 4096 are allowed"));
  EXPECT_THAT(Parsed(std::string(1000, '(')), HasSubstr("nested deeper"));
}

TEST(FilterTest, SearchIsPlainTextUnlessAFieldIsCompared) {
  const auto plain = [](std::string_view text) {
    const auto filter = ParseSearch(text);
    return filter.ok() ? std::string(filter->plain_text()) : std::string(filter.status().message());
  };
  EXPECT_EQ(plain("Vectorized_kernel<4, Abs(float)>"), "vectorized_kernel<4, abs(float)>");
  EXPECT_EQ(plain("rock and roll"), "rock and roll");
  EXPECT_EQ(plain("x = 3"), "x = 3");
  EXPECT_EQ(plain("module ~ attn"), "") << "a filter";
  EXPECT_EQ(plain("gemm and size>3"), "") << "a filter";
  EXPECT_THAT(plain("size > q"), HasSubstr("column 8"));
}

class MatcherTest : public ::testing::Test {
 protected:
  std::shared_ptr<const trace::Trace> trace_ = vramscope::testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 2}});
  ActivityIndex index_{trace_};

  SearchResult Find(std::string_view text) {
    const auto filter = ParseSearch(text);
    EXPECT_TRUE(filter.ok()) << filter.status();
    return Search({.trace = trace_, .index = &index_}, *filter);
  }
  uint64_t Blocks(const std::function<bool(uint32_t)>& is) const {
    uint64_t n = 0;
    for (uint32_t i = 0; i < trace_->allocations.size(); ++i) n += is(i);
    return n;
  }
};

TEST_F(MatcherTest, FindsBlocksByTheirFields) {
  const auto& a = trace_->allocations;
  const SearchResult large = Find("kind = block and size >= 16 MiB and phase = backward");
  EXPECT_EQ(large.things.size(), Blocks([&](uint32_t i) {
              return a.bytes_rounded[i] >= (16u << 20) && a.phase[i] == trace::Phase::kBackward;
            }));
  EXPECT_GT(large.things.size(), 0u);
  EXPECT_EQ(large.count(ThingKind::kBlock), large.things.size());
  const SearchResult rest = Find("kind = block and not (size >= 16 MiB and phase = backward)");
  EXPECT_EQ(rest.things.size() + large.things.size(), a.size());
  EXPECT_EQ(Find("category = activation and step = 1").things.size(), Blocks([&](uint32_t i) {
              return a.main_category[i] == trace::Category::kActivation && a.step[i] == 1;
            }));
  EXPECT_EQ(Find("kind = block and category != activation").things.size(),
            Blocks([&](uint32_t i) { return a.main_category[i] != trace::Category::kActivation; }));
}

TEST_F(MatcherTest, FindsKernelsByNameOpModuleAndDuration) {
  const auto& a = trace_->activities;
  uint64_t kernels = 0, of_module = 0, of_name = 0, of_op = 0;
  int64_t longest = 0;
  std::string op;  // the op of the first kernel that has one
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != trace::ActivityKind::kKernel) continue;
    ++kernels;
    of_module += ContainsText(trace_->String(index_.ModuleOf(row)), "layers.1");
    of_name += ContainsText(trace_->String(a.name[row]), "softmax_warp");
    if (op.empty()) op = OpOf(index_, row);
    of_op += !op.empty() && OpOf(index_, row) == op;
    longest = std::max(longest, a.end_ns[row] - a.begin_ns[row]);
  }
  ASSERT_GT(kernels, 0u);
  EXPECT_EQ(Find("kind = kernel").things.size(), kernels);
  ASSERT_TRUE(of_name > 0 && of_name < kernels) << of_name;
  EXPECT_EQ(Find("kind = kernel and name ~ softmax_warp").things.size(), of_name);
  ASSERT_TRUE(of_op > 0 && of_op < kernels) << of_op;
  EXPECT_EQ(Find("kind = kernel and op = " + Quoted(op)).things.size(), of_op);
  ASSERT_GT(of_module, 0u);
  EXPECT_EQ(Find("kind = kernel and module ~ layers.1").things.size(), of_module);
  EXPECT_EQ(Find("kind = kernel and module !~ layers.1").things.size(), kernels - of_module);
  EXPECT_EQ(Find("kind = kernel and duration > " + std::to_string(longest)).things.size(), 0u);
  EXPECT_GT(Find("kind = kernel and duration >= " + std::to_string(longest)).things.size(), 0u);
  EXPECT_EQ(Find("kind = kernel and size > 0").things.size(), 0u) << "kernels have no size";
}

TEST_F(MatcherTest, ResultsAreSortedByTimeAndCounted) {
  const SearchResult all = Search({.trace = trace_, .index = &index_}, Filter());
  uint64_t counted = 0, grouped = 0;
  for (const uint64_t n : all.counts) counted += n;
  for (const FoundGroup& group : all.groups) grouped += group.count;
  EXPECT_EQ(counted, all.things.size());
  EXPECT_EQ(grouped, all.things.size());
  EXPECT_EQ(all.count(ThingKind::kBlock), trace_->allocations.size());
  EXPECT_TRUE(std::is_sorted(all.things.begin(), all.things.end(), [&](Thing x, Thing y) {
    return BeginOf(*trace_, x) < BeginOf(*trace_, y);
  }));
  EXPECT_TRUE(std::is_sorted(all.groups.begin(), all.groups.end(),
                             [](const auto& x, const auto& y) { return x.kind < y.kind; }));
  for (size_t i = 0; i < all.things.size(); ++i)
    ASSERT_EQ(all.groups[all.group_of[i]].name, GroupName(*trace_, all.things[i]));
  // Next() wraps around at both ends. Here, it goes backwards from the first result, and forwards
  // through the results of one group.
  const size_t first = all.Next(all.things.size(), 1);
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(all.Next(first, -1), all.things.size() - 1);
  const uint32_t group = all.group_of[first];
  size_t at = first;
  for (uint64_t i = 0; i < all.groups[group].count; ++i) at = all.Next(at, 1, group);
  EXPECT_EQ(at, first);
}

TEST_F(MatcherTest, SearchRespectsRangeAndStop) {
  const int64_t begin = trace_->begin_ns(), end = trace_->end_ns();
  const SearchResult half = Search(
      {.trace = trace_, .index = &index_, .begin_ns = begin, .end_ns = begin + (end - begin) / 2},
      Filter());
  for (const Thing& thing : half.things)
    EXPECT_LT(BeginOf(*trace_, thing), begin + (end - begin) / 2);
  EXPECT_LT(half.things.size(),
            Search({.trace = trace_, .index = &index_}, Filter()).things.size());
  const std::atomic<bool> stop = true;
  const auto large = vramscope::testing::MakeSyntheticTrace({.layers = 40, .steps = 12});
  EXPECT_TRUE(Search({.trace = large, .stop = &stop}, Filter()).stopped);
}

}  // namespace
}  // namespace vramscope::query
