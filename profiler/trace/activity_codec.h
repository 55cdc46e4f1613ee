// Codes activities as the columns of proto::ActivityBatch. proto/FORMAT.md, "Activity batches",
// describes the coding of each column. Internal to this folder.
//
//   std::string payload = EncodeActivities(std::move(activities));
//   RETURN_IF_ERROR(DecodeActivities(payload, activities));
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/activities.h"

namespace vramscope::trace {

inline constexpr uint32_t kMaxBatchActivities = 1u << 18;  // the maximum that a reader accepts

// Sorts by begin, as a batch requires. `activities` must hold between 1 and kMaxBatchActivities
// rows.
void SortByBegin(std::vector<Activity>& activities);
std::string EncodeActivities(const std::vector<Activity>& in_order);

// Replaces the contents of `activities`. Does not check kinds, spaces and strings (CheckActivity
// does). kDataLoss: not a batch.
absl::Status DecodeActivities(std::string_view payload, std::vector<Activity>& activities);

}  // namespace vramscope::trace
