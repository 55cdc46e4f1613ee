// Stores the recently opened files in the settings, and shows them as commands of a menu.
//
//   RecentFiles recent(&registry, settings);
//   recent.addActions(tr("File"), [this](const QString& path) { openFile(path); });
//   recent.add("/data/run.trace");
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
  QStringList paths() const;  // absolute paths, the newest first
  void add(const QString& path);
  void forget(const QString& path);  // call it if the file no longer exists
  // Updates the texts of the commands, for example after the language has changed.
  void show();

 private:
  void Store(const QStringList& paths);
  ActionRegistry* registry_;
  QSettings* settings_;
};

}  // namespace vramscope::ui
