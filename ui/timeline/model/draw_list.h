// A list of plain primitives in logical pixels. The scene builds it, a renderer (raster or OpenGL)
// draws it, and tests read it. The same list is used for all frames, because Clear() keeps the
// list's memory for the next frame.
//
//   DrawList d;
//   d.PushClip({12, 0, 800, 300});
//   d.Fill({12, 40, 100, 20}, theme.phase(Phase::kForward));
//   d.Text("forward 85.5 ms", {18, 40, 88, 20}, Font::kBodyBold, theme.on_color);
//   d.PopClip();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/timeline/theme.h"

namespace vramscope::ui::timeline {

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  float right() const { return x + w; }
  float bottom() const { return y + h; }
  bool empty() const { return w <= 0 || h <= 0; }
  bool Contains(double px, double py) const {
    return px >= x && px < right() && py >= y && py < bottom();
  }
  Rect Intersect(const Rect& o) const;
  Rect Inset(float dx, float dy) const { return {x + dx, y + dy, w - 2 * dx, h - 2 * dy}; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

// Body text has 13 px, and small (secondary) text 11 px. The mono fonts are for numbers, and kTitle
// is for the title.
enum class Font : uint8_t { kBody, kBodyBold, kSmall, kSmallBold, kMono, kMonoSmall, kTitle };
inline constexpr int kFontCount = 7;
enum class Align : uint8_t { kLeft, kCenter, kRight };

// Measures the widths of texts. The renderers implement it.
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  virtual float Width(std::string_view utf8, Font font) const = 0;
};

// Shortens `utf8` to `max_width` by cutting its end, and adds an ellipsis. Returns "" if fewer than
// 3 characters fit.
std::string Elide(const TextMeasure& measure, std::string_view utf8, Font font, float max_width);
// Like Elide(), but cuts the beginning. It is for module paths, which differ at their ends.
std::string ElideStart(const TextMeasure& measure, std::string_view utf8, Font font,
                       float max_width);
// Like Elide(), but cuts the middle.
std::string ElideMiddle(const TextMeasure& measure, std::string_view utf8, Font font,
                        float max_width);

struct Dash {
  float on = 0, off = 0;  // lengths of dash and gap; 0: solid
};

struct FillRect {  // edges are not rounded to pixels
  float x0, y0, x1, y1;
  uint32_t argb;
};
struct BoxPrim {
  Rect rect;
  float radius, stroke_width;
  uint32_t fill, stroke;  // colors; with alpha 0, the part is not drawn
};
struct LinePrim {
  float x0, y0, x1, y1, width;
  Dash dash;
  uint32_t argb;
};
struct PolylinePrim {
  uint32_t first, count;  // range in the list's points
  float width;
  Dash dash;
  uint32_t argb;
};
struct TextPrim {
  uint32_t first, count;  // range in the list's bytes of text
  Rect box;               // the text is vertically centred in the box
  Font font;
  Align align;
  uint32_t argb;
};
// Stacked columns, side by side over `area`. Layer l of column i reaches from edges[l * columns +
// i] to edges[(l + 1) * columns + i], in logical y. Layer 0 is the lowest, so edges decrease from
// layer to layer.
struct StackPrim {
  Rect area;
  uint32_t columns, layers;
  uint32_t first_edge;   // index of the first of (layers + 1) * columns edges (floats)
  uint32_t first_color;  // index of the first color; there is one per layer
};
// Columns that are as high as `area`, side by side. Each column has a color (not premultiplied). A
// column with color 0 is not drawn.
struct StripPrim {
  Rect area;
  uint32_t columns, first_color;
};
// An image in device pixels (premultiplied ARGB), drawn over `area`.
struct ImagePrim {
  Rect area;
  uint32_t width, height, first_pixel;
};
struct CirclePrim {
  float x, y, radius, stroke_width;
  uint32_t fill, stroke;
};

enum class Prim : uint8_t { kFill, kBox, kLine, kPolyline, kText, kStack, kStrip, kImage, kCircle };

struct Command {
  Prim prim;
  uint32_t clip;          // index in the list's clips
  uint32_t first, count;  // range in the list of primitives of this kind
};

struct Point {
  float x, y;
};

class DrawList {
 public:
  void Clear();
  void PushClip(const Rect& rect);  // the new clip is the intersection with the surrounding clip
  void PopClip();

