// Recorded snapshots of a known model. The shapes of the model determine the category of each
// block. For the training step, a table also lists the tensor of every allocation. Both are in
// ../shared; see ../shared/reference/basics_lm.md and cuda_requests.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/profiler/inference/stripped.h"

namespace vramscope::testing {

// Returns the path of ../shared, or nullopt if it does not exist.
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

// Adds the true categories of a training step of `medium`. For older blocks, it is only known how
// many blocks of each size and category there are. Such a block gets its category in `labels`, as
// long as no category gets more blocks than it truly has.
absl::Status AddMediumTruth(const std::string& requests_csv, const RecordedModel& model,
                            const recording::Labels& labels, Stripped& recorded);

// The requested bytes of each inferred category at the peak and at the end.
struct Totals {
  std::array<uint64_t, trace::kCategoryCount> at_peak{}, at_end{};
};
Totals InferredTotals(const Stripped& recorded, const recording::Labels& labels);

}  // namespace vramscope::testing
