// The canvas without Qt: owns the state, turns input into changes of it, says what must be drawn
// anew, and makes the draw lists. The widget is a thin shell around it.
//
//   TimelineModel m;
//   m.Resize(1000, 720, 1.0);
//   m.SetData(TimelineData::Build(trace), false, now_ms);
//   m.Wheel({.x = 500, .y = 300, .dy = 120}, now_ms);    // zoom at the mouse
//   if (m.data_dirty()) m.BuildData(measure, &list);
//
// One thread. Times that are passed in (`now_ms`) are those of any steady clock.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/scene.h"

namespace vramscope::ui::timeline {

enum class Button : uint8_t { kNone, kLeft, kMiddle, kRight };

struct Pointer {
  double x = 0, y = 0;
  Button button = Button::kNone;
  bool shift = false, ctrl = false, alt = false;
};

struct WheelInput {
  double x = 0, y = 0;
  double dx = 0, dy = 0;              // eighths of a degree (120 a notch), or pixels
  bool pixels = false;                // from a touchpad
  bool begins = false, ends = false;  // of a touchpad gesture
  bool shift = false, ctrl = false, alt = false;
};

// Keys by meaning; the widget maps positions (so that W is W's place on any layout).
enum class Key : uint8_t {
  kZoomIn,
  kZoomOut,
  kPanLeft,
  kPanRight,
  kFit,
  kZoomSelection,
  kPeak,
  kEscape,
  kUndo,
  kRedo,
  kNextBlock,
  kPreviousBlock,
  kSelectionToRange,
  kScrollUp,
  kScrollDown,
  // Of the lane under the mouse, else of the current one.
  kNextLane,
  kPreviousLane,
  kFoldLane,
  kPinLane,
  kHideLane,
  kMoveLaneUp,
  kMoveLaneDown,
  kLaneHigher,
  kLaneLower,
};

// What the outside wants to hear of; collected until taken.
struct Changes {
  bool selection = false, range = false, cursor = false, view = false, hover = false;
  bool lanes = false;  // how the stack is set
};

class TimelineModel {
 public:
  TimelineModel();

  const CanvasState& state() const { return state_; }
  void SetData(std::shared_ptr<const TimelineData> data, bool animate, double now_ms);
  void SetGhost(std::shared_ptr<const TimelineData> ghost, std::string label);
  void SetTheme(const Theme& theme);
  void SetDeviceLimit(uint64_t bytes);
  void SetAnimations(bool on) { animations_ = on; }
  void Resize(float width, float height, double scale);
  void SetStatus(Status status, std::string title, std::string text, std::string next,
                 double fraction);
  // Of the file that is being read, in place of what is shown; null: that again.
  void SetOutline(std::shared_ptr<const trace::Outline> outline);
  void SetEmptyText(std::string title, std::string hint);

  // Input. A press starts a gesture that Move and Release go on with.
  void Press(const Pointer& p, double now_ms);
  void Move(const Pointer& p, double now_ms);
  void Release(const Pointer& p, double now_ms);
  void DoubleClick(const Pointer& p, double now_ms);
  void Wheel(const WheelInput& w, double now_ms);
  // False: nothing that this key does here. `fast`: Shift.
  bool KeyPress(Key key, bool fast, double now_ms);
  void Leave();
  void ShowTooltip();  // the mouse has rested

  // View.
  void Fit(double now_ms);
  // Another document is looked at, at once and with no way back to the view of the one before.
  // nullopt: all of it.
  void SetView(std::optional<Span> view);
  void ZoomBy(double factor, double now_ms);
  void ZoomToSelection(double now_ms);
  // Its lane is unfolded, shown where it was hidden, and scrolled to.
  void RevealSelection(double now_ms);
  void UndoView(double now_ms);
  void RedoView(double now_ms);
  bool CanUndo() const { return history_.CanUndo(); }
  bool CanRedo() const { return history_.CanRedo(); }
  void JumpToPeak(double now_ms);

  // The stack of lanes. A change is undone with the view.
  const LaneSettings& lane_settings() const { return *stack_.settings(); }
  void SetLaneSettings(LaneSettings settings);
  // False: nothing that this can change now.
  bool ChangeLane(LaneAction action, std::string_view key);
  // Of hidden lanes that have something to show: key and name.
  std::vector<std::pair<std::string, std::string>> HiddenLanes() const;
  // The lane that a command by key speaks of; null: none.
  const Lane* CommandedLane() const;
  void ScrollTo(float scroll);
  void ScrollTo(const LanePlace& place);  // until it is in sight

