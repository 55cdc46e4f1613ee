// The Python stacks of the allocator's requests, each once: numbered when a request is made, from
// what PyTorch has captured for it, and written with their names now and then, when Python can be
// asked. So nobody makes an object of every request.
//
//   const uint32_t number = stacks.Number(context);   // on any thread, under the allocator's lock
//   if (!stacks.Write(fd)) ...                         // with the interpreter's lock held
//
// To number one takes no lock and allocates nothing: room for as many as there may be is set aside
// once, as addresses, which cost memory where they are used.
//
// What is captured is PyTorch's CapturedTraceback, whose front is alike in 2.4, 2.6, 2.11, 2.15:
// behind its table of functions a vector of code objects, each with the instruction that it is at.
// Whether it is so here says Fits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cupti/python_api.h"

namespace vramscope::cupti {

class Stacks {
 public:
  using Context = std::shared_ptr<void>;

  Stacks();
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // Whether the innermost frame of a captured one is in this code object.
  static bool Fits(const void* captured, const PyObject* code);

  // 0: it has none, or there are too many.
  uint32_t Number(const Context& context);
  // Appends what is new as lines (profiler/program/history_stacks.h).
  bool Write(int fd);

 private:
  struct Frame {
    PyObject* code;
    int32_t at;
    bool operator==(const Frame&) const = default;
  };
  struct FrameHash {
    size_t operator()(const Frame& frame) const;
  };
  // Written once, by whoever takes its number, and read by others when it is done.
  struct Stack {
    uint64_t hash;
    uint32_t first, count;       // of frames_
    std::atomic<uint32_t> done;  // 1: all of this
    Context context;             // until it is written: keeps the code
  };
  bool Is(const Stack& stack, const struct Sought& sought) const;
  uint32_t Add(const struct Sought& sought, const Context& context);
  void AddNames(const Frame& frame, std::string& text);

  // One piece, of zeros; null: there were no addresses for it, and nothing has a number.
  uint8_t* memory_ = nullptr;
  size_t memory_bytes_ = 0;
  Frame* frames_ = nullptr;
  Stack* stacks_ = nullptr;
  std::atomic<uint32_t>* known_ = nullptr;  // rows of stacks_ plus 1, by hash; 0: none
  std::atomic<uint64_t> frames_taken_{0}, stacks_taken_{0};
  std::mutex writing_;
  size_t written_ = 0;  // of stacks_
  std::unordered_map<Frame, uint32_t, FrameHash>
      numbers_;  // of frames that are written: code that stays
};

}  // namespace vramscope::cupti
