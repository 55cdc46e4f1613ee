// Tests the page that compares the shown trace with another trace. Also tests all ways to choose
// the other trace.
#include <gmock/gmock.h>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QJsonArray>
#include <QLineEdit>
#include <QMimeData>
#include <QTableView>
#include <QToolButton>
#include <QUrl>

#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;

class CompareTest : public testing::RecordedWindow {
 protected:
  // Writes a file of a run with fewer layers and without a leak.
  QString Other() {
    return Write("other.trace", *testing::MakeRecordedTrace({.layers = 4, .leak = false}));
  }
  void CompareWithOther() {
    OpenRecorded();
    window_->compareWith(Other());
    ASSERT_TRUE(WaitFor([this] { return State()["baseline"].toBool(); }));
    ASSERT_TRUE(Idle());
  }
  QJsonObject Compare() { return Page("compare"); }
  int Rows() { return Compare()["table"].toObject()["rows"].toInt(); }
  std::string Head() { return Compare()["head"].toString().toStdString(); }
  QString Cell(int row, int column) {
    return Compare()["table"].toObject()["first"].toArray()[row].toArray()[column].toString();
  }
  double Highlighted() { return State()["timeline"].toObject()["highlighted"].toDouble(); }
  void Click(const char* button) {
    QTest::mouseClick(Find<QToolButton>(button), Qt::LeftButton);
    ASSERT_TRUE(Idle());
  }
  void ClickRow(int row) {
    auto* table = Find<TableView>("compareTable");
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(table->model()->index(row, 0)).center());
  }
};

TEST_F(CompareTest, ExplainsHowToChooseABaseline) {
  OpenRecorded();
  window_->openPage(QStringLiteral("compare"));
  EXPECT_THAT(Head(), HasSubstr("Ctrl+D"));
  EXPECT_FALSE(Compare()["controls"].toBool());
  EXPECT_TRUE(Find<QToolButton>("file.compare")->isVisible());
  Click("run.pin");
  EXPECT_THAT(Head(), HasSubstr("the baseline itself"));
}

TEST_F(CompareTest, ComparesWithAnotherFileByCallSite) {
  CompareWithOther();
  EXPECT_EQ(window_->digest()->name, "recorded.trace");
  EXPECT_EQ(State()["against"].toString(), "other.trace");
  EXPECT_TRUE(State()["ghost"].toBool());
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "Compare");
  EXPECT_THAT(Head(), HasSubstr("other.trace"));
  EXPECT_THAT(Head(), HasSubstr("more than the baseline's"));
  EXPECT_THAT(Head(), HasSubstr("matched by stack"));
  // First are the additional layers. The second row is the leak, which only the shown trace has.
  ASSERT_EQ(Rows(), 2);
  EXPECT_THAT(Cell(0, 0).toStdString(), HasSubstr("model.py:42"));
  EXPECT_EQ(Cell(0, 5), "+20.000 MiB");
  EXPECT_EQ(Cell(0, 6), "8 → 12");
  EXPECT_THAT(Cell(1, 0).toStdString(), HasSubstr("metrics.py:5"));
  EXPECT_EQ(Cell(1, 2), "added");
}

TEST_F(CompareTest, RowHighlightsItsBlocksInTheTimeline) {
  CompareWithOther();
  ClickRow(0);
  EXPECT_EQ(Highlighted(), 12);
  const trace::AllocationId id = window_->timelineWidget()->selection();
  ASSERT_TRUE(id.valid());
  const trace::Trace& trace = *window_->digest()->trace;
  EXPECT_EQ(trace.allocations.bytes_rounded[id.value], 8u << 20);
  EXPECT_EQ(window_->timelineWidget()->cursorTime(),
            window_->digest()->summary.peak.context.time_ns);
  // When another block is selected, the highlighting must end. A click on the row starts it again.
  window_->timelineWidget()->select({0});
  EXPECT_EQ(Highlighted(), 0);
  ClickRow(0);
  EXPECT_EQ(Highlighted(), 12);
  window_->timelineWidget()->clearSelection();
  EXPECT_EQ(Highlighted(), 0);
}

TEST_F(CompareTest, GroupsByCategoryPhaseAndStep) {
  CompareWithOther();
  Click("compareBy1");
  EXPECT_EQ(Compare()["by"].toString(), "Category");
  EXPECT_EQ(Cell(0, 0), "Activation");
  EXPECT_EQ(Cell(0, 3), "+16.000 MiB");
  ClickRow(0);
  EXPECT_EQ(Highlighted(), 6);
  Click("compareBy2");
  const int phases = Rows();
  EXPECT_GT(phases, 4);
  ClickRow(0);
  EXPECT_GE(window_->timelineWidget()->cursorTime(), 0);
  Click("compareBy3");
  EXPECT_EQ(Rows(), 4);
  EXPECT_EQ(Cell(2, 0), "2");
  // Now compares only one step, which both runs have.
  auto* steps = Find<QComboBox>("compareStep");
  ASSERT_EQ(steps->count(), 5);
  steps->setCurrentIndex(2);
  Q_EMIT steps->activated(2);
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Head(), HasSubstr("In step 1, the peak"));
  Click("compareBy2");
  EXPECT_LT(Rows(), phases);
}

