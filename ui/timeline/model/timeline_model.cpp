#include "ui/timeline/model/timeline_model.h"

#include <algorithm>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/lanes/lanes.h"
#include "ui/timeline/model/thing_facts.h"

namespace vramscope::ui::timeline {
namespace {

constexpr double kViewAnimationMs = 150;
constexpr double kMorphMs = 180;  // must be less than 200
constexpr int kByteTicks = 6;
// The memory axis shrinks only if the curves would otherwise fill less than this fraction of it.
constexpr double kShrinkBelow = 0.3;

double EaseOut(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return 1 - (1 - t) * (1 - t) * (1 - t);
}

}  // namespace

TimelineModel::TimelineModel() { Relayout(); }

void TimelineModel::SetData(std::shared_ptr<const TimelineData> data, bool animate, double now_ms) {
  AllocationKey key;
  // Reset the view and the scale, unless the new trace is from the same file or of the same work.
  bool continues =
      data && state_.data && SameSubject(data->trace().info, state_.data->trace().info);
  if (data && state_.data) key = KeyOf(state_.data->trace(), state_.selection);
  // First do the work that can throw an exception. After an exception, the new trace must not be
  // used with the old lanes or an old selection.
  std::vector<std::unique_ptr<const Lane>> lanes;
  if (data) lanes = MakeLanes(*data);
  trace::AllocationId selection;
  if (data) selection = FindAllocation(data->trace(), key);

  bool first = !state_.data;
  state_.outline = nullptr;
  state_.data = std::move(data);
  state_.layout.lanes.clear();  // it refers to the lanes of the old trace
  memory_.overview = {};
  memory_.answers.clear();
  stack_.SetLanes(std::move(lanes));
  state_.hover = {};
  gesture_ = Gesture::kNone;
  state_.drop_at.reset();
  state_.tooltip = false;
  state_.selected_slice = kNoSlice;
  state_.selected_activity = query::kNoRow;
  state_.selected_gap = query::kNoRow;
  state_.marking.reset();
  state_.notes.reset();
  data_dirty_ = overlay_dirty_ = true;
  view_animation_.active = false;

  if (selection != state_.selection) {
    state_.selection = selection;
    changes_.selection = true;
  }
  Span before = state_.viewport.view();
  if (!state_.data) {
    if (state_.range) changes_.range = true;
    if (state_.cursor) changes_.cursor = true;
    state_.range.reset();
    state_.cursor.reset();
    history_.Clear();
    morph_active_ = false;
    state_.morph = 1;
    Relayout();
    return;
  }
  if (continues && !first) {
    state_.viewport.ReplaceExtent(0, state_.data->duration_ns());
  } else {
    state_.viewport.SetExtent(0, state_.data->duration_ns());
    state_.viewport.Fit();
    history_.Clear();
    state_.addresses = {};
    stack_.ScrollTo(0);
    if (state_.range) changes_.range = true;
    if (state_.cursor) changes_.cursor = true;
    state_.range.reset();
    state_.cursor.reset();
  }
  if (state_.addresses.end > static_cast<double>(state_.data->address_axis().size())) {
    state_.addresses = {};
  }
  if (state_.baseline)
    state_.baseline_map = TimeMap(state_.data->trace(), state_.baseline->trace());
  Relayout();
  UpdateAxis(!continues);
  if (!(state_.viewport.view() == before)) changes_.view = true;

  morph_active_ = animate && animations_ && continues && memory_.columns > 0;
  state_.morph = 1;
  if (morph_active_) {
    state_.morph_from = memory_.edges;
    state_.morph_columns = memory_.columns;
    state_.morph = 0;
    morph_start_ms_ = now_ms;
  }
}

void TimelineModel::SetBaselineTrace(std::shared_ptr<const TimelineData> baseline,
                                     std::string label) {
  // When the baseline is removed, the axis may shrink to the run.
  const bool gone = state_.baseline && !baseline;
  state_.baseline = std::move(baseline);
  state_.baseline_label = label.empty() ? i18n::Text("previous run") : std::move(label);
  state_.baseline_map = {};
  if (state_.baseline && state_.data) {
    state_.baseline_map = TimeMap(state_.data->trace(), state_.baseline->trace());
  }
  Relayout();
  UpdateAxis(gone);
  data_dirty_ = overlay_dirty_ = true;
}

void TimelineModel::SetTheme(const Theme& theme) {
  state_.theme = theme;
  data_dirty_ = overlay_dirty_ = true;
}

void TimelineModel::SetDeviceLimit(uint64_t bytes) {
  if (state_.device_limit == bytes) return;
  state_.device_limit = bytes;
  UpdateAxis(true);
  data_dirty_ = true;
}

void TimelineModel::Resize(float width, float height, double scale) {
  if (width == state_.layout.width && height == state_.layout.height && scale == state_.scale) {
    return;
  }
  state_.layout.width = width;
  state_.layout.height = height;
  state_.scale = scale;
  Relayout();
}

void TimelineModel::SetStatus(Status status, std::string title, std::string text, std::string next,
                              double fraction) {
  state_.status = status;
  state_.status_title = std::move(title);
  state_.status_text = std::move(text);
  state_.status_next = std::move(next);
  state_.status_fraction = fraction;
  data_dirty_ = true;
}

void TimelineModel::SetOutline(std::shared_ptr<const trace::Outline> outline) {
  if (state_.outline == outline) return;
  state_.outline = std::move(outline);
  gesture_ = Gesture::kNone;
  state_.hovering = state_.tooltip = false;
  state_.hover = {};
  data_dirty_ = overlay_dirty_ = true;
}

void TimelineModel::SetEmptyText(std::string title, std::string hint) {
  state_.empty_title = std::move(title);
  state_.empty_hint = std::move(hint);
  if (!state_.data) data_dirty_ = true;
}

void TimelineModel::Relayout() {
  state_.layout = stack_.Arrange(state_, state_.layout.width, state_.layout.height);
  state_.viewport.SetPixels(state_.layout.plot_left, state_.layout.plot_width);
  data_dirty_ = overlay_dirty_ = true;
}

void TimelineModel::UpdateAxis(bool may_shrink) {
  if (!state_.data) return;
  uint64_t highest = std::max(state_.data->peak().allocated, state_.data->peak().reserved);
  if (state_.baseline) highest = std::max(highest, state_.baseline->peak().allocated);
  if (state_.limit_in_range()) highest = std::max(highest, state_.device_limit);
  auto max = static_cast<double>(state_.axis.max);
  auto need = static_cast<double>(highest);
  if (need * 1.03 > max || may_shrink || need < max * kShrinkBelow) {
    state_.axis = MakeByteAxis(highest, kByteTicks);
  }
}

Span TimelineModel::TargetView() const {
  return view_animation_.active ? view_animation_.to : state_.viewport.view();
}

void TimelineModel::SetViewNow(const Span& view) {
  Span before = state_.viewport.view();
  state_.viewport.SetView(view);
  if (before == state_.viewport.view()) return;
  view_moved_ = overlay_dirty_ = true;
  changes_.view = true;
  if (state_.hovering) UpdateHover(state_.hover_x, state_.hover_y);
}

void TimelineModel::GoTo(const Span& view, double now_ms, bool animate, uint64_t gesture) {
  Span target = TargetView();
  if (view == target) return;
  history_.Push({target, stack_.settings()}, gesture);
  if (!animate || !animations_) {
    view_animation_.active = false;
    SetViewNow(view);
    return;
  }
  view_animation_ = {true, state_.viewport.view(), view, now_ms};
}

bool TimelineModel::Animate(double now_ms) {
  if (view_animation_.active) {
    double t = EaseOut((now_ms - view_animation_.start_ms) / kViewAnimationMs);
    const Span &a = view_animation_.from, &b = view_animation_.to;
    if (t >= 1) {
      view_animation_.active = false;
      SetViewNow(b);
    } else {
      // In equal times, the width changes by the same ratio, so that the end of a deep zoom is
      // smooth.
      double width = a.width() * std::pow(b.width() / a.width(), t);
      double share = std::abs(b.width() - a.width()) < 1e-9 * a.width()
                         ? t
                         : (width - a.width()) / (b.width() - a.width());
      double begin = a.begin + (b.begin - a.begin) * share;
      SetViewNow({begin, begin + width});
    }
  }
  if (morph_active_) {
    double t = (now_ms - morph_start_ms_) / kMorphMs;
    state_.morph = static_cast<float>(EaseOut(t));
    if (t >= 1) {
      morph_active_ = false;
      state_.morph = 1;
      state_.morph_from.clear();
    }
    data_dirty_ = true;
  }
  return animating();
}

void TimelineModel::Fit(double now_ms) {
  state_.addresses = {};
  data_dirty_ = overlay_dirty_ = true;
  if (!state_.data) return;
  // Do not keep the scale of a longer previous run, because Fit() shows exactly this trace.
  state_.viewport.SetExtent(0, state_.data->duration_ns());
  GoTo({0, state_.data->duration_ns()}, now_ms, true);
}

void TimelineModel::SetView(std::optional<Span> view) {
  if (!state_.data) return;
  view_animation_.active = false;
  history_.Clear();
  state_.addresses = {};
  data_dirty_ = overlay_dirty_ = true;
  state_.viewport.SetExtent(0, state_.data->duration_ns());
  SetViewNow(view.value_or(Span{0, state_.data->duration_ns()}));
  UpdateAxis(/*may_shrink=*/true);
}

void TimelineModel::ZoomBy(double factor, double now_ms) {
  if (!state_.data) return;
  Viewport v = state_.viewport;
  v.SetView(TargetView());
  double middle = v.left() + v.width() / 2;
  bool at_mouse = state_.hovering && state_.hover.kind != HitKind::kOverview;
  v.ZoomAt(at_mouse ? state_.hover_x : middle, factor);
  GoTo(v.view(), now_ms, true);
}

std::optional<Span> TimelineModel::SelectedSpan() const {
  return state_.data && state_.range ? state_.range : SpanOfThing();
}

std::optional<Span> TimelineModel::SpanOfThing() const {
  if (!state_.data) return std::nullopt;
  const TimelineData& d = *state_.data;
  if (state_.selection.valid()) {
    const trace::AllocationTable& a = d.trace().allocations;
    return Span{d.FromTrace(a.begin_ns[state_.selection.value]),
                d.FromTrace(a.end_ns[state_.selection.value])};
  }
  if (state_.selected_activity != query::kNoRow) {
    const trace::ActivityTable& a = d.trace().activities;
    return Span{d.FromTrace(a.begin_ns[state_.selected_activity]),
                d.FromTrace(a.end_ns[state_.selected_activity])};
  }
  if (state_.selected_gap != query::kNoRow) {
    const query::IdleGap gap = d.idle()->Gap(state_.selected_gap);
    return Span{d.FromTrace(gap.begin_ns), d.FromTrace(gap.end_ns)};
  }
  if (state_.selected_slice != kNoSlice) {
    const trace::SliceTable& t = d.trace().slices;
    return Span{d.FromTrace(t.begin_ns[state_.selected_slice]),
                d.FromTrace(t.end_ns[state_.selected_slice])};
  }
  return std::nullopt;
}

void TimelineModel::ZoomToSelection(double now_ms) {
  auto span = SelectedSpan();
  if (span) GoTo(state_.viewport.Around(span->begin, span->end), now_ms, true);
}

void TimelineModel::ZoomToThing(const query::Thing& thing, double now_ms) {
  SelectThing(thing);
  const std::optional<Span> span = SpanOfThing();
  if (!span) return;
  UnfoldLane(LaneOfSelection());
  ScrollTo(state_.layout[LaneOfSelection()]);
  GoTo(state_.viewport.Around(span->begin, span->end), now_ms, true);
}

void TimelineModel::RevealSelection(double now_ms) {
  auto span = AnySelected() ? SpanOfThing() : SelectedSpan();
  if (!span) return;
  UnfoldLane(LaneOfSelection());
  if (state_.selected_activity != query::kNoRow) {
    // Also unfold the lane of the call, because the line to this activity begins there.
    const uint32_t call = state_.data->activities()->CallOf(state_.selected_activity);
    if (call != query::kNoRow) UnfoldLane(ActivityLaneKey(*state_.data, call));
  }
  ScrollTo(state_.layout[LaneOfSelection()]);
  Span view = TargetView();
  if (span->begin >= view.begin && span->end <= view.end) return;
  if (span->width() <= view.width() * 0.9) {
    double middle = (span->begin + span->end) / 2;
    Viewport v = state_.viewport;
    v.SetView({middle - view.width() / 2, middle + view.width() / 2});
    GoTo(v.view(), now_ms, true);
  } else {
    GoTo(
        state_.viewport.Around(std::min(span->begin, view.begin), std::max(span->end, view.end), 1),
        now_ms, true);
  }
}

void TimelineModel::UndoView(double now_ms) {
  if (history_.CanUndo()) Show(history_.Undo(Now()), now_ms);
}

void TimelineModel::RedoView(double now_ms) {
  if (history_.CanRedo()) Show(history_.Redo(Now()), now_ms);
}

void TimelineModel::Show(const ViewState& to, double now_ms) {
  if (to.lanes != stack_.settings()) {
    stack_.SetSettings(to.lanes);
    changes_.lanes = true;
    Relayout();
  }
  if (to.view == state_.viewport.view()) return;
  view_animation_ = {true, state_.viewport.view(), to.view, now_ms};
  if (!animations_) Animate(now_ms + kViewAnimationMs);
}

void TimelineModel::JumpToPeak(double now_ms) {
  if (!state_.data || state_.data->peak().allocated == 0) return;
  double time = state_.data->FromTrace(state_.data->peak().context.time_ns);
  SetCursor(time);
  Span view = TargetView();
  double margin = view.width() * 0.05;
  if (time >= view.begin + margin && time <= view.end - margin) return;
  Viewport v = state_.viewport;
  v.SetView({time - view.width() / 2, time + view.width() / 2});
  GoTo(v.view(), now_ms, true);
}

void TimelineModel::Highlight(const std::vector<trace::AllocationId>& blocks) {
  Mark(state_.data && !blocks.empty()
           ? std::make_shared<const Marking>(MarkBlocks(state_.data->shared_trace(), blocks))
           : nullptr);
}

void TimelineModel::Mark(std::shared_ptr<const Marking> marking) {
  // Ignore a marking of another trace, because its rows are those of other things.
  if (marking != nullptr &&
      (!state_.data || marking->trace != state_.data->shared_trace() || marking->count == 0))
    marking.reset();
  if (marking == state_.marking) return;
  state_.marking = std::move(marking);
  data_dirty_ = true;
}

void TimelineModel::SetNotes(std::shared_ptr<const NoteMarks> notes) {
  if (notes != nullptr &&
      (!state_.data || notes->trace != state_.data->shared_trace() || notes->notes.empty()))
    notes.reset();
  if (notes == state_.notes) return;
  state_.notes = std::move(notes);
  data_dirty_ = true;
}

void TimelineModel::HideCategories(const std::bitset<trace::kCategoryCount>& hidden) {
  if (hidden == state_.hidden) return;
  state_.hidden = hidden;
  morph_active_ = false;  // the heights at which the morph began are no longer valid
  state_.morph = 1;
  data_dirty_ = overlay_dirty_ = true;
}

void TimelineModel::Select(trace::AllocationId id) {
  if (!state_.data || (id.valid() && id.value >= state_.data->trace().allocations.size())) id = {};
  if (state_.marking && (!id.valid() || state_.unmarked(id.value))) Mark(nullptr);
  SelectOne(id, kNoSlice, query::kNoRow, query::kNoRow);
}

void TimelineModel::SelectActivity(uint32_t activity) {
  if (!state_.data || activity >= state_.data->trace().activities.size()) return Select({});
  SelectOne({}, kNoSlice, activity, query::kNoRow);
}

void TimelineModel::SelectSlice(uint32_t slice) {
  if (!state_.data || slice >= state_.data->trace().slices.size()) return Select({});
  SelectOne({}, slice, query::kNoRow, query::kNoRow);
}

void TimelineModel::SelectGap(uint32_t gap) {
  if (!state_.data || state_.data->idle() == nullptr) return Select({});
  SelectOne({}, kNoSlice, query::kNoRow, gap);
}

void TimelineModel::SelectThing(const query::Thing& thing) {
  if (thing.block()) return Select({thing.row});
  thing.activity() ? SelectActivity(thing.row) : SelectSlice(thing.row);
}

void TimelineModel::SelectOne(trace::AllocationId id, uint32_t slice, uint32_t activity,
                              uint32_t gap) {
  if (id.valid() || slice != kNoSlice || activity != query::kNoRow)
    state_.last_chosen = Chosen::kThing;
  if (id == state_.selection && slice == state_.selected_slice &&
      activity == state_.selected_activity && gap == state_.selected_gap)
    return;
  changes_.selection = true;
  state_.selection = id;
  state_.selected_slice = slice;
  state_.selected_activity = activity;
  state_.selected_gap = gap;
  overlay_dirty_ = true;
}

void TimelineModel::FollowLink(const Link& link, double now_ms) {
  switch (link.to) {
    case Link::To::kNothing:
      return;
    case Link::To::kActivity:
      SelectActivity(link.row);
      break;
    case Link::To::kAllocation:
      Select({link.row});
      break;
    case Link::To::kSlice:
      SelectSlice(link.row);
      break;
  }
  RevealSelection(now_ms);
}

// Returns the key of the lane that contains the selection, or "" if there is none.
std::string TimelineModel::LaneOfSelection() const {
  if (state_.selection.valid()) return "blocks";
  if (state_.selected_activity != query::kNoRow)
    return ActivityLaneKey(*state_.data, state_.selected_activity);
  if (state_.selected_gap != query::kNoRow) return IdleLaneKey(*state_.data, state_.selected_gap);
  if (state_.selected_slice != kNoSlice)
    return std::string(SliceLaneKey(state_.data->trace().slices.kind[state_.selected_slice]));
  return {};
}

void TimelineModel::SetCursor(std::optional<double> time) {
  if (time && state_.data) time = std::clamp(*time, 0.0, state_.data->duration_ns());
  if (time) state_.last_chosen = Chosen::kCursor;
  if (time == state_.cursor) return;
  state_.cursor = time;
  overlay_dirty_ = true;
  changes_.cursor = true;
}

void TimelineModel::SetRange(std::optional<Span> range) {
  if (range && range->begin > range->end) std::swap(range->begin, range->end);
  if (range && range->width() <= 0) range.reset();
  if (range) state_.last_chosen = Chosen::kRange;
  if (range == state_.range) return;
  state_.range = range;
  overlay_dirty_ = true;
  changes_.range = true;
}

bool TimelineModel::AnySelected() const {
  return state_.selection.valid() || state_.selected_slice != kNoSlice ||
         state_.selected_activity != query::kNoRow || state_.selected_gap != query::kNoRow;
}

Chosen TimelineModel::LastChosen() const {
  const auto exists = [this](Chosen chosen) {
    switch (chosen) {
      case Chosen::kThing:
        return SelectedThing(state_).has_value();
      case Chosen::kRange:
        return state_.range.has_value();
      case Chosen::kCursor:
        return state_.cursor.has_value();
      case Chosen::kNothing:
        break;
    }
    return false;
  };
  for (const Chosen chosen : {state_.last_chosen, Chosen::kThing, Chosen::kCursor, Chosen::kRange})
    if (exists(chosen)) return chosen;
  return Chosen::kNothing;
}

void TimelineModel::Clear() {
  if (state_.range) {
    SetRange(std::nullopt);
  } else if (AnySelected() || state_.marking) {
    Select({});
  } else {
    SetCursor(std::nullopt);
  }
}

SceneCounts TimelineModel::BuildData(const TextMeasure& measure, DrawList* list) {
  data_dirty_ = view_moved_ = false;
  return BuildDataLayer(state_, measure, &crew_, &memory_, list);
}

void TimelineModel::BuildOverlay(const TextMeasure& measure, DrawList* list) {
  overlay_dirty_ = false;
  timeline::BuildOverlay(state_, measure, list);
}

Changes TimelineModel::TakeChanges() {
  Changes taken = changes_;
  changes_ = {};
  return taken;
}

}  // namespace vramscope::ui::timeline
