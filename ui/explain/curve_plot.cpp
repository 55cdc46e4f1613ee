#include "ui/explain/curve_plot.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/ticks.h"

namespace vramscope::ui {
namespace {

constexpr int kFoot = 16, kHead = 20;

QString Bytes(uint64_t bytes) { return QString::fromStdString(timeline::FormatBytes(bytes)); }

QPainterPath StepPath(const std::vector<uint64_t>& columns, const QRectF& box, double top) {
  QPainterPath path;
  const double step = box.width() / static_cast<double>(std::max<size_t>(columns.size(), 1));
  for (size_t i = 0; i < columns.size(); ++i) {
    const double y = box.bottom() - static_cast<double>(columns[i]) / top * box.height();
    const double x = box.left() + static_cast<double>(i) * step;
    if (i == 0)
      path.moveTo(x, y);
    else
      path.lineTo(x, y);
    path.lineTo(x + step, y);
  }
  return path;
}

}  // namespace

std::vector<uint64_t> ColumnsOf(const std::vector<CurvePoint>& curve, int64_t begin_ns,
                                int64_t end_ns, int columns) {
  std::vector<uint64_t> out(static_cast<size_t>(std::max(columns, 0)));
  if (curve.empty() || end_ns <= begin_ns || columns <= 0) return out;
  const double width = static_cast<double>(end_ns - begin_ns) / columns;
  auto at = std::upper_bound(curve.begin(), curve.end(), begin_ns,
                             [](int64_t t, const CurvePoint& p) { return t < p.time_ns; });
  uint64_t holds = at == curve.begin() ? 0 : std::prev(at)->bytes;
  for (int i = 0; i < columns; ++i) {
    const int64_t end = begin_ns + static_cast<int64_t>(width * (i + 1));
    uint64_t most = holds;
    for (; at != curve.end() && at->time_ns < end; ++at) {
      holds = at->bytes;
      most = std::max(most, holds);
    }
    out[static_cast<size_t>(i)] = most;
  }
  return out;
}

CurvePlot::CurvePlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Reserved memory, recorded and under other settings"));
}

void CurvePlot::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

void CurvePlot::setDigest(std::shared_ptr<const Digest> digest) {
  digest_ = std::move(digest);
  recorded_.clear();
  allocated_.clear();
  curve_.clear();
  begin_ = end_ = 0;
  if (digest_ != nullptr) {
    const analysis::MemoryCurves& c = digest_->curves;
    for (size_t i = 0; i < c.size(); ++i) {
      if (recorded_.empty() || recorded_.back().bytes != c.reserved[i])
        recorded_.push_back({c.time_ns[i], c.reserved[i]});
      allocated_.push_back({c.time_ns[i], c.allocated[i]});
    }
  }
  update();
}

void CurvePlot::setView(qint64 begin_ns, qint64 end_ns) {
  begin_ = begin_ns;
  end_ = end_ns;
  update();
}

void CurvePlot::setCurve(std::vector<CurvePoint> reserved) {
  curve_ = std::move(reserved);
  update();
}

void CurvePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), ToQColor(theme_.panel));
  if (digest_ == nullptr || digest_->trace->events.size() == 0) return;
  const qint64 begin = end_ > begin_ ? begin_ : digest_->trace->begin_ns();
  const qint64 end = end_ > begin_ ? end_ : std::max<qint64>(digest_->trace->end_ns(), begin + 1);
  const QRectF box(0, kHead, width(), std::max(height() - kHead - kFoot, 20));
  const int columns = std::max(1, width());
  const auto recorded = ColumnsOf(recorded_, begin, end, columns);
  const auto allocated = ColumnsOf(allocated_, begin, end, columns);
  const auto under = ColumnsOf(curve_, begin, end, columns);
  uint64_t most = 1;
  for (const auto* c : {&recorded, &allocated, &under})
    most = std::max(most, *std::max_element(c->begin(), c->end()));
  const double top = static_cast<double>(most) * 1.08;

  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.fillRect(box, ToQColor(timeline::Mix(theme_.ground, theme_.panel, 0.5)));
  painter.setFont(PanelFont(timeline::Font::kSmall));
  // Two lines across and their figures.
  for (const double part : {0.5, 1.0}) {
    const double y = box.bottom() - part * static_cast<double>(most) / top * box.height();
    painter.setPen(ToQColor(theme_.line));
    painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  }
  QPainterPath area = StepPath(allocated, box, top);
  area.lineTo(box.right(), box.bottom());
  area.lineTo(box.left(), box.bottom());
  painter.fillPath(area, ToQColor(timeline::Mix(theme_.panel, theme_.dim, 0.28)));
  painter.setRenderHint(QPainter::Antialiasing);
  QPen dashed(ToQColor(theme_.dim), 1.4);
  dashed.setDashPattern({4, 3});
  painter.setPen(dashed);
  painter.drawPath(StepPath(recorded, box, top));
  if (!curve_.empty()) {
    painter.setPen(QPen(ToQColor(theme_.accent), 1.6));
    painter.drawPath(StepPath(under, box, top));
  }
  for (const double part : {0.5, 1.0}) {
    const double y = box.bottom() - part * static_cast<double>(most) / top * box.height();
    painter.setPen(ToQColor(theme_.faint));
    painter.drawText(QRectF(box.left() + 4, y - 14, box.width() - 8, 14),
                     Qt::AlignRight | Qt::AlignBottom,
                     Bytes(static_cast<uint64_t>(part * static_cast<double>(most))));
  }
  // What is what.
  double x = 0;
  const auto legend = [&](const QString& text, const QColor& color, bool fill, bool dash) {
    if (fill) {
      painter.fillRect(QRectF(x, kHead / 2.0 - 4, 14, 8), color);
    } else {
      QPen pen(color, 1.6);
      if (dash) pen.setDashPattern({3, 2});
      painter.setPen(pen);
      painter.drawLine(QPointF(x, kHead / 2.0), QPointF(x + 14, kHead / 2.0));
    }
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(QRectF(x + 19, 0, 400, kHead), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += 19 + painter.fontMetrics().horizontalAdvance(text) + 18;
  };
  const auto value = [&](const std::vector<uint64_t>& c) {
    return hover_ >= 0 && hover_ < columns
               ? QStringLiteral(" ") + Bytes(c[static_cast<size_t>(hover_)])
               : QString();
  };
  legend(tr("reserved, recorded") + value(recorded), ToQColor(theme_.dim), false, true);
  if (!curve_.empty())
    legend(tr("reserved, these settings") + value(under), ToQColor(theme_.accent), false, false);
  legend(tr("allocated") + value(allocated), ToQColor(timeline::Mix(theme_.panel, theme_.dim, 0.4)),
         true, false);
  // Where in time: the ends, and the hover.
  painter.setPen(ToQColor(theme_.faint));
  const int64_t origin = digest_->trace->begin_ns();
  const auto moment = [&](qint64 t) {
    return QString::fromStdString(
        timeline::FormatTime(t - origin, std::max<int64_t>((end - begin) / 1000, 1), 0));
  };
  painter.drawText(QRectF(0, height() - kFoot, width(), kFoot), Qt::AlignLeft | Qt::AlignVCenter,
                   moment(begin));
  painter.drawText(QRectF(0, height() - kFoot, width(), kFoot), Qt::AlignRight | Qt::AlignVCenter,
                   moment(end));
  if (hover_ >= 0) {
    painter.setPen(ToQColor(theme_.text.WithAlpha(0.5)));
    painter.drawLine(QPointF(hover_ + 0.5, box.top()), QPointF(hover_ + 0.5, box.bottom()));
    const qint64 t =
        begin + static_cast<qint64>(static_cast<double>(end - begin) * hover_ / columns);
    painter.setPen(ToQColor(theme_.dim));
    painter.drawText(QRectF(std::clamp(hover_ - 60.0, 60.0, std::max(width() - 180.0, 60.0)),
                            height() - kFoot, 120, kFoot),
                     Qt::AlignCenter, moment(t));
  }
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event) {
  hover_ = static_cast<int>(event->position().x());
  update();
}

void CurvePlot::leaveEvent(QEvent*) {
  hover_ = -1;
  update();
}

}  // namespace vramscope::ui
