#include "app/cli/input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/time_text.h"
#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/importers/open.h"
#include "profiler/run/units.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/input.h"
#include "profiler/trace/processes.h"

namespace vramscope::cli {
namespace {

constexpr size_t kMaxCsv = size_t{4} << 30;
constexpr size_t kMostWarnings = 10;

// An input that can be read only once: its stream, and the bytes already read from it.
struct OpenInput {
  std::unique_ptr<trace::InputStream> stream;
  std::string head;
};

// Reads the first bytes of the stream. The stream does not return these bytes a second time.
absl::StatusOr<std::string> TakeHead(trace::InputStream& stream) {
  std::string head(64, '\0');
  size_t have = 0;
  while (have < head.size()) {
    absl::StatusOr<size_t> got = stream.Read(head.data() + have, head.size() - have);
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    have += *got;
  }
  head.resize(have);
  return head;
}

bool BeginsAsTrace(std::string_view head) {
  return head.starts_with(std::string_view(trace::kFrameMagic));
}

bool IsTrace(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const auto stream = trace::InputStream::Open(path);
  if (!stream.ok()) return false;
  const absl::StatusOr<std::string> head = TakeHead(**stream);
  return head.ok() && BeginsAsTrace(*head);
}

// Returns whether the text may be a CSV: it consists of lines and is not JSON.
bool BeginsAsCsv(std::string_view head) {
  if (BeginsAsTrace(head)) return false;
  return !head.empty() && std::all_of(head.begin(), head.end(), [](unsigned char c) {
    return (c >= 0x20 && c < 0x7f && c != '{' && c != '[') || c == '\n' || c == '\r' || c == '\t';
  });
}

// Parses both ends of "A:B". Either end may be missing.
template <class T, class Parse>
absl::Status ParseRange(std::string_view text, T& first, T& last, Parse parse) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return absl::InvalidArgumentError(
        i18n::Format("\"{}\" is not a range; write A:B, A: or :B", text));
  }
  for (const auto& [part, out] :
       {std::pair(text.substr(0, colon), &first), std::pair(text.substr(colon + 1), &last)}) {
    if (part.empty()) continue;
    const absl::StatusOr<T> value = parse(part);
    if (!value.ok()) return value.status();
    *out = *value;
  }
  if (first > last) {
    return absl::InvalidArgumentError(
        i18n::Format("\"{}\" ends before it begins; write the smaller value first", text));
  }
  return absl::OkStatus();
}

absl::Status SetEntries(std::string_view text, importers::OpenOptions& options) {
  return ParseRange(text, options.first_entry, options.last_entry,
                    [](std::string_view part) -> absl::StatusOr<uint64_t> {
                      const absl::StatusOr<int64_t> value = run::ParseInteger(part);
                      if (!value.ok()) return value.status();
                      if (*value < 0) {
                        return absl::InvalidArgumentError(
                            i18n::Text("an entry number is negative; entries are numbered from 0"));
                      }
                      return static_cast<uint64_t>(*value);
                    });
}

absl::Status SetTime(std::string_view text, importers::OpenOptions& options) {
  return ParseRange(text, options.from_ns, options.to_ns, ParseTime);
}

OpenedFiles* opened_files = nullptr;

}  // namespace

OpenedFiles::OpenedFiles() { opened_files = this; }
OpenedFiles::~OpenedFiles() { opened_files = nullptr; }

std::string DisplayName(const std::string& path) { return trace::DisplayName(path); }

absl::Status Named(const std::string& path, const absl::Status& status) {
  std::string message(status.message());
  if (message.find(DisplayName(path)) == std::string::npos) {
    message = DisplayName(path) + ": " + message;
  }
  return absl::Status(status.code(), message);
}

absl::StatusOr<std::string> ReadText(const std::string& path, size_t most) {
  absl::StatusOr<std::string> text = trace::ReadWholeInput(path, most);
  if (text.ok()) return text;
  if (absl::IsResourceExhausted(text.status())) {
    return absl::InvalidArgumentError(i18n::Format("{}: the input is larger than the limit of {}",
                                                   DisplayName(path), run::FormatBytes(most)));
  }
  return Named(path, text.status());
}

