#include "ui/panels/frame_list.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kRow = 18, kGap = 10;
constexpr double kFileShare = 0.55;  // maximum share of the list's width that the files get

QFontMetrics Metrics() { return QFontMetrics(PanelFont(timeline::Font::kSmall)); }

}  // namespace

FrameList::FrameList(QWidget* parent) : QWidget(parent), theme_(timeline::Theme::Dark()) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void FrameList::set(std::vector<timeline::StackLine> lines, const timeline::Theme& theme) {
  lines_ = std::move(lines);
  theme_ = theme;
  updateGeometry();
  update();
}

QSize FrameList::sizeHint() const { return {200, static_cast<int>(lines_.size()) * kRow}; }
QSize FrameList::minimumSizeHint() const { return {40, sizeHint().height()}; }

// Elides the path at its begin, because its end says more about the file.
QString FrameList::shownFile(int line) const {
  return Metrics().elidedText(QString::fromStdString(lines_[static_cast<size_t>(line)].file),
                              Qt::ElideLeft, static_cast<int>(width() * kFileShare));
}

QString FrameList::shownFunction(int line) const {
  const QString file = shownFile(line);
  const int used = file.isEmpty() ? 0 : Metrics().horizontalAdvance(file) + kGap;
  return Metrics().elidedText(QString::fromStdString(lines_[static_cast<size_t>(line)].function),
                              Qt::ElideMiddle, std::max(width() - used, 10));
}

void FrameList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(PanelFont(timeline::Font::kSmall));
  for (int i = 0; i < static_cast<int>(lines_.size()); ++i) {
    const QRect row(0, i * kRow, width(), kRow);
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, shownFunction(i));
    painter.setPen(ToQColor(theme_.dim));
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, shownFile(i));
  }
}

bool FrameList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int line = help->pos().y() / kRow;
  if (line < 0 || line >= static_cast<int>(lines_.size())) {
    QToolTip::hideText();
    return true;
  }
  const timeline::StackLine& l = lines_[static_cast<size_t>(line)];
  QToolTip::showText(help->globalPos(),
                     QStringLiteral("<p>%1</p><p>%2</p>")
                         .arg(QString::fromStdString(l.function).toHtmlEscaped(),
                              QString::fromStdString(l.place).toHtmlEscaped()),
                     this);
  return true;
}

}  // namespace vramscope::ui
