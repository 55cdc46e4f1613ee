#include "ui/panels/legend.h"

#include <QFontMetrics>
#include <QPainter>
#include <QResizeEvent>
#include <QSizePolicy>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kRow = 19, kSwatch = 9, kGap = 6, kBetween = 12;

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent), theme_(timeline::Theme::Dark()) {
  QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void Legend::set(std::vector<Entry> entries, const timeline::Theme& theme) {
  const bool same_words = std::ranges::equal(entries, entries_, {}, &Entry::second, &Entry::second);
  entries_ = std::move(entries);
  theme_ = theme;
  setVisible(!entries_.empty());
  update();
  if (same_words) return;
  text_widths_.clear();
  updateGeometry();
}

template <class Place>
int Legend::Flow(int width, const Place& place) const {
  const QFont font = PanelFont(timeline::Font::kSmall);
  if (text_widths_.size() != entries_.size() || font != measured_font_) {
    const QFontMetrics metrics(font);
    text_widths_.clear();
    for (const Entry& entry : entries_)
      text_widths_.push_back(metrics.horizontalAdvance(entry.second));
    measured_font_ = font;
  }
  int x = 0, y = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const int w = kSwatch + kGap + text_widths_[i];
    if (x > 0 && x + w > width) {
      x = 0;
      y += kRow;
    }
    place(entry, x, y);
    x += w + kBetween;
  }
  return entries_.empty() ? 0 : y + kRow;
}

int Legend::heightForWidth(int width) const {
  return Flow(width, [](const Entry&, int, int) {});
}

QSize Legend::sizeHint() const { return {200, heightForWidth(width() > 40 ? width() : 280)}; }

void Legend::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (heightForWidth(event->oldSize().width()) != heightForWidth(width())) updateGeometry();
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(PanelFont(timeline::Font::kSmall));
  Flow(width(), [&](const Entry& entry, int x, int y) {
    painter.fillRect(x, y + (kRow - kSwatch) / 2, kSwatch, kSwatch, ToQColor(entry.first));
    painter.setPen(ToQColor(theme_.text));
    painter.drawText(QRect(x + kSwatch + kGap, y, width() - x - kSwatch - kGap, kRow),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(entry.second, Qt::ElideRight,
                                                      width() - x - kSwatch - kGap));
  });
}

}  // namespace vramscope::ui
