// The window's commands: their names, menus and keys.
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QStackedWidget>
#include <QTabWidget>

#include "ui/explain/explain_panel.h"
#include "ui/language/language.h"
#include "ui/panels/allocations_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/program/program_runner.h"
#include "ui/shell/key_bindings.h"
#include "ui/shell/main_window.h"
#include "ui/shell/setup_panel.h"
#include "ui/studies/program_pages.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

QList<QKeySequence> Keys(std::initializer_list<const char*> texts) {
  QList<QKeySequence> keys;
  for (const char* text : texts) keys << QKeySequence(QString::fromLatin1(text));
  return keys;
}

QString FileKinds() {
  return QObject::tr(
      "Recordings (*.trace *.pickle *.pkl *.json *.gz *.zst);;Traces (*.trace);;"
      "CUDA memory snapshots (*.pickle *.pkl *.json *.gz *.zst);;All files (*)");
}

}  // namespace

void MainWindow::BuildActions() {
  AddFileActions();
  AddDocumentActions();
  AddEditActions();
  AddViewActions();
  AddRunActions();
  AddSessionActions();
  AddHelpActions();
  actions_.FillMenus(menuBar());
  for (const ActionRegistry::Entry& entry : actions_.entries()) addAction(entry.action);
  recent_.show();
  keys_ = new KeyBindings(&actions_, KeysFile(), this);
  keys_->load();
}

void MainWindow::AddFileActions() {
  const QString menu = tr("File");
  const auto have = [this] { return session().shown() != nullptr; };
  actions_.Add({.id = "file.open",
                .menu = menu,
                .text = tr("Open …"),
                .shortcuts = Keys({"Ctrl+O"}),
                .run = [this] { OpenDialog(); },
                .tip = tr("Opens a .trace file, a CUDA memory snapshot or Kineto JSON")});
  actions_.Add({.id = "file.compare",
                .menu = menu,
                .text = tr("Compare with a file …"),
                .shortcuts = Keys({"Ctrl+D"}),
                .run = [this] { CompareDialog(); },
                .enabled = have,
                .tip = tr("Open a second recording or trace as the baseline of the current run")});
  actions_.Add(
      {.id = "file.open-part",
       .menu = menu,
       .text = tr("Open part of a recording …"),
       .shortcuts = Keys({"Ctrl+Shift+O"}),
       .run = [this] { OpenPartOf(session().from_file() ? ShownFile() : QString()); },
       .enabled = [this] { return !StateIsShown(); },
       .tip = tr("Opens one device, one range of entries, or one time range of a large file"),
       .why_not = tr("A snapshot without history has no entries to choose from")});
  actions_.Add(
      {.id = "file.program",
       .menu = menu,
       .text = tr("Plan or record a Python program …"),
       .shortcuts = Keys({"Ctrl+G"}),
       .run = [this] { openProgram(); },
       .tip = tr("Opens the settings for your own train.py. The program can run on an emulated "
                 "GPU, on this computer or on another computer"),
       .words = {tr("ssh"), tr("host"), tr("script"), tr("train.py"), tr("your program")}});
  actions_.Add({.id = "file.save",
                .menu = menu,
                .text = tr("Save trace …"),
                .shortcuts = Keys({"Ctrl+S"}),
                .run = [this] { SaveDialog(); },
                .enabled = have,
                .tip = tr("Save the current run as a .trace file")});
  actions_.Add(
      {.id = "file.export.chrome",
       .menu = menu,
       .text = tr("Export Chrome trace …"),
       .shortcuts = Keys({"Ctrl+E"}),
       .run = [this] { ExportDialog(); },
       .enabled = have,
       .tip = tr("Exports a trace for Perfetto, chrome://tracing and HolisticTraceAnalysis")});
  actions_.Add({.id = "file.export.report",
                .menu = menu,
                .text = tr("Export report …"),
                .shortcuts = Keys({"Ctrl+Shift+E"}),
                .run = [this] { ExportReportDialog(); },
                .enabled = have,
                .tip = tr("Writes one HTML page that can be read without vramscope. If a baseline "
                          "is pinned, the page compares both runs"),
                .words = {tr("html"), tr("share")}});
  actions_.Add({.id = "file.export.picture",
                .menu = menu,
                .text = tr("Export image …"),
                .run = [this] { ExportImageDialog(); },
                .enabled = [this] { return session().shown() != nullptr && !StateIsShown(); },
                .tip = tr("Exports the timeline as it is shown, to PNG, SVG or PDF"),
                .why_not = tr("A snapshot without a history has no timeline"),
                .words = {tr("png"), tr("pdf"), tr("svg"), tr("image"), tr("screenshot")}});
  recent_.addActions(menu, [this](const QString& path) { openFile(path); });
  actions_.Add({.id = "file.quit",
                .menu = menu,
                .text = tr("Quit"),
                .shortcuts = Keys({"Ctrl+Q"}),
                .run = [this] { close(); },
                .separator_before = true,
                .words = {tr("exit"), tr("close")},
                .careful = true});
}

