// The difference between the run and the baseline, phase by phase.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kHeight = 30;

class DifferenceLane : public Lane {
 public:
  std::string_view key() const override { return "difference"; }
  std::string Name(const CanvasState&) const override { return i18n::Text("difference"); }
  LaneWants Wants(const CanvasState& s) const override {
    return {.rows = s.baseline != nullptr ? 1 : 0,
            .row_height = kHeight,
            .title = kTitleHeight,
            .concessions = {{.until = 1, .rows = Concession::kGone}}};
  }
  void HitTest(const CanvasState&, const LanePlace&, double, double, Hit* hit) const override {
    hit->kind = HitKind::kMemory;
  }
  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    const TextMeasure& measure = draw.measure;
    SceneCounts* counts = draw.counts;
    DrawList* list = draw.list;
    const Rect& body = draw.place.body;
    if (!s.baseline) return;
    auto peak = static_cast<int64_t>(s.data->peak().allocated);
    auto baseline_peak = static_cast<int64_t>(s.baseline->peak().allocated);
    // If the baseline is shorter than the run, draw no difference after the baseline's end. The
    // baseline's memory is not 0 there, but unknown.
    const bool ends = s.baseline_map.Map(s.data->duration_ns()) > s.baseline->duration_ns() + 1;
    DrawLaneTitle(draw, i18n::Text("difference"),
                  i18n::Format("compared with {}, phase by phase · the peaks differ by {}{}",
                               s.baseline_label, FormatSignedBytes(peak - baseline_peak),
                               ends ? i18n::Text(" · the other run ends earlier") : ""));
    if (body.h < 4) return;
    int columns = DeviceColumns(s, body);
    const std::vector<int64_t> edges = EdgesOfView(s, columns);
    const std::vector<uint64_t> shown = s.data->curve_index().AllocatedBetween(edges);
    const BaselineColumns baseline = BaselineUnderView(s, edges);
    const int used = std::min(ColumnsWithData(s, columns), baseline.end);
    const int with_data = ColumnsWithData(s, columns);
    std::vector<double> difference(columns, 0);
    double highest = 0, lowest = 0;
    for (int i = 0; i < used; ++i) {
      difference[i] = static_cast<double>(shown[i]) - static_cast<double>(baseline.allocated[i]);
      highest = std::max(highest, difference[i]);
      lowest = std::min(lowest, difference[i]);
    }
    counts->difference_highest = highest;
    counts->difference_lowest = lowest;
    counts->difference_end = static_cast<uint32_t>(used);
    // The scale is at least 5 % of the memory axis, because otherwise tiny differences would fill
    // the lane.
    double scale = std::max({highest - lowest, static_cast<double>(s.axis.max) * 0.05, 1.0});
    float zero = body.y + static_cast<float>(highest / scale) * (body.h - 2) + 1;
    list->PushClip(body);
    float per_column = body.w / static_cast<float>(columns);
    for (int i = 0; i < used;) {
      int j = i + 1;
      while (j < used && difference[j] == difference[i]) ++j;
      if (difference[i] != 0) {
        float y = zero - static_cast<float>(difference[i] / scale) * (body.h - 2);
        Color color = (difference[i] > 0 ? s.theme.bad : s.theme.good).WithAlpha(0.75);
        list->FillEdges(body.x + static_cast<float>(i) * per_column, std::min(y, zero),
                        body.x + static_cast<float>(j) * per_column, std::max(y, zero),
                        color.argb());
      }
      i = j;
    }
    float line = std::floor(zero) + 0.5f;
    const float gap = body.x + static_cast<float>(used) * per_column;
    list->Line(body.x, line, used < with_data ? gap : body.right(), line,
               s.theme.dim.WithAlpha(0.7));
    if (used < with_data) {
      const float right = body.x + static_cast<float>(with_data) * per_column;
      const std::string text = Elide(measure, i18n::Format("{} ends here", s.baseline_label),
                                     Font::kSmall, right - gap - 8);
      if (!text.empty())
        list->Text(text, {gap + 4, body.y, right - gap - 4, body.h}, Font::kSmall, s.theme.dim);
    }
    list->PopClip();
    auto label = [&](double value, float y) {
      std::string text = FormatSignedBytes(static_cast<int64_t>(value));
      float width = measure.Width(text, Font::kSmall);
      PillText(s, text, {body.right() - width - 7, y, width + 2, 14},
               Mix(s.theme.text, s.theme.dim, 0.5), list);
    };
    if (highest > scale * 0.4) label(highest, body.y);
    if (-lowest > scale * 0.4) label(lowest, body.bottom() - 14);
  }
};

}  // namespace

std::unique_ptr<const Lane> MakeDifferenceLane() { return std::make_unique<DifferenceLane>(); }

}  // namespace vramscope::ui::timeline
