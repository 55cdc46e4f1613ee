// The memory lane: memory by category (stacked), lines for reserved memory and the limit, the peak,
// and the baseline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr std::string_view kMemoryTitle = TEXT_MARK("memory by category");
// minimum height in pixels at which the lane is readable
constexpr float kLeast = 110;
constexpr float kShare = 0.58f;
// The minimum height at which the peak's place is named too. In a lower lane, its text would hide
// the curve.
constexpr float kLeastForPlace = 150;
constexpr float kByteLabels = 60;  // width of the byte labels at the right edge
constexpr Dash kReservedDash{5, 4};
constexpr Dash kLimitDash{8, 4};
constexpr Dash kPeakDash{1.5f, 2.5f};

// Draws a step curve over the columns as thin rectangles, which are sharp and are drawn faster than
// a path of thousands of points is stroked. Dashes stay at the same pixels when the view moves.
template <class YOf>
void StepLine(const CanvasState& s, const Rect& area, int columns, int used, Color color,
              float width, Dash dash, DrawList* list, YOf y_of) {
  float per_column = area.w / static_cast<float>(columns);
  float half = width / 2;
  uint32_t argb = color.argb();
  float period = dash.on + dash.off;
  auto on = [&](float x) { return period <= 0 || std::fmod(x, period) < dash.on; };
  auto horizontal = [&](float x0, float x1, float y) {
    if (period <= 0) {
      list->FillEdges(x0, y - half, x1, y + half, argb);
      return;
    }
    float at = std::floor(x0 / period) * period;
    for (; at < x1; at += period) {
      float from = std::max(at, x0), to = std::min(at + dash.on, x1);
      if (to > from) list->FillEdges(from, y - half, to, y + half, argb);
    }
  };
  auto snap = [&](float y) {  // round to whole device pixels
    return static_cast<float>(std::round((y - half) * s.scale) / s.scale) + half;
  };
  float last_y = 0;
  for (int i = 0; i < used;) {
    float y = snap(y_of(i));
    int j = i + 1;
    while (j < used && snap(y_of(j)) == y) ++j;
    float x0 = area.x + static_cast<float>(i) * per_column;
    horizontal(x0, area.x + static_cast<float>(j) * per_column, y);
    if (i > 0 && std::abs(y - last_y) > width && on(x0)) {
      float top = std::min(y, last_y) + half, bottom = std::max(y, last_y) - half;
      list->FillEdges(x0 - half, top, x0 + half, bottom, argb);
    }
    last_y = y;
    i = j;
  }
}

void DrawByteGrid(const CanvasState& s, const Rect& body, bool over, DrawList* list) {
  Color line = over ? Color{0, 0, 0, static_cast<uint8_t>(s.theme.dark ? 30 : 20)} : s.theme.line;
  if (!over) line = line.WithAlpha(s.theme.dark ? 0.6 : 0.7);
  for (uint64_t b = s.axis.step; b <= s.axis.max; b += s.axis.step) {
    float y = std::floor(static_cast<float>(s.BytesToY(static_cast<double>(b), body))) + 0.5f;
    list->Line(body.x, y, body.right(), y, line);
  }
}

// Draws labels at the right edge. A label is above its grid line. At the top of the lane, it is
// below the line. If the lane is so low that a label would overlap the next lower label, it is
// omitted.
void DrawByteLabels(const CanvasState& s, const TextMeasure& measure, const Rect& body,
                    const Rect& callout, DrawList* list) {
  float free_above = body.bottom() + 1;
  for (uint64_t b = s.axis.step; b <= s.axis.max; b += s.axis.step) {
    auto y = static_cast<float>(s.BytesToY(static_cast<double>(b), body));
    if (y < body.y + 1 || y > body.bottom() - 4) continue;
    std::string label = FormatBytes(b, /*trim=*/true);
    float width = measure.Width(label, Font::kSmall);
    const float top = y - 15 < body.y ? y + 1 : y - 15;
    Rect box{body.right() - width - 7, top, width + 1, 14};
    if (box.bottom() > free_above || !box.Inset(-3, 0).Intersect(callout).empty()) continue;
    free_above = box.y;
    PillText(s, label, box, Mix(s.theme.text, s.theme.dim, 0.5), list);
  }
}

struct PeakCallout {
  bool shown = false;
  float x = 0, y = 0;  // position of the mark
  Rect box;
  std::string title, place;
};

