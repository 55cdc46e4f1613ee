// A stacked bar that shows for what a GPU's memory is used (explain/device_memory.h): blocks,
// unused memory of the allocator, libraries, the CUDA context, other processes and the unexplained
// remainder. The end of the bar is free memory. If the memory is the host's, the caption states
// this. A part's tool tip shows its bytes and where this figure comes from.
#pragma once

#include <QJsonArray>
#include <QWidget>
#include <vector>

#include "profiler/explain/device_memory.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class ElidedLabel;
class Legend;

class GpuBar : public QWidget {
  Q_OBJECT
 public:
  explicit GpuBar(QWidget* parent = nullptr);
  void set(const explain::DeviceMemory& memory, const timeline::Theme& theme);
  QJsonArray dumpState() const;  // [{name, bytes, source}]

 private:
  class Bar;
  explain::DeviceMemory memory_;
  timeline::Theme theme_;
  ElidedLabel* caption_ = nullptr;
  Bar* bar_ = nullptr;
  Legend* legend_ = nullptr;
};

}  // namespace vramscope::ui
