// Reads inputs as docs/commands.md describes them: a path, or `-` for standard input. Data that is
// compressed (.gz or .zst) is unpacked. Errors name the input, and their codes determine the exit
// status.
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

// Returns the error with the input's name in front of its message, unless the message already
// contains the name.
absl::Status Named(const std::string& path, const absl::Status& status);

// Returns the event with this number (the value of --event), or kOutOfRange if the trace has no
// such event.
absl::StatusOr<trace::EventIndex> EventNumbered(const trace::Trace& trace, int64_t number);
// Adds the option --event N. If it is not given, `number` stays unchanged.
CLI::Option* AddEvent(CLI::App& command, int64_t& number);

// Returns the last event at or before a time of the trace. If the time is before or after the
// trace, returns its first or last event, and prints a note on stderr. kInvalidArgument: the trace
// has no times.
absl::StatusOr<trace::EventIndex> EventAt(const trace::Trace& trace, int64_t time_ns);

// Options that select the part of a file to read: --device N, --time A:B and, for a recording that
// is not a `.trace`, --entries A:B. The values are checked when the command line is parsed.
struct RangeOptions {
  int device = -1;
  std::string entries, time;
};
void AddRangeOptions(CLI::App& command, RangeOptions& options);
void AddDevice(CLI::App& command, RangeOptions& options);  // only --device N
void AddPart(CLI::App& command, RangeOptions& options);    // only --entries and --time

// Opens a file of any supported format: a `.trace`, a CUDA memory snapshot, or Kineto's Chrome
// JSON. Shows a progress bar for a long file, and prints warnings on stderr. For an unsupported
// file, the error names the format that the file seems to have.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path,
                                                              const RangeOptions& range = {});
// As above, but also opens files that contain only statistics (torch.cuda.memory_stats()) and no
// blocks. OpenTrace() refuses these.
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
  // Returns the file with this key, or null if it was not opened yet. The key combines the file's
  // path with the range that was read.
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

struct ShownDevice {
  std::shared_ptr<const trace::Trace> trace;  // of the device to show
  std::optional<uint8_t> of_several;          // this device; nullopt: the file has no other device
};
// Returns a trace of one device unchanged. Of a trace of several devices, returns the part of the
// device that analysis::DeviceToShow selects, and prints a note on stderr.
ShownDevice DeviceToShow(std::shared_ptr<const trace::Trace> trace);
// Selects the same trace as DeviceToShow(), but prints no note.
std::shared_ptr<const trace::Trace> ShownOf(std::shared_ptr<const trace::Trace> trace);
// OpenTrace(), followed by DeviceToShow().
absl::StatusOr<ShownDevice> OpenOneDevice(const std::string& path, const RangeOptions& range);

// Returns the allocations and frees of one step of a file that OpenTrace() opens, or all rows of a
// CSV. `step` < 0 selects the last complete step. If a recording has no complete step, `step` < 0
// selects the whole recording.
absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step);

void AddTop(CLI::App& command, size_t& top);  // --top N: maximum number of rows of a table

inline constexpr char kFileHelp[] =
    TEXT_MARK("a .trace, CUDA memory snapshot or Kineto trace ('-': standard input)");

}  // namespace vramscope::cli
