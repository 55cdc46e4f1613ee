// The Python stacks of the allocator's requests, each once: numbered when a request is made, from
// what PyTorch has captured for it, and written with their names now and then, when Python can be
// asked. So nobody makes an object of every request.
//
//   const uint32_t number = stacks.Number(context);   // on any thread, under the allocator's lock
//   if (!stacks.Write(fd)) ...                         // with the interpreter's lock held
//
// What is captured is PyTorch's CapturedTraceback, whose front is alike in 2.4, 2.6, 2.11, 2.15:
// behind its table of functions a vector of code objects, each with the instruction that it is at.
// Whether it is so here says Fits.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cupti/python_api.h"

namespace vramscope::cupti {

class Stacks {
 public:
  using Context = std::shared_ptr<void>;

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
  struct Stack {
    uint64_t hash;
    uint32_t first, count;  // of frames_
  };
  // Rows of stacks_, found by what is in it.
  struct Hash {
    using is_transparent = void;
    const std::vector<Stack>* stacks;
    size_t operator()(uint32_t row) const { return (*stacks)[row].hash; }
    size_t operator()(const struct Sought& sought) const;
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<Stack>* stacks;
    const std::vector<Frame>* frames;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(const struct Sought& sought, uint32_t row) const;
    bool operator()(uint32_t row, const struct Sought& sought) const {
      return (*this)(sought, row);
    }
  };
  void AddNames(const Frame& frame, std::string& text);

  std::mutex mutex_;
  std::vector<Frame> frames_;
  std::vector<Stack> stacks_;
  std::unordered_set<uint32_t, Hash, Equal> known_{0, Hash{&stacks_}, Equal{&stacks_, &frames_}};
  size_t written_ = 0;            // of stacks_
  std::vector<Context> waiting_;  // keep the code of the others
  std::unordered_map<Frame, uint32_t, FrameHash>
      numbers_;  // of frames that are written: code that stays
};

}  // namespace vramscope::cupti