// Returns how many square pixels of the filled curve and of the byte labels the box would hide.
// `allocated` has the bytes of each column of `area`.
double Covered(const CanvasState& s, const Rect& body, const Rect& area,
               std::span<const double> allocated, const Rect& box) {
  if (allocated.empty()) return 0;
  const float per_column = area.w / static_cast<float>(allocated.size());
  const auto column = [&](float x) {
    const float at = std::floor((x - area.x) / per_column);
    return static_cast<size_t>(std::clamp(at, 0.0f, static_cast<float>(allocated.size())));
  };
  double covered = 0;
  for (size_t i = column(box.x); i < column(box.right()); ++i)
    covered += per_column * std::max(0.0, box.bottom() - s.BytesToY(allocated[i], body));
  const Rect labels{body.right() - kByteLabels, body.y, kByteLabels, body.h};
  const Rect hidden = box.Intersect(labels);
  return hidden.empty() ? covered : covered + double{hidden.w} * hidden.h;
}

PeakCallout PlacePeak(const CanvasState& s, const TextMeasure& measure, const Rect& body,
                      const Rect& area, std::span<const double> allocated) {
  PeakCallout p;
  const analysis::Peak& peak = s.data->peak();
  if (peak.allocated == 0) return p;
  p.x = static_cast<float>(s.viewport.ToX(s.data->FromTrace(peak.context.time_ns)));
  if (p.x < body.x - 1 || p.x > body.right() + 1) return p;
  p.shown = true;
  p.x = std::clamp(p.x, body.x, body.right());
  p.y = static_cast<float>(s.BytesToY(static_cast<double>(peak.allocated), body));
  p.title = i18n::Format("peak {}", FormatBytes(peak.allocated));
  // Make the callout at most as wide as the larger space beside the mark, so that it does not cover
  // the mark.
  float room = std::max(p.x - body.x, body.right() - p.x) - 15 - 20;
  if (body.h >= kLeastForPlace)
    p.place = Elide(measure, s.data->peak_place(), Font::kSmall, std::min(300.0f, room));
  float width =
      std::max(measure.Width(p.title, Font::kBodyBold), measure.Width(p.place, Font::kSmall)) + 20;
  float height = p.place.empty() ? 26 : 42;
  const float top = std::clamp(p.y - height + 6, body.y, std::max(body.bottom() - height, body.y));
  const Rect right{p.x + 11, top, width, height};
  const Rect left{std::max(p.x - 11 - width, body.x + 2), top, width, height};
  const bool fits_right = right.right() <= body.right() - 4, fits_left = left.right() <= p.x - 10;
  // Choose the side on which the callout hides less.
  p.box = !fits_right ? left
          : !fits_left || Covered(s, body, area, allocated, right) <=
                              Covered(s, body, area, allocated, left)
              ? right
              : left;
  return p;
}

void DrawPeak(const CanvasState& s, const PeakCallout& p, const Rect& body, DrawList* list) {
  if (!p.shown) return;
  float line_x = std::floor(p.x) + 0.5f;
  list->Line(line_x, body.y, line_x, s.layout.data_bottom(), s.theme.text.WithAlpha(0.8), 1,
             kPeakDash);
  list->Circle(p.x, p.y, 4.5f, s.theme.ground, s.theme.text, 2);
  list->Box(p.box, 5, s.theme.panel.WithAlpha(0.95), s.theme.line);
  float width = p.box.w - 20;
  list->Text(p.title, {p.box.x + 10, p.box.y + 4, width, 18}, Font::kBodyBold, s.theme.text);
  list->Text(p.place, {p.box.x + 10, p.box.y + 22, width, 15}, Font::kSmall, s.theme.dim);
}

// Finds a place for a label directly above the highest part of the line of reserved memory, and
// returns the label's left edge. The label must not overlap the peak's callout or the byte labels
// at the right. If there is no such place, returns a negative number. `area` is the rectangle of
// the columns.
float PlaceReservedLabel(const Rect& body, const Rect& area, const std::vector<uint64_t>& reserved,
                         int used, uint64_t highest, float width, float top, const Rect& callout) {
  float per_column = area.w / static_cast<float>(reserved.size());
  float left = body.x + 6;
  int i = 0;
  while (true) {
    while (i < used && reserved[i] < highest) ++i;
    if (i >= used) return -1;
    left = std::max(left, area.x + static_cast<float>(i) * per_column);
    Rect box{left, top, width, 14};
    if (box.right() > body.right() - kByteLabels) return -1;
    if (!callout.empty() && !box.Intersect(callout.Inset(-6, -2)).empty()) {
      left = callout.right() + 8;
      i = std::max(i, static_cast<int>((left - area.x) / per_column));
      continue;
    }
    // The line must be at its highest over the whole width of the label.
    int last = std::min(static_cast<int>((box.right() - area.x) / per_column), used - 1);
    int j = i;
    while (j <= last && reserved[j] >= highest) ++j;
    if (j > last) return left;
    i = j;
  }
}

