// Activities as the columns of proto::ActivityBatch; proto/FORMAT.md, "Activity batches", says how
// each column is coded. Internal to this folder.
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

inline constexpr uint32_t kMaxBatchActivities = 1u << 18;  // that a reader accepts in one

// Puts them in order of their begin, as they must be within a batch. `activities` must not be empty
// and hold at most kMaxBatchActivities.
void SortByBegin(std::vector<Activity>& activities);
std::string EncodeActivities(const std::vector<Activity>& in_order);

// In place of what `activities` held. Kinds, spaces and strings are for CheckActivity to look at.
// kDataLoss: not a batch.
absl::Status DecodeActivities(std::string_view payload, std::vector<Activity>& activities);

}  // namespace vramscope::trace
