#include "profiler/program/program.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/driver_memory.h"
#include "profiler/program/folder_entries.h"
#include "profiler/program/history.h"
#include "profiler/program/labels.h"
#include "profiler/program/marks.h"
#include "profiler/program/operand_blocks.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/event_sink.h"
#include "profiler/trace/input.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"

namespace vramscope::program {
namespace {

using nlohmann::json;
using recording::Recording;

constexpr size_t kMaxProcesses = 4096;
constexpr size_t kMaxAboutBytes = size_t{4} << 20;
constexpr size_t kMaxAssumptions = 10'000;
constexpr size_t kMaxText = 4096;
constexpr size_t kMaxSources = 2000, kMaxPath = 4096;

// Returns "" if the value is missing or is not a string.
std::string TextOf(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return "";
  return it->get<std::string>().substr(0, kMaxText);
}
uint64_t NumberOf(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_unsigned()) return 0;
  return it->get<uint64_t>();
}

void Assumptions(const json& object, std::vector<run::Assumption>& out) {
  const auto it = object.find("assumptions");
  if (it == object.end() || !it->is_array()) return;
  for (const json& row : *it) {
    if (!row.is_object() || TextOf(row, "what").empty() || out.size() == kMaxAssumptions) continue;
    out.push_back({TextOf(row, "what"), TextOf(row, "where"), NumberOf(row, "bytes")});
  }
}

// Deeply nested JSON can be parsed safely, but not walked or freed.
bool TooDeep(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > 64;
}

// Adds one process's events to a trace, marked with the process.
class Sink final : public trace::EventSink {
 public:
  Sink(const ReadOptions& options, const run::DeviceProfile& device, const About& about,
       bool from_nothing)
      : options_(options), device_(device), about_(about), from_nothing_(from_nothing) {}

