// What the window shows: runs and their ends, the baseline, the banner.
#include <QAbstractSpinBox>
#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTime>
#include <QUndoCommand>
#include <QtConcurrent/QtConcurrentRun>
#include <algorithm>
#include <set>

#include "profiler/program/verdict.h"
#include "profiler/run/seq.h"
#include "profiler/trace/catch_status.h"
#include "profiler/trace/processes.h"
#include "profiler/trace/reader.h"
#include "ui/explain/explain_panel.h"
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
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/recorded_model.h"
#include "ui/shell/savings.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/let_go.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lane_stack.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// A toggle is mostly over before this: no bar for it.
constexpr int kBusyDelayMs = 250;
// Another toggle may follow at once; the new picture is drawn and morphs in the meantime.
constexpr int kSavingsDelayMs = 250;
constexpr int kProgressPollMs = 100;
constexpr int kPanelsDelayMs = 8;  // half a frame
// Digested at once in place of on a pool thread: the way there and back costs as much.
constexpr uint32_t kDigestInline = 20'000;

// Without its full stop: the sentence goes on.
QString Text(const absl::Status& status) {
  QString text = ToQString(std::string(status.message()));
  while (text.endsWith(QLatin1Char('.'))) text.chop(1);
  return text;
}

QString Gib(double bytes) { return QString::number(bytes / 1073741824.0, 'f', 1); }

}  // namespace

// One change of the configuration. What a plan takes the place of and cannot be planned (a
// recording, a program's result) comes back with undo.
class MainWindow::ConfigCommand : public QUndoCommand {
 public:
  ConfigCommand(MainWindow* window, run::RunConfig before, run::RunConfig after)
      : QUndoCommand(QString::fromStdString(DescribeChange(before, after))),
        window_(window),
        before_(std::move(before)),
        after_(std::move(after)) {}
  void undo() override { window_->TakeBack(before_, replaced_); }
  void redo() override {
    replaced_ = window_->WhatAPlanReplaces();
    window_->runConfig(after_);
  }

 private:
  MainWindow* window_;
  run::RunConfig before_, after_;
  Replaced replaced_;
};

// A lane was hidden or shown again.
class MainWindow::LanesCommand : public QUndoCommand {
 public:
  LanesCommand(MainWindow* window, const QString& text, QString before, QString after)
      : QUndoCommand(text), window_(window), before_(std::move(before)), after_(std::move(after)) {}
  void undo() override { Set(before_); }
  void redo() override { Set(after_); }

 private:
  void Set(const QString& lanes) {
    window_->lanes_ = lanes;
    window_->timeline_->setLaneSettings(lanes);
    window_->settings_->setValue(QStringLiteral("lanes"), lanes);
  }

  MainWindow* window_;
  QString before_, after_;
};

// A key hides a lane: what takes back the last change brings it back. Folding and heights are
// changed again as quickly as they were.
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
  undo_.push(new LanesCommand(this, is.size() > was.size() ? tr("Hide lane") : tr("Show lanes"),
                              before, lanes_));
}

void MainWindow::SetConfig(const run::RunConfig& config) {
  // What techniques save of another model says nothing of this one.
  if (config.model_config_json != config_.model_config_json || config.batch != config_.batch ||
      run::SeqText(config) != run::SeqText(config_))
    savings_->forget(QStringLiteral("…"), tr("not planned yet"));
  config_ = config;
  // What was once run on a card is planned from here on, until a run is asked for.
  if (config_.backend == run::Backend::kCuda) config_.backend = run::Backend::kPlan;
  run_panel_->setConfig(config);
  techniques_->setConfig(config);
  for (StudyPage* page : studies_) page->setConfig(config);
  actions_.Refresh();
}

void MainWindow::runConfig(const run::RunConfig& config) {
  next_file_.clear();  // it was to be compared with what is left now
  SetConfig(config);
  PlanOrRecall();
}

void MainWindow::PlanOrRecall() {
  std::shared_ptr<const Digest> known = with_cache_ ? cache_.Find(config_) : nullptr;
  if (known == nullptr && !can_plan_) return ShowSample();
  if (known == nullptr) {
    StartRun();
    return;
  }
  LeaveRuns();
  since_run_.start();
  ++digest_generation_;  // what is being digested is of no interest any more
  SetBusy({});
  if (worker_->running()) banner_->clear(QStringLiteral("worker-lost"));
  RunSucceeded();
  ShowDigest(std::move(known), animations_, false);
}

