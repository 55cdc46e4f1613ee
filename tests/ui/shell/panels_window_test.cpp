// Tests panels and tables in the real window, with ranges, searches, snapshots without history,
// long frames, and traces without times. Runs under Xvfb (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "tests/ui/panels/altered_trace.h"
#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/frame_list.h"
#include "ui/panels/linked_facts.h"
#include "ui/panels/selection_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using vramscope::testing::MakeState;
using vramscope::testing::WithLongFrames;
using vramscope::testing::WithoutTimes;

class PanelsWindowTest : public testing::RecordedWindow {
 protected:
  void OpenTrace(const trace::Trace& trace) {
    window_->openFile(Write("altered.trace", trace));
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  }
  // If $VRAMSCOPE_PICTURES is set, saves an image to this folder, for visual checks.
  void SaveImage(const char* name) {
    const QString folder = qEnvironmentVariable("VRAMSCOPE_PICTURES");
    if (folder.isEmpty()) return;
    QTest::qWait(300);
    window_->settleCanvas();
    window_->grab().save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(name)));
  }
  QJsonObject Breakdown() { return State()["breakdown"].toObject(); }
  QJsonObject Allocations() { return State()["tables"].toObject()["allocations"].toObject(); }
  // Returns the begin and end of a step.
  std::pair<qint64, qint64> Step(uint32_t number) {
    const trace::SliceTable& s = window_->digest()->trace->slices;
    for (uint32_t i = 0; i < s.size(); ++i)
      if (s.kind[i] == trace::SliceKind::kStep && s.number[i] == number)
        return {s.begin_ns[i], s.end_ns[i]};
    return {};
  }
};

TEST(LinkedFacts, LinksAreFollowedByMouseAndKey) {
  using To = timeline::Link::To;
  LinkedFacts facts;
  std::vector<timeline::Link> followed;
  QObject::connect(&facts, &LinkedFacts::linkClicked,
                   [&](const timeline::Link& link) { followed.push_back(link); });
  facts.set({{.label = "launched by", .value = "cudaLaunchKernel", .link = {To::kActivity, 3}},
             {.label = "grid", .value = "80 x 1 x 1"},
             {.label = "operator", .value = "aten::mm", .link = {To::kSlice, 7}}});
  facts.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&facts));
  const QList<QWidget*> links = facts.findChildren<QWidget*>(QStringLiteral("link"));
  ASSERT_EQ(links.size(), 2);
  QTest::mouseClick(links[0], Qt::LeftButton);
  QTest::keyClick(links[1], Qt::Key_Return);
  ASSERT_EQ(followed.size(), 2u);
  EXPECT_EQ(followed[0].to, To::kActivity);
  EXPECT_EQ(followed[0].row, 3u);
  EXPECT_EQ(followed[1].to, To::kSlice);
  EXPECT_EQ(followed[1].row, 7u);
}

TEST_F(PanelsWindowTest, WholeRunPagesStateThatTheRangeDoesNotApply) {
  OpenRecorded();
  const trace::Trace& trace = *window_->digest()->trace;
  for (const char* page : {"leaks", "what-if", "compare", "call-sites", "fragmentation"}) {
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle());
    const QString without = Page(page)["head"].toString();
    EXPECT_FALSE(without.contains(QLatin1String("not the selected range"))) << page;
    window_->timelineWidget()->setRange(trace.begin_ns(), (trace.begin_ns() + trace.end_ns()) / 2);
    ASSERT_TRUE(Idle());
    const QString within = Page(page)["head"].toString();
    const bool follows = QLatin1String(page) == QLatin1String("call-sites") ||
                         QLatin1String(page) == QLatin1String("fragmentation");
    EXPECT_EQ(within.contains(QLatin1String("not the selected range")), !follows) << page;
    EXPECT_NE(within, without) << page;
    window_->timelineWidget()->setRange(0, 0);
    ASSERT_TRUE(Idle());
    EXPECT_EQ(Page(page)["head"].toString(), without) << page;
  }
}

