#include "ui/timeline/svg.h"

#include <fmt/format.h>

#include <QBuffer>
#include <QByteArray>
#include <QImage>
#include <algorithm>
#include <iterator>
#include <string_view>

namespace vramscope::ui::timeline {
namespace {

std::string Number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// Escapes the text for XML. Omits control characters, which XML cannot represent.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

// Returns the attribute `name` ("fill" or "stroke") with this color. If alpha is 0, its value is
// "none".
std::string Paint(std::string_view name, uint32_t argb) {
  if (argb >> 24 == 0) return fmt::format(" {}=\"none\"", name);
  std::string out = fmt::format(" {}=\"#{:06x}\"", name, argb & 0xffffff);
  if (argb >> 24 != 255)
    out += fmt::format(" {}-opacity=\"{}\"", name, Number((argb >> 24) / 255.0));
  return out;
}

std::string Stroke(uint32_t argb, float width, const Dash& dash) {
  std::string out = Paint("stroke", argb) + fmt::format(" stroke-width=\"{}\"", Number(width));
  if (dash.on > 0)
    out += fmt::format(" stroke-dasharray=\"{} {}\"", Number(dash.on), Number(dash.off));
  return out;
}

class Writer {
 public:
  Writer(const DrawList& list, const QtTextMeasure& measure) : list_(list), measure_(measure) {}

  std::string Write(const SvgPage& page) {
    // Use attributes, because some readers do not support style sheets.
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" xml:space=\"preserve\" "
        "font-family=\"Inter, 'DejaVu Sans', sans-serif\">\n",
        page.width, page.height);
    if (!page.title.empty()) Add("<title>{}</title>\n", Escaped(page.title));
    Add("<defs>");
    for (size_t i = 0; i < list_.clips().size(); ++i) {
      const Rect& clip = list_.clips()[i];
      Add("<clipPath id=\"c{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>", i,
          Number(clip.x), Number(clip.y), Number(std::max(clip.w, 0.f)),
          Number(std::max(clip.h, 0.f)));
    }
    Add("</defs>\n<rect width=\"{}\" height=\"{}\"{}/>\n", page.width, page.height,
        Paint("fill", page.ground.argb()));
    uint32_t clip = ~0u;
    for (const Command& c : list_.commands()) {
      if (clip != c.clip) {
        if (clip != ~0u) Add("</g>\n");
        Add("<g clip-path=\"url(#c{})\">\n", c.clip);
        clip = c.clip;
      }
      for (uint32_t i = c.first; i < c.first + c.count; ++i) One(c.prim, i);
    }
    if (clip != ~0u) Add("</g>\n");
    Add("</svg>\n");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
  }

