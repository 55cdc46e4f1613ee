// What is run: model, device, sizes, optimizer. Like TechniquePanel, it shows a configuration and
// says which one the user asks for.
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
  // Which configurations can be shown: presets that lead to others are disabled, and all other
  // settings are. Empty: all.
  void setAvailable(std::function<bool(const run::RunConfig&)> available, const QString& why);
  void chooseDevice();  // by its dialog

 Q_SIGNALS:
  void configEdited(const vramscope::run::RunConfig& config);
  void presetChosen(const QString& name);
  void openModelConfigRequested();   // "open config.json …" was chosen
  void refused(const QString& why);  // what was typed is not possible

 private:
  void Edit(const run::RunConfig& config);
  void EditSeq(const QString& text);
  void ModelChosen(int index);

  void DisableUnavailable();

  std::function<bool(const run::RunConfig&)> available_;
  QString unavailable_;  // why
  run::RunConfig config_;
  QComboBox* model_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QSpinBox* batch_ = nullptr;
  QComboBox* seq_ = nullptr;  // typed, since it may be a stream of lengths
  QSpinBox* micro_batches_ = nullptr;
  QSpinBox* steps_ = nullptr;
};

}  // namespace vramscope::ui
