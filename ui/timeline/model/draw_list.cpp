#include "ui/timeline/model/draw_list.h"

#include <algorithm>

namespace vramscope::ui::timeline {
namespace {

constexpr Rect kEverything{-1e7f, -1e7f, 2e7f, 2e7f};
constexpr std::string_view kEllipsis = "…";

// Returns the index at which the UTF-8 character that contains byte i begins.
size_t CharBegin(std::string_view s, size_t i) {
  while (i > 0 && i < s.size() && (static_cast<unsigned char>(s[i]) & 0xc0) == 0x80) --i;
  return i;
}

}  // namespace

Rect Rect::Intersect(const Rect& o) const {
  float x0 = std::max(x, o.x), y0 = std::max(y, o.y);
  float x1 = std::min(right(), o.right()), y1 = std::min(bottom(), o.bottom());
  return {x0, y0, std::max(x1 - x0, 0.0f), std::max(y1 - y0, 0.0f)};
}

std::string Elide(const TextMeasure& measure, std::string_view utf8, Font font, float max_width) {
  if (max_width < 8) return {};
  if (measure.Width(utf8, font) <= max_width) return std::string(utf8);
  float room = max_width - measure.Width(kEllipsis, font);
  size_t low = 0, high = utf8.size();
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    if (measure.Width(utf8.substr(0, CharBegin(utf8, middle)), font) <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  low = CharBegin(utf8, low);
  while (low > 0 && (utf8[low - 1] == ' ' || utf8[low - 1] == '.')) --low;
  if (low < 3) return {};
  return std::string(utf8.substr(0, low)) + std::string(kEllipsis);
}

std::string ElideStart(const TextMeasure& measure, std::string_view utf8, Font font,
                       float max_width) {
  if (max_width < 8) return {};
  if (measure.Width(utf8, font) <= max_width) return std::string(utf8);
  float room = max_width - measure.Width(kEllipsis, font);
  // Find the smallest number of bytes that must be left out.
  size_t low = 0, high = utf8.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (measure.Width(utf8.substr(CharBegin(utf8, middle)), font) <= room) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  while (low < utf8.size() && CharBegin(utf8, low) != low) ++low;
  while (low < utf8.size() && (utf8[low] == ' ' || utf8[low] == '.')) ++low;
  if (utf8.size() - low < 3) return {};
  return std::string(kEllipsis) + std::string(utf8.substr(low));
}

std::string ElideMiddle(const TextMeasure& measure, std::string_view utf8, Font font,
                        float max_width) {
  if (max_width < 8) return {};
  if (measure.Width(utf8, font) <= max_width) return std::string(utf8);
  const float room = max_width - measure.Width(kEllipsis, font);
  // Find the largest number of bytes that fit. Half of them are from each end.
  const auto ends = [&](size_t bytes) {
    size_t tail = utf8.size() - bytes / 2;
    while (tail < utf8.size() && CharBegin(utf8, tail) != tail) ++tail;
    return std::pair(utf8.substr(0, CharBegin(utf8, bytes - bytes / 2)), utf8.substr(tail));
  };
  size_t low = 0, high = utf8.size();
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    const auto [head, tail] = ends(middle);
    if (measure.Width(head, font) + measure.Width(tail, font) <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const auto [head, tail] = ends(low);
  return std::string(head) + std::string(kEllipsis) + std::string(tail);
}

void DrawList::Clear() {
  commands_.clear();
  clips_.assign(1, kEverything);
  clip_stack_.assign(1, 0);
  fills_.clear();
  boxes_.clear();
  lines_.clear();
  polylines_.clear();
  texts_.clear();
  stacks_.clear();
  strips_.clear();
  images_.clear();
  circles_.clear();
  points_.clear();
  chars_.clear();
  edges_.clear();
  colors_.clear();
  pixels_.clear();
}

void DrawList::PushClip(const Rect& rect) {
  if (clips_.empty()) Clear();
  clips_.push_back(rect.Intersect(clips_[clip_stack_.back()]));
  clip_stack_.push_back(static_cast<uint32_t>(clips_.size() - 1));
}

void DrawList::PopClip() {
  if (clip_stack_.size() > 1) clip_stack_.pop_back();
}

void DrawList::Add(Prim prim, size_t row) {
  if (clips_.empty()) {
    clips_.assign(1, kEverything);
    clip_stack_.assign(1, 0);
  }
  uint32_t clip = clip_stack_.back();
  if (!commands_.empty() && commands_.back().prim == prim && commands_.back().clip == clip) {
    ++commands_.back().count;
  } else {
    commands_.push_back({prim, clip, static_cast<uint32_t>(row), 1});
  }
}

void DrawList::Fill(const Rect& r, Color color) {
  FillEdges(r.x, r.y, r.right(), r.bottom(), color.argb());
}

void DrawList::FillEdges(float x0, float y0, float x1, float y1, uint32_t argb) {
  fills_.push_back({x0, y0, x1, y1, argb});
  Add(Prim::kFill, fills_.size() - 1);
}

void DrawList::Box(const Rect& rect, float radius, Color fill, Color stroke, float stroke_width) {
  boxes_.push_back({rect, radius, stroke_width, fill.argb(), stroke.argb()});
  Add(Prim::kBox, boxes_.size() - 1);
}

void DrawList::Line(float x0, float y0, float x1, float y1, Color color, float width, Dash dash) {
  lines_.push_back({x0, y0, x1, y1, width, dash, color.argb()});
  Add(Prim::kLine, lines_.size() - 1);
}

void DrawList::Polyline(std::span<const Point> points, Color color, float width, Dash dash) {
  if (points.size() < 2) return;
  polylines_.push_back({static_cast<uint32_t>(points_.size()), static_cast<uint32_t>(points.size()),
                        width, dash, color.argb()});
  points_.insert(points_.end(), points.begin(), points.end());
  Add(Prim::kPolyline, polylines_.size() - 1);
}

void DrawList::Text(std::string_view utf8, const Rect& box, Font font, Color color, Align align) {
  if (utf8.empty()) return;
  texts_.push_back({static_cast<uint32_t>(chars_.size()), static_cast<uint32_t>(utf8.size()), box,
                    font, align, color.argb()});
  chars_.append(utf8);
  Add(Prim::kText, texts_.size() - 1);
}

void DrawList::Circle(float x, float y, float radius, Color fill, Color stroke,
                      float stroke_width) {
  circles_.push_back({x, y, radius, stroke_width, fill.argb(), stroke.argb()});
  Add(Prim::kCircle, circles_.size() - 1);
}

StackPrim& DrawList::Stack(const Rect& area, uint32_t columns, uint32_t layers) {
  stacks_.push_back({area, columns, layers, static_cast<uint32_t>(edges_.size()),
                     static_cast<uint32_t>(colors_.size())});
  edges_.resize(edges_.size() + size_t{layers + 1} * columns);
  colors_.resize(colors_.size() + layers);
  Add(Prim::kStack, stacks_.size() - 1);
  return stacks_.back();
}

StripPrim& DrawList::Strip(const Rect& area, uint32_t columns) {
  strips_.push_back({area, columns, static_cast<uint32_t>(colors_.size())});
  colors_.resize(colors_.size() + columns);
  Add(Prim::kStrip, strips_.size() - 1);
  return strips_.back();
}

ImagePrim& DrawList::Image(const Rect& area, uint32_t width, uint32_t height) {
  images_.push_back({area, width, height, static_cast<uint32_t>(pixels_.size())});
  pixels_.resize(pixels_.size() + size_t{width} * height);
  Add(Prim::kImage, images_.size() - 1);
  return images_.back();
}

}  // namespace vramscope::ui::timeline
