// Draws the overlay: cursor, range, outlines and tooltip. Also draws what the canvas shows without
// a trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/trace/segment_record.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kTooltipPad = 10;
constexpr float kTooltipRow = 17;
constexpr float kTooltipMaxText = 420;

void Outline(const CanvasState& s, Rect r, const Rect& clip, Color color, float width,
             DrawList* list) {
  if (clip.empty() || r.right() < clip.x - 2 || r.x > clip.right() + 2) return;
  // Make the outline at least 3 px wide and high, so that it is visible even for the smallest
  // allocation.
  float w = std::max(r.w, 3.0f), h = std::max(r.h, 3.0f);
  Rect box{r.x - (w - r.w) / 2, r.y - (h - r.h) / 2, w, h};
  float left = std::max(box.x, clip.x - 4), right = std::min(box.right(), clip.right() + 4);
  box.x = left;
  box.w = right - left;
  // Draw the outline around the thing, so that the thing's color stays visible. A halo makes the
  // outline stand out from every color.
  list->PushClip({clip.x - 3, clip.y - 3, clip.w + 6, clip.h + 6});
  float halo = width + 1.5f;
  list->Box(box.Inset(-halo, -halo), 3, {0, 0, 0, 0}, s.theme.ground.WithAlpha(0.8), halo);
  list->Box(box.Inset(-width - 0.5f, -width - 0.5f), 2.5f, {0, 0, 0, 0}, color, width);
  list->PopClip();
}

void OutlineActivity(const CanvasState& s, uint32_t row, float width, DrawList* list) {
  const LanePlace& lane = s.layout[ActivityLaneKey(*s.data, row)];
  Outline(s, ActivityRectOf(s, row), lane.view(), s.theme.selection, width, list);
}

// Draws a dashed line from a call to the activity that it launched, across the lanes between them.
void DrawFlow(const CanvasState& s, uint32_t a, uint32_t b, DrawList* list) {
  const trace::ActivityTable& t = s.data->trace().activities;
  if (trace::IsOfDevice(t.kind[a])) std::swap(a, b);
  if (trace::IsOfDevice(t.kind[a]) || !trace::IsOfDevice(t.kind[b])) return;
  const Rect from = ActivityRectOf(s, a), to = ActivityRectOf(s, b);
  const Rect all{s.layout.plot_left, s.layout.scroll_top, s.layout.plot_width,
                 s.layout.height - s.layout.scroll_top};
  if (from.h <= 0 || to.h <= 0) return;
  list->PushClip(all);
  const Point line[] = {{from.x + from.w / 2, from.y + from.h / 2}, {to.x, to.y + to.h / 2}};
  list->Polyline(line, s.theme.selection.WithAlpha(0.7), 1, {4, 3});
  list->PopClip();
}

// Outlines the slices of the module and the op that made the allocation.
void OutlineMakers(const CanvasState& s, trace::AllocationId id, DrawList* list) {
  const TimelineData& d = *s.data;
  const trace::Trace& t = d.trace();
  const trace::AllocationTable& a = t.allocations;
  for (auto [kind, key, name] :
       {std::tuple{trace::SliceKind::kModule, "modules", a.module[id.value]},
        std::tuple{trace::SliceKind::kOp, "ops", a.op[id.value]}}) {
    const LanePlace& lane = s.layout[key];
    if (!lane.visible || lane.body.empty() || name.value == 0) continue;
    for (int row = 0; row < lane.rows; ++row) {
      for (uint32_t l : d.lanes(kind, row)) {
        auto slice = d.lane_index().At(l, a.begin_ns[id.value]);
        if (slice && t.slices.name[*slice] == name) {
          Outline(s, SliceRectOf(s, *slice), lane.view(), s.theme.selection, 1.5f, list);
        }
      }
    }
  }
}