absl::StatusOr<trace::EventIndex> EventAt(const trace::Trace& trace, int64_t time_ns) {
  if (!trace.info.has_times)
    return absl::InvalidArgumentError(
        i18n::Text("--at: the file has no times, only the order of events; choose an event by its "
                   "number with --event"));
  if (time_ns < trace.begin_ns() || time_ns > trace.end_ns()) {
    const auto shown = [](int64_t ns) { return Milliseconds(static_cast<double>(ns) / 1e6); };
    Note(i18n::Format(
        "the trace covers {} to {}; --at {} is outside this range, so the {} of the trace is shown",
        shown(trace.begin_ns()), shown(trace.end_ns()), shown(time_ns),
        time_ns < trace.begin_ns() ? i18n::Text("beginning") : i18n::Text("end")));
  }
  return analysis::EventAtTime(trace, time_ns);
}

absl::StatusOr<trace::EventIndex> EventNumbered(const trace::Trace& trace, int64_t number) {
  if (number < static_cast<int64_t>(trace.events.size()))
    return static_cast<trace::EventIndex>(number);
  return absl::OutOfRangeError(i18n::Format("event {} does not exist: the trace has {} events",
                                            number, Count(trace.events.size())));
}

CLI::Option* AddEvent(CLI::App& command, int64_t& number) {
  return command
      .add_option("--event", number, "show the memory at this event; an alternative to --at")
      ->check(CLI::Range(int64_t{0}, int64_t{trace::kNoEvent}).description(""))
      ->type_name("N");
}

void AddPart(CLI::App& command, RangeOptions& options) {
  // If a check returns a text, CLI11 prints it and exits with the status for wrong usage.
  const auto check = [](absl::Status (*set)(std::string_view, importers::OpenOptions&)) {
    return [set](const std::string& text) {
      importers::OpenOptions unused;
      return std::string(set(text, unused).message());
    };
  };
  command
      .add_option("--entries", options.entries,
                  "for a recording: read only these entries, counted from 0; earlier "
                  "entries form the initial state")
      ->check(check(SetEntries), "")
      ->type_name("A:B");
  command
      .add_option(
          "--time", options.time,
          "like --entries, but select the entries by their time since the first entry (1s:2.5s)")
      ->check(check(SetTime), "")
      ->type_name("A:B");
}

void AddRangeOptions(CLI::App& command, RangeOptions& options) {
  AddDevice(command, options);
  AddPart(command, options);
}

void AddDevice(CLI::App& command, RangeOptions& options) {
  command
      .add_option("--device", options.device,
                  "for a file with several devices: read only the device with this number")
      ->check(CLI::Range(0, 255).description(""))
      ->type_name("N");
}

void AddTop(CLI::App& command, size_t& top) {
  command.add_option("--top", top, i18n::Format("maximum number of rows of a table ({})", top))
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}).description(""))
      ->type_name("N");
}

namespace {

// Reads `input` if it holds an open stream. Otherwise, this function opens the path.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenAny(const std::string& path,
                                                            const RangeOptions& range,
                                                            OpenInput input) {
  const std::string key = fmt::format("{} {} {} {}", range.device, range.entries, range.time, path);
  if (opened_files != nullptr)
    if (auto known = opened_files->Find(key); known != nullptr) return known;
  importers::OpenOptions options;
  if (range.device >= 0) options.device = static_cast<uint8_t>(range.device);
  if (!range.entries.empty()) {
    if (absl::Status s = SetEntries(range.entries, options); !s.ok()) return s;
  }
  if (!range.time.empty()) {
    if (absl::Status s = SetTime(range.time, options); !s.ok()) return s;
  }
  if (!range.entries.empty() && path != "-" && IsTrace(path)) {
    return absl::InvalidArgumentError(
        i18n::Format("{}: --entries is for the history entries of a snapshot; read a part of a "
                     ".trace with --time 1s:2.5s",
                     DisplayName(path)));
  }
  ProgressBar bar(true);
  options.progress = [&](double fraction) {
    bar.Show(fraction, i18n::Format("reading {}", DisplayName(path)));
  };
  absl::StatusOr<std::shared_ptr<const trace::Trace>> trace;
  try {
    trace = input.stream != nullptr
                ? importers::OpenTraceStream(std::move(input.stream), std::move(input.head), path,
                                             options)
                : importers::OpenTraceFile(path, options);
  } catch (const std::bad_alloc&) {
    trace = OutOfMemory(DisplayName(path));
  }
  bar.Clear();
  if (!trace.ok()) return Named(path, trace.status());
  const std::vector<std::string>& warnings = (*trace)->warnings;
  for (size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i) {
    Note(i18n::Format("warning: {}: {}", Printable(DisplayName(path)),
                      Printable(i18n::Shown(warnings[i]))));
  }
  if (warnings.size() > kMostWarnings) {
    Note(i18n::Format("warning: {}: {} more warnings (info --json has them all)",
                      Printable(DisplayName(path)), warnings.size() - kMostWarnings));
  }
  if (opened_files != nullptr) opened_files->Keep(key, *trace);
  return trace;
}