void MainWindow::RunSucceeded() {
  // What was said of a file that is not shown any more, or was wrong before.
  for (const char* kind :
       {"open-failed", "compare-failed", "not-shown", "incomplete-file", "file-warnings"})
    banner_->clear(QLatin1String(kind));
  // What was pinned to compare a program with has nothing to say of a run of the built-in loop.
  if (session_.baseline_for_this_only() && session_.baseline()->watched())
    session_.SetBaseline(nullptr, {});
  banner_->clear(QStringLiteral("program-failed"));
  banner_->clear(QStringLiteral("run-failed"));
  banner_->clear(QStringLiteral("bad-config"));
  banner_->clear(QStringLiteral("choose-model"));
  banner_->clear(QStringLiteral("no-card"));
  banner_->clear(QStringLiteral("no-libtorch"));
  session_.ShowRun();
}

void MainWindow::editConfig(const run::RunConfig& config) {
  // The same checks as on the command line.
  const absl::StatusOr<run::RunConfig> checked = run::RunConfigBuilder(config).Build();
  if (!checked.ok()) {
    banner_->show({.kind = "bad-config",
                   .title = tr("This configuration is not possible"),
                   .text = Text(checked.status())});
    SetConfig(config_);
    Q_EMIT failed(Text(checked.status()));
    return;
  }
  if (PlanKey(*checked) == PlanKey(config_)) return;
  if (!IsThere(*checked)) {
    SetConfig(config_);
    return RefuseWithoutLibTorch();
  }
  undo_.push(new ConfigCommand(this, config_, *checked));
}

void MainWindow::ChoosePreset(const QString& name) {
  const absl::StatusOr<PresetChange> change = WithPreset(config_, name.toStdString());
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
  if (change->taken.empty()) return;
  // Nothing changes behind one's back.
  QString text = tr("It starts with %1.").arg(list(change->taken));
  if (!change->kept.empty()) text += tr(" What you had set stays: %1.").arg(list(change->kept));
  banner_->show({.kind = "preset-settings",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("%1 has settings of its own").arg(name),
                 .text = text,
                 .action = tr("Undo"),
                 .run = [this] { undo_.undo(); }});
}

void MainWindow::FocusCanvas() {
  // Who types somewhere goes on doing so.
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
  } else if (session_.shown() == nullptr) {
    busy_delay_.stop();
    header_->setBusy(text);
    timeline_->setFailed({}, {});
    timeline_->setLoading(text);
  } else if (!busy_delay_.isActive()) {
    busy_delay_.start(kBusyDelayMs);
  }
  actions_.Refresh();
}

void MainWindow::Digested(std::shared_ptr<const trace::Trace> trace, bool animate, bool partial,
                          std::optional<uint8_t> device) {
  const quint64 generation = ++digest_generation_;
  const std::string file = session_.from_file() ? session_.file() : std::string();
  if (trace->events.size() < kDigestInline) {
    const absl::StatusOr<std::shared_ptr<const Digest>> digest =
        trace::CatchStatus([&] { return MakeDigest(std::move(trace), file, device); });
    if (digest.ok())
      ShowDigest(*digest, animate, partial);
    else
      NotDigested(digest.status(), partial);
    return;
  }
  ++digesting_;
  since_digest_.start();
  if (!write_poll_.isActive()) write_poll_.start(kProgressPollMs);
  struct Made {
    std::shared_ptr<const Digest> digest;
    std::shared_ptr<const timeline::TimelineData> indexes;
  };
  auto* watcher = new QFutureWatcher<absl::StatusOr<Made>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this,
          [this, watcher, generation, animate, partial] {
            --digesting_;
            watcher->deleteLater();
            ShowProgress();
            // Nobody sees this picture: the next may come.
            if (generation != digest_generation_) return loader_->previewShown();
            const absl::StatusOr<Made> made = trace::CatchStatus([&] { return watcher->result(); });
            if (!made.ok()) return NotDigested(made.status(), partial);
            timeline_->prepare(made->indexes);
            ShowDigest(made->digest, animate, partial);
          });
  // Of a run that goes on only what is new is added up.
  const std::shared_ptr<const Digest> earlier = session_.partial() ? session_.shown() : nullptr;
  const auto make = [trace = std::move(trace), file, device, earlier]() -> Made {
    const bool several = analysis::DevicesOf(*trace).size() > 1;
    if (!several && earlier != nullptr && trace->events.GoOnFrom(earlier->trace->events))
      return Made{
          MakeDigest(trace, file, device,
                     std::make_shared<const analysis::MemoryCurves>(
                         analysis::ContinueCurves(*trace, *earlier->trace, *earlier->curves))),
          nullptr};
    if (several || trace->events.size() + trace->activities.size() >
                       timeline::TimelineWidget::kBuildInBackground)
      return Made{MakeDigest(trace, file, device), nullptr};
    // The canvas' indexes beside the digest, of the same curves. Those of a large trace the canvas
    // builds itself, while the old picture stays.
    const auto curves =
        std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*trace));
    auto indexes = QtConcurrent::run([trace, curves] {
      return trace::CatchStatus([&] { return timeline::TimelineData::Build(trace, curves); });
    });
    std::shared_ptr<const Digest> digest = MakeDigest(trace, file, device, curves);
    // Without them the canvas builds its own, and says when it can't.
    return Made{std::move(digest), indexes.result().value_or(nullptr)};
  };
  watcher->setFuture(QtConcurrent::run([make] { return trace::CatchStatus(make); }));
}

