#include "profiler/importers/memory_stats.h"

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/json_tokens.h"

namespace vramscope::importers {
namespace {

// memory_stats() returns about 120 figures.
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
  r.source = TEXT_MARK("CUDA memory statistics (torch.cuda.memory_stats(), JSON)");
  JsonTokens json(input, head, {});
  if (json.Next() != JsonTokens::kBeginObject)
    return absl::InvalidArgumentError(
        i18n::Text("not memory statistics: the file is not a JSON object"));
  std::vector<std::string> path = {""};  // keys of the open objects, each with a trailing dot
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(i18n::Format("byte {}: {}", json.offset(), what));
  };
  while (!path.empty()) {
    Token token = json.Next();
    if (token == JsonTokens::kEndObject) {
      path.pop_back();
      continue;
    }
    if (token != JsonTokens::kString) {
      const absl::Status status =
          json.status().ok() ? damaged(i18n::Text("a key is missing")) : json.status();
      if (r.statistics.empty() || (token != JsonTokens::kEnd && !json.ended())) return status;
      r.lost = i18n::English("the file ends early, at byte {}", json.offset());
      break;
    }
    if (json.text().size() > kLongestKey)
      return damaged(i18n::Text("a key is longer than any key of PyTorch"));
    const std::string key = path.back() + std::string(json.text());
    token = json.Next();
    if (token == JsonTokens::kBeginObject) {
      if (path.size() == kDeepest)
        return damaged(i18n::Text("objects are nested too deeply for memory statistics"));
      path.push_back(key + ".");
    } else if (token == JsonTokens::kNumber) {
      if (r.statistics.size() == kMostFigures)
        return absl::ResourceExhaustedError(i18n::Format(
            "the file has more than {} values, which is the limit for memory statistics",
            kMostFigures));
      if (const auto value = ParseInteger(json.text())) r.statistics.push_back({key, *value});
    } else if (!json.Skip(token)) {
      if (r.statistics.empty()) return damaged(i18n::Text("the file ends too early"));
      r.lost = i18n::English("the file ends early, at byte {}", json.offset());
      break;
    }
  }
  if (r.statistics.empty())
    return absl::InvalidArgumentError(i18n::Text("the JSON has no memory statistics"));
  return r;
}

namespace {

bool IsStatsKey(const JsonKey& key) { return !key.in_list && IsMemoryStatsKey(key.name); }

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenMemoryStats(ImportRequest& request) {
  if (IsPart(request.options))
    return absl::OutOfRangeError(
        i18n::Text("memory statistics cannot be opened in part; open the whole file"));
  absl::StatusOr<recording::Recording> recording = ReadMemoryStats(*request.input, request.head);
  if (!recording.ok()) return recording.status();
  return FromRecording(*std::move(recording), request.title, request.options);
}

}  // namespace

ImporterEntry DeclareImporter_memory_stats() {
  return {.place = 40, .name = "memory-stats", .has_key = IsStatsKey, .read = OpenMemoryStats};
}

}  // namespace vramscope::importers
