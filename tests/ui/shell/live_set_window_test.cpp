// Tests the page of the live set in the real window. At any time and with every grouping, its
// totals must equal those of the breakdown and the curve. Rows must select blocks in the timeline.
#include <gmock/gmock.h>

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QJsonArray>
#include <QLineEdit>
#include <algorithm>
#include <random>
#include <vector>

#include "tests/ui/panels/altered_trace.h"
#include "tests/ui/shell/recorded_window.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/explain/live_chart.h"
#include "ui/explain/live_model.h"
#include "ui/explain/live_tree.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using vramscope::testing::MakeRecordedTrace;

class LiveSetWindowTest : public testing::RecordedWindow {
 protected:
  void Show(const QString& file) {
    window_->openFile(file);
    ASSERT_TRUE(WaitFor([&] {
      return window_->digest() != nullptr && window_->settled() &&
             window_->documents().active().source.file == file.toStdString();
    }));
    window_->openPage(QStringLiteral("live-set"));
    ASSERT_TRUE(Idle());
  }
  void Show(const trace::Trace& trace) { Show(Write("live.trace", trace)); }
  QString Golden(const char* name) {
    return QStringLiteral(VRAMSCOPE_SOURCE_DIR "/tests/golden/recordings/") + QLatin1String(name);
  }
  QJsonObject Live() { return Page("live-set"); }
  TableView* View() { return Find<TableView>("liveTable"); }
  LiveModel* Model() { return static_cast<LiveModel*>(View()->model()); }
  void By(const char* way) {
    auto* by = Find<QComboBox>("liveBy");
    const int at = by->findText(QString::fromLatin1(way));
    ASSERT_GE(at, 0) << way;
    by->setCurrentIndex(at);
    ASSERT_TRUE(Idle());
  }
  void Filter(const char* text) {
    Find<QLineEdit>("liveFilter")->setText(QString::fromUtf8(text));
    ASSERT_TRUE(Idle());
  }
  void Press(Qt::Key key) {
    View()->setFocus();
    QTest::keyClick(View(), key);
  }
  // Returns the sum of the bytes of all groups or, if there are no groups, of all rows.
  uint64_t SumOfRows() {
    uint64_t sum = 0;
    for (int row = 0; row < Model()->rowCount(); ++row)
      if (Model()->isGroup(row) || Model()->rows()->groups().empty())
        sum += static_cast<uint64_t>(*Model()->cell(row, 1)->bytes);
    return sum;
  }
  // Moves the cursor to this time and checks that page, breakdown and curve have the same total.
  void ExpectEqualTotals(qint64 time) {
    window_->timelineWidget()->setCursorTime(time);
    ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
    const std::shared_ptr<const Digest> digest = window_->digest();
    const trace::EventIndex event = analysis::EventAtTime(*digest->trace, time);
    const auto point = analysis::PointAt(*digest->curves, event);
    const uint64_t allocated = point ? digest->curves->allocated[*point] : 0;
    const QJsonObject live = Live();
    EXPECT_EQ(live["event"].toDouble(), event);
    EXPECT_EQ(live["bytes"].toDouble(), static_cast<double>(allocated));
    EXPECT_EQ(live["allocated"].toDouble(), static_cast<double>(allocated));
    EXPECT_EQ(SumOfRows(), allocated) << live["by"].toString().toStdString();
    double parts = 0;
    for (const QJsonValue& part : State()["breakdown"].toObject()["parts"].toArray())
      parts += part.toObject()["bytes"].toDouble();
    EXPECT_EQ(parts, static_cast<double>(allocated));
  }
};

TEST_F(LiveSetWindowTest, TotalsMatchBreakdownAndCurveAtAnyTime) {
  std::vector<QString> files = {
      Write("recorded.trace", *MakeRecordedTrace({.steps = 3})),
      Write("synthetic.trace", *vramscope::testing::MakeSyntheticTrace({.layers = 4, .steps = 3})),
      Write("entries.trace", *vramscope::testing::WithoutTimes(*MakeRecordedTrace({.steps = 2}))),
      Golden("cs336_five_forwards.pickle.zst"),
      QStringLiteral(VRAMSCOPE_SOURCE_DIR "/resources/samples/gpt2.trace")};
  std::mt19937 random(32);
  for (const QString& file : files) {
    SCOPED_TRACE(file.toStdString());
    Show(file);
    const trace::Trace& trace = *window_->digest()->trace;
    std::uniform_int_distribution<int64_t> any_time(trace.begin_ns(), trace.end_ns());
    const auto* by = Find<QComboBox>("liveBy");
    for (int way = 0; way < by->count(); ++way) {
      By(by->itemText(way).toLatin1().constData());
      for (int i = 0; i < 3; ++i) ExpectEqualTotals(any_time(random));
    }
  }
}

