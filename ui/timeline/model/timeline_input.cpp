// Mouse, wheel, touchpad and keys.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {
namespace {

constexpr double kClickPx = 4;         // a press that moves less than this is a click
constexpr double kNotchFactor = 1.25;  // factor by which one wheel notch zooms
constexpr double kTouchpadZoom = 0.006;
constexpr double kKeyZoom = 1.5;
constexpr double kKeyPan = 0.12;  // fraction of the view's width
constexpr double kFast = 3;
constexpr double kWheelGestureMs = 500;
constexpr float kBrushEdgePx = 6;
constexpr double kScrollNotchPx = 60;
constexpr float kScrollPage = 0.8f;  // fraction of the height of the part that scrolls

}  // namespace

void TimelineModel::UpdateHover(double x, double y) {
  Hit hit = HitTest(x, y);
  bool same = hit.SameThing(state_.hover);
  state_.hover_x = x;
  state_.hover_y = y;
  if (!same && hit.kind != HitKind::kMemory) state_.tooltip = false;
  state_.hover = hit;
  overlay_dirty_ = true;
  changes_.hover = true;
}

void TimelineModel::MoveBrush(double x) {
  const Rect& box = state_.layout["overview"].body;
  const Span& extent = state_.viewport.extent();
  double time = extent.begin + (x - box.x) / box.w * extent.width();
  Span view = state_.viewport.view();
  if (gesture_ == Gesture::kBrush) {
    double begin = time - brush_grab_;
    SetViewNow({begin, begin + view.width()});
  } else if (brush_right_edge_) {
    SetViewNow({view.begin, std::max(time, view.begin + Viewport::kMinSpanNs)});
  } else {
    SetViewNow({std::min(time, view.end - Viewport::kMinSpanNs), view.end});
  }
}

Span TimelineModel::DraggedSpan(double x) const {
  const double left = state_.viewport.left();
  const double a = state_.viewport.ToTime(press_.x);
  const double b = state_.viewport.ToTime(std::clamp(x, left, left + state_.viewport.width()));
  return {std::min(a, b), std::max(a, b)};
}

void TimelineModel::Press(const Pointer& p, double now_ms) {
  (void)now_ms;
  press_ = p;
  press_view_ = state_.viewport.view();
  state_.tooltip = false;
  state_.zoom_range.reset();
  gesture_ = Gesture::kNone;
  if (!state_.shows_lanes()) return;
  view_animation_.active = false;
  ++gesture_id_;
  press_scroll_ = state_.layout.scroll;
  if (p.button == Button::kMiddle || (p.button == Button::kLeft && p.shift)) {
    gesture_ = Gesture::kPan;
    return;
  }
  if (p.button != Button::kLeft) return;
  Hit hit = HitTest(p.x, p.y);
  if (hit.kind == HitKind::kOverview) {
    const Rect& box = state_.layout["overview"].body;
    const Span &extent = state_.viewport.extent(), &view = state_.viewport.view();
    double px_per_ns = box.w / extent.width();
    double x0 = box.x + (view.begin - extent.begin) * px_per_ns;
    double x1 = box.x + (view.end - extent.begin) * px_per_ns;
    double time = extent.begin + (p.x - box.x) / px_per_ns;
    history_.Push({view, stack_.settings()}, gesture_id_);
    if (std::abs(p.x - x0) <= kBrushEdgePx || std::abs(p.x - x1) <= kBrushEdgePx) {
      gesture_ = Gesture::kBrushEdge;
      brush_right_edge_ = std::abs(p.x - x1) < std::abs(p.x - x0);
    } else {
      gesture_ = Gesture::kBrush;
      // If the press is outside of the brush, the brush is centered at the mouse.
      brush_grab_ = p.x > x0 && p.x < x1 ? time - view.begin : view.width() / 2;
      MoveBrush(p.x);
    }
    return;
  }
  if (hit.kind == HitKind::kRuler) {
    gesture_ = Gesture::kScrub;
    SetCursor(state_.viewport.ToTime(p.x));
    return;
  }
  if (hit.kind == HitKind::kScrollBar) {
    const Rect& thumb = state_.layout.scroll_thumb;
    gesture_ = Gesture::kScroll;
    // If the press is outside of the thumb, the thumb is centered at the mouse.
    if (!thumb.Contains(thumb.x, p.y)) {
      const Rect& bar = state_.layout.scroll_bar;
      ScrollTo(static_cast<float>((p.y - bar.y - thumb.h / 2) / (bar.h - thumb.h)) *
               state_.layout.scroll_most);
      press_scroll_ = state_.layout.scroll;
    }
    return;
  }
  dragged_lane_.clear();
  if (hit.lane != nullptr) dragged_lane_ = hit.lane->key();
  if (hit.kind == HitKind::kLowerEdge) {
    gesture_ = Gesture::kResizeLane;
    press_height_ = state_.layout[dragged_lane_].body.h;
    return;
  }
  if (hit.kind != HitKind::kTitle) dragged_lane_.clear();
  gesture_ = Gesture::kMaybeClick;
}

