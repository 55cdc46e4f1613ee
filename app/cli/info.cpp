// `info FILE`: prints what the file contains.
#include "app/cli/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "app/cli/command.h"
#include "app/cli/device_memory.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/host_memory.h"
#include "profiler/base/i18n.h"
#include "profiler/inference/rules.h"
#include "profiler/run/saturating.h"
#include "profiler/run/units.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/length.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/processes.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli {
namespace {

using trace::ActivityKind;
using trace::EventKind;

struct Options {
  std::string file;
  RangeOptions range;
  bool json = false;
  bool outline = false;
};

// Returns the kind of file that the events were imported from: "trace", "snapshot" or "kineto".
std::string_view KindOf(const trace::Trace& trace) {
  const std::string& source = trace.info.source;
  if (trace.info.backend != trace::Backend::kImported) return "trace";
  if (source.find("snapshot") != std::string::npos) return "snapshot";
  if (source.find("ineto") != std::string::npos) return "kineto";
  if (!trace.info.statistics.empty()) return "statistics";
  return "recording";
}

// The format strings of profiler/importers/snapshot.cpp. A .trace contains only the finished
// English text, so the translation needs these strings to find the values in the text. The texts of
// other importers have no placeholders.
constexpr std::string_view kSources[] = {
    TEXT_MARK("CUDA memory snapshot ({})"),
    TEXT_MARK("CUDA memory snapshot (a list of segments; {})"),
    TEXT_MARK("pickle, protocol {}"),
};
std::string SourceText(const std::string& source) {
  if (source.empty()) return i18n::Text("a recording");
  i18n::Know(kSources);
  return Printable(i18n::Shown(source));
}

// Counts the allocator's events, except those that the importer added for older allocations.
uint64_t CountEntries(const trace::Trace& trace) {
  const auto begin =
      trace.events.kind.begin() + (trace.recording_begin == trace::kNoEvent
                                       ? 0
                                       : static_cast<ptrdiff_t>(trace.recording_begin));
  auto count =
      static_cast<uint64_t>(std::count_if(begin, trace.events.kind.end(), trace::IsAllocatorEvent));
  // Segment events that the importer made from totals of reserved memory do not count.
  const trace::OtherEventTable& other = trace.other_events;
  for (uint32_t row = 0; row < other.size(); ++row) {
    const trace::EventIndex event = other.event[row];
    if (event < static_cast<trace::EventIndex>(begin - trace.events.kind.begin())) continue;
    if (trace::SubjectOf(trace.events.kind[event]) == trace::Subject::kSegment &&
        trace::IsReservedTotal(trace, {static_cast<uint32_t>(trace.events.id[event])}))
      --count;
  }
  return count;
}

// Returns the distinct values of a column of strings, the most frequent first.
std::vector<std::pair<std::string, uint64_t>> Values(
    const trace::Trace& trace, const trace::PackedColumn<trace::StringId>& column) {
  std::map<uint32_t, uint64_t> count;
  for (const trace::StringId id : column)
    if (id.value != 0) ++count[id.value];
  std::vector<std::pair<std::string, uint64_t>> values;
  for (const auto& [id, n] : count) values.emplace_back(trace.String({id}), n);
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return values;
}

constexpr size_t kMostValues = 100;

Json ValuesJson(const trace::Trace& trace, const trace::PackedColumn<trace::StringId>& column) {
  const auto values = Values(trace, column);
  Json json = {{"entries", 0}, {"different", values.size()}, {"values", Json::array()}};
  uint64_t entries = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    entries += values[i].second;
    if (i < kMostValues)
      json["values"].push_back({{"value", values[i].first}, {"entries", values[i].second}});
  }
  json["entries"] = entries;
  return json;
}

// Returns for example "12 entries, 3 different: 'x' (10), ...", or "" if there are none.
std::string ValuesText(const trace::Trace& trace,
                       const trace::PackedColumn<trace::StringId>& column) {
  const auto values = Values(trace, column);
  uint64_t entries = 0;
  for (const auto& value : values) entries += value.second;
  if (values.empty()) return "";
  std::string text =
      i18n::Format("{} entries, {} different values: ", Count(entries), Count(values.size()));
  for (size_t i = 0; i < std::min<size_t>(values.size(), 3); ++i)
    text += fmt::format("{}'{}' ({})", i > 0 ? ", " : "", values[i].first.substr(0, 60),
                        Count(values[i].second));
  return text + (values.size() > 3 ? ", ..." : "");
}