TEST_F(LiveSetWindowTest, GroupsByAnExpression) {
  Show(*MakeRecordedTrace());
  auto* edit = Find<QLineEdit>("liveExpression");
  EXPECT_FALSE(edit->isVisible());
  By("by expression");
  EXPECT_TRUE(edit->isVisible());
  EXPECT_GT(Live()["groups"].toInt(), 0) << "without a text, the placeholder is the expression";
  edit->setText(QStringLiteral("category"));
  ASSERT_TRUE(Idle());
  const int by_category = Live()["groups"].toInt();
  EXPECT_EQ(Model()->headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(),
            QStringLiteral("Category"));
  edit->setText(QStringLiteral("category, phase:2"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Live()["count"].toString().toStdString(), HasSubstr("\"phase\" cannot have a \":\""));
  EXPECT_EQ(Live()["groups"].toInt(), by_category) << "the last valid groups stay";
  edit->setText(QStringLiteral("category, phase, size"));
  ASSERT_TRUE(Idle());
  const auto groups =
      analysis::GroupLive(*window_->digest()->trace, Model()->rows()->set(),
                          analysis::ParseGroupExpression("category, phase, size").value());
  ASSERT_EQ(Model()->rows()->groups().size(), groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    EXPECT_EQ(Model()->rows()->groups()[i].name, groups[i].name);
  EXPECT_EQ(Model()->headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(),
            QStringLiteral("Category, Phase, Size class"));
  By("by category");
  EXPECT_FALSE(edit->isVisible());
  EXPECT_EQ(Live()["groups"].toInt(), by_category);
}

TEST_F(LiveSetWindowTest, ExpandedGroupLinksBlocksToTheTimeline) {
  Show(*MakeRecordedTrace());
  By("by category");
  const auto* digest = window_->digest().get();
  // The page shows the peak, sorted by bytes.
  ASSERT_GT(Model()->rowCount(), 2);
  const int folded = Model()->rowCount();
  View()->selectRow(0);
  EXPECT_GT(State()["timeline"].toObject()["highlighted"].toDouble() +
                State()["timeline"].toObject()["marked"].toDouble(),
            0)
      << "the group's blocks are highlighted";
  const uint32_t count = Model()->rows()->groups()[0].count;
  Press(Qt::Key_Space);
  ASSERT_EQ(Model()->rowCount(), folded + static_cast<int>(count));
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i)
    bytes += static_cast<uint64_t>(*Model()->cell(1 + static_cast<int>(i), 1)->bytes);
  EXPECT_EQ(bytes, Model()->rows()->groups()[0].bytes) << "the blocks add up to the group";
  View()->selectRow(2);
  const trace::AllocationId second = Model()->allocationAt(2);
  EXPECT_EQ(window_->timelineWidget()->selection(), second);
  // A block that is selected in the timeline must become the current row.
  const trace::AllocationId third = Model()->allocationAt(3);
  window_->timelineWidget()->select(third);
  EXPECT_EQ(View()->currentIndex().row(), 3);
  // If the block is in a collapsed group, the group must become the current row.
  const trace::AllocationId other = Model()->allocationAt(1 + static_cast<int>(count));
  window_->timelineWidget()->select(other);
  EXPECT_EQ(View()->currentIndex().row(), 1 + static_cast<int>(count));
  // The group must stay expanded when the cursor moves.
  window_->timelineWidget()->setCursorTime(digest->trace->end_ns());
  ASSERT_TRUE(Idle());
  bool unfolded = false;
  for (int row = 0; row < Model()->rowCount(); ++row) unfolded = unfolded || Model()->unfolded(row);
  const auto& groups = Model()->rows()->groups();
  const bool shown =
      std::ranges::any_of(groups, [](const auto& g) { return g.name == "Activation"; });
  EXPECT_EQ(unfolded, shown);
  window_->timelineWidget()->setCursorTime(-1);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Model()->unfolded(0));
  View()->selectRow(0);
  Press(Qt::Key_Return);
  EXPECT_EQ(Model()->rowCount(), folded);
}

