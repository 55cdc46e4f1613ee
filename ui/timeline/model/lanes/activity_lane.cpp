// The lanes of activities. A lane shows a stream (kernels, memcpys, memsets and idle gaps), a
// thread (calls, waits and ranges), or collective operations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/run/saturating.h"
#include "profiler/trace/processes.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/activity_names.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using trace::ActivityKind;
using Of = query::ActivityTrack::Of;

constexpr double kMinPx = 2;  // narrower activities are drawn as columns
constexpr float kLabelPad = 5;
constexpr float kLeastLabel = 22;
constexpr float kGapStrip = 3;  // height of the strip with the causes of idle gaps
constexpr int kTints = 3;  // number of shades of kernels; chosen by name, so that neighbours differ

struct Style {
  std::string_view key;
  float row_height;
  int at_first;
};

Style StyleOf(Of of) {
  switch (of) {
    case Of::kStream:
      return {"stream", 20, 2};
    case Of::kCollectives:
      return {"collectives", 18, 2};
    case Of::kDriverMemory:
      return {"driver_memory", 14, 1};
    case Of::kCalls:
      return {"calls", 14, 2};
    case Of::kSynchronizations:
      return {"synchronizations", 14, 1};
    case Of::kOverhead:
      return {"overhead", 12, 1};
    case Of::kRanges:
      return {"ranges", 15, 3};
    case Of::kCounter:
      break;
  }
  return {"counter", 30, 1};
}

Color FillOf(const Theme& theme, query::ActivityStyle style) {
  switch (style.kind) {
    case ActivityKind::kKernel:
      return Mix(theme.kernel, theme.ground, 0.11 * (style.tint % kTints));
    case ActivityKind::kMemcpy:
      return theme.copy;
    case ActivityKind::kMemset:
      return theme.fill;
    case ActivityKind::kCollective:
      return theme.collective;
    case ActivityKind::kDriverAlloc:
    case ActivityKind::kDriverFree:
      return theme.idle[static_cast<size_t>(query::IdleCause::kMemory)];
    case ActivityKind::kSynchronization:
      return theme.idle[static_cast<size_t>(query::IdleCause::kSynchronization)];
    case ActivityKind::kRuntimeCall:
    case ActivityKind::kDriverCall:
      return Mix(theme.raised, theme.accent, style.tint % 2 ? 0.24 : 0.34);
    case ActivityKind::kOverhead:
    case ActivityKind::kRange:
    case ActivityKind::kCounter:
    case ActivityKind::kOperand:
      break;
  }
  return Mix(theme.raised, theme.warning, style.tint % 2 ? 0.16 : 0.24);
}

// Returns the color of an activity's text: dark on data colors, or the normal text color on pale
// colors.
Color InkOf(const CanvasState& s, uint32_t row) {
  switch (s.data->trace().activities.kind[row]) {
    case ActivityKind::kRuntimeCall:
    case ActivityKind::kDriverCall:
    case ActivityKind::kOverhead:
    case ActivityKind::kRange:
    case ActivityKind::kCounter:
      return s.theme.text;
    default:
      return s.theme.on_color;
  }
}

std::string KeyOf(const query::ActivityTrack& track) {
  const std::string_view key = StyleOf(track.of).key;
  switch (track.of) {
    case Of::kStream:
    case Of::kCollectives:
      return fmt::format("{}/{}/{}", key, track.device, track.stream);
    case Of::kDriverMemory:
    case Of::kCounter:
      return fmt::format("{}/{}", key, track.device);
    default:
      return fmt::format("{}/{}", key, track.thread);
  }
}

