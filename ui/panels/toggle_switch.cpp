#include "ui/panels/toggle_switch.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {
constexpr int kWidth = 32, kHeight = 18, kKnob = 14;
}

ToggleSwitch::ToggleSwitch(QWidget* parent) : QAbstractButton(parent) {
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setFixedSize(kWidth + 2, kHeight + 2);
}

void ToggleSwitch::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

void ToggleSwitch::mouseReleaseEvent(QMouseEvent* event) {
  const bool hit = isDown() && hitButton(event->position().toPoint());
  QAbstractButton::mouseReleaseEvent(event);
  if (hit) Q_EMIT mouseClicked();
}

QSize ToggleSwitch::sizeHint() const { return {kWidth + 2, kHeight + 2}; }

void ToggleSwitch::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF track(1, 1, kWidth, kHeight);
  const timeline::Color off = timeline::Mix(theme_.line, theme_.raised, theme_.dark ? 0.15 : 0.0);
  timeline::Color ground = isChecked() ? theme_.accent : off;
  timeline::Color knob = theme_.dark && !isChecked() ? theme_.text : timeline::Color::Rgb(0xffffff);
  if (!isEnabled()) {
    ground = timeline::Mix(ground, theme_.panel, 0.5);
    knob = timeline::Mix(knob, ground, 0.6);
  } else if (underMouse()) {
    ground = timeline::Mix(ground, theme_.text, 0.12);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(ToQColor(ground));
  painter.drawRoundedRect(track, kHeight / 2.0, kHeight / 2.0);
  const double inset = (kHeight - kKnob) / 2.0;
  const double x = isChecked() ? track.right() - kKnob - inset : track.left() + inset;
  painter.setBrush(ToQColor(knob));
  painter.drawEllipse(QRectF(x, track.top() + inset, kKnob, kKnob));
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ToQColor(theme_.accent), 1));
    painter.drawRoundedRect(QRectF(0.5, 0.5, kWidth + 1, kHeight + 1), kHeight / 2.0 + 0.5,
                            kHeight / 2.0 + 0.5);
  }
}

void ToggleSwitch::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    click();
    return;
  }
  QAbstractButton::keyPressEvent(event);
}

void ToggleSwitch::enterEvent(QEnterEvent*) { update(); }
void ToggleSwitch::leaveEvent(QEvent*) { update(); }

}  // namespace vramscope::ui
