#include "profiler/exporters/chrome.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/exporters/chrome_activities.h"
#include "profiler/exporters/exporter.h"
#include "profiler/exporters/json_text.h"
#include "profiler/exporters/spans.h"
#include "profiler/trace/counters.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::exporters {
namespace {

using trace::Backend;
using trace::Category;
using trace::EventIndex;
using trace::EventKind;
using trace::kCategoryCount;

constexpr size_t kFlushAt = size_t{1} << 18;

// Process and thread numbers in the file. In Kineto's files, GPU n is process n, and the host's
// process has a larger number.
constexpr uint32_t kHostProcess = 1000;
constexpr uint32_t kFirstThread = 1001;
// Kineto's sort index places GPU processes after all CPU processes.
constexpr uint32_t kGpuSortIndex = 5000000;
// c10::DeviceType.
constexpr int kDeviceTypeCpu = 0;
constexpr int kDeviceTypeCuda = 1;

class ChromeWriter {
 public:
  ChromeWriter(const trace::Trace& trace, std::ostream& out)
      : trace_(trace),
        out_(out),
        on_cpu_(trace.info.backend == Backend::kCpu || trace.info.device.name == "cpu"),
        modelled_(!trace.info.measured && trace.info.backend == Backend::kPlan),
        begin_ns_(trace.begin_ns()),
        shown_ns_(ShownTimes(trace)),
        spans_(CollectSpans(trace, shown_ns_, modelled_)),
        at_(trace) {
    names_.reserve(trace.strings.size());
    for (const std::string& text : trace.strings) names_.push_back(CleanJsonText(text));
  }

  absl::Status Write() {
    Header();
    Metadata();
    FirstCounters();
    size_t next = 0;
    const uint32_t events = trace_.events.size();
    for (EventIndex event = 0; event < events; ++event) {
      for (; next < spans_.spans.size() && spans_.spans[next].event <= event; ++next) {
        WriteSpan(spans_.spans[next]);
      }
      WriteEvent(event);
      if (buffer_.size() >= kFlushAt) Flush();
      if (!out_) break;
    }
    for (; next < spans_.spans.size(); ++next) WriteSpan(spans_.spans[next]);
    Trailer();
    Flush();
    out_.flush();
    if (!out_)
      return absl::DataLossError(i18n::Text("cannot write the Chrome trace; is the disk full?"));
    return absl::OkStatus();
  }

 private:
  template <typename... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }
  void Flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  std::string Time(int64_t ns) const { return Microseconds(ns - begin_ns_); }
  std::string_view NameOf(trace::StringId id) const { return names_[id.value]; }
  std::string_view Source() const { return trace_.info.measured ? "measured" : "modelled"; }

  void Header() {
    const trace::TraceInfo& info = trace_.info;
    Put("{{\n  \"schemaVersion\": 1,\n");
    if (on_cpu_ || info.device.name.empty()) {
      Put("  \"deviceProperties\": [],\n");
    } else {
      const run::DeviceProfile& device = info.device;
      Put("  \"deviceProperties\": [\n"
          "    {{\"id\": 0, \"name\": \"{}\", \"totalGlobalMem\": {}, \"computeMajor\": {}, "
          "\"computeMinor\": {}, \"maxThreadsPerMultiprocessor\": {}, \"numSms\": {}}}\n  ],\n",
          CleanJsonText(device.name), device.memory_bytes, device.compute_capability / 10,
          device.compute_capability % 10, device.max_threads_per_sm, device.sm_count);
    }
    // HolisticTraceAnalysis searches for the rank by a pattern with a space after the colon.
    Put("  \"distributedInfo\": {{\"backend\": \"none\", \"rank\": 0, \"world_size\": 1}},\n");
    Put("  \"profile_memory\": 1,\n  \"with_modules\": 1,\n");
    Put("  \"vramscope\": {{\"producer\": \"{}\", \"backend\": \"{}\", \"source\": \"{}\", "
        "\"model\": \"{}\", \"complete\": {}, \"message\": \"{}\"}},\n",
        CleanJsonText(info.producer), trace::Name(info.backend), Source(),
        CleanJsonText(info.model.name), trace_.complete, CleanJsonText(trace_.end_message));
    Put("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n  \"traceEvents\": [\n",
        info.start_unix_ns + begin_ns_);
  }

