// Inputs as the contract has them: a path or `-` for standard input, plain or .gz or .zst (the
// readers unpack). Errors name the input and fit the exit status.
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
#include "profiler/trace/trace.h"

namespace vramscope::cli {

// The path as a person reads it: `-` is "standard input".
std::string DisplayName(const std::string& path);

// The whole text. Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder, more than
// `most` bytes), kDataLoss (compressed data that is cut or damaged).
absl::StatusOr<std::string> ReadText(const std::string& path, size_t most);

// An error with the input's name in front, where the message does not have it.
absl::Status Named(const std::string& path, const absl::Status& status);

// The event of that number, as --event has it. kOutOfRange: there are not so many.
absl::StatusOr<trace::EventIndex> EventNumbered(const trace::Trace& trace, int64_t number);
CLI::Option* AddEvent(CLI::App& command, int64_t& number);  // -1: not asked for

// The event at a moment of the trace; a note on stderr when the trace does not go that far.
// kInvalidArgument: the trace has no times.
absl::StatusOr<trace::EventIndex> EventAt(const trace::Trace& trace, int64_t time_ns);

// Which part to read: --device N; of a recording also --entries A:B, --time A:B. Checked when the
// command line is parsed.
struct RangeOptions {
  int device = -1;
  std::string entries, time;
};
void AddRangeOptions(CLI::App& command, RangeOptions& options);
void AddDevice(CLI::App& command, RangeOptions& options);  // --device N alone
void AddPart(CLI::App& command, RangeOptions& options);    // --entries and --time alone

// Anything that can be looked at: a `.trace`, a CUDA memory snapshot, Kineto's Chrome JSON; with a
// progress bar for a long one. For another kind the error says what it looks like. Warnings go to
// stderr.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path,
                                                              const RangeOptions& range = {});
// Figures without blocks (torch.cuda.memory_stats()) too, which OpenTrace refuses.
absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenAnything(const std::string& path,
                                                                 const RangeOptions& range);

// While one lives, what was opened is kept and not read again: for commands that are run after
// another over one file (`selfcheck`).
class OpenedFiles {
 public:
  OpenedFiles();
  ~OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;
  void Forget() { traces_.clear(); }
  // By path and range; null: not opened yet.
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

// Where the figures of one device are asked for: all of the trace or, of several devices, the slice
// of the one that is shown (analysis::DeviceToShow), of which a note on stderr tells.
struct ShownDevice {
  std::shared_ptr<const trace::Trace> trace;
  std::optional<uint8_t> of_several;
};
ShownDevice DeviceToShow(std::shared_ptr<const trace::Trace> trace);
// The same without a note.
std::shared_ptr<const trace::Trace> ShownOf(std::shared_ptr<const trace::Trace> trace);
absl::StatusOr<ShownDevice> OpenOneDevice(const std::string& path, const RangeOptions& range);

// The request stream of a trace or recording (one step, or the last whole one when `step` < 0; of a
// recording without steps: all of it), or the whole of a CSV.
absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step);

void AddTop(CLI::App& command, size_t& top);  // --top N: rows of a table

inline constexpr char kFileHelp[] =
    "a .trace, CUDA memory snapshot or Kineto trace ('-': standard input)";

}  // namespace vramscope::cli
