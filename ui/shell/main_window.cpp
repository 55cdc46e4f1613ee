#include "ui/shell/main_window.h"

#include <malloc.h>

#include <QApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QIcon>
#include <QItemSelectionModel>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "profiler/program/scratch_folder.h"
#include "ui/documents/saved_documents.h"
#include "ui/explain/explain_panel.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/allocations_panel.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/phases_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/recording_panel.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/selection_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/program/file_watch.h"
#include "ui/program/program_runner.h"
#include "ui/shell/document_tabs.h"
#include "ui/shell/drop_zones.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/history_panel.h"
#include "ui/shell/savings.h"
#include "ui/shell/session_file.h"
#include "ui/shell/settings_dialog.h"
#include "ui/shell/setup_panel.h"
#include "ui/shell/tour.h"
#include "ui/studies/program_pages.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr int kDumpedLog = 2000;
constexpr int kProgressWidth = 160, kProgressHeight = 6;

std::unique_ptr<QSettings> OpenSettings(const QString& file) {
  return file.isEmpty()
             ? std::make_unique<QSettings>(QStringLiteral("vramscope"), QStringLiteral("vramscope"))
             : std::make_unique<QSettings>(file, QSettings::IniFormat);
}

QScrollArea* Scrolling(QWidget* inside) {
  auto* area = new QScrollArea;
  area->setWidget(inside);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFrameShape(QFrame::NoFrame);
  return area;
}

}  // namespace

