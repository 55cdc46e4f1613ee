// The line under the menus, with the name of the shown run and chips for its state. Also the class
// Banner, which shows errors.
#pragma once

#include <QFrame>
#include <QJsonObject>
#include <QWidget>
#include <functional>
#include <vector>

#include "ui/panels/rows.h"

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace vramscope::ui {

class ElidedLabel;
class WrappedLabel;

// The texts of the chips for a trace. The texts of unknown facts are empty.
struct ChipTexts {
  QString title, subtitle;
  QString backend, inferred, assumed, device, peak, reserved, unused, fits, out_of_memory;
  QString backend_tip, inferred_tip, assumed_tip, reserved_tip, unused_tip, fits_tip,
      out_of_memory_tip;
  bool does_fit = true;
  QString unfinished, unfinished_tip;  // texts for a run that did not finish
  // The shown GPU, and a tool tip that lists all GPUs. Both are empty unless several GPUs were
  // recorded.
  QString gpu, gpu_tip;
  struct Gpu {
    uint8_t device;
    QString text;
    bool shown;
  };
  std::vector<Gpu> gpus;
  QStringList assumptions;
};
// `running`: the run is still in progress.
ChipTexts MakeChipTexts(const Digest& digest, bool running);

class HeaderBar : public QWidget {
  Q_OBJECT
 public:
  explicit HeaderBar(QWidget* parent = nullptr);
  void setTexts(const ChipTexts& texts);
  void setBusy(const QString& text);  // empty: idle
  QJsonObject dumpState() const;
  // The bar may become narrow, because it hides chips that do not fit.
  QSize minimumSizeHint() const override { return {200, 44}; }

 Q_SIGNALS:
  // `name`: "backend", "inferred", "device", "peak", "reserved", "unused", "fits", "out-of-memory"
  void chipClicked(const QString& name);
  void commandsClicked();
  void gpuChosen(int device);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void Fit();
  QToolButton* AddChip(QHBoxLayout* line, const QString& name);
  void FillGpus(const std::vector<ChipTexts::Gpu>& gpus);
  ElidedLabel* title_ = nullptr;
  ElidedLabel* subtitle_ = nullptr;
  QLabel* busy_ = nullptr;
  QToolButton* backend_ = nullptr;
  QToolButton* inferred_ = nullptr;
  QToolButton* assumed_ = nullptr;
  QToolButton* unfinished_ = nullptr;
  QToolButton* gpu_ = nullptr;
  QToolButton* device_ = nullptr;
  QToolButton* peak_ = nullptr;
  QToolButton* reserved_ = nullptr;
  QToolButton* unused_ = nullptr;
  QToolButton* fits_ = nullptr;
  QToolButton* out_of_memory_ = nullptr;
  QToolButton* commands_ = nullptr;
};

// Shows a message: what happened, where, and what to do next. A message stays until it is closed or
// replaced. A message about the window is not lost when another message replaces it: it is shown
// again after that one.
class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Tone { kWarning, kBad };
  struct Message {
    QString kind;  // identifies the message for tests and clear(), e.g. "worker-lost"
    Tone tone = Tone::kBad;
    QString title, text;
    QString action = {};  // text of the button; empty: no button
    std::function<void()> run = {};
    bool of_window = false;  // about the window, not about the active document
  };
  explicit Banner(QWidget* parent = nullptr);
  void show(const Message& message);
  // Removes the message of this kind, whether it is shown or waits behind the shown message.
  void clear(const QString& kind);
  void clearOfDocument();  // removes the shown message if it is about the active document
  QString kind() const { return message_.kind; }  // empty: nothing is shown
  QJsonObject dumpState() const;                  // an empty object if nothing is shown

 private:
  void Show(const Message& message);
  void ShowNext();

  Message message_;
  std::vector<Message> behind_;  // messages about the window to show again, the next one last
  QFrame* edge_ = nullptr;
  ElidedLabel* title_ = nullptr;
  WrappedLabel* text_ = nullptr;
  QToolButton* action_ = nullptr;
};

}  // namespace vramscope::ui
