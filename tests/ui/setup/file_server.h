// A package index on this computer, on a port that the system chooses. It serves pages, files (also
// ranges of them), and errors of all kinds. It runs in the thread that creates it, which needs an
// event loop.
#pragma once

#include <QHash>
#include <QHostAddress>
#include <QPointer>
#include <QStringList>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <QUrl>

namespace vramscope::ui::testing {

class FileServer {
 public:
  struct Answer {
    QByteArray body;
    int code = 200;
    QByteArray location;       // target of a redirect
    bool ranges = true;        // whether ranges can be requested
    bool wrong_range = false;  // returns another range than requested
    qsizetype cut_after = -1;  // ends the connection after these bytes of the body; < 0: never
    int cuts = 1 << 20;        // the number of responses that are cut
    bool silent = false;       // sends nothing after the headers
  };
  FileServer() {
    QObject::connect(&server_, &QTcpServer::newConnection, [this] {
      while (QTcpSocket* socket = server_.nextPendingConnection()) {
        QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        QObject::connect(socket, &QTcpSocket::readyRead, [this, socket] { Read(socket); });
      }
    });
    server_.listen(QHostAddress::LocalHost);
  }
  QUrl url(const QString& path) const {
    return QUrl(QStringLiteral("http://127.0.0.1:%1%2").arg(server_.serverPort()).arg(path));
  }
  Answer& operator[](const QString& path) { return answers_[path]; }
  QStringList requested;  // the requests so far, for example "/path bytes=100-"

 private:
  void Read(QTcpSocket* socket) {
    QByteArray& request = requests_[socket];
    request += socket->readAll();
    if (!request.contains("\r\n\r\n")) return;
    const QByteArray text = requests_.take(socket);
    const QString path = QString::fromUtf8(text.split(' ').value(1));
    QByteArray range;
    for (const QByteArray& line : text.split('\n'))
      if (line.toLower().startsWith("range:")) range = line.mid(6).trimmed();
    requested << path + (range.isEmpty() ? QString() : QLatin1Char(' ') + QString::fromUtf8(range));
    if (!answers_.contains(path)) {
      socket->write("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone");
      socket->disconnectFromHost();
      return;
    }
    Answer& answer = answers_[path];
    QByteArray body = answer.body, head;
    int code = answer.code;
    if (!range.isEmpty() && answer.ranges && code == 200) {
      const qint64 from = range.mid(6).split('-').value(0).toLongLong();
      if (from >= answer.body.size()) {
        code = 416;
        body.clear();
      } else {
        code = 206;
        body = answer.body.mid(from);
        head += "Content-Range: bytes " + QByteArray::number(answer.wrong_range ? from + 1 : from) +
                "-" + QByteArray::number(answer.body.size() - 1) + "/" +
                QByteArray::number(answer.body.size()) + "\r\n";
      }
    }
    if (!answer.location.isEmpty()) head += "Location: " + answer.location + "\r\n";
    socket->write("HTTP/1.1 " + QByteArray::number(code) + " X\r\n" + head + "Content-Length: " +
                  QByteArray::number(body.size()) + "\r\nConnection: close\r\n\r\n");
    if (answer.silent) return;
    const bool cut = answer.cut_after >= 0 && answer.cuts > 0 && body.size() > answer.cut_after;
    if (cut) --answer.cuts;
    socket->write(cut ? body.left(answer.cut_after) : body);
    socket->disconnectFromHost();
  }

  QTcpServer server_;
  QHash<QString, Answer> answers_;
  QHash<QTcpSocket*, QByteArray> requests_;
};

}  // namespace vramscope::ui::testing
