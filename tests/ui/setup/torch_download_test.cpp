// Tests downloads from a local server that cuts connections, sends wrong data, is slow, or is
// hostile.
#include "ui/setup/torch_download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QFileInfo>
#include <optional>

#include "profiler/setup/find_libtorch.h"
#include "tests/ui/setup/tls_server.h"
#include "tests/ui/setup/torch_index.h"
#include "ui/setup/network.h"

namespace vramscope::ui {
namespace {

using setup::testing::MakeZip;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FileServer;
using ::testing::HasSubstr;
using testing::kFile;
using testing::kPage;
using ::testing::Not;
using testing::TlsServer;
using testing::TorchIndex;

class Download : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) qunsetenv(name);
  }
  void TearDown() override { qunsetenv("http_proxy"); }

  QString Folder() const { return QString::fromStdString((scratch_ / "data").string()); }
  QString Part() const { return Folder() + QStringLiteral("/downloads/torch.whl.part"); }
  bool Installed() const {
    return setup::CheckTorch((scratch_ / "data/torch-2.11.0").string()).ok();
  }

  bool WaitFor(const std::function<bool()>& what) {
    QElapsedTimer since;
    since.start();
    while (!what() && since.elapsed() < 60'000)
      QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
    return what();
  }
  absl::Status Run() { return Run(index_.Options(Folder())); }
  absl::Status Run(const DownloadOptions& options) {
    TorchDownload download(options);
    std::optional<absl::Status> end;
    int ends = 0;
    QObject::connect(&download, &TorchDownload::ended, [&](const absl::Status& status) {
      end = status;
      ++ends;
    });
    download.start();
    EXPECT_TRUE(WaitFor([&] { return end.has_value(); }));
    EXPECT_EQ(ends, 1);
    return end.value_or(absl::InternalError("no end"));
  }
  std::string Message(const absl::Status& status) { return std::string(status.message()); }

  setup::testing::Scratch scratch_;
  TorchIndex index_;
};

TEST_F(Download, DownloadsVerifiesAndUnpacks) {
  const absl::Status status = Run();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Installed());
  EXPECT_FALSE(QFileInfo::exists(Part()));
  EXPECT_THAT(index_.server.requested, ElementsAre(kPage, kFile));
}

TEST_F(Download, ResumesAfterConnectionIsCut) {
  index_.server[kFile].cut_after = 100'000;
  const absl::Status status = Run();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Installed());
  // After each cut, the download must continue where it stopped and not repeat what arrived.
  EXPECT_THAT(index_.server.requested,
              ElementsAre(kPage, kFile, kFile + QStringLiteral(" bytes=100000-"),
                          kFile + QStringLiteral(" bytes=200000-"),
                          kFile + QStringLiteral(" bytes=300000-")));
}

TEST_F(Download, NextStartResumesFailedDownload) {
  index_.server[kFile].cut_after = 0;
  QByteArray part = index_.server[kFile].body.left(150'000);
  setup::testing::Write(Part().toStdString(), part.toStdString());
  const absl::Status failed = Run();
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(failed), HasSubstr("try again to continue"));
  EXPECT_EQ(QFileInfo(Part()).size(), 150'000);
  index_.server[kFile].cut_after = -1;
  index_.server.requested.clear();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(index_.server.requested,
              ElementsAre(kPage, kFile + QStringLiteral(" bytes=150000-")));
}

TEST_F(Download, RestartsWhenServerIgnoresRanges) {
  index_.server[kFile].ranges = false;
  setup::testing::Write(Part().toStdString(), std::string(1000, 'x'));
  const absl::Status status = Run();
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(Download, DeletesPartialFileWithWrongHash) {
  setup::testing::Write(Part().toStdString(), std::string(1000, 'x'));
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("SHA-256"), HasSubstr("VRAMSCOPE_INDEX_URL")));
  EXPECT_FALSE(QFileInfo::exists(Part()));
  EXPECT_FALSE(Installed());
  EXPECT_TRUE(Run().ok());
}