// Draws a legend such as "- - reserved 8.59 GiB" at the right end of a lane's title, unless it
// would overlap the title. Returns the legend's left edge, or `right` if it was not drawn.
float TitleLegend(const CanvasState& s, const TextMeasure& measure, const Rect& title, float right,
                  std::string_view text, Color color, Dash dash, DrawList* list) {
  std::string label = Elide(measure, text, Font::kSmall, title.w / 3);
  if (label.empty()) return right;
  float width = measure.Width(label, Font::kSmall);
  float x = right - width - 4;
  if (x - 26 < title.x + 13 + measure.Width(i18n::Text(kMemoryTitle), Font::kSmallBold) + 8)
    return right;
  float y = std::floor(title.y + title.h / 2) + 0.5f;
  list->Line(x - 26, y, x - 6, y, color.WithAlpha(0.9), 1.2f, dash);
  list->Text(label, {x, title.y, width + 2, title.h}, Font::kSmall, s.theme.dim);
  return x - 26 - 12;
}

std::string About(const CanvasState& s) {
  if (s.hidden.none()) return i18n::Text("allocated bytes, stacked");
  std::string names;
  for (const trace::Category category : kStackOrder)
    if (s.hides(category)) names += (names.empty() ? "" : ", ") + i18n::Text(trace::Name(category));
  return i18n::Text("without ") + names;
}