MainWindow::MainWindow(const MainWindowOptions& options)
    : settings_(OpenSettings(options.settings_file)),
      recent_(&actions_, settings_.get()),
      with_savings_(options.savings),
      with_cache_(options.cache),
      kept_(!options.state_folder.isEmpty() ? options.state_folder
            : !options.settings_file.isEmpty()
                ? QFileInfo(options.settings_file).absolutePath() + QStringLiteral("/results")
                : StoredResults::DefaultFolder()) {
  setWindowTitle(QStringLiteral("vramscope"));
  setAcceptDrops(true);
  theme_choice_ = ThemeFromName(settings_->value(QStringLiteral("theme")).toString());
  animations_ = settings_->value(QStringLiteral("animations"), true).toBool();
  theme_ = ResolveTheme(theme_choice_);
  ApplyTheme(theme_);
  setWindowIcon(QIcon(QStringLiteral(":/vramscope/vramscope.svg")));

  worker_program_ = options.worker_program;
  setup_ = options.setup;
  gpu_libraries_ = options.gpu_libraries;
  running_ = worker_ = new WorkerClient(worker_program_, this);
  savings_ = new SavingsPlanner(options.worker_program, this);
  loader_ = new FileLoader(options.open ? options.open : importers::OpenTraceFile, this);
  busy_delay_.setSingleShot(true);
  panels_due_.setSingleShot(true);

  header_ = new HeaderBar;
  auto* bar = new QToolBar(tr("Header"));
  bar->setObjectName(QStringLiteral("headerBar"));
  bar->setMovable(false);
  bar->setFloatable(false);
  bar->toggleViewAction()->setVisible(false);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->layout()->setContentsMargins(0, 0, 0, 0);
  header_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  bar->addWidget(header_);
  addToolBar(Qt::TopToolBarArea, bar);

  auto* centre = new QWidget;
  centre->setObjectName(QStringLiteral("canvas"));
  centre->setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  banner_ = new Banner;
  timeline_ = new timeline::TimelineWidget;
  timeline_->setObjectName(QStringLiteral("timeline"));
  timeline_->setEmptyText(
      tr("No run yet"),
      tr("Choose a model and press Ctrl+R to plan a run.\nPress Ctrl+G to plan or record your own "
         "Python program.\nDrop a recording here, or open it with Ctrl+O. It can be a .trace "
         "file,\na CUDA memory snapshot or Kineto JSON, also as .gz or .zst."));
  timeline_->setAnimations(animations_);
  lanes_ = settings_->value(QStringLiteral("lanes")).toString();
  timeline_->setLaneSettings(lanes_);
  document_tabs_ = new DocumentTabs;
  column->addWidget(document_tabs_);
  column->addWidget(banner_);
  column->addWidget(timeline_, 1);
  setCentralWidget(centre);
  drop_zones_ = new DropZones(this);

  BuildTables();
  BuildStudies(options.vramscope.isEmpty() ? FindVramscope() : options.vramscope,
               options.worker_program);
  BuildDocks();
  BuildActions();
  ConnectPanels();
  BuildProgram(options.vramscope.isEmpty() ? FindVramscope() : options.vramscope);

  status_ = MakeLabel({}, LabelRole::kDim);
  status_->setObjectName(QStringLiteral("statusText"));
  status_->setContentsMargins(11, 0, 0, 0);
  statusBar()->addWidget(status_, 1);
  statusBar()->setSizeGripEnabled(false);
  status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  progress_ = new QProgressBar;
  progress_->setObjectName(QStringLiteral("progress"));
  progress_->setFixedSize(kProgressWidth, kProgressHeight);
  progress_->setTextVisible(false);
  progress_->hide();
  statusBar()->addPermanentWidget(progress_);
  cancel_ = new QToolButton;
  cancel_->setObjectName(QStringLiteral("cancel"));
  cancel_->setProperty("role", "quiet");
  cancel_->setText(tr("Cancel"));
  cancel_->setFont(PanelFont(timeline::Font::kSmall));
  cancel_->setToolTip(tr("Ctrl+."));
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, &MainWindow::CancelWhatIsAsked);
  statusBar()->addPermanentWidget(cancel_);
  connect(&write_poll_, &QTimer::timeout, this, &MainWindow::ShowProgress);
  compare_loader_ = new FileLoader(options.open ? options.open : importers::OpenTraceFile, this);
  connect(compare_loader_, &FileLoader::progressed, this, &MainWindow::ShowProgress);
  connect(compare_loader_, &FileLoader::loaded, this, &MainWindow::ComparisonLoaded);
  connect(compare_loader_, &FileLoader::notLoaded, this, &MainWindow::ComparisonNotLoaded);
  connect(loader_, &FileLoader::progressed, this, &MainWindow::ShowProgress);
  connect(loader_, &FileLoader::outlined, this, &MainWindow::Outlined);
  connect(loader_, &FileLoader::preview, this, &MainWindow::Preview);
  connect(loader_, &FileLoader::loaded, this, &MainWindow::FileLoaded);
  connect(loader_, &FileLoader::notLoaded, this, &MainWindow::FileNotLoaded);
  connect(this, &MainWindow::documentShown, this, &MainWindow::OpenNext);
  connect(&stop_again_, &QTimer::timeout, this, &MainWindow::StopRuns);

  resize(1680, 1050);
  layout_.start(this, {.controls = controls_dock_,
                       .history = history_dock_,
                       .breakdown = breakdown_dock_,
                       .tables = tables_dock_});
  layout_.restore(*settings_);
  ApplyChosenTheme();
  SetConfig(run::RunConfigBuilder().Build().value_or(run::RunConfig{}));
  BuildSession();
  BuildTabs();
  actions_.Refresh();
  // Give the canvas the focus, so that its keys work from the start.
  timeline_->setFocus();
  CheckForLibTorch();
  WarnOfFonts();
}

MainWindow::~MainWindow() {
  StoreSession(/*closed=*/true);
  session_file_->flush();
  loader_->cancel();
  compare_loader_->cancel();
  // These objects emit signals during their destruction. The signals must not reach a partly
  // destroyed window, so destroy or disconnect the objects here.
  download_.reset();
  worker_->disconnect(this);
  if (gpu_worker_ != nullptr) gpu_worker_->disconnect(this);
  savings_->disconnect(this);
  loader_->disconnect(this);
  compare_loader_->disconnect(this);
  runner_->disconnect(this);
  for (StudyPage* page : studies_) page->disconnect(this);
  toggle_search_->disconnect(this);
  watch_->disconnect(this);
  keeping_.wait();
}