  void Begin(const trace::TraceInfo& info) override {
    trace::TraceInfo whose = info;
    whose.backend = options_.planned ? trace::Backend::kPlan : trace::Backend::kCuda;
    whose.measured = !options_.planned;
    whose.title = options_.title;
    whose.device = device_;
    whose.model = about_.model;
    if (about_.virtual_clock) whose.start_unix_ns = 0;
    if (!about_.torch.empty())
      whose.source = fmt::format("PyTorch {}, Python {}", about_.torch, about_.python);
    builder_.SetInfo(std::move(whose));
  }
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] == trace::kMarkerRecordingBegin)
        recording_begin_ = first_id + static_cast<uint32_t>(i);
    next_string_ = first_id + static_cast<uint32_t>(values.size());
    Note(builder_.AddStrings(first_id, values));
  }
  void Stacks(const trace::StackIncrement& increment) override {
    Note(builder_.AddStacks(increment));
  }
  void Events(std::span<const trace::Event> events) override {
    if (!status_.ok() || events.empty()) return;
    last_time_ = events.back().time_ns;
    for (const trace::Event& event : events) {
      modules_.See(event);
      if (event.kind == trace::EventKind::kAlloc) made_.push_back(event.time_ns);
    }
    // Drops the marker of the recording's begin if recording began together with the program.
    const auto marker = std::find_if(events.begin(), events.end(), [&](const trace::Event& e) {
      return from_nothing_ && e.kind == trace::EventKind::kMarker &&
             e.name.value == recording_begin_;
    });
    if (marker == events.end()) return Note(builder_.AddEvents(events));
    Note(builder_.AddEvents(events.first(static_cast<size_t>(marker - events.begin()))));
    if (status_.ok()) Note(builder_.AddEvents({marker + 1, events.end()}));
  }
  void Activities(std::span<const trace::Activity> activities) override {
    if (status_.ok()) Note(builder_.AddActivities(activities));
  }
  void End(bool, std::string_view) override {}

  // Call this after the events. `origin_ns`: the trace's time 0 on the activities' clock;
  // `operands`: the result of BlocksOfOperands.
  void Place(const ActivityFile& file, const Marks& marks, const recording::Recording& recording,
             const std::vector<uint32_t>& operands, int64_t origin_ns) {
    BlockTimes blocks(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] < made_.size()) blocks[i] = made_[operands[i]];
    const PlacedActivities placed =
        PlaceActivities(file, marks, recording, modules_, blocks, origin_ns, next_string_);
    Note(builder_.AddStrings(next_string_, placed.strings));
    next_string_ += static_cast<uint32_t>(placed.strings.size());
    if (status_.ok()) Note(builder_.AddActivities(placed.rows));
    for (std::string& warning : file.Warnings()) not_shown_.push_back(std::move(warning));
  }

  std::shared_ptr<const trace::Trace> Finish(const std::vector<std::string>& warnings, bool ended) {
    Assumed();
    if (!ended) return builder_.Finish(false, TEXT_MARK("the program still runs"));
    for (const std::string& warning : warnings) builder_.AddWarning(warning);
    std::string why;
    if (!status_.ok())
      why = i18n::English("not everything could be shown: {}", std::string(status_.message()));
    else if (about_.ended.empty())
      why = TEXT_MARK("the program was killed");
    else if (about_.ended == "exception")
      why = i18n::English("the program ended with {}", about_.exception.substr(0, 400));
    if (!why.empty()) builder_.AddWarning(why);
    return builder_.Finish(why.empty(), why);
  }

 private:
  void Note(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Call it last.
  void Assumed() {
    std::vector<run::Assumption> all = about_.assumptions;
    for (const std::string& text : not_shown_) all.push_back({text, "CUPTI", 0});
    for (const run::Assumption& a : all) {
      const std::string text = trace::AssumptionMarker({a.what, a.where, a.bytes});
      trace::Event marker;
      marker.name.value = next_string_;
      marker.time_ns = last_time_;
      Note(builder_.AddStrings(next_string_++, std::span(&text, 1)));
      if (status_.ok()) Note(builder_.AddEvents(std::span(&marker, 1)));
    }
  }

  const ReadOptions& options_;
  const run::DeviceProfile& device_;
  const About& about_;
  const bool from_nothing_;
  uint32_t recording_begin_ = UINT32_MAX, next_string_ = 0;
  int64_t last_time_ = 0;
  trace::TraceBuilder builder_;
  ModuleTimes modules_;
  std::vector<int64_t> made_;           // time of each allocation of the history
  std::vector<std::string> not_shown_;  // activities that are not shown, and why
  absl::Status status_;
};

// Returns the emulated platform's report of a process, or JSON that is no object if there is none.
json PlatformReport(const std::string& path) {
  const absl::StatusOr<std::string> text = trace::ReadWholeInput(path, kMaxAboutBytes);
  return !text.ok() || TooDeep(*text) ? json() : json::parse(*text, nullptr, false);
}
run::Assumption RecognisedAssumption(const Launches& launches) {
  const double share =
      100.0 * static_cast<double>(launches.recognised) / static_cast<double>(launches.all);
  // The percentage is rounded down, so that "100.0 %" means all launches.
  const double percent = std::floor(share * 10) / 10;
  return {launches.recognised < launches.all
              ? i18n::English(trace::kLaunchesPartlyKnown, percent, launches.all)
              : i18n::English(trace::kLaunchesKnown, percent, launches.all),
          launches.most_frequent_unknown.substr(0, 200), 0};
}

