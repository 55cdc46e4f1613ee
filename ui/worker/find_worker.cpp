#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "ui/worker/worker_client.h"

namespace vramscope::ui {

QString FindWorker() {
  const QString from_environment = qEnvironmentVariable("VRAMSCOPE_WORKER");
  if (!from_environment.isEmpty()) return from_environment;
  const QString name = QStringLiteral("vramscope-worker");
  if (QCoreApplication::instance() != nullptr) {
    const QFileInfo beside(QDir(QCoreApplication::applicationDirPath()).filePath(name));
    if (beside.isExecutable()) return beside.absoluteFilePath();
  }
  return QStandardPaths::findExecutable(name);
}

}  // namespace vramscope::ui
