#include "profiler/importers/sniff.h"

#include <algorithm>
#include <array>

#include "profiler/importers/html_snapshot.h"
#include "profiler/importers/memory_stats.h"
#include "profiler/trace/frame.h"

namespace vramscope::importers {
namespace {

using std::string_view_literals::operator""sv;

template <size_t n>
bool Has(const std::array<std::string_view, n>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

constexpr std::array kSnapshotKeys = {
    "segments"sv,      "device_traces"sv, "allocator_settings"sv, "external_annotations"sv,
    "host_segments"sv, "host_traces"sv,
};
constexpr std::array kSegmentKeys = {"segment_type"sv, "total_size"sv, "allocated_size"sv};
constexpr std::array kKinetoKeys = {
    "traceEvents"sv,     "schemaVersion"sv, "deviceProperties"sv,
    "displayTimeUnit"sv, "traceName"sv,     "baseTimeNanoseconds"sv,
};

// "[[-1, ...": lists of numbers in a list.
bool IsListOfNumbers(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (int depth = 0; depth < 2; ++depth) {
    const size_t at = text.find_first_not_of(kSpace);
    if (at == std::string_view::npos || text[at] != '[') return false;
    text.remove_prefix(at + 1);
  }
  const size_t at = text.find_first_not_of(kSpace);
  return at != std::string_view::npos && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'));
}

// Runs through JSON text without parsing it: strings and the depth of brackets are all that counts
// for finding the keys of the outermost object.
FileKind SniffJson(std::string_view text) {
  int depth = 0;
  bool array_of_events = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      if (++depth == 1) array_of_events = c == '[';
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '"') {
      const size_t begin = i + 1;
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      if (i >= text.size()) break;
      const std::string_view string = text.substr(begin, i - begin);
      const size_t next = text.find_first_not_of(" \t\r\n", i + 1);
      if (next == std::string_view::npos || text[next] != ':') continue;  // no key
      // A bare list of events, as the Chrome format allows; of segments, as memory_snapshot()
      // gives.
      if (array_of_events && depth == 2 && Has(kSegmentKeys, string))
        return FileKind::kSnapshotJson;
      if (array_of_events && depth == 2 && (string == "ph" || string == "traceEvents"))
        return FileKind::kJsonTokens;
      if (array_of_events || depth != 1) continue;
      if (Has(kSnapshotKeys, string)) return FileKind::kSnapshotJson;
      if (Has(kKinetoKeys, string)) return FileKind::kJsonTokens;
      if (IsMemoryStatsKey(string)) return FileKind::kMemoryStats;
    }
  }
  return FileKind::kUnknown;
}

}  // namespace

FileKind Sniff(std::string_view head) {
  if (head.starts_with(trace::kFrameMagic)) return FileKind::kTrace;
  if (head.size() >= 2 && head[0] == '\x80') {
    const auto protocol = static_cast<unsigned char>(head[1]);
    if (protocol >= 2 && protocol <= 5) return FileKind::kSnapshotPickle;
  }
  const size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf"sv);
  if (at != std::string_view::npos && head[at] == '<' && HoldsPickle(head))
    return FileKind::kHtmlSnapshot;
  if (at != std::string_view::npos && IsListOfNumbers(head.substr(at)))
    return FileKind::kMemoryTimeline;
  if (at != std::string_view::npos && (head[at] == '{' || head[at] == '['))
    return SniffJson(head.substr(at));
  return FileKind::kUnknown;
}

}  // namespace vramscope::importers