TEST_F(CompareTest, ComparesRequestsAndKernels) {
  CompareWithOther();
  Click("compareBy4");
  EXPECT_EQ(Compare()["by"].toString(), "Requests");
  EXPECT_THAT(Head(), HasSubstr("requests are the same in both runs. The first differences:"));
  EXPECT_GT(Rows(), 0);
  EXPECT_THAT(Cell(0, 3).toStdString(), HasSubstr("alloc #"));
  Click("compareBy5");
  EXPECT_THAT(Head(), HasSubstr("Neither run has kernels"));
  EXPECT_EQ(Rows(), 0);
  Click("compareBy0");
  EXPECT_EQ(Rows(), 2);
}

TEST_F(CompareTest, FiltersSortsAndCopies) {
  CompareWithOther();
  Find<QToolButton>("compareChanges")->setChecked(false);
  const int all = Rows();
  EXPECT_GT(all, 2);
  auto* filter = Find<QLineEdit>("compareFilter");
  filter->setText(QStringLiteral("METRICS"));
  EXPECT_EQ(Rows(), 1);
  filter->clear();
  auto* table = Find<TableView>("compareTable");
  table->sortByColumn(5, Qt::AscendingOrder);
  EXPECT_EQ(Cell(0, 5), "0");
  Find<QToolButton>("compareChanges")->setChecked(true);
  EXPECT_EQ(Cell(1, 5), "+20.000 MiB") << "the order stays";
  table->selectAll();
  QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
  EXPECT_THAT(QApplication::clipboard()->text().toStdString(),
              ::testing::StartsWith("Call site\tCategory\tChange\t"));
  // For a spreadsheet, plain bytes are copied instead of texts such as "1 GiB".
  QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  const QStringList csv = QApplication::clipboard()->text().split(QLatin1Char('\n'));
  ASSERT_EQ(csv.size(), Rows() + 2);
  EXPECT_EQ(csv[0], "Call site,Category,Change,Baseline [B],Current [B],Difference [B],Blocks");
  EXPECT_THAT(csv[2].toStdString(), HasSubstr(",41943040,62914560,20971520,"));
  // The key S sorts by the current column: largest first, and when pressed again, smallest first.
  table->setCurrentIndex(table->model()->index(0, 4));
  QTest::keyClick(table, Qt::Key_S);
  const QString most = Cell(0, 4);
  QTest::keyClick(table, Qt::Key_S);
  EXPECT_NE(Cell(0, 4), most);
  QTest::keyClick(window_.get(), Qt::Key_Slash);
  EXPECT_TRUE(filter->hasFocus());
}

TEST_F(CompareTest, SwapExchangesTraceAndBaseline) {
  CompareWithOther();
  Click("run.swap");
  EXPECT_EQ(window_->digest()->name, "other.trace");
  EXPECT_EQ(State()["against"].toString(), "recorded.trace");
  EXPECT_THAT(State()["title"].toString().toStdString(), ::testing::StartsWith("other.trace"));
  EXPECT_THAT(Head(), HasSubstr("less than the baseline's"));
  EXPECT_EQ(Cell(1, 2), "removed");
  ClickRow(1);  // the shown trace has none of its blocks
  EXPECT_EQ(Highlighted(), 0);
  Click("run.swap");
  EXPECT_EQ(window_->digest()->name, "recorded.trace");
}

TEST_F(CompareTest, MissingFileChangesNothing) {
  OpenRecorded();
  const auto before = window_->digest();
  window_->compareWith(folder_.filePath(QStringLiteral("missing.pickle")));
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "compare-failed");
  EXPECT_EQ(window_->digest(), before);
  EXPECT_FALSE(State()["baseline"].toBool());
}

TEST_F(CompareTest, DropOnTheRightHalfComparesTheFile) {
  OpenRecorded();
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(Other())});
  const QRect area = window_->centralWidget()->geometry();
  const QPoint left(area.left() + 20, area.center().y()), right(area.right() - 20, left.y());
  QObject* receiver = window_.get();
  QDragEnterEvent enter(left, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  receiver->event(&enter);
  EXPECT_TRUE(Find<QWidget>("dropZones")->isVisible());
  QDragMoveEvent move(right, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  receiver->event(&move);
  if (const QString folder = qEnvironmentVariable("VRAMSCOPE_PICTURES"); !folder.isEmpty())
    window_->grab().save(folder + QStringLiteral("/drop-zones.png"));
  QDropEvent drop(QPointF(right), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  receiver->event(&drop);
  EXPECT_FALSE(Find<QWidget>("dropZones")->isVisible());
  ASSERT_TRUE(WaitFor([this] { return State()["baseline"].toBool(); }));
  EXPECT_EQ(window_->digest()->name, "recorded.trace");
  EXPECT_EQ(State()["against"].toString(), "other.trace");
}

}  // namespace
}  // namespace vramscope::ui
