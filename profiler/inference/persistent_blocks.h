// Classifies blocks that are live over several steps: parameters, optimizer states,
// gradients and buffers. It uses the sizes of the gradients, since each trained parameter
// has one.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/types.h"

namespace vramscope::inference {

using SizeCounts = base::HashMap<uint64_t, uint32_t>;

struct Persistent {
  uint32_t allocation = 0;
  uint64_t bytes = 0;  // requested
  bool older = false;  // older than the recording
  bool batch = false;  // allocated in the data phase: an input unless it must be a parameter
  trace::Category category = trace::Category::kUnknown;
  uint8_t rule = 0;
};

// How much of a backward pass was recorded. Without a complete pass (in inference, or if the
// recording ends in its first backward pass), gradients are missing, so the categories follow from
// the number of blocks of each size. If a complete pass allocated no gradients, the gradients are
// among the blocks that are never freed (zero_grad sets them to zero).
enum class Backward : uint8_t { kNone, kCut, kPerhapsWhole, kWhole };
struct Training {
  SizeCounts gradients;  // sizes in the step that allocates the most gradients
  // For each size, the maximum number of blocks that one backward pass allocates and also frees.
  // This includes gradients that are added to existing gradients.
  SizeCounts passing;
  Backward backward = Backward::kNone;
  bool first_states = false;  // the optimizer makes its states in the recording: no state is older
  // True if there are only forward passes, and none of them keeps activations for
  // backward.
  bool inference = false;
};

// `persistent` must be in order of allocation (older blocks by address). Blocks that already have a
// category keep it. They count as blocks of this category when the other blocks are classified.
void ClassifyPersistent(const Training& training, std::vector<Persistent>& persistent);

}  // namespace vramscope::inference
