// The factories of all lanes. A new lane needs a file in this folder with a class derived from
// Lane, a factory here, and a place in MakeLanes(), which defines the default order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/timeline/model/lane.h"
#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

// If there are more streams and threads than this, only the busiest of them have lanes.
inline constexpr size_t kMostActivityLanes = 128;

// Makes all lanes in their default order, even lanes that have nothing to show. `data` must outlive
// them.
std::vector<std::unique_ptr<const Lane>> MakeLanes(const TimelineData& data);

std::unique_ptr<const Lane> MakeOverviewLane();
std::unique_ptr<const Lane> MakeRulerLane();
std::unique_ptr<const Lane> MakeMemoryLane();
std::unique_ptr<const Lane> MakeDifferenceLane();
std::unique_ptr<const Lane> MakeBlocksLane();
// Lanes of steps, micro-batches and phases have no title. Lanes of annotations, modules and ops
// have a title, and a row for each level of nesting.
std::unique_ptr<const Lane> MakeSliceLane(trace::SliceKind kind);
std::string_view SliceLaneKey(trace::SliceKind kind);
// Makes the lane of a stream or thread: tracks [first, last) of the activity index.
std::unique_ptr<const Lane> MakeActivityLane(const TimelineData& data, uint32_t first,
                                             uint32_t last);
std::string ActivityLaneKey(const TimelineData& data, uint32_t activity);
std::string IdleLaneKey(const TimelineData& data, uint32_t gap);
// `line`: index of the device's line in IdleGaps.
std::unique_ptr<const Lane> MakeIdleLane(const TimelineData& data, uint32_t line);
// The arguments of the next two functions must outlive the lane.
std::unique_ptr<const Lane> MakeSeriesLane(const Series& series);
std::unique_ptr<const Lane> MakeDeviceLane(const TimelineData& data, const DeviceMemory& memory);
// Makes a lane that only states which lanes, and how many, are left out because there are too many.
std::unique_ptr<const Lane> MakeNoticeLane(std::string key, std::string title, std::string about);

}  // namespace vramscope::ui::timeline
