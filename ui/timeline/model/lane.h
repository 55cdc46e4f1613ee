// A lane (track) of the canvas. A lane returns the space that it needs, draws itself, and finds the
// thing under the mouse. LaneStack (lane_stack.h) gives each lane its place. Each kind of lane has
// a file in lanes/, and lanes/lanes.h lists them all.
//
// A lane is immutable and has little data of its own. Its functions read the CanvasState that the
// caller passes. They are called by one thread, except for Ask().
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

// Heights of titles.
inline constexpr float kTitleHeight = 24;
inline constexpr float kSlimTitle = 19;  // for kinds of lanes of which there may be many

// How a lane shrinks so that the stretching lanes get more height.
struct Concession {
  // `rows` is the number of rows to which the lane shrinks, or one of the next two constants.
  static constexpr int kBelowTheFold = 0;  // the lane may lie below the visible part of the stack
  static constexpr int kGone = -1;
  // The lane shrinks while the height of the stretching lanes is less than `until` times the height
  // that they want, and also less than `most` pixels.
  float until = 1;
  float most = std::numeric_limits<float>::infinity();
  int rows = kBelowTheFold;
};

// The space that a lane needs, in logical pixels.
struct LaneWants {
  int rows = 0;      // number of rows that the data fills; 0: the lane is not shown
  int at_first = 0;  // number of rows that are shown until the user enlarges the lane; 0: all
  float row_height = 0;
  float title = 0;      // 0: no title; the lane then belongs to the head, which stays at the top
  float gap = 0;        // height of the gap below the lane
  float label = 0;      // width of a label to the left of the lane, if the canvas is wide enough
  bool folded = false;  // folded until the user unfolds it, because it shows little
  // If `share` is not 0, the lane is a stretching lane: it gets this share of the height that other
  // lanes leave, but at least `least`.
  float share = 0, least = 0;
  std::vector<Concession> concessions{};
};

// The position of a lane.
struct LanePlace {
  const Lane* lane = nullptr;
  bool visible = false;  // in the stack, but maybe scrolled out of view
  bool folded = false, pinned = false;
  bool scrolls = false;    // is neither in the head nor pinned
  bool stretches = false;  // gets a share of the height that other lanes leave
  Rect title;              // empty: the lane has no title
  Rect body;
  Rect clip;  // the part of the canvas that the lane may cover
  int rows = 1;
  float row_height = 0;  // including the gap between rows

  float top() const { return title.empty() ? body.y : title.y; }
  float bottom() const { return body.empty() ? title.bottom() : body.bottom(); }
  Rect view() const { return body.Intersect(clip); }  // the visible part of the body
  bool in_sight() const { return visible && bottom() > clip.y && top() < clip.bottom(); }
  Rect Row(int row) const {
    return {body.x, body.y + static_cast<float>(row) * row_height, body.w, row_height};
  }
};

// The results of a lane's index queries. The queries run before the lane is first drawn, and again
// only if the view or the lane's size has changed.
struct LaneAnswer {
  std::vector<query::LaneView> rows;
  std::vector<query::LaneRect> gaps;  // only gaps that are wide enough to see
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
  // Identifies the lane, in all traces and in settings. Examples: "blocks", "stream/0/7".
  virtual std::string_view key() const = 0;
  // The name in menus, which may differ from the drawn title.
  virtual std::string Name(const CanvasState&) const = 0;
  virtual LaneWants Wants(const CanvasState&) const = 0;
  // The number of things in the whole trace that this lane can show.
  virtual uint64_t Count(const CanvasState&) const { return 0; }
  // Whether the lane shows the view's time range. If true, its image can be moved together with the
  // view.
  virtual bool FollowsView() const { return true; }
  // Queries the indexes. Called for visible lanes that are not folded, possibly on different
  // threads for different lanes. On entry, the LaneAnswer contains the previous view's answer, so
  // that an index can reuse its columns if they have only moved.
  virtual void Ask(const CanvasState&, const LanePlace&, LaneAnswer*) const {}
  // Draws the lane. Called for visible lanes. A clip is set.
  virtual void Draw(const LaneDrawing&) const = 0;
  // Finds the thing at a point of the body and stores it in `hit`. Lane and time of `hit` are
  // already set.
  virtual void HitTest(const CanvasState&, const LanePlace&, double x, double y, Hit* hit) const;
  // Returns the tooltip of the thing that was hit. By default, this is TooltipOfThing().
  virtual Tooltip Tip(const CanvasState&, const Hit&) const;
};

}  // namespace vramscope::ui::timeline
