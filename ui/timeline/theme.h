// The colors of the window's dark and light themes. They are plain values, without Qt, and are used
// by the timeline's model and renderers and by the shell's style.
//
//   Theme t = Theme::Dark();
//   QColor ground = QColor::fromRgba(t.ground.argb());
//   Color activation = t.category(trace::Category::kActivation);
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "profiler/trace/types.h"

namespace vramscope::ui::timeline {

// A color that is not premultiplied by alpha.
struct Color {
  uint8_t r = 0, g = 0, b = 0, a = 255;
  static constexpr Color Rgb(uint32_t rgb) {
    return {static_cast<uint8_t>(rgb >> 16), static_cast<uint8_t>(rgb >> 8),
            static_cast<uint8_t>(rgb), 255};
  }
  constexpr uint32_t argb() const {
    return static_cast<uint32_t>(a) << 24 | static_cast<uint32_t>(r) << 16 |
           static_cast<uint32_t>(g) << 8 | b;
  }
  constexpr Color WithAlpha(double alpha) const {
    return {r, g, b, static_cast<uint8_t>(alpha * 255 + 0.5)};
  }
  std::string Hex() const;  // "#5aa9ff"
  friend constexpr bool operator==(Color, Color) = default;
};

// Returns the color that `over`, with its alpha, has on an opaque `under`.
Color Blend(Color under, Color over);
// Returns `a` for t = 0 and `b` for t = 1.
Color Mix(Color a, Color b, double t);
// Returns the WCAG 2 contrast ratio of two opaque colors, from 1 to 21.
double Contrast(Color a, Color b);

struct Theme {
  bool dark = true;
  // colors of surfaces, from back to front
  Color ground, panel, raised, line;
  // colors of text; `faint` is only for grid labels and for descriptions in lane titles
  Color text, dim, faint;
  Color accent;
  Color on_color;  // text on the color of a phase or a category
  // `good` means less memory. `bad` means more memory, or a limit that is exceeded. This is so
  // everywhere, whether the figure has a plus or a minus.
  Color good, bad, warning;
  Color selection;  // outline of the selection
  Color cached;     // unused memory in the blocks lane
  Color baseline;   // the baseline's line; the line of reserved memory has the color `text`

  // activities in a device's streams: kernels, memcpys, memsets, collectives
  Color kernel, copy, fill, collective;
  // the causes of a device's idle gaps, indexed by query::IdleCause
  std::array<Color, 5> idle;
  std::array<Color, trace::kCategoryCount> categories;
  std::array<Color, trace::kPhaseCount> phases;

  Color category(trace::Category c) const { return categories[static_cast<size_t>(c)]; }
  Color phase(trace::Phase p) const { return phases[static_cast<size_t>(p)]; }

  static Theme Dark();
  static Theme Light();
};

}  // namespace vramscope::ui::timeline
