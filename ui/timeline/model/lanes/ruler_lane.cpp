// The ruler: labels of the time axis, small ticks where marked things begin (marking.h), and flags
// for notes.
#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/scene.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kHeight = 22;
constexpr float kTickApart = 72;
constexpr float kMark = 5;
constexpr float kFlagWidth = 8, kFlagHeight = 6, kPole = 1.5f;
constexpr float kRangeHeight = 4;  // height of the band for a note's range
constexpr double kNear = 8;        // pixels; the mouse hits a flag within this distance

std::vector<TimeTick> Ticks(const CanvasState& s, float width) {
  const Span& view = s.viewport.view();
  return s.data->has_times()
             ? TimeTicks(view.begin, view.end, width, kTickApart)
             : EntryTicks(view.begin, view.end, width, kTickApart, s.data->origin_ns());
}

// Draws the flags of notes, each with a pole and a pennant. Skips a flag whose pole would overlap
// that of the last drawn flag. Returns the number of flags drawn.
uint32_t DrawNotes(const CanvasState& s, const Rect& ruler, DrawList* list) {
  if (s.notes == nullptr) return 0;
  uint32_t drawn = 0;
  float last = -1e9f;
  for (const NoteMark& note : s.notes->notes) {
    const auto x = static_cast<float>(s.viewport.ToX(s.data->FromTrace(note.time_ns)));
    if (note.range()) {
      const auto end = static_cast<float>(s.viewport.ToX(s.data->FromTrace(note.end_ns)));
      if (end > ruler.x && x < ruler.right())
        list->Fill({x, ruler.y + 1, std::max(end - x, kPole), kRangeHeight},
                   s.theme.accent.WithAlpha(0.6));
    }
    if (x < ruler.x - 1 || x > ruler.right() + 1 || x - last < kPole) continue;
    last = x;
    list->Fill({x - kPole / 2, ruler.y + 1, kPole, ruler.h - 1}, s.theme.accent);
    list->Box({x, ruler.y + 1, kFlagWidth, kFlagHeight}, 1.5f, s.theme.accent);
    ++drawn;
  }
  return drawn;
}

// Returns the note whose flag or range is at the time, or null if there is none. A flag is hit
// within kNear pixels.
const NoteMark* NoteAt(const CanvasState& s, double time) {
  if (s.notes == nullptr) return nullptr;
  const NoteMark* nearest = nullptr;
  double least = kNear;
  for (const NoteMark& note : s.notes->notes) {
    const double at = s.viewport.ToX(time);
    double away = std::abs(s.viewport.ToX(s.data->FromTrace(note.time_ns)) - at);
    // A point within a note's range hits this note, unless the flag of another note is nearer than
    // kNear / 2.
    if (note.range() && at >= s.viewport.ToX(s.data->FromTrace(note.time_ns)) &&
        at <= s.viewport.ToX(s.data->FromTrace(note.end_ns)))
      away = std::min(away, kNear / 2);
    if (away > least) continue;
    least = away;
    nearest = &note;
  }
  return nearest;
}

class RulerLane : public Lane {
 public:
  std::string_view key() const override { return "ruler"; }
  std::string Name(const CanvasState&) const override { return i18n::Text("ruler"); }
  LaneWants Wants(const CanvasState&) const override { return {.rows = 1, .row_height = kHeight}; }

  void HitTest(const CanvasState&, const LanePlace&, double, double, Hit* hit) const override {
    hit->kind = HitKind::kRuler;
  }

  Tooltip Tip(const CanvasState& s, const Hit& hit) const override {
    const NoteMark* note = NoteAt(s, hit.time);
    if (note == nullptr) return {};
    Tooltip tip;
    tip.title = note->text.empty() ? i18n::Text("bookmark") : note->text;
    tip.subtitle = note->what;
    tip.rows.push_back({i18n::Text("at"), TimeTextOf(s.data->trace(), note->time_ns), {}});
    if (note->range())
      tip.rows.push_back(
          {i18n::Text("length"), LengthOf(s.data->trace(), note->end_ns - note->time_ns), {}});
    return tip;
  }

  void Draw(const LaneDrawing& d) const override {
    const CanvasState& s = d.state;
    const Rect& ruler = d.place.body;
    float last_right = ruler.x - 100;
    for (const TimeTick& tick : Ticks(s, ruler.w)) {
      auto x = static_cast<float>(s.viewport.ToX(static_cast<double>(tick.time_ns)));
      float width = d.measure.Width(tick.label, Font::kSmall);
      float left = std::clamp(x + 3, ruler.x, std::max(ruler.right() - width, ruler.x));
      if (left < last_right + 12) continue;
      // Omit a label that would be far from its own tick of the time axis, because it would seem to
      // belong to another tick.
      if (std::abs(left - (x + 3)) > width) continue;
      last_right = left + width;
      d.list->Text(tick.label, {left, ruler.y, width + 2, ruler.h - 3}, Font::kSmall,
                   s.theme.faint);
    }
    d.counts->marks = DrawMarks(s, ruler, ruler.bottom() - kMark, s.viewport.view(), d.list);
    d.counts->notes = DrawNotes(s, ruler, d.list);
  }
};

}  // namespace

// Draws a thin dashed line at each end of every note's range, through all lanes and over their
// content. Does not tint the range, because a tint would change the colors of the content.
void DrawNotedRanges(const CanvasState& s, DrawList* list) {
  if (s.notes == nullptr) return;
  const Rect& ruler = s.layout["ruler"].body;
  const Rect all{ruler.x, ruler.y, ruler.w, s.layout.data_bottom() - ruler.y};
  list->PushClip(all);
  for (const NoteMark& note : s.notes->notes) {
    if (!note.range()) continue;
    const auto x0 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(note.time_ns)));
    const auto x1 = static_cast<float>(s.viewport.ToX(s.data->FromTrace(note.end_ns)));
    if (x1 < all.x || x0 > all.right()) continue;
    for (const float x : {x0, x1})
      list->Line(std::floor(x) + 0.5f, all.y, std::floor(x) + 0.5f, all.bottom(),
                 s.theme.accent.WithAlpha(0.7), 1, {3, 3});
  }
  list->PopClip();
}

// Draws a line at each tick of the time axis, through all lanes and under their content.
void DrawTimeGrid(const CanvasState& s, DrawList* list) {
  const Rect& ruler = s.layout["ruler"].body;
  const float bottom = s.layout.data_bottom();
  list->PushClip({ruler.x, ruler.y, ruler.w + 1, bottom - ruler.y});
  for (const TimeTick& tick : Ticks(s, ruler.w)) {
    auto x = static_cast<float>(s.viewport.ToX(static_cast<double>(tick.time_ns)));
    x = std::floor(x) + 0.5f;
    list->Line(x, ruler.bottom() - 4, x, bottom, s.theme.line.WithAlpha(s.theme.dark ? 0.6 : 0.7));
  }
  list->PopClip();
}

std::unique_ptr<const Lane> MakeRulerLane() { return std::make_unique<RulerLane>(); }

}  // namespace vramscope::ui::timeline