// What has come can't be shown: memory ran out while it was added up.
void MainWindow::NotDigested(const absl::Status& status, bool partial) {
  SetBusy({});
  ShowProgress();
  loader_->previewShown();
  if (partial) return;  // the next picture, or the whole, says so again
  if (session_.loading() && !loader_->busy()) {
    SetConfig(session_.config_before_loading());
    FileNotLoaded(ShownFile(), status);
    return;
  }
  banner_->show({.kind = "not-shown",
                 .title = tr("The result can't be shown"),
                 .text = tr("%1. Close other programs, or choose fewer steps.").arg(Text(status))});
  Say(tr("Not shown: %1").arg(Text(status)));
  Q_EMIT failed(Text(status));
}

void MainWindow::showInternalFailure(const absl::Status& status) {
  // From the event loop: what threw may be within any of the parts that this asks.
  QTimer::singleShot(0, this, [this, status] {
    SetBusy({});
    banner_->show({.kind = "internal-failure",
                   .title = tr("The last action was not carried out"),
                   .text = tr("%1. What is shown may be of before. Save what you need, and close "
                              "other programs.")
                               .arg(Text(status)),
                   .action = session_.shown() != nullptr ? tr("Save trace …") : QString(),
                   .run = [this] { actions_.Find(QStringLiteral("file.save"))->trigger(); }});
    Say(tr("Not carried out: %1").arg(Text(status)));
    Q_EMIT failed(Text(status));
  });
}

void MainWindow::ShowDigest(std::shared_ptr<const Digest> digest, bool animate, bool partial) {
  const bool first = session_.shown() == nullptr || (session_.from_file() && !session_.partial());
  const bool goes_on = partial && session_.partial();
  timeline::LetGo(session_.shown());
  session_.Show(std::move(digest), partial);
  if (run_tag_ == 0 && !loader_->busy() && (!runner_->busy() || program_behind_)) SetBusy({});
  const trace::Trace& trace = *session_.shown()->trace;
  if (session_.shown()->watched()) program_->setPeak(session_.shown()->summary.peak.allocated);
  if (session_.shown()->watched() && !partial && !session_.from_file())
    last_program_ = session_.shown();
  timeline_->setFailed({}, {});
  timeline_->setDeviceLimit(trace.info.device.memory_bytes);
  // The ghost first: what is shown never takes the scale of one that goes.
  UpdateGhost();
  timeline_->setTrace(session_.shown()->trace, animate, session_.shown()->curves,
                      session_.shown()->whole);
  // What was waited for; the panels beside it take as long again.
  timeline_->showNow();
  Q_EMIT timelineShown();
  if (first) FocusCanvas();
  panels_due_.stop();
  if (!goes_on) return ShowBesideCanvas();
  // The view of a run that goes on is moved meanwhile: its next frame comes first.
  panels_due_.start(kPanelsDelayMs);
}

