// Tests that panels in the real window are readable: labels, figures that a file does not have,
// narrow and low windows, and use by keyboard. Runs under Xvfb (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModel>
#include <QJsonArray>
#include <QLineEdit>
#include <QListView>
#include <QTest>

#include "tests/ui/panels/altered_trace.h"
#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/gpu_bar.h"
#include "ui/panels/legend.h"
#include "ui/panels/phases_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/history_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using vramscope::testing::MakeState;

class ReadingWindowTest : public testing::RecordedWindow {
 protected:
  void OpenTrace(const trace::Trace& trace) {
    window_->openFile(Write("altered.trace", trace));
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  }
};

// Regression test: a narrow table cut names in the middle. Different call sites looked equal.
TEST_F(ReadingWindowTest, NarrowTableScrollsInsteadOfElidingNames) {
  const std::string name = "optimizer.py:76 step > aten::add";
  Table table;
  table.columns = {{"Call site", false, 300}, {"Bytes", true, 100}};
  Row row;
  row.cells = {{.text = name}, {.text = "1,578.000 MiB"}};
  table.rows.push_back(row);
  TableModel model;
  TableView view;
  view.setRowModel(&model);
  model.setTable(table);
  view.resize(900, 200);
  view.show();
  QApplication::processEvents();
  const int needed = QFontMetrics(PanelFont(timeline::Font::kBody))
                         .horizontalAdvance(QString::fromStdString(name));
  ASSERT_GT(needed, 150);
  for (const int room : {50, 100, 140, 170, 400}) {
    view.resize(view.columnWidth(1) + room + view.width() - view.viewport()->width(), 200);
    QApplication::processEvents();
    EXPECT_GE(view.columnWidth(0), std::min(needed, 180)) << room;
  }
}

// Each figure on the pages of segments must have a label whose tool tip explains it.
TEST_F(ReadingWindowTest, FiguresOfSegmentsHaveLabels) {
  window_->resize(1900, 1000);
  OpenRecorded();
  for (const char* id : {"fragmentation", "state"}) {
    window_->openPage(QLatin1String(id));
    ASSERT_TRUE(Idle());
    QCoreApplication::processEvents();
    int labels = 0;
    for (const ElidedLabel* label :
         window_->explainPanel()->page(QLatin1String(id))->findChildren<ElidedLabel*>()) {
      if (!label->isVisible()) continue;
      ++labels;
      EXPECT_EQ(label->text(), label->fullText()) << id;
      if (id == std::string("fragmentation")) {
        EXPECT_NE(label->toolTip(), QString()) << label->fullText().toStdString();
      }
    }
    EXPECT_GE(labels, 4) << id;
  }
}

TEST_F(ReadingWindowTest, FiguresOfSegmentsDoNotOverlapInALowWindow) {
  window_->resize(1024, 700);
  OpenRecorded();
  for (const char* id : {"fragmentation", "state"}) {
    window_->openPage(QLatin1String(id));
    ASSERT_TRUE(Idle());
    QCoreApplication::processEvents();
    const QWidget* page = window_->explainPanel()->page(QLatin1String(id));
    for (const ElidedLabel* label : page->findChildren<ElidedLabel*>()) {
      if (!label->isVisible()) continue;
      EXPECT_GE(label->height(), label->fontMetrics().height())
          << id << ": " << label->fullText().toStdString();
    }
  }
}