TEST_F(Download, RejectsRangeThatWasNotRequested) {
  setup::testing::Write(Part().toStdString(), index_.server[kFile].body.left(1000).toStdString());
  index_.server[kFile].wrong_range = true;
  EXPECT_EQ(Run().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(Installed());
}

TEST_F(Download, RejectsFileOfWrongContentOrSize) {
  index_.server[kFile].body[1000] = 'x';
  EXPECT_THAT(Message(Run()), HasSubstr("SHA-256"));
  index_.server[kFile].body += QByteArray(1000, 'x');
  EXPECT_THAT(Message(Run()), HasSubstr("larger on the server"));
  index_.server[kFile].body.truncate(5000);
  EXPECT_EQ(Run().code(), absl::StatusCode::kDataLoss);  // 416: there are no more bytes
  EXPECT_FALSE(Installed());
}

TEST_F(Download, FollowsRedirectsWithRange) {
  index_.server[QStringLiteral("/cdn")] = index_.server[kFile];
  index_.server[kFile].code = 302;
  index_.server[kFile].location = "/cdn";
  setup::testing::Write(Part().toStdString(), index_.server[kFile].body.left(1000).toStdString());
  index_.server[kFile].body = "moved";
  const absl::Status status = Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(index_.server.requested.contains(QStringLiteral("/cdn bytes=1000-")));
}

TEST_F(Download, FailsOnEndlessRedirects) {
  index_.server[kFile].code = 302;
  index_.server[kFile].location = kFile.toUtf8();
  EXPECT_THAT(Message(Run()), HasSubstr("redirects too often"));
}

TEST_F(Download, ReportsErrorsOfTheIndex) {
  index_.server[kPage].body = "<html>no such file</html>";
  EXPECT_EQ(Run().code(), absl::StatusCode::kNotFound);
  index_.server[kPage].code = 404;
  EXPECT_THAT(Message(Run()), HasSubstr("404"));
  index_.server[kPage].code = 403;
  EXPECT_EQ(Run().code(), absl::StatusCode::kFailedPrecondition);
  index_.server.requested.clear();
  index_.server[kPage].code = 503;
  EXPECT_EQ(Run().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(index_.server.requested.size(), 4);  // the request was repeated
}

TEST_F(Download, FailsWhenServerSendsNothing) {
  index_.server[kFile].silent = true;
  DownloadOptions options = index_.Options(Folder());
  options.silence_ms = 300;
  const absl::Status status = Run(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("sent nothing"));
}

TEST_F(Download, ReportsRefusedConnection) {
  DownloadOptions options = index_.Options(Folder());
  quint16 unused_port = 0;
  {
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    unused_port = server.serverPort();
  }
  options.index.setPort(unused_port);
  const absl::Status status = Run(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("refuses the connection"));
}

TEST_F(Download, UsesProxyUnlessNoProxyListsTheHost) {
  FileServer proxy;  // replies to "CONNECT" and to all other requests with 404
  qputenv("http_proxy", proxy.url({}).toString().toUtf8());
  const absl::Status status = Run();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(proxy.requested.isEmpty());
  EXPECT_TRUE(index_.server.requested.isEmpty());
  qputenv("no_proxy", "127.0.0.1");
  EXPECT_TRUE(Run().ok());
  qunsetenv("no_proxy");
}

TEST_F(Download, ReportsUnreachableProxy) {
  quint16 unused_port = 0;
  {
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    unused_port = server.serverPort();
  }
  qputenv("http_proxy", QByteArray("http://127.0.0.1:") + QByteArray::number(unused_port));
  EXPECT_THAT(Message(Run()), AllOf(HasSubstr("proxy"), HasSubstr("https_proxy")));
}

TEST_F(Download, ReportsProxyThatRefusesConnect) {
  FileServer proxy;  // also replies to "CONNECT" with 404
  qputenv("https_proxy", proxy.url({}).toString().toUtf8());
  DownloadOptions options = index_.Options(Folder());
  options.index.setScheme(QStringLiteral("https"));
  const absl::Status status = Run(options);
  qunsetenv("https_proxy");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("the proxy 127.0.0.1:"), HasSubstr("does not allow the connection"),
                    HasSubstr("$https_proxy")));
  EXPECT_TRUE(index_.server.requested.isEmpty());
}

// The test uses a reserved name, which no server may have (RFC 6761).
TEST_F(Download, ReportsNoNetworkForUnknownHost) {
  DownloadOptions options = index_.Options(Folder());
  options.index = QUrl(QStringLiteral("http://nowhere.invalid/simple/"));
  const absl::Status status = Run(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("no network"), HasSubstr("nowhere.invalid")));
}

TEST_F(Download, RejectsSelfSignedCertificateUnlessConfigured) {
  TlsServer server(QString::fromStdString(scratch_.path().string()));
  if (!server.listening()) GTEST_SKIP() << "no program openssl, which makes the certificate";
  DownloadOptions options = index_.Options(Folder());
  options.index = server.url();
  const absl::Status status = Run(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("127.0.0.1 cannot be trusted"), HasSubstr("$SSL_CERT_FILE")));
  EXPECT_EQ(server.requests, 0);
  qputenv("SSL_CERT_FILE", server.certificate().toUtf8());
  const absl::Status trusted = Run(options);
  qunsetenv("SSL_CERT_FILE");
  EXPECT_EQ(trusted.code(), absl::StatusCode::kNotFound) << trusted;  // the server's own response
  EXPECT_EQ(server.requests, 1);
}

