// The program's network access. Proxies come from the environment or the desktop, and certificates
// from the system and the environment. Uses Qt Network.
#pragma once

#include <QNetworkAccessManager>
#include <QSslConfiguration>
#include <QString>
#include <QUrl>
#include <memory>

namespace vramscope::ui {

// Uses the proxies of $https_proxy, $http_proxy or $all_proxy (in lower or upper case), except for
// hosts in $no_proxy. If none of these variables is set, uses the desktop's settings.
std::unique_ptr<QNetworkAccessManager> MakeNetwork();

// Returns the certificates of the system and of $SSL_CERT_FILE and $SSL_CERT_DIR.
QSslConfiguration OwnCertificates();

// Returns the proxy for `url` as "host:port" without a password, or "" if there is none.
QString ProxyFor(const QUrl& url);

// Returns whether `no_proxy` contains the host, a parent domain of it, or "*".
bool IsExempt(const QString& host, const QString& no_proxy);

}  // namespace vramscope::ui
