// Selects the trained parameters: low-rank adapters, and subsets by position or name. Both
// functions must be called before the model is materialized.
//
//   RETURN_IF_ERROR(ApplyLora(*model, {.rank = 8}));
//   RETURN_IF_ERROR(ApplyTrainable(*model, "last-layer"));
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "trainer/models/model.h"

namespace vramscope::trainer {

// Freezes the model and adds an adapter to every linear module that a target names. Returns
// kInvalidArgument, with the existing names, if no linear module has a target's name.
absl::Status ApplyLora(Model& model, const LoraConfig& config);

// `selection`: "all", "first-layer", "last-layer", or a glob (*, ?) over parameter names. Other
// parameters are frozen. Parameters that are already frozen remain frozen. Returns kInvalidArgument
// if nothing is left to train.
absl::Status ApplyTrainable(Model& model, std::string_view selection);

// Whether all of `text` matches `pattern`, in which * matches any characters and ? any one.
bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace vramscope::trainer