class ActivityLane : public Lane {
 public:
  // Tracks [first, last) of the index are the rows of this stream or thread.
  ActivityLane(const TimelineData& d, uint32_t first, uint32_t last)
      : first_(first), rows_(static_cast<int>(last - first)) {
    const trace::Trace& t = d.trace();
    const auto tracks = d.activities()->tracks();
    of_ = tracks[first].of;
    key_ = KeyOf(tracks[first]);
    for (uint32_t track = first; track < last; ++track) {
      count_ += tracks[track].count;
      busy_ns_ += tracks[track].busy_ns;
    }
    const std::string device = trace::NameOfDevice(t, tracks[first].device);
    const std::string thread = ThreadName(t, tracks[first].thread);
    switch (of_) {
      case Of::kStream:
        title_ = i18n::Format("{} · stream {}", device, tracks[first].stream);
        gaps_ = d.idle()->LineOf(tracks[first].device, tracks[first].stream);
        break;
      case Of::kCollectives:
        title_ = i18n::Format("{} · collectives of stream {}", device, tracks[first].stream);
        break;
      case Of::kDriverMemory:
        title_ = i18n::Format("{} · driver memory", device);
        break;
      case Of::kCalls:
        title_ = i18n::Format("runtime calls · {}", thread);
        break;
      case Of::kSynchronizations:
        title_ = i18n::Format("synchronization · {}", thread);
        break;
      case Of::kOverhead:
        title_ = i18n::Format("instrumentation overhead · {}", thread);
        break;
      case Of::kRanges:
        title_ = i18n::Format("ranges · {}", thread);
        break;
      case Of::kCounter:
        break;
    }
    about_ = of_ == Of::kStream ? KindsOf(d) : fmt::format("{} {}", FormatCount(count_), Noun());
    if (of_ != Of::kDriverMemory)
      about_ += i18n::Format(" · {}, {:.0f} % of the time", FormatDuration(run::ToInt64(busy_ns_)),
                             100 * static_cast<double>(busy_ns_) / d.duration_ns());
  }

  std::string_view key() const override { return key_; }
  std::string Name(const CanvasState&) const override { return title_; }
  uint64_t Count(const CanvasState&) const override { return count_; }
  LaneWants Wants(const CanvasState&) const override {
    const Style style = StyleOf(of_);
    return {.rows = rows_,
            .at_first = style.at_first,
            .row_height = style.row_height,
            .title = kSlimTitle,
            .concessions = {{.until = 1.6f, .rows = 1}, {.until = 1.3f}}};
  }