TEST_F(LiveSetWindowTest, FiltersSortsAndCopies) {
  Show(*MakeRecordedTrace());
  By("block by block");
  const int all = Model()->rowCount();
  ASSERT_GT(all, 3);
  Filter("size > 4 MiB and category = activation");
  EXPECT_GT(Model()->rowCount(), 0);
  EXPECT_LT(Model()->rowCount(), all);
  for (int row = 0; row < Model()->rowCount(); ++row) {
    EXPECT_GT(*Model()->cell(row, 1)->bytes, 4 << 20);
    EXPECT_EQ(Model()->cell(row, 5)->text, "Activation");
  }
  EXPECT_LT(Live()["bytes"].toDouble(), Live()["allocated"].toDouble());
  EXPECT_THAT(Live()["count"].toString().toStdString(), HasSubstr(" of "));
  Filter("size >");
  EXPECT_THAT(Live()["count"].toString().toStdString(), HasSubstr("a value is missing"));
  Filter("no such thing");
  EXPECT_EQ(Model()->rowCount(), 0);
  EXPECT_THAT(View()->dumpState()["empty"].toString().toStdString(), HasSubstr("No live block"));
  Filter("");
  EXPECT_EQ(Model()->rowCount(), all);
  View()->sortByColumn(7, Qt::AscendingOrder);
  ASSERT_TRUE(Idle());
  double before = Model()->cell(0, 7)->sort;
  for (int row = 1; row < Model()->rowCount(); ++row) {
    const double age = Model()->cell(row, 7)->sort;
    EXPECT_LE(before, age) << "youngest first";
    before = age;
  }
  View()->clearSelection();
  window_->actionRegistry()->Find(QStringLiteral("edit.copy-csv"))->trigger();
  const QStringList lines =
      QGuiApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), all + 1);
  EXPECT_THAT(lines[0].toStdString(), HasSubstr("Block,Bytes [B],Share [%],Blocks,Requested [B]"));
  window_->actionRegistry()->Find(QStringLiteral("edit.copy-markdown"))->trigger();
  EXPECT_THAT(QGuiApplication::clipboard()->text().toStdString(), HasSubstr("| Block | Bytes |"));
  // One command opens the page. Another puts the focus into its filter.
  window_->openPage(QStringLiteral("phases"));
  window_->actionRegistry()->Find(QStringLiteral("explain.live-set"))->trigger();
  EXPECT_TRUE(View()->isVisible());
  window_->actionRegistry()->Find(QStringLiteral("edit.filter"))->trigger();
  EXPECT_TRUE(Find<QLineEdit>("liveFilter")->hasFocus());
}

TEST_F(LiveSetWindowTest, EachGroupingListsItsGroups) {
  Show(*MakeRecordedTrace());
  const auto names = [this](const char* way) {
    By(way);
    std::string all;
    for (int row = 0; row < Model()->rowCount(); ++row) all += Model()->cell(row, 0)->text + "; ";
    return all;
  };
  EXPECT_THAT(names("by file"), HasSubstr("model.py; "));
  EXPECT_THAT(names("by size class"), HasSubstr("<= 10 MiB; "));
  EXPECT_THAT(names("by age"), HasSubstr("(before the recording); "));
  EXPECT_THAT(names("by annotation"), HasSubstr("layer; "));
  EXPECT_THAT(names("by call site"), HasSubstr("model.py:42 forward; "));
}

