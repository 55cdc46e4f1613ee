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
  s.report.Equal(
      at + TEXT_MARK("requested bytes, rounding and remainders add up to the allocated memory"),
      sum({"requested", "rounding", "tails"}), At(f, "allocated"));
  s.report.Equal(at + TEXT_MARK("allocated memory, holes and cached memory add up to reserved "
                                "memory plus memory outside all segments"),
                 sum({"allocated", "holes", "cached"}), sum({"reserved", "outside"}));
  const Json& pools = At(f, "pools");
  s.report.Equal(
      at + TEXT_MARK("the reserved memory of all pools adds up to the total of reserved memory"),
      Sum(pools, "reserved"), At(f, "reserved"));
  s.report.Equal(at + TEXT_MARK("the holes of all pools add up to the total of the holes"),
                 Sum(pools, "holes"), At(f, "holes"));
  s.report.Equal(
      at + TEXT_MARK("the cached memory of all pools adds up to the total of cached memory"),
      Sum(pools, "cached"), At(f, "cached"));
  s.report.Equal(at + TEXT_MARK("the segments of all pools add up to the total number of segments"),
                 Sum(pools, "segments"), At(f, "segments"));
  s.report.Equal(
      at + TEXT_MARK("the live bytes of all pools add up to the allocated memory in segments"),
      Sum(pools, "live"), sum({"allocated"}) - sum({"outside"}));
  s.report.Equal(at + TEXT_MARK("the holes of all call sites add up to the total of the holes"),
                 Sum(At(f, "pinned_by"), "bytes"), At(f, "holes"));
  s.report.Equal(at + TEXT_MARK("the bytes of all kinds of evidence (recorded, made, modelled) add "
                                "up to the allocated memory"),
                 Sum(At(f, "evidence"), "bytes"), At(f, "allocated"));
}

void CheckSegments(const Subject& s, const std::string& at, const std::string& event,
                   const Json& f) {
  const Answer answer = s.Ask("explain", {"--page", "segments", "--no-replay", "--event", event});
  const Json& segments = At(answer.json, "segments");
  if (!segments.is_array()) return;  // no segments at this event, so the sums above are zero
  s.report.Equal(at + TEXT_MARK("the bytes of all segments add up to the reserved memory"),
                 Sum(segments, "bytes"), At(f, "reserved"));
  s.report.Equal(
      at + TEXT_MARK("the live bytes of all segments add up to the allocated memory in segments"),
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
  s.report.Equal(
      at + TEXT_MARK("the pending pieces of all segments add up to the total of pending memory"),
      pending, At(f, "pending"));
  s.report.Equal(
      at + TEXT_MARK(
               "the live pieces and the pending pieces of all segments add up to the segments' "
               "live bytes, which include pending memory"),
      live + pending, Sum(segments, "live"));
  s.report.Equal(
      at + TEXT_MARK("the free pieces of all segments add up to the holes and the cached memory"),
      free, Number(At(f, "holes")) + Number(At(f, "cached")));
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
    s.report.Equal(at + TEXT_MARK("the memory curve and `peak` report the same allocated memory"),
                   curve(s.curves.allocated), At(peak.json, "allocated"));
    s.report.Equal(at + TEXT_MARK("the memory curve and `peak` report the same requested bytes"),
                   curve(s.curves.requested), At(peak.json, "requested"));
    s.report.Equal(at + TEXT_MARK("the memory curve and `peak` report the same reserved memory"),
                   curve(s.curves.reserved), At(peak.json, "reserved"));
    for (const char* key : {"allocated", "requested", "reserved"})
      s.report.Equal(at + i18n::English("`peak` and `explain` report the same `{}`", key),
                     At(peak.json, key), At(f, key));
    s.report.Equal(
        at + TEXT_MARK("`peak` and `explain` report the same time, phase and module (`at`)"),
        At(peak.json, "at"), At(f, "at"));
    s.report.Equal(at + TEXT_MARK("the categories add up to the allocated memory"),
                   Sum(At(peak.json, "by_category")), At(peak.json, "allocated"));
    const Json& memory = At(peak.json, "device_memory");
    s.report.Equal(at + TEXT_MARK("the parts of the device memory add up to the used memory"),
                   Sum(At(memory, "parts"), "bytes"), At(memory, "used"));
    // This part has two names. Its name is "blocks" if the file does not contain requested sizes.
    const uint64_t blocks =
        Number(PartOf(memory, "blocks, as requested")) + Number(PartOf(memory, "blocks"));
    s.report.Equal(at + TEXT_MARK("the blocks in `device_memory` add up to the requested bytes"),
                   blocks, At(peak.json, "requested"));
    // If only the total of reserved memory was recorded, segments cannot be checked.
    if (trace::SegmentRecordOf(*s.trace) == trace::SegmentRecord::kTotalOnly) {
      s.report.Equal(
          at + TEXT_MARK("the blocks and the unused memory add up to the reserved memory"),
          blocks + Number(PartOf(memory, "reserved, not in use")), At(peak.json, "reserved"));
      continue;
    }
    CheckFragmentation(s, at, f);
    if (event == s.peak.context.event || number++ % 4 == 0) CheckSegments(s, at, text, f);
  }
}

