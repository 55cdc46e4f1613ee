#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"

namespace vramscope::cli::selfcheck {
namespace {

constexpr uint32_t kSamples = 12;
constexpr char kAll[] = "1000000";  // value of --top

// Returns the events with the highest allocated, reserved and unused memory, the last event, and
// further events that are spread over the file.
std::set<trace::EventIndex> SampledEvents(const Subject& s) {
  const uint32_t count = s.trace->events.size();
  if (count == 0) return {};
  std::set<trace::EventIndex> events = {s.peak.context.event, count - 1,
                                        explain::MostUnused(*s.trace)};
  const uint32_t first = s.trace->recording_begin == trace::kNoEvent ? 0 : s.trace->recording_begin;
  for (uint32_t i = 0; i < kSamples; ++i)
    events.insert(first + static_cast<uint32_t>(uint64_t{count - first} * i / kSamples));
  for (size_t i = 0; i < s.curves.size(); ++i) {
    if (s.curves.reserved[i] != s.peak.reserved || s.curves.event[i] < first) continue;
    events.insert(s.curves.event[i]);
    break;
  }
  return events;
}

Json PartOf(const Json& device_memory, std::string_view name) {
  for (const Json& part : At(device_memory, "parts"))
    if (At(part, "name") == name) return At(part, "bytes");
  return uint64_t{0};
}

uint64_t Number(const Json& value) {
  return value.is_number_integer() ? value.get<uint64_t>() : UINT64_MAX;
}

void CheckFragmentation(const Subject& s, const std::string& at, const Json& f) {
  const auto sum = [&f](std::initializer_list<const char*> keys) {
    uint64_t all = 0;
    for (const char* key : keys) all += Number(At(f, key));
    return all;
  };
  s.report.Equal(at + TEXT_MARK("requested + rounding + tails = allocated"),
                 sum({"requested", "rounding", "tails"}), At(f, "allocated"));
  s.report.Equal(at + TEXT_MARK("allocated + holes + cached = reserved + outside all segments"),
                 sum({"allocated", "holes", "cached"}), sum({"reserved", "outside"}));
  const Json& pools = At(f, "pools");
  s.report.Equal(at + TEXT_MARK("reserved: sum of the pools = total"), Sum(pools, "reserved"),
                 At(f, "reserved"));
  s.report.Equal(at + TEXT_MARK("holes: sum of the pools = total"), Sum(pools, "holes"),
                 At(f, "holes"));
  s.report.Equal(at + TEXT_MARK("cached: sum of the pools = total"), Sum(pools, "cached"),
                 At(f, "cached"));
  s.report.Equal(at + TEXT_MARK("segments: sum of the pools = total"), Sum(pools, "segments"),
                 At(f, "segments"));
  s.report.Equal(at + TEXT_MARK("live: sum of the pools = allocated in segments"),
                 Sum(pools, "live"), sum({"allocated"}) - sum({"outside"}));
  s.report.Equal(at + TEXT_MARK("holes: sum of the call sites that pin them = total"),
                 Sum(At(f, "pinned_by"), "bytes"), At(f, "holes"));
  s.report.Equal(at + TEXT_MARK("allocated: sum over the kinds of evidence = total"),
                 Sum(At(f, "evidence"), "bytes"), At(f, "allocated"));
}

void CheckSegments(const Subject& s, const std::string& at, const std::string& event,
                   const Json& f) {
  const Answer answer = s.Ask("explain", {"--page", "segments", "--no-replay", "--event", event});
  const Json& segments = At(answer.json, "segments");
  if (!segments.is_array()) return;  // no segments at this event; the sums above are then zero
  s.report.Equal(at + TEXT_MARK("reserved: sum of the segments = total"), Sum(segments, "bytes"),
                 At(f, "reserved"));
  s.report.Equal(at + TEXT_MARK("live: sum of the segments = allocated in segments"),
                 Sum(segments, "live"), Number(At(f, "allocated")) - Number(At(f, "outside")));
  uint64_t live = 0, free = 0, pending = 0;
  bool gapless = true;
  for (const Json& segment : segments) {
    uint64_t next = Number(At(segment, "address"));
    for (const Json& piece : At(segment, "pieces")) {
      gapless = gapless && Number(At(piece, "address")) == next;
      next += Number(At(piece, "bytes"));
      const Json& use = At(piece, "use");
      (use == "live"      ? live
       : use == "pending" ? pending
                          : free) += use == "unmapped" ? 0 : Number(At(piece, "bytes"));
    }
  }
  s.report.True(at + TEXT_MARK("the pieces of each segment have no gaps between them"), gapless);
  s.report.Equal(at + TEXT_MARK("pending: sum of the pieces = total"), pending, At(f, "pending"));
  s.report.Equal(at + TEXT_MARK("live + pending pieces = live bytes of the segments"),
                 live + pending, Sum(segments, "live"));
  s.report.Equal(at + TEXT_MARK("free pieces = holes + cached"), free,
                 Number(At(f, "holes")) + Number(At(f, "cached")));
}

}  // namespace

Answer Subject::Ask(const std::string& command, std::vector<std::string> options) const {
  std::vector<std::string> arguments = {command, file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), device.begin(), device.end());
  arguments.emplace_back("--json");
  return commands.Run(std::move(arguments));
}

