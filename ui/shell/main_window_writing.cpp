// Saves and exports on pool threads. The status bar shows progress, and the user can cancel.
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QRegularExpression>
#include <QToolButton>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <streambuf>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/exporters/chrome.h"
#include "profiler/exporters/file.h"
#include "profiler/trace/writer.h"
#include "ui/explain/explain_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// If an action takes less time than this, it shows no progress bar.
constexpr int kBarMs = 500;
constexpr int kWritePollMs = 100;

// Counts bytes and passes them on to the buffer of a file. Fails as soon as the write is cancelled.
class WatchedBuffer : public std::streambuf {
 public:
  WatchedBuffer(std::streambuf* to, const std::atomic<bool>* cancel, std::atomic<uint64_t>* bytes)
      : to_(to), cancel_(cancel), bytes_(bytes) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    if (*cancel_) return 0;
    const std::streamsize done = to_->sputn(text, n);
    *bytes_ += static_cast<uint64_t>(done);
    return done;
  }
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  int sync() override { return to_->pubsync(); }

 private:
  std::streambuf* to_;
  const std::atomic<bool>* cancel_;
  std::atomic<uint64_t>* bytes_;
};

}  // namespace

struct MainWindow::Writing {
  QString path;
  QElapsedTimer since;
  std::atomic<bool> cancel = false;
  std::atomic<int> permille = -1;  // -1: the total is unknown
  std::atomic<uint64_t> bytes = 0;
};

void MainWindow::saveTrace(const QString& path) { WriteFile(path, {}); }
void MainWindow::exportChrome(const QString& path) {
  WriteFile(path, [](const trace::Trace& trace, std::ostream& out) {
    return exporters::WriteChromeTrace(trace, out);
  });
}

// Returns a path in the folder of the run's file, with the run's name and this suffix. The path is
// not that of an existing file, unless that file is a copy of this run that the user has saved.
QString MainWindow::proposedName(const QString& suffix) const {
  const QFileInfo file(ShownFile());
  QString name = file.fileName();
  if (name.isEmpty() && session().shown() != nullptr)
    name = session().shown()->watched() ? QFileInfo(ScriptName()).completeBaseName()
                                        : QString::fromStdString(doc().config.model);
  static const QRegularExpression endings(QStringLiteral("(\\.(trace|pickle|pkl|json|gz|zst))+$"),
                                          QRegularExpression::CaseInsensitiveOption);
  name.remove(endings);
  if (name.isEmpty()) name = QStringLiteral("trace");
  const QString folder = ShownFile().isEmpty() ? QString() : file.path() + QLatin1Char('/');
  QString path = folder + name + QLatin1Char('.') + suffix;
  // Do not propose the path of an existing file, unless it is a copy that the user has saved.
  for (int i = 2; QFileInfo::exists(path) && (path != ShownFile() || session().from_file()); ++i)
    path = QStringLiteral("%1%2-%3.%4").arg(folder, name).arg(i).arg(suffix);
  return path;
}

QString MainWindow::AskForSaveName(const QString& title, const QString& filter,
                                   const QString& suffix, const QString& proposed) {
  QFileDialog dialog(this, title, QFileInfo(proposed).path(), filter);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  // With a default suffix, the dialog completes the name before it asks whether to replace an
  // existing file.
  dialog.setDefaultSuffix(suffix);
  dialog.selectFile(QFileInfo(proposed).fileName());
  connect(&dialog, &QFileDialog::filterSelected, &dialog, [&dialog](const QString& chosen) {
    static const QRegularExpression ending(QStringLiteral("\\*\\.(\\w+)"));
    if (const auto match = ending.match(chosen); match.hasMatch())
      dialog.setDefaultSuffix(match.captured(1));
  });
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  return dialog.selectedFiles().front();
}

// Returns the files that the documents were read from, or will be read from when they are shown. A
// copy that the user saved of the active document's result may be replaced.
std::vector<std::string> MainWindow::FilesInUse() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < documents_.size(); ++i) {
    const Document& of = documents_.at(i);
    std::ranges::copy(of.session.sources(), std::back_inserter(out));
    if (of.source.kind == SourceKind::kFile) out.push_back(of.source.file);
    if (of.baseline_to_read) out.push_back(*of.baseline_to_read);
    if (const std::string file = of.FileOfResult(); of.id() != doc().id() && !file.empty())
      out.push_back(file);
  }
  return out;
}

