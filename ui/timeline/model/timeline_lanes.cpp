// The model's functions for the stack of lanes: changing the stack, dragging a lane, and choosing
// the lane on which keys act.
#include <algorithm>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

bool TimelineModel::EditLanes(const std::function<bool()>& edit, uint64_t gesture) {
  const ViewState before = Now();
  if (!edit() || *before.lanes == *stack_.settings()) return false;
  history_.Push(before, gesture);
  changes_.lanes = true;
  Relayout();
  if (state_.hovering) UpdateHover(state_.hover_x, state_.hover_y);
  return true;
}

void TimelineModel::SetLaneSettings(LaneSettings settings) {
  stack_.SetSettings(std::make_shared<const LaneSettings>(std::move(settings)));
  Relayout();
}

bool TimelineModel::ChangeLane(LaneAction action, std::string_view key) {
  const std::string name(key);
  const bool changed = EditLanes([&] { return stack_.Change(action, name, state_.layout); });
  if (changed && action == LaneAction::kHide && state_.current_lane == name)
    state_.current_lane.clear();
  return changed;
}

std::vector<std::pair<std::string, std::string>> TimelineModel::HiddenLanes() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& lane : stack_.lanes())
    if (stack_.settings()->Of(lane->key()).hidden && lane->Wants(state_).rows > 0)
      out.emplace_back(lane->key(), lane->Name(state_));
  return out;
}

const Lane* TimelineModel::CommandedLane() const {
  if (!state_.current_lane.empty()) return state_.layout[state_.current_lane].lane;
  if (!state_.hovering || state_.hover.lane == nullptr) return nullptr;
  return state_.layout[state_.hover.lane->key()].title.empty() ? nullptr : state_.hover.lane;
}

void TimelineModel::ScrollTo(float scroll) {
  if (state_.layout.scroll_most <= 0) return;
  if (std::clamp(scroll, 0.0f, state_.layout.scroll_most) == state_.layout.scroll) return;
  stack_.ScrollTo(scroll);
  Relayout();
  if (state_.hovering) UpdateHover(state_.hover_x, state_.hover_y);
}

// Shows and unfolds the lane. This is one undo step, like a change by the user.
void TimelineModel::UnfoldLane(const std::string& key) {
  if (key.empty() || stack_.Find(key) == nullptr) return;
  if (stack_.settings()->Of(key).hidden) ChangeLane(LaneAction::kHide, key);
  if (state_.layout[key].folded) ChangeLane(LaneAction::kFold, key);
}

void TimelineModel::StepLane(int direction) {
  std::vector<const LanePlace*> titled;
  for (const LanePlace& place : state_.layout.lanes)
    if (place.visible && !place.title.empty()) titled.push_back(&place);
  if (titled.empty()) return;
  const auto at = std::find_if(titled.begin(), titled.end(), [&](const LanePlace* p) {
    return p->lane->key() == state_.current_lane;
  });
  auto next = direction > 0 ? std::ptrdiff_t{0} : std::ssize(titled) - 1;
  if (at != titled.end())
    next = std::clamp<std::ptrdiff_t>(at - titled.begin() + direction, 0, std::ssize(titled) - 1);
  const LanePlace& place = *titled[static_cast<size_t>(next)];
  state_.current_lane = place.lane->key();
  data_dirty_ = true;
  ScrollTo(place);
}

void TimelineModel::ScrollTo(const LanePlace& place) {
  if (!place.visible || !place.scrolls) return;
  const float above = state_.layout.scroll_top - place.top();
  const float below = place.bottom() - state_.layout.height;
  if (above > 0) {
    ScrollTo(state_.layout.scroll - above);
  } else if (below > 0) {
    ScrollTo(state_.layout.scroll + std::min(below, -above));
  }
}

// Drags a lane. A pinned lane can move only among the pinned lanes, and any other lane only among
// the lanes that are not pinned.
void TimelineModel::DragLane(double y) {
  const bool pinned = state_.layout[dragged_lane_].pinned;
  float end = 0;
  drop_before_.clear();
  state_.drop_at.reset();
  for (const LanePlace& place : state_.layout.lanes) {
    if (!place.visible || place.title.empty() || place.pinned != pinned) continue;
    end = place.bottom();
    if (y >= (place.top() + place.bottom()) / 2) continue;
    drop_before_ = place.lane->key();
    state_.drop_at = place.top();
    break;
  }
  if (!state_.drop_at) state_.drop_at = end;
  overlay_dirty_ = true;
}

}  // namespace vramscope::ui::timeline