int64_t CountOf(const trace::Trace& trace, ActivityKind kind) {
  return std::ranges::count(trace.activities.kind, kind);
}

// Counts the streams of all devices on which memory was allocated or work ran.
size_t CountStreams(const trace::Trace& trace) {
  std::set<std::pair<uint8_t, uint32_t>> streams;
  std::pair<uint8_t, uint32_t> last;
  const auto see = [&](uint8_t device, uint32_t stream) {
    if (!streams.empty() && last == std::pair(device, stream)) return;
    streams.insert(last = {device, stream});
  };
  const trace::AllocationTable& a = trace.allocations;
  for (uint32_t row = 0; row < a.size(); ++row) see(a.device[row], a.stream[row]);
  const trace::ActivityTable& work = trace.activities;
  for (uint32_t row = 0; row < work.size(); ++row)
    if (trace::IsOfDevice(work.kind[row]) && work.kind[row] != ActivityKind::kCounter)
      see(work.device[row], work.stream[row]);
  return streams.size();
}

// Returns the copied bytes for each direction. Memory outside devices counts as host memory.
Json CopiedJson(const trace::Trace& trace) {
  uint64_t to_device = 0, to_host = 0, within = 0, peer = 0;
  const trace::ActivityTable& a = trace.activities;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kMemcpy) continue;
    const bool from = a.from[row] == trace::MemorySpace::kDevice;
    const bool to = a.to[row] == trace::MemorySpace::kDevice;
    uint64_t* sum = nullptr;
    if (from && to)
      sum = trace::IsPeerCopyName(trace.String(a.name[row])) ? &peer : &within;
    else if (to || from)
      sum = to ? &to_device : &to_host;
    if (sum != nullptr) *sum = run::AddSaturating(*sum, a.bytes[row]);
  }
  return {{"host_to_device", to_device},
          {"device_to_host", to_host},
          {"device_to_device", within},
          {"peer", peer}};
}

Json ProcessesJson(const trace::Trace& trace) {
  Json all = Json::array();
  for (const trace::Process& process : trace::ProcessesOf(trace))
    all.push_back({{"name", process.name},
                   {"host", process.host},
                   {"clock_offset_ns", process.clock_offset_ns},
                   {"devices", process.devices}});
  return all;
}

size_t CountRanks(const trace::Trace& trace) {
  return std::max<size_t>(1, trace::ProcessesOf(trace).size());
}

std::string NameOf(const trace::Trace& trace, uint8_t device) {
  return trace.info.device.name == "cpu" ? trace.info.device.name
                                         : trace::NameOfDevice(trace, device);
}

std::vector<std::string> DeviceNames(const trace::Trace& trace) {
  if (!trace.info.device.name.empty()) return {trace.info.device.name};
  std::vector<std::string> names;
  for (const uint8_t device : analysis::DevicesOf(trace))
    names.push_back(trace::NameOfDevice(trace, device));
  return names;
}

// How often the importer applied one of its rules.
struct RuleUse {
  uint64_t allocations = 0, bytes = 0;  // allocations whose initial category the rule set
  uint64_t retags = 0, phases = 0, steps = 0;
};
std::map<uint8_t, RuleUse> RulesOf(const trace::Trace& trace) {
  std::map<uint8_t, RuleUse> rules;
  for (trace::EventIndex i = 0; i < trace.events.size(); ++i) {
    const uint8_t detail = trace.events.detail[i];
    switch (trace.events.kind[i]) {
      case EventKind::kAlloc: {
        RuleUse& rule = rules[detail];
        ++rule.allocations;
        rule.bytes = run::AddSaturating(rule.bytes, trace.events.bytes_rounded[i]);
        break;
      }
      case EventKind::kRetag:
        ++rules[detail].retags;
        break;
      case EventKind::kPhaseBegin:
        ++rules[static_cast<uint8_t>(trace.events.id[i])].phases;
        break;
      case EventKind::kStepBegin:
        ++rules[detail].steps;
        break;
      default:
        break;
    }
  }
  rules.erase(inference::kStatedByProducer);
  return rules;
}

