// Tests which run is shown and which is its baseline, without a window.
#include "ui/documents/session.h"

#include <gtest/gtest.h>

#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::ui {
namespace {

// Returns a run of a model with this name. Only runs of the same model are compared.
Session::DigestPtr RunOf(const char* model) {
  auto trace = std::make_shared<trace::Trace>(
      *vramscope::testing::MakeSyntheticTrace({.layers = 1, .steps = 1}));
  trace->info.has_config = true;
  trace->info.model.name = model;
  return MakeDigest(std::move(trace));
}

TEST(SessionTest, ComparesWithPreviousRunOfTheSameModel) {
  Session session;
  EXPECT_EQ(session.Against(), nullptr);
  const auto first = RunOf("a"), second = RunOf("a"), other = RunOf("b");
  session.Show(first, false);
  EXPECT_EQ(session.Against(), nullptr);
  session.Show(second, false);
  EXPECT_EQ(session.shown(), second);
  EXPECT_EQ(session.Against(), first);
  session.Show(other, false);
  EXPECT_EQ(session.Against(), nullptr);
  // Earlier runs are also released.
  session.Show(RunOf("a"), false);
  EXPECT_EQ(session.Against(), nullptr);
  EXPECT_EQ(second.use_count(), 1);
}

// Regression test: after undo and redo in two documents, a run was compared with itself.
TEST(SessionTest, RunShownAgainIsNotItsOwnPreviousRun) {
  Session session;
  const auto first = RunOf("a"), second = RunOf("a");
  session.Show(first, false);
  session.Show(second, false);
  session.Show(second, false);
  EXPECT_EQ(session.Against(), first);
  session.Show(MakeDigest(second->trace), false);
  EXPECT_EQ(session.Against(), first);
}

TEST(SessionTest, PartialTracesDoNotReplaceThePreviousRun) {
  Session session;
  const auto before = RunOf("a"), whole = RunOf("a");
  session.Show(before, false);
  session.KeepAsPrevious();
  for (int i = 0; i < 3; ++i) {
    session.Show(RunOf("a"), true);
    EXPECT_TRUE(session.partial());
    EXPECT_EQ(session.Against(), before);
  }
  session.Show(whole, false);
  EXPECT_FALSE(session.partial());
  EXPECT_EQ(session.Against(), before);
}

TEST(SessionTest, BaselineStaysForAnyModelAndCanBeSwapped) {
  Session session;
  const auto pinned = RunOf("a"), other = RunOf("b");
  session.ShowFile("/a.trace");
  session.Show(pinned, false);
  session.SetBaseline(session.shown(), session.file());
  session.ShowRun();
  session.Show(other, false);
  session.Show(RunOf("c"), false);
  EXPECT_EQ(session.Against(), pinned);
  EXPECT_FALSE(session.from_file());
  session.Show(other, false);
  // The shown run and the baseline change places. Their files must change places, too.
  const auto next = session.SwapBaseline();
  EXPECT_EQ(next, pinned);
  EXPECT_EQ(session.baseline(), other);
  EXPECT_EQ(session.file(), "/a.trace");
  EXPECT_TRUE(session.from_file());
  session.Show(next, false);
  EXPECT_EQ(session.SwapBaseline(), other);
  EXPECT_FALSE(session.from_file());
  session.SetBaseline(nullptr, {});
  EXPECT_EQ(session.baseline(), nullptr);
}

TEST(SessionTest, PreviousRunOfAnotherTabIsUsedForTheSameModel) {
  const auto before = RunOf("a");
  for (const char* model : {"a", "b"}) {
    Session session;
    session.SetPrevious(before);
    session.ShowFile("/a.trace");
    session.Show(RunOf(model), true);  // a partial trace does not remove the previous run
    session.Show(RunOf(model), false);
    EXPECT_EQ(session.Against(), *model == 'a' ? before : nullptr);
    EXPECT_TRUE(session.from_file());
  }
}

TEST(SessionTest, ReleaseFreesRunsButKeepsBaseline) {
  Session session;
  auto first = RunOf("a");
  const auto baseline = RunOf("a");
  session.SetBaseline(baseline, "/b.trace");
  session.ShowFile("/a.trace");
  session.Show(first, false);
  session.Show(RunOf("a"), false);
  session.Release();
  EXPECT_EQ(session.shown(), nullptr);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(session.file(), "/a.trace");
  EXPECT_EQ(session.baseline(), baseline);
  EXPECT_EQ(session.baseline_file(), "/b.trace");
}

}  // namespace
}  // namespace vramscope::ui
