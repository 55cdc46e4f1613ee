#include "cupti/stacks.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace vramscope::cupti {
namespace {

constexpr size_t kMostStacks = size_t{1} << 20, kMostFrames = 1024;

// As PyTorch has them.
struct CapturedFrame {
  PyObject* code;
  int at;
};
struct Captured {
  void* functions;
  CapturedFrame *begin, *end;

  std::span<const CapturedFrame> frames() const {
    return {begin, std::min(static_cast<size_t>(end - begin), kMostFrames)};
  }
};

uint64_t Mix(uint64_t hash, uint64_t value) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  hash = (hash ^ value) * kOdd;
  return hash ^ (hash >> 29);
}

// As the reader takes it apart (profiler/program/text_line.h).
void AddQuoted(const char* bytes, size_t size, std::string& text) {
  constexpr size_t kLongest = 4096;
  text += '"';
  for (size_t i = 0; i < std::min(size, kLongest); ++i) {
    const char c = bytes[i];
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  text += '"';
}

bool WriteAll(int fd, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t wrote = write(fd, bytes.data() + at, bytes.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

struct Sought {
  std::span<const CapturedFrame> frames;
  uint64_t hash;
};

size_t Stacks::FrameHash::operator()(const Frame& frame) const {
  return Mix(reinterpret_cast<uintptr_t>(frame.code), static_cast<uint64_t>(frame.at));
}
size_t Stacks::Hash::operator()(const Sought& sought) const { return sought.hash; }
bool Stacks::Equal::operator()(const Sought& sought, uint32_t row) const {
  const Stack& stack = (*stacks)[row];
  return stack.hash == sought.hash && stack.count == sought.frames.size() &&
         std::equal(sought.frames.begin(), sought.frames.end(), frames->begin() + stack.first,
                    [](const CapturedFrame& a, const Frame& b) {
                      return a.code == b.code && a.at == b.at;
                    });
}

bool Stacks::Fits(const void* captured, const PyObject* code) {
  const auto* of = static_cast<const Captured*>(captured);
  const auto bytes = reinterpret_cast<uintptr_t>(of->end) - reinterpret_cast<uintptr_t>(of->begin);
  return of->begin != nullptr && of->begin < of->end && bytes % sizeof(CapturedFrame) == 0 &&
         bytes / sizeof(CapturedFrame) <= kMostFrames && of->begin->code == code;
}

uint32_t Stacks::Number(const Context& context) {
  if (context == nullptr) return 0;
  const std::span<const CapturedFrame> frames =
      static_cast<const Captured*>(context.get())->frames();
  if (frames.empty()) return 0;
  uint64_t hash = frames.size();
  for (const CapturedFrame& frame : frames)
    hash = Mix(hash, reinterpret_cast<uintptr_t>(frame.code) + static_cast<uint64_t>(frame.at));
  std::lock_guard lock(mutex_);
  if (const auto it = known_.find(Sought{frames, hash}); it != known_.end()) return *it + 1;
  if (stacks_.size() >= kMostStacks) return 0;
  const auto row = static_cast<uint32_t>(stacks_.size());
  stacks_.push_back(
      {hash, static_cast<uint32_t>(frames_.size()), static_cast<uint32_t>(frames.size())});
  for (const CapturedFrame& frame : frames) frames_.push_back({frame.code, frame.at});
  known_.insert(row);
  waiting_.push_back(context);
  return row + 1;
}

// ["f",NUMBER,"function","file",LINE]
void Stacks::AddNames(const Frame& frame, std::string& text) {
  static PyObject* const name = PythonApi::The().InternFromString("co_name");
  static PyObject* const file = PythonApi::The().InternFromString("co_filename");
  const PythonApi& py = PythonApi::The();
  text.append("[\"f\",").append(std::to_string(numbers_.size() - 1));
  for (PyObject* const of : {name, file}) {
    PyObject* const value = py.GetAttr(frame.code, of);
    std::ptrdiff_t size = 0;
    const char* const bytes = value == nullptr ? nullptr : py.AsUtf8(value, &size);
    if (bytes == nullptr) py.ErrorClear();
    text += ',';
    AddQuoted(bytes, bytes == nullptr ? 0 : static_cast<size_t>(size), text);
    if (value != nullptr) py.DecRef(value);
  }
  text.append(",").append(std::to_string(std::max(py.LineOf(frame.code, frame.at), 0)));
  text.append("]\n");
}

bool Stacks::Write(int fd) {
  std::vector<Frame> frames;
  std::vector<uint32_t> counts;
  std::vector<Context> kept;  // until their code is
  size_t first = 0;
  {
    std::lock_guard lock(mutex_);
    first = std::exchange(written_, stacks_.size());
    if (first == written_) return true;
    frames.assign(frames_.begin() + stacks_[first].first, frames_.end());
    for (size_t row = first; row < written_; ++row) counts.push_back(stacks_[row].count);
    kept.swap(waiting_);
  }
  std::string text, line;
  const Frame* at = frames.data();
  for (size_t i = 0; i < counts.size(); ++i) {
    line.assign("[\"s\",").append(std::to_string(first + i + 1));
    for (uint32_t k = 0; k < counts[i]; ++k, ++at) {
      const auto [it, added] = numbers_.try_emplace(*at, static_cast<uint32_t>(numbers_.size()));
      if (added) {
        PythonApi::The().IncRef(at->code);  // for ever: its address is known as its own
        AddNames(*at, text);
      }
      line.append(",").append(std::to_string(it->second));
    }
    text.append(line).append("]\n");
  }
  return WriteAll(fd, text);
}

}  // namespace vramscope::cupti