  void One(Prim prim, uint32_t i) {
    switch (prim) {
      case Prim::kFill: {
        const FillRect& r = list_.fills()[i];
        FillOf(r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0, r.argb);
        break;
      }
      case Prim::kBox:
        Box(list_.boxes()[i]);
        break;
      case Prim::kLine: {
        const LinePrim& l = list_.lines()[i];
        Add("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", Number(l.x0), Number(l.y0),
            Number(l.x1), Number(l.y1), Stroke(l.argb, l.width, l.dash));
        break;
      }
      case Prim::kPolyline: {
        const PolylinePrim& l = list_.polylines()[i];
        Add("<polyline fill=\"none\"{} points=\"", Stroke(l.argb, l.width, l.dash));
        for (const Point& p : list_.points(l)) Add("{},{} ", Number(p.x), Number(p.y));
        Add("\"/>\n");
        break;
      }
      case Prim::kText:
        Text(list_.texts()[i]);
        break;
      case Prim::kStack:
        Stack(list_.stacks()[i]);
        break;
      case Prim::kStrip: {
        const StripPrim& s = list_.strips()[i];
        const auto colors = list_.strip(s);
        const double width = double{s.area.w} / std::max(s.columns, 1u);
        for (uint32_t c = 0, next = 0; c < s.columns; c = next) {
          while (next < s.columns && colors[next] == colors[c]) ++next;
          if (colors[c] >> 24)
            FillOf(s.area.x + c * width, s.area.y, (next - c) * width, s.area.h, colors[c]);
        }
        break;
      }
      case Prim::kImage:
        Image(list_.images()[i]);
        break;
      case Prim::kCircle: {
        const CirclePrim& o = list_.circles()[i];
        Add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}", Number(o.x), Number(o.y), Number(o.radius),
            Paint("fill", o.fill));
        if (o.stroke >> 24) Add("{}", Stroke(o.stroke, o.stroke_width, {}));
        Add("/>\n");
        break;
      }
    }
  }

  void FillOf(double x, double y, double w, double h, uint32_t argb) {
    if (w <= 0 || h <= 0 || argb >> 24 == 0) return;
    Add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", Number(x), Number(y), Number(w),
        Number(h), Paint("fill", argb));
  }

  void Box(const BoxPrim& b) {
    const double half = b.stroke >> 24 ? b.stroke_width / 2 : 0;
    const double w = b.rect.w - 2 * half, h = b.rect.h - 2 * half;
    if (w <= 0 || h <= 0) return;
    Add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", Number(b.rect.x + half),
        Number(b.rect.y + half), Number(w), Number(h), Paint("fill", b.fill));
    if (b.radius > 0) Add(" rx=\"{}\"", Number(b.radius));
    if (b.stroke >> 24) Add("{}", Stroke(b.stroke, b.stroke_width, {}));
    Add("/>\n");
  }

  void Text(const TextPrim& t) {
    const std::string_view utf8 = list_.text(t);
    if (utf8.empty()) return;
    const QFont& font = measure_.font(t.font);
    const bool mono = t.font == Font::kMono || t.font == Font::kMonoSmall;
    const double width = measure_.Width(utf8, t.font);
    const double room = t.align == Align::kLeft ? 0 : t.box.w - width;
    // Center the text by the height of its capitals and digits, as the raster renderer does.
    const double y = t.box.y + t.box.h / 2 + measure_.metrics(t.font).capHeight() / 2;
    Add("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{} textLength=\"{}\" "
        "lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
        Number(t.box.x + (t.align == Align::kCenter ? room / 2 : room)), Number(y),
        font.pixelSize(),
        mono ? " font-family=\"'JetBrains Mono', 'DejaVu Sans Mono', monospace\"" : "",
        font.weight() > QFont::Normal ? " font-weight=\"600\"" : "", Paint("fill", t.argb),
        Number(width), Escaped(utf8));
  }

  // Draws each layer as one outline of steps. Adjacent columns of the same height form one step.
  void Stack(const StackPrim& s) {
    const auto edges = list_.edges(s);
    const auto colors = list_.colors(s);
    const double width = double{s.area.w} / std::max(s.columns, 1u);
    for (uint32_t layer = 0; layer < s.layers; ++layer) {
      if ((colors[layer] >> 24) == 0 || s.columns == 0) continue;
      const float* upper = edges.data() + size_t{layer + 1} * s.columns;
      const float* lower = edges.data() + size_t{layer} * s.columns;
      if (std::equal(upper, upper + s.columns, lower)) continue;
      Add("<path{} d=\"M{} {}", Paint("fill", colors[layer]), Number(s.area.x), Number(upper[0]));
      for (uint32_t c = 1; c < s.columns; ++c)
        if (upper[c] != upper[c - 1]) Add("H{}V{}", Number(s.area.x + c * width), Number(upper[c]));
      Add("H{}V{}", Number(s.area.right()), Number(lower[s.columns - 1]));
      for (uint32_t c = s.columns - 1; c-- > 0;)
        if (lower[c] != lower[c + 1])
          Add("H{}V{}", Number(s.area.x + (c + 1) * width), Number(lower[c]));
      Add("H{}Z\"/>\n", Number(s.area.x));
    }
  }

  void Image(const ImagePrim& image) {
    const auto pixels = list_.pixels(image);
    const QImage picture(reinterpret_cast<const uchar*>(pixels.data()),
                         static_cast<int>(image.width), static_cast<int>(image.height),
                         QImage::Format_ARGB32_Premultiplied);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (!picture.save(&buffer, "PNG")) return;
    Add("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>\n",
        Number(image.area.x), Number(image.area.y), Number(image.area.w), Number(image.area.h),
        bytes.toBase64().toStdString());
  }

  const DrawList& list_;
  const QtTextMeasure& measure_;
  std::string out_;
};

}  // namespace

std::string SvgOf(const DrawList& list, const QtTextMeasure& measure, const SvgPage& page) {
  return Writer(list, measure).Write(page);
}

}  // namespace vramscope::ui::timeline
