// What the window shows: results of runs and files, and the panels around the canvas.
#include <QAbstractSpinBox>
#include <QApplication>
#include <QDateTime>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTime>
#include <algorithm>
#include <set>

#include "profiler/base/i18n.h"
#include "profiler/program/verdict.h"
#include "profiler/run/seq.h"
#include "profiler/trace/catch_status.h"
#include "profiler/trace/processes.h"
#include "profiler/trace/reader.h"
#include "ui/explain/explain_panel.h"
#include "ui/jobs/release_later.h"
#include "ui/notes/note_store.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/allocations_panel.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/phases_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/selection_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/techniques.h"
#include "ui/program/program_runner.h"
#include "ui/shell/fit_banner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/recorded_model.h"
#include "ui/shell/savings.h"
#include "ui/shell/tour.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lane_stack.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// Progress is not shown earlier than this, because most toggles are planned faster.
constexpr int kBusyDelayMs = 250;
// Savings are planned after this delay, because the user may soon toggle again, and because the
// timeline is still being animated.
constexpr int kSavingsDelayMs = 250;
constexpr int kProgressPollMs = 100;
constexpr int kPanelsDelayMs = 8;  // half a frame
// A trace with at most this many events is digested on the UI thread, which is just as fast.
constexpr uint32_t kDigestInline = 20'000;

// Returns the message without its full stop, because the caller continues the sentence.
QString Text(const absl::Status& status) {
  QString text = ToQString(std::string(status.message()));
  while (text.endsWith(QLatin1Char('.'))) text.chop(1);
  return text;
}

struct DigestAndIndexes {
  std::shared_ptr<const Digest> digest;
  std::shared_ptr<const timeline::TimelineData> indexes;  // null: the canvas builds its own indexes
};

// Makes the digest and the indexes. To be called on a pool thread.
DigestAndIndexes DigestBeside(const std::shared_ptr<const trace::Trace>& trace,
                              const std::string& file, std::optional<uint8_t> device,
                              const std::shared_ptr<const Digest>& earlier) {
  const bool several = analysis::DevicesOf(*trace).size() > 1;
  if (!several && earlier != nullptr && trace->events.GoOnFrom(earlier->trace->events))
    return {MakeDigest(trace, file, device,
                       std::make_shared<const analysis::MemoryCurves>(
                           analysis::ContinueCurves(*trace, *earlier->trace, *earlier->curves))),
            nullptr};
  if (several || trace->events.size() + trace->activities.size() >
                     timeline::TimelineWidget::kBuildInBackground)
    return {MakeDigest(trace, file, device), nullptr};
  // Build the canvas's indexes and the digest in parallel, from the same curves. (For a larger
  // trace, the canvas builds the indexes itself. It shows the old trace until they are ready.)
  const auto curves =
      std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*trace));
  DigestAndIndexes made;
  timeline::Crew(1).Do(2, [&](size_t part) {
    if (part == 0) {
      made.digest = MakeDigest(trace, file, device, curves);
      return;
    }
    // If memory runs out here, the canvas builds the indexes later, and reports it if that fails
    // too.
    trace::CatchStatus([&] {
      made.indexes = timeline::TimelineData::Build(trace, curves);
    }).IgnoreError();
  });
  return made;
}

}  // namespace

// Hiding a track is easy to do by accident, with a single key, so Ctrl+Z can undo it. Folding and
// resizing have no undo step, because they are easy to change back.
void MainWindow::LanesChanged() {
  const QString before = std::exchange(lanes_, timeline_->laneSettings());
  settings_->setValue(QStringLiteral("lanes"), lanes_);
  const auto hidden = [](const QString& text) {
    std::set<std::string> keys;
    for (const auto& [key, lane] : timeline::LaneSettings::FromText(text.toStdString()).lanes)
      if (lane.hidden) keys.insert(key);
    return keys;
  };
  const std::set<std::string> was = hidden(before), is = hidden(lanes_);
  if (was == is) return;
  doc().undo.Push(
      {.kind = UndoStep::Kind::kLanes,
       .text = (is.size() > was.size() ? tr("Hide track") : tr("Show tracks")).toStdString(),
       .lanes_before = before.toStdString(),
       .lanes_after = lanes_.toStdString()});
  actions_.Refresh();
}

