#include <QFileInfo>
#include <QStandardPaths>

#include "profiler/base/install_paths.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {

QString FindWorker() {
  const QString from_environment = qEnvironmentVariable("VRAMSCOPE_WORKER");
  if (!from_environment.isEmpty()) return from_environment;
  const QString name = QStringLiteral("vramscope-worker");
  const QFileInfo own(QString::fromStdString(base::OwnPaths().worker.string()));
  if (own.isExecutable()) return own.absoluteFilePath();
  return QStandardPaths::findExecutable(name);
}

}  // namespace vramscope::ui
