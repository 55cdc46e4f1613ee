// Splits a recording with several devices of one process into one part for each device. Each device
// has its own memory, parameters and gradients, so its labels are inferred separately. Steps and
// phases that are marked on the host apply to all devices.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// One device's part of a recording, with only the columns that inference reads. Stacks are the
// whole recording's stacks. Only the strings of annotations are copied.
struct DevicePart {
  recording::Recording recording;
  recording::History history;
  std::vector<EntryIndex> entry;     // rows of the whole recording
  std::vector<uint32_t> allocation;  // rows of the whole recording
};

// All devices with an entry or an allocation, ascending.
std::vector<uint8_t> DevicesOf(const recording::Recording& recording,
                               const recording::History& history);

DevicePart PartOf(const recording::Recording& recording, const recording::History& history,
                  uint8_t device);

// Copies the part's categories, rules and changes of category to the whole recording's labels.
void AddLabels(const DevicePart& part, const Labels& of_part, Labels& labels);

// Copies the steps and phases of a part to the whole recording. Entries of other devices get the
// step and phase of the part's entries around them.
void TakeTimes(const DevicePart& part, const Labels& of_part, Labels& labels);

}  // namespace vramscope::inference