void MainWindow::AddEditActions() {
  const QString menu = tr("Edit");
  actions_.Add({.id = "edit.undo",
                .menu = menu,
                .text = tr("Undo"),
                .shortcuts = Keys({"Ctrl+Z"}),
                .run = [this] { undo(); },
                .enabled = [this] { return CanUndo(); },
                .tip = tr("Undo the last change of the configuration")});
  actions_.Add({.id = "edit.redo",
                .menu = menu,
                .text = tr("Redo"),
                .shortcuts = Keys({"Ctrl+Shift+Z", "Ctrl+Y"}),
                .run = [this] { redo(); },
                .enabled = [this] { return CanRedo(); }});
  actions_.Add({.id = "edit.copy-table",
                .menu = menu,
                .text = tr("Copy table rows"),
                .run =
                    [this] {
                      if (const TableView* table = TableInFront()) table->copySelection();
                    },
                .tip = tr("Copies the selected rows of the current table as TSV (Ctrl+C in a "
                          "table). If no row is selected, copies all rows"),
                .separator_before = true});
  actions_.Add({.id = "edit.copy-csv",
                .menu = menu,
                .text = tr("Copy table rows as CSV"),
                .run =
                    [this] {
                      if (const TableView* table = TableInFront()) table->copyAsCsv();
                    },
                .tip = tr("Copies the rows with exact numbers (Ctrl+Shift+C in a table)")});
  actions_.Add({.id = "edit.copy-markdown",
                .menu = menu,
                .text = tr("Copy table rows as Markdown"),
                .run =
                    [this] {
                      if (const TableView* table = TableInFront()) table->copyAsMarkdown();
                    },
                .tip = tr("Copies the rows as a GitHub Markdown table")});
  AddFindActions();
  AddNoteActions();
  AddMeasureActions();
  actions_.Add({.id = "edit.leave-range",
                .menu = menu,
                .text = tr("Clear the selected range"),
                .run = [this] { timeline_->setRange(0, 0); },
                .enabled =
                    [this] {
                      const auto [begin, end] = timeline_->range();
                      return begin < end;
                    },
                .tip = tr("Esc in the timeline")});
  actions_.Add({.id = "edit.clear-selection",
                .menu = menu,
                .text = tr("Clear the selection"),
                .run = [this] { timeline_->clearSelection(); },
                .enabled = [this] { return timeline_->selection().valid(); }});
}

