// Tests measuring between marks A and B in the real window.
#include <gmock/gmock.h>

#include <QClipboard>
#include <tuple>

#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/range_rows.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;

class MeasureWindowTest : public testing::RecordedWindow {
 protected:
  void SetUp() override {
    RecordedWindow::SetUp();
    OpenRecorded();
    ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
    begin_ = Timeline()->trace()->begin_ns();
    end_ = Timeline()->trace()->end_ns();
  }
  timeline::TimelineWidget* Timeline() { return window_->timelineWidget(); }
  QAction* Action(const char* id) {
    window_->actionRegistry()->Refresh();
    return window_->actionRegistry()->Find(QString::fromLatin1(id));
  }
  void MarkAt(const char* id, qint64 time) {
    Timeline()->setCursorTime(time);
    Action(id)->trigger();
  }
  // Returns the time at a fraction of the trace's length.
  qint64 At(double part) { return begin_ + static_cast<qint64>(double(end_ - begin_) * part); }
  qint64 begin_ = 0, end_ = 0;
};

TEST_F(MeasureWindowTest, TwoMarksSelectARangeWhoseFiguresAreCopied) {
  EXPECT_FALSE(Action("edit.copy-measurement")->isEnabled());
  MarkAt("edit.mark-a", At(0.2));
  EXPECT_EQ(Timeline()->range(), (std::pair<qint64, qint64>(0, 0)))
      << "one mark does not make a range";
  EXPECT_THAT(State()["status"].toString().toStdString(), HasSubstr("Mark A"));
  MarkAt("edit.mark-b", At(0.7));
  auto [begin, end] = Timeline()->range();
  EXPECT_NEAR(double(begin), double(At(0.2)), 1);
  EXPECT_NEAR(double(end), double(At(0.7)), 1);
  // Setting mark B again must only move the end of the range.
  MarkAt("edit.mark-b", At(0.9));
  std::tie(begin, end) = Timeline()->range();
  EXPECT_NEAR(double(begin), double(At(0.2)), 1);
  EXPECT_NEAR(double(end), double(At(0.9)), 1);
  ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  Action("edit.copy-measurement")->trigger();
  const std::string copied = QApplication::clipboard()->text().toStdString();
  EXPECT_EQ(copied,
            RangeAsTsv(*Timeline()->trace(), FiguresOfRange(*window_->digest(), begin, end)));
  EXPECT_THAT(copied, HasSubstr("reserved difference [B]\t"));
  EXPECT_THAT(copied, HasSubstr("freed, "));
  // When the range is cleared, the marks must be removed.
  Timeline()->setRange(0, 0);
  MarkAt("edit.mark-b", At(0.5));
  EXPECT_EQ(Timeline()->range(), (std::pair<qint64, qint64>(0, 0)));
  MarkAt("edit.mark-a", At(0.6));
  std::tie(begin, end) = Timeline()->range();
  EXPECT_NEAR(double(begin), double(At(0.5)), 1) << "the range begins at the earlier mark";
}

TEST_F(MeasureWindowTest, MarksUseTheSelectionWithoutACursor) {
  Timeline()->setCursorTime(-1);
  Timeline()->clearSelection();
  Action("edit.mark-a")->trigger();
  EXPECT_THAT(State()["status"].toString().toStdString(), HasSubstr("Place the cursor first"));
  Timeline()->select({3});
  Action("edit.mark-a")->trigger();
  Action("edit.mark-b")->trigger();
  const auto& a = Timeline()->trace()->allocations;
  const auto [begin, end] = Timeline()->range();
  EXPECT_NEAR(double(begin), double(a.begin_ns[3]), 1);
  EXPECT_NEAR(double(end), double(a.end_ns[3]), 1);
}

}  // namespace
}  // namespace vramscope::ui