void MainWindow::BuildDocks() {
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
  const auto dock = [this](const QString& title, const char* name, QWidget* inside,
                           Qt::DockWidgetArea area) {
    auto* widget = new QDockWidget(title, this);
    widget->setObjectName(QString::fromLatin1(name));
    widget->setTitleBarWidget(new QWidget);
    widget->setWidget(inside);
    addDockWidget(area, widget);
    return widget;
  };
  auto* controls = new QWidget;
  auto* column = new QVBoxLayout(controls);
  column->setContentsMargins(15, 12, 15, 6);
  column->setSpacing(10);
  run_panel_ = new RunPanel;
  techniques_ = new TechniquePanel;
  setup_panel_ = new SetupPanel;
  connect(setup_panel_, &SetupPanel::downloadRequested, this, &MainWindow::downloadLibTorch);
  connect(setup_panel_, &SetupPanel::cancelRequested, this, [this] { download_->cancel(); });
  column->addWidget(setup_panel_);
  column->addWidget(run_panel_);
  column->addWidget(techniques_);
  column->addStretch();
  recording_ = new RecordingPanel;
  controls_ = new QStackedWidget;
  program_ = new ProgramPanel;
  controls_->addWidget(Scrolling(controls));
  controls_->addWidget(Scrolling(recording_));
  controls_->addWidget(Scrolling(program_));
  // The tabs are in the order of ControlsPage.
  controls_tabs_ = new QTabBar;
  controls_tabs_->setObjectName(QStringLiteral("controlsTabs"));
  controls_tabs_->setDrawBase(false);
  controls_tabs_->setExpanding(false);
  for (const QString& text : {tr("Model"), tr("Recording"), tr("Your program")})
    controls_tabs_->addTab(text);
  controls_tabs_->setTabVisible(static_cast<int>(ControlsPage::kRecording), false);
  connect(controls_tabs_, &QTabBar::currentChanged, this, [this](int page) {
    controls_->setCurrentIndex(page);
    ShowStudies();
    actions_.Refresh();
  });
  auto* left = new QWidget;
  auto* pages = new QVBoxLayout(left);
  pages->setContentsMargins(0, 0, 0, 0);
  pages->setSpacing(0);
  pages->addWidget(controls_tabs_);
  pages->addWidget(controls_, 1);
  controls_dock_ = dock(tr("Run and techniques"), "controlsDock", left, Qt::LeftDockWidgetArea);
  controls_dock_->setMinimumWidth(DockLayout::kControlsLeast);
  history_ = new HistoryPanel;
  history_dock_ = dock(tr("History"), "historyDock", history_, Qt::LeftDockWidgetArea);
  history_dock_->setMinimumWidth(DockLayout::kControlsLeast);
  breakdown_ = new BreakdownPanel;
  auto* right = new QWidget;
  selection_ = new SelectionPanel(right);
  auto* answers = new QVBoxLayout(right);
  answers->setContentsMargins(0, 0, 0, 0);
  answers->setSpacing(0);
  breakdown_scroll_ = Scrolling(breakdown_);
  // The breakdown gets the height that the selection panel does not need.
  breakdown_scroll_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);
  answers->addWidget(breakdown_scroll_, 1);
  answers->addWidget(selection_);
  breakdown_dock_ = dock(tr("Breakdown"), "breakdownDock", right, Qt::RightDockWidgetArea);
  breakdown_dock_->setMinimumWidth(DockLayout::kBreakdownLeast);
  tables_dock_ = dock(tr("Tables"), "tablesDock", tabs_, Qt::BottomDockWidgetArea);
  // The minimum size is smaller than some pages need, because the canvas is more important.
  tabs_->setMinimumSize(DockLayout::kTablesLeastWidth, DockLayout::kTablesLeast);
}