TEST_F(PanelsWindowTest, SmallWindowDoesNotCutCategoryNames) {
  window_->resize(1024, 700);
  OpenRecorded();
  QStringList names;
  for (int c = 0; c < trace::kCategoryCount; ++c)
    names << QString::fromStdString(std::string(trace::Name(static_cast<trace::Category>(c))));
  QTest::qWait(50);  // added rows are shown in the next turn of the event loop
  int seen = 0;
  for (const ElidedLabel* label : window_->findChildren<ElidedLabel*>()) {
    if (!label->isVisible() || !names.contains(label->fullText())) continue;
    EXPECT_EQ(label->text(), label->fullText());
    ++seen;
  }
  EXPECT_GT(seen, 2);
  for (const char* page : {"call-sites", "compare", "reclaim", "fragmentation"}) {
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle());
    QCoreApplication::processEvents();
    for (const QLabel* head : window_->findChildren<QLabel*>(QStringLiteral("pageHead")))
      if (head->isVisible()) {
        EXPECT_GE(head->width(), 300) << page;
      }
  }
}

// Regression test: in a low window, the lines of these pages were drawn over each other, and the
// buttons of the compare page were cut off.
TEST_F(PanelsWindowTest, LowPagesScrollInsteadOfOverlapping) {
  window_->resize(1024, 700);
  OpenRecorded();
  window_->compareWith(
      Write("other.trace", *testing::MakeRecordedTrace({.layers = 4, .leak = false})));
  ASSERT_TRUE(WaitFor([this] { return State()["baseline"].toBool(); }));
  for (const char* page : {"compare", "fragmentation", "reclaim", "what-if", "state"}) {
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle());
    QTest::qWait(50);
    const QScrollArea* shown = nullptr;
    for (const auto* area : window_->findChildren<QScrollArea*>(QStringLiteral("pageScroll")))
      if (area->isVisible()) shown = area;
    ASSERT_NE(shown, nullptr) << page;
    int seen = 0;
    for (const QWidget* part : shown->widget()->findChildren<QWidget*>()) {
      const auto* label = qobject_cast<const QLabel*>(part);
      const bool button = qobject_cast<const QToolButton*>(part) != nullptr &&
                          part->property("role") == QLatin1String("chip");
      if (!part->isVisible() || (label == nullptr && !button)) continue;
      ++seen;
      const bool wrapped = label != nullptr && label->wordWrap();
      EXPECT_GE(part->height(),
                wrapped ? label->heightForWidth(label->width()) : part->minimumSizeHint().height())
          << page << ": " << part->objectName().toStdString();
      if (button) {
        EXPECT_GE(part->width(), part->minimumSizeHint().width()) << page;
      }
    }
    EXPECT_GT(seen, 2) << page;
    if (QLatin1String(page) == QLatin1String("compare")) {
      EXPECT_LE(shown->widget()->width(), shown->viewport()->width());
    }
  }
}

TEST_F(PanelsWindowTest, OutOfMemoryFactsScrollWhenTheyDoNotFit) {
  window_->resize(1024, 700);
  OpenRecorded();
  window_->openPage(QStringLiteral("out-of-memory"));
  ASSERT_TRUE(Idle());
  const auto* facts = Find<QScrollArea>("oomFacts");
  ASSERT_TRUE(facts != nullptr && facts->isVisible());
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return facts->widget()->height() > facts->viewport()->height(); }, 5000))
      << facts->widget()->height() << " of " << facts->viewport()->height();
  for (const QLabel* label : facts->widget()->findChildren<QLabel*>())
    EXPECT_GE(label->height(), label->fontMetrics().height() - 1) << label->text().toStdString();
}

TEST_F(PanelsWindowTest, BatchFieldFitsTheLargestNumber) {
  auto* batch = Find<QSpinBox>("batch");
  const int digits = batch->fontMetrics().horizontalAdvance(QString::number(batch->maximum()));
  EXPECT_GE(batch->minimumWidth(), digits + 18);  // 8 on either side, and the frame
  // Both fields of the row must fit into the second column, which has this width in a window of
  // 1280.
  EXPECT_LE(batch->parentWidget()->minimumSizeHint().width(), 149);
}

