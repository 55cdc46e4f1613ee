// Tests recorded files in the window: how they are opened, previews, texts, and the explain pages.
// Runs under Xvfb (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSemaphore>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "profiler/trace/processes.h"
#include "profiler/trace/writer.h"
#include "tests/ui/shell/held_thread_pool.h"
#include "tests/ui/shell/recorded_trace.h"
#include "tests/ui/shell/recorded_window.h"
#include "ui/explain/curve_plot.h"
#include "ui/explain/explain_panel.h"
#include "ui/explain/explain_rows.h"
#include "ui/explain/fragmentation_page.h"
#include "ui/explain/segment_map_widget.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/main_window.h"
#include "ui/shell/open_part.h"
#include "ui/shell/open_part_dialog.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

class RecordedFileTest : public testing::RecordedWindow {};

TEST_F(RecordedFileTest, ShowsRecordingFactsInPlaceOfControls) {
  OpenRecorded();
  const QJsonObject state = State();
  EXPECT_TRUE(state["recorded"].toBool());
  EXPECT_EQ(Chip("backend"), "recorded file");
  EXPECT_EQ(Chip("inferred"), "categories inferred");
  EXPECT_EQ(Chip("out_of_memory"), "out of memory");
  EXPECT_EQ(Chip("fits"), "");
  // The trace first lists the segments and then the blocks that are older than the recording.
  // Segments whose blocks are not listed yet must not count as unused.
  EXPECT_LT(window_->digest()->unused, window_->digest()->summary.peak.reserved);
  const QJsonObject facts = state["recording"].toObject()["facts"].toObject();
  EXPECT_EQ(facts["kind"].toString(), "CUDA memory snapshot (pickle, protocol 4)");
  EXPECT_EQ(facts["steps"].toString(), "4, inferred");
  EXPECT_EQ(facts["older blocks"].toString(), "1");
  EXPECT_EQ(facts["call stacks"].toString(), "3");
  EXPECT_FALSE(window_->actionRegistry()->Find(QStringLiteral("technique.sgd"))->isEnabled());
  // Annotations have a lane.
  bool annotations = false;
  for (const QJsonValue& lane : state["timeline"].toObject()["lanes"].toArray())
    annotations |=
        lane.toObject()["lane"].toString() == "annotations" && lane.toObject()["rows"].toInt() == 2;
  EXPECT_TRUE(annotations);
}

TEST_F(RecordedFileTest, PlanningFromARecordingRestoresControls) {
  OpenRecorded();
  QTest::mouseClick(Find<QPushButton>("recordingPlan"), Qt::LeftButton);
  EXPECT_FALSE(State()["recorded"].toBool());
  window_->actionRegistry()->Find(QStringLiteral("run.again"))->trigger();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "") << "the question is answered";
  EXPECT_FALSE(State()["recorded"].toBool());
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_EQ(Chip("backend"), "plan · modelled");
  EXPECT_EQ(Chip("inferred"), "");
}

TEST_F(RecordedFileTest, SelectionShowsItsRuleAndStack) {
  OpenRecorded();
  const trace::Trace& trace = *window_->digest()->trace;
  uint32_t id = 0;
  for (id = 0; id < trace.allocations.size(); ++id)
    if (trace.events.StackOf(trace.allocations.alloc_event[id]).value == 1) break;
  window_->timelineWidget()->select({id});
  const QJsonObject selection = State()["selection"].toObject();
  EXPECT_EQ(selection["title"].toString(), "model.py:42 forward");
  EXPECT_FALSE(selection["facts"].toObject()["inferred by"].toString().isEmpty());
  // Python frames come first, followed by all others. The copied text must have whole paths.
  EXPECT_EQ(selection["stack"].toString(),
            "forward  /home/me/run/model.py:42\nstep  /home/me/run/train.py:10\n"
            "c10::Allocator  /build/c10/core/Allocator.cpp:7\n");
  QTest::mouseClick(Find<QToolButton>("copyStack"), Qt::LeftButton);
  EXPECT_EQ(QApplication::clipboard()->text(), selection["stack"].toString());
}

