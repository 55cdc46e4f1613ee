// Several devices of one process: each has its own memory, parameters and gradients, and is
// inferred by itself; what the host's marks say of steps and phases is of all.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// What of a recording is one device's, with the columns that inference reads; stacks stay where
// they are, and only annotations' strings are copied.
struct DevicePart {
  recording::Recording recording;
  recording::History history;
  std::vector<EntryIndex> entry;     // rows of the whole
  std::vector<uint32_t> allocation;  // likewise
};

// Of all that have an entry or an allocation, ascending.
std::vector<uint8_t> DevicesOf(const recording::Recording& recording,
                               const recording::History& history);

DevicePart PartOf(const recording::Recording& recording, const recording::History& history,
                  uint8_t device);

// Categories, rules and changes of a part, as those of the whole.
void AddLabels(const DevicePart& part, const Labels& of_part, Labels& labels);

// Steps and phases of a part, as those of the whole: entries of other devices in between belong to
// what is around them.
void TakeTimes(const DevicePart& part, const Labels& of_part, Labels& labels);

}  // namespace vramscope::inference
