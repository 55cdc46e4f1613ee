// A server on this computer whose certificate nobody has signed but itself: answers every request
// with 404. Runs in the thread that makes it.
#pragma once

#include <QFile>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslKey>
#include <QSslServer>
#include <QTcpSocket>
#include <QUrl>

namespace vramscope::ui::testing {

// Of 127.0.0.1, until 2126; its key is of no use to anybody.
inline constexpr char kOwnCertificate[] = R"(-----BEGIN CERTIFICATE-----
MIIBmjCCAUCgAwIBAgIUHfnByl9IV3goS9/EZX73LZojDGMwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdnJhbXNjb3BlIHRlc3QwIBcNMjYxMTI3MDY0OTAzWhgPMjEy
NjExMDMwNjQ5MDNaMBkxFzAVBgNVBAMMDnZyYW1zY29wZSB0ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAElzy3nDDdFha3/FiTM6v9d3HSFYhkm7pmCoGOXB7l
TlTbiogwAVk/sqxeMTjKjPmOivobYLVxeZ3xIhgsM63oyaNkMGIwHQYDVR0OBBYE
FI+K5/MauXH6IacFSlgEOp3ZXPhQMB8GA1UdIwQYMBaAFI+K5/MauXH6IacFSlgE
Op3ZXPhQMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjO
PQQDAgNIADBFAiAtAyGlTzEDHvgeojaacKPGm6JD0mdWlS6FAfFj1Ye5dAIhAN3Y
cUxHSh87fg8NHZ2GDunK+6Q/IwyrK8z1yPcJp3w8
-----END CERTIFICATE-----
)";
inline constexpr char kOwnKey[] = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvIFncAI1DWJuB82G
4fI8ZLu6j3C1t+As6A63FJrI7AKhRANCAASXPLecMN0WFrf8WJMzq/13cdIViGSb
umYKgY5cHuVOVNuKiDABWT+yrF4xOMqM+Y6K+htgtXF5nfEiGCwzrejJ
-----END PRIVATE KEY-----
)";

class TlsServer {
 public:
  TlsServer() {
    QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
    configuration.setLocalCertificate(QSslCertificate(QByteArray(kOwnCertificate)));
    configuration.setPrivateKey(QSslKey(QByteArray(kOwnKey), QSsl::Ec));
    server_.setSslConfiguration(configuration);
    QObject::connect(&server_, &QTcpServer::pendingConnectionAvailable, [this] {
      while (QTcpSocket* socket = server_.nextPendingConnection()) {
        QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        QObject::connect(socket, &QTcpSocket::readyRead, [this, socket] { Answer(socket); });
        if (socket->bytesAvailable() > 0) Answer(socket);  // came with the handshake
      }
    });
    server_.listen(QHostAddress::LocalHost);
  }
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

  QSslServer server_;
};

}  // namespace vramscope::ui::testing
