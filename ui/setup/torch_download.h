// Downloads LibTorch's wheels and unpacks them (profiler/setup): the window's button and `vramscope
// setup` use the same. Qt Core and Network; lives in a thread with an event loop, what takes long
// (checking a file, unpacking it) happens on others.
//
//   TorchDownload download(OwnDownloadOptions());
//   connect(&download, &TorchDownload::progressed, ...);
//   connect(&download, &TorchDownload::ended, ...);       // once, also after cancel()
//   download.start();
//
// A connection that is cut is gone on with where it stopped, by itself a few times, and by the next
// start: what has come stays until the wheel is unpacked or turns out to be another file.
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
  QUrl index;           // of Python packages, "https://pypi.org/simple/"
  QString data_folder;  // setup::DataFolder()
  std::vector<setup::Wheel> wheels;
  quint64 unpacked_bytes = setup::kUnpackedBytes;  // about, for the room on the disk
  int silence_ms = 30'000;                         // without a byte of the server: it is given up
  std::vector<int> pauses_ms = {500, 2'000, 5'000, 10'000};  // before each new attempt
  bool check_computer = true;  // whether the wheels can work here at all
};
// $VRAMSCOPE_INDEX_URL, else $PIP_INDEX_URL, else PyPI.
DownloadOptions OwnDownloadOptions();
// Without what may be secret in it.
QString ShownUrl(const QUrl& url);

class TorchDownload : public QObject {
  Q_OBJECT
 public:
  enum class Phase { kAsking, kDownloading, kWaiting, kChecking, kUnpacking };
  struct Progress {
    Phase phase = Phase::kAsking;
    quint64 done = 0, total = 0;  // bytes, of the phase
    double bytes_per_s = 0;       // while downloading; 0: not known yet
    double fraction() const;      // of everything, 0 to 1
  };

  explicit TorchDownload(DownloadOptions options, QObject* parent = nullptr);
  ~TorchDownload() override;

  void start();
  void cancel();  // ended() comes with kCancelled
  bool busy() const { return busy_; }
  // Whether the last start got the folder: false after ended() where another process has it.
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
  QUrl link_;             // of the current wheel; empty: not asked for yet
  size_t at_ = 0;         // which wheel
  size_t attempts_ = 0;   // without a step forward
  quint64 furthest_ = 0;  // bytes of the current wheel that were ever there
  quint64 begun_with_ = 0;
  quint64 earlier_bytes_ = 0;  // of the wheels before
  quint64 all_bytes_ = 0;
  absl::Status failed_;  // why the reply is being aborted
  bool busy_ = false, locked_ = false;
  std::atomic<bool> cancel_ = false;
  Jobs jobs_;  // checking, unpacking
  Progress progress_;
};

}  // namespace vramscope::ui

Q_DECLARE_METATYPE(vramscope::ui::TorchDownload::Progress)
