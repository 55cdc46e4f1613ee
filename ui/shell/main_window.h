// The window. Documents (plans, runs, opened traces) are in tabs, and the active document is in the
// middle. Controls and history are on the left, breakdown and selection on the right, and tables
// below.
//
//   MainWindow window({.worker_program = FindWorker()});
//   window.show();
//   window.runConfig(config);
//
// UI thread only. All slow work (planning, reading, writing, digesting) is done in other threads
// and processes. A result stays on the screen until the next one is ready.
#pragma once

#include <absl/status/statusor.h>

#include <QElapsedTimer>
#include <QJsonObject>
#include <QMainWindow>
#include <QPointer>
#include <QSettings>
#include <QTimer>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/samples.h"
#include "profiler/trace/trace.h"
#include "ui/documents/document_list.h"
#include "ui/jobs/jobs.h"
#include "ui/language/language.h"
#include "ui/notes/notes.h"
#include "ui/panels/rows.h"
#include "ui/setup/torch_download.h"
#include "ui/shell/actions.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/file_loader.h"
#include "ui/shell/kept_results.h"
#include "ui/shell/recent_files.h"
#include "ui/shell/run_cache.h"
#include "ui/shell/style.h"

class QDockWidget;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QScrollArea;
class QStackedWidget;
class QTabBar;
class QTabWidget;
class QToolButton;

namespace vramscope::program {
class ScratchFolder;
}

