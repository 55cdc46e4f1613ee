// Tests that readers with deuteranopia, protanopia or tritanopia can distinguish the colours, too.
#include "ui/timeline/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace vramscope::ui::timeline {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// The matrices are from Machado, Oliveira and Fernandes (2009), for severity 1.0 and linear RGB.
constexpr Matrix kSeesAll = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kTritanopia = {{{1.255528, -0.076749, -0.178779},
                                 {-0.078411, 0.930809, 0.147602},
                                 {0.004733, 0.691367, 0.303900}}};
constexpr const Matrix* kColorBlind[] = {&kDeuteranopia, &kProtanopia, &kTritanopia};

double Linear(uint8_t v) {
  const double c = v / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// Returns the colour that a reader sees in CIE L*a*b* (D65).
Vector Lab(Color color, const Matrix& reader) {
  const Vector rgb = {Linear(color.r), Linear(color.g), Linear(color.b)};
  const auto times = [](const Matrix& m, const Vector& v) {
    Vector out{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) out[i] += m[i][j] * v[j];
    return out;
  };
  Vector seen = times(reader, rgb);
  for (double& v : seen) v = std::clamp(v, 0.0, 1.0);
  constexpr Matrix kToXyz = {{{0.4124564, 0.3575761, 0.1804375},
                              {0.2126729, 0.7151522, 0.0721750},
                              {0.0193339, 0.1191920, 0.9503041}}};
  const Vector xyz = times(kToXyz, seen);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

// Returns the distance of two colours by CIEDE2000 (Sharma, Wu and Dalal 2005).
double Distance(const Vector& p, const Vector& q) {
  constexpr double kPi = std::numbers::pi, k25To7 = 6103515625.0;
  const auto radians = [](double degrees) { return degrees * kPi / 180; };
  const double chroma = (std::hypot(p[1], p[2]) + std::hypot(q[1], q[2])) / 2;
  const double g = 0.5 * (1 - std::sqrt(std::pow(chroma, 7) / (std::pow(chroma, 7) + k25To7)));
  const double a1 = (1 + g) * p[1], a2 = (1 + g) * q[1];
  const double c1 = std::hypot(a1, p[2]), c2 = std::hypot(a2, q[2]);
  const auto hue = [](double b, double a) {
    if (a == 0 && b == 0) return 0.0;
    const double h = std::atan2(b, a) * 180 / kPi;
    return h < 0 ? h + 360 : h;
  };
  const double h1 = hue(p[2], a1), h2 = hue(q[2], a2);
  const bool grey = c1 * c2 == 0;
  double dh = grey ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const double dl = q[0] - p[0], dc = c2 - c1;
  const double dH = 2 * std::sqrt(c1 * c2) * std::sin(radians(dh / 2));
  const double l = (p[0] + q[0]) / 2, c = (c1 + c2) / 2;
  double h = h1 + h2;
  if (!grey) h = std::abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
  const double t = 1 - 0.17 * std::cos(radians(h - 30)) + 0.24 * std::cos(radians(2 * h)) +
                   0.32 * std::cos(radians(3 * h + 6)) - 0.2 * std::cos(radians(4 * h - 63));
  const double turn = 30 * std::exp(-std::pow((h - 275) / 25, 2));
  const double rc = 2 * std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + k25To7));
  const double sl = 1 + 0.015 * std::pow(l - 50, 2) / std::sqrt(20 + std::pow(l - 50, 2));
  const double sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const double rt = -std::sin(radians(2 * turn)) * rc;
  return std::sqrt(std::pow(dl / sl, 2) + std::pow(dc / sc, 2) + std::pow(dH / sh, 2) +
                   rt * dc / sc * dH / sh);
}

TEST(ThemeTest, DistanceMatchesCiede2000TestData) {
  // Checks Distance() with two pairs of the published test data.
  EXPECT_NEAR(Distance({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(Distance({22.7233, 20.0904, -46.6940}, {23.0331, 14.9730, -42.5619}), 2.0373, 1e-4);
}

// Expects that every reader can distinguish any two of the colours.
void ExpectApart(const std::vector<Color>& colors) {
  for (size_t i = 0; i < colors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto apart = [&](const Matrix& reader) {
        return Distance(Lab(colors[i], reader), Lab(colors[j], reader));
      };
      EXPECT_GE(apart(kSeesAll), 14) << i << " " << j;
      for (const Matrix* reader : kColorBlind)
        EXPECT_GE(apart(*reader), 11.5) << i << " " << j << ", reader " << (*reader)[0][0];
    }
  }
}

TEST(ThemeTest, CategoryColoursAreDistinguishable) {
  for (const Theme& t : {Theme::Dark(), Theme::Light()})
    ExpectApart({t.categories.begin(), t.categories.end()});
}

TEST(ThemeTest, PhaseColoursAreDistinguishable) {
  const Theme t = Theme::Dark();
  ExpectApart({t.phases.begin(), t.phases.end()});
}

TEST(ThemeTest, ActivityAndIdleColoursAreDistinguishable) {
  const Theme t = Theme::Dark();
  const std::vector<Color> runs = {t.kernel, t.copy, t.fill, t.collective};
  for (const std::vector<Color>& set : {runs, std::vector<Color>(t.idle.begin(), t.idle.end())}) {
    ExpectApart(set);
    for (size_t i = 0; i < set.size(); ++i) EXPECT_GE(Contrast(set[i], t.on_color), 4.5) << i;
  }
}

TEST(ThemeTest, StatusColoursAreDistinguishableAndReadable) {
  for (const Theme& t : {Theme::Dark(), Theme::Light()}) {
    ExpectApart({t.good, t.bad, t.warning});
    for (const Color sign : {t.good, t.bad, t.warning})
      for (const Color ground : {t.ground, t.panel, t.raised})
        EXPECT_GE(Contrast(sign, ground), 4.5) << sign.Hex() << " on " << ground.Hex();
  }
}

// The baseline is a solid line, and reserved memory is a dashed line in the colour of text. Not
// only the style but also the colours must differ.
TEST(ThemeTest, BaselineColourDiffersFromReserved) {
  for (const Theme& t : {Theme::Dark(), Theme::Light()}) {
    EXPECT_GE(Distance(Lab(t.baseline, kSeesAll), Lab(t.text, kSeesAll)), 14);
    EXPECT_GE(Contrast(t.baseline, t.ground), 4.5);
  }
}

}  // namespace
}  // namespace vramscope::ui::timeline
