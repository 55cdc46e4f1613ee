// A server on this computer with a self-signed certificate. It replies to every request with 404.
// It runs in the thread that creates it.
#pragma once

#include <QFile>
#include <QProcess>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslKey>
#include <QSslServer>
#include <QString>
#include <QTcpSocket>
#include <QUrl>

namespace vramscope::ui::testing {

class TlsServer {
 public:
  // Runs the program openssl, which writes a new key and a certificate to `folder`.
  explicit TlsServer(const QString& folder) : certificate_(folder + QStringLiteral("/own.pem")) {
    const QString key = folder + QStringLiteral("/own.key");
    QProcess openssl;
    openssl.start(QStringLiteral("openssl"),
                  {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                   "-nodes", "-days", "2", "-subj", "/CN=vramscope test", "-addext",
                   "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate_});
    if (!openssl.waitForFinished() || openssl.exitCode() != 0) return;
    QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
    configuration.setLocalCertificate(QSslCertificate::fromPath(certificate_).value(0));
    QFile file(key);
    if (!file.open(QIODevice::ReadOnly)) return;
    configuration.setPrivateKey(QSslKey(&file, QSsl::Ec));
    server_.setSslConfiguration(configuration);
    QObject::connect(&server_, &QTcpServer::pendingConnectionAvailable, [this] {
      while (QTcpSocket* socket = server_.nextPendingConnection()) {
        QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        QObject::connect(socket, &QTcpSocket::readyRead, [this, socket] { Answer(socket); });
        if (socket->bytesAvailable() > 0) Answer(socket);  // arrived with the handshake
      }
    });
    server_.listen(QHostAddress::LocalHost);
  }
  // Returns false if the program openssl does not exist.
  bool listening() const { return server_.isListening(); }
  const QString& certificate() const { return certificate_; }
  QUrl url() const {
    return QUrl(QStringLiteral("https://127.0.0.1:%1/simple").arg(server_.serverPort()));
  }
  int requests = 0;

 private:
  void Answer(QTcpSocket* socket) {
    ++requests;
    socket->readAll();
    socket->write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    socket->disconnectFromHost();
  }

  QString certificate_;
  QSslServer server_;
};

}  // namespace vramscope::ui::testing