  void Trailer() {
    // As in Kineto's files, no comma follows the last event.
    Put("  {{\n    \"ph\": \"i\", \"cat\": \"\", \"s\": \"g\", \"name\": \"Record Window End\", "
        "\"pid\": {}, \"tid\": {}, \"ts\": {}\n  }}\n  ],\n",
        kHostProcess, kFirstThread, Time(shown_ns_.empty() ? begin_ns_ : shown_ns_.back()));
    Put("  \"traceName\": \"{}\"\n}}\n", CleanJsonText(trace_.info.title));
  }

  // Every event is a block between a line "  {" and a line "  },", as streaming readers expect.
  void MetadataEvent(std::string_view name, uint32_t process, uint32_t thread,
                     std::string_view argument) {
    Put("  {{\n    \"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": 0.000,\n"
        "    \"args\": {{ {} }}\n  }},\n",
        name, process, thread, argument);
  }

  void Metadata() {
    const std::string device_name = CleanJsonText(trace_.info.device.name);
    MetadataEvent("process_name", kHostProcess, 0, "\"name\": \"vramscope\"");
    MetadataEvent("process_labels", kHostProcess, 0,
                  fmt::format("\"labels\": \"CPU ({})\"", Source()));
    MetadataEvent("process_sort_index", kHostProcess, 0,
                  fmt::format("\"sort_index\": {}", kHostProcess));
    for (uint32_t device = 0; !on_cpu_ && device < DeviceCount(); ++device) {
      MetadataEvent("process_name", device, 0, fmt::format("\"name\": \"GPU {}\"", device));
      MetadataEvent("process_labels", device, 0,
                    fmt::format("\"labels\": \"{} ({})\"", device_name, Source()));
      MetadataEvent("process_sort_index", device, 0,
                    fmt::format("\"sort_index\": {}", kGpuSortIndex + device));
    }
    for (uint32_t i = 0; i < spans_.tracks.size(); ++i) {
      const Track& track = spans_.tracks[i];
      std::string name = track.gpu && track.thread == kDriverTrack
                             ? "driver memory"
                             : fmt::format("{} {}", track.gpu ? "stream" : "thread", track.thread);
      if (track.overflow > 0) name += fmt::format(", overlapping {}", track.overflow);
      MetadataEvent("thread_name", ProcessOf(track), ThreadOf(i),
                    fmt::format("\"name\": \"{}\"", name));
      MetadataEvent("thread_sort_index", ProcessOf(track), ThreadOf(i),
                    fmt::format("\"sort_index\": {}", i));
    }
  }

  uint32_t DeviceCount() const {
    uint32_t count = 1;
    for (const uint8_t device : trace_.allocations.device) count = std::max(count, device + 1u);
    for (const uint8_t device : trace_.segments.device) count = std::max(count, device + 1u);
    for (const Track& track : spans_.tracks) count = std::max(count, track.device + 1u);
    return count;
  }
  static uint32_t ProcessOf(const Track& track) { return track.gpu ? track.device : kHostProcess; }
  // Thread numbers start above 0, because viewers treat thread 0 as the idle thread.
  static uint32_t ThreadOf(uint32_t track) { return kFirstThread + track; }

  void WriteSpan(const Span& span) {
    const trace::SliceTable& slices = trace_.slices;
    const Track& track = spans_.tracks[span.track];
    if (span.kind == SpanKind::kActivity) {
      activities_.Write(span.slice, {ProcessOf(track), ThreadOf(span.track)}, buffer_);
      return;
    }
    if (!track.gpu) {
      open_thread_ = ThreadOf(span.track);
      thread_of_[slices.thread[span.slice]] = open_thread_;
    }
    switch (span.kind) {
      case SpanKind::kAnnotation:
        Complete("user_annotation", span.name, span, "");
        break;
      case SpanKind::kModule:
        Complete("user_annotation", NameOf(slices.name[span.slice]), span, "\"Kind\": \"module\"");
        break;
      case SpanKind::kOp: {
        std::string args = fmt::format("\"External id\": {}", span.external_id);
        const std::string_view module = NameOf(slices.module[span.slice]);
        if (!module.empty()) args += fmt::format(", \"Module\": \"{}\"", module);
        Complete("cpu_op", NameOf(slices.name[span.slice]), span, args);
        break;
      }
      case SpanKind::kKernel:
        Kernel(span);
        break;
      case SpanKind::kActivity:
        break;
    }
  }

  void Complete(std::string_view category, std::string_view name, const Span& span,
                std::string_view args) {
    Put("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n"
        "    \"ts\": {}, \"dur\": {}",
        category, name, ProcessOf(spans_.tracks[span.track]), ThreadOf(span.track),
        Time(span.begin_ns), Microseconds(span.end_ns - span.begin_ns));
    if (!args.empty()) Put(",\n    \"args\": {{ {} }}", args);
    Put("\n  }},\n");
  }

