// Inputs as the contract has them: a path or `-` for standard input, plain or .gz or .zst (the
// trace library unpacks). Errors name the input and fit the exit status.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/analysis/requests.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

// The path as a person reads it: `-` is "standard input".
std::string DisplayName(const std::string& path);

// The whole text. Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder, more than
// `most` bytes), kDataLoss (compressed data that is cut or damaged).
absl::StatusOr<std::string> ReadText(const std::string& path, size_t most);

// A `.trace`, with a progress bar for a long one. For another kind the error says what it looks
// like. Warnings of a cut file go to stderr.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path);

// The request stream of a `.trace` (one step, or the last whole one when `step` < 0), or the whole
// of a CSV.
absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step);

}  // namespace vramscope::cli
