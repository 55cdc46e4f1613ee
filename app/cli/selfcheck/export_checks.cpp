#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "app/cli/output.h"
#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/input.h"

namespace vramscope::cli::selfcheck {
namespace {

constexpr size_t kMostText = size_t{4} << 30;

// Returns the exported file's path. If the export fails, reports that and returns nullopt.
std::optional<std::string> Export(const Subject& s, const std::string& format) {
  const std::string path = s.commands.folder() / ("export." + format);
  std::vector<std::string> arguments = {"export", s.file, "--to", format, "-o", path};
  arguments.insert(arguments.end(), s.device.begin(), s.device.end());
  const Answer answer = s.commands.Run(arguments);
  if (answer.exit_code == kDone) {
    s.commands.Forget();
    return path;
  }
  s.report.True("export --to " + format, false, answer.error);
  return std::nullopt;
}

// `info` is the output of the command `info` for the exported file, which has only one device.
void ComparePeaks(const Subject& s, const Json& info, bool reserved) {
  const Json& peaks = At(info, "peaks");
  if (!peaks.is_array() || peaks.size() != 1)
    return s.report.Equal(TEXT_MARK("the exported file has one device"), peaks.size(), 1);
  s.report.Equal(TEXT_MARK("`info` reports the same peak of allocated memory for the exported file "
                           "as for the original"),
                 At(peaks[0], "allocated"), At(s.of_device, "allocated"));
  if (reserved)
    s.report.Equal(TEXT_MARK("`info` reports the same peak of reserved memory for the exported "
                             "file as for the original"),
                   At(peaks[0], "reserved"), At(s.of_device, "reserved"));
}

Json Read(const Subject& s, const std::string& command, const std::string& path,
          std::vector<std::string> options = {}) {
  std::vector<std::string> arguments = {command, path, "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Answer answer = s.commands.Run(arguments);
  if (!answer.ok())
    s.report.True(i18n::English("`{}` reads the exported file", command), false, answer.error);
  return answer.json;
}

void CheckSnapshot(const Subject& s) {
  s.Begin(
      TEXT_MARK("the file that `export --to snapshot` wrote has the values of the original file"));
  if (!s.has_segments()) {
    const std::string path = s.commands.folder() / "no_segments.pickle";
    std::vector<std::string> arguments = {"export", s.file, "--to", "snapshot", "-o", path};
    arguments.insert(arguments.end(), s.device.begin(), s.device.end());
    if (s.trace->allocations.size() == 0)
      return s.report.Skip(TEXT_MARK("the file has no allocations"));
    return s.report.True(TEXT_MARK("a file without segments cannot be exported as a snapshot"),
                         s.commands.Run(arguments).exit_code == kBadInput);
  }
  const std::optional<std::string> path = Export(s, "snapshot");
  if (!path) return;
  const Json info = Read(s, "info", *path);
  ComparePeaks(s, info, true);
  s.report.Equal(TEXT_MARK("allocations"), At(info, "allocations"), s.trace->allocations.size());
  s.report.Equal(TEXT_MARK("segments"), At(info, "segments"), s.trace->segments.size());
  s.report.Equal(TEXT_MARK("out of memory"), At(info, "out_of_memory"),
                 s.device.empty() ? At(s.info, "out_of_memory") : At(info, "out_of_memory"));
  const Json before = s.Ask("peak", {"--top", "1"}).json, after = Read(s, "peak", *path);
  for (const char* key : {"allocated", "requested", "reserved", "peak_reserved", "by_category"})
    s.report.Equal(
        i18n::English("`peak` reports the same `{}` for the exported file as for the original",
                      key),
        At(after, key), At(before, key));
}

// Compares the highest values of the exported counters with the peaks.
void CheckCounters(const Subject& s, const Json& events) {
  std::map<std::string, uint64_t> highest;
  for (const Json& event : events) {
    if (At(event, "ph") != "C" || !At(event, "args", "bytes").is_number_integer()) continue;
    uint64_t& most = highest[At(event, "name").get<std::string>()];
    most = std::max(most, At(event, "args", "bytes").get<uint64_t>());
  }
  s.report.Equal(
      TEXT_MARK("the counter's maximum is the peak of allocated memory that `info` reports"),
      highest["allocated"], At(s.of_device, "allocated"));
  s.report.Equal(
      TEXT_MARK("the counter's maximum is the peak of reserved memory that `info` reports"),
      highest["reserved"], At(s.of_device, "reserved"));
}

void CheckChrome(const Subject& s) {
  s.Begin(
      TEXT_MARK("the file that `export --to chrome` wrote has the values of the original file"));
  const std::optional<std::string> path = Export(s, "chrome");
  if (!path) return;
  const absl::StatusOr<std::string> text = trace::ReadWholeInput(*path, kMostText);
  if (!text.ok())
    return s.report.True(TEXT_MARK("the exported file can be read"), false,
                         std::string(text.status().message()));
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return s.report.True(TEXT_MARK("the exported file is valid JSON"), false);
  CheckCounters(s, At(json, "traceEvents"));
  const Json info = Read(s, "info", *path);
  ComparePeaks(s, info, true);
  if (!s.device.empty()) return;  // host work belongs to no single device
  for (const char* key : {"kernels", "copies", "collectives", "out_of_memory"})
    // without activities, the exporter makes kernels from operators, so the counts differ
    if (s.trace->activities.size() > 0)
      s.report.Equal(
          i18n::English("`info` reports the same `{}` for the exported file as for the original",
                        key),
          At(info, key), At(s.info, key));
}

// Splits one line into its fields, and removes the quotes around quoted fields.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r' || quoted)
      fields.back() += c;
  }
  return fields;
}

void CheckCsv(const Subject& s) {
  s.Begin(
      TEXT_MARK("the rows that `export --to csv` wrote add up to the totals of the original file"));
  const std::optional<std::string> path = Export(s, "csv");
  if (!path) return;
  const absl::StatusOr<std::string> text = trace::ReadWholeInput(*path, kMostText);
  if (!text.ok())
    return s.report.True(TEXT_MARK("the exported file can be read"), false,
                         std::string(text.status().message()));
  uint64_t rows = 0, requested = 0, rounded = 0, alive = 0;
  size_t column[3] = {0, 0, 0};
  const std::string_view all(*text);
  for (size_t at = 0; at < all.size();) {
    size_t end = at;  // only a line end outside of quotes ends a record
    for (bool quoted = false; end < all.size() && (quoted || all[end] != '\n'); ++end)
      quoted ^= all[end] == '"';
    const std::vector<std::string> fields = Fields(all.substr(at, end - at));
    if (at == 0) {
      const char* names[] = {"bytes_requested", "bytes_rounded", "freed"};
      for (size_t i = 0; i < 3; ++i)
        column[i] = static_cast<size_t>(std::ranges::find(fields, names[i]) - fields.begin());
    } else if (std::ranges::all_of(column, [&](size_t c) { return c < fields.size(); })) {
      ++rows;
      requested += std::strtoull(fields[column[0]].c_str(), nullptr, 10);
      rounded += std::strtoull(fields[column[1]].c_str(), nullptr, 10);
      alive += fields[column[2]] == "0";
    }
    at = end + 1;
  }
  const trace::AllocationTable& t = s.trace->allocations;
  uint64_t requested_here = 0, rounded_here = 0;
  for (uint32_t i = 0; i < t.size(); ++i) {
    requested_here += t.bytes[i];
    rounded_here += t.bytes_rounded[i];
  }
  s.report.Equal(TEXT_MARK("the CSV contains as many allocations as `info` reports"), rows,
                 At(s.of_device, "allocations"));
  s.report.Equal(TEXT_MARK("the CSV and the trace have the same total of requested bytes"),
                 requested, requested_here);
  s.report.Equal(
      TEXT_MARK("the blocks in the CSV have the same total size as the blocks in the trace"),
      rounded, rounded_here);
  s.report.Equal(TEXT_MARK("the CSV and the trace have the same number of live blocks at the end"),
                 alive, static_cast<uint64_t>(std::ranges::count(t.free_event, trace::kNoEvent)));
}

// Adds up entries of the form [time, action, bytes, category]. Actions 1 and 2 add a block, two
// entries with action 3 change a category, and action 4 removes a block.
void CheckTimeline(const Subject& s) {
  s.Begin(
      TEXT_MARK("the rows that `export --to memory-timeline` wrote add up to the totals of the "
                "original file"));
  const std::optional<std::string> path = Export(s, "memory-timeline");
  if (!path) return;
  const absl::StatusOr<std::string> text = trace::ReadWholeInput(*path, kMostText);
  if (!text.ok())
    return s.report.True(TEXT_MARK("the exported file can be read"), false,
                         std::string(text.status().message()));
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_array()) return s.report.True(TEXT_MARK("the exported file is a JSON array"), false);
  int64_t now = 0, most = 0;
  std::map<int64_t, int64_t> by_category;
  uint64_t allocations = 0;
  bool well_formed = true;
  for (const Json& row : json) {
    if (!row.is_array() || row.size() != 4) {
      well_formed = false;
      break;
    }
    const int64_t action = row[1].get<int64_t>(), bytes = row[2].get<int64_t>();
    by_category[row[3].get<int64_t>()] += bytes;
    now += bytes;
    if (action != 3) most = std::max(most, now);
    allocations += action == 1 || action == 2;
  }
  s.report.True(TEXT_MARK("each row has four values"), well_formed);
  s.report.Equal(
      TEXT_MARK("the exported timeline has the peak of allocated memory that `info` reports"), most,
      At(s.of_device, "allocated"));
  s.report.Equal(TEXT_MARK("the exported timeline contains as many allocations as `info` reports"),
                 allocations, At(s.of_device, "allocations"));
  int64_t sum = 0;
  bool negative = false;
  for (const auto& [category, bytes] : by_category) {
    sum += bytes;
    negative = negative || bytes < 0;
  }
  s.report.True(TEXT_MARK("no category is negative at the end"), !negative);
  s.report.Equal(
      TEXT_MARK("the exported timeline and the memory curve end with the same allocated memory"),
      sum, s.curves.size() == 0 ? uint64_t{0} : uint64_t{s.curves.allocated[s.curves.size() - 1]});
}

}  // namespace

