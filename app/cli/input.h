// Inputs as the contract has them: a path or `-` for standard input, plain or .gz or .zst (told by
// their first bytes, not their names).
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/analysis/requests.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

enum class FileKind : uint8_t { kTrace, kPickle, kJson, kRequestsCsv, kUnknown };

// The whole text. Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder, more than
// `most` bytes), kDataLoss (compressed data that is cut or damaged).
absl::StatusOr<std::string> ReadText(const std::string& path, size_t most);

// What the first bytes say that it is, after decompression.
absl::StatusOr<FileKind> KindOf(const std::string& path);

// A `.trace`, with a progress bar for a long one. For another kind the error says what it is and
// that this version cannot read it. Warnings of a cut file go to stderr.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path);

// The request stream of a `.trace` (one step, or the last whole one when `step` < 0), or of a CSV.
absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step);

}  // namespace vramscope::cli
