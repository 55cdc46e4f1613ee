#include "ui/setup/torch_download.h"

#include <QCryptographicHash>
#include <QFile>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QSslSocket>
#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/index_page.h"
#include "ui/setup/network.h"

namespace vramscope::ui {
namespace {

constexpr const char* kPyPi = "https://pypi.org/simple/";
constexpr int kMostRedirects = 10;
constexpr qint64 kReadBuffer = qint64{4} << 20;
constexpr qint64 kHashPiece = qint64{1} << 20;
constexpr qint64 kReportMs = 50;
constexpr int kOk = 200, kPartial = 206, kNotFound = 404, kBadRange = 416;
// Shares of the total progress that downloading 500 MB and checking have. The rest is for
// unpacking.
constexpr double kDownloadShare = 0.9, kCheckShare = 0.03;

std::string Str(const QString& text) { return text.toStdString(); }

// Hashes the file in chunks, because it is half a gigabyte.
absl::Status CheckHash(const QString& path, const setup::Wheel& wheel,
                       const std::atomic<bool>& cancel,
                       const std::function<void(quint64)>& progress) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return absl::UnavailableError(Str(path + QStringLiteral(": ") + file.errorString()));
  QCryptographicHash hash(QCryptographicHash::Sha256);
  QByteArray piece(kHashPiece, Qt::Uninitialized);
  for (quint64 done = 0;;) {
    const qint64 got = file.read(piece.data(), piece.size());
    if (got < 0)
      return absl::UnavailableError(Str(path + QStringLiteral(": ") + file.errorString()));
    if (got == 0) break;
    hash.addData(QByteArrayView(piece.constData(), got));
    done += static_cast<quint64>(got);
    progress(done);
    if (cancel.load(std::memory_order_relaxed))
      return absl::CancelledError(i18n::Text("cancelled"));
  }
  if (hash.result().toHex().toStdString() == wheel.sha256) return absl::OkStatus();
  return absl::DataLossError(
      i18n::Format("{} is not the expected file: its SHA-256 is {} instead of {}. The file was "
                   "deleted. A proxy or a mirror may have changed the file. Try again, or set "
                   "another index in $VRAMSCOPE_INDEX_URL",
                   wheel.file, hash.result().toHex().toStdString(), wheel.sha256));
}

// When the disk becomes full, one write stores only a part and still succeeds, and only the next
// write fails.
bool WriteAll(QFile& file, QByteArrayView bytes) {
  while (!bytes.isEmpty()) {
    const qint64 written = file.write(bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.sliced(written);
  }
  return file.flush() || file.flush();
}

// Returns 1000 for "bytes 1000-1999/5000", and -1 for a text that does not have this form.
qint64 RangeBegin(const QByteArray& header) {
  constexpr QByteArrayView kBytes = "bytes ";
  if (!header.startsWith(kBytes)) return -1;
  bool good = false;
  const qint64 begin = header.mid(kBytes.size()).split('-').value(0).trimmed().toLongLong(&good);
  return good ? begin : -1;
}

}  // namespace

DownloadOptions OwnDownloadOptions() {
  DownloadOptions options;
  QString index = qEnvironmentVariable("VRAMSCOPE_INDEX_URL");
  if (index.isEmpty()) index = qEnvironmentVariable("PIP_INDEX_URL");
  if (index.isEmpty()) index = QLatin1String(kPyPi);
  options.index = QUrl(index, QUrl::StrictMode);
  options.data_folder = QString::fromStdString(setup::DataFolder());
  options.wheels = setup::WheelsFor("run");
  return options;
}

QString ShownUrl(const QUrl& url) {
  return url.toDisplayString(QUrl::RemoveUserInfo | QUrl::RemoveQuery | QUrl::RemoveFragment);
}

double TorchDownload::Progress::fraction() const {
  const double part =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
  switch (phase) {
    case Phase::kAsking:
    case Phase::kDownloading:
    case Phase::kWaiting:
      return kDownloadShare * part;
    case Phase::kChecking:
      return kDownloadShare + kCheckShare * part;
    case Phase::kUnpacking:
      return kDownloadShare + kCheckShare + (1 - kDownloadShare - kCheckShare) * part;
  }
  return 0;
}

TorchDownload::TorchDownload(DownloadOptions options, QObject* parent)
    : QObject(parent), options_(std::move(options)) {
  again_.setSingleShot(true);
  connect(&again_, &QTimer::timeout, this, [this] {
    if (link_.isEmpty())
      AskIndex();
    else
      Fetch();
  });
}

TorchDownload::~TorchDownload() {
  cancel_ = true;
  if (reply_) {
    reply_->disconnect(this);
    reply_->abort();
  }
  jobs_.wait();  // the job uses the folder; it often checks cancel_
}

void TorchDownload::start() {
  if (busy_) return;
  busy_ = true;
  locked_ = false;
  cancel_ = false;
  failed_ = absl::OkStatus();
  at_ = 0;
  earlier_bytes_ = all_bytes_ = 0;
  for (const setup::Wheel& wheel : options_.wheels) all_bytes_ += wheel.bytes;
  // Begin later in the event loop, because the caller of start() may not have connected ended()
  // yet.
  QTimer::singleShot(0, this, [this] {
    if (!busy_ || cancel_) return;
    if (const std::string never = setup::WhyNoLibTorchHere();
        options_.check_computer && !never.empty())
      return End(absl::FailedPreconditionError(never));
    if (!options_.index.isValid() || !options_.index.scheme().startsWith(QLatin1String("http")))
      return End(absl::InvalidArgumentError(
          i18n::Format("the package index \"{}\" is not an address that begins with https://; "
                       "correct $VRAMSCOPE_INDEX_URL or $PIP_INDEX_URL",
                       Str(ShownUrl(options_.index)))));
    absl::StatusOr<setup::InstallFolder> folder =
        setup::InstallFolder::Lock(Str(options_.data_folder));
    if (!folder.ok()) return End(folder.status());
    locked_ = true;
    folder_.emplace(*std::move(folder));
    // Another process may have installed LibTorch in the meantime.
    if (setup::CheckTorch(folder_->TorchPath()).ok()) return End(absl::OkStatus());
    if (const absl::Status room = folder_->CheckRoom(options_.wheels, options_.unpacked_bytes);
        !room.ok())
      return End(room);
    if (!network_) network_ = MakeNetwork();
    Next();
  });
}

void TorchDownload::cancel() {
  if (!busy_ || cancel_) return;
  cancel_ = true;
  again_.stop();
  failed_ = absl::CancelledError(i18n::Text("cancelled"));
  if (progress_.phase == Phase::kChecking || progress_.phase == Phase::kUnpacking) return;
  if (reply_)
    reply_->abort();  // its finished() signal then leads to End()
  else
    QTimer::singleShot(0, this, [this] { End(absl::CancelledError(i18n::Text("cancelled"))); });
}

void TorchDownload::End(const absl::Status& status) {
  if (!busy_) return;
  busy_ = false;
  again_.stop();
  part_.reset();
  folder_.reset();  // releases the lock
  Q_EMIT ended(status);
}

void TorchDownload::Report(Phase phase, quint64 done, quint64 total) {
  const bool same = progress_.phase == phase;
  progress_.phase = phase;
  progress_.done = done;
  progress_.total = total;
  if (same && since_report_.isValid() && since_report_.elapsed() < kReportMs && done < total)
    return;
  since_report_.start();
  const qint64 ms =
      phase == Phase::kDownloading && since_fetch_.isValid() ? since_fetch_.elapsed() : 0;
  constexpr qint64 kSteadyMs = 500;
  progress_.bytes_per_s = ms > kSteadyMs
                              ? 1000.0 * static_cast<double>(done - std::min(done, begun_with_)) /
                                    static_cast<double>(ms)
                              : 0;
  Q_EMIT progressed(progress_);
}

// Continues with the next wheel, or installs after the last one.
void TorchDownload::Next() {
  if (at_ >= options_.wheels.size()) return Install();
  link_.clear();
  attempts_ = 0;
  furthest_ = 0;
  const quint64 there = folder_->BytesOf(Current());
  Report(Phase::kAsking, earlier_bytes_ + there, all_bytes_);
  if (there == Current().bytes) return Check();
  AskIndex();
}

QNetworkReply* TorchDownload::Get(const QUrl& url, const QByteArray& accept, quint64 from) {
  QNetworkRequest request(url);
  request.setTransferTimeout(options_.silence_ms);
  request.setMaximumRedirectsAllowed(kMostRedirects);
  request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);  // slow for one large file
  request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
  request.setHeader(QNetworkRequest::UserAgentHeader, QStringLiteral("vramscope"));
  request.setRawHeader("Accept", accept);
  if (certificates_.isNull()) certificates_ = OwnCertificates();  // reading them is slow
  request.setSslConfiguration(certificates_);
  if (!accept.startsWith("application/vnd")) request.setRawHeader("Accept-Encoding", "identity");
  if (from > 0) request.setRawHeader("Range", "bytes=" + QByteArray::number(from) + "-");
  return network_->get(request);
}

