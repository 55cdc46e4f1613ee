// Finds caches of keys and values that no stack names: in every pass, each layer's block is
// replaced by a larger one, and the difference is always the same (torch.cat).
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

// One element per allocation; empty: no block grows.
std::vector<Grows> FindGrowing(const recording::History& history, const Lives& lives,
                               EntryIndex entries);

}  // namespace vramscope::inference
