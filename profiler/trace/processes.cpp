#include "profiler/trace/processes.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/event_source.h"
#include "profiler/trace/one_device.h"

namespace vramscope::trace {
namespace {

constexpr std::string_view kPrefix = "process\n";
constexpr size_t kDevices = 256;
constexpr uint32_t kThreadBits = (uint32_t{1} << kProcessShift) - 1;
constexpr size_t kChunk = 4096;

// Removes and returns the first line of `text`, without the line break.
std::string TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Merges the strings and stacks of several traces and removes duplicates.
class Tables {
 public:
  Tables() {
    strings_.emplace("", 0);
    stacks_.emplace("", 0);
  }

  uint32_t String(std::string_view text) {
    const auto [it, added] = strings_.try_emplace(std::string(text), next_string_);
    if (added) {
      values_.emplace_back(text);
      ++next_string_;
    }
    return it->second;
  }

  // Returns the new id of each string of a trace.
  std::vector<uint32_t> Strings(const Trace& t) {
    std::vector<uint32_t> ids;
    ids.reserve(t.strings.size());
    for (const std::string& text : t.strings) ids.push_back(String(text));
    return ids;
  }

  std::vector<uint32_t> Stacks(const Trace& t, const std::vector<uint32_t>& strings) {
    const StackTable& from = t.stacks;
    std::vector<uint32_t> frames, ids = {0};
    for (uint32_t f = 0; f < from.frame_count(); ++f) {
      const std::tuple key(strings[from.function[f].value], strings[from.file[f].value],
                           from.line[f]);
      const auto [it, added] = frames_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
      if (added) {
        increment_.function.push_back({std::get<0>(key)});
        increment_.file.push_back({std::get<1>(key)});
        increment_.line.push_back(from.line[f]);
      }
      frames.push_back(it->second);
    }
    std::string key;
    for (uint32_t s = 1; s < from.size(); ++s) {
      key.clear();
      for (const uint32_t frame : from.Frames(StackId{s}))
        key.append(reinterpret_cast<const char*>(&frames[frame]), sizeof(uint32_t));
      const auto [it, added] = stacks_.try_emplace(key, static_cast<uint32_t>(stacks_.size()));
      if (added) {
        for (const uint32_t frame : from.Frames(StackId{s}))
          increment_.frames.push_back(frames[frame]);
        increment_.lengths.push_back(static_cast<uint32_t>(from.Frames(StackId{s}).size()));
      }
      ids.push_back(it->second);
    }
    return ids;
  }

  absl::Status AddTo(TraceBuilder& builder) const {
    if (absl::Status status = builder.AddStrings(1, values_); !status.ok()) return status;
    return builder.AddStacks(increment_);
  }

 private:
  base::HashMap<std::string, uint32_t> strings_, stacks_;
  base::HashMap<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> frames_;
  std::vector<std::string> values_;
  uint32_t next_string_ = 1;
  StackIncrement increment_;
};

// One process's trace. Next() converts its events to events of the joined trace.
struct Part {
  Part(const ProcessTrace& of, uint8_t process, int64_t shift)
      : trace(*of.trace), source(trace), process(process), shift(shift) {
    allocations.reserve(trace.allocations.size());
  }

  const Trace& trace;
  EventSource source;
  uint8_t process;
  int64_t shift;  // added to its times; not negative
  std::array<uint8_t, kDevices> device{};
  std::vector<uint32_t> strings, stacks;
  std::vector<uint32_t> allocations, segments;  // ids in the joined trace
  EventIndex next = 0;

  int64_t Time() const { return Shifted(trace.events.time_ns[next]); }
  // Limits the sum to INT64_MAX, because times and shift come from untrusted files.
  int64_t Shifted(int64_t time_ns) const { return std::min(time_ns, INT64_MAX - shift) + shift; }

