// Opening files: progress, results and errors.
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <algorithm>
#include <optional>
#include <string>

#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/open.h"
#include "profiler/program/verdict.h"
#include "profiler/run/configuration_kind.h"
#include "profiler/run/device_file.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/open_part_dialog.h"
#include "ui/shell/savings.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr qint64 kMaxJson = 1 << 20;
// While a file of at least this size is read, the window offers to open only a part of it. For a
// compressed file, kLargeCompressed applies instead.
constexpr qint64 kLargeFile = 200 << 20;
constexpr qint64 kLargeCompressed = 24 << 20;
constexpr qsizetype kShownWarnings = 3;
constexpr uint64_t kOutlined = 2'000'000;

// Returns the message without its full stop, because the caller continues the sentence.
QString Text(const absl::Status& status) {
  QString text = ToQString(std::string(status.message()));
  while (text.endsWith(QLatin1Char('.'))) text.chop(1);
  return text;
}

QString Count(uint64_t n) { return QString::fromStdString(timeline::FormatCount(n)); }

bool IsCompressed(const QString& path) {
  return path.endsWith(QLatin1String(".gz"), Qt::CaseInsensitive) ||
         path.endsWith(QLatin1String(".zst"), Qt::CaseInsensitive);
}

// Returns the text of a `.json` file if it is a configuration. Returns nullopt if it is a
// recording, or if it is too large or unreadable.
std::optional<std::string> ConfigurationText(const QString& path) {
  if (!path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)) return std::nullopt;
  QFile file(path);
  if (file.size() > kMaxJson || !file.open(QIODevice::ReadOnly)) return std::nullopt;
  std::string text = file.readAll().toStdString();
  if (importers::FindImporter(text) != nullptr) return std::nullopt;
  return text;
}

// Returns a text that changes whenever the file is written again.
std::string StampOf(const QString& path) {
  const QFileInfo info(path);
  return std::to_string(info.size()) + ":" +
         std::to_string(info.lastModified().toMSecsSinceEpoch());
}

bool IsScript(const QString& path) {
  return path.endsWith(QLatin1String(".py"), Qt::CaseInsensitive);
}

// Returns a sentence that says what the user can do after this error.
QString NextStep(const absl::Status& status) {
  if (importers::IsRefused(status))
    return QObject::tr(
        "Nothing in the file was executed. PyTorch does not write files like this one. Do not load "
        "the file with Python.");
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return QObject::tr("Check whether the file was moved. Press Ctrl+O to look for the file.");
    case absl::StatusCode::kPermissionDenied:
      return QObject::tr(
          "Ask the owner of the file for read permission, or open a copy of the file.");
    case absl::StatusCode::kResourceExhausted:
      return QObject::tr(
          "You can open a part of the file: one device, one range of entries, or one time range.");
    case absl::StatusCode::kDataLoss:
      return QObject::tr(
          "Even the part before the damage cannot be shown. Copy or record the file again.");
    default:
      return QObject::tr(
          "Supported: .trace files, CUDA memory snapshots (pickle or JSON) and Kineto JSON, plain, "
          ".gz or .zst.");
  }
}

}  // namespace

void MainWindow::openFiles(const QStringList& paths) {
  to_open_ = paths;
  next_file_.clear();
  if (!to_open_.isEmpty()) OpenOne(to_open_.takeFirst());
}

void MainWindow::openFile(const QString& path) { openFiles({path}); }

void MainWindow::OpenOne(const QString& path) {
  if (const auto text = ConfigurationText(path)) return OpenConfiguration(path, *text);
  if (IsScript(path)) {
    to_open_.clear();
    openProgram(path);
    return;
  }
  StartLoading(path, {});
}

void MainWindow::OpenConfiguration(const QString& path, const std::string& text) {
  if (run::KindOfConfiguration(text) == run::ConfigurationKind::kDevice) {
    openDeviceFile(path);
  } else {
    openModelConfig(path);
  }
}