void TorchDownload::AskIndex() {
  if (options_.index.scheme() == QLatin1String("https") && !QSslSocket::supportsSsl())
    return End(absl::FailedPreconditionError(i18n::Text(
        "this program cannot open encrypted connections, because OpenSSL (libssl) was not found; "
        "install OpenSSL, or set an http:// mirror in $VRAMSCOPE_INDEX_URL")));
  QUrl page = options_.index;
  QString path = page.path();
  if (!path.endsWith(QLatin1Char('/'))) path += QLatin1Char('/');
  page.setPath(path + QString::fromStdString(Current().name) + QLatin1Char('/'));
  reply_ = Get(page,
               "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
               "text/html;q=0.1",
               0);
  connect(reply_, &QNetworkReply::downloadProgress, this, [this](qint64 got, qint64) {
    if (got <= static_cast<qint64>(setup::kMostIndexPage)) return;
    failed_ = absl::DataLossError(i18n::Text("the package index sent a page that is too large"));
    reply_->abort();
  });
  connect(reply_, &QNetworkReply::finished, this, &TorchDownload::IndexAnswered);
}

void TorchDownload::IndexAnswered() {
  const QPointer<QNetworkReply> reply = std::exchange(reply_, nullptr);
  reply->deleteLater();
  if (!failed_.ok()) return End(failed_);
  if (reply->error() != QNetworkReply::NoError) {
    const absl::Status why = ErrorOf(*reply, reply->request().url());
    // Do not retry if there is no network.
    const bool no_way = reply->error() == QNetworkReply::HostNotFoundError ||
                        reply->error() == QNetworkReply::ConnectionRefusedError;
    return absl::IsUnavailable(why) && !no_way ? TryAgain(why) : End(why);
  }
  const absl::StatusOr<std::string> link =
      setup::FindWheel(reply->readAll().toStdString(), Current());
  if (!link.ok()) {
    return End(absl::NotFoundError(
        i18n::Format("{} ({}); set another index in $VRAMSCOPE_INDEX_URL",
                     std::string(link.status().message()), Str(ShownUrl(reply->url())))));
  }
  link_ = reply->url().resolved(QUrl(QString::fromStdString(*link)));
  if (!link_.scheme().startsWith(QLatin1String("http")))
    return End(absl::InvalidArgumentError(i18n::Format(
        "the package index links to {}, which is not an HTTP address", Str(ShownUrl(link_)))));
  Fetch();
}