  void AddActivitiesTo(std::vector<Activity>& all) const {
    AddActivitiesTo(trace.activities, all);
    AddActivitiesTo(trace.operands, all);
  }
  void AddActivitiesTo(const ActivityTable& table, std::vector<Activity>& all) const {
    for (uint32_t row = 0; row < table.size(); ++row) {
      Activity a = table.Row(row);
      a.begin_ns = Shifted(a.begin_ns);
      a.end_ns = Shifted(a.end_ns);
      if (a.kind == ActivityKind::kOperand)  // `bytes` of an operand is a time
        a.bytes = static_cast<uint64_t>(Shifted(static_cast<int64_t>(a.bytes)));
      a.device = device[a.device];
      a.thread = (a.thread & kThreadBits) | uint32_t{process} << kProcessShift;
      if (a.correlation != 0)
        a.correlation = (a.correlation & kCorrelationBits) | uint64_t{process} << kCorrelationShift;
      a.name.value = strings[a.name.value];
      a.op.value = strings[a.op.value];
      a.module.value = strings[a.module.value];
      all.push_back(a);
    }
  }

  // `allocated` and `made` count the allocations and segments in the joined trace so far.
  Event Next(uint32_t& allocated, uint32_t& made) {
    Event e = source.At(next++);
    e.time_ns = Shifted(e.time_ns);
    e.device = device[e.device];
    e.thread = (e.thread & kThreadBits) | uint32_t{process} << kProcessShift;
    e.name.value = strings[e.name.value];
    e.module.value = strings[e.module.value];
    e.stack.value = stacks[e.stack.value];
    e.user_metadata.value = strings[e.user_metadata.value];
    e.compile_context.value = strings[e.compile_context.value];
    switch (e.kind) {
      case EventKind::kAlloc:
        allocations.push_back(allocated++);
        e.id = allocations.back();
        break;
      case EventKind::kSegmentAlloc:
        segments.push_back(made++);
        e.id = segments.back();
        break;
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
      case EventKind::kRetag:
        e.id = allocations[e.id];
        break;
      case EventKind::kSegmentFree:
      case EventKind::kSegmentMap:
      case EventKind::kSegmentUnmap:
        e.id = segments[e.id];
        break;
      default:
        break;
    }
    return e;
  }
};

class Joiner {
 public:
  absl::Status Add(const ProcessTrace& of, int64_t shift) {
    const std::vector<uint8_t> devices = DevicesWithWork(*of.trace);
    if (next_device_ + devices.size() > kDevices)
      return absl::ResourceExhaustedError(i18n::Format("a trace has at most {} devices", kDevices));
    auto part = std::make_unique<Part>(of, static_cast<uint8_t>(parts_.size()), shift);
    // Events that belong to no device (markers) get the first device.
    part->device.fill(static_cast<uint8_t>(next_device_));
    part->strings = tables_.Strings(*of.trace);
    part->stacks = tables_.Stacks(*of.trace, part->strings);
    std::string_view said_name = of.name, said_host = of.host;  // one line each
    const uint32_t name = tables_.String(
        fmt::format("{}{}\n{}\n{}", kPrefix, TakeLine(said_name), TakeLine(said_host), shift));
    for (const uint8_t device : devices) {
      part->device[device] = static_cast<uint8_t>(next_device_++);
      Event marker;
      marker.name.value = name;
      marker.device = part->device[device];
      marker.thread = uint32_t{part->process} << kProcessShift;
      markers_.push_back(marker);
    }
    for (const std::string& warning : of.trace->warnings)
      warnings_.push_back(of.name + ": " + warning);
    if (!of.trace->complete && why_.empty()) why_ = of.name + ": " + of.trace->end_message;
    parts_.push_back(std::move(part));
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<const Trace>> Join() {
    builder_.SetInfo(parts_.front()->trace.info);
    if (absl::Status status = tables_.AddTo(builder_); !status.ok()) return status;
    using Next = std::pair<int64_t, size_t>;  // time, index of the part
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (size_t p = 0; p < parts_.size(); ++p)
      if (parts_[p]->trace.events.size() > 0) next.emplace(parts_[p]->Time(), p);
    std::vector<Event> chunk = std::move(markers_);
    for (Event& marker : chunk) marker.time_ns = next.top().first;
    uint32_t allocations = 0, segments = 0;
    absl::Status status;
    while (!next.empty() && status.ok()) {
      const size_t p = next.top().second;
      next.pop();
      // Takes all events that come before the next event of another process.
      Part& part = *parts_[p];
      do {
        chunk.push_back(part.Next(allocations, segments));
      } while (part.next < part.trace.events.size() &&
               (next.empty() || Next(part.Time(), p) < next.top()));
      if (part.next < part.trace.events.size()) next.emplace(part.Time(), p);
      if (chunk.size() < kChunk) continue;
      status = builder_.AddEvents(chunk);
      chunk.clear();
    }
    if (status.ok()) status = builder_.AddEvents(chunk);
    for (const auto& part : parts_) {
      std::vector<Activity> activities;
      part->AddActivitiesTo(activities);
      if (status.ok()) status = builder_.AddActivities(activities);
    }
    if (!status.ok()) return status;
    for (std::string& warning : warnings_) builder_.AddWarning(std::move(warning));
    return builder_.Finish(why_.empty(), why_);
  }

 private:
  Tables tables_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Event> markers_;
  std::vector<std::string> warnings_;
  std::string why_;
  size_t next_device_ = 0;
  TraceBuilder builder_;
};

}  // namespace

bool IsProcessMarker(std::string_view marker) { return marker.starts_with(kPrefix); }

std::vector<Process> ProcessesOf(const Trace& trace) {
  std::array<std::optional<Process>, kDevices> found;
  const OtherEventTable& a = trace.other_events;
  for (uint32_t row = 0; row < a.size(); ++row) {
    std::string_view text = trace.String(trace.events.name[a.event[row]]);
    if (trace.events.kind[a.event[row]] != EventKind::kMarker || !IsProcessMarker(text)) continue;
    std::optional<Process>& process = found[ProcessOfThread(a.thread[row])];
    if (!process) {
      text.remove_prefix(kPrefix.size());
      process = Process{.number = ProcessOfThread(a.thread[row])};
      process->name = TakeLine(text);
      process->host = TakeLine(text);
      if (!absl::SimpleAtoi(TakeLine(text), &process->clock_offset_ns))
        process->clock_offset_ns = 0;
    }
    process->devices.push_back(a.device[row]);
  }
  std::vector<Process> processes;
  for (std::optional<Process>& process : found) {
    if (!process) continue;
    std::sort(process->devices.begin(), process->devices.end());
    processes.push_back(*std::move(process));
  }
  return processes;
}

std::string NameOfDevice(const Trace& trace, uint8_t device) {
  const std::vector<Process> processes = ProcessesOf(trace);
  for (const Process& process : processes) {
    const auto at = std::find(process.devices.begin(), process.devices.end(), device);
    if (at == process.devices.end()) continue;
    const bool several_hosts =
        std::ranges::any_of(processes, [&](const Process& p) { return p.host != process.host; });
    const std::string name = several_hosts && !process.host.empty()
                                 ? fmt::format("{} ({})", process.name, process.host)
                                 : process.name;
    if (process.devices.size() == 1) return name;
    return fmt::format("{}, cuda:{}", name, at - process.devices.begin());
  }
  return fmt::format("cuda:{}", device);
}

absl::StatusOr<std::shared_ptr<const Trace>> JoinProcesses(std::span<const ProcessTrace> parts) {
  std::vector<const ProcessTrace*> with_memory;
  for (const ProcessTrace& part : parts)
    if (!DevicesOf(*part.trace).empty()) with_memory.push_back(&part);
  if (with_memory.empty() && !parts.empty()) return parts.front().trace;
  if (with_memory.empty())
    return absl::InvalidArgumentError(i18n::Text("there is no process to join"));
  if (with_memory.size() == 1) return with_memory.front()->trace;
  int64_t first = INT64_MAX;
  for (const ProcessTrace* part : with_memory) first = std::min(first, part->begin_ns);
  Joiner joiner;
  for (const ProcessTrace* part : with_memory)
    if (absl::Status status = joiner.Add(*part, part->begin_ns - first); !status.ok())
      return status;
  return joiner.Join();
}

}  // namespace vramscope::trace
