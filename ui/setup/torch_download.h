// Downloads LibTorch's wheels and unpacks them (profiler/setup), for the window's button and for
// `vramscope setup`. Uses Qt Core and Network. Needs a thread with an event loop. Files are checked
// and unpacked on pool threads.
//
//   TorchDownload download(OwnDownloadOptions());
//   connect(&download, &TorchDownload::progressed, ...);
//   connect(&download, &TorchDownload::ended, ...);       // once, also after cancel()
//   download.start();
//
// An interrupted download continues where it stopped, a few times automatically, and after that at
// the next start(). The downloaded part stays on disk until the wheel is unpacked, or until the
// part proves to belong to another file.
#pragma once

#include <absl/status/status.h>

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QSslConfiguration>
#include <QString>
#include <QTimer>
#include <QUrl>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/setup/install_folder.h"
#include "profiler/setup/wheels.h"
#include "ui/jobs/jobs.h"

class QFile;
class QNetworkAccessManager;
class QNetworkReply;

namespace vramscope::ui {

struct DownloadOptions {
  QUrl index;           // index of Python packages, "https://pypi.org/simple/"
  QString data_folder;  // setup::DataFolder()
  std::vector<setup::Wheel> wheels;
  quint64 unpacked_bytes = setup::kUnpackedBytes;  // approximate, to check the free disk space
  int silence_ms = 30'000;  // the download fails after this time without a byte from the server
  std::vector<int> pauses_ms = {500, 2'000, 5'000, 10'000};  // waiting time before each retry
  bool check_computer = true;  // whether to check first that this computer can run the wheels
};
// The index is $VRAMSCOPE_INDEX_URL or, if that is not set, $PIP_INDEX_URL or else PyPI.
DownloadOptions OwnDownloadOptions();
// Returns `url` without user, password and query.
QString ShownUrl(const QUrl& url);

class TorchDownload : public QObject {
  Q_OBJECT
 public:
  enum class Phase { kAsking, kDownloading, kWaiting, kChecking, kUnpacking };
  struct Progress {
    Phase phase = Phase::kAsking;
    quint64 done = 0, total = 0;  // bytes, in the current phase
    double bytes_per_s = 0;       // speed of the download; 0: not known yet
    double fraction() const;      // finished part of the whole installation, 0 to 1
  };

  explicit TorchDownload(DownloadOptions options, QObject* parent = nullptr);
  ~TorchDownload() override;

  void start();
  void cancel();  // ended() follows, with kCancelled
  bool busy() const { return busy_; }
  // Whether the last start() could lock the folder. If not, another process has the lock.
  bool locked() const { return locked_; }
  const Progress& progress() const { return progress_; }

 Q_SIGNALS:
  void progressed(const vramscope::ui::TorchDownload::Progress& progress);
  void ended(const absl::Status& status);

 private:
  void Next();
  void AskIndex();
  void IndexAnswered();
  void Fetch();
  void HeadersCame();
  void BytesCame();
  void FetchEnded();
  void TryAgain(const absl::Status& why);
  void Check();
  void Install();
  void Work(std::function<absl::Status()> work, std::function<void(const absl::Status&)> done);
  void ReportFromThread(Phase phase, quint64 done, quint64 total);
  void End(const absl::Status& status);
  void Report(Phase phase, quint64 done, quint64 total);
  absl::Status ErrorOf(const QNetworkReply& reply, const QUrl& url) const;
  QNetworkReply* Get(const QUrl& url, const QByteArray& accept, quint64 from);
  const setup::Wheel& Current() const { return options_.wheels[at_]; }

  const DownloadOptions options_;
  std::optional<setup::InstallFolder> folder_;
  std::unique_ptr<QNetworkAccessManager> network_;
  QSslConfiguration certificates_;
  QPointer<QNetworkReply> reply_;
  std::unique_ptr<QFile> part_;
  QTimer again_;
  QElapsedTimer since_fetch_, since_report_;
  QUrl link_;             // link of the current wheel; empty: not looked up yet
  size_t at_ = 0;         // index of the current wheel
  size_t attempts_ = 0;   // failed attempts since the last progress
  quint64 furthest_ = 0;  // largest size that the current wheel's file has reached
  quint64 begun_with_ = 0;
  quint64 earlier_bytes_ = 0;  // bytes of the wheels before the current one
  quint64 all_bytes_ = 0;
  absl::Status failed_;  // the reason why the reply was aborted
  bool busy_ = false, locked_ = false;
  std::atomic<bool> cancel_ = false;
  Jobs jobs_;  // runs checking and unpacking
  Progress progress_;
};

}  // namespace vramscope::ui

Q_DECLARE_METATYPE(vramscope::ui::TorchDownload::Progress)
