// Finds caches of keys and values without the help of stacks. In every pass, each layer's block is
// replaced (by torch.cat) with a block that is larger by a constant number of bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

enum class Grows : uint8_t {
  kNo,
  kFrom,  // the first block of a chain (a prompt's keys); it belongs to the cache from then on
  kYes,
};

// Returns one element per allocation; no elements if no block grows.
std::vector<Grows> FindGrowing(const recording::History& history, const Lives& lives,
                               EntryIndex entries);

}  // namespace vramscope::inference
