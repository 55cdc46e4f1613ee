// Splits a recording of several devices of one process. Each device has its own memory, parameters
// and gradients, and is inferred separately. Steps and phases marked on the host apply to all
// devices.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// The part of a recording that belongs to one device, with the columns that inference reads. Stacks
// are shared with the whole recording. Of the strings, only those of annotations are copied.
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

// Adds the part's categories, rules and changes of category to the labels of the whole recording.
void AddLabels(const DevicePart& part, const Labels& of_part, Labels& labels);

// Copies the steps and phases of a part to the whole recording. Entries of other devices get the
// step and phase of the part's entries around them.
void TakeTimes(const DevicePart& part, const Labels& of_part, Labels& labels);

}  // namespace vramscope::inference