void AddPlatformReport(const std::string& folder, About& about) {
  const json report = PlatformReport(fmt::format("{}/platform-{}.json", folder, about.pid));
  if (!report.is_object()) return;
  Assumptions(report, about.assumptions);
  if (const auto devices = report.find("devices"); devices != report.end() && devices->is_array())
    for (const json& device : *devices)
      if (device.is_object() && NumberOf(device, "most_used_bytes") > 0)
        about.context_bytes = std::max(about.context_bytes, NumberOf(device, "context_bytes"));
  Launches& launches = about.launches;
  launches.all = NumberOf(report, "launches");
  launches.recognised = std::min(NumberOf(report, "recognised_launches"), launches.all);
  if (const auto kernels = report.find("unrecognised"); kernels != report.end() &&
                                                        kernels->is_array() && !kernels->empty() &&
                                                        kernels->front().is_object())
    launches.most_frequent_unknown = TextOf(kernels->front(), "kernel");
  if (launches.all > 0 && report.contains("recognised_launches"))
    about.assumptions.push_back(RecognisedAssumption(launches));
  const auto add = [&](const char* key, std::string_view answered) {
    const auto lacking = report.find(key);
    if (lacking == report.end() || !lacking->is_array()) return;
    for (const json& row : *lacking)
      if (row.is_object() && about.assumptions.size() < kMaxAssumptions)
        about.assumptions.push_back({i18n::English(trace::kNotEmulated, TextOf(row, "function"),
                                                   answered, NumberOf(row, "count")),
                                     TextOf(row, "library"), 0});
  };
  add("unknown_functions", TEXT_MARK("\"not supported\""));
  add("succeeding_functions", TEXT_MARK("success without doing anything"));
}

// Returns nullopt if the process used no GPU memory.
std::optional<Unwatched> ReadUnwatched(const std::string& path) {
  const json report = PlatformReport(path);
  if (!report.is_object()) return std::nullopt;
  Unwatched process;
  process.pid = static_cast<int64_t>(std::min<uint64_t>(NumberOf(report, "pid"), INT64_MAX));
  process.launches = NumberOf(report, "launches");
  const auto devices = report.find("devices");
  if (devices == report.end() || !devices->is_array()) return std::nullopt;
  for (const json& device : *devices) {
    if (!device.is_object() || NumberOf(device, "most_used_bytes") <= process.most_used_bytes)
      continue;
    process.device = TextOf(device, "name");
    process.most_used_bytes = NumberOf(device, "most_used_bytes");
    process.memory_bytes = NumberOf(device, "memory_bytes");
    process.context_bytes = NumberOf(device, "context_bytes");
  }
  return process.most_used_bytes > 0 ? std::optional(process) : std::nullopt;
}

// Leaves out marks after the end of the history. (If a process did not end by itself, its history
// may end before its marks.)
Marks WithinHistory(const Marks& marks, const Recording& recording) {
  std::map<uint8_t, uint64_t> requests;
  const recording::EntryTable& e = recording.entries;
  for (recording::EntryIndex i = 0; i < e.size(); ++i)
    requests[e.DeviceOf(i)] += e.action[i] == recording::Action::kAlloc ||
                               e.action[i] == recording::Action::kFreeRequested;
  Marks within = marks;
  const auto behind = std::find_if(within.rows.begin(), within.rows.end(), [&](const Mark& mark) {
    return mark.requests > requests[mark.device];
  });
  within.rows.erase(behind, within.rows.end());
  return within;
}

}  // namespace

