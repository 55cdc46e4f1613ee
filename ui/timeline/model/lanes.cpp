#include "ui/timeline/model/lanes.h"

#include <algorithm>
#include <cmath>

namespace vramscope::ui::timeline {
namespace {

constexpr float kMargin = 12;
constexpr float kTop = 8;
constexpr float kBottom = 8;
constexpr float kOverviewHeight = 24;
constexpr float kOverviewLabel = 62;
constexpr float kRulerHeight = 22;
constexpr float kStepHeight = 19;
constexpr float kMicroBatchHeight = 16;
constexpr float kPhaseHeight = 22;
constexpr float kTitleHeight = 24;
constexpr float kDifferenceHeight = 30;
constexpr float kModuleRow = 15;
constexpr float kOpRow = 13;
constexpr float kAnnotationRow = 15;
constexpr int kMaxAnnotationRows = 3;
constexpr int kMaxModuleRows = 4;
constexpr int kMaxOpRows = 3;
// Below this the big lanes say nothing; rows of the others give way first.
constexpr float kMinMemory = 110;
constexpr float kMinBlocks = 70;
// Of little height, memory and blocks together are worth more than either alone.
constexpr float kLeastOfBoth = 92;
constexpr float kMemoryShare = 0.58f;

}  // namespace

std::string_view Name(LaneKind kind) {
  switch (kind) {
    case LaneKind::kOverview:
      return "overview";
    case LaneKind::kRuler:
      return "ruler";
    case LaneKind::kSteps:
      return "steps";
    case LaneKind::kMicroBatches:
      return "micro_batches";
    case LaneKind::kPhases:
      return "phases";
    case LaneKind::kMemory:
      return "memory";
    case LaneKind::kDifference:
      return "difference";
    case LaneKind::kBlocks:
      return "blocks";
    case LaneKind::kAnnotations:
      return "annotations";
    case LaneKind::kModules:
      return "modules";
    case LaneKind::kOps:
      return "ops";
  }
  return "";
}

const Lane* Layout::At(double y) const {
  for (const Lane& lane : lanes) {
    if (!lane.visible) continue;
    float top = lane.title.empty() ? lane.body.y : lane.title.y;
    float bottom = lane.body.empty() ? lane.title.bottom() : lane.body.bottom();
    if (y >= top && y < bottom) return &lane;
  }
  return nullptr;
}

float Layout::data_top() const { return (*this)[LaneKind::kRuler].body.y; }

float Layout::data_bottom() const {
  float bottom = data_top();
  for (const Lane& lane : lanes) {
    if (lane.visible) bottom = std::max(bottom, lane.body.bottom());
  }
  return bottom;
}

Layout ComputeLayout(float width, float height, const LaneNeeds& needs, const FoldedLanes& folded) {
  Layout layout;
  layout.width = width;
  layout.height = height;
  layout.plot_left = kMargin;
  layout.plot_width = std::max(width - 2 * kMargin, 1.0f);
  auto is_folded = [&](LaneKind kind) { return folded[static_cast<size_t>(kind)]; };

  float fixed = kTop + kOverviewHeight + kRulerHeight + kTitleHeight + kBottom;
  if (needs.steps) fixed += kStepHeight + 2;
  if (needs.micro_batches) fixed += kMicroBatchHeight + 2;
  if (needs.phases) fixed += kPhaseHeight;
  bool difference = needs.difference;
  bool blocks = needs.blocks;
  int modules = std::min(needs.module_rows, kMaxModuleRows);
  int ops = std::min(needs.op_rows, kMaxOpRows);
  int annotations = std::min(needs.annotation_rows, kMaxAnnotationRows);

  // What is left for memory and blocks together with the present choice of lanes.
  auto flexible = [&] {
    float used = fixed;
    if (difference)
      used += kTitleHeight + (is_folded(LaneKind::kDifference) ? 0 : kDifferenceHeight);
    if (blocks) used += kTitleHeight;
    if (annotations)
      used += kTitleHeight + (is_folded(LaneKind::kAnnotations) ? 0 : annotations * kAnnotationRow);
    if (modules) used += kTitleHeight + (is_folded(LaneKind::kModules) ? 0 : modules * kModuleRow);
    if (ops) used += kTitleHeight + (is_folded(LaneKind::kOps) ? 0 : ops * kOpRow);
    return height - used;
  };
  auto want = [&] {
    float w = is_folded(LaneKind::kMemory) ? 0 : kMinMemory;
    if (blocks && !is_folded(LaneKind::kBlocks)) w += kMinBlocks;
    return w;
  };
  while (flexible() < want() * 1.6f && ops > 1) --ops;
  while (flexible() < want() * 1.6f && modules > 2) --modules;
  if (flexible() < want() * 1.3f) ops = 0;
  while (flexible() < want() * 1.2f && annotations > 1) --annotations;
  if (flexible() < want() * 1.1f) annotations = 0;
  while (flexible() < want() && modules > 0) --modules;
  if (flexible() < want()) difference = false;
  if (flexible() < std::min(want(), kLeastOfBoth)) blocks = false;

  float rest = std::max(flexible(), 24.0f);
  bool memory_open = !is_folded(LaneKind::kMemory);
  bool blocks_open = blocks && !is_folded(LaneKind::kBlocks);
  float memory_height = !memory_open ? 0 : blocks_open ? std::round(rest * kMemoryShare) : rest;
  float blocks_height = !blocks_open ? 0 : rest - memory_height;

  float y = kTop;
  auto place = [&](LaneKind kind, bool visible, float title, float body, int rows = 1) {
    Lane& lane = layout.lanes[static_cast<size_t>(kind)];
    lane.kind = kind;
    lane.visible = visible;
    lane.rows = rows;
    if (!visible) return;
    if (title > 0) lane.title = {layout.plot_left, y, layout.plot_width, title};
    y += title;
    if (title > 0 && is_folded(kind)) body = 0;
    lane.body = {layout.plot_left, y, layout.plot_width, body};
    lane.row_height = rows ? body / static_cast<float>(rows) : 0;
    y += body;
  };
  place(LaneKind::kOverview, true, 0, kOverviewHeight);
  Lane& overview = layout.lanes[static_cast<size_t>(LaneKind::kOverview)];
  if (layout.plot_width > 4 * kOverviewLabel) {
    overview.body.x += kOverviewLabel;
    overview.body.w -= kOverviewLabel;
  }
  place(LaneKind::kRuler, true, 0, kRulerHeight);
  place(LaneKind::kSteps, needs.steps, 0, kStepHeight);
  if (needs.steps) y += 2;
  place(LaneKind::kMicroBatches, needs.micro_batches, 0, kMicroBatchHeight);
  if (needs.micro_batches) y += 2;
  place(LaneKind::kPhases, needs.phases, 0, kPhaseHeight);
  place(LaneKind::kMemory, true, kTitleHeight, memory_height);
  place(LaneKind::kDifference, difference, kTitleHeight, kDifferenceHeight);
  place(LaneKind::kBlocks, blocks, kTitleHeight, blocks_height);
  place(LaneKind::kAnnotations, annotations > 0, kTitleHeight, annotations * kAnnotationRow,
        annotations);
  place(LaneKind::kModules, modules > 0, kTitleHeight, modules * kModuleRow, modules);
  place(LaneKind::kOps, ops > 0, kTitleHeight, ops * kOpRow, ops);
  return layout;
}

}  // namespace vramscope::ui::timeline
