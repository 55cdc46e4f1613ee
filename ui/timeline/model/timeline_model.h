// The canvas without Qt. It owns the state, changes the state on input, reports what must be drawn
// again, and builds the draw lists. The widget is a thin layer on top of it.
//
//   TimelineModel m;
//   m.Resize(1000, 720, 1.0);
//   m.SetData(TimelineData::Build(trace), false, now_ms);
//   m.Wheel({.x = 500, .y = 300, .dy = 120}, now_ms);    // zoom at the mouse
//   if (m.data_dirty()) m.BuildData(measure, &list);
//
// For use by one thread. `now_ms` is the time of any steady clock.
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
  double dx = 0, dy = 0;              // eighths of a degree (120 per notch), or pixels
  bool pixels = false;                // whether the distances are in pixels, as from a touchpad
  bool begins = false, ends = false;  // whether a touchpad gesture begins or ends
  bool shift = false, ctrl = false, alt = false;
};

// The actions of keys. The widget maps keys of the keyboard to these actions (canvas_keys.h).
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
  // The following keys act on the lane under the mouse or, if there is none, on the current lane.
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

// Changes that the widget reports by signals. The model collects them until TakeChanges().
struct Changes {
  bool selection = false, range = false, cursor = false, view = false, hover = false;
  bool lanes = false;  // order, height, folding or other settings of the lanes
};

class TimelineModel {
 public:
  TimelineModel();

  const CanvasState& state() const { return state_; }
  void SetData(std::shared_ptr<const TimelineData> data, bool animate, double now_ms);
  void SetBaselineTrace(std::shared_ptr<const TimelineData> baseline, std::string label);
  void SetTheme(const Theme& theme);
  void SetDeviceLimit(uint64_t bytes);
  void SetAnimations(bool on) { animations_ = on; }
  void Resize(float width, float height, double scale);
  void SetStatus(Status status, std::string title, std::string text, std::string next,
                 double fraction);
  // Shows the outline of a file that is being read, in place of the data. Null: shows the data
  // again.
  void SetOutline(std::shared_ptr<const trace::Outline> outline);
  void SetEmptyText(std::string title, std::string hint);

  // Input by mouse, wheel and keys. Press() begins a gesture, which Move() and Release() continue.
  void Press(const Pointer& p, double now_ms);
  void Move(const Pointer& p, double now_ms);
  void Release(const Pointer& p, double now_ms);
  void DoubleClick(const Pointer& p, double now_ms);
  void Wheel(const WheelInput& w, double now_ms);
  // Returns false if the key has no effect. `fast`: whether Shift is pressed.
  bool KeyPress(Key key, bool fast, double now_ms);
  void Leave();
  // Draws a frame around the canvas. It is for the time in which the canvas has the focus because
  // of a key. After a click, no frame is needed.
  void SetFocusFrame(bool on);
  void ShowTooltip();  // call it when the mouse has rested for a while

  // Functions for the view.
  void Fit(double now_ms);
  // Changes the view without an animation, to show another document. nullopt: the whole trace. Undo
  // does not return to the view of the document shown before.
  void SetView(std::optional<Span> view);
  void ZoomBy(double factor, double now_ms);
  void ZoomToSelection(double now_ms);
  // Selects the thing and zooms to it, even if a range is selected.
  void ZoomToThing(const query::Thing& thing, double now_ms);
  // Moves the view to the selection. Also shows and unfolds its lane, and scrolls to that lane.
  void RevealSelection(double now_ms);
  void UndoView(double now_ms);
  void RedoView(double now_ms);
  bool CanUndo() const { return history_.CanUndo(); }
  bool CanRedo() const { return history_.CanRedo(); }
  void JumpToPeak(double now_ms);

  // Functions for the stack of lanes. Undo and redo apply to changes of the stack and of the view.
  const LaneSettings& lane_settings() const { return *stack_.settings(); }
  void SetLaneSettings(LaneSettings settings);
  // Returns false if the action changes nothing.
  bool ChangeLane(LaneAction action, std::string_view key);
  // Returns key and name of each hidden lane that has something to show.
  std::vector<std::pair<std::string, std::string>> HiddenLanes() const;
  // Returns the lane on which keys act, or null if there is none.
  const Lane* CommandedLane() const;
  void ScrollTo(float scroll);
  void ScrollTo(const LanePlace& place);  // scrolls until the place is visible

  void Select(trace::AllocationId id);
  void SelectActivity(uint32_t activity);
  void SelectSlice(uint32_t slice);
  void SelectGap(uint32_t gap);
  void SelectThing(const query::Thing& thing);
  // Selects the target of the link and shows it.
  void FollowLink(const Link& link, double now_ms);
  // Draws all blocks except `blocks` faint until the user selects another block. If `blocks` is
  // empty, draws no block faint.
  void Highlight(const std::vector<trace::AllocationId>& blocks);
  // Returns the selected range or, without one, the span of the selected thing.
  std::optional<Span> SelectedSpan() const;
  std::optional<Span> SpanOfThing() const;  // ignores a selected range
  // Marks things. Null: marks nothing. Ignores a marking of another trace.
  void Mark(std::shared_ptr<const Marking> marking);
  // Sets the notes. Null: removes them. Ignores notes of another trace.
  void SetNotes(std::shared_ptr<const NoteMarks> notes);
  // Sets the categories that the memory lane omits and the blocks lane draws faint.
  void HideCategories(const std::bitset<trace::kCategoryCount>& hidden);
  // Returns what the user has chosen last. If that is not set any more, returns a thing, cursor or
  // range that is set.
  Chosen LastChosen() const;
  void SetCursor(std::optional<double> time);
  void SetRange(std::optional<Span> range);
  void Clear();  // Esc: clears the first of these that is set: range; selection and marking; cursor

  Hit HitTest(double x, double y) const;

  // Advances the animations. Returns true while an animation is running.
  bool Animate(double now_ms);
  bool animating() const { return view_animation_.active || morph_active_; }

  bool data_dirty() const { return data_dirty_ || view_moved_; }
  // Whether only the view has changed since the last BuildData().
  bool only_view_moved() const { return view_moved_ && !data_dirty_; }
  bool overlay_dirty() const { return overlay_dirty_; }
  SceneCounts BuildData(const TextMeasure& measure, DrawList* list);
  void BuildOverlay(const TextMeasure& measure, DrawList* list);
  Changes TakeChanges();
  // The threads that share the work of drawing a frame. The renderer also uses them.
  Crew& crew() { return crew_; }

 private:
  enum class Gesture : uint8_t {
    kNone,
    kMaybeClick,
    kRange,
    kZoomRange,  // Ctrl+drag: on release, the view changes to the range
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
  Span DraggedSpan(double x) const;  // span from the press to `x`, limited to the view
  void ZoomAddresses(double y, double factor);
  void StepBlock(int direction, double now_ms);
  void StepActivity(int direction, double now_ms);
  void SelectOne(trace::AllocationId id, uint32_t slice, uint32_t activity, uint32_t gap);
  bool AnySelected() const;
  std::string LaneOfSelection() const;
  Span TargetView() const;  // the view at the end of a running animation
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
  double brush_grab_ = 0;  // time between the brush's begin and the mouse
  bool brush_right_edge_ = false;
  std::string dragged_lane_, drop_before_;
  float press_height_ = 0;  // height of the lane whose edge is dragged
  float press_scroll_ = 0;
  uint64_t gesture_id_ = 1;
  double last_wheel_ms_ = -1e9;

  ViewAnimation view_animation_;
  bool morph_active_ = false;
  double morph_start_ms_ = 0;
};

}  // namespace vramscope::ui::timeline