void MainWindow::AddViewActions() {
  const QString menu = tr("View");
  const auto have = [this] { return session().shown() != nullptr; };
  actions_.Add({.id = "view.fit",
                .menu = menu,
                .text = tr("Show all"),
                .shortcuts = Keys({"Home", "Ctrl+0"}),
                .run = [this] { timeline_->zoomToFit(); },
                .enabled = have,
                .words = {tr("fit"), tr("zoom to fit"), tr("reset zoom")}});
  actions_.Add({.id = "view.zoom-in",
                .menu = menu,
                .text = tr("Zoom in"),
                .shortcuts = Keys({"Ctrl++", "Ctrl+="}),
                .run = [this] { timeline_->zoomIn(); },
                .enabled = have});
  actions_.Add({.id = "view.zoom-out",
                .menu = menu,
                .text = tr("Zoom out"),
                .shortcuts = Keys({"Ctrl+-"}),
                .run = [this] { timeline_->zoomOut(); },
                .enabled = have});
  actions_.Add({.id = "view.zoom-selection",
                .menu = menu,
                .text = tr("Zoom to the selection"),
                .shortcuts = Keys({"Ctrl+Return"}),
                .run = [this] { timeline_->zoomToSelection(); },
                .enabled = have});
  actions_.Add({.id = "view.back",
                .menu = menu,
                .text = tr("Previous view"),
                .shortcuts = Keys({"Alt+Left"}),
                .run = [this] { timeline_->undoView(); },
                .enabled = [this] { return timeline_->canUndoView(); }});
  actions_.Add({.id = "view.forward",
                .menu = menu,
                .text = tr("Next view"),
                .shortcuts = Keys({"Alt+Right"}),
                .run = [this] { timeline_->redoView(); },
                .enabled = [this] { return timeline_->canRedoView(); }});
  actions_.Add(
      {.id = "view.lanes.show-all",
       .menu = menu,
       .text = tr("Show all tracks"),
       .run = [this] { timeline_->showAllLanes(); },
       .tip = tr("Shows all tracks, including hidden ones. To hide a track, right-click its title"),
       .separator_before = true,
       .words = {tr("hidden"), tr("rows"), tr("tracks")}});
  actions_.Add({.id = "view.lanes.reset",
                .menu = menu,
                .text = tr("Reset all tracks"),
                .run = [this] { timeline_->resetLanes(); },
                .enabled = [this] { return !timeline_->laneSettings().isEmpty(); },
                .tip = tr("Undoes all folding, pinning, hiding, moving and resizing of tracks"),
                .words = {tr("reset"), tr("order"), tr("tracks")}});
  const auto panel = [&](const char* id, const QString& text, const char* key, QDockWidget* dock,
                         bool separator) {
    actions_.Add({.id = QString::fromLatin1(id),
                  .menu = menu,
                  .text = text,
                  .shortcuts = Keys({key}),
                  .run = [dock] { dock->setVisible(!dock->isVisible()); },
                  .checked = [dock] { return dock->isVisible(); },
                  .separator_before = separator});
  };
  panel("view.controls", tr("Controls"), "F6", controls_dock_, true);
  panel("view.breakdown", tr("Breakdown"), "F7", breakdown_dock_, false);
  panel("view.tables", tr("Tables"), "F8", tables_dock_, false);
  panel("view.history", tr("History"), "F9", history_dock_, false);
  actions_.Add({.id = "view.reset-layout",
                .menu = menu,
                .text = tr("Reset the layout"),
                .run = [this] { layout_.reset(); },
                .careful = true});
  actions_.Add(
      {.id = "view.next-device",
       .menu = menu,
       .text = tr("Next GPU of the recording"),
       .shortcuts = Keys({"Ctrl+Shift+D"}),
       .run = [this] { NextDevice(); },
       .enabled =
           [this] { return session().shown() != nullptr && session().shown()->whole != nullptr; },
       .tip = tr("The window shows one GPU of a recording at a time"),
       .words = {tr("device"), tr("cuda")}});
  const auto theme = [&](ThemeChoice choice, const QString& text, bool separator) {
    actions_.Add({.id = QStringLiteral("view.theme.") + ThemeName(choice),
                  .menu = menu,
                  .text = text,
                  .run = [this, choice] { setThemeChoice(choice); },
                  .checked = [this, choice] { return theme_choice_ == choice; },
                  .separator_before = separator});
  };
  theme(ThemeChoice::kSystem, tr("System theme"), true);
  theme(ThemeChoice::kDark, tr("Dark theme"), false);
  theme(ThemeChoice::kLight, tr("Light theme"), false);
  for (const Language language : Languages())
    actions_.Add({.id = QStringLiteral("view.language.") + LanguageName(language),
                  .menu = menu,
                  .text = LanguageTitle(language),  // each language is named in the language itself
                  .run = [this, language] { setLanguage(language); },
                  .checked = [language] { return CurrentLanguage() == language; },
                  .separator_before = language == Languages().front(),
                  .words = {tr("language"), QStringLiteral("language"), QStringLiteral("语言"),
                            language == Language::kChinese ? QStringLiteral("chinese")
                                                           : QStringLiteral("英语")}});
  actions_.Add({.id = "view.animations",
                .menu = menu,
                .text = tr("Animations"),
                .run =
                    [this] {
                      animations_ = !animations_;
                      settings_->setValue(QStringLiteral("animations"), animations_);
                      timeline_->setAnimations(animations_);
                    },
                .checked = [this] { return animations_; },
                .separator_before = true});
}

