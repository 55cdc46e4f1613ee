// Restores the documents of a window that was killed. While a window is open, it keeps its
// documents saved, and the next start offers to restore them. The history of a program that ran is
// read from the program's folder.
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>
#include <iterator>

#include "profiler/program/scratch_folder.h"
#include "ui/documents/saved_documents.h"
#include "ui/panels/qt_theme.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/session_file.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

constexpr int kStoreMs = 100;       // delay after a document was opened or closed, or got a result
constexpr int kStoreViewMs = 1000;  // delay after the view was moved
constexpr int kNamed = 3;           // maximum number of documents that the banner names
constexpr const char* kRestoreAlways = "restore_documents";
constexpr const char* kRunSettings = "run_settings";

// Returns whether to ask the user about restoring the session. For a single plan, the question is
// not worth it.
bool WorthAsking(const SavedSession& session) {
  return session.documents.size() > 1 ||
         std::ranges::any_of(session.documents, [](const SavedDocument& document) {
           return document.source.kind != SourceKind::kPlan || document.history.size() > 1;
         });
}

// Returns a session without documents if `json` is empty or invalid.
SavedSession Parse(const QByteArray& json) {
  absl::StatusOr<SavedSession> session =
      SavedSessionFromJson({json.constData(), static_cast<size_t>(json.size())});
  return session.ok() ? *std::move(session) : SavedSession{};
}

// Appends the documents of `last` to `all`. The active document of `last` becomes the active
// document of `all`.
void Append(SavedSession last, SavedSession* all) {
  all->active = all->documents.size() + last.active;
  std::ranges::move(last.documents, std::back_inserter(all->documents));
  if (all->documents.size() <= kMostSavedDocuments) return;
  const size_t oldest = all->documents.size() - kMostSavedDocuments;
  all->documents.erase(all->documents.begin(),
                       all->documents.begin() + static_cast<ptrdiff_t>(oldest));
  all->active -= oldest;
}

}  // namespace

void MainWindow::BuildSession() {
  session_file_ = new SessionFile(QFileInfo(kept_.folder()).absolutePath(), this);
  store_due_.setSingleShot(true);
  connect(&store_due_, &QTimer::timeout, this, [this] { StoreSession(false); });
  connect(timeline_, &timeline::TimelineWidget::viewChanged, this,
          [this] { StoreSoon(kStoreViewMs); });
  connect(timeline_, &timeline::TimelineWidget::cursorMoved, this,
          [this] { StoreSoon(kStoreViewMs); });
  const QByteArray stored =
      QByteArray::fromBase64(settings_->value(QLatin1String(kRunSettings)).toByteArray());
  if (auto config = run::FromProtoBytes(stored.toStdString()); config.ok() && !stored.isEmpty())
    SetConfig(*config);

  // First come documents of earlier windows that the user has not restored yet, then the last
  // window's documents.
  SavedSession session = Parse(session_file_->unrestored());
  SavedSession last = Parse(session_file_->left());
  const bool last_killed = !last.closed && WorthAsking(last);
  const bool killed = last_killed || !session.documents.empty();
  if (!last.documents.empty() && (last_killed || RestoresAlways()))
    Append(std::move(last), &session);
  if (session.documents.empty()) return;
  left_session_ = std::make_unique<SavedSession>(std::move(session));
  if (!killed) return;
  session_file_->keepLeft(QByteArray::fromStdString(ToJson(*left_session_)));
  QStringList names;
  for (const SavedDocument& saved : left_session_->documents) {
    // Take over the folder now, because a program that starts in this window removes abandoned
    // folders.
    if (!saved.scratch.empty())
      if (auto folder = program::ScratchFolder::Adopt(saved.scratch); folder.ok()) {
        // If the user does not decide in this window, the next one offers the documents again.
        (*folder)->LeaveForOthers(true);
        left_folders_.push_back(*std::move(folder));
      }
    const Document named(0, saved.source);
    QString name = QString::fromStdString(named.Title());
    names << (name.isEmpty() ? QString::fromStdString(saved.config.model) : name);
  }
  const auto count = static_cast<int>(names.size());
  QString list = names.mid(0, kNamed).join(QStringLiteral(", "));
  if (count > kNamed) list += tr(" and %1 more").arg(count - kNamed);
  banner_->show(
      {.kind = "restore",
       .tone = Banner::Tone::kWarning,
       .title = tr("The window was not closed properly last time"),
       .text = tr("These documents were open: %1. Document > Restore also reopens them.").arg(list),
       .action = tr("Restore"),
       .run = [this] { restoreDocuments(); },
       .of_window = true});
}

bool MainWindow::RestoresAlways() const {
  return settings_->value(QLatin1String(kRestoreAlways), false).toBool();
}

bool MainWindow::restoreAtStart() {
  if (left_session_ == nullptr || !RestoresAlways()) return false;
  restoreDocuments();
  return true;
}

void MainWindow::restoreDocuments() {
  if (left_session_ == nullptr) return;
  const std::unique_ptr<SavedSession> session = std::move(left_session_);
  banner_->clear(QStringLiteral("restore"));
  const DocumentId before = doc().id();
  std::vector<DocumentId> opened;
  for (const SavedDocument& saved : session->documents) {
    Document& of = documents_.Open(saved.source);
    Restore(saved, &of);
    opened.push_back(of.id());
    if (!saved.scratch.empty()) RecoverProgram(of, saved);
  }
  showDocument(opened[session->active]);
  if (documents_.Find(before)->Blank()) documents_.Close(before);
  RefreshTabs();
  Say(tr("Documents restored: %n", nullptr, static_cast<int>(opened.size())));
  // Save the restored documents in the new session before the old session is removed.
  StoreSession(false);
  session_file_->flush();
  if (session_file_->error().isEmpty()) session_file_->forgetLeft();
  actions_.Refresh();
}