// Replaces the function that opens files. It waits for the test before each of its steps.
struct HeldOpen {
  QSemaphore first, last;
  std::shared_ptr<const trace::Trace> part, whole;
  absl::Status status;
  OpenFunction Function() {
    return [this](const std::string&,
                  const importers::OpenOptions& options) -> absl::StatusOr<TracePtr> {
      options.progress(0.25);
      first.acquire();
      options.preview(part);
      options.progress(0.5);
      last.acquire();
      if (options.cancel->load()) return absl::CancelledError("cancelled");
      if (!status.ok()) return status;
      return whole;
    };
  }
};

TEST_F(RecordedFileTest, ShowsPreviewWhileLoading) {
  HeldOpen held;
  held.part = testing::MakeRecordedTrace({.steps = 1, .out_of_memory = false});
  held.whole = testing::MakeRecordedTrace({.steps = 4});
  Open(held.Function());
  window_->openFile(QStringLiteral("/nowhere/large.pickle"));
  ASSERT_TRUE(
      WaitFor([this] { return State()["loading"].toObject()["fraction"].toDouble() == 0.25; }));
  EXPECT_TRUE(Find<QToolButton>("cancel")->isVisible());
  held.first.release();
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr; }));
  EXPECT_TRUE(State()["partial"].toBool());
  EXPECT_TRUE(State()["recorded"].toBool());
  EXPECT_TRUE(State()["loading"].isObject());
  // The cursor must not move when the complete trace replaces the preview.
  const int64_t begin = held.part->begin_ns();
  window_->timelineWidget()->setCursorTime(begin + 9'000'000);
  held.last.release();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_FALSE(State()["partial"].toBool());
  EXPECT_EQ(window_->digest()->trace, held.whole);
  EXPECT_EQ(window_->timelineWidget()->cursorTime(), begin + 9'000'000);
  EXPECT_FALSE(State()["ghost"].toBool());  // a preview is not a run to compare with
  EXPECT_FALSE(Find<QToolButton>("cancel")->isVisible());
}

std::shared_ptr<const trace::Trace> OfTwoDevices(const testing::RecordedOptions& options) {
  const std::vector<trace::ProcessTrace> parts = {
      {.name = "rank 0", .trace = testing::MakeRecordedTrace(options)},
      {.name = "rank 1", .trace = testing::MakeRecordedTrace(options)}};
  return trace::JoinProcesses(parts).value();
}

// While the sums of the second preview are computed, the user chooses another device in the first
// preview. So the second preview is never shown. The third must be shown.
TEST_F(RecordedFileTest, SupersededPreviewDoesNotBlockLaterOnes) {
  // Traces with at least this many events are processed in the background.
  constexpr uint32_t kBackgroundEvents = 20'000;
  const auto first = OfTwoDevices({.steps = 1, .out_of_memory = false}),
             second = OfTwoDevices({.steps = 8, .layers = 500, .out_of_memory = false}),
             third = OfTwoDevices({.steps = 2, .out_of_memory = false});
  ASSERT_LT(first->events.size(), kBackgroundEvents);
  ASSERT_GT(second->events.size(), kBackgroundEvents);
  QSemaphore go_on, given, end;
  Open([&](const std::string&, const importers::OpenOptions& options) -> absl::StatusOr<TracePtr> {
    options.preview(first);
    go_on.acquire();
    options.preview(second);
    given.release();
    // Offers the third preview repeatedly: it is refused while other sums are computed.
    while (!end.tryAcquire(1, 5)) options.preview(third);
    return third;
  });
  window_->openFile(QStringLiteral("/nowhere/large.pickle"));
  ASSERT_TRUE(
      WaitFor([&] { return window_->digest() != nullptr && window_->digest()->whole == first; }));
  // Also waits for the panels beside the canvas: only after they are updated, the next preview is
  // accepted.
  QTest::qWait(50);
  {
    const testing::HeldThreadPool held;
    go_on.release();
    given.acquire();
    QCoreApplication::processEvents();  // now the computation of the sums of `second` is queued
    window_->showDevice(1);
    ASSERT_TRUE(WaitFor([&] { return window_->digest()->device == 1; }));
    EXPECT_EQ(window_->digest()->whole, first);
  }
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_->digest()->whole == third; }, 10'000));
  EXPECT_TRUE(State()["partial"].toBool());
  end.release();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_FALSE(State()["partial"].toBool());
}

