// Caches of keys and values where no stack names them: in every pass over the model each layer's
// block is replaced by one that is larger, by as much as the pass adds (torch.cat).
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

enum class Grows : uint8_t {
  kNo,
  kFrom,  // what the first of a chain was made as (a prompt's keys), and holds from then on
  kYes,
};

// One row an allocation; empty: none grows.
std::vector<Grows> FindGrowing(const recording::History& history, const Lives& lives,
                               EntryIndex entries);

}  // namespace vramscope::inference