// If `path` is a file that a document was or will be read from, shows an error and returns true.
bool MainWindow::RefusesToWrite(const QString& path) {
  std::error_code none;
  const std::filesystem::path target(QFile::encodeName(path).toStdString());
  for (const std::string& source : FilesInUse()) {
    const std::filesystem::path read(
        QFile::encodeName(QString::fromStdString(source)).toStdString());
    if (target.lexically_normal() != read.lexically_normal() &&
        !std::filesystem::equivalent(target, read,
                                     none))  // a link or another path to the same file
      continue;
    const QString why = tr("%1 is the file that was opened").arg(QFileInfo(path).fileName());
    banner_->show({.kind = "save-failed",
                   .title = tr("Cannot write %1").arg(QFileInfo(path).fileName()),
                   .text = tr("%1, so it is not overwritten. Choose another name.").arg(why)});
    Say(tr("Not written: %1").arg(path));
    Q_EMIT failed(why);
    Q_EMIT fileDone(path, false);
    return true;
  }
  return false;
}

void MainWindow::WriteFile(const QString& path, const Producer& produce) {
  if (session().shown() == nullptr) return;
  // If there are several GPUs or ranks, write all of them, not only the shown one.
  const Digest& shown = *session().shown();
  Write(shown.whole != nullptr ? shown.whole : shown.trace, path, produce);
}

void MainWindow::Write(std::shared_ptr<const trace::Trace> trace, const QString& path,
                       const Producer& produce) {
  if (RefusesToWrite(path)) return;
  auto writing = std::make_shared<Writing>();
  writing->path = path;
  writing->since.start();
  writing_.push_back(writing);
  if (!write_poll_.isActive()) write_poll_.start(kWritePollMs);
  Say(tr("Writing %1 …").arg(path));
  actions_.Refresh();
  const auto written = [this, trace, path, produce, writing](const absl::Status& status) {
    std::erase(writing_, writing);
    ShowProgress();
    actions_.Refresh();
    if (status.ok()) {
      banner_->clear(QStringLiteral("save-failed"));
      Say(tr("Wrote %1 (%2)")
              .arg(path, QString::fromStdString(timeline::FormatBytes(
                             static_cast<uint64_t>(QFileInfo(path).size()), true))));
      if (!produce) {
        if (session().shown() != nullptr &&
            (session().shown()->trace == trace || session().shown()->whole == trace))
          session().SavedAs(QFileInfo(path).absoluteFilePath().toStdString());
        recent_.add(path);
        SavedByUser(trace, path);
        RefreshTabs();
      }
    } else if (status.code() == absl::StatusCode::kCancelled) {
      closing_ = false;
      ShowUnkept();
      Say(tr("Cancelled: %1 is unchanged").arg(path));
    } else {
      closing_ = false;
      ShowUnkept();  // behind the next message
      banner_->show({.kind = "save-failed",
                     .title = tr("Cannot write %1").arg(QFileInfo(path).fileName()),
                     .text = tr("%1. If the file existed before, it is unchanged. Choose another "
                                "location or free some disk space.")
                                 .arg(ToQString(std::string(status.message()))),
                     .action = tr("Try again"),
                     .run = [this, trace, path, produce] { Write(trace, path, produce); }});
      Say(tr("Not written: %1").arg(path));
      Q_EMIT failed(ToQString(std::string(status.message())));
    }
    Q_EMIT fileDone(path, status.ok());
    GoOnClosing();
  };
  const auto write = [trace, path, produce, writing]() -> absl::Status {
    const std::string name = QFile::encodeName(path).toStdString();
    if (!produce) {
      trace::WriteOptions options;
      options.cancel = &writing->cancel;
      options.progress = [&](double f) { writing->permille = static_cast<int>(f * 1000); };
      return trace::WriteTraceFile(*trace, name, options);
    }
    return exporters::WriteFile(name, [&](std::ostream& out) {
      WatchedBuffer buffer(out.rdbuf(), &writing->cancel, &writing->bytes);
      std::ostream watched(&buffer);
      const absl::Status status = produce(*trace, watched);
      return writing->cancel ? absl::CancelledError(i18n::Text("cancelled")) : status;
    });
  };
  writes_.Ask(write, written, {.earlier = Earlier::kAll, .blocks = true});
}