void MainWindow::ShowBesideCanvas() {
  const trace::Trace& trace = *session_.shown()->trace;
  const bool partial = session_.partial();
  breakdown_->setDigest(session_.shown());
  selection_->setDigest(session_.shown());
  ShowSelected();
  explain_->setDigest(session_.shown(), partial && ShownGoesOn());
  explain_->setSelection(timeline_->selection());
  ShowTabs();
  header_->setTexts(
      MakeChipTexts(*session_.shown(), partial && (run_tag_ != 0 || runner_->busy())));
  ShowControls();
  UpdateTables();
  if (!partial) ShowFit();
  const QString name = QString::fromStdString(
      trace.info.model.name.empty() ? trace.info.title : trace.info.model.name);
  setWindowTitle(ShownFile().isEmpty()
                     ? tr("%1 – vramscope").arg(name)
                     : tr("%1 – %2 – vramscope").arg(QFileInfo(ShownFile()).fileName(), name));
  if (!partial && !session_.from_file()) {
    if (trace.info.has_config && can_plan_) cache_.Put(trace.info.config, session_.shown());
    Say(tr("%1: %2 events, peak %3, in %4 ms")
            .arg(name, QString::fromStdString(timeline::FormatCount(trace.events.size())),
                 QString::fromStdString(
                     timeline::FormatBytes(session_.shown()->summary.peak.allocated)))
            .arg(since_run_.elapsed()));
  }
  actions_.Refresh();
  // The picture first: what techniques would save can wait for it.
  if (!partial && trace.complete && with_savings_ && trace.info.has_config && run_tag_ == 0) {
    savings_due_ = true;
    QTimer::singleShot(kSavingsDelayMs, this, [this] {
      if (savings_due_) savings_->update(config_);
      savings_due_ = false;
    });
  }
  if (partial) loader_->previewShown();
  Q_EMIT documentShown();
}

void MainWindow::PlanBeside() {
  const std::optional<ModelGuess> guess = RecordedModel(*session_.shown(), config_);
  SetBaseline(session_.shown(), ShownFile(), /*for_this_only=*/true);
  ShowControlsPage(ControlsPage::kModel);
  controls_dock_->show();
  if (guess) {
    banner_->show(
        {.kind = "recorded-model",
         .tone = Banner::Tone::kWarning,
         .title = tr("Planned beside the recording: %1")
                      .arg(QString::fromStdString(guess->config.model)),
         .text = tr("%1. The recording does not tell batch and sequence: set them on the left.")
                     .arg(QString::fromStdString(guess->why))});
    runConfig(guess->config);
    return;
  }
  banner_->show({.kind = "choose-model",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("Which run is to stand beside the recording?"),
                 .text = tr("The recording does not tell its model. Choose model, batch and "
                            "sequence on the left, then run it with Ctrl+R."),
                 .action = tr("Back to the recording"),
                 .run = [this] { ShowControls(); }});
  run_panel_->findChild<QWidget*>(QStringLiteral("model"))->setFocus();
  actions_.Refresh();
}

// Back to how the window begins.
void MainWindow::ShowNothing() {
  panels_due_.stop();
  session_.ShowNothing();
  timeline_->setGhost(nullptr);
  timeline_->setTrace(nullptr);
  breakdown_->setDigest(nullptr);
  selection_->setDigest(nullptr);
  explain_->setDigest(nullptr);
  explain_->setAgainst(session_.Against(), session_.baseline() != nullptr);
  header_->setTexts({});
  allocations_->setDigest(nullptr);
  phases_->setDigest(nullptr);
  setWindowTitle(QStringLiteral("vramscope"));
  ShowControls();
}

