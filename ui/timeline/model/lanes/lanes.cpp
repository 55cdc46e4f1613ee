#include "ui/timeline/model/lanes/lanes.h"

namespace vramscope::ui::timeline {

std::vector<std::unique_ptr<const Lane>> MakeLanes(const TimelineData&) {
  std::vector<std::unique_ptr<const Lane>> lanes;
  lanes.push_back(MakeOverviewLane());
  lanes.push_back(MakeRulerLane());
  lanes.push_back(MakeSliceLane(trace::SliceKind::kStep));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kMicroBatch));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kPhase));
  lanes.push_back(MakeMemoryLane());
  lanes.push_back(MakeDifferenceLane());
  lanes.push_back(MakeBlocksLane());
  lanes.push_back(MakeSliceLane(trace::SliceKind::kAnnotation));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kModule));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kOp));
  return lanes;
}

}  // namespace vramscope::ui::timeline
