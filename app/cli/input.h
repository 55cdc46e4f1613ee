// Reads inputs as docs/commands.md describes them: a path, or `-` for standard input. The data may
// be plain, .gz or .zst; the readers unpack it. Errors name the input, and their codes determine
// the exit status.
#pragma once

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/analysis/requests.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/trace.h"

namespace vramscope::cli {

// Returns the path as messages show it: `-` becomes "standard input".
std::string DisplayName(const std::string& path);

// Reads a whole text file. Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder, or
// more than `most` bytes), kDataLoss (compressed data that is truncated or damaged).
absl::StatusOr<std::string> ReadText(const std::string& path, size_t most);

// Puts the input's name in front of an error message, unless the message contains the name.
absl::Status Named(const std::string& path, const absl::Status& status);

// Returns the event with the number of --event, or kOutOfRange if the trace has fewer events.
absl::StatusOr<trace::EventIndex> EventNumbered(const trace::Trace& trace, int64_t number);
CLI::Option* AddEvent(CLI::App& command, int64_t& number);  // -1: not given

// Returns the event at a time of the trace. If the trace ends earlier, prints a note on stderr.
// kInvalidArgument: the trace has no times.
absl::StatusOr<trace::EventIndex> EventAt(const trace::Trace& trace, int64_t time_ns);

// Selects the part to read: --device N and, for a recording, also --entries A:B and --time A:B. The
// values are checked when the command line is parsed.
struct RangeOptions {
  int device = -1;
  std::string entries, time;
};
void AddRangeOptions(CLI::App& command, RangeOptions& options);
void AddDevice(CLI::App& command, RangeOptions& options);  // only --device N
void AddPart(CLI::App& command, RangeOptions& options);    // only --entries and --time

// Opens any supported file: a `.trace`, a CUDA memory snapshot, or Kineto's Chrome JSON. Shows a
// progress bar for a long file. For an unsupported file, the error names the format that it seems
// to have. Warnings go to stderr.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path,
                                                              const RangeOptions& range = {});
// Also opens files of statistics without blocks (torch.cuda.memory_stats()), unlike OpenTrace.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenAnything(const std::string& path,
                                                                 const RangeOptions& range);

// While an object of this class exists, opened files stay in memory and are not read again.
// `selfcheck` uses it to run several commands on one file.
class OpenedFiles {
 public:
  OpenedFiles();
  ~OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;
  void Forget() { traces_.clear(); }
  // Looks up a file by its path and range. Returns null if the file is not open yet.
  std::shared_ptr<const trace::Trace> Find(const std::string& key) const {
    const auto at = traces_.find(key);
    return at == traces_.end() ? nullptr : at->second;
  }
  void Keep(const std::string& key, std::shared_ptr<const trace::Trace> trace) {
    traces_.emplace(key, std::move(trace));
  }

 private:
  std::map<std::string, std::shared_ptr<const trace::Trace>> traces_;
};

// The trace of the device to show. DeviceToShow() leaves a trace of one device unchanged. If there
// are several, it selects the one that analysis::DeviceToShow returns, and prints a note on
// stderr.
struct ShownDevice {
  std::shared_ptr<const trace::Trace> trace;
  std::optional<uint8_t> of_several;
};
ShownDevice DeviceToShow(std::shared_ptr<const trace::Trace> trace);
// Selects the same trace as DeviceToShow(), but prints no note.
std::shared_ptr<const trace::Trace> ShownOf(std::shared_ptr<const trace::Trace> trace);
absl::StatusOr<ShownDevice> OpenOneDevice(const std::string& path, const RangeOptions& range);

// Returns the allocations and frees of one step of a trace or recording, or all rows of a CSV. A
// `step` < 0 selects the last complete step, or everything if there are no steps.
absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step);

void AddTop(CLI::App& command, size_t& top);  // --top N: maximum number of rows of a table

inline constexpr char kFileHelp[] =
    TEXT_MARK("a .trace, CUDA memory snapshot or Kineto trace ('-': standard input)");

}  // namespace vramscope::cli