void TorchDownload::Fetch() {
  begun_with_ = folder_->BytesOf(Current());
  if (begun_with_ > Current().bytes) begun_with_ = 0;  // the partial file belongs to another wheel
  part_ = std::make_unique<QFile>(QString::fromStdString(folder_->PartOf(Current())));
  if (!part_->open(QIODevice::ReadWrite) || !part_->resize(static_cast<qint64>(begun_with_)) ||
      !part_->seek(static_cast<qint64>(begun_with_))) {
    return End(absl::UnavailableError(
        Str(part_->fileName() + QStringLiteral(": ") + part_->errorString())));
  }
  since_fetch_.start();
  reply_ = Get(link_, "*/*", begun_with_);
  begun_with_ += earlier_bytes_;
  reply_->setReadBufferSize(kReadBuffer);
  connect(reply_, &QNetworkReply::metaDataChanged, this, &TorchDownload::HeadersCame);
  connect(reply_, &QNetworkReply::readyRead, this, &TorchDownload::BytesCame);
  connect(reply_, &QNetworkReply::finished, this, &TorchDownload::FetchEnded);
}

// Handles the reply's headers. If the server sends the whole file instead of the requested part,
// begins at 0 again.
void TorchDownload::HeadersCame() {
  const int code = reply_->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  const qint64 at = part_->pos();
  const bool from_start = code == kOk && at > 0;
  const bool elsewhere = code == kPartial && RangeBegin(reply_->rawHeader("Content-Range")) != at;
  if (elsewhere) {
    failed_ = absl::DataLossError(i18n::Text("the server sent the wrong part of the file"));
    part_->resize(0);
    reply_->abort();
  } else if (from_start) {
    part_->resize(0);
    part_->seek(0);
    begun_with_ = earlier_bytes_;
  }
}