void MainWindow::ConnectPanels() {
  connect(run_panel_, &RunPanel::configEdited, this, &MainWindow::editConfig);
  connect(run_panel_, &RunPanel::presetChosen, this, &MainWindow::ChoosePreset);
  connect(run_panel_, &RunPanel::openModelConfigRequested, this,
          [this] { actions_.Find(QStringLiteral("run.model"))->trigger(); });
  connect(techniques_, &TechniquePanel::configEdited, this, &MainWindow::editConfig);
  connect(techniques_, &TechniquePanel::searched, savings_, &SavingsPlanner::prefer);
  // Give the canvas the focus. Then its keys work, and Ctrl+Z undoes the toggle instead of text in
  // the search field.
  connect(techniques_, &TechniquePanel::switchedByMouse, this, [this] { timeline_->setFocus(); });
  const auto refuse = [this](const QString& why) {
    banner_->show(
        {.kind = "bad-config", .title = tr("This configuration is invalid"), .text = why});
    Q_EMIT failed(why);
  };
  connect(run_panel_, &RunPanel::refused, this, refuse);
  connect(techniques_, &TechniquePanel::refused, this, refuse);
  connect(recording_, &RecordingPanel::planRequested, this, &MainWindow::PlanBeside);
  connect(recording_, &RecordingPanel::partRequested, this, [this] { OpenPartOf(ShownFile()); });
  connect(savings_, &SavingsPlanner::saving, techniques_, &TechniquePanel::setSaving);
#ifdef __GLIBC__
  // Without LibTorch, the savings are read from a dozen sample runs, which are freed afterwards.
  // Return their memory to the system, because later allocations are smaller and would not need it.
  connect(savings_, &SavingsPlanner::finished, this, [this] {
    if (!can_plan_) malloc_trim(0);
  });
#endif
  connect(savings_, &SavingsPlanner::planned, this,
          [this](const run::RunConfig& config, const std::shared_ptr<const Digest>& digest) {
            cache_.Put(config, digest);
          });

  ConnectWorker(worker_);
  connect(&panels_due_, &QTimer::timeout, this, &MainWindow::ShowBesideCanvas);
  connect(&busy_delay_, &QTimer::timeout, this, [this] {
    header_->setBusy(busy_text_);
    timeline_->setLoading(busy_text_);
    ShowProgress();
  });

  connect(timeline_, &timeline::TimelineWidget::dataShown, phases_,
          [this] { phases_->setIndexes(timeline_->data()); });
  connect(timeline_, &timeline::TimelineWidget::selectionChanged, this,
          &MainWindow::SelectionChanged);
  connect(timeline_, &timeline::TimelineWidget::cursorMoved, breakdown_,
          &BreakdownPanel::setCursorTime);
  connect(timeline_, &timeline::TimelineWidget::cursorMoved, explain_,
          &ExplainPanel::setCursorTime);
  connect(timeline_, &timeline::TimelineWidget::rangeSelected, explain_, &ExplainPanel::setRange);
  connect(timeline_, &timeline::TimelineWidget::viewChanged, explain_, &ExplainPanel::setView);
  connect(explain_, &ExplainPanel::cursorRequested, timeline_,
          &timeline::TimelineWidget::setCursorTime);
  connect(explain_, &ExplainPanel::allocationClicked, this, [this](trace::AllocationId id) {
    timeline_->select(id);
    timeline_->revealSelection();
  });
  connect(explain_, &ExplainPanel::blocksClicked, this,
          [this](const std::vector<trace::AllocationId>& blocks, trace::AllocationId id) {
            timeline_->highlight(blocks);
            timeline_->select(id);
            timeline_->revealSelection();
          });
  connect(explain_, &ExplainPanel::actionRequested, this,
          [this](const QString& id) { actions_.Find(id)->trigger(); });
  connect(recording_, &RecordingPanel::pageRequested, this, &MainWindow::openPage);
  connect(timeline_, &timeline::TimelineWidget::rangeSelected, this, &MainWindow::RangeSelected);
  connect(selection_, &SelectionPanel::linkClicked, timeline_, &timeline::TimelineWidget::follow);
  connect(breakdown_, &BreakdownPanel::rangeLeft, this, [this] { timeline_->setRange(0, 0); });
  connect(allocations_, &AllocationsPanel::rangeLeft, this, [this] { timeline_->setRange(0, 0); });
  connect(timeline_, &timeline::TimelineWidget::viewChanged, this, [this] { actions_.Refresh(); });
  connect(timeline_, &timeline::TimelineWidget::lanesChanged, this, [this] {
    LanesChanged();
    actions_.Refresh();
  });
  connect(breakdown_, &BreakdownPanel::allocationClicked, this, [this](trace::AllocationId id) {
    timeline_->select(id);
    timeline_->revealSelection();
  });
  connect(allocations_, &AllocationsPanel::allocationClicked, this, [this](trace::AllocationId id) {
    timeline_->select(id);
    timeline_->revealSelection();
  });
  connect(allocations_, &AllocationsPanel::marked, timeline_, &timeline::TimelineWidget::mark);
  connect(header_, &HeaderBar::gpuChosen, this,
          [this](int device) { showDevice(static_cast<uint8_t>(device)); });
  connect(header_, &HeaderBar::commandsClicked, this,
          [this] { actions_.Find(QStringLiteral("help.commands"))->trigger(); });
  connect(header_, &HeaderBar::chipClicked, this, [this](const QString& name) {
    if (name == QLatin1String("peak") || name == QLatin1String("fits")) {
      timeline_->jumpToPeak();
      breakdown_dock_->show();
    } else if (name == QLatin1String("reserved")) {
      openPage(QStringLiteral("reclaim"));
    } else if (name == QLatin1String("unused")) {
      openPage(QStringLiteral("fragmentation"));
    } else if (name == QLatin1String("out-of-memory")) {
      openPage(QStringLiteral("out-of-memory"));
    } else if (!ControlsShow(ControlsPage::kModel)) {
      controls_dock_->show();
    } else {
      controls_dock_->show();
      run_panel_
          ->findChild<QWidget*>(name == QLatin1String("device") ? QStringLiteral("device")
                                                                : QStringLiteral("model"))
          ->setFocus();
    }
  });
  ConnectPages();
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  layout_.shown();
}

