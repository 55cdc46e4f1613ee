// A small picture of the whole trace, with a brush over the part that is in view.
#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kHeight = 24;
constexpr float kLabel = 62;

class OverviewLane : public Lane {
 public:
  std::string_view key() const override { return "overview"; }
  std::string Name(const CanvasState&) const override { return i18n::Text("overview"); }
  bool FollowsView() const override { return false; }
  LaneWants Wants(const CanvasState&) const override {
    return {.rows = 1, .row_height = kHeight, .label = kLabel};
  }
  void HitTest(const CanvasState&, const LanePlace&, double, double, Hit* hit) const override {
    hit->kind = HitKind::kOverview;
  }
  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    DrawList* list = draw.list;
    const Rect& box = draw.place.body;
    if (box.x > s.layout.plot_left + 1) {
      std::string label =
          Elide(draw.measure, i18n::Text("overview"), Font::kSmall, box.x - s.layout.plot_left - 4);
      list->Text(label, {s.layout.plot_left, box.y, box.x - s.layout.plot_left, box.h},
                 Font::kSmall, s.theme.faint);
    }
    list->Box(box, 3, s.theme.panel);
    const TimelineData& d = *s.data;
    Span extent = s.viewport.extent();
    auto columns = static_cast<int>(std::max(box.w * s.scale, 1.0));
    const SceneMemory::Overview& shown = Asked(s, extent, columns, draw.memory->overview);
    double top = static_cast<double>(std::max<uint64_t>(d.peak().allocated, 1)) * 1.15;
    list->PushClip(box);
    if (!shown.allocated.empty()) {
      StackPrim& stack = list->Stack(box, static_cast<uint32_t>(columns), 1);
      auto edges = list->edges(stack);
      // Copy `stack`, because the reference becomes invalid when the list of primitives grows.
      StackPrim made = stack;
      list->colors(made)[0] = Mix(s.theme.panel, s.theme.accent, 0.28).argb();
      double ns_per_column = extent.width() / columns;
      for (int i = 0; i < columns; ++i) {
        bool beyond = extent.begin + i * ns_per_column > d.duration_ns();
        double bytes = beyond ? 0 : static_cast<double>(shown.allocated[i]);
        edges[i] = box.bottom();
        edges[columns + i] = box.bottom() - static_cast<float>(bytes / top) * box.h;
      }
    }
    double per_ns = box.w / extent.width();
    auto x_of = [&](double t) { return box.x + static_cast<float>((t - extent.begin) * per_ns); };
    // Draw the phases as a thin band at the bottom.
    for (const query::LaneRect& r : shown.phases) {
      list->FillEdges(x_of(d.FromTrace(r.begin_ns)), box.bottom() - 2, x_of(d.FromTrace(r.end_ns)),
                      box.bottom(), s.theme.phase(static_cast<trace::Phase>(r.style)).argb());
    }
    if (d.peak().allocated > 0) {
      float x = std::floor(x_of(d.FromTrace(d.peak().context.time_ns))) + 0.5f;
      list->Line(x, box.y, x, box.bottom(), s.theme.text.WithAlpha(0.55), 1, {1.5f, 2});
    }
    // Shade the parts that are not in view, and draw the brush's two handles.
    float x0 = x_of(s.viewport.view().begin), x1 = x_of(s.viewport.view().end);
    if (!s.viewport.shows_all()) {
      x1 = std::max(x1, x0 + 3);
      Color veil = s.theme.ground.WithAlpha(s.theme.dark ? 0.62 : 0.7);
      list->Fill({box.x, box.y, x0 - box.x, box.h}, veil);
      list->Fill({x1, box.y, box.right() - x1, box.h}, veil);
    }
    list->PopClip();
    if (!s.viewport.shows_all()) {
      list->Box({x0 - 0.5f, box.y, x1 - x0 + 1, box.h}, 2, {0, 0, 0, 0}, s.theme.accent, 1);
      for (float x : {x0, x1}) {
        list->Box({x - 2, box.y + box.h / 2 - 6, 4, 12}, 2, s.theme.accent);
      }
    } else {
      list->Box(box, 3, {0, 0, 0, 0}, s.theme.line, 1);
    }
    DrawMarks(s, box, box.y, extent, list);
  }

 private:
  static const SceneMemory::Overview& Asked(const CanvasState& s, const Span& extent, int columns,
                                            SceneMemory::Overview& kept) {
    if (kept.extent == extent && kept.columns == columns) return kept;
    // Store the result only when it is complete, so that the queries are repeated if they throw an
    // exception.
    SceneMemory::Overview asked = {
        .extent = extent, .columns = columns, .allocated = {}, .phases = {}};
    const TimelineData& d = *s.data;
    const int64_t begin = d.ToTrace(extent.begin), end = d.ToTrace(extent.end);
    asked.allocated = d.curve_index().Query(begin, end, columns).allocated_max;
    for (int row = 0; row < d.rows(trace::SliceKind::kPhase); ++row) {
      for (const uint32_t lane : d.lanes(trace::SliceKind::kPhase, row)) {
        const auto rects = d.lane_index().Query(lane, begin, end, columns).rects;
        asked.phases.insert(asked.phases.end(), rects.begin(), rects.end());
      }
    }
    kept = std::move(asked);
    return kept;
  }
};

}  // namespace

std::unique_ptr<const Lane> MakeOverviewLane() { return std::make_unique<OverviewLane>(); }

}  // namespace vramscope::ui::timeline
