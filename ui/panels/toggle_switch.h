// A flat on/off switch, used in the list of techniques. Space and Enter toggle it.
#pragma once

#include <QAbstractButton>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

class ToggleSwitch : public QAbstractButton {
  Q_OBJECT
 public:
  explicit ToggleSwitch(QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme);
  QSize sizeHint() const override;

 Q_SIGNALS:
  void mouseClicked();  // emitted after clicked(), but only for a click of the mouse

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  timeline::Theme theme_;
};

}  // namespace vramscope::ui
