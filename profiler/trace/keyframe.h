// The live memory and open slices at a point of a file. Reading of a part of the file can begin at
// a keyframe. See proto/FORMAT.md, "Keyframes". Internal to this folder.
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
  uint64_t event = 0;  // number of the event that follows the keyframe
  uint64_t next_block = 0, next_segment = 0;
  std::vector<Event> events;  // restate the live memory and open slices, with the file's ids

  // Sets `live`, which must only have strings yet, to the state at the keyframe. kDataLoss:
  // the keyframe is inconsistent.
  absl::Status Restore(LiveState& live) const;
};

// Returns "" if more blocks and segments are live than a batch can contain.
std::string EncodeKeyframe(const LiveState& live, uint64_t event, uint32_t next_string);
// kDataLoss: no keyframe, or an inconsistent one.
absl::StatusOr<Keyframe> DecodeKeyframe(std::string_view payload);

}  // namespace vramscope::trace
