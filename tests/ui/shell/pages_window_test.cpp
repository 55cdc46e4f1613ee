// Tests the pages of kernels and of search results in the real window, and exported files.
#include <gmock/gmock.h>

#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QSignalSpy>
#include <QTimer>
#include <QXmlStreamReader>

#include "profiler/explain/findings.h"
#include "tests/ui/panels/altered_trace.h"
#include "tests/ui/shell/recorded_window.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/panels/find_bar.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PagesWindowTest : public testing::RecordedWindow {
 protected:
  void OpenWithKernels() {
    trace_ = vramscope::testing::MakeSyntheticTrace(
        {.layers = 3, .steps = 2, .activities = {.streams = 2}});
    file_ = Write("kernels.trace", *trace_);
    window_->openFile(file_);
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && Settled(); }));
  }
  void OpenSample(const char* name) {
    window_->openFile(QStringLiteral(VRAMSCOPE_SOURCE_DIR "/resources/samples/") +
                      QLatin1String(name));
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && Settled(); }));
  }
  bool Settled() {
    return WaitFor([this] {
      return !window_->busy() && !window_->kernelsPanel()->busy() &&
             !window_->searchPanel()->busy();
    });
  }
  QJsonObject Table(const char* name) {
    return State()["tables"].toObject()[QLatin1String(name)].toObject();
  }
  QJsonObject Timeline() { return State()["timeline"].toObject(); }
  void Search(const char* text) {
    window_->openPage(QStringLiteral("search"));
    window_->searchPanel()->search(QString::fromUtf8(text));
    ASSERT_TRUE(Settled());
  }
  void Trigger(const char* action) {
    window_->actionRegistry()->Find(QString::fromLatin1(action))->trigger();
  }

  std::shared_ptr<const trace::Trace> trace_;
  QString file_;
};

// The page must show the same figures as `vramscope kernels`.
TEST_F(PagesWindowTest, KernelFiguresMatchTheCommandLine) {
  OpenWithKernels();
  window_->openPage(QStringLiteral("kernels"));
  ASSERT_TRUE(Settled());
  TableView* view = window_->kernelsPanel()->view();
  for (const query::KernelsBy by : query::kKernelsBy) {
    window_->kernelsPanel()->setBy(by);
    ASSERT_TRUE(Settled());
    const QString name = QString::fromStdString(std::string(query::Name(by)));
    QProcess program;
    program.start(
        QStringLiteral(VRAMSCOPE_PROGRAM),
        {QStringLiteral("kernels"), file_, QStringLiteral("--by"), name, QStringLiteral("--json")});
    ASSERT_TRUE(program.waitForFinished(60'000));
    const QJsonObject printed = QJsonDocument::fromJson(program.readAllStandardOutput()).object();
    const QJsonArray groups = printed["groups"].toArray();
    ASSERT_EQ(Table("kernels")["rows"].toInt(), groups.size()) << name.toStdString();
    EXPECT_EQ(Table("kernels")["takes_ns"].toDouble(), printed["takes_ns"].toDouble());
    const QStringList csv = view->selectionAsCsv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    ASSERT_EQ(csv.size(), groups.size() + 1);
    EXPECT_THAT(csv[0].toStdString(), HasSubstr(",Duration [ns],Share [%],Count,Mean [ns],"));
    double takes = 0;
    for (qsizetype i = 0; i < groups.size(); ++i) {
      const QJsonObject group = groups[i].toObject();
      EXPECT_THAT(csv[i + 1].toStdString(),
                  HasSubstr("," + std::to_string(group["takes_ns"].toInteger()) + ","))
          << name.toStdString() << " row " << i;
      takes += group["takes_ns"].toDouble();
    }
    EXPECT_EQ(takes, printed["takes_ns"].toDouble());
  }
}

TEST_F(PagesWindowTest, KernelSelectionIsSharedByTableAndTimeline) {
  OpenWithKernels();
  window_->openPage(QStringLiteral("kernels"));
  ASSERT_TRUE(Settled());
  TableView* view = window_->kernelsPanel()->view();
  view->selectRow(0);
  ASSERT_TRUE(Settled());
  const uint32_t longest = window_->timelineWidget()->selectedActivity();
  ASSERT_LT(longest, trace_->activities.size());
  const double count = Timeline()["marked"].toDouble();
  EXPECT_GT(count, 0) << "all of this name are marked";
  // When another kernel is selected, its row must become the selected row.
  query::ActivityIndex index(trace_);
  const query::KernelSums sums = query::SumKernels(index, query::KernelsBy::kName);
  ASSERT_GT(sums.sums.size(), 1u);
  EXPECT_EQ(count, static_cast<double>(sums.sums[0].count));
  window_->timelineWidget()->selectActivity(sums.sums[1].longest);
  EXPECT_EQ(Table("kernels")["current"].toInt(), 1);
  EXPECT_EQ(view->currentIndex().row(), 1);
  // F3 must step through the kernels of the row.
  if (sums.sums[1].count > 1) {
    Trigger("edit.find-next");
    const uint32_t next = window_->timelineWidget()->selectedActivity();
    EXPECT_NE(next, sums.sums[1].longest);
    EXPECT_EQ(sums.sum_of[next], 1u);
  }
}

TEST_F(PagesWindowTest, KernelsAreFilteredAndCopiedAsMarkdown) {
  OpenWithKernels();
  window_->openPage(QStringLiteral("kernels"));
  ASSERT_TRUE(Settled());
  const int all = Table("kernels")["rows"].toInt();
  auto* edit = Find<QLineEdit>("kernelsFilter");
  edit->setText(QStringLiteral("phase = backward"));
  ASSERT_TRUE(Settled());
  EXPECT_LT(Table("kernels")["rows"].toInt(), all);
  EXPECT_GT(Table("kernels")["rows"].toInt(), 0);
  edit->setText(QStringLiteral("phase < backward"));
  EXPECT_THAT(Table("kernels")["count"].toString().toStdString(),
              HasSubstr("column 9: phase is a text"));
  edit->clear();
  ASSERT_TRUE(Settled());
  EXPECT_EQ(Table("kernels")["rows"].toInt(), all);
  Trigger("edit.copy-markdown");
  const QStringList lines =
      QGuiApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), all + 2);
  EXPECT_EQ(lines[1], QStringLiteral("| --- | ---: | ---: | ---: | ---: | ---: | ---: |"));
  for (const QString& line : lines)  // an escaped bar does not end a column
    EXPECT_EQ(QString(line).remove(QStringLiteral("\\|")).count(QLatin1Char('|')), 8)
        << line.toStdString();
}