void MainWindow::AddRunActions() {
  QString menu = tr("Run");
  actions_.Add({.id = "run.again",
                .menu = menu,
                .text = tr("Run"),
                .shortcuts = Keys({"Ctrl+R", "F5"}),
                .run =
                    [this] {
                      if (ControlsShow(ControlsPage::kProgram))
                        startProgram();
                      else
                        StartRun();
                    },
                .enabled =
                    [this] {
                      return !ControlsShow(ControlsPage::kProgram) ||
                             (!runner_->busy() && program::CommandOf(program_->request()).ok());
                    },
                .tip = tr("Run the configuration on the left again")});
  actions_.Add({.id = "run.card",
                .menu = menu,
                .text = tr("Run on this computer's GPU"),
                .shortcuts = Keys({"Ctrl+Shift+R"}),
                .run = [this] { runOnGpu(); },
                .enabled =
                    [this] {
                      return can_plan_ && ControlsShow(ControlsPage::kModel) && run_tag_ == 0 &&
                             !finding_gpu_libraries_.busy() && gpu_worker_ == nullptr;
                    },
                .tip = tr("Runs the steps of this configuration on the GPU, measures them, and "
                          "compares the plan with the run"),
                .words = {tr("cuda"), tr("card"), tr("measure")}});
  actions_.Add({.id = "run.cancel",
                .menu = menu,
                .text = tr("Cancel"),
                .shortcuts = Keys({"Ctrl+."}),
                .run = [this] { CancelWhatIsAsked(); },
                .enabled = [this] { return busy(); },
                .words = {tr("stop"), tr("abort")},
                .careful = true});
  actions_.Add(
      {.id = "run.show-program",
       .menu = menu,
       .text = tr("Show the program"),
       .run = [this] { showProgram(); },
       .enabled =
           [this] { return program_id_ != doc().id() && documents_.Find(program_id_) != nullptr; },
       .tip = tr("Shows the program that is running in the background, or that has ended there"),
       .words = {tr("back"), tr("background")}});
  actions_.Add({.id = "run.setup",
                .menu = menu,
                .text = tr("Download LibTorch"),
                .run = [this] { downloadLibTorch(); },
                .enabled =
                    [this] {
                      return setup_panel_->canDownload() && !can_plan_ &&
                             (download_ == nullptr || !download_->busy());
                    },
                .tip = tr("Downloads LibTorch, which is needed to plan the built-in models"),
                .words = {tr("setup"), tr("install"), tr("torch")}});
  actions_.Add({.id = "run.model",
                .menu = menu,
                .text = tr("Open config.json …"),
                .run =
                    [this] {
                      const QString path = QFileDialog::getOpenFileName(
                          this, tr("Open a model's or a run's configuration"), QString(),
                          tr("JSON (*.json);;All files (*)"));
                      if (!path.isEmpty()) openModelConfig(path);
                    },
                .tip = tr("Opens a Hugging Face config.json, or a run.json")});
  actions_.Add({.id = "run.device",
                .menu = menu,
                .text = tr("Choose the GPU …"),
                .run = [this] { chooseDevice(); },
                .tip = tr("Choose a GPU from the device table, open a device file, or enter a MIG "
                          "slice, a memory size or other properties"),
                .words = {tr("device"), tr("card"), tr("memory"), tr("mig")}});
  actions_.Add({.id = "run.fit",
                .menu = menu,
                .text = tr("Make it fit"),
                .shortcuts = Keys({"Ctrl+Shift+F"}),
                .run =
                    [this] {
                      openPage(QStringLiteral("fit"));
                      MakeItFit();
                    },
                .enabled = [this] { return CanStudy(fit_pages_); },
                .tip = tr("Plans combinations of techniques until the run fits into the GPU"),
                .words = {tr("budget"), tr("out of memory")}});
  actions_.Add({.id = "run.waterfall",
                .menu = menu,
                .text = tr("Waterfall"),
                .run =
                    [this] {
                      openPage(QStringLiteral("waterfall"));
                      DrawWaterfall();
                    },
                .enabled = [this] { return CanStudy(waterfall_pages_); },
                .tip = tr("Adds the techniques of this run to the model's defaults one by one, and "
                          "shows what each changes")});
  actions_.Add({.id = "run.vary",
                .menu = menu,
                .text = tr("Vary an argument of your program"),
                .run =
                    [this] {
                      openProgram();
                      openPage(QStringLiteral("vary"));
                      vary_->setFocus(Qt::ShortcutFocusReason);
                    },
                .tip = tr("Draws a chart of the memory that the program needs for each value of an "
                          "argument. Click a point to open its plan"),
                .words = {tr("batch"), tr("sequence"), tr("sweep")}});
  actions_.Add({.id = "run.experiments",
                .menu = menu,
                .text = tr("Published experiments"),
                .run = [this] { openPage(QStringLiteral("experiments")); },
                .tip = tr("Shows planned and published values side by side. You can open each "
                          "experiment as a run"),
                .words = {tr("reproduce")}});
  actions_.Add({.id = "run.pin",
                .menu = menu,
                .text = tr("Pin as baseline"),
                .shortcuts = Keys({"Ctrl+B"}),
                .run = [this] { PinBaseline(); },
                .enabled = [this] { return session().shown() != nullptr; },
                .tip = tr("Draws later runs over this run and compares them with this run"),
                .separator_before = true});
  actions_.Add({.id = "run.unpin",
                .menu = menu,
                .text = tr("Unpin the baseline"),
                .run = [this] { UnpinBaseline(); },
                .enabled = [this] { return session().baseline() != nullptr; },
                .careful = true});
  actions_.Add({.id = "run.swap",
                .menu = menu,
                .text = tr("Swap with the baseline"),
                .shortcuts = Keys({"Ctrl+Shift+B"}),
                .run = [this] { SwapBaseline(); },
                .enabled =
                    [this] {
                      return session().baseline() != nullptr && session().shown() != nullptr &&
                             session().shown() != session().baseline() && !session().partial() &&
                             !busy();
                    },
                .tip = tr("Show the baseline and compare it with the current run")});
  for (const run::ToggleRow& row : run::Toggles()) {
    const QString id = ToQString(row.toggle->id);
    actions_.Add({.id = QStringLiteral("technique.") + id,
                  .menu = tr("Techniques"),
                  .text = Translated(row.toggle->title),
                  .run = [this, toggle = row.toggle] { techniques_->Switch(*toggle); },
                  .enabled =
                      [this, id] {
                        return ControlsShow(ControlsPage::kModel) &&
                               techniques_->toggle(id)->isEnabled();
                      },
                  .checked = [this, id] { return techniques_->toggle(id)->isChecked(); }});
  }
  menu = tr("Go");
  actions_.Add({.id = "go.peak",
                .menu = menu,
                .text = tr("To the peak"),
                .shortcuts = Keys({"Ctrl+P"}),
                .run = [this] { timeline_->jumpToPeak(); },
                .enabled = [this] { return session().shown() != nullptr; }});
  actions_.Add({.id = "go.largest",
                .menu = menu,
                .text = tr("To the largest allocation at the peak"),
                .shortcuts = Keys({"Ctrl+L"}),
                .run =
                    [this] {
                      const auto& live = session().shown()->at_peak.allocations;
                      if (live.empty()) return;
                      timeline_->select(live.front().id);
                      timeline_->revealSelection();
                    },
                .enabled = [this] { return session().shown() != nullptr; }});
  menu = tr("Explain");
  for (const ExplainPanel::PageInfo& info : explain_->pages()) {
    const QString id = QString::fromLatin1(info.id);
    actions_.Add({.id = QStringLiteral("explain.") + id,
                  .menu = menu,
                  .text = info.command,
                  .shortcuts = Keys({info.shortcut}),
                  .run =
                      [this, id] {
                        openPage(id);
                        FocusPage();
                      },
                  .enabled = [this, replays = info.replays] { return !replays || !StateIsShown(); },
                  .why_not = tr("A snapshot without history cannot be replayed")});
  }
}

