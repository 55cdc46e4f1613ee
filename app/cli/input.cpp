#include "app/cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/spool.h"
#include "profiler/run/units.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/reader.h"

namespace vramscope::cli {
namespace {

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

absl::StatusOr<std::string> ReadLocal(const std::string& local, const std::string& path,
                                      size_t most, bool whole) {
  std::ifstream in(local, std::ios::binary);
  if (!in) {
    const std::string text = fmt::format("{}: {}", DisplayName(path), std::strerror(errno));
    return errno == EACCES ? absl::PermissionDeniedError(text) : absl::NotFoundError(text);
  }
  std::string text;
  while (in && text.size() <= most) {
    const size_t had = text.size();
    text.resize(std::min(most + 1, had + (size_t{1} << 20)));
    in.read(text.data() + had, static_cast<std::streamsize>(text.size() - had));
    text.resize(had + static_cast<size_t>(in.gcount()));
  }
  if (whole && text.size() > most) {
    return absl::InvalidArgumentError(
        fmt::format("{}: more than {}, which is the most for this input", DisplayName(path),
                    run::FormatBytes(most)));
  }
  return text;
}

// What a file that is no trace is, in words, for the refusal.
std::string_view KindName(FileKind kind) {
  switch (kind) {
    case FileKind::kPickle:
      return "a pickle (a CUDA memory snapshot?)";
    case FileKind::kJson:
      return "a JSON file (a memory snapshot, a Chrome trace or a configuration)";
    case FileKind::kRequestsCsv:
      return "a CSV of requests";
    case FileKind::kTrace:
    case FileKind::kUnknown:
      break;
  }
  return "of an unknown kind";
}

FileKind KindOfBytes(std::string_view bytes) {
  if (bytes.substr(0, trace::kFrameMagic.size()) == trace::kFrameMagic) return FileKind::kTrace;
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return FileKind::kPickle;
  const size_t first = bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos) return FileKind::kUnknown;
  if (bytes[first] == '{' || bytes[first] == '[') return FileKind::kJson;
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const bool ours = line.find("bytes_requested") != std::string_view::npos;
  const bool snapshot = line.find("action") != std::string_view::npos;
  return ours || snapshot ? FileKind::kRequestsCsv : FileKind::kUnknown;
}

}  // namespace

absl::StatusOr<std::string> ReadText(const std::string& path, size_t most) {
  absl::StatusOr<std::string> local = LocalFile(path);
  if (!local.ok()) return local.status();
  return ReadLocal(*local, path, most, true);
}

absl::StatusOr<FileKind> KindOf(const std::string& path) {
  absl::StatusOr<std::string> local = LocalFile(path);
  if (!local.ok()) return local.status();
  absl::StatusOr<std::string> head = ReadLocal(*local, path, 1024, false);
  if (!head.ok()) return head.status();
  return KindOfBytes(*head);
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenTrace(const std::string& path) {
  absl::StatusOr<FileKind> kind = KindOf(path);
  if (!kind.ok()) return kind.status();
  if (*kind == FileKind::kPickle || *kind == FileKind::kJson || *kind == FileKind::kRequestsCsv) {
    return absl::UnimplementedError(
        fmt::format("{}: not a .trace but {}; this version reads .trace files only",
                    DisplayName(path), KindName(*kind)));
  }
  ProgressBar bar(true);
  trace::ReadOptions options;
  options.progress = [&](double fraction) { bar.Show(fraction, "reading " + DisplayName(path)); };
  auto trace = trace::ReadTraceFile(LocalFile(path).value(), options);
  bar.Clear();
  if (!trace.ok()) {
    // The reader names the file that it opened, which for an unpacked one is not what was asked
    // for.
    std::string message(trace.status().message());
    const std::string local = LocalFile(path).value();
    if (const size_t at = message.find(local); at != std::string::npos && local != path) {
      message.replace(at, local.size(), DisplayName(path));
    }
    if (message.find(DisplayName(path)) == std::string::npos) {
      message = DisplayName(path) + ": " + message;
    }
    return absl::Status(trace.status().code(), message);
  }
  for (const std::string& warning : (*trace)->warnings) {
    Note(fmt::format("warning: {}: {}", DisplayName(path), Printable(warning)));
  }
  return trace;
}

absl::StatusOr<analysis::RequestStream> OpenRequests(const std::string& path, int step) {
  absl::StatusOr<FileKind> kind = KindOf(path);
  if (!kind.ok()) return kind.status();
  if (*kind == FileKind::kRequestsCsv) {
    constexpr size_t kMaxCsv = size_t{4} << 30;
    absl::StatusOr<std::string> text = ReadText(path, kMaxCsv);
    if (!text.ok()) return text.status();
    absl::StatusOr<analysis::RequestStream> stream = analysis::ReadRequestsCsv(*text);
    if (stream.ok()) return stream;
    return absl::Status(stream.status().code(),
                        DisplayName(path) + ": " + std::string(stream.status().message()));
  }
  auto trace = OpenTrace(path);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<analysis::RequestStream> stream = analysis::RequestsOfStep(**trace, step);
  if (stream.ok()) return stream;
  return absl::Status(stream.status().code(),
                      DisplayName(path) + ": " + std::string(stream.status().message()));
}

}  // namespace vramscope::cli
