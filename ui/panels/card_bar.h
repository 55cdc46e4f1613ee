// What a card's memory is used for, as one stacked bar (explain/device_memory.h): blocks, what the
// allocator keeps beside them, libraries, context, other processes, what nobody accounts for; the
// rest of the bar is free. Hovering a part says its bytes and where they are from.
#pragma once

#include <QJsonArray>
#include <QWidget>
#include <vector>

#include "profiler/explain/device_memory.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class ElidedLabel;
class Legend;

class CardBar : public QWidget {
  Q_OBJECT
 public:
  explicit CardBar(QWidget* parent = nullptr);
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