// Returns the table that has the focus or, if none has it, the first visible table.
TableView* MainWindow::TableInFront() const {
  TableView* found = nullptr;
  for (TableView* table : tabs_->currentWidget()->findChildren<TableView*>())
    if (table->isVisible() && (found == nullptr || table->hasFocus())) found = table;
  return found;
}

void MainWindow::OpenDialog() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Open a recording"), QFileInfo(ShownFile()).path(), FileKinds());
  if (!paths.isEmpty()) openFiles(paths);
}

void MainWindow::CompareDialog() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Compare with a recording"),
                                                    QFileInfo(ShownFile()).path(), FileKinds());
  if (!path.isEmpty()) compareWith(path);
}

void MainWindow::SaveDialog() {
  const QString path =
      AskForSaveName(tr("Save the trace"), tr("Traces (*.trace)"), QStringLiteral("trace"),
                     proposedName(QStringLiteral("trace")));
  if (!path.isEmpty()) saveTrace(path);
}

void MainWindow::ExportDialog() {
  const QString path = AskForSaveName(tr("Export as Chrome trace"), tr("Chrome trace (*.json)"),
                                      QStringLiteral("json"), proposedName(QStringLiteral("json")));
  if (!path.isEmpty()) exportChrome(path);
}

}  // namespace vramscope::ui
