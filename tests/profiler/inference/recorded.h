// Recorded snapshots of a known model. The category of each block follows from the model's shapes
// and, for the training step, from a table that lists the tensor of every allocation. Both are in
// ../shared; see ../shared/reference/basics_lm.md and cuda_requests.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/profiler/inference/stripped.h"

namespace vramscope::testing {

// A file of ../shared; nullopt if it does not exist.
std::optional<std::string> SharedFolder();

struct RecordedModel {
  uint64_t d, f, layers, heads, vocabulary, context;
  std::map<uint64_t, uint32_t> ParameterSizes() const;  // bytes of a tensor -> number of tensors
  uint64_t ParameterBytes() const;
};
RecordedModel Medium(uint64_t context);
RecordedModel Kk(uint64_t context);

// Reads `snapshot` and reconstructs the recording, without the true categories.
absl::StatusOr<Stripped> ReadRecorded(const std::string& snapshot);

// Removes all stacks and annotations.
void WithoutStacks(Stripped& recorded);

// Adds the true categories of a training step of `medium`. Of blocks that are older than the
// recording, only the sizes are known. If blocks of one size have several categories, each block
// gets the category in `labels`, up to the true number of blocks of that category.
absl::Status AddMediumTruth(const std::string& requests_csv, const RecordedModel& model,
                            const recording::Labels& labels, Stripped& recorded);

// Requested bytes by inferred category, at the peak and at the end.
struct Totals {
  std::array<uint64_t, trace::kCategoryCount> at_peak{}, at_end{};
};
Totals InferredTotals(const Stripped& recorded, const recording::Labels& labels);

}  // namespace vramscope::testing