std::string RuleText(uint8_t rule) {
  const std::string_view name = inference::RuleName(rule);
  return name.empty() ? i18n::Format("rule {}", rule) : i18n::Text(name);
}

// Counts the steps. With several processes, counts those of the process with the most steps.
size_t CountSteps(const trace::Trace& trace) {
  const bool several = trace::ProcessesOf(trace).size() > 1;
  std::map<uint8_t, size_t> steps;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.kind[row] == trace::SliceKind::kStep)
      ++steps[several ? trace::ProcessOfThread(trace.slices.thread[row]) : 0];
  size_t most = 0;
  for (const auto& [process, count] : steps) most = std::max(most, count);
  return most;
}

uint32_t CountOlder(const trace::Trace& trace) {
  if (trace.recording_begin == trace::kNoEvent) return 0;
  const auto& events = trace.allocations.alloc_event;
  return static_cast<uint32_t>(
      std::lower_bound(events.begin(), events.end(), trace.recording_begin) - events.begin());
}

// Returns the highest of the devices' peaks.
analysis::Peak Highest(const std::vector<analysis::DevicePeak>& peaks) {
  analysis::Peak highest;
  for (const analysis::DevicePeak& of : peaks)
    if (of.peak.allocated >= highest.allocated) highest = of.peak;
  return highest;
}

// How one GPU's memory is used at its peak.
struct GpuAtPeak {
  std::shared_ptr<const trace::Trace> trace;
  explain::DeviceMemory memory;
};
std::vector<GpuAtPeak> GpusAtPeak(const std::shared_ptr<const trace::Trace>& whole,
                                  const std::vector<analysis::DevicePeak>& peaks) {
  std::vector<GpuAtPeak> gpus;
  for (const analysis::DevicePeak& of : peaks) {
    auto trace = trace::OfDevice(whole, of.device);
    auto memory = explain::DeviceMemoryHistory(*trace).At(of.peak.context.event);
    gpus.push_back({std::move(trace), std::move(memory)});
  }
  return gpus;
}