// Areas must be proportional to bytes, a box must contain its children, and boxes must not overlap.
TEST_F(LiveSetWindowTest, ChartAreasMatchBytes) {
  Show(*MakeRecordedTrace());
  By("by module");
  auto* as = Find<QComboBox>("liveAs");
  auto* chart = Find<LiveChart>("liveChart");
  for (const int kind : {1, 2}) {
    as->setCurrentIndex(kind);
    ASSERT_TRUE(Idle());
    ASSERT_TRUE(chart->isVisible());
    EXPECT_FALSE(View()->isVisible());
    const LiveTree& tree = *chart->tree();
    EXPECT_EQ(static_cast<double>(tree.nodes[0].bytes), Live()["allocated"].toDouble());
    EXPECT_EQ(tree.blocks.size(), Model()->rows()->blocks().size());
    for (const LiveTree::Node& node : tree.nodes) {
      uint64_t bytes = 0;
      for (uint32_t i = node.first; i < node.first + node.count; ++i)
        bytes += window_->digest()->trace->allocations.bytes_rounded[tree.blocks[i].value];
      EXPECT_EQ(bytes, node.bytes) << node.name;
    }
    const std::vector<ChartBox> boxes = chart->boxes();
    ASSERT_GT(boxes.size(), 3u);
    for (const ChartBox& box : boxes) {
      EXPECT_GE(box.x, -0.01f);
      EXPECT_LE(box.x + box.w, static_cast<float>(chart->width()) + 0.01f);
      EXPECT_LE(box.y + box.h, static_cast<float>(chart->height()) + 0.01f);
      for (const ChartBox& other : boxes) {
        if (other.node == box.node || other.node == 0 || box.node == 0 ||
            tree.nodes[other.node].parent != tree.nodes[box.node].parent)
          continue;
        const bool apart = other.x >= box.x + box.w - 0.01f || box.x >= other.x + other.w - 0.01f ||
                           other.y >= box.y + box.h - 0.01f || box.y >= other.y + other.h - 0.01f;
        EXPECT_TRUE(apart) << chart->nameOf(box.node).toStdString() << " and "
                           << chart->nameOf(other.node).toStdString();
        // The width of a box (in a treemap, its area) must be proportional to the bytes.
        const double share = static_cast<double>(tree.nodes[other.node].bytes) /
                             static_cast<double>(tree.nodes[box.node].bytes);
        const double drawn = kind == 1 ? other.w / box.w : other.w * other.h / (box.w * box.h);
        if (std::min({box.w, other.w, box.h, other.h}) > 10) {
          EXPECT_NEAR(drawn, share, 0.02 * share);
        }
      }
    }
    // A click must mark a box and select. A double click must open it. Backspace must go back.
    const ChartBox& inner = boxes[1];
    const QPoint at(static_cast<int>(inner.x + 3), static_cast<int>(inner.y + 3));
    QTest::mouseClick(chart, Qt::LeftButton, {}, at);
    EXPECT_TRUE(window_->timelineWidget()->selection().valid());
    EXPECT_EQ(Live()["chart"].toObject()["chosen"].toString(), chart->nameOf(inner.node));
    QTest::mouseDClick(chart, Qt::LeftButton, {}, at);
    EXPECT_NE(chart->root(), 0u);
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_Backspace);
    EXPECT_EQ(chart->root(), 0u);
    Filter("category = activation");
    EXPECT_EQ(static_cast<double>(chart->tree()->nodes[0].bytes), Live()["bytes"].toDouble());
    EXPECT_LT(Live()["bytes"].toDouble(), Live()["allocated"].toDouble());
    Filter("no such thing");
    EXPECT_TRUE(chart->boxes().empty());
    Filter("");
  }
  as->setCurrentIndex(1);
  ASSERT_TRUE(Idle());
  QStringList names;
  for (const ChartBox& box : chart->boxes()) names << chart->nameOf(box.node);
  EXPECT_TRUE(names.contains(QStringLiteral("train.py:10 step"))) << names.join('|').toStdString();
  EXPECT_TRUE(names.contains(QStringLiteral("model.py:42 forward")));
}

TEST_F(LiveSetWindowTest, ShowsHintWithoutARunAndNoAgeForASnapshot) {
  window_->openPage(QStringLiteral("live-set"));
  EXPECT_THAT(Live()["head"].toString().toStdString(), HasSubstr("No run yet"));
  EXPECT_EQ(Model()->rowCount(), 0);
  Show(*vramscope::testing::MakeState());
  EXPECT_GT(Model()->rowCount(), 0);
  EXPECT_EQ(SumOfRows(), static_cast<uint64_t>(Live()["allocated"].toDouble()));
  EXPECT_TRUE(View()->isColumnHidden(static_cast<int>(LiveColumn::kAge)))
      << "a state at one time has no age";
}

}  // namespace
}  // namespace vramscope::ui
