// The run's model, device, sizes and optimizer. The panel shows a configuration. When the user
// edits it, the panel emits the edited configuration, like TechniquePanel.
#pragma once

#include <QWidget>
#include <functional>

#include "profiler/run/run_config.h"

class QComboBox;
class QSpinBox;

namespace vramscope::ui {

class RunPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RunPanel(QWidget* parent = nullptr);
  void setConfig(const run::RunConfig& config);
  // `available` returns whether the window can show a configuration. An empty `available` means
  // that it can show all. Otherwise, the panel disables the presets that are not available, and all
  // other settings, for the reason `why`.
  void setAvailable(std::function<bool(const run::RunConfig&)> available, const QString& why);
  void chooseDevice();  // opens the device dialog

 Q_SIGNALS:
  void configEdited(const vramscope::run::RunConfig& config);
  void presetChosen(const QString& name);
  void openModelConfigRequested();   // "open config.json …" was chosen
  void refused(const QString& why);  // the typed value is not valid

 private:
  void Edit(const run::RunConfig& config);
  void EditSeq(const QString& text);
  void ModelChosen(int index);

  void DisableUnavailable();

  std::function<bool(const run::RunConfig&)> available_;
  QString unavailable_;  // why presets and settings are disabled
  run::RunConfig config_;
  QComboBox* model_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QSpinBox* batch_ = nullptr;
  QComboBox* seq_ = nullptr;  // editable, because its value may be a list of lengths
  QSpinBox* micro_batches_ = nullptr;
  QSpinBox* steps_ = nullptr;
};

}  // namespace vramscope::ui