void MainWindow::SetConfig(const run::RunConfig& config) {
  // Forget the savings if the model, batch or sequence has changed, because they no longer apply.
  if (config.model_config_json != doc().config.model_config_json ||
      config.batch != doc().config.batch || run::SeqText(config) != run::SeqText(doc().config))
    savings_->forget(QStringLiteral("…"), tr("not planned yet"));
  doc().config = config;
  // If settings change after a run on the GPU, plan them. Do not run them on the GPU.
  if (doc().config.backend == run::Backend::kCuda) doc().config.backend = run::Backend::kPlan;
  run_panel_->setConfig(config);
  techniques_->setConfig(config);
  for (StudyPage* page : studies_) page->setConfig(config);
  actions_.Refresh();
}

void MainWindow::runConfig(const run::RunConfig& config) {
  next_file_.clear();  // that file was meant for a comparison in the document that is being left
  PlanWith(config);
  PlanOrRecall();
}

void MainWindow::PlanOrRecall() {
  std::shared_ptr<const Digest> known = with_cache_ ? cache_.Find(doc().config) : nullptr;
  if (known == nullptr && !can_plan_) return ShowSample();
  if (known == nullptr) {
    StartRun();
    return;
  }
  LeavePlans();
  since_run_.start();
  say_time_ = true;
  digests_.cancel(doc().id());
  SetBusy({});
  if (worker_->running()) banner_->clear(QStringLiteral("worker-lost"));
  RunSucceeded();
  ShowDigest(doc().id(), std::move(known), animations_, false);
}

void MainWindow::RunSucceeded() {
  // Clear banners that are about earlier files or errors.
  for (const char* kind :
       {"open-failed", "compare-failed", "not-shown", "incomplete-file", "file-warnings"})
    banner_->clear(QLatin1String(kind));
  banner_->clear(QStringLiteral("program-failed"));
  banner_->clear(QStringLiteral("run-failed"));
  banner_->clear(QStringLiteral("bad-config"));
  banner_->clear(QStringLiteral("choose-model"));
  banner_->clear(QStringLiteral("no-card"));
  banner_->clear(QStringLiteral("no-libtorch"));
  session().ShowRun();
}

void MainWindow::editConfig(const run::RunConfig& config) {
  // Check the configuration as strictly as the command line does.
  const absl::StatusOr<run::RunConfig> checked = run::RunConfigBuilder(config).Build();
  if (!checked.ok()) {
    banner_->show({.kind = "bad-config",
                   .title = tr("This configuration is invalid"),
                   .text = Text(checked.status())});
    SetConfig(doc().config);
    Q_EMIT failed(Text(checked.status()));
    return;
  }
  if (PlanKey(*checked) == PlanKey(doc().config)) return;
  if (!IsThere(*checked)) {
    SetConfig(doc().config);
    return RefuseWithoutLibTorch();
  }
  const run::RunConfig before = doc().config;
  const DocumentId from = doc().id();
  doc().undo.DiscardRedo();
  PlanInFront();
  const std::string change = DescribeChange(before, *checked);
  // If the plan is new and its settings come from another document, this is its first undo step.
  doc().undo.Push(
      {.text = change, .before = before, .after = *checked, .from = from == doc().id() ? 0 : from});
  doc().Expect(change);
  SetConfig(*checked);
  PlanOrRecall();
}

