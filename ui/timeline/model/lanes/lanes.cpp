#include "ui/timeline/model/lanes/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/lanes/lane_drawing.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using Of = query::ActivityTrack::Of;

// A stream or thread. Tracks [first, last) of the index are the rows of its lane.
struct Group {
  uint32_t first = 0, last = 0;
  uint64_t busy_ns = 0;
};

std::vector<Group> GroupsOf(std::span<const query::ActivityTrack> tracks) {
  std::vector<Group> groups;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].of == Of::kCounter) continue;  // counters have their own lanes
    if (tracks[i].depth == 0 || groups.empty()) groups.push_back({i, i, 0});
    groups.back().last = i + 1;
    groups.back().busy_ns += tracks[i].busy_ns;
  }
  return groups;
}

void AddSeries(const TimelineData& d, bool bytes, std::vector<std::unique_ptr<const Lane>>* lanes) {
  for (const Series& series : d.series())
    if (series.bytes == bytes) lanes->push_back(MakeSeriesLane(series));
}

void AddActivities(const TimelineData& d, std::vector<std::unique_ptr<const Lane>>* lanes) {
  if (d.activities() == nullptr) return;
  const auto lines = d.idle()->lines();
  for (uint32_t line = 0; line < lines.size(); ++line)
    if (lines[line].stream == trace::kAllStreams) lanes->push_back(MakeIdleLane(d, line));
  std::vector<Group> groups = GroupsOf(d.activities()->tracks());
  const size_t all = groups.size();
  if (all > kMostActivityLanes) {
    std::nth_element(groups.begin(), groups.begin() + kMostActivityLanes, groups.end(),
                     [](const Group& a, const Group& b) { return a.busy_ns > b.busy_ns; });
    groups.resize(kMostActivityLanes);
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.first < b.first; });
  }
  // First come the activities and memory of devices, then those of the host.
  const auto of_host = [&](const Group& group) {
    return d.activities()->tracks()[group.first].of > Of::kDriverMemory;
  };
  for (const Group& group : groups)
    if (!of_host(group)) lanes->push_back(MakeActivityLane(d, group.first, group.last));
  AddSeries(d, /*bytes=*/true, lanes);
  for (const Group& group : groups)
    if (of_host(group)) lanes->push_back(MakeActivityLane(d, group.first, group.last));
  if (all > groups.size())
    lanes->push_back(
        MakeNoticeLane("more", i18n::Format("{} more", all - groups.size()),
                       i18n::Text("the least busy streams and threads are not shown")));
}

class NoticeLane : public Lane {
 public:
  NoticeLane(std::string key, std::string title, std::string about)
      : key_(std::move(key)), title_(std::move(title)), about_(std::move(about)) {}
  std::string_view key() const override { return key_; }
  std::string Name(const CanvasState&) const override { return title_; }
  LaneWants Wants(const CanvasState&) const override {
    return {.rows = 1, .title = kSlimTitle, .concessions = {{.until = 1.3f}}};
  }
  void Draw(const LaneDrawing& draw) const override { DrawLaneTitle(draw, title_, about_); }

 private:
  std::string key_, title_, about_;
};

}  // namespace

std::unique_ptr<const Lane> MakeNoticeLane(std::string key, std::string title, std::string about) {
  return std::make_unique<NoticeLane>(std::move(key), std::move(title), std::move(about));
}

std::vector<std::unique_ptr<const Lane>> MakeLanes(const TimelineData& data) {
  std::vector<std::unique_ptr<const Lane>> lanes;
  lanes.push_back(MakeOverviewLane());
  lanes.push_back(MakeRulerLane());
  lanes.push_back(MakeSliceLane(trace::SliceKind::kStep));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kMicroBatch));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kPhase));
  lanes.push_back(MakeMemoryLane());
  lanes.push_back(MakeDifferenceLane());
  lanes.push_back(MakeBlocksLane());
  for (const DeviceMemory& memory : data.devices()) lanes.push_back(MakeDeviceLane(data, memory));
  AddActivities(data, &lanes);
  lanes.push_back(MakeSliceLane(trace::SliceKind::kAnnotation));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kModule));
  lanes.push_back(MakeSliceLane(trace::SliceKind::kOp));
  AddSeries(data, /*bytes=*/false, &lanes);
  return lanes;
}

}  // namespace vramscope::ui::timeline
