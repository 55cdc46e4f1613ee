// Tests that texts about a trace without times count entries instead of seconds. Also tests colours
// and values of table cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/trace/processes.h"
#include "tests/ui/panels/altered_trace.h"
#include "ui/explain/explain_rows.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/cells.h"
#include "ui/panels/range_rows.h"

namespace vramscope::ui {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::WithoutTimes;

// Matches units such as " ms", " s" and "GiB·s", which a trace without times must not have.
auto ContainsTime() {
  return ::testing::ContainsRegex("[0-9] (ns|us|ms|s|min)($|[^a-z])|[^a-z]s($| )|GiB.s$");
}

void ExpectNoTimes(const Table& table) {
  EXPECT_FALSE(table.rows.empty());
  for (const Row& row : table.rows)
    for (const Cell& cell : row.cells) EXPECT_THAT(cell.text, Not(ContainsTime())) << cell.text;
}

TEST(EntriesTest, TablesOfATraceWithoutTimesCountEntries) {
  const auto t = WithoutTimes(*MakeRecordedTrace());
  const auto digest = MakeDigest(t, "recorded.pickle");
  const Table phases = PhaseTable(*digest);
  ExpectNoTimes(phases);
  EXPECT_THAT(phases.rows[0].cells[1].text, HasSubstr(" entries"));
  Table allocations;
  for (uint32_t i = 0; i < t->allocations.size(); ++i)
    allocations.rows.push_back(AllocationRow(*t, {i}));
  ExpectNoTimes(allocations);
  EXPECT_EQ(allocations.rows[0].cells[8].text,
            "entry " + std::to_string(t->allocations.begin_ns[0]));
  const explain::CallSites sites = explain::FindCallSites(*t);
  const Table held = CallSiteTable(*t, sites, explain::UseOfSites(*t, sites, {}));
  ExpectNoTimes(held);
  EXPECT_THAT(held.rows[0].cells[2].text, HasSubstr("GiB·entries"));
}

TEST(EntriesTest, LengthIncludesWorkAfterTheLastEvent) {
  const auto t = std::make_shared<trace::Trace>(*MakeRecordedTrace());
  t->activities.Append({.kind = trace::ActivityKind::kKernel,
                        .begin_ns = t->end_ns(),
                        .end_ns = t->begin_ns() + int64_t{3'000'000'000}});
  EXPECT_LT(t->end_ns() - t->begin_ns(), 1'000'000'000);
  EXPECT_THAT(RecordingFactsOf(*MakeDigest(t, "recorded.pickle"), "recorded.pickle").facts,
              ::testing::Contains(Fact{"length", "3.00 s"}));
}

TEST(EntriesTest, FactsOfATraceWithoutTimesCountEntries) {
  const auto t = WithoutTimes(*MakeRecordedTrace());
  const auto digest = MakeDigest(t, "recorded.pickle");
  std::vector<Fact> facts = FactsOf(*t, {3}).facts;
  const RangeFigures range = FiguresOfRange(*digest, 4, 40);
  for (const Fact& fact : RangeFacts(*t, range)) facts.push_back(fact);
  for (const Fact& fact : RecordingFactsOf(*digest, "recorded.pickle").facts) facts.push_back(fact);
  for (const Fact& fact : facts) EXPECT_THAT(fact.value, Not(ContainsTime())) << fact.label;
  EXPECT_THAT(facts, ::testing::Contains(Fact{"length", "36 entries"}));
  EXPECT_THAT(facts, ::testing::Contains(Fact{"from", "entry 4"}));
  EXPECT_THAT(TimeAndContextText(*t, digest->at_peak.context), HasSubstr("entry "));
}

// The page shows one of several devices, so its number of events must name the device: the status
// bar shows the number of the whole file.
TEST(RecordingFactsTest, NumberOfEventsNamesTheDevice) {
  const auto facts = [](const std::shared_ptr<const trace::Trace>& t) {
    return RecordingFactsOf(*MakeDigest(t, "recorded.pickle"), "recorded.pickle").facts;
  };
  const auto one = MakeRecordedTrace();
  const auto label = [](const char* text) { return ::testing::Field("label", &Fact::label, text); };
  EXPECT_THAT(facts(one), ::testing::Contains(label("events")));
  const std::vector<trace::ProcessTrace> parts = {{.name = "a", .trace = one},
                                                  {.name = "b", .trace = one}};
  const auto two = trace::JoinProcesses(parts).value();
  EXPECT_THAT(facts(two), ::testing::Contains(label("events of a")));
  EXPECT_THAT(facts(two), Not(::testing::Contains(label("events"))));
}

TEST(CellsTest, LessMemoryIsGreenInAllTables) {
  EXPECT_EQ(DifferenceCell(-1).tone, Cell::Tone::kGood);
  EXPECT_EQ(DifferenceCell(1).tone, Cell::Tone::kBad);
  explain::Reclaim reclaim;
  reclaim.as_recorded.name = "as recorded";
  reclaim.remedies.push_back({.name = "empty_cache()", .given_back = 1 << 20});
  const Table table = RemedyTable(reclaim);
  const Cell& difference = table.rows[1].cells[2];
  EXPECT_EQ(difference.tone, Cell::Tone::kGood);
  EXPECT_EQ(difference.bytes, -(1 << 20));
  EXPECT_THAT(difference.text, HasSubstr("\u2212"));
}

// Other code reads a cell's value and category from these fields, not from its text or tool tip.
TEST(CellsTest, CellsStoreTheirValueAndCategory) {
  EXPECT_EQ(BytesCell(1536).bytes, 1536);
  EXPECT_EQ(CountCell(12345).count, 12345);
  EXPECT_FALSE(CountCell(12345).bytes.has_value());
  EXPECT_EQ(CategoryCell(trace::Category::kKvCache).category, trace::Category::kKvCache);
  const auto t = MakeRecordedTrace();
  EXPECT_EQ(AllocationRow(*t, {1}).cells[3].category, trace::Category::kActivation);
}

TEST(LegendTest, ListsAllCategoriesAndPhasesOfTheTrace) {
  const auto digest = MakeDigest(MakeRecordedTrace(), "recorded.trace");
  EXPECT_THAT(digest->categories,
              ::testing::ElementsAre(trace::Category::kParameter, trace::Category::kOptimizerState,
                                     trace::Category::kActivation, trace::Category::kTemporary,
                                     trace::Category::kUnknown));
  EXPECT_THAT(digest->phases,
              ::testing::ElementsAre(trace::Phase::kForward, trace::Phase::kBackward,
                                     trace::Phase::kOptimizer));
  // At the beginning, only one category has bytes. The others must have lines with 0.
  const analysis::LiveSet live = analysis::LiveAt(*digest->trace, 2);
  const std::vector<Part> parts = PartsOf(live.by_category, live.allocated, digest->categories);
  EXPECT_EQ(parts.size(), digest->categories.size());
  EXPECT_GT(parts.front().bytes, 0u);
  EXPECT_EQ(parts.back().bytes, 0u);
}

}  // namespace
}  // namespace vramscope::ui