void MainWindow::ChoosePreset(const QString& name) {
  const absl::StatusOr<PresetChange> change = WithPreset(doc().config, name.toStdString());
  if (!change.ok()) {
    banner_->show({.kind = "bad-config",
                   .title = tr("%1 can't be run with these settings").arg(name),
                   .text = Text(change.status())});
    Q_EMIT failed(Text(change.status()));
    return;
  }
  const auto list = [](const std::vector<std::string>& words) {
    QStringList out;
    for (const std::string& word : words) out << QString::fromStdString(word);
    return out.join(QStringLiteral(", "));
  };
  editConfig(change->config);
  banner_->clear(QStringLiteral("preset-settings"));
  if (change->reset.empty()) return;
  // Tell the user which settings have now the preset's default values.
  QString text =
      tr("These settings now have the preset's default values: %1.").arg(list(change->reset));
  if (!change->unchanged.empty())
    text += tr(" Your settings are kept: %1.").arg(list(change->unchanged));
  banner_->show({.kind = "preset-settings",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("%1 has its own default settings").arg(name),
                 .text = text,
                 .action = tr("Undo"),
                 .run = [this] { undo(); }});
}

void MainWindow::FocusCanvas() {
  // Do not take the focus away from a text field, or from the tour, which needs it for its keys.
  if (tour_ != nullptr && focusWidget() == tour_) return;
  const QWidget* focus = QApplication::focusWidget();
  if (qobject_cast<const QLineEdit*>(focus) == nullptr &&
      qobject_cast<const QAbstractSpinBox*>(focus) == nullptr)
    timeline_->setFocus();
}

void MainWindow::SetBusy(const QString& text) {
  busy_text_ = text;
  if (text.isEmpty()) {
    busy_delay_.stop();
    header_->setBusy({});
    timeline_->setLoading({});
  } else if (session().shown() == nullptr) {
    busy_delay_.stop();
    header_->setBusy(text);
    timeline_->setFailed({}, {});
    timeline_->setLoading(text);
  } else if (!busy_delay_.isActive()) {
    busy_delay_.start(kBusyDelayMs);
  }
  actions_.Refresh();
}

void MainWindow::Digested(Document& of, std::shared_ptr<const trace::Trace> trace, bool animate,
                          bool partial, std::optional<uint8_t> device) {
  digests_.cancel(of.id());
  const std::string file = of.session.from_file() ? of.session.file() : std::string();
  if (trace->events.size() < kDigestInline) {
    const absl::StatusOr<std::shared_ptr<const Digest>> digest =
        trace::CatchStatus([&] { return MakeDigest(std::move(trace), file, device); });
    if (digest.ok())
      ShowDigest(of.id(), *digest, animate, partial);
    else
      NotDigested(of.id(), digest.status(), partial);
    return;
  }
  since_digest_.start();
  if (!write_poll_.isActive()) write_poll_.start(kProgressPollMs);
  // If the shown trace has only grown, digest only its new events.
  const std::shared_ptr<const Digest> earlier = of.session.partial() ? of.session.shown() : nullptr;
  digests_.Ask(
      [trace = std::move(trace), file, device, earlier] {
        return DigestBeside(trace, file, device, earlier);
      },
      [this, id = of.id(), animate, partial](const absl::StatusOr<DigestAndIndexes>& made) {
        ShowProgress();
        if (documents_.Find(id) == nullptr) return loader_->previewShown();
        if (!made.ok()) return NotDigested(id, made.status(), partial);
        timeline_->prepare(made->indexes);
        ShowDigest(id, made->digest, animate, partial);
      },
      {.key = of.id(), .dropped = [this] {
         ShowProgress();
         loader_->previewShown();  // this preview will not be shown, so allow the next one
       }});
}