Json InfoJson(const std::shared_ptr<const trace::Trace>& whole) {
  const trace::Trace& trace = *whole;
  const std::vector<analysis::DevicePeak> peaks = analysis::PeakOfEachDevice(whole);
  const analysis::Peak peak = Highest(peaks);
  Json json;
  json["kind"] = std::string(KindOf(trace));
  json["events"] = trace.events.size();
  json["devices"] = DeviceNames(trace);
  json["steps"] = CountSteps(trace);
  json["content"] = trace.info.content == trace::Content::kState ? "state" : "run";
  json["has_times"] = trace.info.has_times;
  json["time_span_ns"] = trace.info.has_times ? Json(trace::LengthNs(trace)) : Json();
  json["peak"] = {{"allocated", peak.allocated}, {"reserved", peak.reserved}};
  json["reserved_known"] = trace::SegmentRecordOf(trace) != trace::SegmentRecord::kNone;
  json["sizes_are_of_blocks"] = trace::SizesAreOfBlocks(trace);
  json["peaks"] = Json::array();
  for (const analysis::DevicePeak& of : peaks)
    json["peaks"].push_back(
        {{"device", of.device},
         {"name", NameOf(trace, of.device)},
         {"allocated", of.peak.allocated},
         {"reserved", of.peak.reserved},
         {"reserved_then", of.peak.reserved_then},
         {"max_memory_allocated", analysis::MostByCounter(*trace::OfDevice(whole, of.device))},
         {"allocations", std::count(trace.allocations.device.begin(),
                                    trace.allocations.device.end(), of.device)}});
  json["device_memory"] = Json::array();
  for (const GpuAtPeak& gpu : GpusAtPeak(whole, peaks))
    json["device_memory"].push_back(DeviceMemoryJson(*gpu.trace, gpu.memory));
  json["warnings"] = trace.warnings;
  json["truncated"] = !trace.complete;
  json["end_message"] = trace.end_message;
  json["backend"] = std::string(trace::Name(trace.info.backend));
  json["measured"] = trace.info.measured;
  json["producer"] = trace.info.producer;
  json["title"] = trace.info.title;
  json["model"] = trace.info.model.name;
  json["parameters"] = {{"count", trace.info.model.parameter_count},
                        {"trainable", trace.info.model.trainable_count},
                        {"bytes", trace.info.model.parameter_bytes}};
  json["allocations"] = trace.allocations.size();
  json["segments"] = trace::RecordedSegments(trace);
  json["slices"] = trace.slices.size();
  json["entries"] = CountEntries(trace);
  const auto of_kind = [&](ActivityKind kind) { return CountOf(trace, kind); };
  json["streams"] = CountStreams(trace);
  json["kernels"] = of_kind(ActivityKind::kKernel);
  json["copies"] = of_kind(ActivityKind::kMemcpy);
  json["operands"] = trace.operands.size();
  json["collectives"] = of_kind(ActivityKind::kCollective);
  json["ranks"] = CountRanks(trace);
  json["processes"] = ProcessesJson(trace);
  json["copied"] = CopiedJson(trace);
  json["host_memory"] = HostMemoryJson(trace);
  json["stacks"] = trace.stacks.size() - 1;
  json["source"] = trace.info.source;
  json["alloc_conf"] = trace.info.alloc_conf;
  json["program_counters"] = CountersJson(trace);
  json["older_allocations"] = CountOlder(trace);
  json["out_of_memory"] =
      std::count(trace.events.kind.begin(), trace.events.kind.end(), EventKind::kOutOfMemory);
  json["user_metadata"] = ValuesJson(trace, trace.events.user_metadata);
  json["compile_contexts"] = ValuesJson(trace, trace.events.compile_context);
  json["statistics"] = Json::object();
  for (const trace::Statistic& s : trace.info.statistics) json["statistics"][s.name] = s.value;
  json["inferred"] = Json::array();
  for (const auto& [rule, use] : RulesOf(trace)) {
    json["inferred"].push_back({{"rule", rule},
                                {"name", RuleText(rule)},
                                {"allocations", use.allocations},
                                {"bytes", use.bytes},
                                {"retags", use.retags},
                                {"phases", use.phases},
                                {"steps", use.steps}});
  }
  json["start_unix_ns"] = trace.info.start_unix_ns;
  if (trace.info.has_config) {
    json["config"] = Json::parse(run::ToJson(trace.info.config), nullptr, false);
  }
  return json;
}

std::string Line(std::string_view label, const std::string& value) {
  return fmt::format("  {} {}\n", Padded(i18n::Text(label), 12), Printable(value));
}

// Returns for example "kernels 1,204, copies 12, collectives 2, API calls and others 3,406, ...".
std::string WorkText(const trace::Trace& trace) {
  std::string text;
  uint64_t others = trace.activities.size();
  for (const auto& [kind, what] :
       {std::pair(ActivityKind::kKernel, TEXT_MARK("kernels")),
        std::pair(ActivityKind::kMemcpy, TEXT_MARK("copies")),
        std::pair(ActivityKind::kCollective, TEXT_MARK("collectives"))}) {
    const auto count = static_cast<uint64_t>(CountOf(trace, kind));
    others -= count;
    if (count > 0) text += fmt::format("{} {}, ", i18n::Text(what), Count(count));
  }
  if (others > 0) text += i18n::Format("API calls and other activities {}, ", Count(others));
  if (trace.operands.size() > 0)
    text += i18n::Format("operands {}, ", Count(trace.operands.size()));
  return text + i18n::Format("streams {}", CountStreams(trace));
}

