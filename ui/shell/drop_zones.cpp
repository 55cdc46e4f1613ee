#include "ui/shell/drop_zones.h"

#include <QPainter>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kMargin = 14, kLineHeight = 24;

}  // namespace

DropZones::DropZones(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("dropZones"));
  setAttribute(Qt::WA_TransparentForMouseEvents);
  QWidget::hide();
}

void DropZones::show(const QRect& area, const timeline::Theme& theme, const QPoint& point) {
  theme_ = theme;
  setGeometry(area);
  setPoint(point);
  raise();
  QWidget::show();
}

void DropZones::setPoint(const QPoint& point) {
  compare_ = point.x() >= geometry().center().x();
  update();
}

bool DropZones::compares(const QPoint& point) const {
  return isVisible() && point.x() >= geometry().center().x();
}

void DropZones::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), ToQColor(theme_.ground.WithAlpha(0.8)));
  const int half = width() / 2;
  for (const bool compare : {false, true}) {
    const QRect zone = QRect(compare ? half : 0, 0, half, height())
                           .adjusted(compare ? kMargin / 2 : kMargin, kMargin,
                                     compare ? -kMargin : -kMargin / 2, -kMargin);
    const bool here = compare == compare_;
    painter.setBrush(
        ToQColor(here ? timeline::Mix(theme_.panel, theme_.accent, 0.16) : theme_.panel));
    painter.setPen(QPen(ToQColor(here ? theme_.accent : theme_.line), here ? 2 : 1, Qt::DashLine));
    painter.drawRoundedRect(zone, 8, 8);
    QRect line(zone.left(), zone.center().y() - kLineHeight, zone.width(), kLineHeight);
    painter.setFont(PanelFont(timeline::Font::kBodyBold));
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(line, Qt::AlignCenter,
                     compare ? tr("Compare with the current run") : tr("Open"));
    line.translate(0, kLineHeight);
    painter.setFont(PanelFont(timeline::Font::kSmall));
    painter.setPen(ToQColor(theme_.dim));
    painter.drawText(line, Qt::AlignCenter,
                     compare ? tr("keeps the current run, and makes the file its baseline")
                             : tr("in a new tab"));
  }
}

}  // namespace vramscope::ui