// Reports that the trace cannot be shown, because memory ran out while it was digested.
void MainWindow::NotDigested(DocumentId id, const absl::Status& status, bool partial) {
  SetBusy({});
  ShowProgress();
  loader_->previewShown();
  if (partial) return;  // the digest of a later trace will report the error
  Document& of = *documents_.Find(id);
  if (loading_ == id && !loader_->busy())
    return DocumentNotLoaded(id, QString::fromStdString(of.FileOfResult()), status);
  of.Ended();
  RefreshTabs();
  banner_->show({.kind = "not-shown",
                 .title = tr("The result can't be shown"),
                 .text = tr("%1. Close other programs, or choose fewer steps.").arg(Text(status))});
  Say(tr("Not shown: %1").arg(Text(status)));
  Q_EMIT failed(Text(status));
}

void MainWindow::showInternalFailure(const absl::Status& status) {
  // Continue later in the event loop, because the exception may come from a function that is called
  // here.
  QTimer::singleShot(0, this, [this, status] {
    SetBusy({});
    banner_->show({.kind = "internal-failure",
                   .title = tr("The last action failed"),
                   .text = tr("%1. The window may show an older state. Save what you need, and "
                              "close other programs.")
                               .arg(Text(status)),
                   .action = session().shown() != nullptr ? tr("Save trace …") : QString(),
                   .run = [this] { actions_.Find(QStringLiteral("file.save"))->trigger(); },
                   .of_window = true});
    Say(tr("Action failed: %1").arg(Text(status)));
    Q_EMIT failed(Text(status));
  });
}

// Stores the digest in its document. Shows it if the document is active or becomes active.
void MainWindow::ShowDigest(DocumentId id, std::shared_ptr<const Digest> digest, bool animate,
                            bool partial) {
  Document* of = documents_.Find(id);
  if (of == nullptr) return;  // the document was closed
  const bool first = of->session.shown() == nullptr || (of->session.from_file() && !partial);
  const bool goes_on = partial && of->session.partial();
  ReleaseLater(of->session.shown());
  of->Arrived(std::move(digest), partial, QDateTime::currentSecsSinceEpoch());
  if (run_tag_ == 0 && !loader_->busy() && (!runner_->busy() || programBehind())) SetBusy({});
  if (of->session.shown()->watched() && id == program_id_)
    program_->setPeak(of->session.shown()->summary.peak.allocated);
  // A document that was just opened becomes active, unless the user has chosen another tab since.
  const bool comes = id != doc().id() && id == loading_ && of->opener == doc().id();
  if (id == loading_ && !partial) loading_ = 0;
  if (comes) {
    const DocumentId opener = doc().id();
    MakeActive(id);
    if (documents_.Find(opener)->Blank()) documents_.Close(opener);
  }
  if (id != doc().id()) {
    of->unseen = !partial;
    if (partial) loader_->previewShown();
    ReleaseHidden();
    RefreshTabs();
    return;
  }
  ShowOnCanvas(animate, goes_on);
  if (first) FocusCanvas();
  if (comes) timeline_->setPosition({});
  ReleaseHidden();
}

// Shows the traces of the active document's session on the canvas.
void MainWindow::ShowOnCanvas(bool animate, bool goes_on) {
  timeline_->setFailed({}, {});
  timeline_->setDeviceLimit(session().shown()->trace->info.device.memory_bytes);
  // Set the baseline first, so that the previous baseline never determines the scale.
  UpdateBaseline();
  timeline_->setTrace(session().shown()->trace, animate, session().shown()->curves,
                      session().shown()->whole);
  // Draw the timeline before updating the panels, which takes about as long.
  timeline_->showNow();
  Q_EMIT timelineShown();
  panels_due_.stop();
  if (!goes_on) return ShowBesideCanvas();
  // Update the panels after the next frame, because the user may be panning the timeline of the
  // growing trace.
  panels_due_.start(kPanelsDelayMs);
}

// If the active document has no result, shows a failure in place of the timeline.
void MainWindow::ShowFailed(const QString& title, const QString& why, const QString& next) {
  if (session().shown() != nullptr) return;
  if (timeline_->trace() != nullptr) ShowNothing();
  timeline_->setFailed(title, why, next);
}

