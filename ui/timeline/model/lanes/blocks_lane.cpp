// All allocations as rectangles. Their width is a range of time, their height a range of addresses.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr const char* kTitle = TEXT_MARK("blocks by address");
constexpr float kShare = 0.42f;
constexpr float kLeast = 70;
// The blocks lane is visible only if it and the memory lane together can have at least this height.
constexpr float kLeastWithMemory = 92;
constexpr uint32_t kHatch = 4;        // distance between the hatching lines, in cells
constexpr uint32_t kRowsAtOnce = 16;  // number of rows of cells that a thread draws at a time

uint32_t MixArgb(uint32_t a, uint32_t b, float t) {
  auto k = static_cast<uint32_t>(std::clamp(t, 0.0f, 1.0f) * 256);
  uint32_t rb = (((a & 0x00ff00ff) * (256 - k) + (b & 0x00ff00ff) * k) >> 8) & 0x00ff00ff;
  uint32_t g = (((a & 0x0000ff00) * (256 - k) + (b & 0x0000ff00) * k) >> 8) & 0x0000ff00;
  return 0xff000000 | rb | g;
}

// Returns a faint color of the same hue, for a block that is not highlighted.
Color Faint(const Theme& theme, Color color) {
  return Mix(color, theme.ground, theme.dark ? 0.72 : 0.76);
}

