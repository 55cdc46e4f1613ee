#include "profiler/program/marks.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <utility>

namespace vramscope::program {
namespace {

constexpr std::string_view kKinds = "XFfMmBbGOoZzDdPpWwLlAaCctksreE";
constexpr size_t kMaxName = 16'384;  // bytes as written
constexpr size_t kPiece = size_t{1} << 20;

// Takes one line apart, from the front. Every step says whether it succeeded.
class Line {
 public:
  explicit Line(std::string_view rest) : rest_(rest) {}

  bool Take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  bool Kind(char& kind) {
    if (rest_.size() < 3 || rest_[0] != '"' || rest_[2] != '"') return false;
    kind = rest_[1];
    rest_.remove_prefix(3);
    return true;
  }
  // Whole numbers down to -1, which becomes the largest one.
  bool Number(uint64_t& number) {
    if (Take("-1")) {
      number = UINT64_MAX;
      return true;
    }
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool Text(std::string& text) {
    if (!Take("\"")) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\') rest_.remove_prefix(1);
      if (rest_.empty() || text.size() == kMaxName) return false;
      text.push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
    return Take("\"");
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool ParseLine(std::string_view text, Marks& marks) {
  Line line(text);
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
          fmt::format("more than {} marks or {} names", kMaxMarks, kMaxNames));
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
  if (!file) return absl::NotFoundError("the program left no marks");
  file.seekg(static_cast<std::streamoff>(read_));
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    const auto got = static_cast<size_t>(file.gcount());
    read_ += got;
    if (read_ > kMaxMarksBytes)
      return absl::ResourceExhaustedError(
          fmt::format("the marks have more than {} bytes", kMaxMarksBytes));
    rest_.append(piece, 0, got);
    const size_t whole = rest_.rfind('\n') + 1;  // 0: none
    if (absl::Status s = Append(std::string_view(rest_).substr(0, whole), marks_); !s.ok())
      return s;
    rest_.erase(0, whole);
  }
  if (!ended || rest_.empty()) return absl::OkStatus();
  return Append(std::exchange(rest_, {}), marks_);
}

}  // namespace vramscope::program