void TimelineModel::Move(const Pointer& p, double now_ms) {
  (void)now_ms;
  if (!state_.hovering) {
    state_.hovering = true;
    overlay_dirty_ = true;
  }
  // After the mouse has moved, keys act on the lane under the mouse again.
  if (!state_.current_lane.empty()) {
    state_.current_lane.clear();
    data_dirty_ = true;
  }
  if (gesture_ == Gesture::kMaybeClick && std::abs(p.x - press_.x) >= kClickPx) {
    gesture_ = press_.ctrl ? Gesture::kZoomRange : Gesture::kRange;
    state_.dragging_range = true;
  }
  if (gesture_ == Gesture::kMaybeClick && !dragged_lane_.empty() &&
      std::abs(p.y - press_.y) >= kClickPx) {
    gesture_ = Gesture::kMoveLane;
  }
  switch (gesture_) {
    case Gesture::kResizeLane: {
      const auto height = press_height_ + static_cast<float>(p.y - press_.y);
      EditLanes(
          [&] {
            stack_.SetHeight(dragged_lane_, std::max(height, 1.0f), state_.layout);
            return true;
          },
          gesture_id_);
      break;
    }
    case Gesture::kMoveLane:
      DragLane(p.y);
      break;
    case Gesture::kScroll: {
      const float way = state_.layout.scroll_bar.h - state_.layout.scroll_thumb.h;
      if (way > 0)
        ScrollTo(press_scroll_ +
                 static_cast<float>(p.y - press_.y) / way * state_.layout.scroll_most);
      break;
    }
    case Gesture::kRange:
      SetRange(DraggedSpan(p.x));
      break;
    case Gesture::kZoomRange:
      state_.zoom_range = DraggedSpan(p.x);
      break;
    case Gesture::kPan: {
      double shift = (press_.x - p.x) * press_view_.width() / state_.viewport.width();
      double begin = press_view_.begin + shift;
      history_.Push({press_view_, stack_.settings()}, gesture_id_);
      SetViewNow({begin, begin + press_view_.width()});
      ScrollTo(press_scroll_ - static_cast<float>(p.y - press_.y));
      break;
    }
    case Gesture::kBrush:
    case Gesture::kBrushEdge:
      MoveBrush(p.x);
      break;
    case Gesture::kScrub:
      SetCursor(state_.viewport.ToTime(p.x));
      break;
    case Gesture::kNone:
    case Gesture::kMaybeClick:
      break;
  }
  UpdateHover(p.x, p.y);
}