// The client waits for a reply to its TLS greeting, and the server for the end of a request.
TEST_F(Download, FailsWhenServerDoesNotSpeakTls) {
  DownloadOptions options = index_.Options(Folder());
  options.index.setScheme(QStringLiteral("https"));
  options.silence_ms = 300;
  const absl::Status status = Run(options);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(Message(status), HasSubstr("127.0.0.1"));
  EXPECT_TRUE(index_.server.requested.isEmpty());
}

// A limit of the file size stands for a full disk: the system refuses to write more. What was
// received before must be kept.
TEST_F(Download, ReportsFullDiskAndResumesLater) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = Run();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(Message(status), AllOf(HasSubstr("Free some space"), HasSubstr("XDG_DATA_HOME"),
                                     HasSubstr("is kept"), HasSubstr("torch.whl.part")));
  EXPECT_FALSE(Installed());
  index_.server.requested.clear();
  EXPECT_TRUE(Run().ok());
  EXPECT_TRUE(Installed());
  EXPECT_THAT(index_.server.requested.join(QLatin1Char(' ')).toStdString(), HasSubstr("bytes="));
}

TEST_F(Download, ErrorsOmitThePasswordOfTheIndexUrl) {
  DownloadOptions options = index_.Options(Folder());
  options.index.setUserName(QStringLiteral("me"));
  options.index.setPassword(QStringLiteral("secret"));
  index_.server[kPage].code = 404;
  EXPECT_THAT(Message(Run(options)), AllOf(HasSubstr("127.0.0.1"), Not(HasSubstr("secret"))));
}

TEST_F(Download, RejectsUrlsThatAreNotHttp) {
  DownloadOptions options = index_.Options(Folder());
  for (const char* url : {"", "file:///etc/", "ftp://x/", "index.test/simple"}) {
    options.index = QUrl(QString::fromLatin1(url));
    EXPECT_EQ(Run(options).code(), absl::StatusCode::kInvalidArgument) << url;
  }
  index_.server[kPage].body =
      R"({"files": [{"filename": "torch.whl", "url": "file:///etc/passwd"}]})";
  EXPECT_EQ(Run().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Download, RejectsPathTraversalInArchiveWithCorrectHash) {
  auto files = TorchIndex::Files();
  files.push_back({.name = "../evil", .content = "evil"});
  index_.Serve(files);
  EXPECT_FALSE(Run().ok());
  EXPECT_FALSE(QFileInfo::exists(Folder() + QStringLiteral("/evil")));
  EXPECT_FALSE(Installed());
}

TEST_F(Download, CancelKeepsDownloadedPart) {
  index_.server[kFile].cut_after = 100'000;
  index_.server[kFile].cuts = 1;
  TorchDownload download(index_.Options(Folder()));
  std::optional<absl::Status> end;
  QObject::connect(&download, &TorchDownload::ended, [&](const absl::Status& s) { end = s; });
  QObject::connect(&download, &TorchDownload::progressed,
                   [&](const TorchDownload::Progress& progress) {
                     if (progress.phase == TorchDownload::Phase::kWaiting) download.cancel();
                   });
  download.start();
  ASSERT_TRUE(WaitFor([&] { return end.has_value(); }));
  EXPECT_EQ(end->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(QFileInfo(Part()).size(), 100'000);
  EXPECT_FALSE(download.busy());
  EXPECT_TRUE(Run().ok());
}

TEST_F(Download, FailsWhileAnotherProcessHoldsTheLock) {
  const auto other = setup::InstallFolder::Lock(Folder().toStdString());
  ASSERT_TRUE(other.ok());
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("another vramscope"));
  EXPECT_TRUE(index_.server.requested.isEmpty());
}

TEST_F(Download, SkipsDownloadWhenAlreadyInstalled) {
  setup::testing::WriteTorch((scratch_ / "data/torch-2.11.0").string());
  EXPECT_TRUE(Run().ok());
  EXPECT_TRUE(index_.server.requested.isEmpty());
}

TEST_F(Download, SucceedsAfterAnEarlierDownloadWasDestroyed) {
  {
    TorchDownload download(index_.Options(Folder()));
    download.start();
    EXPECT_TRUE(WaitFor([&] { return index_.server.requested.size() == 2; }));
  }
  EXPECT_TRUE(Run().ok());
}

TEST(Proxies, HostsOfNoProxyAreExempt) {
  EXPECT_TRUE(IsExempt(QStringLiteral("index.test"), QStringLiteral("a.b, .index.test")));
  EXPECT_TRUE(IsExempt(QStringLiteral("x.index.test"), QStringLiteral("index.test")));
  EXPECT_TRUE(IsExempt(QStringLiteral("any"), QStringLiteral("*")));
  EXPECT_FALSE(IsExempt(QStringLiteral("notindex.test"), QStringLiteral("index.test")));
  EXPECT_FALSE(IsExempt(QStringLiteral("index.test"), QString()));
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  QCoreApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