void DrawSelection(const CanvasState& s, DrawList* list) {
  const TimelineData& d = *s.data;
  const LanePlace& memory = s.layout["memory"];
  if (s.selection.valid() && s.selection.value < d.trace().allocations.size()) {
    const LanePlace& blocks = s.layout["blocks"];
    if (blocks.visible && !blocks.body.empty()) {
      Outline(s, BlockRectOf(s, s.selection), blocks.view(), s.theme.selection, 1.5f, list);
    }
    OutlineMakers(s, s.selection, list);
    for (const uint32_t row : KernelsWith(d, s.selection)) OutlineActivity(s, row, 1, list);
    // Draw the lifetime as a bracket at the top of the memory lane.
    if (!memory.body.empty()) {
      const trace::AllocationTable& a = d.trace().allocations;
      auto x0 = static_cast<float>(s.viewport.ToX(d.FromTrace(a.begin_ns[s.selection.value])));
      auto x1 = static_cast<float>(s.viewport.ToX(d.FromTrace(a.end_ns[s.selection.value])));
      list->PushClip(memory.clip);
      list->PushClip({memory.body.x - 1, memory.body.y - 1, memory.body.w + 2, memory.body.h});
      float y = memory.body.y + 3;
      x0 = std::max(x0, memory.body.x - 20);
      x1 = std::min(x1, memory.body.right() + 20);
      if (x1 >= x0) {
        trace::Category category = d.trace().allocations.main_category[s.selection.value];
        list->Line(x0, y, std::max(x1, x0 + 2), y, s.theme.selection, 5);
        list->Line(x0 + 1, y, std::max(x1 - 1, x0 + 1), y, s.theme.category(category), 3);
        for (float x : {x0, x1}) list->Line(x, y, x, y + 9, s.theme.selection, 1.5f);
      }
      list->PopClip();
      list->PopClip();
    }
  }
  if (s.selected_activity != query::kNoRow) {
    const std::vector<uint32_t> related = Related(d, s.selected_activity);
    for (const uint32_t row : related) {
      if (row == s.selected_activity) continue;
      OutlineActivity(s, row, 1, list);
      DrawFlow(s, s.selected_activity, row, list);
    }
    const uint32_t op = d.activities()->SliceOf(s.selected_activity, trace::SliceKind::kOp);
    if (op != query::kNoRow) {
      Outline(s, SliceRectOf(s, op), s.layout["ops"].view(), s.theme.selection, 1, list);
    }
    for (const trace::AllocationId id : BlocksWith(d, s.selected_activity))
      Outline(s, BlockRectOf(s, id), s.layout["blocks"].view(), s.theme.selection, 1, list);
    OutlineActivity(s, s.selected_activity, 1.5f, list);
  }
  if (s.selected_gap != query::kNoRow) {
    const query::IdleGap gap = d.idle()->Gap(s.selected_gap);
    const LanePlace& lane = s.layout[IdleLaneKey(d, s.selected_gap)];
    const auto x0 = static_cast<float>(s.viewport.ToX(d.FromTrace(gap.begin_ns)));
    const auto x1 = static_cast<float>(s.viewport.ToX(d.FromTrace(gap.end_ns)));
    Outline(s, {x0, lane.body.y, x1 - x0, lane.body.h}, lane.view(), s.theme.selection, 1.5f, list);
  }
  if (s.selected_slice != kNoSlice) {
    Rect r = SliceRectOf(s, s.selected_slice);
    const LanePlace& lane = s.layout[SliceLaneKey(d.trace().slices.kind[s.selected_slice])];
    if (!r.empty()) Outline(s, r, lane.view(), s.theme.selection, 1.5f, list);
  }
}

void DrawRange(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const std::optional<Span>& range = s.zoom_range ? s.zoom_range : s.range;
  if (!range) return;
  auto x0 = static_cast<float>(s.viewport.ToX(range->begin));
  auto x1 = static_cast<float>(s.viewport.ToX(range->end));
  const Rect& ruler = s.layout["ruler"].body;
  Rect all{ruler.x, ruler.y, ruler.w, s.layout.data_bottom() - ruler.y};
  if (x1 < all.x || x0 > all.right()) return;
  list->PushClip(all);
  x0 = std::max(x0, all.x - 2);
  x1 = std::min(x1, all.right() + 2);
  list->Fill({x0, all.y, x1 - x0, all.h}, s.theme.accent.WithAlpha(s.theme.dark ? 0.14 : 0.12));
  for (float x : {x0, x1}) {
    float at = std::floor(x) + 0.5f;
    list->Line(at, all.y, at, all.bottom(), s.theme.accent, 1);
  }
  std::string label = LengthOf(s.data->trace(), std::llround(range->width()));
  if (!s.dragging_range) label += i18n::Text(" · Esc");
  float width = measure.Width(label, Font::kSmallBold) + 14;
  float x = std::clamp((x0 + x1 - width) / 2, all.x, std::max(all.right() - width, all.x));
  list->Box({x, ruler.y + 1, width, 17}, 8.5f, s.theme.accent);
  list->Text(label, {x, ruler.y + 1, width, 17}, Font::kSmallBold,
             s.theme.dark ? s.theme.ground : s.theme.panel, Align::kCenter);
  list->PopClip();
}

