#include "ui/timeline/model/scene.h"

#include <algorithm>

#include "ui/timeline/model/outline_view.h"

namespace vramscope::ui::timeline {
namespace {

void DrawScrollBar(const CanvasState& s, DrawList* list) {
  const Layout& l = s.layout;
  if (l.scroll_thumb.empty()) return;
  list->Box(l.scroll_bar, l.scroll_bar.w / 2, s.theme.panel);
  list->Box(l.scroll_thumb, l.scroll_thumb.w / 2, s.theme.faint.WithAlpha(0.6));
}

}  // namespace

bool CanvasState::limit_in_range() const {
  if (!data || device_limit == 0) return false;
  double highest = static_cast<double>(std::max(data->peak().reserved, data->peak().allocated));
  return static_cast<double>(device_limit) <= highest * 1.35;
}

SceneCounts BuildDataLayer(const CanvasState& s, const TextMeasure& measure, SceneMemory* memory,
                           DrawList* list) {
  SceneCounts counts;
  list->Clear();
  memory->columns = 0;
  list->Fill({0, 0, s.layout.width, s.layout.height}, s.theme.ground);
  if (s.outline) {
    DrawOutline(s, measure, list);
    DrawLoadingLine(s, list);
    return counts;
  }
  if (!s.data) {
    DrawStatus(s, measure, list);
    return counts;
  }
  if (s.data->is_state()) {
    DrawContent(s, measure, list);
    return counts;
  }
  DrawTimeGrid(s, list);
  for (const LanePlace& place : s.layout.lanes) {
    if (!place.in_sight()) continue;
    ++counts.lanes;
    list->PushClip(place.clip);
    place.lane->Draw({s, place, measure, memory, &counts, list});
    list->PopClip();
  }
  DrawScrollBar(s, list);
  if (s.status != Status::kNone) DrawStatus(s, measure, list);
  return counts;
}

}  // namespace vramscope::ui::timeline