void CheckGroups(const Subject& s) {
  s.Begin(TEXT_MARK("the groups of `peak --by` add up to the peak"));
  Json count, at;
  for (const char* by : {"category", "module", "op", "stack", "phase"}) {
    const Answer peak = s.Ask("peak", {"--by", by, "--top", kAll});
    const Json& json = peak.json;
    const std::string where = fmt::format("--by {}: ", by);
    s.report.Equal(where + TEXT_MARK("the bytes of all groups add up to the allocated memory"),
                   Sum(At(json, "groups"), "bytes"), At(json, "allocated"));
    s.report.Equal(where + TEXT_MARK("`peak` and `info` report the same peak of allocated memory"),
                   At(json, "allocated"), At(s.of_device, "allocated"));
    s.report.Equal(where + TEXT_MARK("`peak` and `info` report the same peak of reserved memory"),
                   At(json, "peak_reserved"), At(s.of_device, "reserved"));
    const Json& largest = At(json, "largest");
    s.report.Equal(where + TEXT_MARK("the `bytes_rounded` of all blocks add up to `allocated`"),
                   Sum(largest, "bytes_rounded"), At(json, "allocated"));
    s.report.Equal(where + TEXT_MARK("the `bytes_requested` of all blocks add up to `requested`"),
                   Sum(largest, "bytes_requested"), At(json, "requested"));
    s.report.Equal(where + TEXT_MARK("the blocks of all groups add up to the number of blocks"),
                   Sum(At(json, "groups"), "count"), largest.size());
    if (at.is_null()) {
      at = At(json, "at");
      count = Sum(At(json, "groups"), "count");
    }
    s.report.Equal(where + TEXT_MARK("the time of the peak is the same for every value of --by"),
                   at, At(json, "at"));
    s.report.Equal(where + TEXT_MARK("blocks"), count, Sum(At(json, "groups"), "count"));
    if (std::string_view(by) != "category") continue;
    for (const Json& group : At(json, "groups")) {
      uint64_t bytes = 0;
      for (const Json& block : largest)
        if (At(block, "category") == At(group, "name"))
          bytes += At(block, "bytes_rounded").get<uint64_t>();
      const std::string name = At(group, "name").get<std::string>();
      s.report.Equal(where + name + ": " +
                         TEXT_MARK("the blocks of the group add up to the bytes of the group"),
                     At(group, "bytes"), bytes);
      s.report.Equal(
          where + name + ": " + TEXT_MARK("the group has as many bytes as `by_category` reports"),
          At(group, "bytes"), At(json, "by_category", name.c_str()));
    }
  }
}

}  // namespace vramscope::cli::selfcheck