void DrawVertical(const CanvasState& s, double x, Color color, Dash dash, DrawList* list) {
  float at = std::floor(static_cast<float>(x)) + 0.5f;
  float left = s.layout.plot_left, right = left + s.layout.plot_width;
  if (at < left || at > right + 1) return;
  list->Line(at, s.layout.data_top(), at, s.layout.data_bottom(), color, 1, dash);
}

void TimeChip(const CanvasState& s, const TextMeasure& measure, double time, Color fill, Color text,
              DrawList* list) {
  const Rect& ruler = s.layout["ruler"].body;
  double x = s.viewport.ToX(time);
  if (x < ruler.x || x > ruler.right() + 1) return;
  int64_t resolution = 1;
  while (static_cast<double>(resolution) * 10 <= s.viewport.ns_per_px()) resolution *= 10;
  const std::string label = TimeTextOf(s.data->trace(), s.TraceTime(time), resolution);
  float width = measure.Width(label, Font::kSmall) + 12;
  float left = std::clamp(static_cast<float>(x) - width / 2, ruler.x,
                          std::max(ruler.right() - width, ruler.x));
  list->Box({left, ruler.y + 1, width, 17}, 4, fill, s.theme.line);
  list->Text(label, {left, ruler.y + 1, width, 17}, Font::kSmall, text, Align::kCenter);
}

void DrawHover(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  if (!s.hovering || s.hover.kind == HitKind::kTitle || s.hover.kind == HitKind::kOverview ||
      s.hover.kind == HitKind::kLowerEdge || s.hover.kind == HitKind::kScrollBar)
    return;
  DrawVertical(s, s.hover_x, s.theme.dim.WithAlpha(0.7), {}, list);
  if (!s.dragging_range || (!s.range && !s.zoom_range)) {
    TimeChip(s, measure, s.hover.time, s.theme.raised, s.theme.text, list);
  }
  if (s.hover.kind == HitKind::kAllocation && s.hover.allocation != s.selection) {
    Outline(s, BlockRectOf(s, s.hover.allocation), s.layout["blocks"].view(),
            s.theme.text.WithAlpha(0.85), 1, list);
  } else if (s.hover.kind == HitKind::kSlice && s.hover.slice != s.selected_slice) {
    Outline(s, SliceRectOf(s, s.hover.slice), s.layout[s.hover.lane->key()].view(),
            s.theme.text.WithAlpha(0.85), 1, list);
  } else if (s.hover.kind == HitKind::kActivity && s.hover.activity != s.selected_activity) {
    Outline(s, ActivityRectOf(s, s.hover.activity), s.layout[s.hover.lane->key()].view(),
            s.theme.text.WithAlpha(0.85), 1, list);
  }
}

// Draws a line where a dragged lane would be dropped, and marks a lower edge that the mouse can
// drag.
void DrawLaneHandles(const CanvasState& s, DrawList* list) {
  const auto line = [&](float y) {
    list->Line(s.layout.plot_left, y, s.layout.plot_left + s.layout.plot_width, y, s.theme.accent,
               2);
  };
  if (s.drop_at) line(*s.drop_at);
  if (s.hovering && s.hover.kind == HitKind::kLowerEdge && s.hover.lane != nullptr)
    line(s.layout[s.hover.lane->key()].body.bottom());
}

