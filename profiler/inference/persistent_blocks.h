// Classifies blocks that are live over several steps as parameter, optimizer state, gradient or
// buffer. The sizes of the gradients decide, since there is one gradient for each trained
// parameter.
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
  bool batch = false;  // allocated where batches are made: an input unless it must be a parameter
  trace::Category category = trace::Category::kUnknown;
  uint8_t rule = 0;
};

// How much of a backward pass was recorded. Without a complete pass (inference, or a recording that
// ends in its first backward pass) there are few or no gradients, so the number of blocks of each
// size decides. If a complete pass allocated no gradients, the gradients are among the blocks that
// are never freed (zero_grad sets them to zero).
enum class Backward : uint8_t { kNone, kCut, kPerhapsWhole, kWhole };
struct Training {
  SizeCounts gradients;  // sizes in the step that allocates the most gradients
  // For each size, the maximum number of blocks that one backward pass makes and frees. This
  // includes gradients that are added to existing gradients.
  SizeCounts passing;
  Backward backward = Backward::kNone;
  bool first_states = false;  // the optimizer makes its states in the recording, so none are older
  // True if there are only forward passes, and none of them keeps activations for
  // backward.
  bool inference = false;
};

// `persistent`: in the order of allocation as far as known (older blocks by address). Blocks that
// already have a category keep it, and reduce the number of blocks of their size that may still get
// this category.
void ClassifyPersistent(const Training& training, std::vector<Persistent>& persistent);

}  // namespace vramscope::inference
