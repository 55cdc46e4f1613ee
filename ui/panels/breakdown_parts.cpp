#include "ui/panels/breakdown_parts.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kBarHeight = 20;
constexpr int kListRow = 21;

}  // namespace

BreakdownPanel::Bar::Bar(BreakdownPanel* panel) : panel_(panel) { setFixedHeight(kBarHeight); }

void BreakdownPanel::Bar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  double x = 0;
  for (const Part& part : panel_->shown_parts_) {
    const double w = part.share * width();
    const double right = std::max(x, x + w - (w > 3 ? 1 : 0));
    painter.fillRect(QRectF(x, 0, right - x, height()),
                     ToQColor(panel_->theme_.category(part.category)));
    x += w;
  }
  if (panel_->shown_parts_.empty()) painter.fillRect(rect(), ToQColor(panel_->theme_.raised));
}

BreakdownPanel::LiveList::LiveList(BreakdownPanel* panel) : panel_(panel) {
  setFixedHeight(kLargest * kListRow);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  setMouseTracking(true);
  setCursor(Qt::PointingHandCursor);
}

void BreakdownPanel::LiveList::set(std::shared_ptr<const trace::Trace> trace,
                                   std::vector<analysis::LiveAllocation> live) {
  trace_ = std::move(trace);
  live_ = std::move(live);
  update();
}

QString BreakdownPanel::LiveList::name(size_t i) const {
  return QString::fromStdString(ShortName(*trace_, live_[i].id));
}

QString BreakdownPanel::LiveList::bytes(size_t i) const {
  return QString::fromStdString(
      timeline::FormatBytes(trace_->allocations.bytes_rounded[live_[i].id.value]));
}

void BreakdownPanel::LiveList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const timeline::Theme& theme = panel_->theme_;
  const QFont name_font = PanelFont(timeline::Font::kSmall);
  const QFont number_font = PanelFont(timeline::Font::kMonoSmall);
  for (size_t i = 0; i < live_.size(); ++i) {
    const QRect row(0, static_cast<int>(i) * kListRow, width(), kListRow);
    const bool selected = live_[i].id == panel_->selection_;
    if (selected || static_cast<int>(i) == hover_)
      painter.fillRect(
          row, ToQColor(selected ? timeline::Mix(theme.panel, theme.accent, 0.18) : theme.raised));
    painter.setPen(Qt::NoPen);
    painter.setBrush(ToQColor(theme.category(live_[i].category)));
    painter.drawRoundedRect(QRectF(1, row.center().y() - 3, 8, 8), 2, 2);
    const QString size = bytes(i);
    painter.setFont(number_font);
    painter.setPen(ToQColor(theme.dim));
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, size);
    const int used = QFontMetrics(number_font).horizontalAdvance(size);
    painter.setFont(name_font);
    painter.setPen(ToQColor(theme.text));
    const QRect text = row.adjusted(17, 0, -used - 10, 0);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(name_font).elidedText(name(i), Qt::ElideMiddle, text.width()));
  }
}

void BreakdownPanel::LiveList::mouseMoveEvent(QMouseEvent* event) {
  const int row = static_cast<int>(event->position().y()) / kListRow;
  hover_ = row < static_cast<int>(live_.size()) ? row : -1;
  setToolTip(hover_ < 0
                 ? QString()
                 : QStringLiteral("%1\n%2").arg(
                       name(static_cast<size_t>(hover_)),
                       QString::fromStdString(timeline::FormatBytesExact(
                           trace_->allocations
                               .bytes_rounded[live_[static_cast<size_t>(hover_)].id.value]))));
  update();
}

void BreakdownPanel::LiveList::leaveEvent(QEvent*) {
  hover_ = -1;
  update();
}

void BreakdownPanel::LiveList::mousePressEvent(QMouseEvent* event) {
  const int row = static_cast<int>(event->position().y()) / kListRow;
  if (row >= 0 && row < static_cast<int>(live_.size()))
    Q_EMIT panel_->allocationClicked(live_[static_cast<size_t>(row)].id);
}

}  // namespace vramscope::ui
