#include "ui/timeline/model/scene.h"

#include <algorithm>
#include <vector>

#include "ui/timeline/model/outline_view.h"

namespace vramscope::ui::timeline {
namespace {

void DrawScrollBar(const CanvasState& s, DrawList* list) {
  const Layout& l = s.layout;
  if (l.scroll_thumb.empty()) return;
  list->Box(l.scroll_bar, l.scroll_bar.w / 2, s.theme.panel);
  list->Box(l.scroll_thumb, l.scroll_thumb.w / 2, s.theme.faint.WithAlpha(0.6));
}

// Queries the indexes for the visible lanes that have no answer for this view yet. Uses all free
// cores.
void AskLanes(const CanvasState& s, Crew* crew, SceneMemory* memory) {
  struct Question {
    const LanePlace* place;
    SceneMemory::Asked asked;
    SceneMemory::Asked* kept;
    LaneAnswer* answer;
  };
  std::vector<Question> questions;
  for (const LanePlace& place : s.layout.lanes) {
    if (!place.in_sight() || place.body.empty()) continue;
    const SceneMemory::Asked asked{s.viewport.view(), place.body.w, place.body.h,
                                   s.scale,           place.rows,   s.addresses};
    auto& [kept, answer] = memory->answers[place.lane];
    if (kept == asked) continue;
    questions.push_back({&place, asked, &kept, &answer});
  }
  // If a query throws an exception, its answer is incomplete. So mark all questions as unanswered
  // until all answers are complete.
  for (const Question& question : questions) *question.kept = {};
  crew->Do(questions.size(), [&](size_t i) {
    questions[i].place->lane->Ask(s, *questions[i].place, questions[i].answer);
  });
  for (const Question& question : questions) *question.kept = question.asked;
}

}  // namespace

bool CanvasState::limit_in_range() const {
  if (!data || device_limit == 0) return false;
  double highest = static_cast<double>(std::max(data->peak().reserved, data->peak().allocated));
  return static_cast<double>(device_limit) <= highest * 1.35;
}

SceneCounts BuildDataLayer(const CanvasState& s, const TextMeasure& measure, Crew* crew,
                           SceneMemory* memory, DrawList* list) {
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
  AskLanes(s, crew, memory);
  DrawTimeGrid(s, list);
  for (const LanePlace& place : s.layout.lanes) {
    if (!place.in_sight()) continue;
    ++counts.lanes;
    list->PushClip(place.clip);
    place.lane->Draw(
        {s, place, memory->answers[place.lane].second, measure, crew, memory, &counts, list});
    list->PopClip();
  }
  DrawNotedRanges(s, list);
  DrawScrollBar(s, list);
  if (s.status != Status::kNone) DrawStatus(s, measure, list);
  return counts;
}

}  // namespace vramscope::ui::timeline
