#include "ui/timeline/raster/raster_renderer.h"

#include <QPainter>
#include <QPen>
#include <algorithm>
#include <cmath>
#include <span>

#include "ui/timeline/raster/fonts.h"
#include "ui/timeline/raster/pixel_fill.h"

namespace vramscope::ui::timeline {
namespace {

constexpr size_t kMaxRememberedWidths = 20000;
constexpr size_t kMostLaidOut = 4000;

QRectF ToQt(const Rect& r) { return {r.x, r.y, r.w, r.h}; }
QColor ToQt(uint32_t argb) { return QColor::fromRgba(argb); }

QPen MakePen(uint32_t argb, float width, Dash dash) {
  QPen pen(ToQt(argb), width);
  pen.setCapStyle(Qt::FlatCap);
  pen.setJoinStyle(Qt::MiterJoin);
  if (dash.on > 0) {
    pen.setDashPattern(
        {dash.on / static_cast<double>(width), dash.off / static_cast<double>(width)});
  }
  return pen;
}

// Straight lines that cover whole pixels, which most do; false: they are not all of that kind.
bool FillLines(const DrawList& list, const Command& c, const PixelTarget& target) {
  const auto lines = std::span(list.lines()).subspan(c.first, c.count);
  const auto rect_of = [](const LinePrim& l) {
    const float half = l.width / 2;
    return l.x0 == l.x1 ? FillRect{l.x0 - half, std::min(l.y0, l.y1), l.x0 + half,
                                   std::max(l.y0, l.y1), l.argb}
                        : FillRect{std::min(l.x0, l.x1), l.y0 - half, std::max(l.x0, l.x1),
                                   l.y0 + half, l.argb};
  };
  const auto whole = [&](float v) {
    const auto pixels = static_cast<float>(v * target.scale);
    return std::abs(pixels - std::round(pixels)) < 0.01f;
  };
  const auto fills = [&](const LinePrim& l) {
    if (l.dash.on > 0 || (l.x0 != l.x1) == (l.y0 != l.y1)) return false;
    const FillRect r = rect_of(l);
    return l.x0 == l.x1 ? whole(r.x0) && whole(r.x1) : whole(r.y0) && whole(r.y1);
  };
  if (!std::ranges::all_of(lines, fills)) return false;
  for (const LinePrim& l : lines) {
    const FillRect r = rect_of(l);
    FillRects(target, list.clips()[c.clip], {&r, 1});
  }
  return true;
}

}  // namespace

QtTextMeasure::QtTextMeasure() {
  for (int i = 0; i < kFontCount; ++i) {
    fonts_[i] = CanvasFont(static_cast<Font>(i));
    metrics_[i] = std::make_unique<QFontMetricsF>(fonts_[i]);
  }
}

float QtTextMeasure::Width(std::string_view utf8, Font font) const {
  auto& widths = widths_[static_cast<size_t>(font)];
  std::string key(utf8);
  auto found = widths.find(key);
  if (found != widths.end()) return found->second;
  if (widths.size() > kMaxRememberedWidths) widths.clear();
  auto width = static_cast<float>(
      metrics(font).horizontalAdvance(QString::fromUtf8(utf8.data(), qsizetype(utf8.size()))));
  widths.emplace(std::move(key), width);
  return width;
}

void RasterRenderer::Render(const DrawList& list, QImage* image) {
  double scale = image->devicePixelRatioF();
  // Taken before the painter begins: bits() of an image that is being painted on would copy it.
  PixelTarget target{reinterpret_cast<uint32_t*>(image->bits()), image->width(), image->height(),
                     static_cast<int>(image->bytesPerLine() / 4), scale};
  QPainter painter(image);
  painter.setRenderHint(QPainter::Antialiasing);
  uint32_t clip = ~0u;
  for (const Command& c : list.commands()) {
    const Rect& bounds = list.clips()[c.clip];
    if (c.prim == Prim::kFill) {
      FillRects(target, bounds, {list.fills().data() + c.first, c.count});
    } else if (c.prim == Prim::kLine && FillLines(list, c, target)) {
      continue;
    } else if (c.prim == Prim::kStack) {
      for (uint32_t i = c.first; i < c.first + c.count; ++i) {
        const StackPrim& s = list.stacks()[i];
        FillStack(target, bounds, s, list.edges(s), list.colors(s));
      }
    } else if (c.prim == Prim::kStrip) {
      for (uint32_t i = c.first; i < c.first + c.count; ++i) {
        const StripPrim& s = list.strips()[i];
        FillStrip(target, bounds, s, list.strip(s));
      }
    } else if (c.prim == Prim::kImage) {
      for (uint32_t i = c.first; i < c.first + c.count; ++i) {
        const ImagePrim& p = list.images()[i];
        FillImage(target, bounds, p, list.pixels(p));
      }
    } else {
      if (clip != c.clip) {
        clip = c.clip;
        painter.setClipRect(ToQt(bounds));
      }
      PaintCommand(list, c, &painter);
    }
  }
}

void RasterRenderer::Paint(const DrawList& list, QPainter* painter) {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  uint32_t clip = ~0u;
  for (const Command& c : list.commands()) {
    if (clip != c.clip) {
      clip = c.clip;
      painter->setClipRect(ToQt(list.clips()[clip]));
    }
    PaintCommand(list, c, painter);
  }
  painter->restore();
}

void RasterRenderer::PaintCommand(const DrawList& list, const Command& c, QPainter* painter) {
  for (uint32_t i = c.first; i < c.first + c.count; ++i) {
    switch (c.prim) {
      case Prim::kFill: {
        const FillRect& r = list.fills()[i];
        painter->fillRect(QRectF(r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0), ToQt(r.argb));
        break;
      }
      case Prim::kBox: {
        const BoxPrim& b = list.boxes()[i];
        QRectF rect = ToQt(b.rect);
        painter->setBrush(b.fill >> 24 ? QBrush(ToQt(b.fill)) : Qt::NoBrush);
        if (b.stroke >> 24) {
          painter->setPen(MakePen(b.stroke, b.stroke_width, {}));
          double half = b.stroke_width / 2;
          rect.adjust(half, half, -half, -half);
        } else {
          painter->setPen(Qt::NoPen);
        }
        if (b.radius > 0) {
          painter->drawRoundedRect(rect, b.radius, b.radius);
        } else {
          painter->drawRect(rect);
        }
        break;
      }
      case Prim::kLine: {
        const LinePrim& l = list.lines()[i];
        painter->setPen(MakePen(l.argb, l.width, l.dash));
        painter->drawLine(QPointF(l.x0, l.y0), QPointF(l.x1, l.y1));
        break;
      }
      case Prim::kPolyline: {
        const PolylinePrim& p = list.polylines()[i];
        painter->setPen(MakePen(p.argb, p.width, p.dash));
        painter->setBrush(Qt::NoBrush);
        std::vector<QPointF> points;
        points.reserve(p.count);
        for (const Point& q : list.points(p)) points.emplace_back(q.x, q.y);
        painter->drawPolyline(points.data(), static_cast<int>(points.size()));
        break;
      }
      case Prim::kText:
        PaintText(list, list.texts()[i], painter);
        break;
      case Prim::kCircle: {
        const CirclePrim& o = list.circles()[i];
        painter->setBrush(o.fill >> 24 ? QBrush(ToQt(o.fill)) : Qt::NoBrush);
        painter->setPen(o.stroke >> 24 ? MakePen(o.stroke, o.stroke_width, {}) : QPen(Qt::NoPen));
        painter->drawEllipse(QPointF(o.x, o.y), o.radius, o.radius);
        break;
      }
      case Prim::kStack:
      case Prim::kStrip:
      case Prim::kImage:
        break;  // only in data layers, which are rendered into an image
    }
  }
}

void RasterRenderer::PaintText(const DrawList& list, const TextPrim& t, QPainter* painter) {
  std::string_view utf8 = list.text(t);
  const QFontMetricsF& metrics = measure_.metrics(t.font);
  double x = t.box.x;
  if (t.align != Align::kLeft) {
    double room = t.box.w - measure_.Width(utf8, t.font);
    x += t.align == Align::kCenter ? room / 2 : room;
  }
  // Capitals and digits in the optical middle.
  double y = t.box.y + t.box.h / 2 + metrics.capHeight() / 2;
  painter->setFont(measure_.font(t.font));
  painter->setPen(ToQt(t.argb));
  // Most of what is written stays from frame to frame: it is laid out once.
  auto& laid_out = laid_out_[static_cast<size_t>(t.font)];
  auto found = laid_out.find(utf8);
  if (found == laid_out.end()) {
    if (laid_out.size() > kMostLaidOut) laid_out.clear();
    QStaticText text(QString::fromUtf8(utf8.data(), qsizetype(utf8.size())));
    text.setTextFormat(Qt::PlainText);
    text.setPerformanceHint(QStaticText::AggressiveCaching);
    found = laid_out.emplace(std::string(utf8), std::move(text)).first;
  }
  painter->drawStaticText(QPointF(x, std::round(y * 2) / 2 - metrics.ascent()), found->second);
}

}  // namespace vramscope::ui::timeline
