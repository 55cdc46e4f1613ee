#include "ui/explain/segment_map_widget.h"

#include <QHelpEvent>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/trace/segment_record.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

constexpr double kZoom = 1.25;
constexpr int kTextMargin = 16;
constexpr double kHatch = 4;  // distance between the lines of the hatching, in pixels

using Use = explain::SegmentView::Use;

QRectF ToQRect(const timeline::Rect& r, double dy) { return {r.x, r.y + dy, r.w, r.h}; }

QString Bytes(uint64_t bytes) { return QString::fromStdString(timeline::FormatBytes(bytes, true)); }

}  // namespace

SegmentMapWidget::SegmentMapWidget(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMinimumSize(200, 60);
  viewport()->setMouseTracking(true);
  viewport()->setCursor(Qt::PointingHandCursor);
  setAccessibleName(tr("Segments and their blocks"));
}

void SegmentMapWidget::setSegments(std::shared_ptr<const trace::Trace> trace,
                                   std::vector<explain::SegmentView> segments,
                                   std::vector<trace::Category> category,
                                   std::vector<explain::PoolOwner> owners) {
  owners_ = std::move(owners);
  trace_ = std::move(trace);
  segments_ = std::move(segments);
  category_ = std::move(category);
  hover_.reset();
  Layout();
}

void SegmentMapWidget::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  viewport()->update();
}

void SegmentMapWidget::setSelection(trace::AllocationId id) {
  selection_ = id;
  viewport()->update();
}

void SegmentMapWidget::Layout() {
  map_ = SegmentMap(segments_, static_cast<float>(viewport()->width()),
                    static_cast<float>(viewport()->height()), zoom_, owners_);
  hover_.reset();
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(16);
  verticalScrollBar()->setRange(
      0, std::max(0, static_cast<int>(std::ceil(map_.height())) - viewport()->height()));
  viewport()->update();
}

QColor SegmentMapWidget::ColorOf(const explain::SegmentView::Piece& piece) const {
  const uint32_t id = piece.allocation.value;
  const trace::Category category =
      id < category_.size() ? category_[id] : trace::Category::kUnknown;
  return ToQColor(theme_.category(category));
}

void SegmentMapWidget::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), ToQColor(theme_.panel));
  const double dy = -verticalScrollBar()->value();
  const double height = viewport()->height();
  const auto seen = [&](const timeline::Rect& r) {
    return r.y + dy < height && r.bottom() + dy > 0;
  };
  painter.setFont(PanelFont(timeline::Font::kSmall));
  for (const SegmentMap::Title& title : map_.titles()) {
    if (!seen(title.rect)) continue;
    painter.setPen(ToQColor(theme_.dim));
    const QRectF box = ToQRect(title.rect, dy);
    painter.drawText(
        box, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(QString::fromStdString(title.text), Qt::ElideRight,
                                         static_cast<int>(box.width())));
  }
  const QColor cached = ToQColor(theme_.cached);
  const QColor hatch =
      ToQColor(timeline::Mix(theme_.cached, theme_.line, theme_.dark ? 0.9 : 0.85));
  // Free memory has the segment's colour and diagonal hatching, which continues from segment to
  // segment. The hatching is a tiled image, because it would be slow to draw lines for thousands of
  // pieces.
  const double scale = devicePixelRatioF();
  const int side = static_cast<int>(std::lround(kHatch * scale));
  QImage tile(side, side, QImage::Format_RGB32);
  tile.fill(cached);
  for (int x = 0; x < side; ++x)
    for (int thick = 0; thick < std::max(1, static_cast<int>(scale)); ++thick)
      tile.setPixelColor((x + thick) % side, side - 1 - x, hatch);
  tile.setDevicePixelRatio(scale);
  const QBrush hatched(tile);
  for (const SegmentMap::Outline& o : map_.outlines())
    if (seen(o.rect)) painter.fillRect(ToQRect(o.rect, dy), hatched);
  for (const SegmentMap::Piece& p : map_.pieces()) {
    if (!seen(p.rect)) continue;
    const auto& piece = map_.segments()[p.segment].pieces[p.piece];
    if (piece.use == Use::kFree) continue;
    QRectF box = ToQRect(p.rect, dy);
    if (piece.use == Use::kUnmapped) {
      painter.fillRect(box, ToQColor(theme_.ground));
      continue;
    }
    // Leave a gap of one pixel to the next box if this one is wide enough.
    if (box.width() >= 4) box.setRight(box.right() - 1);
    if (box.width() < 0.7) box.setWidth(0.7);
    QColor color = ColorOf(piece);
    if (piece.use == Use::kPending)
      color = ToQColor(
          timeline::Mix(theme_.cached,
                        {static_cast<uint8_t>(color.red()), static_cast<uint8_t>(color.green()),
                         static_cast<uint8_t>(color.blue())},
                        0.55));
    painter.fillRect(box, color);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(ToQColor(theme_.line), 1));
  for (const SegmentMap::Outline& o : map_.outlines())
    if (seen(o.rect) && o.rect.w > 6) painter.drawRect(ToQRect(o.rect, dy).adjusted(0, 0, -1, -1));
  if (hover_) {
    painter.setPen(QPen(ToQColor(theme_.text.WithAlpha(0.8)), 1));
    for (const SegmentMap::Piece& p : map_.pieces())
      if (p.segment == hover_->segment && p.piece == hover_->piece)
        painter.drawRect(ToQRect(p.rect, dy).adjusted(0, 0, -1, -1));
  }
  if (selection_.valid()) {
    painter.setPen(QPen(ToQColor(theme_.selection), 2));
    for (const timeline::Rect& r : map_.RectsOf(selection_))
      painter.drawRect(ToQRect(r, dy).adjusted(0, 0, -1, -1));
  }
  if (const QString why = whyEmpty(); !why.isEmpty()) {
    painter.setPen(ToQColor(theme_.faint));
    painter.drawText(viewport()->rect().adjusted(kTextMargin, 0, -kTextMargin, 0),
                     Qt::AlignCenter | Qt::TextWordWrap, why);
  }
}