// Regression test: the status bar said "Computing memory use" until the next message.
TEST_F(RecordedFileTest, StatusReturnsAfterASlowComputation) {
  QSemaphore opening, go_on;
  // A trace of at least 20,000 events is processed in the background.
  const TracePtr trace =
      testing::MakeRecordedTrace({.steps = 16, .layers = 500, .out_of_memory = false});
  ASSERT_GE(trace->events.size(), 20'000u);
  Open([&](const std::string&, const importers::OpenOptions&) -> absl::StatusOr<TracePtr> {
    opening.release();
    go_on.acquire();
    return trace;
  });
  const auto status = [this] { return State()["status"].toString(); };
  window_->openFile(QStringLiteral("/nowhere/large.pickle"));
  opening.acquire();
  {
    const testing::HeldThreadPool held;
    go_on.release();
    EXPECT_TRUE(
        WaitFor([&] { return status().startsWith(QLatin1String("Computing memory use")); }));
  }
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_TRUE(WaitFor([&] {
    return status().startsWith(QLatin1String("Opened /nowhere/large.pickle"));
  })) << status().toStdString();
}

TEST_F(RecordedFileTest, CancelRestoresThePreviousRun) {
  HeldOpen held;
  held.part = testing::MakeRecordedTrace({.steps = 1});
  held.whole = held.part;
  Open(held.Function());
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  const auto before = window_->digest();
  window_->openFile(QStringLiteral("/nowhere/large.pickle"));
  held.first.release();
  ASSERT_TRUE(WaitFor([&] { return window_->digest() != before; }));
  QTest::mouseClick(Find<QToolButton>("cancel"), Qt::LeftButton);
  held.last.release();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(window_->digest(), before);
  EXPECT_FALSE(State()["recorded"].toBool());
  EXPECT_THAT(State()["status"].toString().toStdString(), ::testing::HasSubstr("cancelled"));
  EXPECT_TRUE(State()["banner"].toObject().isEmpty());
}

TEST_F(RecordedFileTest, FailedOpenReportsTheCause) {
  HeldOpen held;
  held.part = testing::MakeRecordedTrace({.steps = 1});
  held.status = absl::DataLossError("byte 4,711: opcode GLOBAL names os.system, which is not read");
  Open(held.Function());
  window_->openFile(QStringLiteral("/nowhere/bad.pickle"));
  held.first.release();
  held.last.release();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "open-failed");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("byte 4,711"));
  EXPECT_EQ(Banner("action"), "");  // opening a part would not help with a damaged file
  EXPECT_EQ(State()["recent"].toArray().size(), 0);
  EXPECT_EQ(window_->digest(), nullptr);
}

TEST_F(RecordedFileTest, PickleWithCodeIsReportedAsUnsafeNotDamaged) {
  QFile evil(folder_.filePath(QStringLiteral("evil.pickle")));
  ASSERT_TRUE(evil.open(QIODevice::WriteOnly));
  evil.write(QByteArray::fromHex("80048c05706f736978948c0673797374656d9493942e"));  // posix.system
  evil.close();
  window_->openFile(evil.fileName());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "open-failed");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("posix.system"));
  EXPECT_THAT(Banner("text").toStdString(),
              ::testing::HasSubstr("Do not load the file with Python"));
  EXPECT_EQ(Banner("action"), "");
}

TEST_F(RecordedFileTest, EmptyTablesShowHints) {
  const auto empty = [this](const char* table) {
    return State()["tables"].toObject()[QLatin1String(table)].toObject()["empty"].toString();
  };
  EXPECT_THAT(empty("phases").toStdString(), ::testing::HasSubstr("Ctrl+O"));
  OpenRecorded();
  EXPECT_EQ(empty("phases"), "");
  window_->findChild<QLineEdit*>(QStringLiteral("allocationFilter"))
      ->setText(QStringLiteral("nobody"));
  EXPECT_THAT(empty("allocations").toStdString(), ::testing::HasSubstr("matches the search"));
  // The filter must also match frames of the program.
  window_->findChild<QLineEdit*>(QStringLiteral("allocationFilter"))
      ->setText(QStringLiteral("metrics.py"));
  EXPECT_EQ(State()["tables"].toObject()["allocations"].toObject()["rows"].toInt(), 4);
}

