#include "ui/timeline/theme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vramscope::ui::timeline {
namespace {

double Linear(uint8_t v) {
  double c = v / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double Luminance(Color c) {
  return 0.2126 * Linear(c.r) + 0.7152 * Linear(c.g) + 0.0722 * Linear(c.b);
}

// The hues are those of PyTorch's memory timeline, because users know them. They are shifted
// (mostly in lightness) so that people with deuteranopia, protanopia or tritanopia can distinguish
// any two of them, and no other palette is needed. Both themes use the same hues, so that the
// legend of one theme also explains a screenshot of the other theme.
void SetDataColors(Theme* t) {
  using trace::Category;
  using trace::Phase;
  auto category = [t](Category c, uint32_t rgb) {
    t->categories[static_cast<size_t>(c)] = Color::Rgb(rgb);
  };
  category(Category::kUnknown, 0x6f7681);
  category(Category::kParameter, 0x1f9c77);
  category(Category::kBuffer, 0x8dbd83);
  category(Category::kGradient, 0x3e78fb);
  category(Category::kOptimizerState, 0xffc625);
  category(Category::kActivation, 0xe4464e);
  category(Category::kInput, 0xa4a4a6);
  category(Category::kTemporary, 0xc29bf4);
  category(Category::kAutogradDetail, 0xe1890b);
  category(Category::kWorkspace, 0x79d8dc);
  category(Category::kCommunication, 0xbf75b1);
  category(Category::kKvCache, 0xe2eb9e);
  t->kernel = Color::Rgb(0x6d7ef2);
  t->copy = Color::Rgb(0xefa859);
  t->fill = Color::Rgb(0xe79eff);
  t->collective = Color::Rgb(0xd56fa9);
  t->idle = {Color::Rgb(0xe6645f), Color::Rgb(0x53b7c5), Color::Rgb(0xe8c45e), Color::Rgb(0xac71db),
             Color::Rgb(0x7e9d91)};
  auto phase = [t](Phase p, uint32_t rgb) { t->phases[static_cast<size_t>(p)] = Color::Rgb(rgb); };
  phase(Phase::kNone, 0x86878b);
  phase(Phase::kSetup, 0x9b7fb0);
  phase(Phase::kData, 0x8bf8ff);
  phase(Phase::kForward, 0x308ffd);
  phase(Phase::kLoss, 0xffde59);
  phase(Phase::kBackward, 0xefa36e);
  phase(Phase::kOptimizer, 0xbdb4fc);
  phase(Phase::kZeroGrad, 0xcca5bd);
  phase(Phase::kEval, 0x97cbab);
  phase(Phase::kGeneration, 0x0b9f19);
  phase(Phase::kSave, 0xe7fff2);
  phase(Phase::kLoad, 0x749473);
}

}  // namespace

std::string Color::Hex() const { return fmt::format("#{:02x}{:02x}{:02x}", r, g, b); }

Color Blend(Color under, Color over) {
  auto mix = [&](uint8_t u, uint8_t o) {
    return static_cast<uint8_t>((u * (255 - over.a) + o * over.a + 127) / 255);
  };
  return {mix(under.r, over.r), mix(under.g, over.g), mix(under.b, over.b), 255};
}

Color Mix(Color a, Color b, double t) {
  t = std::clamp(t, 0.0, 1.0);
  auto mix = [t](uint8_t x, uint8_t y) {
    return static_cast<uint8_t>(std::lround(x + (static_cast<double>(y) - x) * t));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a)};
}

double Contrast(Color a, Color b) {
  double x = Luminance(a) + 0.05, y = Luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

Theme Theme::Dark() {
  Theme t;
  t.dark = true;
  t.ground = Color::Rgb(0x15171c);
  t.panel = Color::Rgb(0x1c1f26);
  t.raised = Color::Rgb(0x232730);
  t.line = Color::Rgb(0x2f3541);
  t.text = Color::Rgb(0xe6e9ef);
  t.dim = Color::Rgb(0x98a1b0);
  t.faint = Color::Rgb(0x757e8d);
  t.accent = Color::Rgb(0x5aa9ff);
  t.on_color = Color::Rgb(0x15171c);
  t.good = Color::Rgb(0x63dca4);
  t.bad = Color::Rgb(0xf85f5d);
  t.warning = Color::Rgb(0xf9b93a);
  t.selection = Color::Rgb(0xffffff);
  t.baseline = Color::Rgb(0x6ff0ff);
  t.cached = Color::Rgb(0x232730);
  SetDataColors(&t);
  return t;
}

Theme Theme::Light() {
  Theme t;
  t.dark = false;
  t.ground = Color::Rgb(0xf6f7f9);
  t.panel = Color::Rgb(0xffffff);
  t.raised = Color::Rgb(0xf0f2f5);
  t.line = Color::Rgb(0xd9dde4);
  t.text = Color::Rgb(0x1c2027);
  t.dim = Color::Rgb(0x5b6472);
  t.faint = Color::Rgb(0x7a8290);
  t.accent = Color::Rgb(0x1f6fd6);
  t.on_color = Color::Rgb(0x1c2027);
  t.good = Color::Rgb(0x067a59);
  t.bad = Color::Rgb(0xd8004e);
  t.warning = Color::Rgb(0x724d00);
  t.selection = Color::Rgb(0x0b0d10);
  t.baseline = Color::Rgb(0x00647d);
  t.cached = Color::Rgb(0xe3e7ed);
  SetDataColors(&t);
  return t;
}

}  // namespace vramscope::ui::timeline
