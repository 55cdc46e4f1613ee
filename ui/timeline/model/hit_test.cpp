#include <algorithm>

#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {
namespace {

// To drag a lane's lower edge, the mouse must be pressed at most this far below the edge, not above
// it.
constexpr float kEdge = 4;
constexpr float kScrollBarReach = 3;

}  // namespace

Hit TimelineModel::HitTest(double x, double y) const {
  const CanvasState& s = state_;
  Hit hit;
  hit.time =
      s.viewport.ToTime(std::clamp(x, s.viewport.left(), s.viewport.left() + s.viewport.width()));
  if (!s.shows_lanes()) return hit;
  const Rect& bar = s.layout.scroll_bar;
  if (!bar.empty() && x >= bar.x - kScrollBarReach && y >= bar.y) {
    hit.kind = HitKind::kScrollBar;
    return hit;
  }
  for (const LanePlace& p : s.layout.lanes) {
    if (!p.in_sight() || p.title.empty() || p.body.empty() || !p.clip.Contains(x, y)) continue;
    const float edge = p.body.bottom();
    if (y < edge || y >= edge + kEdge) continue;
    hit.lane = p.lane;
    hit.kind = HitKind::kLowerEdge;
    return hit;
  }
  const LanePlace* place = s.layout.At(y);
  if (!place) return hit;
  hit.lane = place->lane;
  if (place->title.Contains(x, y)) {
    hit.kind = HitKind::kTitle;
  } else {
    place->lane->HitTest(s, *place, x, y, &hit);
  }
  return hit;
}

}  // namespace vramscope::ui::timeline
