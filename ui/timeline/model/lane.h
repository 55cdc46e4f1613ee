// A lane of the canvas: an object that says what it needs, draws itself, and answers what lies
// under the mouse. LaneStack (lane_stack.h) decides where it stands. One file each in lanes/;
// lanes/lanes.h names them all.
//
// Immutable and without data of its own where it can: everything is read from the CanvasState that
// is passed in. One thread.
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
inline constexpr float kSlimTitle = 19;  // of lanes of which there are many

// What a lane gives up while the lanes that stretch have less room than they want.
struct Concession {
  // Down to so many rows; or to one of the below.
  static constexpr int kBelowTheFold = 0;  // it need not be in sight without scrolling
  static constexpr int kGone = -1;
  float until = 1;  // it is made while the others have less than this share of what they want,
  float most = std::numeric_limits<float>::infinity();  // at most so many pixels
  int rows = kBelowTheFold;
};

// In logical pixels.
struct LaneWants {
  int rows = 0;      // there is something of in the data; 0: nothing, the lane is not there
  int at_first = 0;  // of which are shown until the user makes it higher; 0: all
  float row_height = 0;
  float title = 0;      // without one a lane is of the head: always in sight, above all others
  float gap = 0;        // under it
  float label = 0;      // left of it, where the canvas is wide enough
  bool folded = false;  // as it comes: it has little to say
  // A lane that stretches takes its share of what the others leave, and wants so much at least.
  float share = 0, least = 0;
  std::vector<Concession> concessions{};
};

// Where a lane stands.
struct LanePlace {
  const Lane* lane = nullptr;
  bool visible = false;  // in the stack, maybe not in sight
  bool folded = false, pinned = false;
  bool scrolls = false;    // it is not of the head and not pinned
  bool stretches = false;  // it has what the others leave
  Rect title;              // empty when the lane has none
  Rect body;
  Rect clip;  // what of the canvas it may cover
  int rows = 1;
  float row_height = 0;  // with the gap

  float top() const { return title.empty() ? body.y : title.y; }
  float bottom() const { return body.empty() ? title.bottom() : body.bottom(); }
  Rect view() const { return body.Intersect(clip); }  // what of the body is in sight
  bool in_sight() const { return visible && bottom() > clip.y && top() < clip.bottom(); }
  Rect Row(int row) const {
    return {body.x, body.y + static_cast<float>(row) * row_height, body.w, row_height};
  }
};

// What the indexes say of a lane in the view: found out before it is drawn, and kept for as long as
// the view and the lane's size stay.
struct LaneAnswer {
  std::vector<query::LaneView> rows;
  std::vector<query::LaneRect> gaps;  // those wide enough to be seen
  query::CurveColumns curve;
  query::BlockView blocks;
};

struct LaneDrawing {
  const CanvasState& state;
  const LanePlace& place;
  const LaneAnswer& answer;
  const TextMeasure& measure;
  Crew* crew;  // for what one core takes too long for
  SceneMemory* memory;
  SceneCounts* counts;
  DrawList* list;
};

class Lane {
 public:
  virtual ~Lane() = default;
  // The same for the same thing in every trace: settings are kept by it. "blocks", "stream/0/7".
  virtual std::string_view key() const = 0;
  // As menus name it; what it draws into its title is its own matter.
  virtual std::string Name(const CanvasState&) const = 0;
  virtual LaneWants Wants(const CanvasState&) const = 0;
  // How many things it has to show, in all of the trace.
  virtual uint64_t Count(const CanvasState&) const { return 0; }
  // Whether it shows the view's time across the plot: then its picture can be moved with the view.
  virtual bool FollowsView() const { return true; }
  // Called for lanes in sight that are not folded, of several at once on several threads. The
  // answer is the one to the view before, of which an index keeps what has only moved.
  virtual void Ask(const CanvasState&, const LanePlace&, LaneAnswer*) const {}
  // Called for lanes in sight, with a clip around it.
  virtual void Draw(const LaneDrawing&) const = 0;
  // A point of the body. `hit` has the lane and the time already.
  virtual void HitTest(const CanvasState&, const LanePlace&, double x, double y, Hit* hit) const;
  // By default what is always said of the thing that was hit.
  virtual Tooltip Tip(const CanvasState&, const Hit&) const;
};

}  // namespace vramscope::ui::timeline