void TimelineModel::Release(const Pointer& p, double now_ms) {
  Gesture gesture = gesture_;
  gesture_ = Gesture::kNone;
  state_.dragging_range = false;
  overlay_dirty_ = true;
  state_.drop_at.reset();
  const std::optional<Span> zoom = std::exchange(state_.zoom_range, std::nullopt);
  if (gesture == Gesture::kZoomRange && zoom && zoom->width() > 0)
    GoTo(state_.viewport.Around(zoom->begin, zoom->end, 1), now_ms, true);
  if (gesture == Gesture::kMoveLane)
    EditLanes([&] { return stack_.MoveBefore(dragged_lane_, drop_before_); });
  if (gesture != Gesture::kMaybeClick || !state_.data) return;
  Hit hit = HitTest(p.x, p.y);
  switch (hit.kind) {
    case HitKind::kAllocation:
      Select(hit.allocation);
      break;
    case HitKind::kSlice:
      SelectSlice(hit.slice);
      break;
    case HitKind::kActivity:
      SelectActivity(hit.activity);
      break;
    case HitKind::kIdle:
      SelectGap(hit.gap);
      break;
    case HitKind::kMemory:
      SetCursor(hit.time);
      SetRange(std::nullopt);
      break;
    case HitKind::kTitle:
      ChangeLane(LaneAction::kFold, hit.lane->key());
      break;
    case HitKind::kNone:
      SetRange(std::nullopt);
      Select({});
      break;
    case HitKind::kOverview:
    case HitKind::kRuler:
    case HitKind::kLowerEdge:
    case HitKind::kScrollBar:
      break;
  }
}

void TimelineModel::DoubleClick(const Pointer& p, double now_ms) {
  if (!state_.shows_lanes() || p.button != Button::kLeft) return;
  gesture_ = Gesture::kNone;
  Hit hit = HitTest(p.x, p.y);
  switch (hit.kind) {
    case HitKind::kAllocation:
      Select(hit.allocation);
      SetRange(std::nullopt);
      ZoomToSelection(now_ms);
      break;
    case HitKind::kSlice:
      SelectSlice(hit.slice);
      SetRange(std::nullopt);
      ZoomToSelection(now_ms);
      break;
    case HitKind::kActivity:
      SelectActivity(hit.activity);
      SetRange(std::nullopt);
      ZoomToSelection(now_ms);
      break;
    case HitKind::kIdle: {
      const query::IdleGap gap = state_.data->idle()->Gap(hit.gap);
      GoTo(state_.viewport.Around(state_.data->FromTrace(gap.begin_ns),
                                  state_.data->FromTrace(gap.end_ns)),
           now_ms, true);
      break;
    }
    case HitKind::kTitle:
      if (hit.lane->key() == "blocks" && state_.addresses.end > 0) {
        state_.addresses = {};
        // Unfold the lane again, because the first click of the double click has folded it.
        if (state_.layout["blocks"].folded) ChangeLane(LaneAction::kFold, "blocks");
        data_dirty_ = overlay_dirty_ = true;
      }
      break;
    case HitKind::kLowerEdge:
      ChangeLane(LaneAction::kNaturalHeight, hit.lane->key());
      break;
    case HitKind::kOverview:
      Fit(now_ms);
      break;
    case HitKind::kMemory:
      if (state_.range) {
        ZoomToSelection(now_ms);
      } else {
        Viewport v = state_.viewport;
        v.ZoomAt(p.x, 2);
        GoTo(v.view(), now_ms, true);
      }
      break;
    case HitKind::kNone:
    case HitKind::kRuler:
    case HitKind::kScrollBar:
      break;
  }
}

void TimelineModel::ZoomAddresses(double y, double factor) {
  const Rect& body = state_.layout["blocks"].body;
  auto size = static_cast<double>(state_.data->address_axis().size());
  double begin = state_.addresses.begin,
         end = state_.addresses.end > 0 ? state_.addresses.end : size;
  double share = std::clamp((body.bottom() - y) / body.h, 0.0, 1.0);
  double at = begin + share * (end - begin);
  double width = std::clamp((end - begin) / factor, 4096.0, size);
  begin = std::clamp(at - share * width, 0.0, size - width);
  state_.addresses = width >= size ? AddressWindow{} : AddressWindow{begin, begin + width};
  data_dirty_ = overlay_dirty_ = true;
  UpdateHover(state_.hover_x, state_.hover_y);
}

