#include "ui/shell/recent_files.h"

#include <QApplication>
#include <QCoreApplication>
#include <QFileInfo>
#include <utility>

namespace vramscope::ui {
namespace {

constexpr int kRecentWidth = 420;
constexpr QLatin1String kRecentKey("recent");

QString IdOf(int i) { return QStringLiteral("file.recent.%1").arg(i + 1); }

}  // namespace

void RecentFiles::addActions(const QString& menu, std::function<void(const QString&)> open) {
  for (int i = 0; i < kMost; ++i)
    registry_->Add({.id = IdOf(i),
                    .menu = menu,
                    .text = QString(),
                    .run =
                        [this, i, open] {
                          const QStringList recent = paths();
                          if (i < recent.size()) open(recent[i]);
                        },
                    .separator_before = i == 0});
}

QStringList RecentFiles::paths() const { return settings_->value(kRecentKey).toStringList(); }

void RecentFiles::Store(const QStringList& paths) {
  settings_->setValue(kRecentKey, paths);
  show();
}

void RecentFiles::add(const QString& path) {
  QStringList recent = paths();
  const QString absolute = QFileInfo(path).absoluteFilePath();
  recent.removeAll(absolute);
  recent.prepend(absolute);
  while (recent.size() > kMost) recent.removeLast();
  Store(recent);
}

void RecentFiles::forget(const QString& path) {
  QStringList recent = paths();
  if (recent.removeAll(QFileInfo(path).absoluteFilePath()) > 0) Store(recent);
}

void RecentFiles::show() {
  const QStringList recent = paths();
  const QFontMetrics metrics(QApplication::font());
  for (int i = 0; i < kMost; ++i) {
    QAction* action = registry_->Find(IdOf(i));
    const bool there = i < recent.size();
    action->setVisible(there);
    action->setEnabled(there);
    // Elide the name here, because menus do not elide texts.
    const QString name =
        there ? metrics.elidedText(QFileInfo(recent[i]).fileName(), Qt::ElideMiddle, kRecentWidth)
              : QString();
    action->setText(
        there
            ? QCoreApplication::translate("vramscope::ui::MainWindow", "Open recent: %1").arg(name)
            : QString());
    action->setToolTip(there ? recent[i] : QString());
  }
}

}  // namespace vramscope::ui
