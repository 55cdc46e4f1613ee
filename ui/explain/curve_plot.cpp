#include "ui/explain/curve_plot.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "profiler/run/saturating.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/ticks.h"

namespace vramscope::ui {
namespace {

constexpr double kLabelHeight = 14;

constexpr int kFoot = 16, kHead = 20;

QString Bytes(uint64_t bytes) { return QString::fromStdString(timeline::FormatBytes(bytes)); }

// Returns the highest value in each column of pixels. Times must be in ascending order.
template <class TimeOf, class BytesOf>
std::vector<uint64_t> Columns(size_t size, int64_t begin_ns, int64_t end_ns, int columns,
                              const TimeOf& time_of, const BytesOf& bytes_of) {
  std::vector<uint64_t> out(static_cast<size_t>(std::max(columns, 0)));
  if (size == 0 || end_ns <= begin_ns || columns <= 0) return out;
  const double width = static_cast<double>(end_ns - begin_ns) / columns;
  size_t at = 0;
  for (size_t count = size; count > 0;) {  // binary search for the first time after begin_ns
    const size_t half = count / 2;
    if (time_of(at + half) <= begin_ns) {
      at += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  uint64_t holds = at == 0 ? 0 : bytes_of(at - 1);
  for (int i = 0; i < columns; ++i) {
    const int64_t end = run::AddSaturating(begin_ns, run::ToInt64(width * (i + 1)));
    uint64_t most = holds;
    for (; at < size && time_of(at) < end; ++at) {
      holds = bytes_of(at);
      most = std::max(most, holds);
    }
    out[static_cast<size_t>(i)] = most;
  }
  return out;
}

// Calls run(first, end, y) for each group of adjacent columns of equal height. To fill one
// rectangle per group is a hundred times faster than to stroke a path with thousands of steps.
template <class Run>
void ForRuns(const std::vector<uint64_t>& columns, const QRectF& box, double top, const Run& run) {
  const auto y_of = [&](size_t i) {
    return std::round(box.bottom() - static_cast<double>(columns[i]) / top * box.height());
  };
  for (size_t i = 0; i < columns.size();) {
    const double y = y_of(i);
    size_t j = i + 1;
    while (j < columns.size() && y_of(j) == y) ++j;
    run(static_cast<int>(i), static_cast<int>(j), y);
    i = j;
  }
}

void DrawSteps(QPainter& painter, const std::vector<uint64_t>& columns, const QRectF& box,
               double top, const QColor& color, bool dashed) {
  constexpr int kOn = 5, kPeriod = 9;
  double before = -1;
  ForRuns(columns, box, top, [&](int first, int end, double y) {
    if (!dashed) {
      painter.fillRect(QRectF(box.left() + first, y - 1, end - first, 2), color);
    } else {
      for (int x = first / kPeriod * kPeriod; x < end; x += kPeriod) {
        const int from = std::max(x, first), to = std::min(x + kOn, end);
        if (to > from) painter.fillRect(QRectF(box.left() + from, y - 1, to - from, 2), color);
      }
    }
    if (before >= 0 && (!dashed || first % kPeriod < kOn)) {
      const double high = std::min(before, y), low = std::max(before, y);
      painter.fillRect(QRectF(box.left() + first - 1, high - 1, 1.4, low - high + 2), color);
    }
    before = y;
  });
}

}  // namespace

std::vector<uint64_t> ColumnsOf(const std::vector<CurvePoint>& curve, int64_t begin_ns,
                                int64_t end_ns, int columns) {
  return Columns(
      curve.size(), begin_ns, end_ns, columns, [&](size_t i) { return curve[i].time_ns; },
      [&](size_t i) { return curve[i].bytes; });
}

CurvePlot::CurvePlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Reserved memory as recorded, and under other settings"));
}

void CurvePlot::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

void CurvePlot::setDigest(std::shared_ptr<const Digest> digest) {
  digest_ = std::move(digest);
  curve_.clear();
  begin_ = end_ = 0;
  drawn_ = {};
  update();
}

void CurvePlot::setView(qint64 begin_ns, qint64 end_ns) {
  begin_ = begin_ns;
  end_ = end_ns;
  update();
}

void CurvePlot::setCurve(std::vector<CurvePoint> reserved) {
  curve_ = std::move(reserved);
  drawn_ = {};
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
  // The columns are computed again only for a new view, not when the mouse moves.
  if (drawn_.begin != begin || drawn_.end != end ||
      drawn_.recorded.size() != static_cast<size_t>(columns)) {
    const analysis::MemoryCurves& c = *digest_->curves;
    const auto of = [&](const analysis::MemoryCurves::Bytes& bytes) {
      return Columns(
          c.size(), begin, end, columns, [&](size_t i) { return c.time_ns[i]; },
          [&](size_t i) { return bytes[i]; });
    };
    drawn_ = {begin, end, of(c.reserved), of(c.allocated), ColumnsOf(curve_, begin, end, columns)};
  }
  const auto &recorded = drawn_.recorded, &allocated = drawn_.allocated, &under = drawn_.under;
  uint64_t most = 1;
  for (const auto* c : {&recorded, &allocated, &under})
    most = std::max(most, *std::max_element(c->begin(), c->end()));
  const double top = static_cast<double>(most) * 1.08;

  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.fillRect(box, ToQColor(timeline::Mix(theme_.ground, theme_.panel, 0.5)));
  painter.setFont(PanelFont(timeline::Font::kSmall));
  // Horizontal grid lines with labels. A low plot has only the upper line.
  const std::vector<double> parts =
      box.height() < 4 * kLabelHeight ? std::vector{1.0} : std::vector{0.5, 1.0};
  for (const double part : parts) {
    const double y = box.bottom() - part * static_cast<double>(most) / top * box.height();
    painter.setPen(ToQColor(theme_.line));
    painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  }
  const QColor ground = ToQColor(timeline::Mix(theme_.panel, theme_.dim, 0.28));
  ForRuns(allocated, box, top, [&](int first, int last, double y) {
    painter.fillRect(QRectF(box.left() + first, y, last - first, box.bottom() - y), ground);
  });
  DrawSteps(painter, recorded, box, top, ToQColor(theme_.dim), true);
  if (!curve_.empty()) DrawSteps(painter, under, box, top, ToQColor(theme_.accent), false);
  for (const double part : parts) {
    const double y = box.bottom() - part * static_cast<double>(most) / top * box.height();
    painter.setPen(ToQColor(theme_.faint));
    painter.drawText(QRectF(box.left() + 4, y - kLabelHeight, box.width() - 8, kLabelHeight),
                     Qt::AlignRight | Qt::AlignBottom,
                     // `most` stays an integer. As a double, 2^64 - 1 would be rounded up and not
                     // fit a uint64_t any more.
                     Bytes(part < 1 ? most / 2 : most));
  }
  // The legend.
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
    legend(tr("reserved under these settings") + value(under), ToQColor(theme_.accent), false,
           false);
  legend(tr("allocated") + value(allocated), ToQColor(timeline::Mix(theme_.panel, theme_.dim, 0.4)),
         true, false);
  // The time axis: both ends, and the time under the mouse.
  painter.setPen(ToQColor(theme_.faint));
  const auto moment = [&](qint64 t) {
    return QString::fromStdString(
        timeline::TimeTextOf(*digest_->trace, t, std::max<int64_t>((end - begin) / 1000, 1)));
  };
  painter.drawText(QRectF(0, height() - kFoot, width(), kFoot), Qt::AlignLeft | Qt::AlignVCenter,
                   moment(begin));
  painter.drawText(QRectF(0, height() - kFoot, width(), kFoot), Qt::AlignRight | Qt::AlignVCenter,
                   moment(end));
  if (hover_ >= 0) {
    painter.setPen(ToQColor(theme_.text.WithAlpha(0.5)));
    painter.drawLine(QPointF(hover_ + 0.5, box.top()), QPointF(hover_ + 0.5, box.bottom()));
    const qint64 t = run::AddSaturating(
        begin, run::ToInt64(static_cast<double>(end - begin) * hover_ / columns));
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
