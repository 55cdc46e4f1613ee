// Blocks by address; steps, phases, modules and ops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/scene.h"

namespace vramscope::ui::timeline {
namespace {

using trace::SliceKind;

constexpr float kLabelPad = 6;
// Slices narrower than this come as columns.
constexpr double kMinSlicePx = 2;
constexpr uint32_t kHatch = 4;  // cells from one line of the hatching to the next

struct SliceStyle {
  Color fill;
  Color text;
  Font font = Font::kSmall;
  float radius = 0;
  bool duration = false;  // in the label
};

// The part of a module's path that tells it from its neighbours: "layers.3", "self_attn".
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
  SliceDrawer(const CanvasState& s, const TextMeasure& measure, SceneCounts* counts, DrawList* list)
      : s_(s), measure_(measure), counts_(counts), list_(list) {}

  void Row(SliceKind kind, int row, const Rect& band) {
    const TimelineData& d = *s_.data;
    const Span& v = s_.viewport.view();
    int columns = std::max(static_cast<int>(std::lround(band.w * s_.scale)), 1);
    double min_columns = kMinSlicePx * s_.scale;
    const trace::SliceTable& t = d.trace().slices;
    for (uint32_t lane : d.lanes(kind, row)) {
      int64_t begin = d.ToTrace(v.begin), end = std::max(d.ToTrace(v.end), begin + 1);
      query::LaneView view = d.lane_index().Query(lane, begin, end, columns, min_columns);
      Columns(kind, view, band, columns);
      for (uint32_t r : view.rects) {
        auto x0 = static_cast<float>(s_.viewport.ToX(d.FromTrace(t.begin_ns[r])));
        auto x1 = static_cast<float>(s_.viewport.ToX(d.FromTrace(t.end_ns[r])));
        Slice(r, x0, x1, band);
      }
    }
  }

 private:
  SliceStyle StyleOf(uint32_t slice) const {
    const trace::SliceTable& t = s_.data->trace().slices;
    SliceStyle style;
    switch (t.kind[slice]) {
      case SliceKind::kStep:
        style = {s_.theme.raised, s_.theme.dim, Font::kSmallBold, 2, false};
        break;
      case SliceKind::kMicroBatch:
        style = {Mix(s_.theme.raised, s_.theme.line, 0.45), s_.theme.dim, Font::kSmall, 2, false};
        break;
      case SliceKind::kPhase:
        style = {Blend(s_.theme.ground, s_.theme.phase(t.phase(slice)).WithAlpha(0.9)),
                 s_.theme.on_color, Font::kSmallBold, 2, true};
        break;
      case SliceKind::kModule:
        style = {Mix(s_.theme.raised, s_.theme.dim, t.depth[slice] % 2 ? 0.22 : 0.14),
                 s_.theme.text, Font::kSmall, 2, false};
        break;
      case SliceKind::kAnnotation:
        style = {Mix(s_.theme.raised, s_.theme.warning, t.depth[slice] % 2 ? 0.16 : 0.24),
                 s_.theme.text, Font::kSmall, 2, true};
        break;
      case SliceKind::kOp:
        style = {Mix(s_.theme.raised, s_.theme.accent, t.depth[slice] % 2 ? 0.18 : 0.26),
                 s_.theme.text, Font::kSmall, 0, false};
        break;
    }
    return style;
  }