absl::StatusOr<About> ParseAbout(std::string_view text) {
  if (TooDeep(text)) return absl::DataLossError(i18n::Text("JSON nested too deeply"));
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return absl::DataLossError(i18n::Text("not a JSON object"));
  About about;
  about.pid = static_cast<int64_t>(std::min<uint64_t>(NumberOf(object, "pid"), INT64_MAX));
  about.rank = static_cast<uint32_t>(std::min<uint64_t>(NumberOf(object, "rank"), UINT32_MAX));
  about.world_size =
      static_cast<uint32_t>(std::clamp<uint64_t>(NumberOf(object, "world_size"), 1, UINT32_MAX));
  about.host = TextOf(object, "host");
  about.torch = TextOf(object, "torch");
  about.cuda = TextOf(object, "cuda");
  about.hip = TextOf(object, "hip");
  about.python = TextOf(object, "python");
  about.ended = TextOf(object, "ended");
  about.exception = TextOf(object, "exception");
  about.ended_ns =
      static_cast<int64_t>(std::min<uint64_t>(NumberOf(object, "ended_ns"), INT64_MAX));
  about.package = TextOf(object, "package");
  if (const auto it = object.find("trains"); it != object.end() && it->is_boolean())
    about.trains = it->get<bool>();
  about.virtual_clock = TextOf(object, "clock") == "virtual";
  about.begin_ns =
      static_cast<int64_t>(std::min<uint64_t>(NumberOf(object, "begin_ns"), INT64_MAX));
  if (const auto it = object.find("card"); it != object.end() && it->is_object()) {
    const auto small = [&](const char* key) {
      return static_cast<uint32_t>(std::min<uint64_t>(NumberOf(*it, key), UINT32_MAX));
    };
    about.gpu = {TextOf(*it, "name"), NumberOf(*it, "memory_bytes"), small("sm_count"),
                 small("compute_capability")};
  }
  if (const auto it = object.find("model"); it != object.end() && it->is_object()) {
    about.model.name = TextOf(*it, "name");
    about.model.parameter_count = NumberOf(*it, "parameters");
    about.model.trainable_count = NumberOf(*it, "trainable");
    about.model.parameter_bytes = NumberOf(*it, "bytes");
  }
  if (const auto it = object.find("sources"); it != object.end() && it->is_array())
    for (const json& path : *it)
      if (path.is_string() && about.sources.size() < kMaxSources)
        about.sources.push_back(path.get<std::string>().substr(0, kMaxPath));
  Assumptions(object, about.assumptions);
  if (const auto it = object.find("toggles"); it != object.end())
    about.toggles = ParseToggleReports(it->dump(-1, ' ', false, json::error_handler_t::replace));
  return about;
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> BuildTrace(
    Recording recording, const Marks& marks, const About& about, const ReadOptions& options,
    bool ended, const ActivityFile* activities, std::span<const trace::StringId> operators) {
  absl::StatusOr<recording::History> history = recording::Reconstruct(recording);
  if (!history.ok()) return history.status();
  run::DeviceProfile device = options.planned ? options.device : run::ProfileOf(about.gpu);
  if (options.planned && about.context_bytes > 0) device.context_bytes = about.context_bytes;
  recording::Labels labels;
  if (about.torch.empty() && marks.rows.empty()) {  // nothing is known about the use of the blocks
    const uint32_t rows = history->allocations.size();
    labels.category.assign(rows, trace::Category::kUnknown);
    labels.rule.assign(rows, 0);
    labels.op.assign(rows, {});
    labels.module.assign(rows, {});
  } else {
    labels = LabelsFromMarks(
        recording, *history, marks, about.virtual_clock,
        {.blas_workspace_bytes = device.blas_workspace_bytes, .operators = operators});
  }
  Sink sink(options, device, about, history->older == 0 && history->start_segments.empty());
  recording::Emit(recording, *history, labels, sink);
  std::vector<std::string> warnings = recording.warnings;
  if (activities != nullptr) {
    const int64_t origin = !about.virtual_clock || about.torch.empty() ? recording.start_unix_ns
                           : marks.rows.empty()                        ? 0
                                                                       : marks.rows.front().time_ns;
    const bool of_driver = about.torch.empty() && marks.rows.empty();
    sink.Place(*activities, marks, recording,
               BlocksOfOperands(activities->activities(), recording, *history, of_driver, origin),
               origin);
  }
  warnings.insert(warnings.end(), history->warnings.begin(), history->warnings.end());
  return sink.Finish(warnings, ended);
}

struct FolderReader::Process {
  HistoryReader history;
  MarksReader marks = {};
  ActivityFile activities = {};
  std::optional<ProcessRun> run = {};  // result for this number of entries and marks
  uint32_t entries = 0;
  size_t rows = 0;
  size_t activity_rows = 0;
};

FolderReader::FolderReader(std::string folder, ReadOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}
FolderReader::~FolderReader() = default;

absl::StatusOr<ProcessRun> FolderReader::ReadUnhooked(int64_t pid, bool ended) {
  std::unique_ptr<Process>& kept = processes_[pid];
  if (kept == nullptr) kept = std::make_unique<Process>(Process{.history = HistoryReader({})});
  Process& process = *kept;
  if (absl::Status s =
          process.activities.ReadMore(fmt::format("{}/process-{}/activities.bin", folder_, pid));
      !s.ok() && !absl::IsNotFound(s))
    return s;
  if (ended)
    if (absl::Status s =
            process.activities.ReadTail(fmt::format("{}/process-{}/activities.tail", folder_, pid));
        !s.ok() && !absl::IsNotFound(s))
      return s;
  const std::vector<trace::Activity>& rows = process.activities.activities();
  if (rows.empty()) return absl::NotFoundError("");
  if (process.run && process.activity_rows == rows.size()) return *process.run;
  process.activity_rows = rows.size();
  About about;
  about.pid = pid;
  about.ended = "end";  // how the process really ended is not known
  about.virtual_clock = process.activities.facts().virtual_clock;
  about.assumptions.push_back({TEXT_MARK("only driver calls were recorded. Without the hooks in "
                                         "Python, the purpose of the memory is unknown"),
                               "CUPTI", 0});
  if (about.virtual_clock) about.assumptions.push_back(run::HostAssumption());
  about.model.name = "a program without Python";
  AddPlatformReport(folder_, about);
  const int64_t origin =
      about.virtual_clock
          ? 0
          : std::min_element(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
              return x.begin_ns < y.begin_ns;
            })->begin_ns;
  absl::StatusOr<std::shared_ptr<const trace::Trace>> trace = BuildTrace(
      DriverMemory(process.activities, origin), {}, about, options_, ended, &process.activities);
  if (!trace.ok()) return trace.status();
  process.run = ProcessRun{about, *std::move(trace), origin};
  return *process.run;
}