void CheckMemory(const Subject& s) {
  s.Begin(TEXT_MARK("memory adds up"));
  const std::set<trace::EventIndex> events = SampledEvents(s);
  if (events.empty()) return s.report.Skip(TEXT_MARK("the file has no events"));
  size_t number = 0;
  for (const trace::EventIndex event : events) {
    const std::string text = fmt::format("{}", event), at = i18n::English("event {}", event) + ": ";
    const Answer peak = s.Ask("peak", {"--event", text, "--top", "1"});
    const Answer explained = s.Ask(
        "explain", {"--page", "fragmentation", "--no-replay", "--top", kAll, "--event", text});
    const Json& f = At(explained.json, "fragmentation");
    const std::optional<size_t> point = analysis::PointAt(s.curves, event);
    const auto curve = [&point](const analysis::MemoryCurves::Bytes& bytes) {
      return point ? uint64_t{bytes[*point]} : uint64_t{0};
    };
    s.report.Equal(at + TEXT_MARK("allocated: curve = `peak`"), curve(s.curves.allocated),
                   At(peak.json, "allocated"));
    s.report.Equal(at + TEXT_MARK("requested: curve = `peak`"), curve(s.curves.requested),
                   At(peak.json, "requested"));
    s.report.Equal(at + TEXT_MARK("reserved: curve = `peak`"), curve(s.curves.reserved),
                   At(peak.json, "reserved"));
    for (const char* key : {"allocated", "requested", "reserved"})
      s.report.Equal(at + i18n::English("{}: `peak` = `explain`", key), At(peak.json, key),
                     At(f, key));
    s.report.Equal(at + TEXT_MARK("context: `peak` = `explain`"), At(peak.json, "at"), At(f, "at"));
    s.report.Equal(at + TEXT_MARK("allocated: sum of the categories = total"),
                   Sum(At(peak.json, "by_category")), At(peak.json, "allocated"));
    const Json& memory = At(peak.json, "device_memory");
    s.report.Equal(at + TEXT_MARK("used on the device: sum of the parts = total"),
                   Sum(At(memory, "parts"), "bytes"), At(memory, "used"));
    // This part has two names. It is "blocks" if the file does not contain requested sizes.
    const uint64_t blocks =
        Number(PartOf(memory, "blocks, as requested")) + Number(PartOf(memory, "blocks"));
    s.report.Equal(at + TEXT_MARK("requested: device_memory = `peak`"), blocks,
                   At(peak.json, "requested"));
    // If only the total of reserved memory was recorded, segments cannot be checked.
    if (trace::SegmentRecordOf(*s.trace) == trace::SegmentRecord::kTotalOnly) {
      s.report.Equal(at + TEXT_MARK("blocks + not in use = reserved"),
                     blocks + Number(PartOf(memory, "reserved, not in use")),
                     At(peak.json, "reserved"));
      continue;
    }
    CheckFragmentation(s, at, f);
    if (event == s.peak.context.event || number++ % 4 == 0) CheckSegments(s, at, text, f);
  }
}

void CheckGroups(const Subject& s) {
  s.Begin(TEXT_MARK("groups of the peak add up"));
  Json count, at;
  for (const char* by : {"category", "module", "op", "stack", "phase"}) {
    const Answer peak = s.Ask("peak", {"--by", by, "--top", kAll});
    const Json& json = peak.json;
    const std::string where = fmt::format("--by {}: ", by);
    s.report.Equal(where + TEXT_MARK("bytes of all groups = allocated"),
                   Sum(At(json, "groups"), "bytes"), At(json, "allocated"));
    s.report.Equal(where + TEXT_MARK("allocated: `peak` = `info`"), At(json, "allocated"),
                   At(s.of_device, "allocated"));
    s.report.Equal(where + TEXT_MARK("peak reserved: `peak` = `info`"), At(json, "peak_reserved"),
                   At(s.of_device, "reserved"));
    const Json& largest = At(json, "largest");
    s.report.Equal(where + TEXT_MARK("bytes_rounded of all blocks = allocated"),
                   Sum(largest, "bytes_rounded"), At(json, "allocated"));
    s.report.Equal(where + TEXT_MARK("bytes_requested of all blocks = requested"),
                   Sum(largest, "bytes_requested"), At(json, "requested"));
    s.report.Equal(where + TEXT_MARK("blocks of all groups = number of blocks"),
                   Sum(At(json, "groups"), "count"), largest.size());
    if (at.is_null()) {
      at = At(json, "at");
      count = Sum(At(json, "groups"), "count");
    }
    s.report.Equal(where + TEXT_MARK("same time for every --by"), at, At(json, "at"));
    s.report.Equal(where + TEXT_MARK("blocks"), count, Sum(At(json, "groups"), "count"));
    if (std::string_view(by) != "category") continue;
    for (const Json& group : At(json, "groups")) {
      uint64_t bytes = 0;
      for (const Json& block : largest)
        if (At(block, "category") == At(group, "name"))
          bytes += At(block, "bytes_rounded").get<uint64_t>();
      const std::string name = At(group, "name").get<std::string>();
      s.report.Equal(where + name + ": " + TEXT_MARK("bytes of the group = sum of its blocks"),
                     At(group, "bytes"), bytes);
      s.report.Equal(where + name + ": " + TEXT_MARK("bytes of the group = by_category"),
                     At(group, "bytes"), At(json, "by_category", name.c_str()));
    }
  }
}

}  // namespace vramscope::cli::selfcheck
