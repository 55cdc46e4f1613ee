// A keyframe has the live memory and the open slices at a point of a file. To read a part of the
// file, one can begin there. See proto/FORMAT.md, "Keyframes". Internal to this folder.
//
//   std::string bytes = EncodeKeyframe(live, event, next_string);   // for a frame of strings
//   ASSIGN_OR_RETURN(Keyframe k, DecodeKeyframe(payload));
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

  // Sets `live` to the state at the keyframe. Before the call, `live` must have only strings.
  // kDataLoss: the keyframe is inconsistent.
  absl::Status Restore(LiveState& live) const;
};

// Returns "" if more blocks and segments are live than a batch can contain.
std::string EncodeKeyframe(const LiveState& live, uint64_t event, uint32_t next_string);
// kDataLoss: no keyframe, or an inconsistent one.
absl::StatusOr<Keyframe> DecodeKeyframe(std::string_view payload);

}  // namespace vramscope::trace
