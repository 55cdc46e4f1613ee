// What is in memory and open somewhere within a file, written into it so that a part can be read
// from there. proto/FORMAT.md, "Keyframes". Internal to this folder.
//
//   std::string bytes = EncodeKeyframe(live, event);        // the payload of a frame of strings
//   ASSIGN_OR_RETURN(Keyframe k, DecodeKeyframe(payload));  // from it
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/live_state.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

struct Keyframe {
  uint64_t event = 0;  // that comes next
  uint64_t next_block = 0, next_segment = 0;
  std::vector<Event> events;  // that restate what is there, with the numbers of the file

  // Brings `live`, which has nothing but strings, to where it is. kDataLoss: it contradicts itself.
  absl::Status Restore(LiveState& live) const;
};

// "": more is alive than a batch can hold.
std::string EncodeKeyframe(const LiveState& live, uint64_t event, uint32_t next_string);
// kDataLoss: no keyframe, or one that contradicts itself.
absl::StatusOr<Keyframe> DecodeKeyframe(std::string_view payload);

}  // namespace vramscope::trace