// Where nothing ran out there is nothing to explain, and what was there at one moment has no steps
// and no history to replay; the commands open these pages all the same.
void MainWindow::ShowTabs() {
  const QStringList pages = pageNames();
  const bool state = session_.shown()->state();
  const auto wanted = [&](const QString& page) {
    if (page == QLatin1String("out-of-memory")) return session_.shown()->out_of_memory > 0;
    if (page == QLatin1String("state")) return state;
    return !state || page == QLatin1String("allocations") ||
           page == QLatin1String("fragmentation") || page == QLatin1String("log");
  };
  const bool turned = state != showing_state_;
  showing_state_ = state;
  if (turned) openPage(state ? QStringLiteral("state") : QStringLiteral("phases"));
  // Who opens what ran out of memory asks why.
  const QString out_of_memory = QStringLiteral("out-of-memory");
  const bool ran_out = session_.shown()->recorded() && session_.shown()->out_of_memory > 0;
  if (ran_out && !ran_out_ && !state) {
    openPage(out_of_memory);
  } else if (!ran_out && ran_out_ && tabs_->currentIndex() == pages.indexOf(out_of_memory)) {
    openPage(QStringLiteral("phases"));
  }
  ran_out_ = ran_out;
  for (int tab = 0; tab < pages.size(); ++tab) {
    const bool visible = tab == tabs_->currentIndex() || wanted(pages[tab]);
    if (tabs_->isTabVisible(tab) != visible) tabs_->setTabVisible(tab, visible);
  }
  // The page is all that there is to look at; the canvas says what the file is.
  if (turned && state) {
    tables_height_ = tables_dock_->height();
    resizeDocks({tables_dock_}, {height() * 2 / 3}, Qt::Vertical);
  } else if (turned && tables_height_ > 0) {
    resizeDocks({tables_dock_}, {tables_height_}, Qt::Vertical);
  }
}

QStringList MainWindow::pageNames() const {
  QStringList names = {QStringLiteral("phases"), QStringLiteral("allocations"),
                       QStringLiteral("kernels"), QStringLiteral("search")};
  for (const ExplainPanel::PageInfo& info : explain_->pages()) names << QLatin1String(info.id);
  return names << QStringLiteral("fit") << QStringLiteral("waterfall")
               << QStringLiteral("experiments") << QStringLiteral("log");
}

void MainWindow::openPage(const QString& id) {
  const auto at = static_cast<int>(pageNames().indexOf(id));  // the tabs stand in that order
  if (at < 0) return;
  tabs_->setTabVisible(at, true);
  tables_dock_->show();
  tabs_->setCurrentIndex(at);
}