absl::StatusOr<ProcessRun> FolderReader::ReadProcess(const About& about, bool ended) {
  const std::string whose = fmt::format("{}/process-{}", folder_, about.pid);
  std::unique_ptr<Process>& kept = processes_[about.pid];
  if (kept == nullptr) {
    HistoryOptions history;
    history.cancel = options_.cancel;
    if (!about.package.empty()) {
      history.own_folders.push_back(about.package);
      history.own_folders.push_back(
          (std::filesystem::path(about.package).parent_path() / "inject").string());
    }
    kept = std::make_unique<Process>(Process{.history = HistoryReader(std::move(history))});
  }
  Process& process = *kept;
  // Reads marks before the history, because no mark must lie after the history's end. While the
  // program runs, the history after the last mark thus has no labels yet.
  if (absl::Status s = process.marks.ReadMore(whose + "/marks.jsonl", ended);
      !s.ok() && !absl::IsNotFound(s))
    return s;
  // Reads again if the tail became a chunk after the chunks were read.
  absl::StatusOr<Recording> recording = absl::NotFoundError("");
  std::vector<trace::StringId> operators;
  for (bool again = true; again;) {
    if (absl::Status s = process.history.ReadMore(whose); !s.ok() && !absl::IsNotFound(s)) return s;
    const uint32_t chunks = process.history.chunks();
    recording = process.history.WithTail(whose, &operators);
    if (absl::Status s = process.history.ReadMore(whose); !s.ok() && !absl::IsNotFound(s)) return s;
    again = process.history.chunks() != chunks;
  }
  if (!recording.ok()) return recording.status();
  absl::Status watched = process.activities.ReadMore(whose + "/activities.bin");
  if (ended && (watched.ok() || absl::IsNotFound(watched)))
    if (absl::Status s = process.activities.ReadTail(whose + "/activities.tail");
        !absl::IsNotFound(s))
      watched = std::move(s);
  const bool whole = ended && !about.ended.empty();
  const Marks within = whole ? Marks() : WithinHistory(process.marks.marks(), *recording);
  const Marks& marks = whole ? process.marks.marks() : within;
  if (!ended && process.run && process.entries == recording->entries.size() &&
      process.rows == marks.rows.size() &&
      process.activity_rows == process.activities.activities().size()) {
    process.run->about = about;
    return *process.run;
  }
  if (marks.unreadable > 1)
    recording->warnings.push_back(i18n::English("{} marks could not be read", marks.unreadable));
  if (!watched.ok() && !absl::IsNotFound(watched))
    recording->warnings.push_back(std::string(watched.message()));
  process.entries = recording->entries.size();
  absl::StatusOr<std::shared_ptr<const trace::Trace>> trace =
      BuildTrace(*std::move(recording), marks, about, options_, ended,
                 absl::IsNotFound(watched) ? nullptr : &process.activities, operators);
  if (!trace.ok()) return trace.status();
  ProcessRun run{about, *std::move(trace)};
  // With a virtual clock, time 0 of the trace is the first mark.
  run.begin_ns = !about.virtual_clock ? run.trace->info.start_unix_ns
                 : marks.rows.empty() ? 0
                                      : marks.rows.front().time_ns;
  process.run = run;
  process.rows = marks.rows.size();
  process.activity_rows = process.activities.activities().size();
  return run;
}

