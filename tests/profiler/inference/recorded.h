// Recorded snapshots of a model that is known: what each block is follows from the model's shapes
// and, for the training step, from a table of the tensor behind every request. Both lie in
// ../shared; see ../shared/reference/basics_lm.md and cuda_requests.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/profiler/inference/stripped.h"

namespace vramscope::testing {

// Of ../shared; none: it is not there.
std::optional<std::string> SharedFolder();

struct RecordedModel {
  uint64_t d, f, layers, heads, vocabulary, context;
  std::map<uint64_t, uint32_t> ParameterSizes() const;  // bytes of a tensor -> tensors
  uint64_t ParameterBytes() const;
};
RecordedModel Medium(uint64_t context);
RecordedModel Kk(uint64_t context);

// Reads `snapshot` and puts it together; no truth yet.
absl::StatusOr<Stripped> ReadRecorded(const std::string& snapshot);

// Takes all stacks and annotations away.
void WithoutStacks(Stripped& recorded);

// The truth of a training step of `medium`. Of blocks older than the recording only sizes are
// known: where blocks of one size differ in category, those that `labels` has right count as such.
absl::Status AddMediumTruth(const std::string& requests_csv, const RecordedModel& model,
                            const recording::Labels& labels, Stripped& recorded);

// Requested bytes by inferred category, where the most bytes are live and at the end.
struct Totals {
  std::array<uint64_t, trace::kCategoryCount> at_peak{}, at_end{};
};
Totals InferredTotals(const Stripped& recorded, const recording::Labels& labels);

}  // namespace vramscope::testing