std::string NotesText(const trace::Trace& trace) {
  std::string text =
      Line(TEXT_MARK("complete"),
           trace.complete
               ? i18n::Text("yes")
               : i18n::Text("no") +
                     (trace.end_message.empty() ? "" : ": " + i18n::Shown(trace.end_message)));
  for (const std::string& warning : trace.warnings)
    if (warning != trace.end_message) text += Line(TEXT_MARK("warning"), i18n::Shown(warning));
  return text;
}

// Formats the result of torch.cuda.memory_stats(): the sums over both pools, then the counts.
std::string StatisticsText(const trace::Trace& trace) {
  const std::vector<trace::Statistic>& all = trace.info.statistics;
  const auto find = [&](const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
  };
  std::string text;
  for (const auto& [what, name] : {std::pair(TEXT_MARK("allocated"), "allocated_bytes"),
                                   std::pair(TEXT_MARK("requested"), "requested_bytes"),
                                   std::pair(TEXT_MARK("active"), "active_bytes"),
                                   std::pair(TEXT_MARK("reserved"), "reserved_bytes"),
                                   std::pair(TEXT_MARK("split off"), "inactive_split_bytes")}) {
    std::string value;
    for (const auto& [of, words] : {std::pair(".all.current", TEXT_MARK("now")),
                                    std::pair(".all.peak", TEXT_MARK("at most"))})
      if (const auto s = find(std::string(name) + of); s != all.end() && s->value >= 0)
        value += fmt::format("{}{} {}", value.empty() ? "" : ", ",
                             run::FormatBytes(static_cast<uint64_t>(s->value)), i18n::Text(words));
    if (!value.empty()) text += Line(what, value);
  }
  for (const auto& [what, name] :
       {std::pair(TEXT_MARK("segments"), "segment.all.current"),
        std::pair(TEXT_MARK("retries"), "num_alloc_retries"), std::pair("oom", "num_ooms"),
        std::pair("cudaMalloc", "num_device_alloc"), std::pair("cudaFree", "num_device_free")})
    if (const auto s = find(name); s != all.end()) text += Line(what, fmt::format("{}", s->value));
  return text +
         Line(TEXT_MARK("figures"), i18n::Format("{} in all; --json lists them", all.size()));
}