// Regression test: Ctrl+F "gemm" or "cudaMalloc" found nothing although thousands of kernels were
// drawn.
TEST_F(PagesWindowTest, SearchFindsKernelsCallsAndBlocks) {
  OpenWithKernels();
  Trigger("edit.find");
  auto* edit = Find<QLineEdit>("searchFilter");
  EXPECT_TRUE(edit->hasFocus());
  const std::string kernel = std::string(trace_->String(
      trace_->activities
          .name[query::SumKernels(query::ActivityIndex(trace_), query::KernelsBy::kName)
                    .sums[0]
                    .longest]));
  Search(kernel.c_str());
  EXPECT_GT(Table("search")["found"].toInt(), 0);
  EXPECT_EQ(Timeline()["marked"].toInt(), Table("search")["found"].toInt());
  Search("cudaLaunchKernel");
  EXPECT_GT(Table("search")["found"].toInt(), 0);
  EXPECT_THAT(Table("search")["count"].toString().toStdString(), HasSubstr("call "));
  // Enter must step through the results in the order of time.
  QTest::keyClick(edit, Qt::Key_Return);
  EXPECT_EQ(Table("search")["at"].toInt(), 0);
  const uint32_t first = window_->timelineWidget()->selectedActivity();
  ASSERT_LT(first, trace_->activities.size());
  Trigger("edit.find-next");
  EXPECT_EQ(Table("search")["at"].toInt(), 1);
  EXPECT_NE(window_->timelineWidget()->selectedActivity(), first);
  Trigger("edit.find-previous");
  EXPECT_EQ(window_->timelineWidget()->selectedActivity(), first);
  Search("kind = block and category = activation and size > 1 MiB");
  EXPECT_GT(Table("search")["found"].toInt(), 0);
  EXPECT_EQ(Timeline()["highlighted"].toInt(), Table("search")["found"].toInt());
  Search("nothing is called this");
  EXPECT_EQ(Table("search")["found"].toInt(), 0);
  EXPECT_EQ(Timeline()["marked"].toInt(), 0);
  edit->clear();
  EXPECT_EQ(Table("search")["rows"].toInt(), 0);
}

