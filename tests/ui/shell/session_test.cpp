// What is shown, what it is compared with, and what comes back when a file can't be read. No
// window.
#include "ui/shell/session.h"

#include <gtest/gtest.h>

#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::ui {
namespace {

// A run of a model by that name; all of one name are the same work.
Session::DigestPtr RunOf(const char* model) {
  auto trace = std::make_shared<trace::Trace>(
      *vramscope::testing::MakeSyntheticTrace({.layers = 1, .steps = 1}));
  trace->info.has_config = true;
  trace->info.model.name = model;
  return MakeDigest(std::move(trace));
}

TEST(SessionTest, ARunIsComparedWithTheOneBeforeWhereItIsTheSameWork) {
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
  // Nor is what came before that kept.
  session.Show(RunOf("a"), false);
  EXPECT_EQ(session.Against(), nullptr);
  EXPECT_EQ(second.use_count(), 1);
}

TEST(SessionTest, PicturesOfARunThatGoesOnAreNothingToCompareWith) {
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

TEST(SessionTest, ABaselineMayBeAnythingAndStays) {
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
  // Each in the other's place, its file with it.
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

TEST(SessionTest, WhatWasShownComesBackWhenAFileCannotBeRead) {
  Session session;
  run::RunConfig config;
  config.batch = 7;
  const auto before = RunOf("a"), shown = RunOf("a");
  session.Show(before, false);
  session.SavedAs("/saved.trace");
  session.Show(shown, false);
  session.BeginLoading(config);
  EXPECT_TRUE(session.loading());
  session.BeginLoading({});  // a second one, before the first has come
  EXPECT_EQ(session.config_before_loading().batch, 7);
  for (int i = 0; i < 2; ++i) {
    session.ShowFile("/broken.pickle");
    session.Show(RunOf("b"), true);
  }
  const auto back = session.NotLoaded();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->digest, shown);
  EXPECT_EQ(session.shown(), nullptr);
  session.Show(back->digest, back->partial);
  session.Restored(*back);
  EXPECT_EQ(session.Against(), before);
  EXPECT_EQ(session.file(), "/saved.trace");
  EXPECT_FALSE(session.from_file());
  EXPECT_FALSE(session.loading());
}

TEST(SessionTest, WithoutAPictureWhatIsShownStays) {
  Session session;
  const auto shown = RunOf("a");
  session.Show(shown, false);
  session.BeginLoading({});
  EXPECT_FALSE(session.NotLoaded());
  EXPECT_EQ(session.shown(), shown);
  EXPECT_FALSE(session.NotLoaded()) << "nothing is being read";
}

TEST(SessionTest, AFileThatWasReadIsComparedWithWhatStoodThereNotWithItsOwnBegin) {
  Session session;
  const auto before = RunOf("a"), whole = RunOf("a");
  session.Show(before, false);
  session.BeginLoading({});
  session.ShowFile("/a.trace");
  session.Show(RunOf("a"), true);
  session.Loaded("/a.trace");
  session.Show(whole, false);
  EXPECT_EQ(session.Against(), before);
  EXPECT_FALSE(session.loading());
  EXPECT_TRUE(session.from_file());
}

}  // namespace
}  // namespace vramscope::ui
