// Every lane there is, in the order in which they come. To add one: a file beside this one with a
// class that is a Lane, its name here and its place in MakeLanes().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/timeline/model/lane.h"
#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

// More activities than that have no lanes of their own.
inline constexpr size_t kMostActivityLanes = 128;

// What a trace has no use for is among them and wants no rows. They live no longer than `data`.
std::vector<std::unique_ptr<const Lane>> MakeLanes(const TimelineData& data);

std::unique_ptr<const Lane> MakeOverviewLane();
std::unique_ptr<const Lane> MakeRulerLane();
std::unique_ptr<const Lane> MakeMemoryLane();
std::unique_ptr<const Lane> MakeDifferenceLane();
std::unique_ptr<const Lane> MakeBlocksLane();
// Steps, micro-batches and phases without a title; annotations, modules and ops nested, with one.
std::unique_ptr<const Lane> MakeSliceLane(trace::SliceKind kind);
std::string_view SliceLaneKey(trace::SliceKind kind);
// Tracks [first, last) of the activity index: those of one stream, or of one thread.
std::unique_ptr<const Lane> MakeActivityLane(const TimelineData& data, uint32_t first,
                                             uint32_t last);
std::string ActivityLaneKey(const TimelineData& data, uint32_t activity);
std::string IdleLaneKey(const TimelineData& data, uint32_t gap);
// A device's line of the idle gaps.
std::unique_ptr<const Lane> MakeIdleLane(const TimelineData& data, uint32_t line);
// Both live as long as the data that they are of.
std::unique_ptr<const Lane> MakeSeriesLane(const Series& series);
std::unique_ptr<const Lane> MakeDeviceLane(const TimelineData& data, const DeviceMemory& memory);
// How many lanes were left out for being too many, and what would have made them.
std::unique_ptr<const Lane> MakeNoticeLane(std::string key, std::string title, std::string about);

}  // namespace vramscope::ui::timeline