TEST_F(RecordedFileTest, ShowsThreeWarningsAndLogsAll) {
  HeldOpen held;
  auto warned = std::make_shared<trace::Trace>(*testing::MakeRecordedTrace({.steps = 1}));
  warned->warnings = {"the ring was full: the oldest entries are lost", "two", "three", "four"};
  held.part = held.whole = warned;
  Open(held.Function());
  held.first.release();
  held.last.release();
  window_->openFile(QStringLiteral("/nowhere/ring.pickle"));
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "file-warnings");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("ring was full"));
  EXPECT_THAT(Banner("text").toStdString(),
              ::testing::HasSubstr("; two; three; 1 more in the Log"));
  const std::string log = State()["log"].toString().toStdString();
  for (const char* line : {"ring.pickle: The ring was full", "ring.pickle: two",
                           "ring.pickle: three", "ring.pickle: four"})
    EXPECT_THAT(log, ::testing::HasSubstr(line));
}

TEST_F(RecordedFileTest, OpensJsonAsConfigOnlyWhenItLooksLikeOne) {
  QStringList opened;
  Open([&](const std::string& path, const importers::OpenOptions&) -> absl::StatusOr<TracePtr> {
    opened << QString::fromStdString(path);
    return absl::InvalidArgumentError("not now");
  });
  QFile kineto(folder_.filePath(QStringLiteral("kineto.json")));
  ASSERT_TRUE(kineto.open(QIODevice::WriteOnly));
  kineto.write(R"({"schemaVersion": 1, "traceEvents": []})");
  kineto.close();
  QFile config(folder_.filePath(QStringLiteral("config.json")));
  ASSERT_TRUE(config.open(QIODevice::WriteOnly));
  config.write(R"({"model_type": "qwen2", "hidden_size": "no"})");
  config.close();
  window_->openFile(kineto.fileName());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(opened.size(), 1);
  window_->openFile(config.fileName());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(opened.size(), 1);
}