// Common names must fit even in the smallest window. Longer names must be in the tooltip.
TEST_F(PanelsWindowTest, DeviceBoxFitsCommonGpuNames) {
  window_->resize(1024, 700);
  auto* box = Find<QComboBox>("device");
  ASSERT_TRUE(WaitFor([&] { return box->isVisible() && window_->width() == 1024; }));
  QStyleOptionComboBox option;
  option.initFrom(box);
  option.rect = box->rect();
  const int room =
      box->style()
          ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box)
          .width();
  for (const char* name : {"rtx-4090", "rtx-3060-12gb", "rtx-5070-ti"}) {
    const int at = box->findData(QString::fromLatin1(name));
    ASSERT_GE(at, 0);
    EXPECT_LE(box->fontMetrics().horizontalAdvance(box->itemText(at)), room)
        << box->itemText(at).toStdString();
  }
  run::RunConfig config = window_->config();
  config.device = "rtx-3070-ti-laptop";
  window_->editConfig(config);
  EXPECT_THAT(box->toolTip().toStdString(), HasSubstr("NVIDIA GeForce RTX 3070 Ti Laptop GPU"));
}

// If a text is too long for a combo box, it must end with an ellipsis.
TEST_F(PanelsWindowTest, ComboBoxElidesLongText) {
  const QString whole = QStringLiteral("no torch · python3 on PATH · 3.11.7");
  std::unique_ptr<QComboBox> box(MakeComboBox());
  const auto draw = [&](const QString& text) {
    box->clear();
    box->addItem(text);
    return box->grab().toImage();
  };
  box->resize(120, 30);
  const QImage shown = draw(whole);
  bool elided = false;
  for (qsizetype i = 1; i < whole.size() && !elided; ++i)
    elided = draw(whole.left(i) + QChar(0x2026)) == shown;
  EXPECT_TRUE(elided);
}

TEST_F(PanelsWindowTest, ComboBoxShowsTheShortTextIfTheWholeDoesNotFit) {
  std::unique_ptr<QComboBox> box(MakeComboBox());
  const auto draw = [&](const QString& text) {
    box->clear();
    box->addItem(text);
    return box->grab().toImage();
  };
  box->resize(120, 30);
  const QImage name = draw(QStringLiteral("qwen2"));
  EXPECT_NE(draw(QStringLiteral("qwen2 · 494 million parameters")), name);
  box->setItemData(0, QStringLiteral("qwen2"), kShortTextRole);
  EXPECT_EQ(box->grab().toImage(), name);
  box->resize(400, 30);
  const QImage wide = box->grab().toImage();
  EXPECT_EQ(draw(QStringLiteral("qwen2 · 494 million parameters")), wide);
}

TEST_F(PanelsWindowTest, CanvasAndPanelsShareCurves) {
  OpenRecorded();
  window_->settleCanvas();
  // The digest, the canvas and its index must share the same curves instead of having copies.
  EXPECT_GE(window_->digest()->curves.use_count(), 3);
}

