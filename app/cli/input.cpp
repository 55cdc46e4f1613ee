#include "app/cli/input.h"

#include <fmt/format.h>

#include <array>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "profiler/run/units.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/input.h"
#include "profiler/trace/reader.h"

namespace vramscope::cli {
namespace {

constexpr size_t kMaxCsv = size_t{4} << 30;

// With the input's name in front, where the message does not have it.
absl::Status Named(const std::string& path, const absl::Status& status) {
  std::string message(status.message());
  if (message.find(DisplayName(path)) == std::string::npos) {
    message = DisplayName(path) + ": " + message;
  }
  return absl::Status(status.code(), message);
}

// Whether it begins as a trace does. Not for standard input, which can be read only once.
absl::StatusOr<bool> BeginsAsTrace(const std::string& path) {
  auto stream = trace::InputStream::Open(path);
  if (!stream.ok()) return stream.status();
  std::array<char, trace::kFrameMagic.size()> head{};
  size_t have = 0;
  while (have < head.size()) {
    absl::StatusOr<size_t> got = (*stream)->Read(head.data() + have, head.size() - have);
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    have += *got;
  }
  return std::string_view(head.data(), have) == trace::kFrameMagic;
}

}  // namespace

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

absl::StatusOr<std::string> ReadText(const std::string& path, size_t most) {
  absl::StatusOr<std::string> text = trace::ReadWholeInput(path, most);
  if (text.ok()) return text;
  if (absl::IsResourceExhausted(text.status())) {
    return absl::InvalidArgumentError(
        fmt::format("{}: more than {}, which is the most for this input", DisplayName(path),
                    run::FormatBytes(most)));
  }
  return Named(path, text.status());
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path) {
  ProgressBar bar(true);
  trace::ReadOptions options;
  options.progress = [&](double fraction) { bar.Show(fraction, "reading " + DisplayName(path)); };
  auto trace = trace::ReadTraceFile(path, options);
  bar.Clear();
  if (!trace.ok()) {
    absl::Status status = Named(path, trace.status());
    if (!absl::IsInvalidArgument(status)) return status;
    return absl::InvalidArgumentError(std::string(status.message()) +
                                      " (this version reads .trace files only)");
  }
  for (const std::string& warning : (*trace)->warnings) {
    Note(fmt::format("warning: {}: {}", DisplayName(path), Printable(warning)));
  }
  return trace;
}

absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step) {
  absl::StatusOr<bool> is_trace = path == "-" ? true : BeginsAsTrace(path);
  if (!is_trace.ok()) return Named(path, is_trace.status());
  absl::StatusOr<analysis::RequestStream> stream;
  if (*is_trace) {
    auto trace = OpenTrace(path);
    if (!trace.ok()) return trace.status();
    stream = analysis::RequestsOfStep(**trace, step);
  } else {
    absl::StatusOr<std::string> text = ReadText(path, kMaxCsv);
    if (!text.ok()) return text.status();
    stream = analysis::ReadRequestsCsv(*text);
  }
  if (stream.ok()) return stream;
  return Named(path, stream.status());
}

}  // namespace vramscope::cli
