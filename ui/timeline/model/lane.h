// A lane (track) of the canvas. It returns the space it needs, draws itself, and finds the thing
// under the mouse. LaneStack (lane_stack.h) places it. Each lane has a file in lanes/, and
// lanes/lanes.h lists them all.
//
// A lane is immutable and has little data of its own. Its functions read the CanvasState that the
// caller passes. Used by one thread, except for Ask().
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/query/block_index.h"
#include "profiler/query/lane_index.h"
#include "profiler/query/level_of_detail.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

class Crew;
class Lane;
struct CanvasState;
struct Hit;
struct SceneCounts;
struct SceneMemory;
struct Tooltip;

// Heights that several lanes share.
inline constexpr float kTitleHeight = 24;
inline constexpr float kSlimTitle = 19;  // title height of lanes of which there may be many

// How a lane shrinks to leave more room for the stretching lanes.
struct Concession {
  // `rows` is the number of rows to which the lane shrinks, or one of these two constants.
  static constexpr int kBelowTheFold = 0;  // the lane may lie below the visible part of the stack
  static constexpr int kGone = -1;
  // The lane shrinks while the stretching lanes have less than `until` times the height they want,
  // and less than `most` pixels.
  float until = 1;
  float most = std::numeric_limits<float>::infinity();
  int rows = kBelowTheFold;
};

// The space that a lane needs, in logical pixels.
struct LaneWants {
  int rows = 0;      // rows that the data fills; 0: the lane is not shown
  int at_first = 0;  // rows shown until the user enlarges the lane; 0: all
  float row_height = 0;
  float title = 0;      // 0: no title; the lane then belongs to the head, which stays at the top
  float gap = 0;        // below the lane
  float label = 0;      // width of a label left of the lane, if the canvas is wide enough
  bool folded = false;  // folded until the user unfolds it, because it shows little
  // A stretching lane gets `share` of the height that other lanes leave, but at least `least`.
  float share = 0, least = 0;
  std::vector<Concession> concessions{};
};

// The position of a lane.
struct LanePlace {
  const Lane* lane = nullptr;
  bool visible = false;  // shown in the stack, but maybe scrolled out of sight
  bool folded = false, pinned = false;
  bool scrolls = false;    // neither in the head nor pinned
  bool stretches = false;  // gets a share of the remaining height
  Rect title;              // empty when the lane has none
  Rect body;
  Rect clip;  // the part of the canvas that the lane may cover
  int rows = 1;
  float row_height = 0;  // including the gap

  float top() const { return title.empty() ? body.y : title.y; }
  float bottom() const { return body.empty() ? title.bottom() : body.bottom(); }
  Rect view() const { return body.Intersect(clip); }  // the visible part of the body
  bool in_sight() const { return visible && bottom() > clip.y && top() < clip.bottom(); }
  Rect Row(int row) const {
    return {body.x, body.y + static_cast<float>(row) * row_height, body.w, row_height};
  }
};

// The results of a lane's index queries. The queries run before the lane is first drawn, and again
// only after the view or the lane's size has changed.
struct LaneAnswer {
  std::vector<query::LaneView> rows;
  std::vector<query::LaneRect> gaps;  // only gaps that are wide enough to be visible
  query::CurveColumns curve;
  query::BlockView blocks;
};

struct LaneDrawing {
  const CanvasState& state;
  const LanePlace& place;
  const LaneAnswer& answer;
  const TextMeasure& measure;
  Crew* crew;  // threads for work that takes too long on one core
  SceneMemory* memory;
  SceneCounts* counts;
  DrawList* list;
};

class Lane {
 public:
  virtual ~Lane() = default;
  // Identifies the lane in all traces and in settings, such as "blocks" or "stream/0/7".
  virtual std::string_view key() const = 0;
  // The name in menus. The lane's drawn title may differ.
  virtual std::string Name(const CanvasState&) const = 0;
  virtual LaneWants Wants(const CanvasState&) const = 0;
  // The number of things in the whole trace that this lane can show.
  virtual uint64_t Count(const CanvasState&) const { return 0; }
  // Whether the lane shows the view's time range. If so, its image can be moved with the view.
  virtual bool FollowsView() const { return true; }
  // Queries the indexes. Called for visible lanes that are not folded, for different lanes on
  // different threads. The LaneAnswer still has the previous view's answer, because an index reuses
  // its columns if they have only moved.
  virtual void Ask(const CanvasState&, const LanePlace&, LaneAnswer*) const {}
  // Draws the lane. Called for visible lanes, with a clip set.
  virtual void Draw(const LaneDrawing&) const = 0;
  // Finds the thing at a point of the body and stores it in `hit`, which already has lane and time.
  virtual void HitTest(const CanvasState&, const LanePlace&, double x, double y, Hit* hit) const;
  // Returns the tooltip of the thing that was hit. The default is TooltipOfThing().
  virtual Tooltip Tip(const CanvasState&, const Hit&) const;
};

}  // namespace vramscope::ui::timeline
