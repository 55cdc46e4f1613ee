#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "ui/program/program_runner.h"

namespace vramscope::ui {

QString FindVramscope() {
  const QString name = QStringLiteral("vramscope");
  if (QCoreApplication::instance() != nullptr) {
    const QFileInfo beside(QDir(QCoreApplication::applicationDirPath()).filePath(name));
    if (beside.isExecutable()) return beside.absoluteFilePath();
  }
  return QStandardPaths::findExecutable(name);
}

}  // namespace vramscope::ui