TEST_F(PanelsWindowTest, LongFramesDoNotWidenPanels) {
  OpenTrace(*WithLongFrames(*testing::MakeRecordedTrace({})));
  const trace::Trace& trace = *window_->digest()->trace;
  uint32_t id = 0;
  while (trace.events.StackOf(trace.allocations.alloc_event[id]).value != 1) ++id;
  window_->timelineWidget()->select({id});
  QCoreApplication::processEvents();
  for (QWidget* panel : {static_cast<QWidget*>(window_->findChild<BreakdownPanel*>()),
                         window_->findChild<SelectionPanel*>()->widget()}) {
    const QWidget* viewport = panel->parentWidget();
    EXPECT_EQ(panel->width(), viewport->width()) << "the panel is as wide as its viewport";
    int figures = 0;
    for (const QLabel* label : panel->findChildren<QLabel*>()) {
      if (!label->isVisible() || label->text().isEmpty()) continue;
      const QPoint right = label->mapTo(viewport, QPoint(label->width(), 0));
      EXPECT_LE(right.x(), viewport->width()) << label->text().toStdString();
      figures += label->text().contains(QLatin1String("iB"));
    }
    EXPECT_GT(figures, 0);
  }
  const auto* frames = Find<FrameList>("callStack");
  ASSERT_FALSE(frames->lines().empty());
  EXPECT_TRUE(frames->shownFunction(0).contains(QChar(0x2026))) << "cut in the middle";
  EXPECT_FALSE(frames->shownFunction(0).endsWith(QChar(0x2026)));
  SaveImage("long-frames");
  // The text that is copied must not be shortened.
  EXPECT_THAT(State()["selection"].toObject()["stack"].toString().toStdString(),
              HasSubstr("VeryLongKernelNameWithoutAnyBlank"));
}

TEST_F(PanelsWindowTest, SelectionIsVisibleAndBreakdownDoesNotMove) {
  OpenRecorded();
  window_->resize(1280, 800);
  auto* breakdown = window_->findChild<BreakdownPanel*>();
  auto* selection = window_->findChild<SelectionPanel*>();
  auto* title = selection->findChild<QWidget*>(QStringLiteral("selectionTitle"));
  // Waits until the panel has the height of its size hint.
  const auto rests = [&] {
    return window_->height() == 800 && selection->height() == selection->sizeHint().height();
  };
  ASSERT_TRUE(WaitFor(rests));
  const QPoint before = breakdown->mapTo(window_.get(), QPoint(0, 0));
  EXPECT_FALSE(title->isVisible()) << "nothing is selected";
  const int empty = selection->height();
  window_->timelineWidget()->select({3});
  ASSERT_TRUE(WaitFor([&] { return selection->height() > empty && rests(); }));
  EXPECT_EQ(breakdown->mapTo(window_.get(), QPoint(0, 0)), before);
  EXPECT_FALSE(title->visibleRegion().isEmpty());
  EXPECT_LE(selection->height(), selection->parentWidget()->height() * 6 / 10);
  window_->timelineWidget()->select({});
  EXPECT_TRUE(WaitFor([&] { return selection->height() == empty && rests(); }));
}

// Regression test: if a block was selected, the figures of a range were outside the visible part.
TEST_F(PanelsWindowTest, RangeSummaryIsVisibleBesideASelectedBlock) {
  window_->resize(1024, 700);
  OpenRecorded({.steps = 4});
  window_->timelineWidget()->select({3});
  QTest::qWait(50);
  auto* summary = Find<WrappedLabel>("rangeSummary");
  ASSERT_NE(summary, nullptr);
  EXPECT_FALSE(summary->isVisible());
  auto* area = qobject_cast<QScrollArea*>(Find<QWidget>("rangeCard")
                                              ->parentWidget()  // the panel
                                              ->parentWidget()  // the viewport
                                              ->parentWidget());
  ASSERT_NE(area, nullptr);
  area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum());
  const auto [begin, end] = Step(2);
  window_->timelineWidget()->setRange(begin, end);
  QTest::qWait(50);
  EXPECT_TRUE(summary->isVisible());
  const QRect at(summary->mapTo(area->viewport(), QPoint()), summary->size());
  EXPECT_TRUE(area->viewport()->rect().contains(at)) << at.top() << " to " << at.bottom();
  EXPECT_THAT(summary->text().toStdString(), HasSubstr("+1.000 MiB; allocated "));
  window_->timelineWidget()->setRange(0, 0);
  EXPECT_FALSE(summary->isVisible());
}

