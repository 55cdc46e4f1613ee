// The window without LibTorch. It shows sample runs instead of plans, and can download LibTorch.
#include <QDir>

#include "profiler/setup/find_libtorch.h"
#include "profiler/trace/reader.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/techniques.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/savings.h"
#include "ui/shell/setup_panel.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {

// Called at the start, and after a download.
void MainWindow::CheckForLibTorch() {
  const bool before = can_plan_;
  can_plan_ = true;
  const setup::LibTorch torch = setup_.find_libtorch ? setup_.find_libtorch() : setup::LibTorch{};
  if (setup_.find_libtorch) can_plan_ = torch.found() && !worker_program_.isEmpty();
  if (can_plan_) {
    setup_panel_->hide();
    savings_->setSamples(nullptr);
    techniques_->setAvailable({}, {});
    run_panel_->setAvailable({}, {});
    worker_->start();
    if (!before) actions_.Refresh();
    return;
  }
  samples_ = std::make_shared<const setup::Samples>(
      setup::Samples::In(setup_.samples_folder.toStdString()));
  ShowMissing(torch);
  savings_->setSamples(samples_);
  const auto available = [this](const run::RunConfig& config) { return IsThere(config); };
  const QString why = tr("needs LibTorch: use “Download LibTorch” above, or `vramscope setup`");
  techniques_->setAvailable(available, why);
  run_panel_->setAvailable(available, why);
  actions_.Refresh();
}

void MainWindow::ShowMissing(const setup::LibTorch& torch) {
  const std::string never = setup::WhyNoLibTorchHere();
  SetupPanel::Missing missing;
  missing.samples = !samples_->empty();
  missing.can_download = !worker_program_.isEmpty() && never.empty();
  if (worker_program_.isEmpty())
    missing.why =
        tr("This build has no trainer (vramscope-worker), which plans the built-in models");
  else if (!never.empty())
    missing.why = ToQString(never);
  else
    missing.why = tr("LibTorch %1, needed to plan the built-in models, is not installed")
                      .arg(ToQString(setup::TorchVersion()));
  QStringList others;
  for (const std::string& other : torch.rejected) others << ToQString(other);
  if (missing.can_download) missing.details = others.join(QStringLiteral("\n"));
  missing.folder = setup_.download.data_folder;
  if (const QString home = QDir::homePath(); missing.folder.startsWith(home + QLatin1Char('/')))
    missing.folder.replace(0, home.size(), QLatin1Char('~'));
  for (const setup::Wheel& wheel : setup_.download.wheels) missing.bytes += wheel.bytes;
  missing.unpacked = setup::kUnpackedBytes;
  missing.there = setup::BytesBelow(setup_.download.data_folder.toStdString() + "/downloads");
  setup_panel_->setMissing(missing);
}

// Returns true if the configuration can be planned, or if it has a sample run.
bool MainWindow::IsThere(const run::RunConfig& config) const {
  return can_plan_ || (samples_ != nullptr && samples_->Find(config) != nullptr);
}

void MainWindow::RefuseWithoutLibTorch() {
  banner_->show({.kind = "no-libtorch",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("No sample run has these settings"),
                 .text = tr("Planning needs LibTorch. Download it in the panel on the left, or "
                            "with `vramscope setup`."),
                 .action = setup_panel_->canDownload() ? tr("Download LibTorch") : QString(),
                 .run = [this] { downloadLibTorch(); }});
  Q_EMIT failed(tr("no sample run has these settings, and LibTorch is not installed"));
}

// Shows a sample run instead of a plan. A pool thread reads and digests its file, which has a few
// dozen kilobytes.
void MainWindow::ShowSample() {
  const std::string* file = samples_ == nullptr ? nullptr : samples_->Find(doc().config);
  if (file == nullptr) {
    SetBusy({});
    if (session().shown() != nullptr) return RefuseWithoutLibTorch();
    ShowFailed(tr("Nothing was planned"),
               tr("LibTorch is not installed, and this build has no sample runs"),
               tr("Open a recording with Ctrl+O, or plan your own program with Ctrl+G"));
    Q_EMIT failed(tr("LibTorch is not installed, and no sample run was found"));
    return;
  }
  LeavePlans();
  since_run_.start();
  doc().Began();
  since_digest_.start();
  SetBusy(tr("opening a sample run …"));
  digests_.Ask(
      [path = *file] { return DigestOfSample(path); },
      [this, id = doc().id()](const absl::StatusOr<std::shared_ptr<const Digest>>& digest) {
        if (documents_.Find(id) == nullptr) return;
        if (!digest.ok()) return NotDigested(id, digest.status(), false);
        if (id == doc().id()) RunSucceeded();
        ShowDigest(id, *digest, animations_, false);
      },
      {.key = doc().id()});
}

void MainWindow::downloadLibTorch() {
  if (download_ != nullptr && download_->busy()) return;
  banner_->clear(QStringLiteral("no-libtorch"));
  download_ = std::make_unique<TorchDownload>(setup_.download);
  connect(download_.get(), &TorchDownload::progressed, setup_panel_, &SetupPanel::setProgress);
  connect(download_.get(), &TorchDownload::ended, this, [this](const absl::Status& status) {
    LibTorchDownloaded(status);
    Q_EMIT setupEnded(status.ok());
  });
  setup_panel_->setProgress({});
  Say(tr("Downloading LibTorch"));
  download_->start();
}

void MainWindow::LibTorchDownloaded(const absl::Status& status) {
  QString why = ToQString(std::string(status.message()));
  while (why.endsWith(QLatin1Char('.'))) why.chop(1);
  if (!status.ok()) {
    if (absl::IsCancelled(status)) why.clear();
    ShowMissing(setup_.find_libtorch ? setup_.find_libtorch() : setup::LibTorch{});
    setup_panel_->setFailed(why);
    Say(why.isEmpty() ? tr("Cancelled: the downloaded part is kept")
                      : tr("LibTorch was not installed: %1").arg(why));
    return;
  }
  CheckForLibTorch();
  if (!can_plan_) return;
  Say(tr("LibTorch is installed: everything can be planned now"));
  // Keep showing the run, and plan its missing savings.
  if (with_savings_ && session().shown() != nullptr && !session().from_file())
    savings_->update(doc().config);
}

}  // namespace vramscope::ui