  // Writes a modelled kernel with the times of its operator, and its launch. HolisticTraceAnalysis
  // drops a kernel if no profiler step has a launch with the same correlation.
  void Kernel(const Span& span) {
    const uint32_t host_thread = thread_of_[trace_.slices.thread[span.slice]];
    Put("  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
        "\"pid\": {}, \"tid\": {},\n    \"ts\": {}, \"dur\": 0.000,\n    \"args\": {{ \"External "
        "id\": {}, "
        "\"correlation\": {}, \"modelled\": true }}\n  }},\n",
        kHostProcess, host_thread, Time(span.begin_ns), span.external_id, span.external_id);
    Complete(
        "kernel", NameOf(trace_.slices.name[span.slice]), span,
        fmt::format("\"External id\": {0}, \"correlation\": {0}, \"device\": 0, \"stream\": {1}, "
                    "\"modelled\": true",
                    span.external_id, spans_.tracks[span.track].thread));
  }

  void Counter(int64_t ns, uint8_t device, std::string_view name, uint64_t bytes) {
    Put("  {{\n    \"ph\": \"C\", \"name\": \"{}\", \"pid\": {}, \"ts\": {},\n    \"args\": {{ "
        "\"bytes\": "
        "{} }}\n  }},\n",
        name, on_cpu_ ? kHostProcess : device, Time(ns), bytes);
  }
  void CategoryCounter(int64_t ns, uint8_t device, Category category) {
    Counter(ns, device, trace::Name(category),
            Now(device).by_category[static_cast<size_t>(category)]);
  }

  // Begins every curve with a zero, so that the first increase is visible.
  void FirstCounters() {
    std::map<uint8_t, std::array<bool, kCategoryCount>> present;
    for (uint32_t a = 0; a < trace_.allocations.size(); ++a) {
      present[trace_.allocations.device[a]]
             [static_cast<size_t>(trace_.allocations.birth_category[a])] = true;
    }
    for (uint32_t r = 0; r < trace_.retags.size(); ++r) {
      const uint32_t a = trace_.retags.allocation[r].value;
      present[trace_.allocations.device[a]][static_cast<size_t>(trace_.retags.to[r])] = true;
    }
    for (const auto& [device, categories] : present) {
      Counter(begin_ns_, device, "allocated", 0);
      if (trace_.segments.size() > 0) Counter(begin_ns_, device, "reserved", 0);
      for (int c = 0; c < kCategoryCount; ++c) {
        if (categories[c]) CategoryCounter(begin_ns_, device, static_cast<Category>(c));
      }
    }
  }

  // Returns the memory sums of one device at the current event.
  const trace::MemorySums& Now(uint8_t device) const { return at_.memory(device).sums(); }

  void MemoryInstant(EventIndex event, uint8_t device, int64_t bytes, uint64_t address,
                     Category category, const std::string& held_as) {
    const trace::MemorySums& now = Now(device);
    Put("  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
        "\"[memory]\",\n"
        "    \"pid\": {}, \"tid\": {}, \"ts\": {},\n    \"args\": {{ \"Total Reserved\": {}, "
        "\"Total "
        "Allocated\": {}, \"Bytes\": {}, \"Addr\": {}, \"Device Id\": {}, \"Device Type\": {}, "
        "\"Ev Idx\": {}, \"Category\": \"{}\"{} }}\n  }},\n",
        kHostProcess, open_thread_, Time(shown_ns_[event]), now.reserved, now.allocated, bytes,
        address, DeviceId(device), DeviceType(), event, trace::Name(category), held_as);
  }
  // PyTorch uses index -1 for the CPU.
  int DeviceId(uint8_t device) const { return on_cpu_ ? -1 : device; }
  int DeviceType() const { return on_cpu_ ? kDeviceTypeCpu : kDeviceTypeCuda; }