QString SegmentMapWidget::whyEmpty() const {
  if (trace_ == nullptr || !map_.segments().empty()) return {};
  const std::string_view unknown = trace::WhyNoSegments(*trace_);
  if (unknown.empty()) return tr("No segment is reserved here");
  QString why = QString::fromStdString(std::string(unknown));
  why[0] = why[0].toUpper();
  return why;
}

QString SegmentMapWidget::textAt(const QPoint& at) const {
  const auto hit = map_.At(at.x(), at.y() + verticalScrollBar()->value());
  if (!hit || trace_ == nullptr) return {};
  const explain::SegmentView& s = map_.segments()[hit->segment];
  const auto& piece = s.pieces[hit->piece];
  QStringList lines;
  const QString whole = tr("%1 segment of %2, %3 free, largest hole %4")
                            .arg(s.expandable                    ? tr("expandable")
                                 : s.pool == trace::Pool::kSmall ? tr("small")
                                                                 : tr("large"),
                                 Bytes(s.bytes), Bytes(s.free_bytes()), Bytes(s.largest_hole));
  switch (piece.use) {
    case Use::kFree:
      lines << tr("free: %1").arg(Bytes(piece.bytes));
      break;
    case Use::kUnmapped:
      lines << tr("unmapped addresses: %1").arg(Bytes(piece.bytes));
      break;
    case Use::kLive:
    case Use::kPending: {
      const uint32_t id = piece.allocation.value;
      if (id >= trace_->allocations.size()) break;
      lines << QString::fromStdString(ShortName(*trace_, piece.allocation));
      const trace::Category category =
          id < category_.size() ? category_[id] : trace::Category::kUnknown;
      lines << tr("%1, %2").arg(ToQString(i18n::Text(trace::Name(category))), Bytes(piece.bytes));
      if (piece.use == Use::kPending)
        lines << tr("memory that the program freed, but that another stream still uses");
      const int64_t age = trace_->allocations.end_ns[id] - trace_->allocations.begin_ns[id];
      lines << tr("lifetime: %1").arg(QString::fromStdString(timeline::LengthOf(*trace_, age)));
      break;
    }
  }
  lines << QStringLiteral("0x%1").arg(piece.address, 0, 16) << whole;
  return lines.join(QLatin1Char('\n'));
}

bool SegmentMapWidget::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = textAt(help->pos());
    if (text.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), text, viewport());
    return true;
  }
  if (event->type() == QEvent::Leave && hover_) {
    hover_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void SegmentMapWidget::resizeEvent(QResizeEvent*) { Layout(); }

void SegmentMapWidget::scrollContentsBy(int, int) { viewport()->update(); }

void SegmentMapWidget::mouseMoveEvent(QMouseEvent* event) {
  const auto hit =
      map_.At(event->position().x(), event->position().y() + verticalScrollBar()->value());
  const bool same = hit.has_value() == hover_.has_value() &&
                    (!hit || (hit->segment == hover_->segment && hit->piece == hover_->piece));
  if (same) return;
  hover_ = hit;
  viewport()->update();
}

void SegmentMapWidget::mousePressEvent(QMouseEvent* event) {
  const auto hit =
      map_.At(event->position().x(), event->position().y() + verticalScrollBar()->value());
  if (!hit) return;
  const trace::AllocationId id = map_.segments()[hit->segment].pieces[hit->piece].allocation;
  if (id.valid()) Q_EMIT allocationClicked(id);
}

void SegmentMapWidget::wheelEvent(QWheelEvent* event) {
  if (!(event->modifiers() & Qt::ControlModifier)) {
    QAbstractScrollArea::wheelEvent(event);
    return;
  }
  const double turns = event->angleDelta().y() / 120.0;
  const uint64_t all = SegmentMap(segments_, static_cast<float>(viewport()->width()),
                                  static_cast<float>(viewport()->height()))
                           .bytes_per_row();
  const double now = static_cast<double>(map_.bytes_per_row()) * std::pow(kZoom, -turns);
  const double at = event->position().y() + verticalScrollBar()->value();
  const double before = std::max(1.0, static_cast<double>(map_.height()));
  zoom_ = now >= static_cast<double>(all) ? 0 : static_cast<uint64_t>(now);
  Layout();
  // During zooming, the memory under the mouse stays at its position.
  verticalScrollBar()->setValue(
      static_cast<int>(at / before * map_.height() - event->position().y()));
  event->accept();
}

}  // namespace vramscope::ui
