// Regression tests with traces that crashed the window or made it hang, for example because the sum
// of sizes exceeds 64 bits or the message about a run's end is empty. The window must draw every
// page for them.
#include <gtest/gtest.h>

#include <QDir>

#include "tests/ui/shell/recorded_window.h"

namespace vramscope::ui {
namespace {

class HostileFiles : public testing::RecordedWindow,
                     public ::testing::WithParamInterface<const char*> {};

TEST_P(HostileFiles, AreShownOrRejectedWithoutACrash) {
  const QString path = QStringLiteral(VRAMSCOPE_SOURCE_DIR "/tests/golden/window/%1.trace")
                           .arg(QLatin1String(GetParam()));
  ASSERT_TRUE(QFile::exists(path));
  window_->resize(1024, 700);  // too low for all segments: the map searches for a scale
  window_->openFile(path);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(window_->digest() != nullptr || Banner("kind") == QLatin1String("open-failed"));
  for (const QString& page : window_->pageNames()) {
    window_->openPage(page);
    ASSERT_TRUE(Idle()) << page.toStdString();
    window_->settleCanvas();
    EXPECT_FALSE(window_->grab().isNull());
  }
  // Also draws the zoomed view.
  for (int i = 0; i < 4; ++i) {
    window_->actionRegistry()->Find(QStringLiteral("view.zoom-in"))->trigger();
    window_->settleCanvas();
    window_->grab();
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileFiles,
                         ::testing::Values("bomb_empty_strings", "deep_ops_170_bytes",
                                           "window_empty_end_message", "window_fillstack_3ad1e372",
                                           "window_fillstack_94a8dd8b", "window_fillstack_e1932cbc",
                                           "window_hang_segment_map_min", "window_longest_time"),
                         [](const auto& info) { return std::string(info.param); });

class IncompleteFiles : public testing::RecordedWindow {};

TEST_F(IncompleteFiles, ReportsThatTheReasonIsNotStated) {
  window_->openFile(
      QStringLiteral(VRAMSCOPE_SOURCE_DIR "/tests/golden/window/window_empty_end_message.trace"));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "incomplete-file");
  EXPECT_TRUE(Banner("text").contains(QLatin1String("does not record why")))
      << Banner("text").toStdString();
}

}  // namespace
}  // namespace vramscope::ui
