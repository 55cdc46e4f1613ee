// How this program reaches the network: proxies of the environment and of the desktop, certificates
// that the environment names. Qt Network.
#pragma once

#include <QNetworkAccessManager>
#include <QSslConfiguration>
#include <QString>
#include <QUrl>
#include <memory>

namespace vramscope::ui {

// Proxies: $https_proxy, $http_proxy, $all_proxy (in capitals, too), not for hosts of $no_proxy;
// else what the desktop says.
std::unique_ptr<QNetworkAccessManager> MakeNetwork();

// The system's certificates and those of $SSL_CERT_FILE and $SSL_CERT_DIR.
QSslConfiguration OwnCertificates();

// What a request of this URL goes through; "": nothing. Without its password.
QString ProxyFor(const QUrl& url);

// Whether `host` is one that $no_proxy names: itself, a domain above it, "*".
bool IsExempt(const QString& host, const QString& no_proxy);

}  // namespace vramscope::ui
