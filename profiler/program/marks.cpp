#include "profiler/program/marks.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/text_line.h"

namespace vramscope::program {
namespace {

constexpr std::string_view kKinds = "XFfMmBbGOoZzDdPpWwLlAaCctksrRNeE";
constexpr size_t kPiece = size_t{1} << 20;

bool ParseLine(std::string_view text, Marks& marks) {
  TextLine line(text);
  char kind = 0;
  if (!line.Take("[") || !line.Kind(kind)) return false;
  if (kind == 'n') {
    uint64_t number = 0;
    std::string name;
    if (!line.Take(",") || !line.Number(number) || number != marks.names.size() ||
        !line.Take(",") || !line.Text(name) || !line.Take("]") || !line.AtEnd())
      return false;
    marks.names.push_back(std::move(name));
    return true;
  }
  if (kind == 'T') {
    uint64_t thread = 0, native = 0;
    if (!line.Take(",") || !line.Number(thread) || thread >= kMaxThreads || !line.Take(",") ||
        !line.Number(native) || !line.Take("]") || !line.AtEnd())
      return false;
    if (marks.native_threads.size() <= thread) marks.native_threads.resize(thread + 1);
    marks.native_threads[thread] = native;
    return true;
  }
  if (kKinds.find(kind) == std::string_view::npos) return false;
  std::array<uint64_t, 7> numbers{};
  size_t count = 0;
  while (line.Take(",")) {
    if (count == numbers.size() || !line.Number(numbers[count++])) return false;
  }
  if (count < 4 || !line.Take("]") || !line.AtEnd()) return false;
  if (numbers[0] > UINT8_MAX || numbers[2] > INT64_MAX || numbers[3] > UINT32_MAX) return false;
  marks.threads = std::max(marks.threads, static_cast<uint32_t>(numbers[3]) + 1);
  marks.rows.push_back({.kind = static_cast<MarkKind>(kind),
                        .device = static_cast<uint8_t>(numbers[0]),
                        .thread = static_cast<uint32_t>(numbers[3]),
                        .requests = numbers[1],
                        .time_ns = static_cast<int64_t>(numbers[2]),
                        .a = numbers[4],
                        .b = numbers[5],
                        .c = numbers[6]});
  return true;
}

absl::Status Append(std::string_view text, Marks& marks) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!ParseLine(line, marks)) ++marks.unreadable;
    if (marks.rows.size() > kMaxMarks || marks.names.size() > kMaxNames)
      return absl::ResourceExhaustedError(
          i18n::Format("more than {} marks or {} names", kMaxMarks, kMaxNames));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Marks> ParseMarks(std::string_view text) {
  Marks marks;
  if (absl::Status status = Append(text, marks); !status.ok()) return status;
  return marks;
}

absl::Status MarksReader::ReadMore(const std::string& path, bool ended) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(i18n::Text("the program recorded no marks"));
  file.seekg(static_cast<std::streamoff>(read_));
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    const auto come = static_cast<size_t>(file.gcount());
    // The file is preallocated, so zeros follow the last line.
    const size_t got = std::min(std::string_view(piece).find('\0'), come);
    read_ += got;
    if (read_ > kMaxMarksBytes)
      return absl::ResourceExhaustedError(
          i18n::Format("the marks have more than {} bytes", kMaxMarksBytes));
    rest_.append(piece, 0, got);
    const size_t whole = rest_.rfind('\n') + 1;  // 0: none
    if (absl::Status s = Append(std::string_view(rest_).substr(0, whole), marks_); !s.ok())
      return s;
    rest_.erase(0, whole);
    if (got < come) break;
  }
  if (!ended || rest_.empty()) return absl::OkStatus();
  return Append(std::exchange(rest_, {}), marks_);
}

}  // namespace vramscope::program