// Refuses files that contain only statistics, which only `info` can show.
absl::StatusOr<std::shared_ptr<const trace::Trace>> WithBlocks(
    const std::string& path, absl::StatusOr<std::shared_ptr<const trace::Trace>> trace) {
  if (trace.ok() && !(*trace)->info.statistics.empty() && (*trace)->segments.size() == 0)
    return absl::InvalidArgumentError(
        i18n::Format("{}: the file contains only the statistics of torch.cuda.memory_stats(), "
                     "without blocks; only `vramscope info` can show these statistics",
                     DisplayName(path)));
  return trace;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path,
                                                              const RangeOptions& range) {
  return WithBlocks(path, OpenAnything(path, range));
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenAnything(const std::string& path,
                                                                 const RangeOptions& range) {
  return OpenAny(path, range, {});
}

ShownDevice DeviceToShow(std::shared_ptr<const trace::Trace> trace) {
  const std::optional<uint8_t> device = analysis::DeviceToShow(trace);
  if (!device) return {std::move(trace), {}};
  const std::string cuda = fmt::format("cuda:{}", *device);
  const std::string name = trace::NameOfDevice(*trace, *device);
  Note(i18n::Format(
      "the trace contains {} devices; only {}{} is shown. Use --device N to show another device",
      trace::DevicesOf(*trace).size(), cuda, name == cuda ? "" : " (" + Printable(name) + ")"));
  return {trace::OfDevice(trace, *device), device};
}

std::shared_ptr<const trace::Trace> ShownOf(std::shared_ptr<const trace::Trace> trace) {
  const std::optional<uint8_t> device = analysis::DeviceToShow(trace);
  return device ? trace::OfDevice(trace, *device) : trace;
}

absl::StatusOr<ShownDevice> OpenOneDevice(const std::string& path, const RangeOptions& range) {
  auto trace = OpenTrace(path, range);
  if (!trace.ok()) return trace.status();
  return DeviceToShow(*std::move(trace));
}

absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step) {
  // The input is opened only once, because a pipe cannot be read a second time.
  absl::StatusOr<std::unique_ptr<trace::InputStream>> input = trace::InputStream::Open(path);
  if (!input.ok()) return Named(path, input.status());
  absl::StatusOr<std::string> head = TakeHead(**input);
  if (!head.ok()) return Named(path, head.status());
  absl::StatusOr<analysis::RequestStream> stream;
  if (BeginsAsCsv(*head)) {
    const absl::StatusOr<std::string> text =
        trace::ReadRest(**input, *std::move(head), DisplayName(path), kMaxCsv);
    if (!text.ok()) return Named(path, text.status());
    stream = analysis::ReadRequestsCsv(*text);
  } else {
    const auto trace = WithBlocks(path, OpenAny(path, {}, {*std::move(input), *std::move(head)}));
    if (!trace.ok()) return trace.status();
    stream = analysis::RequestsOfStep(**trace, step);
    const bool recorded = (*trace)->recording_begin != trace::kNoEvent;
    if (absl::IsNotFound(stream.status()) && recorded && step < 0) {
      stream = analysis::RequestsOfStep(**trace, std::nullopt);
    }
  }
  if (stream.ok()) return stream;
  return Named(path, stream.status());
}

}  // namespace vramscope::cli
