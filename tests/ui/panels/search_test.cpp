// Tests the order of allocations, and which allocations a search finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "profiler/query/matcher.h"
#include "tests/profiler/analysis/random_trace.h"
#include "tests/ui/panels/altered_trace.h"
#include "ui/explain/explain_rows.h"
#include "ui/panels/allocation_rows.h"
#include "ui/timeline/model/origin.h"

namespace vramscope::ui {
namespace {

using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::WithMetadata;

size_t Found(const trace::Trace& t, std::string_view text) {
  query::Matcher matcher(*query::ParseSearch(text), t, nullptr);
  size_t found = 0;
  for (uint32_t i = 0; i < t.allocations.size(); ++i)
    found += matcher.Matches({query::ThingKind::kBlock, i});
  return found;
}

TEST(AllocationOrderTest, MatchesAStableSort) {
  const auto t = analysis::MakeRandomTrace({.seed = 5, .steps = 2, .layers = 3});
  const auto& a = t->allocations;
  const auto expect = [&](int column, bool descending, const auto& key) {
    std::vector<uint32_t> wanted(a.size());
    std::iota(wanted.begin(), wanted.end(), 0u);
    std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t x, uint32_t y) {
      return descending ? key(y) < key(x) : key(x) < key(y);
    });
    EXPECT_EQ(AllocationOrder(*t, column, descending), wanted) << column;
  };
  for (const bool descending : {false, true}) {
    expect(0, descending, [](uint32_t i) { return i; });
    expect(1, descending, [&](uint32_t i) { return t->String(a.module[i]); });
    expect(2, descending, [&](uint32_t i) { return t->String(a.op[i]); });
    expect(4, descending, [&](uint32_t i) { return a.bytes[i]; });
    expect(kBlockColumn, descending, [&](uint32_t i) { return a.bytes_rounded[i]; });
    expect(6, descending, [&](uint32_t i) { return a.step[i]; });
    expect(8, descending, [&](uint32_t i) { return a.begin_ns[i]; });
  }
}

TEST(AllocationSearchTest, FindsCallSitesAndCategoriesIgnoringCase) {
  const auto t = MakeRecordedTrace({.steps = 4, .layers = 6});
  EXPECT_EQ(Found(*t, "METRICS.py"), 4u);        // a frame of the program
  EXPECT_EQ(Found(*t, "run/metrics.py:5"), 4u);  // as lists of frames show it
  EXPECT_EQ(Found(*t, "metrics.py:5 log"), 4u);  // as call sites show it
  EXPECT_EQ(Found(*t, "optimizer state"), 1u);
  EXPECT_EQ(Found(*t, "activation"), 24u);
  EXPECT_EQ(Found(*t, "Allocator.cpp"), 0u) << "C++ frames are in every stack and are not searched";
  EXPECT_EQ(Found(*t, "none"), 0u) << "a block without a phase has no phase name";
  EXPECT_EQ(Found(*t, "nobody"), 0u);
}

TEST(AllocationSearchTest, FiltersByStackAndFile) {
  const auto t = MakeRecordedTrace({.steps = 4, .layers = 6});
  EXPECT_EQ(Found(*t, "file = metrics.py"), 4u);
  EXPECT_EQ(Found(*t, "file ~ metrics and stack ~ log"), 4u);
  EXPECT_EQ(Found(*t, "stack = \"metrics.py:5 log\""), 4u);
  EXPECT_EQ(Found(*t, "file != metrics.py") + 4u, t->allocations.size());
  EXPECT_EQ(Found(*t, "category = activation"), 24u);
}

TEST(AllocationSearchTest, FindsUserMetadataAndCompiledRegions) {
  const auto plain = MakeRecordedTrace();
  EXPECT_EQ(Found(*plain, "expert 3"), 0u);
  const auto t = WithMetadata(*plain);
  const size_t half = (t->allocations.size() + 1) / 2;
  EXPECT_EQ(Found(*t, "Expert 3"), half);
  EXPECT_EQ(Found(*t, "0/2"), half);
  // Metadata and context add two columns, and lines in the details of a block.
  EXPECT_EQ(AllocationColumns(plain.get()).size() + 2, AllocationColumns(t.get()).size());
  EXPECT_EQ(AllocationRow(*t, {0}).cells[10].text, "expert 3 of layer 7");
  EXPECT_EQ(AllocationRow(*t, {1}).cells[11].text, "");
  std::string facts;
  for (const Fact& fact : FactsOf(*t, {0}).facts) facts += fact.label + "=" + fact.value + "\n";
  EXPECT_THAT(facts, ::testing::HasSubstr("user metadata=expert 3 of layer 7\n"));
  EXPECT_THAT(facts, ::testing::HasSubstr("compile context=0/2\n"));
}

TEST(SiteGroupsTest, GroupsByMetadataAnnotationAndCompiledRegion) {
  const auto t = WithMetadata(*MakeRecordedTrace({.steps = 2, .layers = 3}));
  EXPECT_THAT(SiteGroupings(*t),
              ::testing::ElementsAre(SiteBy::kCallSite, SiteBy::kAnnotation, SiteBy::kUserMetadata,
                                     SiteBy::kCompileContext));
  const auto names = [&](SiteBy by) {
    std::vector<std::string> out;
    for (const explain::CallSite& site : GroupSites(*t, by).sites) out.push_back(site.name);
    return out;
  };
  EXPECT_THAT(names(SiteBy::kUserMetadata),
              ::testing::UnorderedElementsAre("expert 3 of layer 7", "(no user metadata)"));
  EXPECT_THAT(names(SiteBy::kAnnotation),
              ::testing::UnorderedElementsAre("(in no annotation)", "layer", "ProfilerStep#0",
                                              "ProfilerStep#1"));
  for (const SiteBy by : SiteGroupings(*t)) {
    const explain::CallSites sites = GroupSites(*t, by);
    uint64_t count = 0;
    for (const explain::SiteUse& use : explain::UseOfSites(*t, sites, {.older = true}))
      count += use.count;
    EXPECT_EQ(count, t->allocations.size()) << Name(by);
  }
}

// The canvas, panels and pages must use the same names for call sites.
TEST(SiteNamesTest, CanvasAndPagesNameCallSitesAlike) {
  const auto t = MakeRecordedTrace();
  const explain::CallSites sites = explain::FindCallSites(*t);
  size_t named = 0;
  for (uint32_t i = 0; i < t->allocations.size(); ++i) {
    const trace::StackId stack = timeline::StackOf(*t, {i});
    if (stack.value == 0) continue;
    ++named;
    EXPECT_EQ(timeline::CallSite(*t, stack), sites.sites[sites.site_of[i]].name);
    EXPECT_EQ(timeline::CallSite(*t, stack), explain::SiteOf(*t, {i}).name);
  }
  EXPECT_GT(named, 0u);
}

}  // namespace
}  // namespace vramscope::ui
