// The line under the menus: what is shown, and its state in chips. And the banner for errors.
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

// Texts of the chips for a trace; empty where it does not say.
struct ChipTexts {
  QString title, subtitle;
  QString backend, inferred, assumed, device, peak, reserved, unused, fits, out_of_memory;
  QString backend_tip, inferred_tip, assumed_tip, reserved_tip, unused_tip, fits_tip,
      out_of_memory_tip;
  bool does_fit = true;
  QString unfinished, unfinished_tip;  // a run that did not come to its end
  // Of a recording of several GPUs: which one is shown, and all that there are.
  QString gpu, gpu_tip;
  struct Gpu {
    uint8_t device;
    QString text;
    bool shown;
  };
  std::vector<Gpu> gpus;
  QStringList assumptions;
};
// `running`: more of it is still to come.
ChipTexts MakeChipTexts(const Digest& digest, bool running);

class HeaderBar : public QWidget {
  Q_OBJECT
 public:
  explicit HeaderBar(QWidget* parent = nullptr);
  void setTexts(const ChipTexts& texts);
  void setBusy(const QString& text);  // empty: idle
  QJsonObject dumpState() const;
  // Chips that do not fit are left out: it never asks for more width than there is.
  QSize minimumSizeHint() const override { return {200, 44}; }

 Q_SIGNALS:
  // "backend", "inferred", "device", "peak", "reserved", "unused", "fits", "out-of-memory"
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

// Says what happened, where, and what to do next; stays until it is closed or replaced.
class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Tone { kWarning, kBad };
  struct Message {
    QString kind;  // "worker-lost", for tests and for taking away what has been put right
    Tone tone = Tone::kBad;
    QString title, text;
    QString action = {};  // text of the button; empty: none
    std::function<void()> run = {};
  };
  explicit Banner(QWidget* parent = nullptr);
  void show(const Message& message);
  void clear(const QString& kind = QString());    // empty: whatever it is
  QString kind() const { return message_.kind; }  // empty: nothing is shown
  QJsonObject dumpState() const;                  // empty when nothing is shown

 private:
  Message message_;
  QFrame* edge_ = nullptr;
  ElidedLabel* title_ = nullptr;
  WrappedLabel* text_ = nullptr;
  QToolButton* action_ = nullptr;
};

}  // namespace vramscope::ui
