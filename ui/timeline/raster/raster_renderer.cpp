#include "ui/timeline/raster/raster_renderer.h"

#include <QPainter>
#include <QPen>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ui/timeline/raster/fonts.h"
#include "ui/timeline/raster/shape_fill.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kBandBytes = 384 << 10;
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

void PaintLine(const DrawList&, const LinePrim& l, QPainter* painter) {
  painter->setPen(MakePen(l.argb, l.width, l.dash));
  painter->drawLine(QPointF(l.x0, l.y0), QPointF(l.x1, l.y1));
}

void PaintLine(const DrawList& list, const PolylinePrim& p, QPainter* painter) {
  painter->setPen(MakePen(p.argb, p.width, p.dash));
  painter->setBrush(Qt::NoBrush);
  std::vector<QPointF> points;
  points.reserve(p.count);
  for (const Point& q : list.points(p)) points.emplace_back(q.x, q.y);
  painter->drawPolyline(points.data(), static_cast<int>(points.size()));
}

// With a QPainter, draws the few shapes that shape_fill.h cannot draw, on the rows of this band.
template <class LineOrPolyline>
void PaintInto(const PixelTarget& t, const Rect& clip, const DrawList& list,
               const LineOrPolyline& line) {
  QImage rows(reinterpret_cast<uchar*>(t.pixels + static_cast<ptrdiff_t>(t.first_row) * t.stride),
              t.width, t.last_row - t.first_row, t.stride * qsizetype{4}, QImage::Format_RGB32);
  rows.setDevicePixelRatio(t.scale);
  QPainter painter(&rows);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(0, -t.first_row / t.scale);
  painter.setClipRect(ToQt(clip));
  PaintLine(list, line, &painter);
}

}  // namespace

void RasterRenderer::Render(const DrawList& list, QImage* image) {
  const double scale = image->devicePixelRatioF();
  const PixelTarget target{reinterpret_cast<uint32_t*>(image->bits()), image->width(),
                           image->height(), static_cast<int>(image->bytesPerLine() / 4), scale};
  if (target.height <= 0 || target.width <= 0) return;
  masks_.Begin(scale);
  placed_.clear();
  for (const TextPrim& t : list.texts()) placed_.push_back(masks_.Place(list.text(t), t));
  const int rows = band_rows_ > 0
                       ? band_rows_
                       : std::max(kBandBytes / static_cast<int>(image->bytesPerLine()), 16);
  crew_->Do(static_cast<size_t>((target.height + rows - 1) / rows), [&](size_t band) {
    PixelTarget part = target;
    part.first_row = static_cast<int>(band) * rows;
    part.last_row = std::min(part.first_row + rows, target.height);
    FillBand(list, part);
  });
}

// Several threads call this at the same time, each for its own rows. So Qt must not draw text here.
void RasterRenderer::FillBand(const DrawList& list, const PixelTarget& target) const {
  const auto each = [](const auto& rows, const Command& c) {
    return std::span(rows).subspan(c.first, c.count);
  };
  const float top = static_cast<float>(target.first_row / target.scale) - 1;
  const float bottom = static_cast<float>(target.last_row / target.scale) + 1;
  for (const Command& c : list.commands()) {
    const Rect& clip = list.clips()[c.clip];
    if (clip.y > bottom || clip.bottom() < top) continue;
    switch (c.prim) {
      case Prim::kFill:
        FillRects(target, clip, each(list.fills(), c));
        break;
      case Prim::kBox:
        for (const BoxPrim& box : each(list.boxes(), c)) FillBox(target, clip, box);
        break;
      case Prim::kLine:
        for (const LinePrim& line : each(list.lines(), c))
          if (!FillLine(target, clip, line)) PaintInto(target, clip, list, line);
        break;
      case Prim::kPolyline:
        for (const PolylinePrim& line : each(list.polylines(), c))
          if (!FillPolyline(target, clip, list.points(line), line))
            PaintInto(target, clip, list, line);
        break;
      case Prim::kText:
        for (uint32_t i = c.first; i < c.first + c.count; ++i) {
          const TextMasks::Placed& text = placed_[i];
          if (text.mask != nullptr)
            FillMask(target, clip, *text.mask, text.x, text.y, list.texts()[i].argb);
        }
        break;
      case Prim::kStack:
        for (const StackPrim& s : each(list.stacks(), c))
          FillStack(target, clip, s, list.edges(s), list.colors(s));
        break;
      case Prim::kStrip:
        for (const StripPrim& s : each(list.strips(), c)) FillStrip(target, clip, s, list.strip(s));
        break;
      case Prim::kImage:
        for (const ImagePrim& p : each(list.images(), c))
          FillImage(target, clip, p, list.pixels(p));
        break;
      case Prim::kCircle:
        for (const CirclePrim& circle : each(list.circles(), c)) FillCircle(target, clip, circle);
        break;
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
      case Prim::kLine:
        PaintLine(list, list.lines()[i], painter);
        break;
      case Prim::kPolyline:
        PaintLine(list, list.polylines()[i], painter);
        break;
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
        PaintStack(list, list.stacks()[i], painter);
        break;
      case Prim::kStrip: {
        const StripPrim& s = list.strips()[i];
        const auto colors = list.strip(s);
        const double width = double{s.area.w} / s.columns;
        for (uint32_t c = 0; c < s.columns; ++c)
          if (colors[c] >> 24)
            painter->fillRect(QRectF(s.area.x + c * width, s.area.y, width, s.area.h),
                              ToQt(colors[c]));
        break;
      }
      case Prim::kImage: {
        const ImagePrim& image = list.images()[i];
        const auto pixels = list.pixels(image);
        painter->drawImage(
            QRectF(image.area.x, image.area.y, image.area.w, image.area.h),
            QImage(reinterpret_cast<const uchar*>(pixels.data()), static_cast<int>(image.width),
                   static_cast<int>(image.height), QImage::Format_ARGB32_Premultiplied));
        break;
      }
    }
  }
}

// Draws each layer as one outline of steps, along its upper edge and back along its lower edge.
void RasterRenderer::PaintStack(const DrawList& list, const StackPrim& s, QPainter* painter) {
  const auto edges = list.edges(s);
  const auto colors = list.colors(s);
  const double width = double{s.area.w} / std::max(s.columns, 1u);
  painter->setPen(Qt::NoPen);
  for (uint32_t layer = 0; layer < s.layers; ++layer) {
    if ((colors[layer] >> 24) == 0) continue;
    QPolygonF outline;
    for (uint32_t c = 0; c < s.columns; ++c)
      for (const uint32_t side : {c, c + 1})
        outline << QPointF(s.area.x + side * width, edges[(layer + 1) * s.columns + c]);
    for (uint32_t c = s.columns; c-- > 0;)
      for (const uint32_t side : {c + 1, c})
        outline << QPointF(s.area.x + side * width, edges[layer * s.columns + c]);
    painter->setBrush(ToQt(colors[layer]));
    painter->drawPolygon(outline);
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
  // Center the text by the height of its capitals and digits.
  double y = t.box.y + t.box.h / 2 + metrics.capHeight() / 2;
  painter->setFont(measure_.font(t.font));
  painter->setPen(ToQt(t.argb));
  // Keep the layout of each text, because most texts appear in the next frame again.
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
