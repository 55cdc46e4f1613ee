#include <QFileInfo>
#include <QStandardPaths>

#include "profiler/base/install_paths.h"
#include "ui/program/program_runner.h"

namespace vramscope::ui {

QString FindVramscope() {
  const QString name = QStringLiteral("vramscope");
  const QFileInfo own(QString::fromStdString(base::OwnPaths().vramscope.string()));
  if (own.isExecutable()) return own.absoluteFilePath();
  return QStandardPaths::findExecutable(name);
}

}  // namespace vramscope::ui