TEST(OpenPartTest, ParsesAndValidatesFields) {
  const auto part = ParsePart(
      {.device = 1, .first_entry = "100,000", .last_entry = "2 M", .from = "1.5 s", .to = "2 min"});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->device, 1);
  EXPECT_EQ(part->first_entry, 100'000u);
  EXPECT_EQ(part->last_entry, 2'000'000u);
  EXPECT_EQ(part->from_ns, 1'500'000'000);
  EXPECT_EQ(part->to_ns, 120'000'000'000);
  EXPECT_TRUE(ParsePart({}).ok());
  for (const PartText& bad :
       {PartText{.first_entry = "-1"}, PartText{.last_entry = "x"}, PartText{.from = "1 parsec"},
        PartText{.first_entry = "5", .last_entry = "4"}, PartText{.from = "2 s", .to = "1 s"},
        PartText{.last_entry = "1e300"}})
    EXPECT_FALSE(ParsePart(bad).ok());
  EXPECT_THAT(ParsePart({.from = "soon"}).status().message().data(), ::testing::HasSubstr("from"));
}

TEST_F(RecordedFileTest, OpensAPartOfAFile) {
  importers::OpenOptions got;
  Open([&](const std::string&, const importers::OpenOptions& o) -> absl::StatusOr<TracePtr> {
    got = o;
    return testing::MakeRecordedTrace();
  });
  window_->openFile(Write("whole.trace", *testing::MakeRecordedTrace()));
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  window_->actionRegistry()->Find(QStringLiteral("file.open-part"))->trigger();
  auto* dialog = window_->findChild<OpenPartDialog*>();
  ASSERT_NE(dialog, nullptr);
  dialog->findChild<QLineEdit*>(QStringLiteral("partLast"))->setText(QStringLiteral("3 k"));
  dialog->findChild<QLineEdit*>(QStringLiteral("partFrom"))->setText(QStringLiteral("nonsense"));
  EXPECT_THAT(dialog->findChild<QLabel*>(QStringLiteral("partProblem"))->text().toStdString(),
              ::testing::HasSubstr("nonsense"));
  dialog->findChild<QLineEdit*>(QStringLiteral("partFrom"))->setText(QStringLiteral("1 ms"));
  QMetaObject::invokeMethod(dialog, "accept");
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(got.last_entry, 3000u);
  EXPECT_EQ(got.from_ns, 1'000'000);
}

TEST_F(RecordedFileTest, RunsDoNotWidenANarrowWindow) {
  OpenRecorded();
  window_->resize(1024, 768);
  QTest::qWait(50);
  EXPECT_EQ(window_->width(), 1024);
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  QTest::qWait(50);
  EXPECT_EQ(window_->width(), 1024);
}

TEST_F(RecordedFileTest, ExplainPagesComputeWhenFirstShown) {
  OpenRecorded();
  EXPECT_EQ(Page("fragmentation")["segments"].toInt(), 0);
  EXPECT_EQ(Page("call-sites")["table"].toObject()["rows"].toInt(), 0);
  for (const auto& info : window_->explainPanel()->pages()) {
    window_->actionRegistry()->Find(QStringLiteral("explain.") + QLatin1String(info.id))->trigger();
    ASSERT_TRUE(Idle());
    EXPECT_EQ(State()["tables"].toObject()["current"].toString(), info.title);
    EXPECT_FALSE(Page(info.id)["head"].toString().isEmpty()) << info.id;
    // Images for visual checks.
    if (const QString folder = qEnvironmentVariable("VRAMSCOPE_PICTURES"); !folder.isEmpty()) {
      QTest::qWait(50);
      window_->grab().save(QStringLiteral("%1/page-%2.png").arg(folder, QLatin1String(info.id)));
    }
  }
}

// A Chrome trace has the total of reserved memory, but no segments. The page must say that, not
// that nothing is reserved.
TEST_F(RecordedFileTest, SegmentMapSaysWhyThereAreNoSegments) {
  OpenRecorded();
  const QString json = folder_.filePath(QStringLiteral("recorded.json"));
  window_->exportChrome(json);
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  window_->openFile(json);
  ASSERT_TRUE(WaitFor([this] {
    return !window_->busy() &&
           State()["title"].toString().startsWith(QLatin1String("recorded.json"));
  }));
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Find<SegmentMapWidget>("segmentMap")->whyEmpty().toStdString(),
              ::testing::HasSubstr("Kineto trace records how much memory is reserved, not where"));
}

TEST_F(RecordedFileTest, SegmentMapFollowsCursorAndClickSelects) {
  OpenRecorded();
  window_->openPage(QStringLiteral("fragmentation"));
  ASSERT_TRUE(Idle());
  const trace::Trace& trace = *window_->digest()->trace;
  const int at_peak = Page("fragmentation")["segments"].toInt();
  EXPECT_GT(at_peak, 2);
  window_->timelineWidget()->setCursorTime(
      trace.events.time_ns[trace.recording_begin]);  // only the older segment
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Page("fragmentation")["segments"].toInt(), 1);
  auto* map = Find<SegmentMapWidget>("segmentMap");
  for (const SegmentMap::Piece& p : map->map().pieces()) {
    const auto& piece = map->map().segments()[p.segment].pieces[p.piece];
    const QPoint at(static_cast<int>(p.rect.x + p.rect.w / 2), static_cast<int>(p.rect.y + 4));
    EXPECT_FALSE(map->textAt(at).isEmpty());
    if (!piece.allocation.valid()) continue;
    QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, at);
    EXPECT_EQ(window_->timelineWidget()->selection(), piece.allocation);
  }
  window_->timelineWidget()->setCursorTime(-1);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Page("fragmentation")["segments"].toInt(), at_peak);
}

TEST_F(RecordedFileTest, WhatIfReplaysWithOtherSettings) {
  OpenRecorded({.out_of_memory = false});
  window_->openPage(QStringLiteral("what-if"));
  auto* conf = Find<QLineEdit>("allocConf");
  conf->setText(QStringLiteral("expandable_segments:True"));
  QTest::keyClick(conf, Qt::Key_Return);
  ASSERT_TRUE(Idle());
  EXPECT_GT(Page("what-if")["points"].toInt(), 0);
  // There are four rows: the recording, the model, the model after it has allocated the older block
  // again, and the model with these settings.
  EXPECT_EQ(Page("what-if")["table"].toObject()["rows"].toInt(), 4);
  EXPECT_THAT(Page("what-if")["head"].toString().toStdString(),
              ::testing::HasSubstr("expandable_segments:True"));
}

