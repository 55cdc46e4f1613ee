#include "app/cli/time_text.h"

#include "profiler/run/times.h"

namespace vramscope::cli {

absl::StatusOr<int64_t> ParseTime(std::string_view text) { return run::ParseTime(text); }

}  // namespace vramscope::cli