TEST_F(PanelsWindowTest, PanelsFollowTheRangeUntilItIsCleared) {
  OpenRecorded({.steps = 4});
  const int all = Allocations()["rows"].toInt();
  EXPECT_EQ(Breakdown()["heading"].toString(), "AT THE PEAK");
  const auto [begin, end] = Step(2);
  window_->timelineWidget()->setRange(begin, end);
  EXPECT_EQ(Breakdown()["heading"].toString(), "PEAK IN RANGE");
  // The parts of the GPU's memory must be those at the same time.
  const auto blocks = [&] {
    for (const QJsonValue& part : Breakdown()["card"].toArray())
      if (part["name"] == "blocks, as requested") return part["bytes"].toDouble();
    return -1.0;
  };
  EXPECT_GT(blocks(), 0);
  QTest::qWait(50);
  for (const QLabel* label : window_->findChildren<QLabel*>())
    if (label->isVisible() && label->property("role") == QLatin1String("heading")) {
      EXPECT_GE(label->width(), label->sizeHint().width()) << label->text().toStdString();
    }
  const QJsonObject facts = Breakdown()["range"].toObject()["facts"].toObject();
  EXPECT_EQ(facts["steps"].toString(), "2");
  EXPECT_EQ(facts["live after the range"].toString(), "1.000 MiB in 1 block");
  EXPECT_FALSE(Breakdown()["range"].toObject()["sites"].toArray().isEmpty());
  EXPECT_TRUE(Find<QWidget>("rangeCard")->isVisible());
  SaveImage("range");
  EXPECT_EQ(State()["tables"].toObject()["phases"].toObject()["rows"].toInt(), 1);
  EXPECT_LT(Allocations()["rows"].toInt(), all);
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Page("fragmentation")["head"].toString().toStdString(),
              HasSubstr("At the peak of the range"));
  // A click on the chip of the range must clear the range, and so must Esc.
  QTest::mouseClick(Find<QToolButton>("leaveRange"), Qt::LeftButton);
  EXPECT_EQ(Breakdown()["heading"].toString(), "AT THE PEAK");
  EXPECT_EQ(Allocations()["rows"].toInt(), all);
  EXPECT_FALSE(Find<QWidget>("rangeCard")->isVisible());
  window_->timelineWidget()->setRange(begin, end);
  window_->timelineWidget()->setFocus();
  QTest::keyClick(window_->timelineWidget(), Qt::Key_Escape);
  EXPECT_EQ(Breakdown()["heading"].toString(), "AT THE PEAK");
  EXPECT_EQ(State()["tables"].toObject()["phases"].toObject()["rows"].toInt(), 4);
}

