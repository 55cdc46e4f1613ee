// Which parameters are trained: low-rank adapters, and subsets by position or name. Both act on a
// model before it is materialised.
//
//   RETURN_IF_ERROR(ApplyLora(*model, {.rank = 8}));
//   RETURN_IF_ERROR(ApplyTrainable(*model, "last-layer"));
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// Freezes the model and gives every linear module that a target names an adapter. kInvalidArgument
// names a target that no linear module has, and the names that there are.
absl::Status ApplyLora(Model& model, const LoraConfig& config);

// "all", "first-layer", "last-layer", or a glob (*, ?) over parameter names: what does not match is
// frozen; what is frozen already stays so. kInvalidArgument: nothing is left to train.
absl::Status ApplyTrainable(Model& model, std::string_view selection);

// True when `text` as a whole matches `pattern` (* any run of characters, ? any one).
bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace vramscope::trainer