QString MainWindow::storedLanguage() {
  return OpenSettings({})->value(QStringLiteral("language")).toString();
}

int MainWindow::storedUiScale() { return StoredUiScale(*OpenSettings({})); }

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!event->mimeData()->hasUrls()) return;
  event->acceptProposedAction();
  if (session().shown() == nullptr || session().partial()) return;
  drop_zones_->show(centralWidget()->geometry(), theme_, event->position().toPoint());
}

void MainWindow::dragMoveEvent(QDragMoveEvent* event) {
  drop_zones_->setPoint(event->position().toPoint());
  event->acceptProposedAction();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) { drop_zones_->hide(); }

void MainWindow::dropEvent(QDropEvent* event) {
  const bool compare = drop_zones_->compares(event->position().toPoint());
  drop_zones_->hide();
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  if (paths.isEmpty()) return;
  event->acceptProposedAction();
  if (compare && paths.size() == 1) {
    compareWith(paths.front());
  } else {
    openFiles(paths);
  }
}

void MainWindow::SelectionChanged(trace::AllocationId id) {
  ShowSelected();
  explain_->setSelection(id);
  allocations_->setSelection(id);
  actions_.Refresh();
}

// Shows the selected allocation or activity, with its links, on the right.
void MainWindow::ShowSelected() {
  breakdown_->setSelection(timeline_->selection());
  selection_->setSelection(timeline_->selection(), timeline_->activityFacts(),
                           timeline_->kernelsOf(timeline_->selection()));
  kernels_->setActivity(timeline_->selectedActivity());
}