// Large tables are sorted and searched outside the UI thread. Only the latest search text may
// count, and going to the next match must wait for the result.
TEST_F(PanelsWindowTest, LargeTableIsSortedAndSearchedOffTheUiThread) {
  OpenRecorded({.steps = 5000});
  const auto all = static_cast<int>(window_->digest()->trace->allocations.size());
  ASSERT_GT(all, 50'000);
  window_->actionRegistry()->Find(QStringLiteral("edit.filter"))->trigger();
  EXPECT_EQ(Allocations()["count"].toString(), QStringLiteral("Sorting …"));
  ASSERT_TRUE(WaitFor([&] { return Allocations()["rows"].toInt() == all; }));
  auto* table = Find<QTableView>("allocationsTable");
  const auto first = [table] { return table->model()->index(0, 0).data().toString(); };
  const QString largest = first();
  table->sortByColumn(0, Qt::DescendingOrder);
  EXPECT_EQ(first(), largest) << "the rows are still being sorted";
  EXPECT_EQ(Allocations()["count"].toString(), QStringLiteral("Sorting …"));
  ASSERT_TRUE(WaitFor([&] { return first() == QString::number(all - 1); }));
  auto* edit = Find<QLineEdit>("allocationFilter");
  edit->setText(QStringLiteral("forward"));
  EXPECT_EQ(Allocations()["rows"].toInt(), all) << "the search is still running";
  EXPECT_EQ(Allocations()["count"].toString(), QStringLiteral("Searching …"));
  edit->setText(QStringLiteral("metrics.py"));
  QTest::keyClick(edit, Qt::Key_Return);
  EXPECT_FALSE(window_->timelineWidget()->selection().valid());
  ASSERT_TRUE(WaitFor([this] { return Allocations()["rows"].toInt() == 5000; }));
  EXPECT_TRUE(window_->timelineWidget()->selection().valid());
  EXPECT_THAT(Allocations()["count"].toString().toStdString(), HasSubstr("match 1 of 5,000"));
  // The second text must replace the search that is still running.
  edit->setText(QStringLiteral("forward"));
  edit->setText(QStringLiteral("metrics.py"));
  EXPECT_THAT(Allocations()["count"].toString().toStdString(), HasSubstr("of 5,000"));
  edit->clear();
  ASSERT_TRUE(WaitFor([&] { return Allocations()["rows"].toInt() == all; }));
}

TEST_F(PanelsWindowTest, SearchCountsMatchesStepsAndMarksThem) {
  OpenRecorded({.steps = 4});
  window_->actionRegistry()->Find(QStringLiteral("edit.filter"))->trigger();
  auto* edit = Find<QLineEdit>("allocationFilter");
  edit->setText(QStringLiteral("metrics.py"));
  EXPECT_EQ(Allocations()["rows"].toInt(), 4);
  EXPECT_THAT(Allocations()["count"].toString().toStdString(),
              HasSubstr("4 of 54 allocations match"));
  ASSERT_TRUE(WaitFor([this] {
    return State()["timeline"].toObject()["highlighted"].toInt() == 4;
  })) << "the timeline marks what was found";
  QTest::keyClick(edit, Qt::Key_Return);
  const trace::AllocationId first = window_->timelineWidget()->selection();
  EXPECT_TRUE(first.valid());
  EXPECT_THAT(Allocations()["count"].toString().toStdString(), HasSubstr("match 1 of 4"));
  window_->actionRegistry()->Find(QStringLiteral("edit.find-next"))->trigger();
  EXPECT_NE(window_->timelineWidget()->selection(), first);
  EXPECT_THAT(Allocations()["count"].toString().toStdString(), HasSubstr("match 2 of 4"));
  window_->actionRegistry()->Find(QStringLiteral("edit.find-previous"))->trigger();
  EXPECT_EQ(window_->timelineWidget()->selection(), first);
  QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);  // wraps around to the begin
  EXPECT_THAT(Allocations()["count"].toString().toStdString(), HasSubstr("match 4 of 4"));
  EXPECT_EQ(State()["timeline"].toObject()["highlighted"].toInt(), 4) << "still marked";
  window_->settleCanvas();
  window_->grab();
  SaveImage("search");
  EXPECT_GT(State()["timeline"].toObject()["drawn"].toObject()["marks"].toInt(), 0);
  edit->clear();
  ASSERT_TRUE(
      WaitFor([this] { return State()["timeline"].toObject()["highlighted"].toInt() == 0; }));
}

TEST_F(PanelsWindowTest, SnapshotWithoutHistoryShowsTheStatePage) {
  OpenTrace(*MakeState());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "State");
  const QJsonObject page = Page("state");
  EXPECT_EQ(page["segments"].toInt(), 2);
  SaveImage("state");
  EXPECT_EQ(page["pools"].toObject()["rows"].toInt(), 2);
  EXPECT_GT(page["sites"].toObject()["rows"].toInt(), 0);
  EXPECT_EQ(Breakdown()["heading"].toString(), "IN MEMORY");
  EXPECT_THAT(Find<QLabel>("selectionHint")->text().toStdString(),
              ::testing::Not(HasSubstr("timeline")));
  auto* tabs = Find<QTabWidget>("tables");
  const QStringList pages = window_->pageNames();
  for (const char* none : {"phases", "reclaim", "what-if", "leaks", "call-sites", "compare"})
    EXPECT_FALSE(tabs->isTabVisible(static_cast<int>(pages.indexOf(QLatin1String(none))))) << none;
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Find<QToolButton>("gotoUnused")->isHidden());
  // A selected block must be shown, although there is no timeline.
  window_->timelineWidget()->select({1});
  EXPECT_THAT(State()["selection"].toObject()["title"].toString().toStdString(),
              HasSubstr("_allocate_kv_cache_tensors"));
  // A run that is opened later must have its usual pages. This run ran out of memory, so the page
  // that explains this is shown.
  OpenRecorded();
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "Out of memory");
  EXPECT_TRUE(tabs->isTabVisible(static_cast<int>(pages.indexOf(QStringLiteral("reclaim")))));
  EXPECT_FALSE(tabs->isTabVisible(static_cast<int>(pages.indexOf(QStringLiteral("state")))));
}

