#include "profiler/program/history_stacks.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/text_line.h"

namespace vramscope::program {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr size_t kMostFrames = size_t{1} << 24;  // limit for the sum over all stacks
constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

trace::StringId HistoryStacks::Text(std::string text) {
  if (text.empty()) return {};
  const auto [it, added] = ids_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
  if (added) strings_.push_back(std::move(text));
  return trace::StringId{it->second};
}

bool HistoryStacks::Take(std::string_view text) {
  TextLine line(text);
  char kind = 0;
  uint64_t number = 0;
  if (!line.Take("[") || !line.Kind(kind) || !line.Take(",") || !line.Number(number)) return false;
  if (kind == 'f') {
    std::string function, file;
    uint64_t at = 0;
    if (number != stacks_.frame_count() || !line.Take(",") || !line.Text(function) ||
        !line.Take(",") || !line.Text(file) || !line.Take(",") || !line.Number(at) ||
        at > UINT32_MAX || !line.Take("]") || !line.AtEnd())
      return false;
    stacks_.function.push_back(Text(std::move(function)));
    stacks_.file.push_back(Text(std::move(file)));
    stacks_.line.push_back(static_cast<uint32_t>(at));
    return true;
  }
  if (kind == 'o') {
    std::string name;
    if (number != operators_.size() || number > UINT16_MAX || !line.Take(",") || !line.Text(name) ||
        !line.Take("]") || !line.AtEnd())
      return false;
    operators_.push_back(Text(std::move(name)));
    return true;
  }
  if (kind != 's' || number != stacks_.size()) return false;
  const size_t before = stacks_.frames.size();
  while (line.Take(",")) {
    uint64_t frame = 0;
    if (!line.Number(frame) || frame >= stacks_.frame_count()) break;
    stacks_.frames.push_back(static_cast<uint32_t>(frame));
  }
  if (!line.Take("]") || !line.AtEnd()) {
    stacks_.frames.resize(before);
    return false;
  }
  stacks_.first.push_back(static_cast<uint32_t>(stacks_.frames.size()));
  return true;
}

absl::Status HistoryStacks::ReadMore(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || damaged_) return absl::OkStatus();
  file.seekg(static_cast<std::streamoff>(read_));
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    const auto got = static_cast<size_t>(file.gcount());
    read_ += got;
    rest_.append(piece, 0, got);
    size_t taken = 0;
    for (size_t end = 0; (end = rest_.find('\n', taken)) != std::string::npos; taken = end + 1) {
      damaged_ = !Take(std::string_view(rest_).substr(taken, end - taken));
      if (damaged_) return absl::OkStatus();
    }
    rest_.erase(0, taken);
    if (read_ > kMostBytes || stacks_.frames.size() > kMostFrames ||
        stacks_.frame_count() > kMostFrames)
      return absl::ResourceExhaustedError(i18n::Format(
          "the call stacks have more than {} bytes or {} frames", kMostBytes, kMostFrames));
  }
  return absl::OkStatus();
}

}  // namespace vramscope::program