void DrawTooltip(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  if (!s.hovering || !s.tooltip || s.dragging_range) return;
  Tooltip tip = MakeTooltip(s, s.hover);
  if (tip.empty()) return;
  // Elide long C++ frames in the middle, because both of their ends are informative.
  for (TooltipRow& row : tip.rows)
    row.value = ElideMiddle(measure, row.value, Font::kMonoSmall, kTooltipMaxText);
  std::string title = ElideStart(measure, tip.title, Font::kBodyBold, kTooltipMaxText);
  std::string subtitle = Elide(measure, tip.subtitle, Font::kSmall, kTooltipMaxText);
  float label_width = 0, value_width = 0;
  bool swatches = false;
  for (const TooltipRow& row : tip.rows) {
    label_width = std::max(label_width, measure.Width(row.label, Font::kSmall));
    value_width = std::max(value_width, measure.Width(row.value, Font::kMonoSmall));
    swatches |= row.swatch.has_value();
  }
  float indent = swatches ? 14 : 0;
  float title_indent = tip.swatch ? 16 : 0;
  float inner =
      std::max({measure.Width(title, Font::kBodyBold) + title_indent,
                measure.Width(subtitle, Font::kSmall), indent + label_width + 22 + value_width});
  float width = inner + 2 * kTooltipPad;
  float height = 2 * 7 + 18 + (subtitle.empty() ? 0 : 16) + (tip.rows.empty() ? 0 : 5) +
                 kTooltipRow * static_cast<float>(tip.rows.size());
  auto x = static_cast<float>(s.hover_x) + 16, y = static_cast<float>(s.hover_y) + 18;
  if (x + width > s.layout.width - 4) x = static_cast<float>(s.hover_x) - 14 - width;
  if (y + height > s.layout.height - 4) y = static_cast<float>(s.hover_y) - 12 - height;
  x = std::max(x, 4.0f);
  y = std::clamp(y, 4.0f, std::max(s.layout.height - 4 - height, 4.0f));

  list->Box({x - 1, y + 1, width + 2, height + 2}, 7, Color{0, 0, 0, 60});
  list->Box({x, y, width, height}, 6, s.theme.panel.WithAlpha(0.98), s.theme.line);
  float row = y + 7;
  if (tip.swatch) list->Box({x + kTooltipPad, row + 4, 10, 10}, 2, *tip.swatch);
  list->Text(title, {x + kTooltipPad + title_indent, row, inner, 18}, Font::kBodyBold,
             s.theme.text);
  row += 18;
  if (!subtitle.empty()) {
    list->Text(subtitle, {x + kTooltipPad, row, inner, 16}, Font::kSmall, s.theme.dim);
    row += 16;
  }
  row += 5;
  for (const TooltipRow& r : tip.rows) {
    if (r.swatch) list->Box({x + kTooltipPad, row + 4, 8, 8}, 2, *r.swatch);
    list->Text(r.label, {x + kTooltipPad + indent, row, label_width + 2, kTooltipRow}, Font::kSmall,
               s.theme.dim);
    list->Text(r.value, {x + kTooltipPad, row, inner, kTooltipRow}, Font::kMonoSmall, s.theme.text,
               Align::kRight);
    row += kTooltipRow;
  }
}

}  // namespace

void BuildOverlay(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  list->Clear();
  if (s.focus_frame)
    list->Box({0.5f, 0.5f, s.layout.width - 1, s.layout.height - 1}, 0, {0, 0, 0, 0},
              s.theme.accent, 1);
  if (!s.shows_lanes()) return;
  DrawRange(s, measure, list);
  DrawSelection(s, list);
  if (s.cursor) {
    DrawVertical(s, s.viewport.ToX(*s.cursor), s.theme.accent, {}, list);
    TimeChip(s, measure, *s.cursor, s.theme.accent, s.theme.dark ? s.theme.ground : s.theme.panel,
             list);
  }
  DrawHover(s, measure, list);
  DrawLaneHandles(s, list);
  DrawTooltip(s, measure, list);
}

void DrawContent(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  const trace::Trace& t = s.data->trace();
  const analysis::MemoryCurves& c = s.data->curves();
  const uint64_t allocated = c.size() ? c.allocated.back() : 0;
  const uint64_t reserved = c.size() ? c.reserved.back() : 0;
  const float width = std::min(s.layout.width - 32, 620.0f);
  const float x = (s.layout.width - width) / 2;
  float y = std::max(s.layout.height / 2 - 62, 8.0f);
  const auto line = [&](std::string_view text, Font font, Color color, float height) {
    // Split a text that is too wide into two lines, at a space.
    if (measure.Width(text, font) > width) {
      size_t at = text.rfind(' ');
      while (at != std::string_view::npos && at > 0 &&
             measure.Width(text.substr(0, at), font) > width)
        at = text.rfind(' ', at - 1);
      if (at != std::string_view::npos && at > 0) {
        list->Text(std::string(text.substr(0, at)), {x, y, width, 18}, font, color, Align::kCenter);
        y += 18;
        text.remove_prefix(at + 1);
      }
    }
    list->Text(Elide(measure, text, font, width), {x, y, width, height}, font, color,
               Align::kCenter);
    y += height;
  };
  line(i18n::Text("A snapshot without history"), Font::kTitle, s.theme.text, 34);
  line(i18n::Format("{} shows memory at one time, without a history.",
                    t.info.source.empty() ? i18n::Text("This file") : t.info.source),
       Font::kBody, s.theme.dim, 20);
  line(i18n::Text("The snapshot does not record order or times, so there is no timeline."),
       Font::kBody, s.theme.dim, 28);
  if (t.events.size() == 0 && !t.info.statistics.empty()) {
    line(i18n::Format("{} values of torch.cuda.memory_stats(), but no blocks and no segments",
                      t.info.statistics.size()),
         Font::kBodyBold, s.theme.text, 24);
    line(i18n::Text("The State page below shows these values."), Font::kBody, s.theme.dim, 20);
    return;
  }
  const std::string reserved_text =
      trace::SegmentRecordOf(t) == trace::SegmentRecord::kNone
          ? i18n::Text("reserved memory not recorded")
      : trace::RecordedSegments(t) == 1
          ? i18n::Format("{} reserved in {} segment", FormatBytes(reserved), 1)
          : i18n::Format("{} reserved in {} segments", FormatBytes(reserved),
                         FormatCount(trace::RecordedSegments(t)));
  line(t.allocations.size() == 1
           ? i18n::Format("{} allocated in {} block, {}", FormatBytes(allocated), 1, reserved_text)
           : i18n::Format("{} allocated in {} blocks, {}", FormatBytes(allocated),
                          FormatCount(t.allocations.size()), reserved_text),
       Font::kBodyBold, s.theme.text, 24);
  line(i18n::Text("The State page below shows its segments and their owners."), Font::kBody,
       s.theme.dim, 20);
}

