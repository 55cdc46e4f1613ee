#include "ui/studies/vary_chart.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/run/units.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr double kRadius = 4.5, kReach = 12;
constexpr double kLeft = 76, kRight = 24, kUpper = 14, kLower = 24;
constexpr int kGridLines = 4;

QString BytesText(double bytes) {
  return QString::fromStdString(run::FormatBytes(static_cast<uint64_t>(std::max(0.0, bytes))));
}

}  // namespace

VaryChart::VaryChart(std::function<void(int)> opened, QWidget* parent)
    : QWidget(parent), opened_(std::move(opened)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void VaryChart::setPoints(std::vector<VaryPoint> points, std::optional<double> budget) {
  points_ = std::move(points);
  budget_ = budget;
  hover_ = current_ = -1;
  update();
}

void VaryChart::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

double VaryChart::Top() const {
  double top = budget_.value_or(1);
  for (const VaryPoint& point : points_) top = std::max(top, point.bytes);
  return top * 1.08;
}

QRectF VaryChart::Plot() const {
  return {kLeft, kUpper, std::max(20.0, width() - kLeft - kRight),
          std::max(20.0, height() - kUpper - kLower)};
}

double VaryChart::Y(double bytes) const {
  const QRectF plot = Plot();
  return plot.bottom() - bytes / Top() * plot.height();
}

QPointF VaryChart::position(int point) const {
  const QRectF plot = Plot();
  const auto count = static_cast<double>(points_.size());
  const double part = count > 1 ? point / (count - 1) : 0.5;
  return {plot.left() + part * plot.width(), Y(points_[static_cast<size_t>(point)].bytes)};
}

int VaryChart::PointAt(const QPointF& at) const {
  int nearest = -1;
  double distance = kReach;
  for (int i = 0; i < static_cast<int>(points_.size()); ++i) {
    const QPointF from = position(i) - at;
    const double away = std::hypot(from.x(), from.y());
    if (away > distance) continue;
    nearest = i;
    distance = away;
  }
  return nearest;
}

void VaryChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), ToQColor(theme_.panel));
  if (points_.empty()) return;
  const QRectF plot = Plot();
  const QColor faint = ToQColor(timeline::Mix(theme_.panel, theme_.dim, 0.3));
  for (int i = 0; i <= kGridLines; ++i) {
    const double bytes = Top() * i / kGridLines;
    painter.setPen(faint);
    painter.drawLine(QPointF(plot.left(), Y(bytes)), QPointF(plot.right(), Y(bytes)));
    painter.setPen(ToQColor(theme_.dim));
    painter.drawText(QRectF(0, Y(bytes) - 9, kLeft - 8, 18), Qt::AlignRight | Qt::AlignVCenter,
                     BytesText(bytes));
  }
  if (budget_) {
    painter.setPen(QPen(ToQColor(theme_.bad), 1, Qt::DashLine));
    painter.drawLine(QPointF(plot.left(), Y(*budget_)), QPointF(plot.right(), Y(*budget_)));
  }
  // Draw lines between neighbouring plans. A value without a plan leaves a gap.
  painter.setPen(QPen(ToQColor(theme_.accent), 1.5));
  for (int i = 1; i < static_cast<int>(points_.size()); ++i)
    if (points_[static_cast<size_t>(i) - 1].error.isEmpty() &&
        points_[static_cast<size_t>(i)].error.isEmpty())
      painter.drawLine(position(i - 1), position(i));
  double free_from = 0;  // the next label must begin here or later
  for (int i = 0; i < static_cast<int>(points_.size()); ++i) {
    PaintPoint(painter, i);
    const QString& label = points_[static_cast<size_t>(i)].label;
    const double wide = painter.fontMetrics().horizontalAdvance(label) + 10;
    const double left = position(i).x() - wide / 2;
    if (left < free_from) continue;
    free_from = left + wide;
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(QRectF(left, plot.bottom() + 4, wide, kLower - 4), Qt::AlignCenter, label);
  }
}

// If the plan does not fit, the point has another color and is hollow.
void VaryChart::PaintPoint(QPainter& painter, int point) const {
  const VaryPoint& of = points_[static_cast<size_t>(point)];
  const QPointF at = position(point);
  const bool large = point == hover_ || (point == current_ && hasFocus());
  const double radius = large ? kRadius + 2 : kRadius;
  const QColor color = ToQColor(of.fits && of.error.isEmpty() ? theme_.good : theme_.bad);
  painter.setPen(QPen(color, 2));
  if (!of.error.isEmpty()) {
    painter.drawLine(at + QPointF(-radius, -radius), at + QPointF(radius, radius));
    painter.drawLine(at + QPointF(-radius, radius), at + QPointF(radius, -radius));
    return;
  }
  painter.setBrush(of.fits ? color : ToQColor(theme_.panel));
  painter.drawEllipse(at, radius, radius);
}

void VaryChart::mousePressEvent(QMouseEvent* event) {
  const int point = PointAt(event->position());
  if (event->button() != Qt::LeftButton || point < 0) return;
  current_ = point;
  update();
  opened_(point);
}

void VaryChart::mouseMoveEvent(QMouseEvent* event) { Hover(PointAt(event->position())); }

void VaryChart::leaveEvent(QEvent*) { Hover(-1); }

void VaryChart::Hover(int point) {
  if (point == hover_) return;
  hover_ = point;
  setCursor(point >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  QString tip;
  if (point >= 0) {
    const VaryPoint& of = points_[static_cast<size_t>(point)];
    tip = of.label + QStringLiteral(": ") + (of.error.isEmpty() ? BytesText(of.bytes) : of.error);
  }
  setToolTip(tip);
  update();
}

void VaryChart::keyPressEvent(QKeyEvent* event) {
  const auto last = static_cast<int>(points_.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left:
      current_ = std::max(0, current_ - 1);
      break;
    case Qt::Key_Right:
      current_ = std::min(last, current_ + 1);
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ >= 0 && current_ <= last) opened_(current_);
      return;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  if (last < 0) current_ = -1;
  update();
}

}  // namespace vramscope::ui