void TorchDownload::BytesCame() {
  if (!reply_ || !reply_->isOpen() || !failed_.ok()) return;
  const int code = reply_->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  if (code != kOk && code != kPartial) return;  // the body is an error message
  const QByteArray bytes = reply_->readAll();
  const quint64 room =
      Current().bytes - std::min<quint64>(Current().bytes, static_cast<quint64>(part_->pos()));
  if (static_cast<quint64>(bytes.size()) > room) {
    failed_ = absl::DataLossError(
        i18n::Format("{} is larger on the server than expected", Current().file));
    part_->resize(0);
    reply_->abort();
    return;
  }
  if (!WriteAll(*part_, bytes)) {
    failed_ =
        part_->error() == QFileDevice::ResourceError || part_->error() == QFileDevice::WriteError
            ? absl::ResourceExhaustedError(
                  i18n::Format("{}: {}. The downloaded part is kept. Free some space, or set "
                               "XDG_DATA_HOME to a folder on another disk",
                               Str(part_->fileName()), Str(part_->errorString())))
            : absl::UnavailableError(
                  Str(part_->fileName() + QStringLiteral(": ") + part_->errorString()));
    reply_->abort();
    return;
  }
  // Reset the count of attempts only after progress, that is, when the file has become larger than
  // ever before.
  const quint64 reached = static_cast<quint64>(part_->pos());
  if (reached > furthest_) attempts_ = 0;
  furthest_ = std::max(furthest_, reached);
  Report(Phase::kDownloading, earlier_bytes_ + static_cast<quint64>(part_->pos()), all_bytes_);
}

void TorchDownload::FetchEnded() {
  BytesCame();
  const QPointer<QNetworkReply> reply = std::exchange(reply_, nullptr);
  reply->deleteLater();
  const quint64 have = part_ ? static_cast<quint64>(part_->pos()) : 0;
  part_.reset();
  if (!failed_.ok()) return End(failed_);
  if (have == Current().bytes) return Check();
  const int code = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  if (code == kBadRange) {  // the downloaded part belongs to another file
    QFile::remove(QString::fromStdString(folder_->PartOf(Current())));
    return TryAgain(absl::DataLossError(
        i18n::Text("the file on the server has changed since the download began")));
  }
  if (reply->error() != QNetworkReply::NoError) {
    const absl::Status why = ErrorOf(*reply, link_);
    return absl::IsUnavailable(why) ? TryAgain(why) : End(why);
  }
  TryAgain(absl::UnavailableError(i18n::Format(
      "the connection to {} ended before the download was complete", Str(link_.host()))));
}

void TorchDownload::TryAgain(const absl::Status& why) {
  if (attempts_ >= options_.pauses_ms.size()) {
    const bool some = folder_->BytesOf(Current()) > 0;
    return End(absl::Status(
        why.code(), some ? i18n::Format("{}. The downloaded part is kept: try again to continue",
                                        std::string(why.message()))
                         : std::string(why.message())));
  }
  again_.start(options_.pauses_ms[attempts_++]);
  Report(Phase::kWaiting, earlier_bytes_ + folder_->BytesOf(Current()), all_bytes_);
}

// Runs `work` on a pool thread and `done` on this thread.
void TorchDownload::Work(std::function<absl::Status()> work,
                         std::function<void(const absl::Status&)> done) {
  jobs_.Ask(std::move(work), std::move(done), {.blocks = true});
}

void TorchDownload::ReportFromThread(Phase phase, quint64 done, quint64 total) {
  QMetaObject::invokeMethod(
      this,
      [this, phase, done, total] {
        if (busy_ && progress_.phase == phase) Report(phase, done, total);
      },
      Qt::QueuedConnection);
}

void TorchDownload::Check() {
  const QString path = QString::fromStdString(folder_->PartOf(Current()));
  Report(Phase::kChecking, 0, Current().bytes);
  Work(
      [this, path, wheel = Current()] {
        quint64 reported = 0;
        return CheckHash(path, wheel, cancel_, [&](quint64 done) {
          constexpr quint64 kStep = quint64{8} << 20;
          if (done - reported < kStep) return;
          reported = done;
          ReportFromThread(Phase::kChecking, done, wheel.bytes);
        });
      },
      [this, path](const absl::Status& status) {
        // Delete a file with the wrong hash.
        if (absl::IsDataLoss(status)) QFile::remove(path);
        if (!status.ok()) return End(status);
        if (cancel_) return End(absl::CancelledError(i18n::Text("cancelled")));
        earlier_bytes_ += Current().bytes;
        ++at_;
        Next();
      });
}

