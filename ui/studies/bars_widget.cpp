#include "ui/studies/bars_widget.h"

#include <fmt/format.h>

#include <QJsonObject>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kLine = 22, kTop = 4;

std::string Bytes(double bytes) { return run::FormatBytes(static_cast<uint64_t>(std::abs(bytes))); }
std::string Signed(double bytes) { return (bytes > 0 ? "+" : "\u2212") + Bytes(bytes); }

int LineAt(const QPointF& at) { return static_cast<int>(std::floor((at.y() - kTop) / kLine)); }

// Returns a text such as "precision=bf16" or, for a program, "--toggle bf16".
QString SettingsOf(const QJsonObject& bar) {
  const QString toggle = bar.value(QLatin1String("toggle")).toString();
  if (!toggle.isEmpty()) return QStringLiteral("--toggle ") + toggle;
  QStringList settings;
  const QJsonObject changed = bar.value(QLatin1String("settings")).toObject();
  for (auto it = changed.begin(); it != changed.end(); ++it)
    settings << it.key() + QLatin1Char('=') + it.value().toString();
  return settings.join(QLatin1Char(' '));
}

}  // namespace

BarsAndTable ReadBars(const QJsonArray& json,
                      const std::function<QString(size_t, const QString&)>& title,
                      const QString& now) {
  BarsAndTable out{.bars = {},
                   .table = {.columns = {{.title = i18n::Text("Bar"), .width = 160},
                                         {.title = i18n::Text("Peak"), .number = true},
                                         {.title = i18n::Text("Change"), .number = true},
                                         {.title = i18n::Text("Reserved"), .number = true},
                                         {.title = i18n::Text("Step"), .number = true},
                                         {.title = i18n::Text("Settings"), .width = 260}},
                             .rows = {}}};
  double before = 0;
  for (const QJsonValue& value : json) {
    const QJsonObject bar = value.toObject();
    const bool baseline = out.bars.empty();
    const QString name = title(out.bars.size(), bar.value(QLatin1String("name")).toString());
    const double peak = bar.value(QLatin1String("peak")).toDouble();
    out.bars.push_back({name, baseline ? 0 : before, peak, baseline});
    const double change = peak - before;
    Row row;
    row.cells.push_back({.text = name.toStdString()});
    row.cells.push_back({.text = Bytes(peak), .sort = peak, .bytes = static_cast<int64_t>(peak)});
    row.cells.push_back({.text = baseline ? "" : Signed(change),
                         .sort = change,
                         .bytes = static_cast<int64_t>(change),
                         .tone = baseline     ? Cell::Tone::kDim
                                 : change > 0 ? Cell::Tone::kBad
                                              : Cell::Tone::kGood});
    const double reserved = bar.value(QLatin1String("reserved")).toDouble();
    row.cells.push_back({.text = Bytes(reserved), .sort = reserved});
    const double ms = bar.value(QLatin1String("step_ms")).toDouble();
    row.cells.push_back({.text = fmt::format("{:.1f} ms", ms), .sort = ms});
    row.cells.push_back({.text = SettingsOf(bar).toStdString()});
    out.table.rows.push_back(std::move(row));
    before = peak;
  }
  out.bars.push_back({now, 0, before, true});
  return out;
}

BarsWidget::BarsWidget(std::function<void(int, int)> moved) : moved_(std::move(moved)) {
  setMouseTracking(true);
}

void BarsWidget::setBars(std::vector<Bar> bars) {
  bars_ = std::move(bars);
  dragged_ = -1;
  setFixedHeight(static_cast<int>(bars_.size()) * kLine + 8);
  update();
}

void BarsWidget::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  update();
}

bool BarsWidget::Movable(int line) const {
  return line > 0 && line + 1 < static_cast<int>(bars_.size()) && bars_.size() > 3;
}

void BarsWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), ToQColor(theme_.panel));
  double top = 1;
  for (const Bar& bar : bars_) top = std::max({top, bar.from, bar.to});
  int widest = 0;
  for (const Bar& bar : bars_)
    widest = std::max(widest, painter.fontMetrics().horizontalAdvance(bar.name));
  const double left = std::clamp(widest + 24, 150, std::max(150, width() / 3));
  const double right = 100, plot = std::max(50.0, width() - left - right);
  for (size_t i = 0; i < bars_.size(); ++i) {
    const Bar& bar = bars_[i];
    const double y = kTop + static_cast<double>(i) * kLine;
    const double low = std::min(bar.from, bar.to), high = std::max(bar.from, bar.to);
    if (static_cast<int>(i) == dragged_)
      painter.fillRect(QRectF(0, y - 2, width(), kLine), ToQColor(theme_.raised));
    // The sign in the text shows the direction, so the color is not needed to recognize it.
    const timeline::Color colour = bar.whole ? timeline::Mix(theme_.panel, theme_.dim, 0.6)
                                   : bar.to > bar.from ? theme_.bad
                                                       : theme_.good;
    painter.fillRect(
        QRectF(left + low / top * plot, y, std::max(1.0, (high - low) / top * plot), kLine - 6),
        ToQColor(colour));
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(
        QRectF(4, y, left - 12, kLine - 4), Qt::AlignRight | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(bar.name, Qt::ElideRight, static_cast<int>(left) - 12));
    const double change = bar.to - bar.from;
    painter.drawText(QRectF(left + plot + 6, y, right, kLine - 4), Qt::AlignVCenter,
                     QString::fromStdString(bar.whole ? Bytes(change) : Signed(change)));
  }
  if (dragged_ < 0 || target_ == dragged_) return;
  const int line = target_ > dragged_ ? target_ + 1 : target_;
  painter.fillRect(QRectF(0, kTop + line * kLine - 4, width(), 2), ToQColor(theme_.accent));
}

void BarsWidget::mousePressEvent(QMouseEvent* event) {
  const int line = LineAt(event->position());
  if (event->button() != Qt::LeftButton || !Movable(line)) return;
  dragged_ = target_ = line;
  setCursor(Qt::ClosedHandCursor);
  update();
}

void BarsWidget::mouseMoveEvent(QMouseEvent* event) {
  const int line = LineAt(event->position());
  if (dragged_ < 0) {
    setCursor(Movable(line) ? Qt::OpenHandCursor : Qt::ArrowCursor);
    return;
  }
  target_ = std::clamp(line, 1, static_cast<int>(bars_.size()) - 2);
  update();
}

void BarsWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || dragged_ < 0) return;
  const int from = std::exchange(dragged_, -1);
  setCursor(Qt::ArrowCursor);
  update();
  if (target_ != from) moved_(from - 1, target_ - 1);
}

}  // namespace vramscope::ui