TEST_F(ReadingWindowTest, SnapshotDoesNotSayThatNothingRanOutOfMemory) {
  OpenTrace(*MakeState());
  window_->openPage(QStringLiteral("out-of-memory"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Page("out-of-memory")["head"].toString().toStdString(),
              AllOf(HasSubstr("does not record"), HasSubstr("Reserved memory: ")));
}

// If a file was cut before its first event, pages must say this, and not ask for a run.
TEST_F(ReadingWindowTest, PagesSayThatATraceHasNoEvents) {
  trace::TraceBuilder builder;
  trace::TraceInfo info;
  info.title = "cut";
  builder.SetInfo(info);
  EXPECT_TRUE(builder.AddStrings(0, std::vector<std::string>{""}).ok());
  OpenTrace(*builder.Finish(false, "cut"));
  ASSERT_EQ(window_->digest()->trace->events.size(), 0u);
  for (const char* id : {"fragmentation", "live-set", "call-sites"}) {
    window_->openPage(QLatin1String(id));
    ASSERT_TRUE(Idle());
    EXPECT_THAT(Page(id)["head"].toString().toStdString(), HasSubstr("no memory events")) << id;
  }
  window_->openPage(QStringLiteral("phases"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Find<TableView>("phasesTable")->property("emptyText").toString().toStdString(),
              HasSubstr("no memory events"));
}

// Regression test: while a program started, the page still said that the last trace has no steps.
TEST_F(ReadingWindowTest, PhasesForgetTheTextOfAnEarlierTrace) {
  PhasesPanel panel;
  panel.setEmptyText(QStringLiteral("nothing yet"));
  panel.show();
  panel.setDigest(MakeDigest(MakeState(), "state.pickle"), nullptr);
  panel.make();
  const auto* view = panel.findChild<TableView*>();
  EXPECT_NE(view->property("emptyText").toString(), "nothing yet");
  panel.setDigest(nullptr);
  EXPECT_EQ(view->property("emptyText").toString(), "nothing yet");
}

TEST_F(ReadingWindowTest, LegendOfGpuMemoryOmitsEmptyParts) {
  using What = explain::DeviceMemory::What;
  explain::DeviceMemory memory;
  memory.parts = {{.what = What::kBlocks, .bytes = 5 << 20}, {.what = What::kRemainder}};
  memory.used = 5 << 20;
  GpuBar bar;
  bar.set(memory, timeline::Theme::Light());
  const Legend* legend = nullptr;
  for (const QObject* child : bar.children())
    if (const auto* found = dynamic_cast<const Legend*>(child)) legend = found;
  ASSERT_NE(legend, nullptr);
  ASSERT_EQ(legend->entries().size(), 1u);
  EXPECT_THAT(legend->entries()[0].second.toStdString(), HasSubstr("5.000 MiB"));
  EXPECT_EQ(bar.dumpState().size(), 2);
}

// Regression test: a trace of a run on the CPU had the caption "GPU memory: 8 B".
TEST_F(ReadingWindowTest, HostMemoryIsNotCaptionedAsGpuMemory) {
  using What = explain::DeviceMemory::What;
  explain::DeviceMemory memory;
  memory.parts = {{.what = What::kRequested, .bytes = 8}};
  memory.used = 8;
  GpuBar bar;
  const auto caption = [&] { return bar.findChild<ElidedLabel*>()->fullText().toStdString(); };
  bar.set(memory, timeline::Theme::Light());
  EXPECT_EQ(caption(), "GPU memory: 8 B");
  memory.of_host = true;
  bar.set(memory, timeline::Theme::Light());
  EXPECT_EQ(caption(), "Host memory: 8 B");
}

TEST_F(ReadingWindowTest, HistoryOmitsUnknownReservedMemory) {
  Document document(1, {.kind = SourceKind::kFile});
  document.history.Append({.change = "opened", .peak_allocated = 5 << 20});
  document.history.Append({.change = "again", .peak_allocated = 5 << 20, .peak_reserved = 6 << 20});
  HistoryPanel panel;
  panel.setHistory(document);
  const QJsonArray rows = panel.dumpState();
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].toObject()["reserved"].toString(), "");
  EXPECT_FALSE(panel.list()
                   ->model()
                   ->index(0, 0)
                   .data(Qt::ToolTipRole)
                   .toString()
                   .contains(QStringLiteral("reserved")));
  EXPECT_NE(rows[1].toObject()["reserved"].toString(), "");
}

// Regression test: by keyboard, users could empty a filter, but not leave it.
TEST_F(ReadingWindowTest, EscapeClearsAFilterThenReturnsToTheTimeline) {
  OpenRecorded();
  const std::pair<const char*, const char*> filters[] = {
      {"allocations", "allocationFilter"}, {"live-set", "liveFilter"}, {"search", "searchFilter"}};
  for (const auto& [page, name] : filters) {
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle());
    auto* filter = Find<QLineEdit>(name);
    filter->setFocus();
    ASSERT_TRUE(filter->hasFocus()) << name;
    QTest::keyClick(filter, Qt::Key_W);
    EXPECT_EQ(filter->text(), "w") << name;
    QTest::keyClick(filter, Qt::Key_Escape);
    EXPECT_EQ(filter->text(), "") << name;
    EXPECT_TRUE(filter->hasFocus()) << name;
    QTest::keyClick(filter, Qt::Key_Escape);
    EXPECT_TRUE(window_->timelineWidget()->hasFocus()) << name;
  }
  // Escape must also return to the timeline from a table.
  auto* phases = Find<QTableView>("phasesTable");
  window_->openPage(QStringLiteral("phases"));
  phases->setFocus();
  QTest::keyClick(phases, Qt::Key_Escape);
  EXPECT_TRUE(window_->timelineWidget()->hasFocus());
}

}  // namespace
}  // namespace vramscope::ui
