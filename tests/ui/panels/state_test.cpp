// Tests the page of a snapshot without history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/panels/altered_trace.h"
#include "ui/explain/explain_page.h"
#include "ui/explain/state_rows.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using vramscope::testing::MakeState;

constexpr uint64_t kMiB = 1 << 20;

TEST(StateTest, TablesListPoolsBlocksSitesAndCategories) {
  const auto t = MakeState();
  const explain::MemoryState state = explain::StateAtEnd(*t);
  const Table pools = StatePoolsTable(state);
  ASSERT_EQ(pools.rows.size(), 2u);
  // The private pool is the larger pool, so it is first. Its name must say what it is for.
  EXPECT_EQ(pools.rows[0].cells[1].bytes, 128 * kMiB);
  EXPECT_THAT(pools.rows[0].cells[0].text, HasSubstr("private pool"));
  EXPECT_THAT(pools.rows[0].cells[0].text, HasSubstr(state.fragmentation.owners.front().name));
  EXPECT_EQ(pools.rows[1].cells[2].bytes, 48 * kMiB);
  const Table blocks = StateBlocksTable(*t, state, 10);
  ASSERT_EQ(blocks.rows.size(), 2u);
  EXPECT_EQ(blocks.rows[0].cells[1].category, trace::Category::kKvCache);
  EXPECT_EQ(blocks.rows[0].cells[2].bytes, 128 * kMiB);
  uint64_t held = 0;
  for (const Row& row : StateSitesTable(state).rows) held += *row.cells[1].bytes;
  EXPECT_EQ(held, 176 * kMiB);
  const auto digest = MakeDigest(t, "state.pickle");
  const Table categories = StateCategoriesTable(digest->at_peak);
  ASSERT_EQ(categories.rows.size(), 2u);
  EXPECT_EQ(categories.rows[0].cells[0].text, "KV cache");
}

TEST(StateTest, ShowsNoTimesForASnapshotWithoutHistory) {
  const auto digest = MakeDigest(MakeState(), "state.pickle");
  EXPECT_TRUE(digest->state());
  for (const Fact& fact : FactsOf(*digest->trace, {1}).facts) {
    EXPECT_NE(fact.label, "allocated");
    EXPECT_NE(fact.label, "lifetime");
    EXPECT_THAT(fact.value, ::testing::Not(HasSubstr(" ms")));
  }
  for (const Fact& fact : RecordingFactsOf(*digest, "state.pickle").facts)
    EXPECT_NE(fact.label, "length");
  // Wherever the cursor is, the page must show the state at the last event.
  ExplainContext context;
  context.digest = digest;
  context.cursor_ns = 1;
  context.range = {0, 2};
  EXPECT_EQ(context.time_source(), ExplainContext::TimeSource::kState);
  EXPECT_EQ(context.shownEvent(), digest->trace->events.size() - 1);
}

TEST(StateTest, StatisticsTableFormatsMemoryStats) {
  trace::TraceInfo info;
  info.statistics = {{"allocated_bytes.all.peak", 5 * int64_t{kMiB}}, {"num_ooms", 1234}};
  const Table table = StatisticsTable(info);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells[1].text, "5.000 MiB");
  EXPECT_EQ(table.rows[1].cells[1].text, "1,234");
  EXPECT_EQ(table.rows[1].cells[1].count, 1234);
}

}  // namespace
}  // namespace vramscope::ui
