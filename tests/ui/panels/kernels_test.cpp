// Tests the table of kernels and the list of search results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/panels/kernel_rows.h"

namespace vramscope::ui {
namespace {

class KernelRowsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const trace::Trace> trace_ = vramscope::testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 2}});
  query::ActivityIndex index_{trace_};
};

TEST_F(KernelRowsTest, KernelTableMatchesKernelSums) {
  for (const query::KernelsBy by : query::kKernelsBy) {
    const query::KernelSums sums = query::SumKernels(index_, by);
    const Table table = KernelTable(sums, by, *trace_);
    ASSERT_EQ(table.rows.size(), sums.sums.size());
    double percent = 0;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const std::vector<Cell>& cells = table.rows[i].cells;
      ASSERT_EQ(cells.size(), table.columns.size());
      EXPECT_EQ(cells[1].ns, sums.sums[i].takes_ns);
      EXPECT_EQ(cells[3].count, static_cast<int64_t>(sums.sums[i].count));
      EXPECT_NEAR(static_cast<double>(*cells[4].ns) * static_cast<double>(sums.sums[i].count),
                  static_cast<double>(sums.sums[i].takes_ns),
                  static_cast<double>(sums.sums[i].count));
      EXPECT_GE(*cells[1].ns, *cells[5].ns) << "the longest is one of them";
      EXPECT_EQ(sums.sum_of[table.rows[i].activity], table.rows[i].group);
      percent += *cells[2].percent;
    }
    EXPECT_NEAR(percent, 100, 1e-6);
  }
}

TEST_F(KernelRowsTest, SearchResultsAreGroupedByKind) {
  const auto filter = query::ParseSearch("attn");
  const query::SearchResult found = query::Search({.trace = trace_, .index = &index_}, *filter);
  ASSERT_GT(found.things.size(), 0u);
  const Table table = FoundTable(found, *trace_);
  ASSERT_EQ(table.rows.size(), found.groups.size() + found.frames.size());
  int64_t counted = 0;
  for (size_t i = 0; i < found.groups.size(); ++i) {
    EXPECT_EQ(table.rows[i].group, i);
    EXPECT_EQ(table.rows[i].cells[0].text, query::Name(found.groups[i].kind));
    counted += *table.rows[i].cells[2].count;
  }
  EXPECT_EQ(counted, static_cast<int64_t>(found.things.size()));
}

}  // namespace
}  // namespace vramscope::ui