void MainWindow::ShowBesideCanvas() {
  if (session().shown() == nullptr) return;  // the document was closed meanwhile
  const trace::Trace& trace = *session().shown()->trace;
  const bool partial = session().partial();
  breakdown_->setDigest(session().shown());
  selection_->setDigest(session().shown());
  ShowSelected();
  explain_->setDigest(session().shown(), partial && ShownGoesOn());
  explain_->setSelection(timeline_->selection());
  ShowTabs();
  header_->setTexts(
      MakeChipTexts(*session().shown(), partial && (run_tag_ != 0 || runner_->busy())));
  ShowControls();
  UpdateTables();
  if (!partial) ShowFit();
  const QString name = QString::fromStdString(
      trace.info.model.name.empty() ? trace.info.title : trace.info.model.name);
  setWindowTitle(ShownFile().isEmpty() || name == QFileInfo(ShownFile()).fileName()
                     ? tr("%1 – vramscope").arg(name)
                     : tr("%1 – %2 – vramscope").arg(QFileInfo(ShownFile()).fileName(), name));
  if (!partial && !session().from_file()) {
    if (trace.info.has_config && can_plan_ && with_cache_)
      cache_.Put(trace.info.config, session().shown());
    if (doc().source.kind == SourceKind::kPlan) StoreRunSettings();
    // If a result is only shown again, do not state how long it took.
    const QString took =
        std::exchange(say_time_, false) ? tr(", in %1 ms").arg(since_run_.elapsed()) : QString();
    Say(tr("%1: %2 events, peak %3%4")
            .arg(name, QString::fromStdString(timeline::FormatCount(trace.events.size())),
                 QString::fromStdString(
                     timeline::FormatBytes(session().shown()->summary.peak.allocated)),
                 took));
  }
  actions_.Refresh();
  // Plan the savings later, so that they do not delay the timeline.
  if (!partial && trace.complete && with_savings_ && trace.info.has_config && run_tag_ == 0) {
    savings_due_ = true;
    QTimer::singleShot(kSavingsDelayMs, this, [this] {
      if (savings_due_) savings_->update(doc().config);
      savings_due_ = false;
    });
  } else if (!partial && with_savings_ && run_tag_ == 0 && !savings_->shows(doc().config)) {
    // There are no savings for a recording, or for a plan that did not finish.
    savings_->forget(QStringLiteral("–"),
                     trace.complete || session().from_file()
                         ? tr("Plan this model (Ctrl+R) to see the effects of techniques")
                         : tr("the run did not finish"));
  }
  RefreshTabs();
  if (partial) loader_->previewShown();
  if (!partial) RestoreBaseline();
  Q_EMIT documentShown();
}

// Plans the recording's model in a new document, with the recording as the baseline.
void MainWindow::PlanBeside() {
  const std::optional<ModelGuess> guess = RecordedModel(*session().shown(), doc().config);
  Document& recording = doc();
  Document& plan = documents_.Open({.kind = SourceKind::kPlan});
  plan.session.SetBaseline(recording.session.shown(), recording.session.file(),
                           /*for_this_only=*/true);
  MakeActive(plan.id());
  controls_dock_->show();
  if (guess) {
    banner_->show({.kind = "recorded-model",
                   .tone = Banner::Tone::kWarning,
                   .title = tr("Planned for comparison with the recording: %1")
                                .arg(QString::fromStdString(guess->config.model)),
                   .text = tr("%1. The recording does not contain the batch size and the sequence "
                              "length: set them on the left.")
                               .arg(QString::fromStdString(guess->why))});
    runConfig(guess->config);
    return;
  }
  ShowActive();
  banner_->show({.kind = "choose-model",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("Which run should be compared with the recording?"),
                 .text = tr("The recording does not name its model. Choose a model, a batch size "
                            "and a sequence length on the left, then press Ctrl+R."),
                 .action = tr("Back to the recording"),
                 .run = [this, id = recording.id()] { showDocument(id); }});
  run_panel_->findChild<QWidget*>(QStringLiteral("model"))->setFocus();
  actions_.Refresh();
}

