// The list of techniques. Each row has a switch and a line of explanation. It also shows how much
// memory the technique saves at the peak, and how much time it costs, even while it is off. Every
// setting of the catalogue can be edited here. The panel does not change the run itself: after an
// edit, it emits the new configuration. It always shows the configuration that the window has set
// last.
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

// The effect of a technique if nothing else changes. `bytes`: the peak with the technique minus the
// peak without it. `factor`: the time of the last step with the technique, divided by its time
// without it. Both are the same whether the technique is on or off, so they stay valid when the
// user toggles it.
struct Saving {
  int64_t bytes = 0;
  double factor = 1;
  uint64_t without = 0;  // the peak without the technique
};

class TechniquePanel : public QWidget {
  Q_OBJECT
 public:
  explicit TechniquePanel(QWidget* parent = nullptr);

  void setConfig(const run::RunConfig& config);
  // `available` returns whether the window can show a configuration. An empty `available` means
  // that it can show all. Otherwise, the panel disables all settings, and each row whose switch
  // would lead to a configuration that is not available, with the tool tip `why`.
  void setAvailable(std::function<bool(const run::RunConfig&)> available, const QString& why);
  void setTheme(const timeline::Theme& theme);
  // If `saving` is nullopt, the row shows `instead`: "…" while the saving is computed, "–" after a
  // failure. `why` is its tool tip.
  void setSaving(const QString& id, std::optional<Saving> saving,
                 const QString& instead = QString(), const QString& why = QString());
  ToggleSwitch* toggle(const QString& id) const;  // null: no such row
  void Switch(const run::Toggle& technique);      // switches the technique on or off
  QJsonArray dumpState() const;
  // Shows the rows whose title, explanation, group and keys contain all words of `text`. A word
  // "group:pre" matches groups whose names begin with "pre". An empty text shows all rows.
  void setFilter(const QString& text);

 Q_SIGNALS:
  void configEdited(const vramscope::run::RunConfig& config);
  void searched(const QStringList& ids);  // ids of the visible rows; empty: all
  void refused(const QString& why);       // the typed value is not valid
  void switchedByMouse();                 // the keyboard focus may leave the panel now

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
    std::string words;           // the words that a search compares
    QWidget* options = nullptr;  // controls that are shown while the technique is on; null: none
    std::optional<Saving> known;
  };
  // The control of a setting: a spin box for a number, or a combo box for a choice.
  struct Control {
    const run::SettingDeclaration* setting = nullptr;
    QSpinBox* box = nullptr;
    QDoubleSpinBox* number = nullptr;
    QComboBox* list = nullptr;
    std::vector<run::Choice> offered;  // the entries of `list`
    QWidget* widget = nullptr;         // the one of the three controls that is used
  };
  // A row for those settings of a technique that no other row shows. It is always open.
  struct SettingsRow {
    const run::TechniqueDeclaration* technique = nullptr;
    QWidget* widget = nullptr;
    std::string words;  // the words that a search compares
    std::vector<std::string> keys;
  };
  void AddTechnique(const run::TechniqueDeclaration& technique, QVBoxLayout& column);
  QWidget* MakeRow(const run::Toggle& toggle);
  QWidget* MakeControls(const std::vector<std::string>& keys);  // null if there are no controls
  QJsonObject DumpControls(const std::vector<std::string>& keys) const;
  void ShowValue(Control& control);
  void EditSetting(const std::string& key, const std::string& value);
  void Edit(const run::RunConfig& config);
  void ApplyFilter();
  void ColorSaving(RowWidgets& row);
  QString ExplainSaving(const RowWidgets& row) const;

  std::function<bool(const run::RunConfig&)> available_;
  QString unavailable_;  // why rows and settings are disabled
  run::RunConfig config_;
  bool told_ = false;  // setConfig() was called since the last edit
  timeline::Theme theme_;
  QHash<QString, RowWidgets> rows_;
  std::vector<SettingsRow> settings_rows_;
  std::vector<Control> controls_;
  std::vector<std::pair<std::string, QLabel*>> groups_;  // the headings of the groups
  QLineEdit* filter_ = nullptr;
  QLabel* nothing_ = nullptr;  // shown when the search matches no row
};

}  // namespace vramscope::ui