// Returns the document that shows this part of the file. Null: there is none, or the file has
// changed since.
Document* MainWindow::OpenAlready(const QString& path, const importers::OpenOptions& part) {
  return documents_.FindFile(QFileInfo(path).absoluteFilePath().toStdString(), part, StampOf(path));
}

void MainWindow::openPart(const QString& path, const importers::OpenOptions& part) {
  to_open_.clear();
  next_file_.clear();
  StartLoading(path, part);
}

void MainWindow::StartLoading(const QString& path, const importers::OpenOptions& part) {
  banner_->clear(QStringLiteral("open-failed"));
  if (Document* there = OpenAlready(path, part)) {
    showDocument(there->id());
    if (there->state() == DocumentState::kFailed) Reload(*there);
    recent_.add(path);
    if (!to_open_.isEmpty()) next_file_ = to_open_.takeFirst();
    if (session().shown() != nullptr) OpenNext();
    return;
  }
  // The new document becomes active when its first preview or result arrives. The window shows the
  // previous document until then.
  Document& opened = documents_.Open({.kind = SourceKind::kFile,
                                      .file = QFileInfo(path).absoluteFilePath().toStdString(),
                                      .part = part,
                                      .stamp = StampOf(path)});
  LoadInto(opened, path, part);
}

void MainWindow::LoadInto(Document& of, const QString& path, const importers::OpenOptions& part) {
  // Only one file is read at a time. A read that was in progress is cancelled, and done again when
  // its document is shown.
  if (Document* before = documents_.Find(loading_); before != nullptr && loader_->busy())
    before->Left();
  loading_ = of.id();
  of.Began();
  RefreshTabs();
  timeline_->setOutline(nullptr);
  Say(tr("Opening %1").arg(path));
  loader_->start(path, part);
  SetBusy(tr("opening %1 …").arg(QFileInfo(path).fileName()));
  const qint64 size = QFileInfo(path).size();
  const bool whole = part.last_entry == importers::OpenOptions().last_entry &&
                     part.first_entry == 0 && part.to_ns == importers::OpenOptions().to_ns &&
                     part.from_ns == importers::OpenOptions().from_ns;
  if (whole && size > (IsCompressed(path) ? kLargeCompressed : kLargeFile) &&
      !path.endsWith(QLatin1String(".trace")))
    banner_->show({.kind = "large-file",
                   .tone = Banner::Tone::kWarning,
                   .title = tr("%1 is large: %2")
                                .arg(QFileInfo(path).fileName(),
                                     QString::fromStdString(timeline::FormatBytesShort(
                                         static_cast<uint64_t>(size), 0))),
                   .text = tr("The whole file is being opened. A part (one device, one range of "
                              "entries, or one time range) opens faster and needs less memory."),
                   .action = tr("Open a part …"),
                   .run = [this, path] { OpenPartOf(path); }});
  ShowProgress();
}