void TimelineModel::Wheel(const WheelInput& w, double now_ms) {
  if (!state_.shows_lanes()) return;
  if (w.begins || now_ms - last_wheel_ms_ > kWheelGestureMs) {
    ++gesture_id_;
    axis_lock_.Reset();
  }
  last_wheel_ms_ = now_ms;
  double dx = w.dx, dy = w.dy;
  // Alt + wheel over the blocks lane zooms the addresses. Qt may swap dx and dy while Alt is
  // pressed.
  if (w.alt && state_.layout["blocks"].view().Contains(w.x, w.y)) {
    double amount = dy != 0 ? dy : dx;
    ZoomAddresses(
        w.y, w.pixels ? std::exp(amount * kTouchpadZoom) : std::pow(kNotchFactor, amount / 120));
    return;
  }
  // Scroll the lanes if the mouse is over a title or, with Alt, also elsewhere.
  if (state_.layout.scroll_most > 0 && !w.ctrl && !w.shift) {
    const HitKind over = HitTest(w.x, w.y).kind;
    if (w.alt || over == HitKind::kTitle || over == HitKind::kScrollBar) {
      const double amount = dy != 0 ? dy : dx;
      ScrollTo(state_.layout.scroll -
               static_cast<float>(w.pixels ? amount : amount / 120 * kScrollNotchPx));
      return;
    }
  }
  if (w.pixels && !w.ctrl) {
    AxisLock::Axis axis = axis_lock_.Add(dx, dy);
    if (axis == AxisLock::Axis::kHorizontal) {
      dy = 0;
    } else if (axis == AxisLock::Axis::kVertical) {
      dx = 0;
    } else {
      return;
    }
  }
  if (w.ends) axis_lock_.Reset();
  Viewport v = state_.viewport;
  v.SetView(TargetView());
  if (w.shift && !w.pixels) {  // Shift + wheel pans
    dx = dx != 0 ? dx : dy;
    dy = 0;
  }
  if (dx != 0) {
    v.PanPixels(w.pixels ? -dx : -dx / 120 * v.width() * 0.1);
  }
  if (dy != 0) {
    // With Ctrl, the steps are finer.
    double notch = w.ctrl ? std::sqrt(kNotchFactor) : kNotchFactor;
    v.ZoomAt(w.x, w.pixels ? std::exp(dy * kTouchpadZoom) : std::pow(notch, dy / 120));
  }
  // Zoom without an animation, which would make the wheel feel slow.
  GoTo(v.view(), now_ms, false, gesture_id_);
}