  void Fill(const Rect& rect, Color color);
  void FillEdges(float x0, float y0, float x1, float y1, uint32_t argb);
  void Box(const Rect& rect, float radius, Color fill, Color stroke = {0, 0, 0, 0},
           float stroke_width = 1);
  void Line(float x0, float y0, float x1, float y1, Color color, float width = 1, Dash dash = {});
  void Polyline(std::span<const Point> points, Color color, float width = 1, Dash dash = {});
  void Text(std::string_view utf8, const Rect& box, Font font, Color color,
            Align align = Align::kLeft);
  void Circle(float x, float y, float radius, Color fill, Color stroke, float stroke_width);
  // Adds a stack. The caller must set edges() and colors() of the returned primitive.
  StackPrim& Stack(const Rect& area, uint32_t columns, uint32_t layers);
  std::span<float> edges(const StackPrim& s) {
    return {edges_.data() + s.first_edge, size_t{s.layers + 1} * s.columns};
  }
  std::span<uint32_t> colors(const StackPrim& s) {
    return {colors_.data() + s.first_color, s.layers};
  }
  // Adds a strip. Its columns are transparent until the caller sets strip().
  StripPrim& Strip(const Rect& area, uint32_t columns);
  std::span<uint32_t> strip(const StripPrim& s) {
    return {colors_.data() + s.first_color, s.columns};
  }
  // Adds an image. It is transparent until the caller sets pixels().
  ImagePrim& Image(const Rect& area, uint32_t width, uint32_t height);
  std::span<uint32_t> pixels(const ImagePrim& i) {
    return {pixels_.data() + i.first_pixel, size_t{i.width} * i.height};
  }

  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<Rect>& clips() const { return clips_; }
  const std::vector<FillRect>& fills() const { return fills_; }
  const std::vector<BoxPrim>& boxes() const { return boxes_; }
  const std::vector<LinePrim>& lines() const { return lines_; }
  const std::vector<PolylinePrim>& polylines() const { return polylines_; }
  const std::vector<TextPrim>& texts() const { return texts_; }
  const std::vector<StackPrim>& stacks() const { return stacks_; }
  const std::vector<StripPrim>& strips() const { return strips_; }
  const std::vector<ImagePrim>& images() const { return images_; }
  const std::vector<CirclePrim>& circles() const { return circles_; }
  std::span<const Point> points(const PolylinePrim& p) const {
    return {points_.data() + p.first, p.count};
  }
  std::string_view text(const TextPrim& t) const { return {chars_.data() + t.first, t.count}; }
  std::span<const float> edges(const StackPrim& s) const {
    return {edges_.data() + s.first_edge, size_t{s.layers + 1} * s.columns};
  }
  std::span<const uint32_t> colors(const StackPrim& s) const {
    return {colors_.data() + s.first_color, s.layers};
  }
  std::span<const uint32_t> strip(const StripPrim& s) const {
    return {colors_.data() + s.first_color, s.columns};
  }
  std::span<const uint32_t> pixels(const ImagePrim& i) const {
    return {pixels_.data() + i.first_pixel, size_t{i.width} * i.height};
  }

 private:
  void Add(Prim prim, size_t row);

  std::vector<Command> commands_;
  std::vector<Rect> clips_;
  std::vector<uint32_t> clip_stack_;
  std::vector<FillRect> fills_;
  std::vector<BoxPrim> boxes_;
  std::vector<LinePrim> lines_;
  std::vector<PolylinePrim> polylines_;
  std::vector<TextPrim> texts_;
  std::vector<StackPrim> stacks_;
  std::vector<StripPrim> strips_;
  std::vector<ImagePrim> images_;
  std::vector<CirclePrim> circles_;
  std::vector<Point> points_;
  std::string chars_;
  std::vector<float> edges_;
  std::vector<uint32_t> colors_;
  std::vector<uint32_t> pixels_;
};

}  // namespace vramscope::ui::timeline