void TorchDownload::Install() {
  Report(Phase::kUnpacking, 0, options_.unpacked_bytes);
  Work(
      [this] {
        uint64_t told = 0;
        return folder_->Install(
            options_.wheels,
            [&](uint64_t done, uint64_t total) {
              constexpr uint64_t kTell = uint64_t{8} << 20;
              if (done - told < kTell && done < total) return;
              told = done;
              ReportFromThread(Phase::kUnpacking, done, total);
            },
            &cancel_);
      },
      [this](const absl::Status& status) { End(status); });
}

// Returns an error that says what went wrong and what the user can do.
absl::Status TorchDownload::ErrorOf(const QNetworkReply& reply, const QUrl& url) const {
  const std::string host = Str(url.host());
  const int code = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  const auto unavailable = [&](const std::string& text) { return absl::UnavailableError(text); };
  const auto through_proxy = [&](const QString& proxy) {
    return absl::FailedPreconditionError(
        i18n::Format("the proxy {} does not allow the connection ({}); the proxy is set in "
                     "$https_proxy, $http_proxy, $all_proxy or the desktop's settings",
                     Str(proxy), Str(reply.errorString())));
  };
  switch (reply.error()) {
    case QNetworkReply::HostNotFoundError:
      // With a proxy, the error means that the proxy answered 404 or that it cannot resolve the
      // address.
      if (const QString proxy = ProxyFor(url); !proxy.isEmpty()) return through_proxy(proxy);
      return unavailable(i18n::Format("no network: the address of {} was not found", host));
    case QNetworkReply::ConnectionRefusedError:
      if (const QString proxy = ProxyFor(url); !proxy.isEmpty()) return through_proxy(proxy);
      return unavailable(i18n::Format("{} refuses the connection", host));
    case QNetworkReply::NetworkSessionFailedError:
    case QNetworkReply::UnknownNetworkError:
    case QNetworkReply::TemporaryNetworkFailureError:
      return unavailable(i18n::Format("no network: {}", Str(reply.errorString())));
    case QNetworkReply::TimeoutError:
    case QNetworkReply::OperationCanceledError:  // setTransferTimeout() has expired
      return unavailable(
          i18n::Format("{} has sent nothing for {} seconds", host, options_.silence_ms / 1000));
    case QNetworkReply::RemoteHostClosedError:
      return unavailable(i18n::Format("{} closed the connection", host));
    case QNetworkReply::ProxyConnectionRefusedError:
    case QNetworkReply::ProxyConnectionClosedError:
    case QNetworkReply::ProxyNotFoundError:
    case QNetworkReply::ProxyTimeoutError:
    case QNetworkReply::ProxyAuthenticationRequiredError:
    case QNetworkReply::UnknownProxyError:
      return through_proxy(ProxyFor(url));
    case QNetworkReply::SslHandshakeFailedError:
      return absl::FailedPreconditionError(
          i18n::Format("the connection to {} cannot be trusted ({}); if a proxy inspects TLS, set "
                       "the proxy's certificate in $SSL_CERT_FILE",
                       host, Str(reply.errorString())));
    case QNetworkReply::TooManyRedirectsError:
    case QNetworkReply::InsecureRedirectError:
      return absl::DataLossError(
          i18n::Format("{} redirects too often, or redirects to an unencrypted address", host));
    default:
      break;
  }
  if (code == kNotFound)
    return absl::NotFoundError(i18n::Format(
        "{} was not found (404); set another index in $VRAMSCOPE_INDEX_URL", Str(ShownUrl(url))));
  constexpr int kServerErrors = 500, kTooMany = 429;
  const std::string text =
      i18n::Format("{} returned an error ({} {})", host, code,
                   Str(reply.attribute(QNetworkRequest::HttpReasonPhraseAttribute).toString()));
  if (code >= kServerErrors || code == kTooMany) return unavailable(text);
  if (code > 0) return absl::FailedPreconditionError(text);
  return unavailable(Str(reply.errorString()));
}

}  // namespace vramscope::ui