void MainWindow::ShowProgress() {
  const FileLoader* loader = loader_->busy() ? loader_ : compare_loader_;
  const bool loading = loader->busy();
  cancel_->setVisible(loading || progress_->isVisible());
  if (loading) {
    const double fraction = loader->fraction();
    const QString name = QFileInfo(loader->path()).fileName();
    const QString much = tr("%1 %").arg(static_cast<int>(fraction * 100));
    progress_->setRange(0, 1000);
    progress_->setValue(static_cast<int>(fraction * 1000));
    progress_->show();
    cancel_->setVisible(true);
    cancel_->setEnabled(!loader->cancelling());
    status_->setText(loader->cancelling() ? tr("Cancelling %1 …").arg(name)
                                          : tr("Opening %1 … %2").arg(name, much));
    if (loader == loader_ && !busy_delay_.isActive())
      timeline_->setLoading(tr("opening %1 …").arg(name), fraction);
    return;
  }
  cancel_->setEnabled(true);
  const auto show = [this](int permille) {
    progress_->setRange(0, permille < 0 ? 0 : 1000);
    if (permille >= 0) progress_->setValue(permille);
    progress_->show();
    cancel_->show();
  };
  if (run_tag_ != 0) {
    if (since_run_.elapsed() < kBarMs) return;
    show(run_fraction_ < 0 ? -1 : static_cast<int>(run_fraction_ * 1000));
    status_->setText(tr("%1 · Ctrl+. cancels").arg(busy_text_));
    return;
  }
  if (digests_.busy()) {
    if (since_digest_.elapsed() < kBarMs) return;
    show(-1);
    status_->setText(tr("Computing memory use … · Ctrl+. cancels"));
    computing_shown_ = true;
    return;
  }
  if (std::exchange(computing_shown_, false)) status_->setText(message_);
  if (writing_.empty()) {
    write_poll_.stop();
    progress_->hide();
    cancel_->hide();
    return;
  }
  const Writing& writing = *writing_.back();
  if (writing.since.elapsed() < kBarMs) return;
  const int permille = writing.permille;
  show(permille);
  const QString much = permille < 0
                           ? QString::fromStdString(timeline::FormatBytes(writing.bytes, true))
                           : tr("%1 %").arg(permille / 10);
  // Do not call Say() here, because it would add a line to the log each time that the progress is
  // polled.
  status_->setText(writing.cancel ? tr("Cancelling %1 …").arg(writing.path)
                                  : tr("Writing %1 … %2 · Ctrl+. cancels").arg(writing.path, much));
}

void MainWindow::cancelAll() {
  CancelOtherWrites();
  StopRuns();
}

// Cancels everything that is in progress, except programs and runs on the GPU.
void MainWindow::CancelOtherWrites() {
  to_open_.clear();
  next_file_.clear();
  loader_->cancel();
  compare_loader_->cancel();
  ShowProgress();
  for (const auto& writing : writing_) writing->cancel = true;
  worker_->cancel();
  explain_->cancel();
  CancelStudies();
  if (!digests_.busy()) return;
  // Cancel digests without waiting for them. A file whose digest is cancelled counts as not opened.
  digests_.cancel(kComparison);
  if (documents_.Find(loading_) != nullptr && !loader_->busy()) {
    DocumentNotLoaded(loading_, QString::fromStdString(documents_.Find(loading_)->FileOfResult()),
                      absl::CancelledError(i18n::Text("cancelled")));
  } else {
    digests_.cancel(doc().id());
    doc().Ended();
    SetBusy({});
    Say(tr("Cancelled"));
  }
}

}  // namespace vramscope::ui