TEST_F(RecordedFileTest, WhatIfRejectsUnknownSettings) {
  OpenRecorded();
  window_->openPage(QStringLiteral("what-if"));
  auto* conf = Find<QLineEdit>("allocConf");
  conf->setText(QStringLiteral("max_split_sice_mb:128"));
  EXPECT_FALSE(Page("what-if")["can_replay"].toBool());
  EXPECT_FALSE(Page("what-if")["problem"].toString().isEmpty());
  conf->setText(QStringLiteral("max_split_size_mb:128"));
  EXPECT_TRUE(Page("what-if")["can_replay"].toBool());
  EXPECT_EQ(Page("what-if")["problem"].toString(), "");
}

// Returns segments in two pools, with blocks and holes. One is too large for one row of the map.
std::vector<explain::SegmentView> Segments() {
  using Use = explain::SegmentView::Use;
  std::vector<explain::SegmentView> out;
  uint64_t address = 1 << 20;
  const auto add = [&](trace::Pool pool, uint64_t bytes, uint32_t first) {
    explain::SegmentView s;
    s.segment = {static_cast<uint32_t>(out.size())};
    s.address = address;
    s.bytes = bytes;
    s.pool = pool;
    s.live_bytes = bytes / 2;
    s.pieces = {{address, bytes / 4, {first}, Use::kLive},
                {address + bytes / 4, bytes / 2, {}, Use::kFree},
                {address + bytes / 4 * 3, bytes / 4, {first + 1}, Use::kLive}};
    address += bytes;
    out.push_back(s);
  };
  add(trace::Pool::kSmall, 2 << 20, 0);
  add(trace::Pool::kLarge, 20 << 20, 2);
  add(trace::Pool::kLarge, 512 << 20, 4);
  add(trace::Pool::kSmall, 2 << 20, 6);
  return out;
}

TEST(SegmentMapTest, WidthsMatchBytesWithoutOverlap) {
  const SegmentMap map(Segments(), 600, 200);
  EXPECT_LE(map.height(), 200);
  EXPECT_EQ(map.titles().size(), 2u);
  // Areas must be proportional to bytes: the widths of blocks and holes must add up to the size of
  // the segment, and all segments but tiny ones must have the same scale.
  std::vector<double> width(map.segments().size());
  for (const auto& p : map.pieces()) width[p.segment] += p.rect.w;
  const double scale = 600.0 / static_cast<double>(map.bytes_per_row());
  for (size_t s = 0; s < width.size(); ++s)
    EXPECT_NEAR(width[s], std::max(3.0, static_cast<double>(map.segments()[s].bytes) * scale), 0.5);
  // Blocks must not overlap, and At() must find each at its position.
  for (const auto& p : map.pieces()) {
    EXPECT_GE(p.rect.x, 0);
    EXPECT_LE(p.rect.right(), 600.5);
    const auto hit = map.At(p.rect.x + p.rect.w / 2, p.rect.y + 1);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->segment, p.segment);
    EXPECT_EQ(hit->piece, p.piece);
  }
  EXPECT_FALSE(map.At(5, 5)) << "a title is no block";
}

TEST(SegmentMapTest, AcceptsNoSegmentsAndTinySizes) {
  EXPECT_EQ(SegmentMap({}, 600, 200).height(), 0);
  EXPECT_TRUE(SegmentMap(Segments(), 2, 2).pieces().empty());
  EXPECT_GT(SegmentMap(Segments(), 600, 10).height(), 10) << "rows stay readable: it scrolls";
}

TEST(CurveColumnsTest, KeepsPeaksAndCarriesValuesForward) {
  const std::vector<CurvePoint> curve = {{10, 5}, {20, 9}, {21, 2}, {90, 7}};
  const std::vector<uint64_t> columns = ColumnsOf(curve, 0, 100, 10);
  EXPECT_EQ(columns, (std::vector<uint64_t>{0, 5, 9, 2, 2, 2, 2, 2, 2, 7}));
  EXPECT_EQ(ColumnsOf(curve, 50, 60, 2), (std::vector<uint64_t>{2, 2}));
  EXPECT_TRUE(ColumnsOf(curve, 0, 100, 0).empty());
}

TEST(SparklineTest, KeepsPeaks) {
  EXPECT_EQ(Sparkline({0, 8, 0, 4}, 10), "▁█▁▅");
  EXPECT_EQ(Sparkline({0, 0, 0, 8, 0, 0}, 2), "▁█");
  EXPECT_EQ(Sparkline({}, 4), "");
}

}  // namespace
}  // namespace vramscope::ui