TEST_F(PagesWindowTest, FindingsAreListedAndMarkTheirBlocks) {
  OpenSample("gpt2.trace");
  window_->openPage(QStringLiteral("findings"));
  ASSERT_TRUE(Idle());
  const std::vector<explain::Finding> findings = explain::FindFindings(*window_->digest()->trace);
  ASSERT_FALSE(findings.empty());
  const QJsonObject table = Page("findings")["table"].toObject();
  ASSERT_EQ(table["rows"].toInt(), static_cast<int>(findings.size()));
  auto* view = Find<TableView>("findingsTable");
  view->selectAll();
  const QStringList csv = view->selectionAsCsv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(csv.size(), static_cast<qsizetype>(findings.size()) + 1);
  for (size_t i = 0; i < findings.size(); ++i) {
    const int row = static_cast<int>(i);
    const explain::Finding& finding = findings[i];
    const QJsonArray cells = table["first"].toArray()[row].toArray();
    EXPECT_EQ(cells[1].toString().toStdString(), finding.text);
    EXPECT_EQ(cells[2].toString().toStdString(), finding.where);
    EXPECT_EQ(cells[3].toString().toStdString(), finding.rule->remedy);
    EXPECT_EQ(cells[4].toString().toStdString(), finding.rule->toggle);
    EXPECT_THAT(csv[row + 1].toStdString(), HasSubstr(std::to_string(finding.bytes) + ","));
    if (finding.blocks.empty()) continue;
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                      view->visualRect(view->model()->index(row, 1)).center());
    EXPECT_THAT(Page("findings")["head"].toString().toStdString(),
                AllOf(HasSubstr(finding.text), HasSubstr(std::string(finding.rule->remedy))));
    EXPECT_EQ(Timeline()["highlighted"].toInt(), static_cast<int>(finding.blocks.size()))
        << finding.text;
    EXPECT_EQ(window_->timelineWidget()->selection(), finding.blocks.front()) << finding.text;
  }
  EXPECT_GT(Timeline()["highlighted"].toInt(), 0) << "a finding of this file has blocks";
}