// Makes the window as empty as at the start, for a document without a result.
void MainWindow::ShowNothing() {
  panels_due_.stop();
  timeline_->setBaselineTrace(nullptr);
  timeline_->setTrace(nullptr);
  breakdown_->setDigest(nullptr);
  selection_->setDigest(nullptr);
  explain_->setDigest(nullptr);
  explain_->setAgainst(session().Against(), session().baseline() != nullptr);
  header_->setTexts({});
  allocations_->setDigest(nullptr);
  phases_->setDigest(nullptr);
  setWindowTitle(QStringLiteral("vramscope"));
  ShowControls();
}

void MainWindow::openTechniques(const QString& words) {
  ShowControlsPage(ControlsPage::kModel);
  controls_dock_->show();
  techniques_->setFilter(words);
}

void MainWindow::ShowFit() {
  const auto fit = [this] { actions_.Find(QStringLiteral("run.fit"))->trigger(); };
  if (const auto message = FitBanner(*session().shown(), fit))
    banner_->show(*message);
  else
    banner_->clear(QString::fromLatin1(kFitBanner));
}

void MainWindow::showDevice(uint8_t device) {
  if (session().shown() == nullptr || session().shown()->whole == nullptr ||
      session().shown()->device == device)
    return;
  doc().device = device;
  SetBusy(
      tr("showing %1 …").arg(ToQString(trace::NameOfDevice(*session().shown()->whole, device))));
  Digested(doc(), session().shown()->whole, false, session().partial(), device);
}

void MainWindow::NextDevice() {
  const auto& devices = session().shown()->devices;
  const auto now =
      std::ranges::find(devices, *session().shown()->device, &analysis::DevicePeak::device);
  const auto next = now == devices.end() || now + 1 == devices.end() ? devices.begin() : now + 1;
  showDevice(next->device);
}

// Passes the result to all tables. A hidden table is not filled until it becomes visible.
void MainWindow::UpdateTables() {
  allocations_->setDigest(session().shown());
  const auto [begin, end] = timeline_->range();  // a toggle keeps the selected range
  allocations_->setRange(begin, end);
  breakdown_->setRange(begin, end);
  allocations_->setSelection(timeline_->selection());
  phases_->setRange(begin, end);
  phases_->setDigest(session().shown(), timeline_->data());
}

// Makes all panels show the range, until the user clears it.
void MainWindow::RangeSelected(qint64 begin_ns, qint64 end_ns) {
  breakdown_->setRange(begin_ns, end_ns);
  if (begin_ns < end_ns) breakdown_scroll_->ensureVisible(0, 0);  // the summary of the range
  allocations_->setRange(begin_ns, end_ns);
  phases_->setRange(begin_ns, end_ns);
  actions_.Refresh();
}

void MainWindow::Say(const QString& text) {
  message_ = text;
  status_->setText(text);
  log_->appendPlainText(QStringLiteral("%1  %2").arg(
      QTime::currentTime().toString(QStringLiteral("hh:mm:ss.zzz")), text));
}

bool MainWindow::busy() const {
  return run_tag_ != 0 || finding_gpu_libraries_.busy() || RunsToKeep() || loader_->busy() ||
         compare_loader_->busy() || digests_.busy() || recoveries_.busy() || !writing_.empty() ||
         keeping_.busy() || StudiesBusy();
}

bool MainWindow::settled() const {
  return !busy() && timeline_->ready() && !panels_due_.isActive() && !savings_due_ &&
         savings_->idle() && !explain_->busy() && !breakdown_->busy() && !phases_->busy() &&
         !kernels_->busy() && !search_->busy() && !notes_->busy() && !notes_page_->busy() &&
         !allocations_->busy();
}

void MainWindow::settleCanvas() { timeline_->settle(); }

}  // namespace vramscope::ui