QJsonObject MainWindow::dumpState() const {
  phases_->make();
  allocations_->make();
  QJsonObject trace;
  if (session().shown() != nullptr) {
    const analysis::Summary& s = session().shown()->summary;
    trace = {{"title", QString::fromStdString(session().shown()->trace->info.title)},
             {"backend", ToQString(trace::Name(session().shown()->trace->info.backend))},
             {"measured", session().shown()->trace->info.measured},
             {"complete", session().shown()->trace->complete},
             {"end_message", QString::fromStdString(session().shown()->trace->end_message)},
             {"events", static_cast<double>(session().shown()->trace->events.size())},
             {"allocations", static_cast<double>(session().shown()->trace->allocations.size())},
             {"steps", static_cast<double>(s.steps.size())},
             {"peak_allocated", static_cast<double>(s.peak.allocated)},
             {"peak_reserved", static_cast<double>(s.peak.reserved)},
             {"fits", s.fits},
             {"headroom_bytes", static_cast<double>(s.headroom_bytes)}};
  }
  QJsonArray recent;
  for (const QString& path : recent_.paths()) recent.append(path);
  const auto config_json = QByteArray::fromStdString(run::ToJson(doc().config));
  QJsonObject config = QJsonDocument::fromJson(config_json).object();
  config.remove(QStringLiteral("model_config_json"));
  config.remove(QStringLiteral("modelConfigJson"));
  return {
      {"title", windowTitle()},
      {"config", config},
      {"trace", trace},
      {"partial", session().partial()},
      {"recorded", ControlsShow(ControlsPage::kRecording)},
      {"program", program_->dumpState()},
      {"recording", recording_->dumpState()},
      {"loading", loader_->busy() ? QJsonValue(QJsonObject{{"file", loader_->path()},
                                                           {"fraction", loader_->fraction()},
                                                           {"progress", progress_->isVisible()},
                                                           {"cancelling", loader_->cancelling()}})
                                  : QJsonValue::Null},
      {"chips", header_->dumpState()},
      {"techniques", techniques_->dumpState()},
      {"breakdown", breakdown_->dumpState()},
      {"selection", selection_->dumpState()},
      {"tables", QJsonObject{{"phases", phases_->dumpState()},
                             {"allocations", allocations_->dumpState()},
                             {"kernels", kernels_->dumpState()},
                             {"search", search_->dumpState()},
                             {"notes", notes_page_->dumpState()},
                             {"current", tabs_->tabText(tabs_->currentIndex())}}},
      {"explain", explain_->dumpState()},
      {"fit", fit_->dumpState()},
      {"waterfall", waterfall_->dumpState()},
      {"program_fit", program_fit_->dumpState()},
      {"program_waterfall", program_waterfall_->dumpState()},
      {"vary", vary_->dumpState()},
      {"experiments", experiments_->dumpState()},
      {"timeline", timeline_->dumpState()},
      {"banner", banner_->dumpState()},
      {"status", status_->text()},
      {"log", log_->toPlainText().right(kDumpedLog)},
      {"theme", theme_.dark ? "dark" : "light"},
      {"theme_choice", ThemeName(theme_choice_)},
      {"baseline", session().baseline() != nullptr},
      {"against",
       session().Against() ? QString::fromStdString(session().Against()->name) : QString()},
      {"ghost", session().Against() != nullptr && session().Against() != session().shown()},
      {"undo", CanUndo() ? QString::fromStdString(doc().undo.next_undo()->text) : QString()},
      {"redo", doc().undo.next_redo() != nullptr
                   ? QString::fromStdString(doc().undo.next_redo()->text)
                   : QString()},
      {"recent", recent},
      {"documents", document_tabs_->dumpState()},
      {"history", history_->dumpState()},
      {"program_behind", programBehind()},
      {"can_plan", can_plan_},
      {"tour", tour_ ? QJsonValue(tour_->dumpState()) : QJsonValue::Null},
      {"setup", setup_panel_->dumpState()},
      {"busy", busy()}};
}

}  // namespace vramscope::ui