void MainWindow::OpenPartOf(const QString& path) {
  auto* dialog = new OpenPartDialog(path, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  // If the shown trace is from this recording, propose the selected range as the part.
  if (session().shown() != nullptr && ShownFile() == QFileInfo(path).absoluteFilePath()) {
    const auto [begin, end] = timeline_->range();
    const int64_t first = session().shown()->trace->begin_ns();
    if (end > begin) dialog->setTimes(begin - first, end - first);
  }
  connect(dialog, &OpenPartDialog::chosen, this, &MainWindow::openPart);
  dialog->open();
}

void MainWindow::Outlined(const std::shared_ptr<const trace::Outline>& outline) {
  if (outline->events + outline->activities < kOutlined) return;  // the whole file opens quickly
  timeline_->setOutline(outline);
  Say(tr("%1 contains %2 events, according to the file's index")
          .arg(QFileInfo(loader_->path()).fileName(), Count(outline->events)));
}

void MainWindow::Preview(const std::shared_ptr<const trace::Trace>& trace) {
  // Show a preview of the part that has been read, until the complete trace replaces it.
  Document* of = documents_.Find(loading_);
  const bool seen = of != nullptr && (of->id() == doc().id() || of->opener == doc().id());
  if (!seen || digests_.busy() || !timeline_->ready() || trace == nullptr ||
      trace->events.size() == 0) {
    loader_->previewShown();
    return;
  }
  if (of->source.kind == SourceKind::kFile)
    of->session.ShowFile(QFileInfo(loader_->path()).absoluteFilePath().toStdString());
  if (!of->session.partial())
    connect(
        this, &MainWindow::documentShown, this,
        [this] {
          if (session().partial())
            Say(tr("Preview: %1 events").arg(Count(session().shown()->trace->events.size())));
        },
        Qt::SingleShotConnection);
  Digested(*of, trace, false, true);
}

void MainWindow::FileNotLoaded(const QString& path, const absl::Status& status) {
  DocumentNotLoaded(loading_, path, status);
}

// If the document was newly opened, closes it and shows the document from which it was opened. If
// it has earlier results, it stays open, so that the user can try again.
void MainWindow::DocumentNotLoaded(DocumentId id, const QString& path, const absl::Status& status) {
  to_open_.clear();
  next_file_.clear();
  loading_ = 0;
  timeline_->setOutline(nullptr);
  SetBusy({});
  ShowProgress();
  banner_->clear(QStringLiteral("large-file"));
  if (Document* of = documents_.Find(id)) {
    digests_.cancel(id);  // a preview that is still being digested is no longer needed
    of->Ended();
    if (of->history.entries().empty()) CloseNow(id);
  }
  RefreshTabs();
  const QString name = QFileInfo(path).fileName();
  if (status.code() == absl::StatusCode::kCancelled) {
    Say(tr("Opening %1 was cancelled").arg(name));
    ShowFailed(tr("Opening was cancelled"), name,
               tr("Open another file with Ctrl+O, or press Ctrl+R to plan a run"));
  } else {
    // Offer to open a part only if memory ran out. For a damaged file, a part would not help,
    // because the file is shown up to the damage anyway.
    const bool part = status.code() == absl::StatusCode::kResourceExhausted;
    banner_->show(
        {.kind = "open-failed",
         .title = tr("%1 could not be opened").arg(name),
         .text = tr("%1. %2%3")
                     .arg(Text(status), NextStep(status),
                          session().shown() != nullptr ? tr(" The current view is unchanged.")
                                                       : QString()),
         .action = part ? tr("Open a part …") : QString(),
         .run = [this, path] { OpenPartOf(path); }});
    Say(tr("%1 was not opened: %2").arg(path, Text(status)));
    ShowFailed(tr("The file could not be opened"), Text(status),
               tr("Open another file with Ctrl+O, or press Ctrl+R to plan a run"));
  }
  actions_.Refresh();
  Q_EMIT failed(Text(status));
}

void MainWindow::FileLoaded(const QString& path,
                            const std::shared_ptr<const trace::Trace>& loaded) {
  SetBusy({});
  ShowProgress();
  banner_->clearOfDocument();
  Document* of = documents_.Find(loading_);
  if (of == nullptr) return;  // the document was closed
  if (of->source.kind == SourceKind::kFile) {
    recent_.add(path);
    of->session.ShowFile(QFileInfo(path).absoluteFilePath().toStdString());
  }
  if (loaded->info.has_config) {
    of->config = loaded->info.config;
    if (of->id() == doc().id()) SetConfig(of->config);
  }
  Digested(*of, loaded, false, false, of->device);
  ShowWarnings(path, *loaded);
  Say(tr("Opened %1: %2 events").arg(path, Count(loaded->events.size())));
  if (to_open_.isEmpty()) return;
  next_file_ = to_open_.takeFirst();
  if (session().shown() != nullptr &&
      (session().shown()->trace == loaded || session().shown()->whole == loaded))
    OpenNext();
}

// Opens the second of two files as soon as the first one is on the canvas.
void MainWindow::OpenNext() {
  if (next_file_.isEmpty() || session().partial()) return;
  const QString path = std::exchange(next_file_, {});
  PinBaseline();
  OpenOne(path);
}

// Reads a file and makes it the baseline of the shown run. Cancels the read of an earlier call.
void MainWindow::compareWith(const QString& path) {
  if (session().shown() == nullptr || IsScript(path)) {
    openFile(path);
    return;
  }
  if (const auto text = ConfigurationText(path)) {
    PinBaseline();
    return OpenConfiguration(path, *text);
  }
  banner_->clear(QStringLiteral("compare-failed"));
  if (const Document* there = OpenAlready(path, {});
      there != nullptr && there->session.shown() != nullptr && !there->session.partial() &&
      there->id() != doc().id()) {
    compareDocuments(doc().id(), there->id());
    return;
  }
  comparing_ = doc().id();
  comparing_quietly_ = false;
  Say(tr("Opening %1 for comparison").arg(path));
  compare_loader_->start(path, {});
  ShowProgress();
}

void MainWindow::ComparisonLoaded(const QString& path,
                                  const std::shared_ptr<const trace::Trace>& loaded) {
  recent_.add(path);
  const QString file = QFileInfo(path).absoluteFilePath();
  since_digest_.start();
  // If the recording has several GPUs, use the GPU that the shown run used, if the recording has
  // it.
  const auto make = [trace = loaded, name = file.toStdString(),
                     device = session().shown() ? session().shown()->device : std::nullopt] {
    return MakeDigest(trace, name, device);
  };
  const auto show = [this, file](const absl::StatusOr<std::shared_ptr<const Digest>>& digest) {
    ShowProgress();
    if (!digest.ok()) return ComparisonNotLoaded(file, digest.status());
    Document* of = documents_.Find(comparing_);
    if (of == nullptr) return;  // the document was closed
    of->session.SetBaseline(*digest, file.toStdString());
    Say(tr("Compared with %1").arg(file));
    if (of->id() != doc().id()) return;
    UpdateBaseline();
    actions_.Refresh();
    if (comparing_quietly_) return;
    openPage(QStringLiteral("compare"));
    ShowWarnings(file, *session().baseline()->trace);
  };
  digests_.Ask(make, show, {.key = kComparison, .dropped = [this] { ShowProgress(); }});
  ShowProgress();
}

void MainWindow::ComparisonNotLoaded(const QString& path, const absl::Status& status) {
  ShowProgress();
  const QString name = QFileInfo(path).fileName();
  if (status.code() == absl::StatusCode::kCancelled) {
    Say(tr("Opening %1 was cancelled").arg(name));
  } else {
    banner_->show({.kind = "compare-failed",
                   .title = tr("Cannot open %1 for comparison").arg(name),
                   .text = tr("%1. %2").arg(Text(status), NextStep(status))});
    Say(tr("%1 was not opened: %2").arg(path, Text(status)));
  }
  actions_.Refresh();
  Q_EMIT failed(Text(status));
}

void MainWindow::ShowWarnings(const QString& path, const trace::Trace& trace) {
  QStringList lines;
  for (const std::string& warning : trace.warnings)
    lines << QString::fromStdString(i18n::Shown(warning));
  if (!trace.complete && lines.isEmpty())
    lines << QString::fromStdString(i18n::Shown(program::ShortException(trace.end_message)));
  if (lines.isEmpty()) return;
  // Move the reason why the trace ends to the front.
  const qsizetype end = lines.indexOf(QString::fromStdString(i18n::Shown(trace.end_message)));
  if (!trace.complete && end > 0) lines.move(end, 0);
  if (lines.front().isEmpty()) lines.front() = tr("the file does not record why the trace ends");
  lines.front()[0] = lines.front()[0].toUpper();
  const bool ran_out = std::ranges::any_of(trace.other_events.event, [&](trace::EventIndex e) {
    return trace.events.kind[e] == trace::EventKind::kOutOfMemory;
  });
  const QString name = QFileInfo(path).fileName();
  for (const QString& line : lines) log_->appendPlainText(tr("%1: %2").arg(name, line));
  QString text = lines.mid(0, kShownWarnings).join(QStringLiteral("; "));
  while (text.endsWith(QLatin1Char('.'))) text.chop(1);
  if (lines.size() > kShownWarnings)
    text += tr("; %1 more in the Log tab").arg(lines.size() - kShownWarnings);
  banner_->show({.kind = trace.complete ? "file-warnings" : "incomplete-file",
                 .tone = Banner::Tone::kWarning,
                 .title = trace.complete ? tr("%1 opened with warnings").arg(name)
                                         : tr("%1 is incomplete").arg(name),
                 .text = trace.complete
                             ? text + QLatin1Char('.')
                             : tr("%1. The window shows everything before that point.").arg(text),
                 .action = ran_out ? tr("See what would help") : QString(),
                 .run = [this] { openPage(QStringLiteral("out-of-memory")); }});
}

void MainWindow::openDeviceFile(const QString& path) {
  const absl::StatusOr<std::string> device =
      run::DeviceTextOf(QFileInfo(path).absoluteFilePath().toStdString());
  if (!device.ok()) {
    banner_->show({.kind = "bad-device",
                   .title = tr("%1 could not be loaded").arg(QFileInfo(path).fileName()),
                   .text = tr("%1. The current view is unchanged.").arg(Text(device.status()))});
    Say(tr("Not loaded: %1").arg(path));
    Q_EMIT failed(Text(device.status()));
    return;
  }
  banner_->clear(QStringLiteral("bad-device"));
  if (ControlsShow(ControlsPage::kProgram)) {
    program_->setDevice(QString::fromStdString(*device));
    return;
  }
  run::RunConfig config = doc().config;
  config.device = *device;
  config.custom_device = {};
  editConfig(config);
}

void MainWindow::chooseDevice() {
  if (ControlsShow(ControlsPage::kProgram)) return program_->chooseDevice();
  ShowControlsPage(ControlsPage::kModel);
  run_panel_->chooseDevice();
}

void MainWindow::openModelConfig(const QString& path) {
  const auto refuse = [&](const QString& why) {
    banner_->show({.kind = "bad-config",
                   .title = tr("%1 could not be loaded").arg(QFileInfo(path).fileName()),
                   .text = tr("%1. The current view is unchanged.").arg(why)});
    Say(tr("Not loaded: %1").arg(path));
    Q_EMIT failed(why);
  };
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    refuse(file.errorString());
    return;
  }
  if (file.size() > kMaxJson) {
    refuse(tr("The file has %1 bytes, but a config.json has only a few thousand bytes")
               .arg(file.size()));
    return;
  }
  const QByteArray bytes = file.readAll();
  const run::ConfigurationKind kind = run::KindOfConfiguration(bytes.toStdString());
  if (kind == run::ConfigurationKind::kUnknown || kind == run::ConfigurationKind::kDevice) {
    refuse(
        tr("The file is not a recording. It is not a config.json either, because it has no "
           "\"model_type\""));
    return;
  }
  const QFileInfo info(path);
  QString name = info.completeBaseName();
  if (name == QLatin1String("config") && !info.dir().dirName().isEmpty())
    name = info.dir().dirName();
  run::RunConfigBuilder builder(doc().config);
  const absl::Status status = kind == run::ConfigurationKind::kRun
                                  ? builder.SetRunJson(bytes.toStdString())
                                  : builder.SetModelConfig(name.toStdString(), bytes.toStdString());
  if (!status.ok()) {
    refuse(Text(status));
    return;
  }
  const absl::StatusOr<run::RunConfig> config = builder.Build();
  if (!config.ok()) {
    refuse(Text(config.status()));
    return;
  }
  banner_->clear(QStringLiteral("bad-config"));
  editConfig(*config);
}

}  // namespace vramscope::ui