// `part` is true if only a part of the file was read.
std::string InfoText(const std::string& file, const std::shared_ptr<const trace::Trace>& whole,
                     bool part) {
  const trace::Trace& trace = *whole;
  const bool imported = trace.info.backend == trace::Backend::kImported;
  std::string text =
      imported
          ? fmt::format("{}: {}\n", Printable(DisplayName(file)), SourceText(trace.info.source))
          : i18n::Format(
                "{}: a trace of the {} backend ({}), written by {}\n", Printable(DisplayName(file)),
                trace::Name(trace.info.backend),
                i18n::Text(trace.info.measured ? TEXT_MARK("measured") : TEXT_MARK("modelled")),
                trace.info.producer.empty() ? i18n::Text("an unknown program")
                                            : Printable(trace.info.producer));
  const auto line = [&](std::string_view what, const std::string& value) {
    text += Line(what, value);
  };
  if (!trace.info.model.name.empty()) {
    line(TEXT_MARK("model"),
         i18n::Format("{}, {} parameters ({} trainable), {}", trace.info.model.name,
                      Count(trace.info.model.parameter_count),
                      Count(trace.info.model.trainable_count),
                      run::FormatBytes(trace.info.model.parameter_bytes)));
  }
  if (trace.info.device.memory_bytes > 0) {
    line(TEXT_MARK("device"), fmt::format("{}, {}", trace.info.device.name,
                                          run::FormatBytes(trace.info.device.memory_bytes)));
  } else {
    line(TEXT_MARK("devices"), fmt::format("{}", fmt::join(DeviceNames(trace), ", ")));
  }
  if (trace::SizesAreOfBlocks(trace))
    line(TEXT_MARK("sizes"),
         i18n::Text(
             "sizes of blocks (multiples of 512 bytes), because requested sizes are not recorded"));
  if (trace::SegmentRecordOf(trace) == trace::SegmentRecord::kTotalOnly)
    line(TEXT_MARK("reserved"), i18n::Text("only the total is recorded, without the segments"));
  if (!trace.info.alloc_conf.empty()) line(TEXT_MARK("allocator"), trace.info.alloc_conf);
  const bool state = trace.info.content == trace::Content::kState;
  if (state)
    line(TEXT_MARK("content"),
         trace.info.statistics.empty()
             ? i18n::Text("the memory at one point in time, without a history")
             : i18n::Text("statistics at one point in time, without blocks"));
  else if (trace.info.has_times)
    line(TEXT_MARK("time"), Milliseconds(static_cast<double>(trace::LengthNs(trace)) / 1e6));
  else
    line(TEXT_MARK("time"), i18n::Text("not recorded; entry numbers are shown instead"));
  if (!trace.info.statistics.empty()) return text + StatisticsText(trace) + NotesText(trace);
  line(TEXT_MARK("events"),
       i18n::Format("{} ({} allocations, {} segments, {} ranges)", Count(trace.events.size()),
                    Count(trace.allocations.size()), Count(trace::RecordedSegments(trace)),
                    Count(trace.slices.size())));
  if (imported) {
    const size_t streams = CountStreams(trace);
    line(TEXT_MARK("recorded"),
         i18n::Format("{} entries, {} stream{}, {} different stacks; {} older than the recording",
                      Count(CountEntries(trace)), streams, streams == 1 ? "" : "s",
                      Count(trace.stacks.size() - 1),
                      CountOlder(trace) == 1
                          ? i18n::Text("1 block is")
                          : i18n::Format("{} blocks are", Count(CountOlder(trace)))));
  }
  if (trace.activities.size() > 0) line(TEXT_MARK("work"), WorkText(trace));
  const analysis::HostMemory host = analysis::HostMemoryOf(trace);
  if (host.peak > 0)
    line(TEXT_MARK("host memory"),
         i18n::Format("at most {} of pinned and managed memory", run::FormatBytes(host.peak)) +
             (host.sites.empty() ? std::string() : "; " + LargestText(host)));
  if (part && host.recorded)
    text += Prose(i18n::Text(
        "Host memory that was allocated before this part of the recording is not counted."));
  if (const size_t ranks = CountRanks(trace); ranks > 1)
    line(TEXT_MARK("ranks"), fmt::format("{}", ranks));
  for (const auto& [what, column] :
       {std::pair(TEXT_MARK("metadata"), &trace.events.user_metadata),
        std::pair(TEXT_MARK("compiled"), &trace.events.compile_context)})
    if (const std::string values = ValuesText(trace, *column); !values.empty()) line(what, values);
  if (!state) line(TEXT_MARK("steps"), fmt::format("{}", CountSteps(trace)));
  const std::vector<analysis::DevicePeak> peaks = analysis::PeakOfEachDevice(whole);
  if (peaks.empty()) line(TEXT_MARK("peak"), i18n::Text("nothing was allocated"));
  const std::string_view held = state ? TEXT_MARK("memory") : TEXT_MARK("peak");
  for (const analysis::DevicePeak& of : peaks)
    line(peaks.size() > 1
             ? fmt::format("{} {}", i18n::Text(held), trace::NameOfDevice(trace, of.device))
             : std::string(held),
         PeakText(*trace::OfDevice(whole, of.device), of.peak));
  text += NotesText(trace);
  if (const std::string counters = CountersText(trace); !counters.empty()) text += "\n" + counters;
  for (const GpuAtPeak& gpu : GpusAtPeak(whole, peaks))
    text += "\n" +
            (peaks.size() > 1
                 ? Line(trace::NameOfDevice(trace, gpu.memory.device), i18n::Text("at its peak"))
                 : std::string()) +
            DeviceMemoryText(gpu.memory);
  const std::map<uint8_t, RuleUse> rules = RulesOf(trace);
  if (rules.empty()) return text;
  Table table({{i18n::Text("Inference rule"), Table::kLeft, true},
               {i18n::Text("Allocations"), Table::kRight},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Changes"), Table::kRight},
               {i18n::Text("Phases"), Table::kRight},
               {i18n::Text("Steps"), Table::kRight}});
  const auto number = [](uint64_t n) { return n == 0 ? std::string("-") : Count(n); };
  for (const auto& [rule, use] : rules) {
    table.Row({RuleText(rule), number(use.allocations),
               use.bytes == 0 ? "-" : run::FormatBytes(use.bytes), number(use.retags),
               number(use.phases), number(use.steps)});
  }
  return text + "\n" + table.Text();
}