// Reads the data that the program had written to its folder before the window was killed.
void MainWindow::RecoverProgram(Document& of, const SavedDocument& saved) {
  const auto folder = std::ranges::find_if(
      left_folders_, [&](const auto& left) { return left->path() == saved.scratch; });
  if (folder == left_folders_.end()) return;
  std::shared_ptr<program::ScratchFolder> owned = std::move(*folder);
  left_folders_.erase(folder);
  of.scratch = saved.scratch;
  of.Expect(tr("Interrupted").toStdString());
  of.Began();
  using Left = absl::StatusOr<std::shared_ptr<const trace::Trace>>;
  const auto show = [this, owned, id = of.id()](const Left& left) {
    Document* document = documents_.Find(id);
    const QString name =
        document == nullptr ? QString() : QString::fromStdString(document->Title());
    // The folder is removed when the result is saved, or now if no data had arrived.
    if (left.ok() && *left != nullptr)
      KeepResult(*left, name, owned);
    else if (left.ok())
      owned->LeaveForOthers(false);
    GoOnClosing();
    if (document == nullptr) return;
    document->Ended();
    if (left.ok() && *left != nullptr) {
      document->latest = *left;
      document->unseen = id != doc().id();
    } else if (left.ok()) {
      document->scratch.clear();
    }
    RefreshTabs();
    if (id == doc().id()) ShowActive();
  };
  recoveries_.Ask([path = saved.scratch,
                   request = saved.source.program] { return ReadLeftFolder(path, request); },
                  show, {.earlier = Earlier::kAll, .blocks = true});
}

void MainWindow::StoreSoon(int ms) {
  if (store_due_.isActive() && store_due_.remainingTime() <= ms) return;
  store_due_.start(ms);
}

void MainWindow::DocumentsChanged() { StoreSoon(kStoreMs); }

void MainWindow::StoreSession(bool closed) {
  store_due_.stop();
  KeepView();
  SavedSession session{.closed = closed};
  for (size_t i = 0; i < documents_.size(); ++i) {
    if (documents_.at(i).Blank()) continue;
    if (i == documents_.active_place()) session.active = session.documents.size();
    session.documents.push_back(Save(documents_.at(i)));
  }
  session_file_->save(
      [session = std::move(session)] { return QByteArray::fromStdString(ToJson(session)); });
}

bool MainWindow::sessionStored() const { return !store_due_.isActive() && !session_file_->busy(); }

// Stores the settings of the run for the next start.
void MainWindow::StoreRunSettings() {
  settings_->setValue(QLatin1String(kRunSettings),
                      QByteArray::fromStdString(run::ToProtoBytes(doc().config)).toBase64());
}

// Reads the baseline of a restored document. Called when that document is shown.
void MainWindow::RestoreBaseline() {
  if (!doc().baseline_to_read) return;
  const QString path = QString::fromStdString(*std::exchange(doc().baseline_to_read, std::nullopt));
  if (session().baseline() != nullptr || !QFileInfo::exists(path)) return;
  comparing_ = doc().id();
  comparing_quietly_ = true;
  compare_loader_->start(path, {});
  ShowProgress();
}

void MainWindow::saveSettings(const QString& path) {
  if (RefusesToWrite(path)) return;
  const QByteArray json = QByteArray::fromStdString(run::ToJson(doc().config));
  QSaveFile file(path);
  const bool good =
      file.open(QIODevice::WriteOnly) && file.write(json) == json.size() && file.commit();
  if (good) {
    Say(tr("%1 was written. To plan this run, use `vramscope plan --config %1`").arg(path));
  } else {
    banner_->show({.kind = "save-failed",
                   .title = tr("Cannot write %1").arg(QFileInfo(path).fileName()),
                   .text = tr("%1. Choose another location.").arg(file.errorString())});
    Q_EMIT failed(file.errorString());
  }
  Q_EMIT fileDone(path, good);
}

void MainWindow::AddSessionActions() {
  const QString menu = tr("Document");
  actions_.Add({.id = "document.restore",
                .menu = menu,
                .text = tr("Restore"),
                .run = [this] { restoreDocuments(); },
                .enabled = [this] { return left_session_ != nullptr; },
                .tip = tr("Reopens the documents that were open when the window last closed"),
                .separator_before = true,
                .words = {tr("session"), tr("crash"), tr("reopen")}});
  actions_.Add(
      {.id = "document.restore-always",
       .menu = menu,
       .text = tr("Reopen documents at start"),
       .run = [this] { settings_->setValue(QLatin1String(kRestoreAlways), !RestoresAlways()); },
       .checked = [this] { return RestoresAlways(); },
       .words = {tr("session")}});
  actions_.Add(
      {.id = "run.save-settings",
       .menu = tr("Run"),
       .text = tr("Save settings …"),
       .run =
           [this] {
             const QString path =
                 AskForSaveName(tr("Save the settings of the run"), tr("JSON (*.json)"),
                                QStringLiteral("json"), proposedName(QStringLiteral("run.json")));
             if (!path.isEmpty()) saveSettings(path);
           },
       .tip =
           tr("Writes a run.json, which “Open config.json” and `vramscope plan --config` can read"),
       .words = {tr("run.json"), tr("config"), tr("export")}});
}

}  // namespace vramscope::ui