void DrawLoadingLine(const CanvasState& s, DrawList* list) {
  if (s.status != Status::kLoading) return;
  const double fraction = s.status_fraction < 0 ? 1 : std::min(s.status_fraction, 1.0);
  list->Fill({0, 0, static_cast<float>(s.layout.width * fraction), 2},
             s.theme.accent.WithAlpha(s.status_fraction < 0 ? 0.5 : 1));
}

void DrawStatus(const CanvasState& s, const TextMeasure& measure, DrawList* list) {
  float w = s.layout.width, h = s.layout.height;
  if (s.data) {
    DrawLoadingLine(s, list);  // keep showing the data; a message would cover it
    return;
  }
  float width = std::min(w - 32, 520.0f);
  float x = (w - width) / 2, y = h / 2 - 70;
  auto lines = [&](std::string_view text, Color color) {
    size_t at = 0;
    while (at <= text.size()) {
      size_t end = std::min(text.find('\n', at), text.size());
      std::string line = Elide(measure, text.substr(at, end - at), Font::kBody, width);
      list->Text(line, {x, y, width, 20}, Font::kBody, color, Align::kCenter);
      y += 20;
      at = end + 1;
    }
  };
  auto title = [&](std::string_view text, Color color) {
    list->Text(Elide(measure, text, Font::kTitle, width), {x, y, width, 26}, Font::kTitle, color,
               Align::kCenter);
    y += 34;
  };
  // Draws a sketch of a memory curve as a placeholder.
  auto sketch = [&](Color color) {
    float cx = w / 2, top = y - 58;
    Point p[] = {{cx - 60, top + 40}, {cx - 44, top + 40}, {cx - 10, top + 6}, {cx - 4, top + 2},
                 {cx + 2, top + 6},   {cx + 36, top + 30}, {cx + 60, top + 30}};
    list->Polyline(p, color, 1.5f);
    list->Line(cx - 60, top + 46, cx + 60, top + 46, color, 1);
  };
  switch (s.status) {
    case Status::kNone:
      sketch(s.theme.line);
      title(s.empty_title, s.theme.text);
      lines(s.empty_hint, s.theme.dim);
      break;
    case Status::kLoading: {
      sketch(s.theme.accent.WithAlpha(0.6));
      title(s.status_title, s.theme.text);
      Rect bar{x + width / 2 - 120, y + 4, 240, 4};
      list->Box(bar, 2, s.theme.raised);
      double fraction = std::clamp(s.status_fraction, 0.0, 1.0);
      if (s.status_fraction >= 0) {
        list->Box({bar.x, bar.y, static_cast<float>(bar.w * fraction), bar.h}, 2, s.theme.accent);
        y += 14;
        lines(fmt::format("{:.0f} %", fraction * 100), s.theme.dim);
      }
      break;
    }
    case Status::kFailed:
      sketch(s.theme.bad);
      title(s.status_title, s.theme.bad);
      lines(s.status_text, s.theme.text);
      if (!s.status_next.empty()) {
        y += 8;
        lines(s.status_next, s.theme.dim);
      }
      break;
  }
}

}  // namespace vramscope::ui::timeline
