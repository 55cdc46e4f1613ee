// Network access of this program: proxies from the environment and the desktop, and certificates
// named by the environment. Qt Network.
#pragma once

#include <QNetworkAccessManager>
#include <QSslConfiguration>
#include <QString>
#include <QUrl>
#include <memory>

namespace vramscope::ui {

// Proxies come from $https_proxy, $http_proxy or $all_proxy (lower or upper case), except for the
// hosts in $no_proxy. Without these variables the desktop's settings are used.
std::unique_ptr<QNetworkAccessManager> MakeNetwork();

// The system's certificates and those of $SSL_CERT_FILE and $SSL_CERT_DIR.
QSslConfiguration OwnCertificates();

// The proxy for this URL as "host:port"; "": no proxy. Never contains the password.
QString ProxyFor(const QUrl& url);

// Whether $no_proxy names `host`: the host itself, a domain above it, or "*".
bool IsExempt(const QString& host, const QString& no_proxy);

}  // namespace vramscope::ui