namespace vramscope::ui {

namespace timeline {
class TimelineWidget;
}
class AllocationsPanel;
class Banner;
class BreakdownPanel;
class SelectionPanel;
class DocumentTabs;
class DropZones;
class ExplainPanel;
class HeaderBar;
class HistoryPanel;
class KernelsPanel;
class KeyBindings;
class NoteStore;
class NotesPage;
class PhasesPanel;
class ProgramPanel;
class ProgramRunner;
class RecordingPanel;
class RunPanel;
class SavingsPlanner;
class SearchPanel;
class SessionFile;
class SetupPanel;
class CommandRunner;
class ExperimentsPage;
class FileWatch;
class FitPage;
class ProgramFitPage;
class ProgramWaterfallPage;
class StudyPage;
class VaryPage;
class WaterfallPage;
class TableModel;
class TableView;
class TechniquePanel;
class Tour;
class WorkerClient;
struct ProgramEnd;
struct ProgramReport;
struct SavedDocument;
struct SavedSession;

// Options for a window that may lack LibTorch.
struct SetupOptions {
  std::function<setup::LibTorch()> find_libtorch = {};  // empty: the worker uses its own LibTorch
  QString samples_folder = {};  // folder of sample runs, shown if nothing can be planned
  DownloadOptions download = {};
};

struct MainWindowOptions {
  QString worker_program;
  QString vramscope = {};  // path of `vramscope`, which plans programs; empty: FindVramscope()
  QString settings_file;   // path of the settings; empty: the user's own settings
  // The folder in which results are saved (kept_results.h). If it is empty, they are saved next to
  // settings_file or, without that, in the user's folder.
  QString state_folder = {};
  bool savings = true;     // whether to plan what techniques would save
  OpenFunction open = {};  // empty: importers::OpenTraceFile
  bool cache = true;       // whether to show earlier plans from the cache
  // Returns the folders of CUDA's libraries for a run on this computer's GPU, or an error if no run
  // is possible. Called on a pool thread.
  std::function<absl::StatusOr<std::vector<std::string>>()> gpu_libraries = {};
  SetupOptions setup = {};
};

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const MainWindowOptions& options);
  ~MainWindow() override;

  // These functions plan a configuration and show the plan. If the active document is not a plan,
  // they open a new document, so that the active document's result is not lost. editConfig() also
  // adds an undo step.
  void runConfig(const run::RunConfig& config);
  void editConfig(const run::RunConfig& config);
  const run::RunConfig& config() const { return documents_.active().config; }
  void undo();
  void redo();

  // Functions for documents: their tabs, and the history of the active document.
  const DocumentList& documents() const { return documents_; }
  void newPlan();  // opens a plan with the settings of the active document
  void showDocument(DocumentId id);
  void closeDocument(DocumentId id);  // asks the user first if something runs in the document
  void compareDocuments(DocumentId shown, DocumentId with);
  void showEntry(size_t entry);  // index in the history
  void compareEntries(size_t shown, size_t with);
  // Restores the documents that were open when an earlier window was killed or closed. Returns
  // false if there are no such documents, or if the user declines.
  bool restoreAtStart();
  void restoreDocuments();
  bool sessionStored() const;              // whether the open documents have been saved
  void saveSettings(const QString& path);  // writes the controls' settings as a run.json

  // Downloads LibTorch, which is needed to plan the built-in models. The window also has a button
  // for this.
  void downloadLibTorch();
  bool canPlan() const { return can_plan_; }

  // Runs the configuration of the controls on this computer's GPU, then compares it with the plan.
  void runOnGpu();

  void openFile(const QString& path);
  // Opens the files one after another. The first file becomes the baseline.
  void openFiles(const QStringList& paths);
  void compareWith(const QString& path);  // the file becomes the baseline of the shown run
  void openModelConfig(const QString& path);
  void openDeviceFile(const QString& path);  // sets the device of the run or program shown
  void chooseDevice();
  // Opens the page for a user's program and fills in this script. Does not start it.
  void openProgram(const QString& script = QString());
  void startProgram();  // starts the page's program with its settings, as a real process
  void stopProgram();
  // Plans the program for `device`, and compares the new plan with the shown plan.
  void programAgainOn(const QString& device);
  // Plans `request`, a variant of the program `base`, in a separate document whose baseline is the
  // result of `base`. If that document already exists, shows it. `variant` describes how `request`
  // differs from `base`.
  void planProgramBeside(const program::Request& request, const program::Request& base,
                         const QString& variant);
  // Shows the tab of the program that is running or has ended, if another tab is shown.
  void showProgram();
  // Opens a part of a recording: one device, a range of entries, or a range of time.
  void openPart(const QString& path, const importers::OpenOptions& part);
  // Each of these functions reports its result in the status bar or the banner. Long writes show
  // progress in the status bar. If a write is cancelled, an existing file stays unchanged.
  void saveTrace(const QString& path);
  void exportChrome(const QString& path);
  // Writes the format that the suffix selects: .html: a report (with the baseline if one is
  // pinned); .png, .pdf, .svg: the displayed timeline; .csv: the allocations.
  void exportAs(const QString& path);
  // Without asking, cancels all runs (including those of programs), reads, writes and replays.
  void cancelAll();
  void openPage(const QString& id);        // `id`: a name in pageNames(); other names are ignored
  void openSettings(const QString& page);  // "appearance", "keys"
  // Starts a tour of five steps. The tour uses the current run, or a sample run if there is none.
  void startTour();
  // Starts the tour if it was never shown before. Returns whether the tour opens a file.
  bool offerTour();
  Tour* tour() const;  // null: no tour is in progress
  KeyBindings* keyBindings() const { return keys_; }
  // Shows the controls of the built-in models, and only the techniques that match `words`.
  void openTechniques(const QString& words);
  QStringList pageNames() const;  // "phases", "allocations", "compare", "fragmentation", ...

  // `remember`: whether to store the choice for the next start.
  void setThemeChoice(ThemeChoice choice, bool remember = true);
  static QString storedLanguage();  // the language chosen last; empty: none was ever chosen
  static int storedUiScale();       // the scale that was chosen last, in percent
  // Whether the user closed the window to restart the program.
  bool restartRequested() const { return restart_; }
  // Changes the language of the open window. `remember`: whether to store it for the next start.
  void setLanguage(Language language, bool remember = true);
  // Shows this GPU. The shown trace must be a recording of several GPUs.
  void showDevice(uint8_t device);
  bool busy() const;     // whether something is running, or is being read, written or digested
  bool settled() const;  // whether busy() is false, the savings are known, and the canvas is drawn
  void settleCanvas();
  // Reports that an action threw an exception on the UI thread, for example if memory ran out.
  void showInternalFailure(const absl::Status& status);
  QJsonObject dumpState() const;

  // For tests and benchmarks.
  WorkerClient* worker() const { return worker_; }
  TorchDownload* download() const { return download_.get(); }  // null: no download was started
  timeline::TimelineWidget* timelineWidget() const { return timeline_; }
  ActionRegistry* actionRegistry() { return &actions_; }
  TechniquePanel* techniquePanel() const { return techniques_; }
  ExplainPanel* explainPanel() const { return explain_; }
  std::shared_ptr<const Digest> digest() const { return session().shown(); }
  ProgramPanel* programPanel() const { return program_; }
  ProgramRunner* programRunner() const { return runner_; }
  ExperimentsPage* experimentsPage() const { return experiments_; }
  FitPage* fitPage() const { return fit_; }
  WaterfallPage* waterfallPage() const { return waterfall_; }
  ProgramFitPage* programFitPage() const { return program_fit_; }
  ProgramWaterfallPage* programWaterfallPage() const { return program_waterfall_; }
  VaryPage* varyPage() const { return vary_; }
  KernelsPanel* kernelsPanel() const { return kernels_; }
  SearchPanel* searchPanel() const { return search_; }
  NotesPage* notesPage() const { return notes_page_; }
  NoteStore* noteStore() const { return notes_; }
  bool partial() const { return session().partial(); }  // the shown trace is incomplete so far
  bool programBehind() const;                           // a program runs in another tab
  const StoredResults& storedResults() const { return kept_; }
  // Returns the file name that the Save dialog (suffix "trace") or the Export dialog (suffix
  // "json") proposes.
  QString proposedName(const QString& suffix) const;

 Q_SIGNALS:
  void timelineShown();                         // a new trace is drawn, but not yet the panels
  void documentShown();                         // a new trace is in the canvas and the panels
  void failed(const QString& reason);           // a requested action failed
  void setupEnded(bool ok);                     // downloadLibTorch() has ended
  void fileDone(const QString& path, bool ok);  // saveTrace() or exportChrome() has ended

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Writing;

  // The following members are grouped by the file that defines them. main_window.cpp: layout of the
  // parts.
  void BuildDocks();
  void BuildTables();
  // main_window_notes.cpp
  void BuildNotes(const QString& nothing);
  void ConnectNotes();
  void AddNoteActions();
  void AddNote();
  void ShowNotes();  // shows the notes on their page and on the ruler
  void BeginNote(qint64 time_ns, const std::optional<query::Thing>& thing);
  void ChangeNotes(const QString& what, NoteList after);
  void RevealNote(const Note& note);
  void CountNotes();  // updates the number of notes in the history entry
  void KeepRange();
  QString WhyNoNotes() const;  // an empty text: notes can be added
  // main_window_measure.cpp
  void ConnectMarks();
  void AddMeasureActions();
  void SetMark(size_t mark);
  // main_window_find.cpp
  void AddFindActions();
  // main_window_pages.cpp: the pages for kernels and search.
  void BuildPages();
  void ConnectPages();
  // main_window_studies.cpp
  void BuildStudies(const QString& vramscope, const QString& worker);
  void ConnectProgramStudies();
  void FindToggles();
  void ShowStudies();  // shows the studies of the left side's program or model
  bool CanStudy(const QStackedWidget* pages) const;
  void MakeItFit();
  void DrawWaterfall();
  bool StudiesBusy() const;
  void CancelStudies();
  void ConnectPanels();
  void ApplyChosenTheme();
  // main_window_actions.cpp
  void BuildActions();
  void AddFileActions();
  void AddEditActions();
  void AddViewActions();
  void AddRunActions();
  void OpenDialog();
  void CompareDialog();
  TableView* TableInFront() const;
  // main_window_help.cpp
  QString KeysFile() const;
  void AddHelpActions();
  void SaveDialog();
  void ExportDialog();
  void ExportReportDialog();
  void ExportImageDialog();
  void ShowAbout();
  void WarnOfFonts();  // shows a warning if no font has the language's characters
  // main_window_document.cpp: runs and the shown result. main_window_baseline.cpp: the baseline.
  void SetConfig(const run::RunConfig& config);
  // main_window_setup.cpp
  void CheckForLibTorch();
  void ShowMissing(const setup::LibTorch& torch);
  bool IsThere(const run::RunConfig& config) const;
  void RefuseWithoutLibTorch();
  void ShowSample();
  void LibTorchDownloaded(const absl::Status& status);
  // main_window_workers.cpp: runs in workers.
  void ConnectWorker(WorkerClient* worker);
  void StartRun();
  void StartRunOn(WorkerClient* worker, const run::RunConfig& config);
  void EndGpuWorker();
  void PlanOrRecall();  // shows the plan if it is cached; otherwise calls StartRun()
  void RunSucceeded();
  void RunEnded(std::shared_ptr<const trace::Trace> trace, const QString& error);
  void WorkerLost(const QString& what);
  void ShowLost(const QString& title, bool for_good, bool on_gpu);
  void Digested(Document& of, std::shared_ptr<const trace::Trace> trace, bool animate, bool partial,
                std::optional<uint8_t> device = {});
  void NotDigested(DocumentId id, const absl::Status& status, bool partial);
  void ShowDigest(DocumentId id, std::shared_ptr<const Digest> digest, bool animate, bool partial);
  void ShowOnCanvas(bool animate, bool goes_on);
  void ShowFailed(const QString& title, const QString& why, const QString& next);
  void FocusPage();
  void ShowBesideCanvas();  // updates panels, tables, header and title to match the canvas
  // Whether the shown trace may still become longer.
  bool ShownGoesOn() const {
    return run_tag_ != 0 || loader_->busy() || (RunsToKeep() && !programBehind());
  }
  void ShowFit();
  void NextDevice();
  void ChoosePreset(const QString& name);
  void PlanBeside();  // plans the run that the shown recording probably contains
  void UpdateBaseline();
  void UpdateTables();
  void RangeSelected(qint64 begin_ns, qint64 end_ns);
  void LanesChanged();
  bool StateIsShown() const { return session().shown() != nullptr && session().shown()->state(); }
  void PinBaseline();
  void UnpinBaseline();
  void SetBaseline(std::shared_ptr<const Digest> digest, const QString& file,
                   bool for_this_only = false);
  void SwapBaseline();
  void ShowNothing();
  void ShowTabs();
  QString ShownFile() const { return QString::fromStdString(session().file()); }
  // main_window_tabs.cpp: documents, the active document's history, undo.
  Document& doc() { return documents_.active(); }
  const Document& doc() const { return documents_.active(); }
  Session& session() { return doc().session; }
  const Session& session() const { return doc().session; }
  void BuildTabs();
  void AddDocumentActions();
  void KeepView();
  void Entered();
  void MakeActive(DocumentId id);  // makes the document active everywhere except on the canvas
  void ShowActive();  // shows the active document's result or, if there is none, its state
  void Reload(Document& of);
  void PlanInFront();                           // makes a plan for the shown document active
  void PlanWith(const run::RunConfig& config);  // calls PlanInFront(), then changes the settings
  void CloseNow(DocumentId id);
  void ReleaseHidden();
  void RefreshTabs();
  void ShowResult(size_t at);  // shows the result of history entry `at` from its file
  void Apply(const UndoStep& step, bool back);
  bool CanUndo() const { return doc().undo.next_undo() != nullptr; }
  bool CanRedo() const;
  // main_window_session.cpp: restoring documents.
  void BuildSession();
  void AddSessionActions();
  bool RestoresAlways() const;
  void RecoverProgram(Document& of, const SavedDocument& saved);
  void StoreSoon(int ms);
  void DocumentsChanged();
  void StoreSession(bool closed);
  void StoreRunSettings();
  void RestoreBaseline();
  // main_window_files.cpp
  void OpenOne(const QString& path);
  void OpenConfiguration(const QString& path, const std::string& text);
  Document* OpenAlready(const QString& path, const importers::OpenOptions& part);
  void OpenNext();
  void StartLoading(const QString& path, const importers::OpenOptions& part);
  void LoadInto(Document& of, const QString& path, const importers::OpenOptions& part);
  void OpenPartOf(const QString& path);
  void Outlined(const std::shared_ptr<const trace::Outline>& outline);
  void Preview(const std::shared_ptr<const trace::Trace>& trace);
  void FileLoaded(const QString& path, const std::shared_ptr<const trace::Trace>& trace);
  void FileNotLoaded(const QString& path, const absl::Status& status);
  void DocumentNotLoaded(DocumentId id, const QString& path, const absl::Status& status);
  void ShowWarnings(const QString& path, const trace::Trace& trace);
  void ComparisonLoaded(const QString& path, const std::shared_ptr<const trace::Trace>& trace);
  void ComparisonNotLoaded(const QString& path, const absl::Status& status);
  // main_window_program.cpp
  void ShowControls();
  enum class ControlsPage { kModel, kRecording, kProgram };
  void ShowControlsPage(ControlsPage page);
  bool ControlsShow(ControlsPage page) const;
  void BuildProgram(const QString& vramscope);
  void BecomeProgram(Document& program);
  Document& ProgramDocument(const program::Request& request);
  void StartProgramIn(Document& of, const program::Request& request);
  void ShowProgramBusy();
  void ShowReport();  // shows how the last run of the active document's program ended
  void ProgramToggled(const program::Request& before);
  bool WaitsForProgram(const UndoStep& step, bool back);
  void UndoAtEnd(DocumentId ended);
  // Returns the active document's request if the form shows another program, or else the form's
  // request.
  const program::Request& ProgramInForm() const;
  void ReturnToProgram(const program::Request& request);
  // main_window_watch.cpp
  void BuildWatch();
  void WatchProgram();  // watches the current program's files if this is switched on on the page
  void PlanSaved();
  void ShowPartialTrace(const std::shared_ptr<const trace::Trace>& trace);
  void ProgramEnded(const ProgramEnd& end);
  void ProgramEndedBehind(Document& program, const ProgramEnd& end);
  // main_window_keeping.cpp
  QString ScriptName() const;
  void LeavePlans();
  // A result that could not be saved.
  struct Unkept {
    std::shared_ptr<const trace::Trace> trace;
    QString name;
    QString why;
    std::shared_ptr<program::ScratchFolder> folder;  // the history of its program, or null
  };
  // Saves a result automatically. `folder` is removed when the trace is saved.
  void KeepResult(std::shared_ptr<const trace::Trace> trace, const QString& name,
                  std::shared_ptr<program::ScratchFolder> folder = {});
  void ReportNotStored(Unkept unkept);
  // Returns the unsaved result of the active document or, without one, the newest. Null: all
  // results are saved.
  const Unkept* UnkeptInFront() const;
  void ShowUnkept();  // updates the banner
  void SaveUnkept(const std::shared_ptr<const trace::Trace>& trace, const QString& name);
  bool ForgetUnkept(const std::shared_ptr<const trace::Trace>& trace);
  void SavedByUser(const std::shared_ptr<const trace::Trace>& trace, const QString& path);
  bool RunsToKeep() const;
  bool AskToStop(const QString& question, DocumentId id = 0);
  void StopRuns();
  void CancelWhatIsAsked();
  bool MayDiscard(const Unkept& unkept);
  bool MayClose();
  void GoOnClosing();
  // main_window_writing.cpp
  QString AskForSaveName(const QString& title, const QString& filter, const QString& suffix,
                         const QString& proposed);
  // A function that writes a format other than .trace. If it is empty, the .trace format is
  // written.
  using Producer = std::function<absl::Status(const trace::Trace&, std::ostream&)>;
  void WriteFile(const QString& path, const Producer& produce);
  void Write(std::shared_ptr<const trace::Trace> trace, const QString& path,
             const Producer& produce);
  std::vector<std::string> FilesInUse() const;
  bool RefusesToWrite(const QString& path);
  void CancelOtherWrites();
  void ShowProgress();
  // More functions of main_window_document.cpp.
  void FocusCanvas();
  void Say(const QString& text);  // shows the text in the status bar and adds it to the log
  void SetBusy(const QString& text);
  void SelectionChanged(trace::AllocationId id);
  void ShowSelected();

  std::unique_ptr<QSettings> settings_;
  bool asked_to_restart_ = false, restart_ = false;
  ActionRegistry actions_;
  RecentFiles recent_;
  KeyBindings* keys_ = nullptr;
  QPointer<Tour> tour_;
  DocumentList documents_;
  ThemeChoice theme_choice_ = ThemeChoice::kSystem;
  timeline::Theme theme_;
  bool animations_ = true;
  bool with_savings_ = true;
  bool with_cache_ = true;
  RunCache cache_;

  QString worker_program_;
  SetupOptions setup_;
  bool can_plan_ = true;
  std::shared_ptr<const setup::Samples> samples_;  // null if configurations can be planned
  SetupPanel* setup_panel_ = nullptr;
  std::unique_ptr<TorchDownload> download_;
  WorkerClient* worker_ = nullptr;      // the worker for plans
  WorkerClient* gpu_worker_ = nullptr;  // worker for a run on this computer's GPU; null: no run
  QString gpu_run_;                     // the model of the run on the GPU
  WorkerClient* running_ = nullptr;     // worker_ or gpu_worker_: the worker of the run run_tag_
  QString lost_;                        // how the worker was lost, until a new one replaces it
  std::function<absl::StatusOr<std::vector<std::string>>()> gpu_libraries_;
  Jobs finding_gpu_libraries_;  // finds the libraries before a run on the GPU
  SavingsPlanner* savings_ = nullptr;
  quint64 run_tag_ = 0;  // tag of the run in progress; 0: none
  quint64 gpu_tag_ = 0;  // tag of the run on the GPU
  QElapsedTimer since_run_;
  bool say_time_ = false;  // the duration of the last run has not been shown yet
  QTimer busy_delay_;
  QString busy_text_;

  bool savings_due_ = false;  // the savings will be requested soon
  double run_fraction_ = -1;  // progress of the run; < 0: unknown
  static constexpr uint64_t kComparison = UINT64_MAX;
  Jobs digests_;  // key: a document's id; kComparison for the digest of the baseline
  QElapsedTimer since_digest_;
  QTimer panels_due_;         // during a run, updates the panels soon after the canvas
  DocumentId comparing_ = 0;  // the document whose baseline is being read
  // true while the baseline of a restored document is being read, which must not open the
  // comparison page
  bool comparing_quietly_ = false;
  SessionFile* session_file_ = nullptr;
  QTimer store_due_;
  std::unique_ptr<SavedSession> left_session_;  // the documents that an earlier window left
  // Folders of the programs in left_session_.
  std::vector<std::shared_ptr<program::ScratchFolder>> left_folders_;
  Jobs recoveries_;  // reads left_folders_

  FileLoader* loader_ = nullptr;
  FileLoader* compare_loader_ = nullptr;
  DocumentId loading_ = 0;  // the document whose file is being read or digested
  QStringList to_open_;     // files to open next
  // The file to open after the file that is being loaded. The latter is shown first, and becomes
  // the baseline.
  QString next_file_;
  std::vector<std::shared_ptr<Writing>> writing_;  // the status bar shows the last one's progress
  Jobs writes_;
  QTimer write_poll_;

  HeaderBar* header_ = nullptr;
  Banner* banner_ = nullptr;
  DropZones* drop_zones_ = nullptr;
  DocumentTabs* document_tabs_ = nullptr;
  HistoryPanel* history_ = nullptr;
  timeline::TimelineWidget* timeline_ = nullptr;
  QStackedWidget* controls_ = nullptr;  // one page for each ControlsPage
  QTabBar* controls_tabs_ = nullptr;
  RecordingPanel* recording_ = nullptr;
  ProgramPanel* program_ = nullptr;
  ProgramRunner* runner_ = nullptr;
  FileWatch* watch_ = nullptr;
  QStringList saved_files_;    // files of the program that were saved, and not planned again yet
  DocumentId program_id_ = 0;  // the document of the current or last program
  // How the program of a document ended.
  std::map<DocumentId, std::shared_ptr<const ProgramReport>> program_reports_;
  // The document whose program is undone or redone as soon as its running plan has stopped. 0:
  // none.
  DocumentId undo_at_end_ = 0, redo_at_end_ = 0;
  DocumentId gpu_run_id_ = 0;  // the document of the current or last run on this computer's GPU
  // Two documents to compare as soon as the result of compare_later_with_ has been computed or
  // read.
  DocumentId compare_later_ = 0, compare_later_with_ = 0;
  StoredResults kept_;
  Jobs keeping_;       // saves results
  QString kept_path_;  // kept_path_, kept_trace_: file and trace of the result saved last
  std::shared_ptr<const trace::Trace> kept_trace_;
  std::vector<Unkept> unkept_;  // oldest first
  bool closing_ = false;        // the window closes as soon as no result would be lost
  QTimer stop_again_;
  RunPanel* run_panel_ = nullptr;
  TechniquePanel* techniques_ = nullptr;
  BreakdownPanel* breakdown_ = nullptr;
  QScrollArea* breakdown_scroll_ = nullptr;
  SelectionPanel* selection_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  ExplainPanel* explain_ = nullptr;
  std::vector<StudyPage*> studies_;  // all study pages below
  ProgramFitPage* program_fit_ = nullptr;
  ProgramWaterfallPage* program_waterfall_ = nullptr;
  VaryPage* vary_ = nullptr;
  // Each of these stacks has two pages: the study of a model, and the same study of a program.
  QStackedWidget* fit_pages_ = nullptr;
  QStackedWidget* waterfall_pages_ = nullptr;
  CommandRunner* toggle_search_ = nullptr;  // finds what the toggles of the program would save
  FitPage* fit_ = nullptr;
  WaterfallPage* waterfall_ = nullptr;
  ExperimentsPage* experiments_ = nullptr;
  PhasesPanel* phases_ = nullptr;
  AllocationsPanel* allocations_ = nullptr;
  KernelsPanel* kernels_ = nullptr;
  SearchPanel* search_ = nullptr;
  NotesPage* notes_page_ = nullptr;
  NoteStore* notes_ = nullptr;
  std::array<qint64, 2> marks_{-1, -1};  // marks A and B until they form a range; < 0: not set
  QPlainTextEdit* log_ = nullptr;
  QDockWidget* controls_dock_ = nullptr;
  QDockWidget* history_dock_ = nullptr;
  QDockWidget* breakdown_dock_ = nullptr;
  QDockWidget* tables_dock_ = nullptr;
  DockLayout layout_;
  QLabel* status_ = nullptr;
  QString message_;               // the text of the last Say()
  bool computing_shown_ = false;  // status_ shows that memory use is computed, instead of message_
  QProgressBar* progress_ = nullptr;
  QToolButton* cancel_ = nullptr;
  bool showing_state_ = false;  // the shown document is a snapshot without history
  bool ran_out_ = false;        // the shown recording ran out of memory
  QString lanes_;               // the settings of the tracks on the canvas, before the next change
};

}  // namespace vramscope::ui