  void HitTest(const CanvasState& s, const LanePlace& place, double, double y,
               Hit* hit) const override {
    const int row = std::clamp(static_cast<int>((y - place.body.y) / place.row_height), 0,
                               std::max(place.rows - 1, 0));
    const TimelineData& d = *s.data;
    // An activity narrower than a pixel is drawn as one pixel. The mouse hits the activity at every
    // point of that pixel.
    const double reach = s.viewport.ns_per_px() * 1.5;
    for (const double offset : {0.0, -reach / 2, reach / 2, -reach, reach}) {
      const auto found =
          d.activities()->At(first_ + static_cast<uint32_t>(row), d.ToTrace(hit->time + offset));
      if (!found) continue;
      hit->kind = HitKind::kActivity;
      hit->activity = *found;
      return;
    }
    if (!gaps_) return;
    if (const auto gap = d.idle()->At(*gaps_, d.ToTrace(hit->time))) {
      hit->kind = HitKind::kIdle;
      hit->gap = *gap;
    }
  }

  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    const query::TimeGrid grid = GridOfView(s, place.body);
    answer->rows.resize(static_cast<size_t>(place.rows));
    for (uint32_t row = 0; row < answer->rows.size(); ++row)
      s.data->activities()->Ask(first_ + row, grid, kMinPx * s.scale, &answer->rows[row]);
    if (!gaps_) return;
    const auto [begin, end] = TraceView(s);
    answer->gaps = s.data->idle()->Long(*gaps_, begin, end,
                                        static_cast<uint64_t>(kMinPx * s.viewport.ns_per_px()));
  }

  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    DrawLaneTitle(draw, title_, about_);
    if (draw.place.body.empty()) return;
    draw.list->PushClip(draw.place.body);
    for (int row = 0; row < draw.place.rows; ++row) {
      Rect band = draw.place.Row(row);
      band.h -= 1;
      const query::LaneView& view = draw.answer.rows[static_cast<size_t>(row)];
      draw.counts->slice_columns += DrawColumns(
          s, view, band, of_ == Of::kDriverMemory ? 0.8 : 0.35,
          [&](uint8_t style) { return FillOf(s.theme, query::ActivityStyle::FromByte(style)); },
          draw.list);
      for (const query::LaneRect& r : view.rects) Rectangle(draw, r, band);
    }
    DrawGaps(draw);
    draw.list->PopClip();
  }

  Tooltip Tip(const CanvasState& s, const Hit& hit) const override {
    return TooltipOfThing(s, hit);
  }

 private:
  // Returns a text such as "12,360 kernels, 600 memcpys".
  std::string KindsOf(const TimelineData& d) const {
    std::string text;
    for (const auto& [kind, one, many] :
         {std::tuple{ActivityKind::kKernel, i18n::Text("kernel"), i18n::Text("kernels")},
          std::tuple{ActivityKind::kMemcpy, i18n::Text("memcpy"), i18n::Text("memcpys")},
          std::tuple{ActivityKind::kMemset, i18n::Text("memset"), i18n::Text("memsets")}}) {
      uint64_t count = 0;
      for (uint32_t track = first_; track < first_ + static_cast<uint32_t>(rows_); ++track)
        count += d.ActivitiesOn(track, kind);
      if (count > 0)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", FormatCount(count),
                            count == 1 ? one : many);
    }
    return text;
  }

  std::string_view Noun() const {
    switch (of_) {
      case Of::kCollectives:
        return i18n::Text("collectives");
      case Of::kDriverMemory:
        return i18n::Text("driver allocations and frees");
      case Of::kCalls:
        return i18n::Text("calls");
      case Of::kSynchronizations:
        return i18n::Text("host waits for the device");
      default:
        return i18n::Text("ranges");
    }
  }

  void Rectangle(const LaneDrawing& draw, const query::LaneRect& r, const Rect& band) const {
    const CanvasState& s = draw.state;
    ++draw.counts->activities;
    const auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(r.begin_ns)));
    const auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(r.end_ns)));
    // If the activity is wide enough, leave a pixel of background after it.
    const float hair = x1 - x0 >= 4 ? 1 : 0;
    const float left = std::max(x0, band.x - 4), right = std::min(x1 - hair, band.right() + 4);
    draw.list->Fill({left, band.y, std::max(right - left, 0.5f), band.h},
                    FillOf(s.theme, query::ActivityStyle::FromByte(r.style)));
    const float from = std::max(left, band.x) + kLabelPad;
    const float room = std::min(right, band.right()) - from - 3;
    if (room < kLeastLabel || band.h < 11) return;
    const std::string label =
        Elide(draw.measure, ActivityLabel(s.data->trace(), r.row), Font::kSmall, room);
    if (label.empty()) return;
    ++draw.counts->labels;
    draw.list->Text(label, {from, band.y, room + 2, band.h}, Font::kSmall, InkOf(s, r.row));
  }

  void DrawGaps(const LaneDrawing& draw) const {
    const CanvasState& s = draw.state;
    Rect strip = draw.place.Row(0);
    strip.y = strip.bottom() - 1 - kGapStrip;
    strip.h = kGapStrip;
    for (const query::LaneRect& gap : draw.answer.gaps) {
      const auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(gap.begin_ns)));
      const auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(gap.end_ns)));
      ++draw.counts->gaps;
      draw.list->Fill({std::max(x0, strip.x), strip.y,
                       std::min(x1, strip.right()) - std::max(x0, strip.x), strip.h},
                      s.theme.idle[gap.style].WithAlpha(0.8));
    }
  }

  uint32_t first_;
  int rows_;
  Of of_ = Of::kStream;
  std::string key_, title_, about_;
  uint64_t count_ = 0, busy_ns_ = 0;
  std::optional<uint32_t> gaps_;  // index of the stream's line in IdleGaps
};

}  // namespace

Rect ActivityRectOf(const CanvasState& s, uint32_t row) {
  if (!s.data || s.data->activities() == nullptr) return {};
  const trace::ActivityTable& a = s.data->trace().activities;
  if (row >= a.size()) return {};
  const query::ActivityTrack& track =
      s.data->activities()->tracks()[s.data->activities()->TrackOf(row)];
  const LanePlace& lane = s.layout[KeyOf(track)];
  if (lane.body.empty() || static_cast<int>(track.depth) >= lane.rows) return {};
  const auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(a.begin_ns[row])));
  const auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(a.end_ns[row])));
  const Rect band = lane.Row(static_cast<int>(track.depth));
  return {x0, band.y, x1 - x0, band.h - 1};
}

std::string ActivityLaneKey(const TimelineData& data, uint32_t activity) {
  return KeyOf(data.activities()->tracks()[data.activities()->TrackOf(activity)]);
}

std::unique_ptr<const Lane> MakeActivityLane(const TimelineData& data, uint32_t first,
                                             uint32_t last) {
  return std::make_unique<ActivityLane>(data, first, last);
}

}  // namespace vramscope::ui::timeline
