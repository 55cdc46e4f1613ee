#include "ui/shell/flat_box.h"

#include <QPainter>
#include <QPainterPath>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

bool Visible(const QColor& color) { return color.isValid() && color.alpha() > 0; }

// Draws the sides of a border without round corners. The right side covers the corner below it.
void DrawSides(QPainter* painter, const QRectF& outer, const Box& box) {
  const QColor bottom = box.bottom_line.isValid() ? box.bottom_line : box.line;
  const QRectF inner = outer.marginsRemoved(QMarginsF(box.border));
  const bool same = bottom == box.line;
  if (Visible(bottom))
    painter->fillRect(QRectF(QPointF(outer.left(), inner.bottom()),
                             QPointF(same ? outer.right() : inner.right(), outer.bottom())),
                      bottom);
  if (!Visible(box.line)) return;
  painter->fillRect(QRectF(outer.topLeft(), QPointF(outer.right(), inner.top())), box.line);
  painter->fillRect(QRectF(QPointF(outer.left(), inner.top()),
                           QPointF(inner.left(), same ? inner.bottom() : outer.bottom())),
                    box.line);
  painter->fillRect(QRectF(QPointF(inner.right(), inner.top()),
                           QPointF(outer.right(), same ? inner.bottom() : outer.bottom())),
                    box.line);
}

// Draws the arcs in the corners of a border, each in two halves whose ends overlap, which gives the
// corners the weight of the straight sides.
void DrawCorners(QPainter* painter, const QRectF& outer, const Box& box) {
  constexpr int kHalf = 45 * 16;  // in sixteenths of a degree, as QPainter::drawArc() expects
  const double width = box.border.left(), size = 2 * box.radius - width;
  const double left = outer.left() + width / 2, top = outer.top() + width / 2;
  const double right = outer.right() - width / 2 - size, bottom = outer.bottom() - width / 2 - size;
  const QPointF corners[] = {{right, top}, {left, top}, {left, bottom}, {right, bottom}};
  QPen pen(box.line, width);
  pen.setCapStyle(Qt::SquareCap);
  const QPen before = painter->pen();
  painter->setPen(pen);
  int angle = 0;
  for (const QPointF& corner : corners)
    for (int half = 0; half < 2; ++half, angle += kHalf)
      painter->drawArc(QRectF(corner, QSizeF(size, size)), angle, kHalf);
  painter->setPen(before);
}

}  // namespace

StyleColors::StyleColors(const timeline::Theme& theme)
    : dark(theme.dark),
      ground(ToQColor(theme.ground)),
      panel(ToQColor(theme.panel)),
      raised(ToQColor(theme.raised)),
      line(ToQColor(theme.line)),
      text(ToQColor(theme.text)),
      dim(ToQColor(theme.dim)),
      faint(ToQColor(theme.faint)),
      label(ToQColor(timeline::Mix(theme.dim, theme.text, 0.35))),
      accent(ToQColor(theme.accent)),
      accent_hover(ToQColor(timeline::Mix(theme.accent, theme.text, 0.15))),
      on_accent(ToQColor(theme.dark ? theme.on_color : timeline::Color::Rgb(0xffffff))),
      selected(ToQColor(timeline::Mix(theme.panel, theme.accent, theme.dark ? 0.16 : 0.14))),
      hover(ToQColor(timeline::Mix(theme.raised, theme.text, 0.07))),
      good(ToQColor(theme.good)),
      bad(ToQColor(theme.bad)),
      warning(ToQColor(theme.warning)) {}

void Box::Draw(QPainter* painter, const QRect& rect) const {
  const QRect whole = BorderRect(rect);
  if (whole.isEmpty()) return;
  const QRectF outer(whole);
  const bool round = radius > 0 && 2 * radius <= whole.width() && 2 * radius <= whole.height();
  const bool was_smooth = painter->testRenderHint(QPainter::Antialiasing);
  painter->setRenderHint(QPainter::Antialiasing);
  if (Visible(fill)) {
    if (round) {
      // The fill ends in the middle of the border, so that the corners have no gap between them.
      const double half = border.left() / 2.0;
      QPainterPath path;
      path.addRoundedRect(outer.adjusted(half, half, -half, -half), radius - half, radius - half);
      painter->fillPath(path, fill);
    } else {
      painter->fillRect(whole, fill);
    }
  }
  if (round && !border.isNull() && Visible(line)) {
    const double r = radius, width = border.left();
    for (const double x : {outer.left(), outer.right() - width})
      painter->fillRect(QRectF(x, outer.top() + r, width, outer.height() - 2 * r), line);
    for (const double y : {outer.top(), outer.bottom() - width})
      painter->fillRect(QRectF(outer.left() + r, y, outer.width() - 2 * r, width), line);
    DrawCorners(painter, outer, *this);
  } else if (!round && !border.isNull()) {
    DrawSides(painter, outer, *this);
  }
  painter->setRenderHint(QPainter::Antialiasing, was_smooth);
}

}  // namespace vramscope::ui
