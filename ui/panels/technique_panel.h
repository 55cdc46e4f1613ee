// The list of techniques: a switch, a line of explanation, what it saves at the peak and what it
// costs in time before it is clicked; and every setting that the catalogue declares. It edits
// nothing itself: it says which configuration the user asks for, and shows the one that it is
// given.
//
//   panel->setConfig(config);
//   connect(panel, &TechniquePanel::configEdited, window, [&](const RunConfig& c) { apply(c); });
//   panel->setSaving("lora", Saving{.bytes = -5046586573, .factor = 0.71});
#pragma once

#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QWidget>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/run/toggles.h"
#include "ui/timeline/theme.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QDoubleSpinBox;
class QSpinBox;
class QVBoxLayout;

namespace vramscope::ui {

class WrappedLabel;

class ToggleSwitch;

// Of a technique: peak with it minus peak without it, all else as it is now, and the ratio of the
// last step's times. The same sense whether it is on or off, so that the figure stays when it is
// toggled.
struct Saving {
  int64_t bytes = 0;
  double factor = 1;
  uint64_t without = 0;  // the peak without it
};

class TechniquePanel : public QWidget {
  Q_OBJECT
 public:
  explicit TechniquePanel(QWidget* parent = nullptr);

  void setConfig(const run::RunConfig& config);
  // Which configurations can be shown; rows that lead to others, and settings, are disabled and say
  // why. Empty: all.
  void setAvailable(std::function<bool(const run::RunConfig&)> available, const QString& why);
  void setTheme(const timeline::Theme& theme);
  // nullopt with a text: what stands in place of the figure ("…" while it is computed, "–" when it
  // could not be, and why).
  void setSaving(const QString& id, std::optional<Saving> saving,
                 const QString& instead = QString(), const QString& why = QString());
  ToggleSwitch* toggle(const QString& id) const;  // null: no such row
  void Switch(const run::Toggle& technique);      // on, or off again
  QJsonArray dumpState() const;
  // Shows the rows whose title, explanation, group or keys have all these words; a word
  // "group:pre": of groups whose name begins so; empty: all.
  void setFilter(const QString& text);

 Q_SIGNALS:
  void configEdited(const vramscope::run::RunConfig& config);
  void searched(const QStringList& ids);  // what is shown; empty: all
  void refused(const QString& why);       // what was typed is not possible
  void switchedByMouse();                 // nobody goes on typing here

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct RowWidgets {
    const run::Toggle* row = nullptr;
    ToggleSwitch* toggle = nullptr;
    WrappedLabel* title = nullptr;
    WrappedLabel* explanation = nullptr;
    QLabel* saving = nullptr;
    QLabel* factor = nullptr;
    QWidget* widget = nullptr;   // the whole row
    std::string words;           // what a search looks at
    QWidget* options = nullptr;  // controls of a row that is on; null: it has none
    std::optional<Saving> known;
  };
  // Shows a setting and edits it: a number in a box, a choice in a list.
  struct Control {
    const run::SettingDeclaration* setting = nullptr;
    QSpinBox* box = nullptr;
    QDoubleSpinBox* number = nullptr;
    QComboBox* list = nullptr;
    std::vector<run::Choice> offered;  // that are in the list
    QWidget* widget = nullptr;         // the one of them that there is
  };
  // What of a technique no row has: always open.
  struct SettingsRow {
    const run::TechniqueDeclaration* technique = nullptr;
    QWidget* widget = nullptr;
    std::string words;  // what a search looks at
    std::vector<std::string> keys;
  };
  void AddTechnique(const run::TechniqueDeclaration& technique, QVBoxLayout& column);
  QWidget* MakeRow(const run::Toggle& toggle);
  QWidget* MakeControls(const std::vector<std::string>& keys);  // null: of none
  QJsonObject DumpControls(const std::vector<std::string>& keys) const;
  void ShowValue(Control& control);
  void EditSetting(const std::string& key, const std::string& value);
  void Edit(const run::RunConfig& config);
  void ApplyFilter();
  void ColorSaving(RowWidgets& row);
  QString ExplainSaving(const RowWidgets& row) const;

  std::function<bool(const run::RunConfig&)> available_;
  QString unavailable_;  // why
  run::RunConfig config_;
  bool told_ = false;  // what is run, since the last edit
  timeline::Theme theme_;
  QHash<QString, RowWidgets> rows_;
  std::vector<SettingsRow> settings_rows_;
  std::vector<Control> controls_;
  std::vector<std::pair<std::string, QLabel*>> groups_;  // headings
  QLineEdit* filter_ = nullptr;
  QLabel* nothing_ = nullptr;  // stands there when no row is left
};

}  // namespace vramscope::ui
