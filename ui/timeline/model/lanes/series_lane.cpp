// Low lanes for values over time: counters, page-locked host memory, and the memory of each device.
// The lanes of all devices have the same scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kHeight = 30;

// Draws a filled curve with an outline. `highest` is the value at the upper edge of the band.
void DrawCurve(const LaneDrawing& draw, uint64_t highest, Color color) {
  const query::CurveColumns& curve = draw.answer.curve;
  const std::vector<uint64_t>& values = curve.allocated_max;
  const Rect body = AreaOf(draw.state, curve.grid, draw.place.body);
  const int used = ColumnsWithData(draw.state, curve.grid);
  const auto columns = static_cast<uint32_t>(values.size());
  if (columns == 0) return;
  const StackPrim stack = draw.list->Stack(body, columns, 1);
  draw.list->colors(stack)[0] = Mix(draw.state.theme.ground, color, 0.45).argb();
  const auto edges = draw.list->edges(stack);
  const double per_unit = (body.h - 2) / static_cast<double>(std::max<uint64_t>(highest, 1));
  for (uint32_t i = 0; i < columns; ++i) {
    edges[i] = body.bottom();
    edges[columns + i] =
        body.bottom() - (static_cast<int>(i) < used
                             ? static_cast<float>(static_cast<double>(values[i]) * per_unit)
                             : 0.0f);
  }
}

class SeriesLane : public Lane {
 public:
  explicit SeriesLane(const Series& series) : series_(series) {}
  std::string_view key() const override { return series_.key; }
  std::string Name(const CanvasState&) const override { return series_.title; }
  uint64_t Count(const CanvasState&) const override { return series_.changes; }
  LaneWants Wants(const CanvasState&) const override {
    return {.rows = 1,
            .row_height = kHeight,
            .title = kSlimTitle,
            .folded = series_.little,
            .concessions = {{.until = 1.3f}}};
  }
  void HitTest(const CanvasState&, const LanePlace&, double, double, Hit* hit) const override {
    hit->kind = HitKind::kMemory;
  }
  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    series_.index->Ask(GridOfView(s, place.body), &answer->curve);
  }
  void Draw(const LaneDrawing& draw) const override {
    DrawLaneTitle(draw, series_.title, series_.about);
    if (draw.place.body.empty()) return;
    draw.list->PushClip(draw.place.body);
    DrawCurve(draw, series_.highest, draw.state.theme.copy);
    draw.list->PopClip();
  }
  Tooltip Tip(const CanvasState& s, const Hit& hit) const override {
    const auto text = [&](uint64_t value) {
      return series_.bytes ? FormatBytes(value) : FormatCount(value);
    };
    Tooltip tip;
    tip.title = text(series_.At(s.TraceTime(hit.time)));
    tip.subtitle = series_.title + " · " + TimeTextOf(s.data->trace(), s.TraceTime(hit.time));
    tip.rows.push_back({i18n::Text("at most"), text(series_.highest), {}});
    if (!series_.largest.empty())
      tip.rows.push_back({i18n::Text("largest call site at the peak"), series_.largest, {}});
    return tip;
  }

 private:
  const Series& series_;
};

class DeviceLane : public Lane {
 public:
  DeviceLane(const TimelineData& d, const DeviceMemory& memory) : memory_(memory) {
    key_ = fmt::format("device/{}", memory.device);
    for (const DeviceMemory& other : d.devices()) {
      most_ = std::max(most_, other.peak);
      scale_ = std::max({scale_, other.peak, other.reserved});
    }
    // If several devices have the highest peak, none of them is emphasized.
    const auto with_most = std::count_if(d.devices().begin(), d.devices().end(),
                                         [&](const DeviceMemory& m) { return m.peak == most_; });
    stands_out_ = memory.peak == most_ && with_most == 1;
    about_ = i18n::Format("peak {}", FormatBytes(memory.peak));
    if (stands_out_) {
      about_ += i18n::Text(" · highest peak");
    } else if (memory.peak < most_) {
      about_ +=
          i18n::Format(" · {} below the highest peak ({:.1f} %)", FormatBytes(most_ - memory.peak),
                       100 * static_cast<double>(most_ - memory.peak) / static_cast<double>(most_));
    } else {
      about_ += i18n::Text(" · equal to the highest peak");
    }
  }
  std::string_view key() const override { return key_; }
  std::string Name(const CanvasState&) const override {
    return memory_.name + i18n::Text(" · memory");
  }
  uint64_t Count(const CanvasState&) const override { return memory_.curve->size(); }
  LaneWants Wants(const CanvasState&) const override {
    return {
        .rows = 1, .row_height = kHeight, .title = kSlimTitle, .concessions = {{.until = 1.3f}}};
  }
  void HitTest(const CanvasState&, const LanePlace&, double, double, Hit* hit) const override {
    hit->kind = HitKind::kMemory;
  }
  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    memory_.index->Ask(GridOfView(s, place.body), &answer->curve);
  }
  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    DrawLaneTitle(draw, memory_.name + i18n::Text(" · memory"), about_);
    const Rect& body = draw.place.body;
    if (body.empty()) return;
    const Color color = stands_out_ ? s.theme.warning : s.theme.accent;
    draw.list->PushClip(body);
    DrawCurve(draw, scale_, color);
    // Draw a line at the highest peak of all devices. The distance between a curve and this line
    // shows how unequal the devices are.
    const float y =
        std::floor(body.bottom() - (body.h - 2) * static_cast<float>(static_cast<double>(most_) /
                                                                     static_cast<double>(scale_))) +
        0.5f;
    draw.list->Line(body.x, y, body.right(), y, s.theme.warning.WithAlpha(0.7), 1, {4, 4});
    const auto x = static_cast<float>(s.viewport.ToX(s.data->FromTrace(memory_.peak_ns)));
    const float peak =
        body.bottom() - (body.h - 2) * static_cast<float>(static_cast<double>(memory_.peak) /
                                                          static_cast<double>(scale_));
    draw.list->Circle(x, std::max(peak, body.y + 3), 3, s.theme.ground, color, 1.5f);
    draw.list->PopClip();
  }
  Tooltip Tip(const CanvasState& s, const Hit& hit) const override {
    Tooltip tip;
    const int64_t time = s.TraceTime(hit.time);
    tip.title = memory_.name;
    tip.subtitle = TimeTextOf(s.data->trace(), time);
    for (const DeviceMemory& m : s.data->devices()) {
      const auto& times = m.curve->time_ns;
      const auto at = std::upper_bound(times.begin(), times.end(), time) - times.begin();
      const uint64_t now = at == 0 ? 0 : m.curve->allocated[static_cast<size_t>(at) - 1];
      std::string text = i18n::Format("{} of {}", FormatBytes(now), FormatBytes(m.peak));
      std::optional<Color> swatch;
      if (m.device == memory_.device) swatch = stands_out_ ? s.theme.warning : s.theme.accent;
      tip.rows.push_back({m.name, std::move(text), swatch});
      if (tip.rows.size() == kMostRows) break;
    }
    return tip;
  }

 private:
  static constexpr size_t kMostRows = 16;
  const DeviceMemory& memory_;
  std::string key_, about_;
  uint64_t most_ = 0, scale_ = 1;
  bool stands_out_ = false;
};

}  // namespace

std::unique_ptr<const Lane> MakeSeriesLane(const Series& series) {
  return std::make_unique<SeriesLane>(series);
}

std::unique_ptr<const Lane> MakeDeviceLane(const TimelineData& data, const DeviceMemory& memory) {
  return std::make_unique<DeviceLane>(data, memory);
}

}  // namespace vramscope::ui::timeline
