#include "cupti/stacks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "cupti/write_all.h"

namespace vramscope::cupti {
namespace {

constexpr size_t kMostStacks = size_t{1} << 20, kMostFrames = 1024;  // kMostFrames is for one stack
constexpr size_t kFramesInAll = size_t{1} << 24;
constexpr size_t kPlaces = 2 * kMostStacks;  // slots of the hash table, a power of two

// PyTorch's structures.
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

// Appends the bytes with the escaping that the reader expects (profiler/program/text_line.h).
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

}  // namespace

struct Sought {
  std::span<const CapturedFrame> frames;
  uint64_t hash;
};

size_t Stacks::FrameHash::operator()(const Frame& frame) const {
  return Mix(reinterpret_cast<uintptr_t>(frame.code), static_cast<uint64_t>(frame.at));
}
bool Stacks::Is(const Stack& stack, const Sought& sought) const {
  return stack.hash == sought.hash && stack.count == sought.frames.size() &&
         std::equal(sought.frames.begin(), sought.frames.end(), frames_ + stack.first,
                    [](const CapturedFrame& a, const Frame& b) {
                      return a.code == b.code && a.at == b.at;
                    });
}

Stacks::Stacks() {
  constexpr size_t kBytes = kFramesInAll * sizeof(Frame) + kMostStacks * sizeof(Stack) +
                            kPlaces * sizeof(std::atomic<uint32_t>);
  void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;
  madvise(at, kBytes, MADV_NOHUGEPAGE);  // usually only a small part of the mapping is used
  memory_ = static_cast<uint8_t*>(at);
  memory_bytes_ = kBytes;
  // All-zero memory is the initial state of each array.
  frames_ = reinterpret_cast<Frame*>(memory_);
  stacks_ = reinterpret_cast<Stack*>(memory_ + kFramesInAll * sizeof(Frame));
  known_ = reinterpret_cast<std::atomic<uint32_t>*>(stacks_ + kMostStacks);
}

Stacks::~Stacks() {
  if (memory_ == nullptr) return;
  const size_t end = std::min<size_t>(stacks_taken_.load(), kMostStacks);
  for (size_t row = written_; row < end; ++row) std::destroy_at(&stacks_[row].context);
  munmap(memory_, memory_bytes_);
}

bool Stacks::Fits(const void* captured, const PyObject* code) {
  const auto* of = static_cast<const Captured*>(captured);
  const auto bytes = reinterpret_cast<uintptr_t>(of->end) - reinterpret_cast<uintptr_t>(of->begin);
  return of->begin != nullptr && of->begin < of->end && bytes % sizeof(CapturedFrame) == 0 &&
         bytes / sizeof(CapturedFrame) <= kMostFrames && of->begin->code == code;
}

uint32_t Stacks::Number(const Context& context) {
  if (context == nullptr || memory_ == nullptr) return 0;
  const std::span<const CapturedFrame> frames =
      static_cast<const Captured*>(context.get())->frames();
  if (frames.empty()) return 0;
  uint64_t hash = frames.size();
  for (const CapturedFrame& frame : frames)
    hash = Mix(hash, reinterpret_cast<uintptr_t>(frame.code) + static_cast<uint64_t>(frame.at));
  const Sought sought{frames, hash};
  uint32_t made = 0;  // index of the new stack plus 1; 0: not added yet
  for (size_t place = hash & (kPlaces - 1);; place = (place + 1) & (kPlaces - 1)) {
    uint32_t there = known_[place].load(std::memory_order_acquire);
    if (there == 0) {
      if (made == 0) made = Add(sought, context);
      if (made == 0) return 0;
      if (known_[place].compare_exchange_strong(there, made, std::memory_order_acq_rel))
        return made;
    }
    // If another thread has inserted the same stack first, the stack added above stays unused.
    if (Is(stacks_[there - 1], sought)) return there;
  }
}

// Returns the new index plus 1, or 0 if there are too many stacks.
uint32_t Stacks::Add(const Sought& sought, const Context& context) {
  const size_t count = sought.frames.size();
  const uint64_t first = frames_taken_.fetch_add(count, std::memory_order_relaxed);
  if (first + count > kFramesInAll) return 0;
  const uint64_t row = stacks_taken_.fetch_add(1, std::memory_order_relaxed);
  if (row >= kMostStacks) return 0;
  for (size_t i = 0; i < count; ++i)
    frames_[first + i] = {sought.frames[i].code, sought.frames[i].at};
  Stack& stack = stacks_[row];
  stack.hash = sought.hash;
  stack.first = static_cast<uint32_t>(first);
  stack.count = static_cast<uint32_t>(count);
  std::construct_at(&stack.context, context);
  stack.done.store(1, std::memory_order_release);
  return static_cast<uint32_t>(row) + 1;
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
  if (memory_ == nullptr) return true;
  std::vector<Context> kept;  // keeps the code objects alive until IncRef() is called
  std::lock_guard lock(writing_);
  std::string text, line;
  // Stops at a stack that is not complete yet. The next call continues there.
  const size_t end = std::min<size_t>(stacks_taken_.load(std::memory_order_relaxed), kMostStacks);
  for (; written_ < end && stacks_[written_].done.load(std::memory_order_acquire) != 0;
       ++written_) {
    Stack& stack = stacks_[written_];
    line.assign("[\"s\",").append(std::to_string(written_ + 1));
    for (const Frame& frame : std::span(frames_ + stack.first, stack.count)) {
      const auto [it, added] = numbers_.try_emplace(frame, static_cast<uint32_t>(numbers_.size()));
      if (added) {
        PythonApi::The().IncRef(frame.code);  // never released, so that its address is not reused
        AddNames(frame, text);
      }
      line.append(",").append(std::to_string(it->second));
    }
    text.append(line).append("]\n");
    kept.push_back(std::move(stack.context));
    std::destroy_at(&stack.context);
  }
  return WriteAll(fd, text) == text.size();
}

}  // namespace vramscope::cupti