  void Select(trace::AllocationId id);
  void SelectActivity(uint32_t activity);
  void SelectSlice(uint32_t slice);
  void SelectGap(uint32_t gap);
  void SelectThing(const query::Thing& thing);
  // Of the selection in hand: what is outlined, and said.
  void FollowLink(const Link& link, double now_ms);
  // The other blocks are drawn faint, until something that is not among these is selected. Empty:
  // none is.
  void Highlight(const std::vector<trace::AllocationId>& blocks);
  std::optional<Span> SelectedSpan() const;  // of the range, else of what is selected
  // Null: nothing is marked. What was made of another trace than the one that is shown is dropped.
  void Mark(std::shared_ptr<const Marking> marking);
  // Null: there are none. Those of another trace than the one that is shown are dropped.
  void SetNotes(std::shared_ptr<const NoteMarks> notes);
  // What the memory lane leaves out of its stack, and the blocks lane draws faint.
  void HideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  void SetCursor(std::optional<double> time);
  void SetRange(std::optional<Span> range);
  void Clear();  // Esc: one thing at a time: tooltip and range, selection, cursor

  Hit HitTest(double x, double y) const;

  // Moves animations on; true while one runs.
  bool Animate(double now_ms);
  bool animating() const { return view_animation_.active || morph_active_; }

  bool data_dirty() const { return data_dirty_ || view_moved_; }
  // What BuildData made last is right but for the view.
  bool only_view_moved() const { return view_moved_ && !data_dirty_; }
  bool overlay_dirty() const { return overlay_dirty_; }
  SceneCounts BuildData(const TextMeasure& measure, DrawList* list);
  void BuildOverlay(const TextMeasure& measure, DrawList* list);
  Changes TakeChanges();
  // For what a frame takes, to be shared with whoever draws it.
  Crew& crew() { return crew_; }

 private:
  enum class Gesture : uint8_t {
    kNone,
    kMaybeClick,
    kRange,
    kPan,
    kBrush,
    kBrushEdge,
    kScrub,
    kResizeLane,
    kMoveLane,
    kScroll,
  };
  struct ViewState {
    Span view;
    std::shared_ptr<const LaneSettings> lanes;
    friend bool operator==(const ViewState&, const ViewState&) = default;
  };
  struct ViewAnimation {
    bool active = false;
    Span from, to;
    double start_ms = 0;
  };

  void Relayout();
  void UpdateAxis(bool may_shrink);
  void GoTo(const Span& view, double now_ms, bool animate, uint64_t gesture = 0);
  void SetViewNow(const Span& view);
  void UpdateHover(double x, double y);
  void MoveBrush(double x);
  void ZoomAddresses(double y, double factor);
  void StepBlock(int direction, double now_ms);
  void StepActivity(int direction, double now_ms);
  void SelectOne(trace::AllocationId id, uint32_t slice, uint32_t activity, uint32_t gap);
  bool AnySelected() const;
  std::string LaneOfSelection() const;
  Span TargetView() const;  // where an animation under way will end
  ViewState Now() const { return {TargetView(), stack_.settings()}; }
  void Show(const ViewState& state, double now_ms);
  bool EditLanes(const std::function<bool()>& edit, uint64_t gesture = 0);
  void StepLane(int direction);
  void UnfoldLane(const std::string& key);
  void DragLane(double y);

  CanvasState state_;
  LaneStack stack_;
  History<ViewState> history_;
  AxisLock axis_lock_;
  SceneMemory memory_;
  Crew crew_;
  bool animations_ = true;
  bool data_dirty_ = true, view_moved_ = false, overlay_dirty_ = true;
  Changes changes_;

  Gesture gesture_ = Gesture::kNone;
  Pointer press_;
  Span press_view_;
  double brush_grab_ = 0;  // time between the mouse and the view's begin
  bool brush_right_edge_ = false;
  std::string dragged_lane_, drop_before_;
  float press_height_ = 0;  // of the lane whose edge is dragged
  float press_scroll_ = 0;
  uint64_t gesture_id_ = 1;
  double last_wheel_ms_ = -1e9;

  ViewAnimation view_animation_;
  bool morph_active_ = false;
  double morph_start_ms_ = 0;
};

}  // namespace vramscope::ui::timeline