  void WriteEvent(EventIndex event) {
    const trace::EventTable& events = trace_.events;
    const int64_t ns = shown_ns_[event];
    const uint64_t id = events.id[event];
    const EventKind kind = events.kind[event];
    const Category before = kind == EventKind::kRetag ? at_.CategoryOf({static_cast<uint32_t>(id)})
                                                      : Category::kUnknown;
    at_.Apply();
    switch (kind) {
      case EventKind::kAlloc:
        Allocated(event, ns, static_cast<uint32_t>(id), true);
        break;
      case EventKind::kFreeCompleted:
        Allocated(event, ns, static_cast<uint32_t>(id), false);
        break;
      case EventKind::kRetag:
        if (before == events.category[event]) break;
        CategoryCounter(ns, trace_.allocations.device[id], before);
        CategoryCounter(ns, trace_.allocations.device[id], events.category[event]);
        break;
      case EventKind::kSegmentAlloc:
      case EventKind::kSegmentFree:
      case EventKind::kSegmentMap:
      case EventKind::kSegmentUnmap: {
        const uint8_t device = trace_.segments.device[id];
        Counter(ns, device, "reserved", Now(device).reserved);
        break;
      }
      case EventKind::kOutOfMemory:
        OutOfMemory(event, ns, DeviceOfActivity(event));
        break;
      case EventKind::kDeviceUsage:
        Counter(ns, DeviceOfActivity(event), "device used", events.bytes[event]);
        break;
      case EventKind::kMarker:
        if (const std::string_view counter =
                trace::CounterOfMarker(trace_.String(events.name[event]));
            !counter.empty()) {
          Counter(ns, DeviceOfActivity(event), CleanJsonText(counter) + "()", events.bytes[event]);
          break;
        }
        Put("  {{\n    \"ph\": \"i\", \"cat\": \"user_annotation\", \"s\": \"p\", \"name\": "
            "\"{}\",\n"
            "    \"pid\": {}, \"tid\": {}, \"ts\": {}\n  }},\n",
            NameOf(events.name[event]), kHostProcess, open_thread_, Time(ns));
        break;
      default:
        break;  // begins and ends become spans; a free request changes no curve
    }
  }

  void Allocated(EventIndex event, int64_t ns, uint32_t allocation, bool alive) {
    const trace::AllocationTable& table = trace_.allocations;
    const uint8_t device = table.device[allocation];
    const Category category = at_.CategoryOf({allocation});
    const auto bytes = static_cast<int64_t>(table.bytes_rounded[allocation]);
    const Category main = table.main_category[allocation];
    MemoryInstant(
        event, device, alive ? bytes : -bytes, table.address[allocation], category,
        alive && main != category ? fmt::format(", \"Held as\": \"{}\"", trace::Name(main)) : "");
    CategoryCounter(ns, device, category);
    Counter(ns, device, "allocated", Now(device).allocated);
  }

  uint8_t DeviceOfActivity(EventIndex event) {
    const trace::OtherEventTable& activities = trace_.other_events;
    while (activities.event[activity_] < event) ++activity_;
    return activities.device[activity_];
  }

  void OutOfMemory(EventIndex event, int64_t ns, uint8_t device) {
    Put("  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
        "\"[OutOfMemory]\",\n    \"pid\": {}, \"tid\": {}, \"ts\": {},\n    \"args\": {{ \"Total "
        "Reserved\": "
        "{}, \"Total Allocated\": {}, \"Bytes\": {}, \"Device Id\": {}, \"Device Type\": {} }}\n  "
        "}},\n",
        kHostProcess, open_thread_, Time(ns), Now(device).reserved, Now(device).allocated,
        trace_.events.bytes[event], DeviceId(device), DeviceType());
  }

  const trace::Trace& trace_;
  std::ostream& out_;
  const bool on_cpu_;
  const bool modelled_;
  const int64_t begin_ns_;
  const std::vector<int64_t> shown_ns_;  // indexed by event
  const Spans spans_;
  std::vector<std::string> names_;  // the trace's strings after CleanJsonText()
  const ChromeActivities activities_{trace_, names_, begin_ns_};
  trace::MemoryCursor at_;
  std::map<uint32_t, uint32_t> thread_of_;  // thread of the trace -> thread of the file
  size_t activity_ = 0;                     // next row of the activity table
  uint32_t open_thread_ = kFirstThread;     // thread of the slice that began last
  fmt::memory_buffer buffer_;
};

}  // namespace

absl::Status WriteChromeTrace(const trace::Trace& trace, std::ostream& out) {
  return ChromeWriter(trace, out).Write();
}

namespace {

absl::Status ExportChrome(const ExportRequest& request, std::ostream& out) {
  return WriteChromeTrace(*request.trace, out);
}

}  // namespace

ExporterEntry DeclareExporter_chrome() {
  return {.place = 10,
          .name = "chrome",
          .help = TEXT_MARK("Perfetto, HolisticTraceAnalysis"),
          .suffix = "json",
          .write = ExportChrome};
}

}  // namespace vramscope::exporters