// Shows the figures in the header and the footer of a file without reading the rest of the file.
ExitCode ShowOutline(const std::string& file, bool json) {
  const auto read = trace::ReadOutline(file);
  if (!read.ok()) return ReportError(read.status());
  const trace::Outline& o = *read;
  if (json) {
    Json out = {{"kind", "outline"},
                {"file_bytes", o.file_bytes},
                {"events", o.events},
                {"activities", o.activities},
                {"allocations", o.allocations},
                {"slices", o.slices},
                {"time_span_ns", o.info.has_times ? Json(o.end_ns() - o.begin_ns()) : Json()},
                {"peak", {{"allocated", o.peak_allocated()}, {"reserved", o.peak_reserved()}}},
                {"truncated", !o.complete},
                {"end_message", o.end_message},
                {"backend", std::string(trace::Name(o.info.backend))},
                {"measured", o.info.measured},
                {"title", o.info.title},
                {"batches", Json::array()}};
    for (const trace::Outline::Batch& b : o.batches)
      out["batches"].push_back({{"begin_ns", b.begin_ns},
                                {"end_ns", b.end_ns},
                                {"events", b.events},
                                {"peak_allocated", b.peak_allocated},
                                {"peak_reserved", b.peak_reserved}});
    return PrintJson(out);
  }
  std::string text =
      i18n::Format("{}: a trace of the {} backend ({}); only its index was read\n", Printable(file),
                   trace::Name(o.info.backend),
                   i18n::Text(o.info.measured ? TEXT_MARK("measured") : TEXT_MARK("modelled")));
  text +=
      Line(TEXT_MARK("file"), i18n::Format("{}, {} batches", run::FormatBytes(o.file_bytes),
                                           Count(o.batches.size() + o.activity_batches.size())));
  text += Line(TEXT_MARK("events"),
               i18n::Format("{} ({} allocations, {} ranges), {} activities", Count(o.events),
                            Count(o.allocations), Count(o.slices), Count(o.activities)));
  if (o.info.has_times)
    text +=
        Line(TEXT_MARK("time"), Milliseconds(static_cast<double>(o.end_ns() - o.begin_ns()) / 1e6));
  text += Line(TEXT_MARK("peak"), i18n::Format("{} allocated, {} reserved (all devices together)",
                                               run::FormatBytes(o.peak_allocated()),
                                               run::FormatBytes(o.peak_reserved())));
  text += Line(TEXT_MARK("complete"),
               o.complete ? i18n::Text("yes")
                          : i18n::Text("no") +
                                (o.end_message.empty() ? "" : ": " + i18n::Shown(o.end_message)));
  return PrintText(text);
}

}  // namespace

ExitCode ShowInfo(const std::string& file, bool json, const RangeOptions& range) {
  const auto trace = OpenAnything(file, range);
  if (!trace.ok()) return ReportError(trace.status());
  const bool part = !range.entries.empty() || !range.time.empty();
  return json ? PrintJson(InfoJson(*trace)) : PrintText(InfoText(file, *trace, part));
}

namespace {

void DeclareInfo(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  CLI::Option* outline = command->add_flag(
      "--outline", options->outline,
      "for a .trace: print only its header and index, which is fast for any size");
  for (const char* part : {"--device", "--entries", "--time"})
    outline->excludes(command->get_option(part));
  command->callback([options, &context] {
    context.exit_code = options->outline ? ShowOutline(options->file, options->json)
                                         : ShowInfo(options->file, options->json, options->range);
  });
}

}  // namespace

CommandEntry DeclareCommand_info() {
  return {.place = 40,
          .name = "info",
          .help = "show what a file contains",
          .example = "info snapshot.pickle.zst --time 1s:2.5s",
          .declare = DeclareInfo};
}

}  // namespace vramscope::cli