void CheckExports(const Subject& s) {
  if (s.commands.folder().path().empty()) {
    s.Begin("exports");
    return s.report.Skip(TEXT_MARK("there is no folder for temporary files; set TMPDIR"));
  }
  CheckSnapshot(s);
  CheckChrome(s);
  CheckCsv(s);
  CheckTimeline(s);
}

void CheckSaved(const Subject& s, const std::shared_ptr<const trace::Trace>& whole) {
  s.report.Begin(TEXT_MARK("the saved .trace has the values of the original file"));
  const std::string path = s.commands.folder() / "saved.trace";
  if (s.commands.folder().path().empty())
    return s.report.Skip(TEXT_MARK("there is no folder for temporary files; set TMPDIR"));
  const absl::Status written = WriteTrace(*whole, path);
  if (!written.ok())
    return s.report.True(TEXT_MARK("the .trace can be written"), false,
                         std::string(written.message()));
  s.commands.Forget();
  const Json info = Read(s, "info", path);
  // A saved trace must have the same figures. Only the producer and the warnings of the reader may
  // differ.
  for (const auto& [key, value] : s.info.items())
    if (key != "producer" && key != "warnings" && key != "config")
      s.report.Equal(
          i18n::English("`info` reports the same `{}` for the saved file as for the original", key),
          value.is_null() && At(info, key.c_str()).is_null() ? Json("null") : At(info, key.c_str()),
          value.is_null() ? Json("null") : value);
  const Json outline = s.commands.Run({"info", "--outline", path, "--json"}).json;
  for (const char* key : {"events", "allocations", "slices", "time_span_ns"})
    if (!At(info, key).is_null())
      s.report.Equal(i18n::English("`info --outline` and `info` report the same `{}`", key),
                     At(outline, key), At(info, key));
  if (s.device.empty()) {
    for (const char* key : {"allocated", "reserved"})
      s.report.Equal(
          i18n::English("`info --outline` and `info` report the same peak of {} memory", key),
          At(outline, "peak", key), At(info, "peak", key));
  }
}

}  // namespace vramscope::cli::selfcheck
