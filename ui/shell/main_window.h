// The window: documents (plans, runs, opened traces) in tabs, one of them in the middle, controls
// and its history left, answers right, tables below.
//
//   MainWindow window({.worker_program = FindWorker()});
//   window.show();
//   window.runConfig(config);
//
// UI thread only. Everything slow (planning, reading, writing, digesting) happens elsewhere; what
// is shown stays until the new thing is there.
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
class ExperimentsPage;
class FitPage;
class StudyPage;
class WaterfallPage;
class TableModel;
class TableView;
class TechniquePanel;
class Tour;
class WorkerClient;
struct ProgramEnd;
struct SavedDocument;
struct SavedSession;

// Where LibTorch may be missing.
struct SetupOptions {
  std::function<setup::LibTorch()> find_libtorch = {};  // empty: the worker needs none
  QString samples_folder = {};                          // of runs that are shown in place of plans
  DownloadOptions download = {};
};

struct MainWindowOptions {
  QString worker_program;
  QString vramscope = {};  // that plans programs of the user's; empty: the one beside this
  QString settings_file;   // empty: the user's own
  // Where results are kept (kept_results.h); empty: the user's own, beside a settings_file.
  QString state_folder = {};
  bool savings = true;     // plan what techniques would save
  OpenFunction open = {};  // empty: importers::OpenTraceFile
  bool cache = true;       // show a plan that was made before without making it again
  // Folders of CUDA's libraries for a run on this computer's card, or why there can be none;
  // called beside the UI thread.
  std::function<absl::StatusOr<std::vector<std::string>>()> card_libraries = {};
  SetupOptions setup = {};
};

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const MainWindowOptions& options);
  ~MainWindow() override;

  // Plans a configuration and shows it, in the plan that is shown, else beside what is: nothing is
  // replaced. editConfig does the same as a step of undo.
  void runConfig(const run::RunConfig& config);
  void editConfig(const run::RunConfig& config);
  const run::RunConfig& config() const { return documents_.active().config; }
  void undo();
  void redo();

  // Documents: their tabs, and the history of the one that is shown.
  const DocumentList& documents() const { return documents_; }
  void newPlan();  // with the settings of what is shown
  void showDocument(DocumentId id);
  void closeDocument(DocumentId id);  // asks where something runs in it
  void compareDocuments(DocumentId shown, DocumentId with);
  void showEntry(size_t entry);  // of the history
  void compareEntries(size_t shown, size_t with);
  // What was open when a window was killed, or the last time; false: nothing, or not wanted.
  bool restoreAtStart();
  void restoreDocuments();
  bool sessionStored() const;              // what is open is on disk
  void saveSettings(const QString& path);  // a run.json of the controls

  // What the built-in models are planned with; as the button does.
  void downloadLibTorch();
  bool canPlan() const { return can_plan_; }

  // What stands on the left, on this computer's card; what is shown is compared with it.
  void runOnCard();

  void openFile(const QString& path);
  void openFiles(const QStringList& paths);  // one after another; the first becomes the baseline
  void compareWith(const QString& path);     // read beside what is shown: the baseline of it
  void openModelConfig(const QString& path);
  void openDeviceFile(const QString& path);  // of what the controls show: a run, a program
  void chooseDevice();
  // The page that plans anybody's program, with this script in it; nothing is started.
  void openProgram(const QString& script = QString());
  void startProgram();  // what the page says; it really runs
  void stopProgram();
  void programAgainOn(const QString& device);  // and compare
  // The program that goes on, or has ended, behind what is shown.
  void showProgram();
  // Only a device, or a range of entries or of time, of a recording.
  void openPart(const QString& path, const importers::OpenOptions& part);
  // Each says in the status bar or the banner how it went; a longer one has a bar in the status bar
  // and can be cancelled, which leaves an older file as it was.
  void saveTrace(const QString& path);
  void exportChrome(const QString& path);
  // By the name's ending: .html a report (of a baseline, too, where one is pinned), .png, .pdf and
  // .svg the timeline as it is seen, .csv the allocations.
  void exportAs(const QString& path);
  // What is being run, read, written or replayed, programs too, without a question.
  void cancelAll();
  void openPage(const QString& id);        // a name of pageNames(), else nothing happens
  void openSettings(const QString& page);  // "appearance", "keys"
  // Five steps on what is shown, else on a shipped run.
  void startTour();
  // Once, at the first start of all. False: nothing was opened for it.
  bool offerTour();
  Tour* tour() const;  // null: none goes on
  KeyBindings* keyBindings() const { return keys_; }
  // The controls of the built-in models, with the techniques that have these words.
  void openTechniques(const QString& words);
  QStringList pageNames() const;  // "phases", "allocations", "compare", "fragmentation", ...

  // `remember`: the next start begins with it.
  void setThemeChoice(ThemeChoice choice, bool remember = true);
  static QString storedLanguage();  // what was chosen last; empty: nothing
  static int storedUiScale();       // percent, likewise
  // Of the running window, in place. `remember`: the next start begins with it.
  void setLanguage(Language language, bool remember = true);
  // Of a recording of several GPUs, which one is shown.
  void showDevice(uint8_t device);
  bool busy() const;     // something is being run, read, written or digested
  bool settled() const;  // not busy, savings known, the canvas drawn
  void settleCanvas();
  // Something that was asked for threw on the UI thread (memory ran out).
  void showInternalFailure(const absl::Status& status);
  QJsonObject dumpState() const;

  // For tests and benchmarks.
  WorkerClient* worker() const { return worker_; }
  TorchDownload* download() const { return download_.get(); }  // null: none was begun
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
  KernelsPanel* kernelsPanel() const { return kernels_; }
  SearchPanel* searchPanel() const { return search_; }
  NotesPage* notesPage() const { return notes_page_; }
  NoteStore* noteStore() const { return notes_; }
  bool partial() const { return session().partial(); }  // a picture of what has come so far
  bool programBehind() const;                           // it runs, and another document is shown
  const KeptResults& keptResults() const { return kept_; }
  // What the dialogs of Save (suffix "trace") and Export ("json") propose.
  QString proposedName(const QString& suffix) const;

 Q_SIGNALS:
  void timelineShown();                         // a new trace is drawn; the panels follow
  void documentShown();                         // a new trace is in the canvas and the panels
  void failed(const QString& reason);           // what was asked for did not come about
  void setupEnded(bool ok);                     // downloadLibTorch
  void fileDone(const QString& path, bool ok);  // saveTrace, exportChrome

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Writing;

  // main_window.cpp: parts and their places.
  void BuildDocks();
  void BuildTables();
  // main_window_notes.cpp
  void BuildNotes(const QString& nothing);
  void ConnectNotes();
  void AddNoteActions();
  void ShowNotes();  // on the page and the ruler
  void BeginNote(qint64 time_ns, const std::optional<query::Thing>& thing);
  void ChangeNotes(const QString& what, NoteList after);
  void RevealNote(const Note& note);
  void CountNotes();  // in the history
  void KeepRange();
  QString WhyNoNotes() const;  // empty: they can be made
  // main_window_measure.cpp
  void ConnectMarks();
  void AddMeasureActions();
  void SetMark(size_t mark);
  // main_window_find.cpp
  void AddFindActions();
  // main_window_pages.cpp: kernels, search.
  void BuildPages();
  void ConnectPages();
  void BuildStudies(const QString& vramscope, const QString& worker);
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
  void ExportPictureDialog();
  void ShowAbout();
  void WarnOfFonts();  // where no font has the language's characters
  // main_window_document.cpp: runs, what is shown. main_window_baseline.cpp: what it is compared
  // with.
  void SetConfig(const run::RunConfig& config);
  // main_window_setup.cpp
  void LookForLibTorch();
  void ShowMissing(const setup::LibTorch& torch);
  bool IsThere(const run::RunConfig& config) const;
  void RefuseWithoutLibTorch();
  void ShowSample();
  void LibTorchDownloaded(const absl::Status& status);
  // main_window_workers.cpp: who runs.
  void ConnectWorker(WorkerClient* worker);
  void StartRun();
  void StartRunOn(WorkerClient* worker, const run::RunConfig& config);
  void EndCardWorker();
  void PlanOrRecall();  // StartRun, unless the plan is known
  void RunSucceeded();
  void RunEnded(std::shared_ptr<const trace::Trace> trace, const QString& error);
  void WorkerLost(const QString& what);
  void ShowLost(const QString& title, bool for_good, bool on_card);
  void Digested(Document& of, std::shared_ptr<const trace::Trace> trace, bool animate, bool partial,
                std::optional<uint8_t> device = {});
  void NotDigested(DocumentId id, const absl::Status& status, bool partial);
  void ShowDigest(DocumentId id, std::shared_ptr<const Digest> digest, bool animate, bool partial);
  void ShowOnCanvas(bool animate, bool goes_on);
  void ShowFailed(const QString& title, const QString& why, const QString& next);
  void FocusPage();
  void ShowBesideCanvas();  // panels, tables, header and title of what the canvas shows
  // What is shown is not all: more of it comes.
  bool ShownGoesOn() const {
    return run_tag_ != 0 || loader_->busy() || (RunsToKeep() && !programBehind());
  }
  void ShowFit();
  void NextDevice();
  void ChoosePreset(const QString& name);
  void PlanBeside();  // of a recording, the run that it may have been
  void UpdateGhost();
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
  // main_window_tabs.cpp: documents, the history of the one that is shown, undo.
  Document& doc() { return documents_.active(); }
  const Document& doc() const { return documents_.active(); }
  Session& session() { return doc().session; }
  const Session& session() const { return doc().session; }
  void BuildTabs();
  void AddDocumentActions();
  void KeepView();
  void Entered();
  void MakeActive(DocumentId id);  // all but the canvas, which keeps what it shows
  void ShowActive();               // its result, else what becomes of it
  void Reload(Document& of);
  void PlanInFront();                           // the document that plans are made in
  void PlanWith(const run::RunConfig& config);  // in it, of these settings
  void CloseNow(DocumentId id);
  void ReleaseOthers();
  void RefreshTabs();
  void Apply(const UndoStep& step, bool back);
  bool CanUndo() const { return doc().undo.next_undo() != nullptr; }
  bool CanRedo() const;
  // main_window_session.cpp: what a killed window gives back.
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
  void ProgramPicture(const std::shared_ptr<const trace::Trace>& trace);
  void ProgramEnded(const ProgramEnd& end);
  void ProgramEndedBehind(Document& program, const ProgramEnd& end);
  // main_window_keeping.cpp
  QString ScriptName() const;
  void LeavePlans();
  // `folder`: kept until it is saved.
  void KeepResult(std::shared_ptr<const trace::Trace> trace, const QString& name,
                  std::shared_ptr<const void> folder = {});
  void NotKept(std::shared_ptr<const trace::Trace> trace, const QString& name, const QString& why);
  void SaveUnkept();
  void SavedByUser(const std::shared_ptr<const trace::Trace>& trace, const QString& path);
  bool RunsToKeep() const;
  bool AskToStop(const QString& question, DocumentId id = 0);
  void StopRuns();
  void CancelWhatIsAsked();
  bool MayClose();
  void GoOnClosing();
  // main_window_writing.cpp
  QString AskForSaveName(const QString& title, const QString& filter, const QString& suffix,
                         const QString& proposed);
  // Writes what is not a .trace; empty: a .trace is written.
  using Producer = std::function<absl::Status(const trace::Trace&, std::ostream&)>;
  void WriteFile(const QString& path, const Producer& produce);
  void Write(std::shared_ptr<const trace::Trace> trace, const QString& path,
             const Producer& produce);
  bool RefusesToWrite(const QString& path);
  void CancelOthers();
  void ShowProgress();
  // main_window_document.cpp again
  void FocusCanvas();
  void Say(const QString& text);  // status bar and log
  void SetBusy(const QString& text);
  void SelectionChanged(trace::AllocationId id);
  void ShowSelected();

  std::unique_ptr<QSettings> settings_;
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
  std::shared_ptr<const setup::Samples> samples_;  // while nothing can be planned
  SetupPanel* setup_panel_ = nullptr;
  std::unique_ptr<TorchDownload> download_;
  WorkerClient* worker_ = nullptr;       // plans
  WorkerClient* card_worker_ = nullptr;  // while a run on this computer's card goes on
  QString card_run_;                     // the model of that run
  WorkerClient* running_ = nullptr;      // of the two, whose run run_tag_ is
  QString lost_;                         // how the worker was lost that is being replaced
  std::function<absl::StatusOr<std::vector<std::string>>()> card_libraries_;
  Jobs gpu_libraries_;  // looked for before a run on the GPU
  SavingsPlanner* savings_ = nullptr;
  quint64 run_tag_ = 0;   // of the run whose end is awaited; 0: none
  quint64 card_tag_ = 0;  // of the run on the GPU
  QElapsedTimer since_run_;
  QTimer busy_delay_;
  QString busy_text_;

  bool savings_due_ = false;  // soon to be asked for
  double run_fraction_ = -1;  // of the run that goes on; < 0: not known
  static constexpr uint64_t kComparison = UINT64_MAX;
  Jobs digests_;  // by document; kComparison: what one is compared with
  QElapsedTimer since_digest_;
  QTimer panels_due_;               // they have not yet what the canvas shows of a run that goes on
  DocumentId comparing_ = 0;        // that is compared with it
  bool comparing_quietly_ = false;  // it was before, too
  SessionFile* session_file_ = nullptr;
  QTimer store_due_;
  std::unique_ptr<SavedSession> left_session_;  // of a window before this one
  std::vector<std::shared_ptr<program::ScratchFolder>> left_folders_;  // of its programs
  Jobs recoveries_;                                                    // that are being read

  FileLoader* loader_ = nullptr;
  FileLoader* compare_loader_ = nullptr;
  DocumentId loading_ = 0;  // whose file is being read, or was and is digested
  QStringList to_open_;     // behind what is being opened
  QString next_file_;       // opened when what was loaded is shown, which becomes its baseline
  std::vector<std::shared_ptr<Writing>> writing_;  // the last one is shown
  Jobs writes_;
  QTimer write_poll_;

  HeaderBar* header_ = nullptr;
  Banner* banner_ = nullptr;
  DropZones* drop_zones_ = nullptr;
  DocumentTabs* document_tabs_ = nullptr;
  HistoryPanel* history_ = nullptr;
  timeline::TimelineWidget* timeline_ = nullptr;
  QStackedWidget* controls_ = nullptr;  // ControlsPage
  QTabBar* controls_tabs_ = nullptr;
  RecordingPanel* recording_ = nullptr;
  ProgramPanel* program_ = nullptr;
  ProgramRunner* runner_ = nullptr;
  DocumentId program_id_ = 0;  // of the program that runs, or ran last
  DocumentId gpu_run_id_ = 0;  // of the run on this computer's GPU, or of the last
  // Compared with the other as soon as that is here, which has to be made or read first.
  DocumentId compare_later_ = 0, compare_later_with_ = 0;
  KeptResults kept_;
  Jobs keeping_;       // results that are being saved
  QString kept_path_;  // the last one, and what it is of
  std::shared_ptr<const trace::Trace> kept_trace_;
  std::shared_ptr<const trace::Trace> unkept_;  // a result that could not be saved
  QString unkept_name_;
  bool closing_ = false;  // as soon as nothing is lost by it
  QTimer stop_again_;
  RunPanel* run_panel_ = nullptr;
  TechniquePanel* techniques_ = nullptr;
  BreakdownPanel* breakdown_ = nullptr;
  SelectionPanel* selection_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  ExplainPanel* explain_ = nullptr;
  std::vector<StudyPage*> studies_;  // the three below
  FitPage* fit_ = nullptr;
  WaterfallPage* waterfall_ = nullptr;
  ExperimentsPage* experiments_ = nullptr;
  PhasesPanel* phases_ = nullptr;
  AllocationsPanel* allocations_ = nullptr;
  KernelsPanel* kernels_ = nullptr;
  SearchPanel* search_ = nullptr;
  NotesPage* notes_page_ = nullptr;
  NoteStore* notes_ = nullptr;
  std::array<qint64, 2> marks_{-1, -1};  // A and B while there is no range of them; < 0: not set
  QPlainTextEdit* log_ = nullptr;
  QDockWidget* controls_dock_ = nullptr;
  QDockWidget* history_dock_ = nullptr;
  QDockWidget* breakdown_dock_ = nullptr;
  QDockWidget* tables_dock_ = nullptr;
  DockLayout layout_;
  QLabel* status_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QToolButton* cancel_ = nullptr;
  bool showing_state_ = false;  // the document is what was there at one moment
  bool ran_out_ = false;        // what is shown is a recording that did
  QString lanes_;               // their settings, as the canvas had them last
};

}  // namespace vramscope::ui