absl::StatusOr<Program> FolderReader::Read(bool ended) {
  Program program;
  std::vector<std::string> paths, platforms;
  std::set<int64_t> folders;
  const auto visit = [&](const std::filesystem::directory_entry& entry) {
    if (std::max({paths.size(), platforms.size(), folders.size()}) >= kMaxProcesses) return;
    const std::string name = entry.path().filename().string();
    if (name.starts_with("process-") && name.ends_with(".json")) paths.push_back(entry.path());
    if (name.starts_with("platform-") && name.ends_with(".json")) platforms.push_back(entry.path());
    int64_t pid = 0;
    if (name.starts_with("process-") && absl::SimpleAtoi(name.substr(8), &pid)) folders.insert(pid);
  };
  if (const std::error_code error = ForEachEntry(folder_, visit); error)
    return absl::NotFoundError(fmt::format("'{}': {}", folder_, error.message()));
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text = trace::ReadWholeInput(path, kMaxAboutBytes);
    absl::StatusOr<About> about = text.ok() ? ParseAbout(*text) : text.status();
    if (!about.ok()) {
      program.warnings.push_back(
          fmt::format("'{}': {}", path, std::string(about.status().message())));
      continue;
    }
    AddPlatformReport(folder_, *about);
    program.processes.push_back(*std::move(about));
  }
  std::stable_sort(program.processes.begin(), program.processes.end(),
                   [](const About& x, const About& y) {
                     return std::tie(x.rank, x.pid) < std::tie(y.rank, y.pid);
                   });
  for (const About& about : program.processes) {
    absl::StatusOr<ProcessRun> run = ReadProcess(about, ended);
    if (absl::IsNotFound(run.status())) continue;  // the process did not use CUDA
    if (absl::IsCancelled(run.status())) return run.status();
    if (!run.ok()) {
      program.warnings.push_back(
          i18n::English("process {}: {}", about.pid, std::string(run.status().message())));
      continue;
    }
    program.runs.push_back(*std::move(run));
  }
  const auto is_of = [](int64_t pid, const auto& list, const auto& pid_of) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& one) { return pid_of(one) == pid; });
  };
  const auto of_about = [](const About& about) { return about.pid; };
  for (const int64_t pid : folders) {
    if (is_of(pid, program.processes, of_about)) continue;
    absl::StatusOr<ProcessRun> run = ReadUnhooked(pid, ended);
    if (run.ok())
      program.runs.push_back(*std::move(run));
    else if (!absl::IsNotFound(run.status()))
      program.warnings.push_back(
          i18n::English("process {}: {}", pid, std::string(run.status().message())));
  }
  // Leaves out processes that torch.compile starts: they query the GPU, but use no memory.
  const auto idle = [](const ProcessRun& run) {
    return run.trace->allocations.size() == 0 && run.trace->activities.size() == 0;
  };
  if (ended) {
    std::set<uint32_t> ranks;
    for (const ProcessRun& run : program.runs)
      if (!idle(run)) ranks.insert(run.about.rank);
    std::erase_if(program.runs, [&](const ProcessRun& run) {
      return idle(run) && ranks.contains(run.about.rank);
    });
  }
  const absl::StatusOr<std::string> python =
      trace::ReadWholeInput(folder_ + "/python.json", kMaxAboutBytes);
  if (program.python = python.ok(); program.python && !TooDeep(*python))
    program.python_failure = TextOf(json::parse(*python, nullptr, false), "failure");
  std::sort(platforms.begin(), platforms.end());
  for (const std::string& path : platforms) {
    std::optional<Unwatched> process = ReadUnwatched(path);
    if (process && !is_of(process->pid, program.processes, of_about) &&
        !is_of(process->pid, program.runs, [](const ProcessRun& run) { return run.about.pid; }))
      program.unwatched.push_back(*std::move(process));
  }
  return program;
}