TEST_F(PanelsWindowTest, StatisticsAloneAreShownAsATable) {
  trace::Trace figures;
  figures.strings = {""};
  figures.complete = true;
  figures.info.backend = trace::Backend::kImported;
  figures.info.source = "torch.cuda.memory_stats()";
  figures.info.content = trace::Content::kState;
  figures.info.has_times = false;
  figures.info.statistics = {{"allocated_bytes.all.current", 5 << 20}, {"num_ooms", 2}};
  OpenTrace(figures);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "State");
  EXPECT_EQ(Page("state")["statistics"].toObject()["rows"].toInt(), 2);
  EXPECT_THAT(Page("state")["head"].toString().toStdString(),
              HasSubstr("only 2 allocator statistics"));
  EXPECT_EQ(Chip("peak"), "") << "allocated bytes were not counted";
  SaveImage("statistics");
}

TEST_F(PanelsWindowTest, TraceWithoutTimesShowsEntriesNotSeconds) {
  OpenTrace(*WithoutTimes(*testing::MakeRecordedTrace({})));
  window_->timelineWidget()->select({2});
  window_->timelineWidget()->setRange(5, 30);
  const QJsonObject facts = Breakdown()["range"].toObject()["facts"].toObject();
  EXPECT_EQ(facts["from"].toString(), "entry 5");
  EXPECT_EQ(facts["length"].toString(), "25 entries");
  window_->openPage(QStringLiteral("call-sites"));
  ASSERT_TRUE(Idle());
  const QJsonObject table = Page("call-sites")["table"].toObject();
  ASSERT_GT(table["rows"].toInt(), 0);
  SaveImage("entries");
  EXPECT_THAT(table["first"].toArray()[0].toArray()[2].toString().toStdString(),
              HasSubstr("GiB·entries"));
}

TEST_F(PanelsWindowTest, LegendListsAllCategoriesAndPhases) {
  OpenRecorded();
  window_->timelineWidget()->setCursorTime(window_->digest()->trace->begin_ns());
  QStringList names;
  for (const QJsonValue& part : Breakdown()["parts"].toArray())
    names << part.toObject()["category"].toString();
  EXPECT_TRUE(names.contains(QStringLiteral("Activation")));  // even if no activation exists yet
  EXPECT_EQ(Breakdown()["phases"].toArray().size(), 3);
}

// Columns must be wide enough for their values, and narrow if they are empty.
TEST_F(PanelsWindowTest, NumberColumnsAreWideEnough) {
  OpenRecorded();
  window_->openPage(QStringLiteral("allocations"));
  auto* view = Find<TableView>("allocationsTable");
  const auto* model = dynamic_cast<const RowModel*>(view->model());
  for (int c = 0; c < model->columnCount(); ++c) {
    if (!model->columns()[static_cast<size_t>(c)].number) continue;
    const QFontMetrics metrics(view->model()->index(0, c).data(Qt::FontRole).value<QFont>());
    for (int r = 0; r < std::min(model->rowCount(), 20); ++r)
      EXPECT_GE(view->columnWidth(c),
                metrics.horizontalAdvance(view->model()->index(r, c).data().toString()) + 16)
          << model->columns()[static_cast<size_t>(c)].title;
  }
}

}  // namespace
}  // namespace vramscope::ui
