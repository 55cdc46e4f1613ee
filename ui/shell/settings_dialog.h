// The settings dialog: appearance and keys.
//
//   auto* dialog = new SettingsDialog(&registry, bindings, settings, this);
//   dialog->openPage("keys");
#pragma once

#include <QDialog>
#include <QSettings>

#include "ui/shell/actions.h"
#include "ui/timeline/theme.h"

class QTabWidget;

namespace vramscope::ui {

class KeyBindings;
class KeysPage;
class ToggleSwitch;

// The scales of the whole window, in percent. If the user chooses another scale, it applies from
// the next start on. A stored value that is not in this list is read as 100.
inline constexpr int kUiScales[] = {75, 90, 100, 110, 125, 150, 175, 200};
int StoredUiScale(const QSettings& settings);

class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  SettingsDialog(ActionRegistry* registry, KeyBindings* bindings, QSettings* settings,
                 QWidget* parent = nullptr);
  void openPage(const QString& id);  // "appearance", "keys"
  void setTheme(const timeline::Theme& theme);
  KeysPage* keys() const { return keys_; }

 Q_SIGNALS:
  void restartAsked();

 private:
  QWidget* MakeAppearance();
  ActionRegistry* registry_;
  QSettings* settings_;
  QTabWidget* tabs_ = nullptr;
  KeysPage* keys_ = nullptr;
  ToggleSwitch* motion_ = nullptr;
};

}  // namespace vramscope::ui
