// Every lane there is, in the order in which they come. To add one: a file beside this one with a
// class that is a Lane, its name here and its place in MakeLanes().
#pragma once

#include <memory>
#include <vector>

#include "ui/timeline/model/lane.h"
#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

// What a trace has no use for is among them and wants no rows.
std::vector<std::unique_ptr<const Lane>> MakeLanes(const TimelineData& data);

std::unique_ptr<const Lane> MakeOverviewLane();
std::unique_ptr<const Lane> MakeRulerLane();
std::unique_ptr<const Lane> MakeMemoryLane();
std::unique_ptr<const Lane> MakeDifferenceLane();
std::unique_ptr<const Lane> MakeBlocksLane();
// Steps, micro-batches and phases without a title; annotations, modules and ops nested, with one.
std::unique_ptr<const Lane> MakeSliceLane(trace::SliceKind kind);
std::string_view SliceLaneKey(trace::SliceKind kind);

}  // namespace vramscope::ui::timeline
