// The files that were opened last, in the settings and as commands of a menu.
//
//   RecentFiles recent(&registry, settings, window);
//   recent.addActions(tr("File"), [this](const QString& path) { openFile(path);
//   }); recent.add("/data/run.trace");
//
// UI thread only.
#pragma once

#include <QFontMetrics>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <functional>

#include "ui/shell/actions.h"

namespace vramscope::ui {

class RecentFiles {
 public:
  static constexpr int kMost = 9;

  RecentFiles(ActionRegistry* registry, QSettings* settings)
      : registry_(registry), settings_(settings) {}
  void addActions(const QString& menu, std::function<void(const QString&)> open);
  QStringList paths() const;  // absolute, the newest first
  void add(const QString& path);
  void forget(const QString& path);  // it is not there any more
  // The commands' texts again, as after the language has changed.
  void show();

 private:
  void Store(const QStringList& paths);
  ActionRegistry* registry_;
  QSettings* settings_;
};

}  // namespace vramscope::ui