class MemoryLane : public Lane {
 public:
  std::string_view key() const override { return "memory"; }
  std::string Name(const CanvasState&) const override { return i18n::Text(kMemoryTitle); }
  LaneWants Wants(const CanvasState&) const override {
    return {.rows = 1, .title = kTitleHeight, .share = kShare, .least = kLeast};
  }
  void HitTest(const CanvasState& s, const LanePlace& place, double, double y,
               Hit* hit) const override {
    hit->kind = HitKind::kMemory;
    const analysis::MemoryCurves& c = s.data->curves();
    int64_t point = s.data->CurvePointAt(s.TraceTime(hit->time));
    if (point < 0) return;
    const Rect& body = place.body;
    double bytes = (body.bottom() - y) / body.h * static_cast<double>(s.axis.max);
    double sum = 0;
    for (trace::Category category : kStackOrder) {
      const auto& column = c.category[static_cast<size_t>(category)];
      if (column.empty() || s.hides(category)) continue;
      sum += static_cast<double>(column[point]);
      if (bytes < sum) {
        hit->category = category;
        break;
      }
    }
  }
  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    s.data->curve_index().Ask(GridOfView(s, place.body), &answer->curve);
  }
  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    const TextMeasure& measure = draw.measure;
    SceneMemory* memory = draw.memory;
    SceneCounts* counts = draw.counts;
    DrawList* list = draw.list;
    const Rect& body = draw.place.body;
    const std::string about = About(s);
    if (body.h < 4) {
      DrawLaneTitle(draw, i18n::Text(kMemoryTitle), about);
      return;
    }
    const query::CurveColumns& c = draw.answer.curve;
    const Rect area = AreaOf(s, c.grid, body);
    const int columns = c.grid.columns;
    const int used = ColumnsWithData(s, c.grid);
    const auto n = static_cast<uint32_t>(columns);

    list->PushClip({body.x, body.y - 1, body.w, body.h + 1});
    DrawByteGrid(s, body, /*over=*/false, list);
    StackPrim stack = list->Stack(area, n, kStackOrder.size());
    auto edges = list->edges(stack);
    std::fill(edges.begin(), edges.begin() + n, body.bottom());
    double px_per_byte = body.h / static_cast<double>(s.axis.max);
    std::vector<double> sum(n, 0);
    for (size_t l = 0; l < kStackOrder.size(); ++l) {
      list->colors(stack)[l] = s.theme.category(kStackOrder[l]).argb();
      const std::vector<uint64_t>& bytes = c.category[static_cast<size_t>(kStackOrder[l])];
      float* edge = edges.data() + (l + 1) * n;
      if (!bytes.empty() && !s.hides(kStackOrder[l])) {
        for (int i = 0; i < used; ++i) sum[i] += static_cast<double>(bytes[i]);
      }
      for (uint32_t i = 0; i < n; ++i) {
        edge[i] = body.bottom() - static_cast<float>(sum[i] * px_per_byte);
      }
    }
    if (s.morph < 1 && s.morph_columns == n && s.morph_from.size() == edges.size()) {
      for (size_t i = 0; i < edges.size(); ++i) {
        edges[i] = s.morph_from[i] + (edges[i] - s.morph_from[i]) * s.morph;
      }
    }
    memory->edges.assign(edges.begin(), edges.end());
    memory->columns = n;
    counts->columns = n;
    DrawByteGrid(s, body, /*over=*/true, list);
    // Draw an outline, so that the total is visible even if the top layer is thin.
    const float* top = memory->edges.data() + kStackOrder.size() * n;
    StepLine(s, area, columns, used, s.theme.text.WithAlpha(s.theme.dark ? 0.35 : 0.45), 1, {},
             list, [&](int i) { return top[i]; });

    if (s.baseline) {
      const int under = DeviceColumns(s, body);
      const BaselineColumns baseline = BaselineUnderView(s, EdgesOfView(s, under));
      auto y_of = [&](int i) {
        return static_cast<float>(s.BytesToY(static_cast<double>(baseline.allocated[i]), body));
      };
      // Draw a dark and a light line, so that the baseline is visible on every color. Both lines
      // end where the baseline ends.
      StepLine(s, body, under, baseline.end, s.theme.ground.WithAlpha(0.45), 3, {}, list, y_of);
      StepLine(s, body, under, baseline.end, s.theme.baseline, 1, {}, list, y_of);
      counts->baseline_shown = true;
    }

    PeakCallout peak = PlacePeak(s, measure, body, area, sum);
    counts->peak_shown = peak.shown;
    uint64_t highest = 0;
    bool reserved_labelled = false;
    Rect reserved_box;
    if (!c.reserved_max.empty() && used > 0) {
      highest = *std::max_element(c.reserved_max.begin(), c.reserved_max.begin() + used);
    }
    std::string reserved_label = i18n::Format("reserved {}", FormatBytes(highest));
    if (highest > 0) {
      StepLine(
          s, area, columns, used, s.theme.text.WithAlpha(0.9), 1, kReservedDash, list, [&](int i) {
            return static_cast<float>(s.BytesToY(static_cast<double>(c.reserved_max[i]), body));
          });
      float width = measure.Width(reserved_label, Font::kSmall);
      auto y = static_cast<float>(s.BytesToY(static_cast<double>(highest), body));
      float label_top = y - 16 < body.y - 1 ? y + 2 : y - 16;
      float left =
          PlaceReservedLabel(body, area, c.reserved_max, used, highest, width, label_top, peak.box);
      if (left >= 0) {
        PillText(s, reserved_label, {left, label_top, width + 1, 14}, s.theme.text, list);
        reserved_labelled = true;
        reserved_box = {left, label_top, width, 14};
      }
    }
    if (s.limit_in_range()) {
      float y =
          std::floor(static_cast<float>(s.BytesToY(static_cast<double>(s.device_limit), body))) +
          0.5f;
      list->Line(body.x, y, body.right(), y, s.theme.bad, 1.5f, kLimitDash);
      std::string label = i18n::Format("GPU {}", FormatBytes(s.device_limit, true));
      float width = measure.Width(label, Font::kSmallBold) + 10;
      // If the label of reserved memory is above this line, put this label below the line.
      Rect chip{body.right() - width - 60, y - 17, width, 15};
      if (!chip.Intersect(reserved_box.Inset(-4, -1)).empty() || chip.y < body.y) chip.y = y + 3;
      list->Box(chip, 3, s.theme.ground.WithAlpha(0.8));
      list->Text(label, chip, Font::kSmallBold, s.theme.bad, Align::kCenter);
      counts->limit_shown = true;
    }
    // Draw the labels last, so that no line crosses a number.
    DrawByteLabels(s, measure, body, peak.box, list);
    list->PopClip();
    float right = draw.place.title.right();
    if (s.baseline) {
      right = TitleLegend(
          s, measure, draw.place.title, right,
          i18n::Format("{}: peak {}", s.baseline_label, FormatBytes(s.baseline->peak().allocated)),
          s.theme.baseline, {}, list);
    }
    if (highest > 0 && !reserved_labelled) {
      right = TitleLegend(s, measure, draw.place.title, right, reserved_label, s.theme.text,
                          kReservedDash, list);
    }
    DrawLaneTitle(draw, i18n::Text(kMemoryTitle), about, right);
    DrawPeak(s, peak, body, list);
  }
};

}  // namespace

std::unique_ptr<const Lane> MakeMemoryLane() { return std::make_unique<MemoryLane>(); }

}  // namespace vramscope::ui::timeline
