// Times at which all streams of a device are idle, and why they are idle.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/trace/processes.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kHeight = 14;
constexpr double kMinPx = 2;
constexpr float kSwatch = 7;
constexpr float kLeastLabel = 40;

std::string KeyOf(uint8_t device) { return fmt::format("idle/{}", device); }

class IdleLane : public Lane {
 public:
  IdleLane(const TimelineData& d, uint32_t line) : line_(line) {
    const query::IdleGaps::Line& l = d.idle()->lines()[line];
    key_ = KeyOf(l.device);
    title_ = i18n::Format("{} · idle", trace::NameOfDevice(d.trace(), l.device));
    const auto span = static_cast<double>(std::max<int64_t>(l.end_ns - l.begin_ns, 1));
    about_ = i18n::Format("{:.1f} % of {}", 100 * static_cast<double>(l.idle_ns) / span,
                          FormatDuration(l.end_ns - l.begin_ns));
    for (int cause = 0; cause < query::kIdleCauseCount; ++cause)
      share_[static_cast<size_t>(cause)] =
          100 * static_cast<double>(l.idle_by_cause[static_cast<size_t>(cause)]) / span;
  }

  std::string_view key() const override { return key_; }
  std::string Name(const CanvasState&) const override { return title_; }
  uint64_t Count(const CanvasState& s) const override {
    return s.data->idle()->lines()[line_].gaps;
  }
  LaneWants Wants(const CanvasState&) const override {
    return {
        .rows = 1, .row_height = kHeight, .title = kSlimTitle, .concessions = {{.until = 1.3f}}};
  }

  void HitTest(const CanvasState& s, const LanePlace&, double, double, Hit* hit) const override {
    const auto gap = s.data->idle()->At(line_, s.data->ToTrace(hit->time));
    if (!gap) return;
    hit->kind = HitKind::kIdle;
    hit->gap = *gap;
  }

  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    answer->rows.resize(1);
    s.data->idle()->Ask(line_, GridOfView(s, place.body), kMinPx * s.scale, answer->rows.data());
  }

  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    DrawTitle(draw);
    const Rect& body = draw.place.body;
    if (body.empty()) return;
    const TimelineData& d = *s.data;
    draw.list->PushClip(body);
    draw.list->Fill(body, Mix(s.theme.ground, s.theme.panel, 0.5));
    const query::LaneView& view = draw.answer.rows[0];
    draw.counts->slice_columns += DrawColumns(
        s, view, body, 0.2, [&](uint8_t cause) { return s.theme.idle[cause]; }, draw.list);
    for (const query::LaneRect& gap : view.rects) {
      const auto x0 = static_cast<float>(s.viewport.ToX(d.FromTrace(gap.begin_ns)));
      const auto x1 = static_cast<float>(s.viewport.ToX(d.FromTrace(gap.end_ns)));
      const float left = std::max(x0, body.x), right = std::min(x1, body.right());
      ++draw.counts->gaps;
      draw.list->Fill({left, body.y, right - left, body.h}, s.theme.idle[gap.style]);
      if (right - left < kLeastLabel || body.h < 11) continue;
      const std::string label =
          Elide(draw.measure,
                fmt::format("{} {}", Name(static_cast<query::IdleCause>(gap.style)),
                            FormatDuration(gap.end_ns - gap.begin_ns)),
                Font::kSmall, right - left - 8);
      if (label.empty()) continue;
      ++draw.counts->labels;
      draw.list->Text(label, {left + 4, body.y, right - left - 6, body.h}, Font::kSmall,
                      s.theme.on_color);
    }
    draw.list->PopClip();
  }

 private:
  using Lane::Name;
  static std::string_view Name(query::IdleCause cause) { return i18n::Text(query::Name(cause)); }

  // Draws the title, which is also the legend: it names the causes in their colors.
  void DrawTitle(const LaneDrawing& draw) const {
    DrawLaneTitle(draw, title_, about_);
    const Rect& box = draw.place.title;
    const CanvasState& s = draw.state;
    float x = box.x + 13 + draw.measure.Width(title_, Font::kSmallBold) + 12 +
              draw.measure.Width(about_, Font::kSmall) + 16;
    for (int cause = 0; cause < query::kIdleCauseCount; ++cause) {
      const auto i = static_cast<size_t>(cause);
      if (share_[i] < 0.05) continue;
      const std::string text =
          fmt::format("{} {:.1f} %", Name(static_cast<query::IdleCause>(cause)), share_[i]);
      const float width = draw.measure.Width(text, Font::kSmall);
      if (x + kSwatch + 5 + width > box.right()) return;
      draw.list->Box({x, box.y + (box.h - kSwatch) / 2, kSwatch, kSwatch}, 2, s.theme.idle[i]);
      draw.list->Text(text, {x + kSwatch + 5, box.y, width + 2, box.h}, Font::kSmall, s.theme.dim);
      x += kSwatch + 5 + width + 14;
    }
  }

  uint32_t line_;
  std::string key_, title_, about_;
  std::array<double, query::kIdleCauseCount> share_{};  // percent of the time that the lane covers
};

}  // namespace

std::string IdleLaneKey(const TimelineData& d, uint32_t gap) {
  return KeyOf(d.trace().activities.device[d.idle()->Gap(gap).before]);
}

std::unique_ptr<const Lane> MakeIdleLane(const TimelineData& data, uint32_t line) {
  return std::make_unique<IdleLane>(data, line);
}

}  // namespace vramscope::ui::timeline
