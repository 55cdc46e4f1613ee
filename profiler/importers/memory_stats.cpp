#include "profiler/importers/memory_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/importers/json_tokens.h"

namespace vramscope::importers {
namespace {

// memory_stats() has about 120.
constexpr size_t kMostFigures = 4096;
constexpr size_t kDeepest = 16;
constexpr size_t kLongestKey = 256;

}  // namespace

bool IsMemoryStatsKey(std::string_view key) {
  for (const std::string_view name : {"allocated_bytes", "reserved_bytes", "active_bytes",
                                      "requested_bytes", "inactive_split_bytes"})
    if (key == name || (key.starts_with(name) && key[name.size()] == '.')) return true;
  return key == "num_alloc_retries" || key == "num_ooms";
}

absl::StatusOr<recording::Recording> ReadMemoryStats(trace::InputStream& input,
                                                     std::string_view head) {
  using Token = JsonTokens::Token;
  recording::Recording r;
  r.content = trace::Content::kState;
  r.has_times = false;
  r.source = "CUDA memory statistics (torch.cuda.memory_stats(), JSON)";
  JsonTokens json(input, head, {});
  if (json.Next() != JsonTokens::kBeginObject)
    return absl::InvalidArgumentError("memory statistics are one JSON object");
  std::vector<std::string> path = {""};  // of the open objects, each with its dot
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(fmt::format("byte {}: {}", json.offset(), what));
  };
  while (!path.empty()) {
    Token token = json.Next();
    if (token == JsonTokens::kEndObject) {
      path.pop_back();
      continue;
    }
    if (token != JsonTokens::kString) {
      const absl::Status status = json.status().ok() ? damaged("a key is missing") : json.status();
      if (r.statistics.empty() || (token != JsonTokens::kEnd && !json.ended())) return status;
      r.lost = fmt::format("byte {}: the file ends here, what came before is shown", json.offset());
      break;
    }
    if (json.text().size() > kLongestKey) return damaged("a key longer than any of PyTorch's");
    const std::string key = path.back() + std::string(json.text());
    token = json.Next();
    if (token == JsonTokens::kBeginObject) {
      if (path.size() == kDeepest) return damaged("nested deeper than memory statistics are");
      path.push_back(key + ".");
    } else if (token == JsonTokens::kNumber) {
      if (r.statistics.size() == kMostFigures)
        return absl::ResourceExhaustedError(fmt::format(
            "more than {} figures, which is more than memory statistics have", kMostFigures));
      if (const auto value = ParseInteger(json.text())) r.statistics.push_back({key, *value});
    } else if (!json.Skip(token)) {
      if (r.statistics.empty()) return damaged("the file ends here");
      r.lost = fmt::format("byte {}: the file ends here, what came before is shown", json.offset());
      break;
    }
  }
  if (r.statistics.empty()) return absl::InvalidArgumentError("JSON without any memory statistics");
  return r;
}

}  // namespace vramscope::importers
