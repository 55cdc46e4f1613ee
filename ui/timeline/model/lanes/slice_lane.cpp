// The lanes of slices: steps, micro-batches and phases; also nested modules, ops and annotations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using trace::SliceKind;

constexpr float kLabelPad = 6;
// slices narrower than this are drawn as columns
constexpr double kMinSlicePx = 2;

struct SliceStyle {
  Color fill;
  Color text;
  Font font = Font::kSmall;
  float radius = 0;
  bool duration = false;  // whether the label includes the slice's duration
};

// Returns the distinctive end of a module's path, such as "layers.3" or "self_attn".
std::string_view ShortPath(std::string_view path) {
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return path;
  std::string_view last = path.substr(dot + 1);
  bool number = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
  if (!number) return last;
  size_t before = path.rfind('.', dot - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

class SliceDrawer {
 public:
  explicit SliceDrawer(const LaneDrawing& draw)
      : state_(draw.state),
        measure_(draw.measure),
        counts_(draw.counts),
        list_(draw.list),
        next_(draw.answer.rows.data()) {}

  static void Ask(const CanvasState& s, SliceKind kind, int rows, const Rect& body,
                  LaneAnswer* answer) {
    const query::TimeGrid grid = GridOfView(s, body);
    size_t asked = 0;
    for (int row = 0; row < rows; ++row) {
      for (const uint32_t lane : s.data->lanes(kind, row)) {
        if (asked == answer->rows.size()) answer->rows.emplace_back();
        s.data->lane_index().Ask(lane, grid, kMinSlicePx * s.scale, &answer->rows[asked++]);
      }
    }
  }

  // Draws one row. Must be called for the rows in the order in which Ask() queries them.
  void Row(SliceKind kind, int row, const Rect& band) {
    const TimelineData& d = *state_.data;
    for (size_t lane = 0; lane < d.lanes(kind, row).size(); ++lane) {
      const query::LaneView& view = *next_++;
      Columns(kind, view, band);
      for (const query::LaneRect& r : view.rects) {
        const auto x0 = static_cast<float>(state_.viewport.ToX(d.FromTrace(r.begin_ns)));
        const auto x1 = static_cast<float>(state_.viewport.ToX(d.FromTrace(r.end_ns)));
        Slice(r.row, x0, x1, band);
      }
    }
  }

 private:
  SliceStyle StyleOf(uint32_t slice) const {
    const trace::SliceTable& t = state_.data->trace().slices;
    SliceStyle style;
    switch (t.kind[slice]) {
      case SliceKind::kStep:
        style = {state_.theme.raised, state_.theme.dim, Font::kSmallBold, 2, false};
        break;
      case SliceKind::kMicroBatch:
        style = {Mix(state_.theme.raised, state_.theme.line, 0.45), state_.theme.dim, Font::kSmall,
                 2, false};
        break;
      case SliceKind::kPhase:
        style = {Blend(state_.theme.ground, state_.theme.phase(t.phase(slice)).WithAlpha(0.9)),
                 state_.theme.on_color, Font::kSmallBold, 2, true};
        break;
      case SliceKind::kModule:
        style = {Mix(state_.theme.raised, state_.theme.dim, t.depth[slice] % 2 ? 0.22 : 0.14),
                 state_.theme.text, Font::kSmall, 2, false};
        break;
      case SliceKind::kAnnotation:
        style = {Mix(state_.theme.raised, state_.theme.warning, t.depth[slice] % 2 ? 0.16 : 0.24),
                 state_.theme.text, Font::kSmall, 2, true};
        break;
      case SliceKind::kOp:
        style = {Mix(state_.theme.raised, state_.theme.accent, t.depth[slice] % 2 ? 0.18 : 0.26),
                 state_.theme.text, Font::kSmall, 0, false};
        break;
    }
    return style;
  }

  void Slice(uint32_t slice, float x0, float x1, const Rect& band) {
    const SliceStyle style = StyleOf(slice);
    ++counts_->slices;
    // If the slice is wide enough, leave a pixel of background after it.
    float gap = x1 - x0 >= 4 ? 1 : 0;
    float left = std::max(x0, band.x - 4), right = std::min(x1 - gap, band.right() + 4);
    Rect box{left, band.y, std::max(right - left, 0.5f), band.h};
    if (style.radius > 0 && box.w > 6) {
      list_->Box(box, style.radius, style.fill);
    } else {
      list_->Fill(box, style.fill);
    }
    float from = std::max(box.x, band.x) + kLabelPad;
    float room = std::min(box.right(), band.right()) - from - 3;
    if (room < 14) return;
    const TimelineData& d = *state_.data;
    const trace::SliceTable& t = d.trace().slices;
    std::string name = d.SliceName(slice);
    std::string label;
    if (t.kind[slice] == SliceKind::kModule) {
      label = Elide(measure_, ShortPath(name), style.font, room);
    } else {
      // Draw the longest text that fits. The name comes first, then the duration, then "inferred".
      std::string time;
      if (style.duration) {
        time = fmt::format(" {}", LengthOf(d.trace(), t.end_ns[slice] - t.begin_ns[slice]));
      }
      const bool inferred = !SliceRule(d.trace(), slice).empty();
      for (std::string with :
           {inferred ? name + i18n::Text(" (inferred)") + time : name + time, name + time}) {
        if (measure_.Width(with, style.font) > room) continue;
        label = std::move(with);
        break;
      }
      if (label.empty()) label = Elide(measure_, name, style.font, room);
    }
    if (label.empty()) return;
    ++counts_->labels;
    list_->Text(label, {from, band.y, room + 2, band.h}, style.font, style.text);
  }

  // Draws slices that are too narrow for rectangles as columns. A column's alpha is the fraction of
  // it that slices cover.
  void Columns(SliceKind kind, const query::LaneView& view, const Rect& band) {
    // A lane of the index has the slices of one depth. They all have the same color, unless they
    // are phases.
    const auto some =
        std::ranges::find_if(view.columns, [](const query::LaneColumn& c) { return c.count > 0; });
    const Color fill =
        some == view.columns.end() ? state_.theme.raised : StyleOf(some->longest).fill;
    counts_->slice_columns += DrawColumns(
        state_, view, band, 0.25,
        [&](uint8_t style) {
          return kind == SliceKind::kPhase ? state_.theme.phase(static_cast<trace::Phase>(style))
                                           : fill;
        },
        list_);
  }

  const CanvasState& state_;
  const TextMeasure& measure_;
  SceneCounts* counts_;
  DrawList* list_;
  const query::LaneView* next_;
};

// Finds the slice at a time. A slice narrower than a pixel is drawn as a pixel, and the mouse hits
// it at every point of that pixel.
uint32_t SliceNear(const CanvasState& s, trace::SliceKind kind, int row, double time) {
  const TimelineData& d = *s.data;
  double reach = s.viewport.ns_per_px() * 1.5;
  for (double offset : {0.0, -reach / 2, reach / 2, -reach, reach}) {
    for (uint32_t lane : d.lanes(kind, row)) {
      if (auto slice = d.lane_index().At(lane, d.ToTrace(time + offset))) return *slice;
    }
  }
  return kNoSlice;
}

struct Style {
  SliceKind kind;
  std::string_view key;
  float row_height;
  float gap = 0;                // height of the gap below the lane
  const char* title = nullptr;  // only for nested slices; lanes without a title belong to the head
  const char* about = "";
  int at_first = 1;
  std::vector<Concession> concessions{};
};

const Style& StyleOf(SliceKind kind) {
  static const Style kStyles[] = {
      {.kind = SliceKind::kStep, .key = TEXT_MARK("steps"), .row_height = 19, .gap = 2},
      {.kind = SliceKind::kMicroBatch,
       .key = TEXT_MARK("micro_batches"),
       .row_height = 16,
       .gap = 2},
      {.kind = SliceKind::kPhase, .key = TEXT_MARK("phases"), .row_height = 22},
      {.kind = SliceKind::kAnnotation,
       .key = "annotations",
       .row_height = 15,
       .title = TEXT_MARK("annotations"),
       .about = TEXT_MARK("ranges named by the recorded program"),
       .at_first = 3,
       .concessions = {{.until = 1.2f, .rows = 1}, {.until = 1.1f}}},
      {.kind = SliceKind::kModule,
       .key = "modules",
       .row_height = 15,
       .title = TEXT_MARK("modules"),
       .about = TEXT_MARK("modules of the model, outermost first"),
       .at_first = 4,
       .concessions = {{.until = 1.6f, .rows = 2}, {.until = 1, .rows = 1}, {.until = 1}}},
      {.kind = SliceKind::kOp,
       .key = "ops",
       .row_height = 13,
       .title = TEXT_MARK("ops"),
       .about = TEXT_MARK("operators, as PyTorch dispatched them"),
       .at_first = 3,
       .concessions = {{.until = 1.6f, .rows = 1}, {.until = 1.3f}}},
  };
  for (const Style& style : kStyles)
    if (style.kind == kind) return style;
  return kStyles[0];
}

class SliceLane : public Lane {
 public:
  explicit SliceLane(SliceKind kind) : style_(StyleOf(kind)) {}
  std::string_view key() const override { return style_.key; }
  std::string Name(const CanvasState&) const override {
    return i18n::Text(style_.title ? std::string_view(style_.title) : style_.key);
  }
  LaneWants Wants(const CanvasState& s) const override {
    const int rows = s.data ? s.data->rows(style_.kind) : 0;
    // A lane without a title has only one row, in which inner slices cover outer slices.
    return {.rows = style_.title ? rows : std::min(rows, 1),
            .at_first = style_.at_first,
            .row_height = style_.row_height,
            .title = style_.title ? kTitleHeight : 0,
            .gap = style_.gap,
            .concessions = style_.concessions};
  }
  uint64_t Count(const CanvasState& s) const override {
    uint64_t count = 0;
    for (const query::Lane& lane : s.data->lane_index().lanes())
      if (lane.kind == style_.kind) count += lane.slices;
    return count;
  }
  void HitTest(const CanvasState& s, const LanePlace& place, double, double y,
               Hit* hit) const override {
    int from = s.data->rows(style_.kind) - 1, to = 0;
    if (style_.title) {
      from = to = std::clamp(static_cast<int>((y - place.body.y) / place.row_height), 0,
                             std::max(place.rows - 1, 0));
    }
    for (int row = from; row >= to; --row) {
      const uint32_t found = SliceNear(s, style_.kind, row, hit->time);
      if (found == kNoSlice) continue;
      hit->kind = HitKind::kSlice;
      hit->slice = found;
      return;
    }
  }
  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    const int rows = style_.title ? place.rows : s.data->rows(style_.kind);
    SliceDrawer::Ask(s, style_.kind, rows, place.body, answer);
  }
  void Draw(const LaneDrawing& d) const override {
    SliceDrawer drawer(d);
    const int all = d.state.data->rows(style_.kind);
    const LanePlace& place = d.place;
    if (style_.title) {
      std::string about = i18n::Text(style_.about);
      if (all > place.rows) about += i18n::Format(" · {} of {} levels shown", place.rows, all);
      DrawLaneTitle(d, i18n::Text(style_.title), about);
    }
    if (place.body.empty()) return;
    d.list->PushClip(place.body);
    if (style_.title) {
      for (int row = 0; row < place.rows; ++row) {
        Rect band = place.Row(row);
        band.h -= 1;
        drawer.Row(style_.kind, row, band);
      }
    } else {
      for (int row = 0; row < all; ++row) drawer.Row(style_.kind, row, place.body);
    }
    d.list->PopClip();
  }

 private:
  const Style& style_;
};

}  // namespace

Rect SliceRectOf(const CanvasState& s, uint32_t slice) {
  if (!s.data || slice >= s.data->trace().slices.size()) return {};
  const trace::SliceTable& t = s.data->trace().slices;
  const Style& style = StyleOf(t.kind[slice]);
  const LanePlace& lane = s.layout[style.key];
  const int row = style.title ? static_cast<int>(t.depth[slice]) : 0;
  if (lane.body.empty() || row >= lane.rows) return {};
  auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(t.begin_ns[slice])));
  auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(t.end_ns[slice])));
  const Rect band = lane.Row(row);
  return {x0, band.y, x1 - x0, band.h - (style.title ? 1.0f : 0.0f)};
}

std::string_view SliceLaneKey(SliceKind kind) { return StyleOf(kind).key; }

std::unique_ptr<const Lane> MakeSliceLane(SliceKind kind) {
  return std::make_unique<SliceLane>(kind);
}

}  // namespace vramscope::ui::timeline
