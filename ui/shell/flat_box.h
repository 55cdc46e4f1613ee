// The boxes that the window's style draws. A box has, from outside to inside, a margin, a border, a
// padding and its contents, as in a style sheet.
//
//   Box box{.padding = {12, 4, 12, 4}, .border = Sides(1), .fill = colors.raised, .radius = 5};
//   QSize size = box.Around(text_size);
//   box.Draw(painter, option->rect);
//
// Values only, but Draw() needs the thread of its painter.
#pragma once

#include <QColor>
#include <QMargins>
#include <QRect>
#include <QSize>

#include "ui/timeline/theme.h"

class QPainter;

namespace vramscope::ui {

// The theme's colours for widgets, some of them mixed from two colours of the theme.
struct StyleColors {
  explicit StyleColors(const timeline::Theme& theme = timeline::Theme::Dark());
  bool dark;
  QColor ground, panel, raised, line, text, dim, faint, label;
  QColor accent, accent_hover, on_accent;  // on_accent: text on the accent colour
  QColor selected, hover;  // grounds of selected rows, and of things under the pointer
  QColor good, bad, warning;
};

constexpr QMargins Sides(int width) { return {width, width, width, width}; }

struct Box {
  QMargins margin{}, border{}, padding{};
  QColor fill{};         // no colour: not filled
  QColor line{};         // of the border; no colour: not drawn
  QColor bottom_line{};  // of the lower border, if it differs
  int radius = 0;        // of the corners; 0 if the box is too small for it

  QRect BorderRect(const QRect& rect) const { return rect.marginsRemoved(margin); }
  QRect PaddingRect(const QRect& rect) const { return BorderRect(rect).marginsRemoved(border); }
  QRect Contents(const QRect& rect) const { return PaddingRect(rect).marginsRemoved(padding); }
  QSize Around(const QSize& contents) const { return contents.grownBy(margin + border + padding); }
  void Draw(QPainter* painter, const QRect& rect) const;
};

}  // namespace vramscope::ui