TEST_F(PagesWindowTest, EmptyFindingsAreExplained) {
  OpenSample("qwen2-0.5b+accumulate.trace");
  window_->openPage(QStringLiteral("findings"));
  ASSERT_TRUE(Idle());
  ASSERT_TRUE(explain::FindFindings(*window_->digest()->trace).empty());
  EXPECT_EQ(Page("findings")["table"].toObject()["rows"].toInt(), 0);
  EXPECT_EQ(Page("findings")["head"].toString().toStdString(), explain::NoFindingsText());
  // For a snapshot without history, the page must not say that the run has no findings.
  window_->openFile(Write("state.trace", *vramscope::testing::MakeState()));
  ASSERT_TRUE(WaitFor([this] { return window_->digest()->state() && Settled(); }));
  window_->openPage(QStringLiteral("findings"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Page("findings")["head"].toString().toStdString(), HasSubstr("only a snapshot"));
}

TEST_F(PagesWindowTest, FoundFrameSearchesItsBlocks) {
  OpenRecorded({.steps = 4});
  Search("metrics.py");
  EXPECT_EQ(Table("search")["found"].toInt(), 4);
  SearchPanel* panel = window_->searchPanel();
  int row = -1;
  for (int r = 0; r < panel->view()->model()->rowCount(); ++r)
    if (panel->view()->model()->index(r, 0).data().toString() == QLatin1String("stack")) row = r;
  ASSERT_GE(row, 0);
  panel->view()->selectRow(row);
  ASSERT_TRUE(Settled());
  EXPECT_THAT(Table("search")["search"].toString().toStdString(),
              HasSubstr("kind = block and stack = \"metrics.py"));
  EXPECT_EQ(Table("search")["found"].toInt(), 4);
}

// Regression test: the menu of a block only offered commands for tracks.
TEST_F(PagesWindowTest, BlockMenuCopiesAndFindsSimilarBlocks) {
  OpenWithKernels();
  timeline::TimelineWidget* canvas = window_->timelineWidget();
  trace::AllocationId largest{0};
  for (uint32_t i = 0; i < trace_->allocations.size(); ++i)
    if (trace_->allocations.bytes[i] > trace_->allocations.bytes[largest.value]) largest = {i};
  canvas->clearSelection();
  window_->actionRegistry()->Find(QStringLiteral("go.largest"))->trigger();
  const trace::AllocationId block = canvas->selection();
  ASSERT_TRUE(block.valid());
  QStringList seen;
  const auto choose = [&](const QString& what) {
    QTimer::singleShot(0, canvas, [&, what] {
      auto* menu = canvas->findChild<QMenu*>(QStringLiteral("thing_menu"));
      ASSERT_NE(menu, nullptr);
      for (QAction* action : menu->findChildren<QAction*>()) {
        seen << action->text();
        if (action->text() == what) action->trigger();
      }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5),
                            canvas->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(canvas, &event);
  };
  choose(QStringLiteral("As JSON"));
  const QJsonObject json =
      QJsonDocument::fromJson(QGuiApplication::clipboard()->text().toUtf8()).object();
  EXPECT_EQ(json["kind"].toString(), QStringLiteral("block"));
  EXPECT_EQ(json["row"].toInteger(), block.value);
  EXPECT_EQ(json["bytes"].toInteger(),
            static_cast<qint64>(trace_->allocations.bytes_rounded[block.value]));
  EXPECT_TRUE(seen.contains(QStringLiteral("Zoom to it")));
  choose(QStringLiteral("Address"));
  EXPECT_THAT(QGuiApplication::clipboard()->text().toStdString(), HasSubstr("0x"));
  choose(QStringLiteral("Find blocks of this size"));
  ASSERT_TRUE(Settled());
  EXPECT_THAT(Table("search")["search"].toString().toStdString(),
              HasSubstr("kind = block and size = "));
  EXPECT_GT(Table("search")["found"].toInt(), 0);
}

// Regression test: the menu of a row only offered copying and sorting, not what blocks offer.
TEST_F(PagesWindowTest, TableRowsHaveTheMenuOfTheirThing) {
  const auto menu_of = [this](const char* table) {
    auto* view = Find<TableView>(table);
    EXPECT_NE(view, nullptr) << table;
    if (view == nullptr) return QStringList();
    EXPECT_GT(view->model()->rowCount(), 0) << table;
    view->selectRow(0);
    QStringList texts;
    QTimer::singleShot(0, view, [view, &texts] {
      auto* menu = view->findChild<QMenu*>(QStringLiteral("thing_menu"));
      if (menu == nullptr) return void(QApplication::activePopupWidget()->close());
      for (QAction* action : menu->findChildren<QAction*>()) {
        texts << action->text();
        if (action->text() == QLatin1String("As JSON")) action->trigger();
      }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5),
                            view->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(view->viewport(), &event);
    return texts;
  };
  const auto copied_kind = [] {
    return QJsonDocument::fromJson(QGuiApplication::clipboard()->text().toUtf8())
        .object()["kind"]
        .toString()
        .toStdString();
  };
  const auto expect_menu = [&](const char* page, const char* table,
                               const ::testing::Matcher<std::string>& kind) {
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle() && Settled());
    const QStringList texts = menu_of(table);
    for (const char* text :
         {"Zoom to it", "Select its time range", "Add note …", "As JSON", "Copy rows\tCtrl+C"})
      EXPECT_TRUE(texts.contains(QString::fromUtf8(text))) << page << ": " << text;
    EXPECT_THAT(copied_kind(), kind) << page;
  };
  OpenWithKernels();
  expect_menu("allocations", "allocationsTable", "block");
  expect_menu("kernels", "kernelsTable", ::testing::AnyOf("kernel", "memcpy"));
  expect_menu("live-set", "liveTable", "block");
  expect_menu("call-sites", "callSitesTable", "block");
  expect_menu("phases", "phasesTable", "step");
  Search("kind = module");
  expect_menu("search", "searchTable", "module");
  OpenRecorded({.steps = 4});
  expect_menu("leaks", "leaksTable", "block");
}

TEST_F(PagesWindowTest, MenuOfARowZoomsToItsThingThoughARangeIsSelected) {
  OpenWithKernels();
  timeline::TimelineWidget* canvas = window_->timelineWidget();
  const trace::AllocationTable& a = trace_->allocations;
  uint32_t row = 0;
  while (row < a.size() &&
         (a.begin_ns[row] <= trace_->begin_ns() || a.end_ns[row] >= trace_->end_ns()))
    ++row;
  ASSERT_LT(row, a.size());
  canvas->setRange(trace_->begin_ns(), trace_->begin_ns() + 1000);
  const std::unique_ptr<QMenu> menu(
      canvas->linkMenu({timeline::Link::To::kAllocation, row}, window_.get()));
  ASSERT_NE(menu, nullptr);
  EXPECT_FALSE(menu->actions().front()->text().isEmpty()) << "the title is visible";
  EXPECT_FALSE(menu->actions().front()->isSeparator());
  EXPECT_FALSE(menu->actions().front()->isEnabled());
  EXPECT_EQ(canvas->linkMenu({timeline::Link::To::kAllocation, a.size()}, nullptr), nullptr);
  const auto choose = [&](const char* text) {
    for (QAction* action : menu->actions())
      if (action->text() == QLatin1String(text)) action->trigger();
  };
  choose("Select its time range");
  EXPECT_NEAR(static_cast<double>(canvas->range().first), static_cast<double>(a.begin_ns[row]), 1);
  EXPECT_NEAR(static_cast<double>(canvas->range().second), static_cast<double>(a.end_ns[row]), 1);
  canvas->setRange(trace_->begin_ns(), trace_->begin_ns() + 1000);
  choose("Zoom to it");
  window_->settleCanvas();
  EXPECT_EQ(canvas->selection().value, row);
  const auto at = canvas->position();
  EXPECT_TRUE(at.begin_ns >= at.end_ns ||
              (at.begin_ns <= a.begin_ns[row] && at.end_ns >= a.end_ns[row]));
}

// Regression test: clicks on the categories in the legend did nothing.
TEST_F(PagesWindowTest, LegendRowsHideAndShowCategories) {
  OpenWithKernels();
  QWidget* row = nullptr;
  for (QWidget* each : window_->findChildren<QWidget*>(QStringLiteral("category")))
    if (each->property("category").toInt() == static_cast<int>(trace::Category::kActivation))
      row = each;
  ASSERT_NE(row, nullptr);
  const auto hidden = [this] { return Timeline()["hidden_categories"].toArray(); };
  EXPECT_TRUE(hidden().isEmpty());
  QTest::mouseClick(row, Qt::LeftButton);
  EXPECT_EQ(hidden(), QJsonArray{QStringLiteral("Activation")});
  QTest::mouseClick(row, Qt::LeftButton);
  EXPECT_TRUE(hidden().isEmpty());
  QTest::mouseClick(row, Qt::LeftButton, Qt::ShiftModifier);
  EXPECT_EQ(hidden().size(), trace::kCategoryCount - 1) << "only this category is shown";
  EXPECT_FALSE(hidden().contains(QStringLiteral("Activation")));
  QTest::mouseClick(row, Qt::LeftButton, Qt::ShiftModifier);
  EXPECT_TRUE(hidden().isEmpty()) << "again: all are shown";
}

TEST_F(PagesWindowTest, ExportsReportsImagesAndTables) {
  OpenWithKernels();
  for (const char* name : {"out.html", "out.png", "out.pdf", "out.svg", "out.csv"}) {
    QSignalSpy done(window_.get(), &MainWindow::fileDone);
    const QString path = folder_.filePath(QLatin1String(name));
    window_->exportAs(path);
    ASSERT_TRUE(WaitFor([&] { return !done.isEmpty(); })) << name;
    EXPECT_TRUE(done[0][1].toBool()) << name << " " << Banner("text").toStdString();
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly)) << name;
    const QByteArray bytes = file.readAll();
    EXPECT_GT(bytes.size(), 1000) << name;
    if (path.endsWith(QLatin1String("html"))) {
      EXPECT_TRUE(bytes.startsWith("<!DOCTYPE html>"));
    } else if (path.endsWith(QLatin1String("pdf"))) {
      EXPECT_TRUE(bytes.startsWith("%PDF-"));
    } else if (path.endsWith(QLatin1String("png"))) {
      EXPECT_EQ(QImage::fromData(bytes).size(), window_->timelineWidget()->size() * 2);
    } else if (path.endsWith(QLatin1String("svg"))) {
      // The exported image must show the timeline with the size, tracks and blocks of the window.
      QXmlStreamReader xml(bytes);
      QStringList texts;
      int shapes = 0;
      while (!xml.atEnd()) {
        xml.readNext();
        if (!xml.isStartElement()) continue;
        if (xml.name() == QLatin1String("svg")) {
          EXPECT_EQ(xml.attributes().value(QLatin1String("width")).toInt(),
                    window_->timelineWidget()->width());
        }
        shapes += xml.name() == QLatin1String("path") || xml.name() == QLatin1String("rect");
        if (xml.name() == QLatin1String("text")) texts << xml.readElementText();
      }
      EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
      EXPECT_GT(shapes, 100);
      EXPECT_TRUE(texts.contains(QStringLiteral("memory by category")))
          << texts.join(' ').toStdString();
      EXPECT_FALSE(texts.filter(QStringLiteral("forward")).isEmpty());
    }
  }
  // An export must not overwrite the file that is shown.
  QSignalSpy refused(window_.get(), &MainWindow::fileDone);
  window_->exportAs(file_);
  ASSERT_EQ(refused.size(), 1);
  EXPECT_FALSE(refused[0][1].toBool());
}

}  // namespace
}  // namespace vramscope::ui
