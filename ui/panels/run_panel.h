// What is run: model, device, sizes, optimizer. Like TechniquePanel, it shows a configuration and
// says which one the user asks for.
#pragma once

#include <QWidget>

#include "profiler/run/run_config.h"

class QComboBox;
class QSpinBox;

namespace vramscope::ui {

class RunPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RunPanel(QWidget* parent = nullptr);
  void setConfig(const run::RunConfig& config);

 Q_SIGNALS:
  void configEdited(const vramscope::run::RunConfig& config);
  void presetChosen(const QString& name);
  void openModelConfigRequested();  // "open config.json …" was chosen

 private:
  void Edit(const run::RunConfig& config);
  void ModelChosen(int index);

  run::RunConfig config_;
  QComboBox* model_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* optimizer_ = nullptr;
  QSpinBox* batch_ = nullptr;
  QSpinBox* seq_ = nullptr;
  QSpinBox* micro_batches_ = nullptr;
  QSpinBox* steps_ = nullptr;
};

// "RTX 4090 · 24 GiB" of "NVIDIA GeForce RTX 4090".
QString ShortDeviceName(const run::DeviceProfile& device);

}  // namespace vramscope::ui
