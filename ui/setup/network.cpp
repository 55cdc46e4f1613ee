#include "ui/setup/network.h"

#include <QDir>
#include <QNetworkProxy>
#include <QSslCertificate>
#include <QUrl>
#include <filesystem>

#include "profiler/base/install_paths.h"

namespace vramscope::ui {
namespace {

QString Variable(const char* name) {
  const QString small = qEnvironmentVariable(name);
  return !small.isEmpty() ? small : qEnvironmentVariable(QByteArray(name).toUpper().constData());
}

class Proxies : public QNetworkProxyFactory {
 public:
  QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery& query) override {
    QString named =
        Variable(query.protocolTag() == QLatin1String("https") ? "https_proxy" : "http_proxy");
    if (named.isEmpty()) named = Variable("all_proxy");
    if (named.isEmpty()) return systemProxyForQuery(query);
    if (IsExempt(query.peerHostName(), Variable("no_proxy")))
      return {QNetworkProxy(QNetworkProxy::NoProxy)};
    if (!named.contains(QLatin1String("://"))) named.prepend(QLatin1String("http://"));
    const QUrl url(named);
    const bool socks = url.scheme().startsWith(QLatin1String("socks"));
    constexpr int kHttpPort = 80, kSocksPort = 1080;
    return {QNetworkProxy(socks ? QNetworkProxy::Socks5Proxy : QNetworkProxy::HttpProxy, url.host(),
                          static_cast<quint16>(url.port(socks ? kSocksPort : kHttpPort)),
                          url.userName(), url.password())};
  }
};

}  // namespace

QString ProxyFor(const QUrl& url) {
  Proxies proxies;
  const QList<QNetworkProxy> found = proxies.queryProxy(QNetworkProxyQuery(url));
  if (found.isEmpty() || found.front().hostName().isEmpty()) return {};
  return QStringLiteral("%1:%2").arg(found.front().hostName()).arg(found.front().port());
}

bool IsExempt(const QString& host, const QString& no_proxy) {
  for (const QString& each : no_proxy.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    QString name = each.trimmed();
    if (name == QLatin1String("*")) return true;
    while (name.startsWith(QLatin1Char('.'))) name.remove(0, 1);
    if (name.isEmpty()) continue;
    if (host.compare(name, Qt::CaseInsensitive) == 0 ||
        host.endsWith(QLatin1Char('.') + name, Qt::CaseInsensitive))
      return true;
  }
  return false;
}

QSslConfiguration OwnCertificates() {
  QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
  QList<QSslCertificate> certificates = QSslConfiguration::systemCaCertificates();
  // An installed vramscope contains certificates, because a container may have none.
  const std::filesystem::path& share = base::OwnPaths().share;
  if (certificates.isEmpty() && !share.empty())
    certificates = QSslCertificate::fromPath(
        QString::fromStdString((share / "vramscope/ca-certificates.crt").string()));
  if (const QString file = qEnvironmentVariable("SSL_CERT_FILE"); !file.isEmpty())
    certificates += QSslCertificate::fromPath(file);
  if (const QString folder = qEnvironmentVariable("SSL_CERT_DIR"); !folder.isEmpty())
    certificates += QSslCertificate::fromPath(QDir(folder).filePath(QStringLiteral("*")), QSsl::Pem,
                                              QSslCertificate::PatternSyntax::Wildcard);
  configuration.setCaCertificates(certificates);
  return configuration;
}

std::unique_ptr<QNetworkAccessManager> MakeNetwork() {
  auto network = std::make_unique<QNetworkAccessManager>();
  network->setProxyFactory(new Proxies);  // now owned by the manager
  return network;
}

}  // namespace vramscope::ui