const About* FirstFailure(const Program& program) {
  const About* first = nullptr;
  for (const About& about : program.processes)
    if ((about.ended == "enough" || !about.exception.empty()) &&
        (first == nullptr || about.ended_ns < first->ended_ns))
      first = &about;
  return first == nullptr || first->exception.empty() ? nullptr : first;
}

absl::StatusOr<Program> ReadProgram(const std::string& folder, const ReadOptions& options) {
  return FolderReader(folder, options).Read(true);
}

std::shared_ptr<const trace::Trace> JoinRuns(Program& program) {
  constexpr size_t kMostDevices = 256;  // as many as a trace can have
  std::map<uint32_t, int> of_rank;
  for (const ProcessRun& run : program.runs) ++of_rank[run.about.rank];
  std::vector<trace::ProcessTrace> parts;
  size_t devices = 0, left_out = 0;
  for (ProcessRun& run : program.runs) {
    const size_t more = trace::DevicesOf(*run.trace).size();
    if (devices + more > kMostDevices) {
      ++left_out;
      continue;
    }
    run.first_device = static_cast<uint8_t>(devices);
    devices += more;
    std::string name = fmt::format("rank {}", run.about.rank);
    if (of_rank[run.about.rank] > 1) name += fmt::format(", process {}", run.about.pid);
    parts.push_back({std::move(name), run.trace, run.begin_ns, run.about.host});
  }
  if (left_out > 0)
    program.warnings.push_back(
        left_out == 1 ? i18n::English("{} process is left out, because a trace has at most {} "
                                      "devices. To run only one of the ranks, use --as-rank",
                                      left_out, kMostDevices)
                      : i18n::English("{} processes are left out, because a trace has at most {} "
                                      "devices. To run only one of the ranks, use --as-rank",
                                      left_out, kMostDevices));
  absl::StatusOr<std::shared_ptr<const trace::Trace>> whole = trace::JoinProcesses(parts);
  if (whole.ok() && trace::ProcessesOf(**whole).empty())  // only one device has memory
    for (ProcessRun& run : program.runs) run.first_device = trace::OnlyDevice(**whole);
  if (whole.ok()) return *std::move(whole);
  if (!parts.empty()) program.warnings.emplace_back(whole.status().message());
  return parts.empty() ? nullptr : parts.front().trace;
}

}  // namespace vramscope::program