class BlocksLane : public Lane {
 public:
  std::string_view key() const override { return "blocks"; }
  std::string Name(const CanvasState&) const override { return i18n::Text(kTitle); }
  LaneWants Wants(const CanvasState& s) const override {
    return {.rows = s.data && s.data->trace().allocations.size() > 0 ? 1 : 0,
            .title = kTitleHeight,
            .share = kShare,
            .least = kLeast,
            .concessions = {{.until = 0.99f, .most = kLeastWithMemory}}};
  }
  uint64_t Count(const CanvasState& s) const override { return s.data->trace().allocations.size(); }
  void HitTest(const CanvasState& s, const LanePlace& place, double x, double y,
               Hit* hit) const override {
    const Rect& body = place.body;
    const TimelineData& d = *s.data;
    double span = static_cast<double>(s.address_end() - s.address_begin());
    double bytes_per_px = span / body.h;
    double offset = static_cast<double>(s.address_begin()) + (body.bottom() - y) * bytes_per_px;
    hit->offset = static_cast<uint64_t>(std::max(offset, 0.0));
    // Try the point itself first, then points around it, so that the mouse can hit thin blocks.
    for (auto [dx, dy] :
         {std::pair{0.0, 0.0}, {0.0, -0.75}, {0.0, 0.75}, {-1.0, 0.0}, {1.0, 0.0}}) {
      double at = offset - dy * bytes_per_px;
      double time = s.viewport.ToTime(x + dx);
      if (at < 0) continue;
      if (auto id = d.block_index().At(d.ToTrace(time), static_cast<uint64_t>(at))) {
        hit->kind = HitKind::kAllocation;
        hit->allocation = *id;
        return;
      }
    }
  }
  void Ask(const CanvasState& s, const LanePlace& place, LaneAnswer* answer) const override {
    const auto [begin, end] = TraceView(s);
    query::BlockIndex::Options options;
    options.cell_px = 2;
    answer->blocks = s.data->block_index().Query(
        begin, end, s.address_begin(), s.address_end(), DeviceColumns(s, place.body),
        std::max(static_cast<int>(std::lround(place.body.h * s.scale)), 1), options);
  }
  void Draw(const LaneDrawing& draw) const override {
    const CanvasState& s = draw.state;
    const TextMeasure& measure = draw.measure;
    SceneCounts* counts = draw.counts;
    DrawList* list = draw.list;
    const Rect& body = draw.place.body;
    std::string about = i18n::Text("each rectangle is one allocation; hatched areas are unused");
    if (!s.data || s.data->address_axis().strips().empty())
      about = i18n::Text(
          "each rectangle is one allocation; vramscope packs the addresses, because the trace has "
          "no segments");
    if (s.addresses.end > 0) {
      about =
          i18n::Format("shows {} of the address space of {}; double-click the title to show all",
                       FormatBytes(s.address_end() - s.address_begin()),
                       FormatBytes(s.data->address_axis().size()));
    }
    if (s.marking != nullptr && s.marking->block_count > 0) {
      about =
          i18n::Format("{} of {} blocks highlighted; Esc clears the highlight",
                       FormatCount(s.marking->block_count), FormatCount(s.marking->blocks.size()));
    }
    DrawLaneTitle(draw, i18n::Text(kTitle), about);
    const TimelineData& d = *s.data;
    double span = static_cast<double>(s.address_end() - s.address_begin());
    if (body.h < 4 || span <= 0) return;
    const trace::Trace& t = d.trace();
    const auto [begin, end] = TraceView(s);
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

    const query::BlockView& view = draw.answer.blocks;
    if (view.grid_columns > 0 && view.grid_rows > 0) {
      auto columns = static_cast<uint32_t>(view.grid_columns);
      auto rows = static_cast<uint32_t>(view.grid_rows);
      double cell = view.cell_px / s.scale;
      Rect area{body.x, static_cast<float>(body.bottom() - rows * cell),
                static_cast<float>(columns * cell), static_cast<float>(rows * cell)};
      ImagePrim image = list->Image(area, columns, rows);
      auto pixels = list->pixels(image);
      // Unused memory is hatched: where there is no block, every fourth diagonal of cells is drawn.
      // The hatching does not move with the blocks.
      uint32_t hatch = Mix(s.theme.cached, s.theme.line, s.theme.dark ? 0.7 : 0.85).argb();
      auto cell_at = [&](float at, uint32_t limit) {
        return static_cast<uint32_t>(std::clamp<double>(std::round(at / cell), 0.0, limit));
      };
      for (const query::Strip& strip : d.address_axis().strips()) {
        if (strip.end_ns < begin || strip.begin_ns > end) continue;
        uint32_t left = cell_at(x_of(strip.begin_ns) - area.x, columns);
        uint32_t right = cell_at(x_of(strip.end_ns) - area.x, columns);
        uint32_t bottom = cell_at(y_of(strip.offset) - area.y, rows);
        for (uint32_t y = cell_at(y_of(strip.offset + strip.bytes) - area.y, rows); y < bottom;
             ++y) {
          uint32_t* row = pixels.data() + size_t{y} * columns;
          for (uint32_t x = left + (kHatch - (left + y) % kHatch) % kHatch; x < right;
               x += kHatch) {
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
      // All free cores draw rows of cells. A cell has four pixels.
      std::atomic<uint32_t> drawn = 0;
      draw.crew->Do((rows + kRowsAtOnce - 1) / kRowsAtOnce, [&](size_t part) {
        uint32_t mine = 0;
        const auto first = static_cast<uint32_t>(part) * kRowsAtOnce;
        for (uint32_t y = first; y < std::min(first + kRowsAtOnce, rows); ++y) {
          uint32_t* row = pixels.data() + size_t{rows - 1 - y} * columns;
          const query::BlockCell* cells = view.cells.data() + size_t{y} * columns;
          // Adjacent cells often show the same block, so look up the color only when the block
          // changes.
          uint32_t last = UINT32_MAX, color = 0;
          for (uint32_t x = 0; x < columns; ++x) {
            if (cells[x].coverage <= 0) continue;
            ++mine;
            if (cells[x].largest != last) {
              last = cells[x].largest;
              const auto category = static_cast<size_t>(t.allocations.main_category[last]);
              color = (s.faint(last) ? faint : palette)[category];
            }
            // A cell must be visible even if blocks cover little of it.
            row[x] = MixArgb(cached, color, 0.25f + 0.75f * cells[x].coverage);
          }
        }
        drawn += mine;
      });
      counts->block_cells += drawn;
    }

    for (const query::BlockRect& r : view.rects) {
      ++counts->block_rects;
      float x0 = x_of(r.begin_ns), x1 = x_of(r.end_ns);
      float y0 = y_of(r.offset + r.bytes), y1 = y_of(r.offset);
      // If the block is large enough, leave a gap next to it.
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
        // Keep the end of the path, because it says more than its beginning.
        std::string who(module.empty() ? op : module);
        if (who.empty()) who = CallSite(t, StackOf(t, {r.row}));
        std::string name = ElideStart(measure, who, Font::kSmall,
                                      room - measure.Width("  " + bytes, Font::kSmall));
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
      list->Text(i18n::Text("no memory is allocated here"), body, Font::kSmall, s.theme.faint,
                 Align::kCenter);
    }
    list->PopClip();
  }
};

}  // namespace

Rect BlockRectOf(const CanvasState& s, trace::AllocationId id) {
  const LanePlace& lane = s.layout["blocks"];
  if (!s.data || !lane.visible || lane.body.empty() || !id.valid()) return {};
  const trace::AllocationTable& a = s.data->trace().allocations;
  if (id.value >= a.size()) return {};
  double span = static_cast<double>(s.address_end() - s.address_begin());
  if (span <= 0) return {};
  double per_byte = lane.body.h / span;
  double offset = static_cast<double>(s.data->address_axis().OffsetOf(id));
  double x0 = s.viewport.ToX(s.data->FromTrace(a.begin_ns[id.value]));
  double x1 = s.viewport.ToX(s.data->FromTrace(a.end_ns[id.value]));
  double y1 = lane.body.bottom() - (offset - static_cast<double>(s.address_begin())) * per_byte;
  double height = static_cast<double>(a.bytes_rounded[id.value]) * per_byte;
  return {static_cast<float>(x0), static_cast<float>(y1 - height), static_cast<float>(x1 - x0),
          static_cast<float>(height)};
}

std::unique_ptr<const Lane> MakeBlocksLane() { return std::make_unique<BlocksLane>(); }

}  // namespace vramscope::ui::timeline
