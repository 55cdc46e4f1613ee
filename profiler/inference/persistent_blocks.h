// What stays over steps: parameter, optimizer state or buffer, told apart by the sizes of the
// gradients: there is one gradient for each parameter that trains.
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
  bool older = false;  // than the recording
  bool batch = false;  // made where batches are: an input, unless it must be a parameter
  trace::Category category = trace::Category::kUnknown;
  uint8_t rule = 0;
};

// What a recording shows of training. Without a whole backward (inference; a run that ended in its
// first recorded one) gradients are none or too few; then the numbers of blocks decide. A whole one
// without any gradient being made means that they are among what stays (a zero_grad that fills with
// zeros).
enum class Backward : uint8_t { kNone, kCut, kPerhapsWhole, kWhole };
struct Training {
  SizeCounts gradients;  // made in the step that makes most
  // Of what a backward makes and lets go, the most of each size that one makes: a gradient that is
  // added to one that stays is among them.
  SizeCounts passing;
  Backward backward = Backward::kNone;
  bool first_states = false;  // an optimizer makes its states in the recording: none are older
  // Forward alone, that keeps nothing for a backward to come: nothing says that anything trains.
  bool inference = false;
};

// `kept`: in the order in which they were made, as far as known (older ones by address). Those that
// already have a category count against their size's number of gradients, and keep it.
void ClassifyPersistent(const Training& training, std::vector<Persistent>& kept);

}  // namespace vramscope::inference