// What is typed next is for the page that was asked for: letters are the canvas' keys.
void MainWindow::FocusPage() {
  QWidget* page = tabs_->currentWidget();
  QWidget* at = page;
  do {
    at = at->nextInFocusChain();
  } while (at != page && !(page->isAncestorOf(at) && at->isVisible() && at->isEnabled() &&
                           (at->focusPolicy() & Qt::TabFocus) != 0));
  at->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::openTechniques(const QString& words) {
  ShowControlsPage(ControlsPage::kModel);
  controls_dock_->show();
  techniques_->setFilter(words);
}

void MainWindow::ShowFit() {
  const analysis::Summary& summary = session_.shown()->summary;
  const trace::TraceInfo& info = session_.shown()->trace->info;
  // What was recorded did fit, or says itself that it did not.
  if (session_.shown()->recorded() || info.device.memory_bytes == 0 || summary.fits) {
    banner_->clear(QStringLiteral("does-not-fit"));
    return;
  }
  banner_->show(
      {.kind = "does-not-fit",
       .tone = Banner::Tone::kWarning,
       .title = summary.headroom_bytes < 0
                    ? tr("Does not fit into %1: %2 GiB too much")
                          .arg(ShortDeviceName(info.device),
                               Gib(-static_cast<double>(summary.headroom_bytes)))
                    // What was refused is in no figure.
                    : tr("Does not fit into %1: a request found no room")
                          .arg(ShortDeviceName(info.device)),
       .text =
           tr("%1 GiB would be reserved at most (allocated is highest in %2), beside %3 GiB for "
              "the "
              "CUDA context%4. "
              "The techniques on the left say what each would save; another device is one choice "
              "away.")
               .arg(Gib(static_cast<double>(summary.peak.reserved)),
                    ToQString(trace::Name(summary.peak.context.phase)),
                    Gib(static_cast<double>(info.device.context_bytes)),
                    summary.most_used.past_allocator == 0
                        ? QString()
                        : tr(" and %1 GiB that libraries take past the allocator")
                              .arg(Gib(static_cast<double>(summary.most_used.past_allocator)))),
       .action = info.has_config ? tr("Make it fit") : QString(),
       .run = [this] { actions_.Find(QStringLiteral("run.fit"))->trigger(); }});
}

void MainWindow::showDevice(uint8_t device) {
  if (session_.shown() == nullptr || session_.shown()->whole == nullptr ||
      session_.shown()->device == device)
    return;
  if (runner_->busy()) program_device_ = device;
  SetBusy(tr("showing %1 …").arg(ToQString(trace::NameOfDevice(*session_.shown()->whole, device))));
  Digested(session_.shown()->whole, false, session_.partial(), device);
}

void MainWindow::NextDevice() {
  const auto& devices = session_.shown()->devices;
  const auto now =
      std::ranges::find(devices, *session_.shown()->device, &analysis::DevicePeak::device);
  const auto next = now == devices.end() || now + 1 == devices.end() ? devices.begin() : now + 1;
  showDevice(next->device);
}

void MainWindow::UpdateGhost() {
  const std::shared_ptr<const Digest> ghost = session_.Against();
  explain_->setAgainst(ghost, session_.baseline() != nullptr);
  if (ghost == nullptr || ghost == session_.shown()) {
    timeline_->setGhost(nullptr);
  } else {
    // A baseline may be anything: it says what it is. Of one run another GPU is no other run.
    const bool of_this_run = ghost->whole != nullptr && ghost->whole == session_.shown()->whole;
    timeline_->setGhost(ghost->trace,
                        of_this_run ? ToQString(trace::NameOfDevice(*ghost->whole, *ghost->device))
                        : session_.baseline()
                            ? tr("baseline %1").arg(QString::fromStdString(ghost->name))
                            : tr("previous run"),
                        ghost->curves);
  }
}

// A table is made when it is looked at: after a toggle the one in front is enough.
void MainWindow::UpdateTables() {
  allocations_->setDigest(session_.shown());
  const auto [begin, end] = timeline_->range();  // which a toggle leaves selected
  allocations_->setRange(begin, end);
  breakdown_->setRange(begin, end);
  allocations_->setSelection(timeline_->selection());
  phases_->setRange(begin, end);
  phases_->setDigest(session_.shown(), timeline_->data());
}

// Everything speaks of the range until it is left.
void MainWindow::RangeSelected(qint64 begin_ns, qint64 end_ns) {
  breakdown_->setRange(begin_ns, end_ns);
  allocations_->setRange(begin_ns, end_ns);
  phases_->setRange(begin_ns, end_ns);
  actions_.Refresh();
}

void MainWindow::PinBaseline() {
  SetBaseline(session_.shown(), ShownFile());
  Say(tr("%1 is the baseline now").arg(QString::fromStdString(session_.shown()->name)));
}

void MainWindow::UnpinBaseline() {
  SetBaseline(nullptr, {});
  Say(tr("No baseline any more: runs are compared with the one before"));
}

void MainWindow::SetBaseline(std::shared_ptr<const Digest> digest, const QString& file,
                             bool for_this_only) {
  session_.SetBaseline(std::move(digest), file.toStdString(), for_this_only);
  UpdateGhost();
  actions_.Refresh();
}

void MainWindow::SwapBaseline() {
  ++digest_generation_;  // what is being digested would come into the wrong place
  std::shared_ptr<const Digest> next = session_.SwapBaseline();
  undo_.clear();
  if (next->trace->info.has_config) SetConfig(next->trace->info.config);
  ShowDigest(std::move(next), false, false);
  Say(tr("%1 is shown against %2")
          .arg(QString::fromStdString(session_.shown()->name),
               QString::fromStdString(session_.baseline()->name)));
}

void MainWindow::Say(const QString& text) {
  status_->setText(text);
  log_->appendPlainText(QStringLiteral("%1  %2").arg(
      QTime::currentTime().toString(QStringLiteral("hh:mm:ss.zzz")), text));
}

bool MainWindow::busy() const {
  return run_tag_ != 0 || asking_card_ || RunsToKeep() || loader_->busy() ||
         compare_loader_->busy() || digesting_ > 0 || !writing_.empty() || !keeping_.empty() ||
         std::ranges::any_of(studies_, [](const StudyPage* page) { return page->busy(); });
}

bool MainWindow::settled() const {
  return !busy() && timeline_->ready() && !panels_due_.isActive() && !savings_due_ &&
         savings_->idle() && !explain_->busy() && !breakdown_->busy() && !phases_->busy() &&
         !kernels_->busy() && !search_->busy();
}

void MainWindow::settleCanvas() { timeline_->settle(); }

}  // namespace vramscope::ui