bool TimelineModel::KeyPress(Key key, bool fast, double now_ms) {
  if (!state_.data || state_.outline) return false;
  double speed = fast ? kFast : 1;
  const auto page = [&](float pages) {
    const float shown = state_.layout.height - state_.layout.scroll_top;
    ScrollTo(state_.layout.scroll + pages * kScrollPage * shown);
  };
  const auto change = [&](LaneAction action) {
    const Lane* lane = CommandedLane();
    return lane != nullptr && ChangeLane(action, lane->key());
  };
  auto pan = [&](double direction) {
    Viewport v = state_.viewport;
    v.SetView(TargetView());
    v.PanPixels(direction * kKeyPan * speed * v.width());
    GoTo(v.view(), now_ms, true);
  };
  switch (key) {
    case Key::kZoomIn:
      ZoomBy(std::pow(kKeyZoom, speed), now_ms);
      break;
    case Key::kZoomOut:
      ZoomBy(std::pow(kKeyZoom, -speed), now_ms);
      break;
    case Key::kPanLeft:
      pan(-1);
      break;
    case Key::kPanRight:
      pan(1);
      break;
    case Key::kFit:
      Fit(now_ms);
      break;
    case Key::kZoomSelection:
      ZoomToSelection(now_ms);
      break;
    case Key::kPeak:
      JumpToPeak(now_ms);
      break;
    case Key::kEscape:
      state_.tooltip = false;
      overlay_dirty_ = true;
      if (gesture_ == Gesture::kZoomRange) {  // cancel only the drag
        gesture_ = Gesture::kNone;
        state_.zoom_range.reset();
        state_.dragging_range = false;
        break;
      }
      Clear();
      break;
    case Key::kUndo:
      UndoView(now_ms);
      break;
    case Key::kRedo:
      RedoView(now_ms);
      break;
    case Key::kNextBlock:
      StepBlock(1, now_ms);
      break;
    case Key::kPreviousBlock:
      StepBlock(-1, now_ms);
      break;
    case Key::kSelectionToRange:
      if (auto span = SelectedSpan()) SetRange(span);
      break;
    case Key::kScrollUp:
      page(-1);
      break;
    case Key::kScrollDown:
      page(1);
      break;
    case Key::kNextLane:
      StepLane(1);
      break;
    case Key::kPreviousLane:
      StepLane(-1);
      break;
    case Key::kFoldLane:
      return change(LaneAction::kFold);
    case Key::kPinLane:
      return change(LaneAction::kPin);
    case Key::kHideLane:
      return change(LaneAction::kHide);
    case Key::kMoveLaneUp:
      return change(LaneAction::kMoveUp);
    case Key::kMoveLaneDown:
      return change(LaneAction::kMoveDown);
    case Key::kLaneHigher:
      return change(LaneAction::kHigher);
    case Key::kLaneLower:
      return change(LaneAction::kLower);
  }
  return true;
}

// Selects the next or previous allocation of the same category. The allocations are in the order in
// which they were made.
void TimelineModel::StepBlock(int direction, double now_ms) {
  const trace::AllocationTable& a = state_.data->trace().allocations;
  if (state_.selected_activity != query::kNoRow) return StepActivity(direction, now_ms);
  if (!state_.selection.valid()) return;
  trace::Category category = a.main_category[state_.selection.value];
  int64_t i = state_.selection.value;
  for (i += direction; i >= 0 && i < a.size(); i += direction) {
    if (a.main_category[i] != category) continue;
    Select({static_cast<uint32_t>(i)});
    RevealSelection(now_ms);
    return;
  }
}

// Selects the next or previous activity of the same stream or thread.
void TimelineModel::StepActivity(int direction, double now_ms) {
  const query::ActivityIndex& index = *state_.data->activities();
  const uint32_t track = index.TrackOf(state_.selected_activity);
  const auto size = int64_t{state_.data->trace().activities.size()};
  for (int64_t i = int64_t{state_.selected_activity} + direction; i >= 0 && i < size;
       i += direction) {
    if (index.TrackOf(static_cast<uint32_t>(i)) != track) continue;
    SelectActivity(static_cast<uint32_t>(i));
    RevealSelection(now_ms);
    return;
  }
}

void TimelineModel::SetFocusFrame(bool on) {
  if (state_.focus_frame == on) return;
  state_.focus_frame = on;
  overlay_dirty_ = true;
}

void TimelineModel::Leave() {
  if (gesture_ != Gesture::kNone) return;  // a drag goes on outside of the canvas
  state_.hovering = false;
  state_.tooltip = false;
  state_.hover = {};
  overlay_dirty_ = true;
  changes_.hover = true;
}

void TimelineModel::ShowTooltip() {
  if (!state_.hovering || state_.tooltip || gesture_ != Gesture::kNone) return;
  state_.tooltip = true;
  overlay_dirty_ = true;
}

}  // namespace vramscope::ui::timeline