  void Slice(uint32_t slice, float x0, float x1, const Rect& band) {
    const SliceStyle style = StyleOf(slice);
    ++counts_->slices;
    // A hair of ground between neighbours, once they are wide enough to lose it.
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
    const TimelineData& d = *s_.data;
    const trace::SliceTable& t = d.trace().slices;
    std::string name = d.SliceName(slice);
    std::string label;
    if (t.kind[slice] == SliceKind::kModule) {
      label = Elide(measure_, ShortPath(name), style.font, room);
    } else {
      // As much as fits: how long, that it was inferred, at last the name alone.
      const std::string time =
          style.duration ? " " + LengthOf(d.trace(), t.end_ns[slice] - t.begin_ns[slice]) : "";
      const bool inferred = !SliceRule(d.trace(), slice).empty();
      for (std::string with : {inferred ? name + " (inferred)" + time : name + time, name + time}) {
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

  // Slices too narrow for a rectangle: their colour, as strong as they cover the column.
  void Columns(SliceKind kind, const query::LaneView& view, const Rect& band, int columns) {
    const trace::SliceTable& t = s_.data->trace().slices;
    float per_column = band.w / static_cast<float>(columns);
    auto color_of = [&](const query::LaneColumn& c) -> uint32_t {
      if (c.count == 0 && c.coverage <= 0) return 0;
      double alpha = 0.25 + 0.75 * std::round(c.coverage * 8) / 8;
      uint32_t slice = c.count ? c.longest : 0;
      Color fill = kind == SliceKind::kPhase && slice < t.size() ? s_.theme.phase(t.phase(slice))
                   : slice < t.size() && t.kind[slice] == kind   ? StyleOf(slice).fill
                                                                 : s_.theme.raised;
      return fill.WithAlpha(std::min(alpha, 1.0)).argb();
    };
    for (size_t i = 0; i < view.columns.size();) {
      uint32_t color = color_of(view.columns[i]);
      size_t j = i + 1;
      while (j < view.columns.size() && color_of(view.columns[j]) == color) ++j;
      if (color >> 24) {
        ++counts_->slice_columns;
        list_->FillEdges(band.x + static_cast<float>(i) * per_column, band.y,
                         band.x + static_cast<float>(j) * per_column, band.bottom(), color);
      }
      i = j;
    }
  }

  const CanvasState& s_;
  const TextMeasure& measure_;
  SceneCounts* counts_;
  DrawList* list_;
};

uint32_t MixArgb(uint32_t a, uint32_t b, float t) {
  auto k = static_cast<uint32_t>(std::clamp(t, 0.0f, 1.0f) * 256);
  uint32_t rb = (((a & 0x00ff00ff) * (256 - k) + (b & 0x00ff00ff) * k) >> 8) & 0x00ff00ff;
  uint32_t g = (((a & 0x0000ff00) * (256 - k) + (b & 0x0000ff00) * k) >> 8) & 0x0000ff00;
  return 0xff000000 | rb | g;
}

// What is not highlighted steps back, but keeps its hue.
Color Faint(const Theme& theme, Color color) {
  return Mix(color, theme.ground, theme.dark ? 0.72 : 0.76);
}

}  // namespace

void DrawSlices(const CanvasState& s, const TextMeasure& measure, SceneCounts* counts,
                DrawList* list) {
  SliceDrawer drawer(s, measure, counts, list);
  struct Row {
    LaneKind lane;
    SliceKind kind;
  };
  for (auto [lane_kind, kind] : {Row{LaneKind::kSteps, SliceKind::kStep},
                                 Row{LaneKind::kMicroBatches, SliceKind::kMicroBatch},
                                 Row{LaneKind::kPhases, SliceKind::kPhase}}) {
    const Lane& lane = s.layout[lane_kind];
    if (!lane.visible) continue;
    list->PushClip(lane.body);
    // A phase inside another (a loss in the forward) is drawn over it.
    for (int row = 0; row < s.data->rows(kind); ++row) drawer.Row(kind, row, lane.body);
    list->PopClip();
  }
  struct Titled {
    LaneKind lane;
    SliceKind kind;
    const char* title;
    const char* about;
  };
  for (const Titled& l :
       {Titled{LaneKind::kAnnotations, SliceKind::kAnnotation, "annotations",
               "ranges that the recorded program named"},
        Titled{LaneKind::kModules, SliceKind::kModule, "modules",
               "who runs: the model from the outside in"},
        Titled{LaneKind::kOps, SliceKind::kOp, "ops", "operators as dispatched"}}) {
    const Lane& lane = s.layout[l.lane];
    if (!lane.visible) continue;
    int all = s.data->rows(l.kind);
    std::string about = l.about;
    if (all > lane.rows) about += fmt::format(" · {} of {} levels", lane.rows, all);
    DrawLaneTitle(s, measure, lane, l.title, about, list);
    if (lane.body.empty()) continue;
    list->PushClip(lane.body);
    for (int row = 0; row < lane.rows; ++row) {
      drawer.Row(l.kind, row,
                 {lane.body.x, lane.body.y + static_cast<float>(row) * lane.row_height, lane.body.w,
                  lane.row_height - 1});
    }
    list->PopClip();
  }
}

void DrawBlocks(const CanvasState& s, const TextMeasure& measure, SceneCounts* counts,
                DrawList* list) {
  const Lane& lane = s.layout[LaneKind::kBlocks];
  if (!lane.visible) return;
  std::string about = "each rectangle is one allocation; hatched is cached and free";
  if (s.addresses.end > 0) {
    about = fmt::format("{} of {} of addresses; double click on the title shows all",
                        FormatBytes(s.address_end() - s.address_begin()),
                        FormatBytes(s.data->address_axis().size()));
  }
  if (s.highlighted > 0) {
    about = fmt::format("{} of {} highlighted; Esc ends it", FormatCount(s.highlighted),
                        FormatCount(s.highlight.size()));
  }
  DrawLaneTitle(s, measure, lane, "blocks by address", about, list);
  const Rect& body = lane.body;
  const TimelineData& d = *s.data;
  double span = static_cast<double>(s.address_end() - s.address_begin());
  if (body.h < 4 || span <= 0) return;
  const trace::Trace& t = d.trace();
  const Span& v = s.viewport.view();
  int64_t begin = d.ToTrace(v.begin), end = std::max(d.ToTrace(v.end), begin + 1);
  double per_byte = body.h / span;
  double base = static_cast<double>(s.address_begin());
  auto y_of = [&](uint64_t offset) {
    return body.bottom() - static_cast<float>((static_cast<double>(offset) - base) * per_byte);
  };
  auto x_of = [&](int64_t ns) {
    return static_cast<float>(std::clamp(s.viewport.ToX(d.FromTrace(ns)), -1e6, 1e6));
  };

  list->PushClip(body);
  list->Fill(body, Mix(s.theme.ground, s.theme.panel, 0.5));
  uint32_t cached = s.theme.cached.argb();
  for (const query::Strip& strip : d.address_axis().strips()) {
    if (strip.end_ns < begin || strip.begin_ns > end) continue;
    list->FillEdges(x_of(strip.begin_ns), y_of(strip.offset + strip.bytes), x_of(strip.end_ns),
                    y_of(strip.offset), cached);
  }
  bool segments = !d.address_axis().strips().empty();

  int width = std::max(static_cast<int>(std::lround(body.w * s.scale)), 1);
  int height = std::max(static_cast<int>(std::lround(body.h * s.scale)), 1);
  query::BlockIndex::Options options;
  options.cell_px = 2;
  query::BlockView view =
      d.block_index().Query(begin, end, s.address_begin(), s.address_end(), width, height, options);
  if (view.grid_columns > 0 && view.grid_rows > 0) {
    auto columns = static_cast<uint32_t>(view.grid_columns);
    auto rows = static_cast<uint32_t>(view.grid_rows);
    double cell = view.cell_px / s.scale;
    Rect area{body.x, static_cast<float>(body.bottom() - rows * cell),
              static_cast<float>(columns * cell), static_cast<float>(rows * cell)};
    ImagePrim image = list->Image(area, columns, rows);
    auto pixels = list->pixels(image);
    // Cached and free is hatched: where no block lies, every fourth diagonal of the grid. It stands
    // still on the screen while blocks move under it.
    uint32_t hatch = Mix(s.theme.cached, s.theme.line, s.theme.dark ? 0.7 : 0.85).argb();
    auto cell_at = [&](float at, uint32_t limit) {
      return static_cast<uint32_t>(std::clamp<double>(std::round(at / cell), 0.0, limit));
    };
    for (const query::Strip& strip : d.address_axis().strips()) {
      if (strip.end_ns < begin || strip.begin_ns > end) continue;
      uint32_t left = cell_at(x_of(strip.begin_ns) - area.x, columns);
      uint32_t right = cell_at(x_of(strip.end_ns) - area.x, columns);
      uint32_t bottom = cell_at(y_of(strip.offset) - area.y, rows);
      for (uint32_t y = cell_at(y_of(strip.offset + strip.bytes) - area.y, rows); y < bottom; ++y) {
        uint32_t* row = pixels.data() + size_t{y} * columns;
        for (uint32_t x = left + (kHatch - (left + y) % kHatch) % kHatch; x < right; x += kHatch) {
          row[x] = hatch;
        }
      }
    }
    std::array<uint32_t, trace::kCategoryCount> palette;
    std::array<uint32_t, trace::kCategoryCount> faint;
    for (int c = 0; c < trace::kCategoryCount; ++c) {
      palette[c] = s.theme.categories[c].argb();
      faint[c] = Faint(s.theme, s.theme.categories[c]).argb();
    }
    for (uint32_t y = 0; y < rows; ++y) {
      uint32_t* row = pixels.data() + size_t{rows - 1 - y} * columns;
      const query::BlockCell* cells = view.cells.data() + size_t{y} * columns;
      for (uint32_t x = 0; x < columns; ++x) {
        if (cells[x].coverage <= 0) continue;
        ++counts->block_cells;
        auto category = static_cast<size_t>(t.allocations.main_category[cells[x].largest]);
        // Never fainter than what can be seen: something is there.
        row[x] = MixArgb(cached, (s.faint(cells[x].largest) ? faint : palette)[category],
                         0.25f + 0.75f * cells[x].coverage);
      }
    }
  }

  for (const query::BlockRect& r : view.rects) {
    ++counts->block_rects;
    float x0 = x_of(r.begin_ns), x1 = x_of(r.end_ns);
    float y0 = y_of(r.offset + r.bytes), y1 = y_of(r.offset);
    // Neighbours are told apart by a hair between them, once they are large enough to lose it.
    if (y1 - y0 >= 4) y0 += 1;
    if (x1 - x0 >= 4) x1 -= 1 / static_cast<float>(s.scale);
    const bool is_faint = s.faint(r.row);
    const auto color = [&](trace::Category c) {
      const Color full = s.theme.category(c);
      return (is_faint ? Faint(s.theme, full) : full).argb();
    };
    trace::Category category = t.allocations.birth_category[r.row];
    float from = x0;
    for (uint32_t retag : d.RetagsOf({r.row})) {
      float at = x_of(t.events.time_ns[t.retags.event[retag]]);
      if (at > from + 0.25f) {
        list->FillEdges(from, y0, std::min(at, x1), y1, color(category));
        from = at;
      }
      category = t.retags.to[retag];
      if (from >= x1) break;
    }
    if (from < x1 || from == x0) {
      list->FillEdges(from, y0, std::max(x1, from), y1, color(category));
    }
    float left = std::max(x0, body.x), right = std::min(x1, body.right());
    float top = std::max(y0, body.y), bottom = std::min(y1, body.bottom());
    if (!is_faint && bottom - top >= 14 && right - left >= 60 && counts->labels < 400) {
      std::string_view module = t.String(t.allocations.module[r.row]);
      std::string_view op = t.String(t.allocations.op[r.row]);
      std::string bytes = FormatBytes(t.allocations.bytes_rounded[r.row], true);
      float room = right - left - 10;
      // The end of the path says more than its beginning.
      std::string who(module.empty() ? op : module);
      if (who.empty()) who = CallSite(t, StackOf(t, {r.row}));
      std::string name =
          ElideStart(measure, who, Font::kSmall, room - measure.Width("  " + bytes, Font::kSmall));
      std::string label = name.empty() ? Elide(measure, bytes, Font::kSmall, room)
                                       : fmt::format("{}  {}", name, bytes);
      if (!label.empty()) {
        ++counts->labels;
        list->Text(label, {left + 5, top, right - left, std::min(bottom - top, 18.0f)},
                   Font::kSmall, s.theme.on_color);
      }
    }
  }
  if (!segments && view.rects.empty() && counts->block_cells == 0) {
    list->Text("nothing is in memory here", body, Font::kSmall, s.theme.faint, Align::kCenter);
  }
  list->PopClip();
}

}  // namespace vramscope::ui::timeline
