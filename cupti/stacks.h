// Stores the Python stacks of allocations, each stack once. A stack is numbered when an allocation
// is made, from PyTorch's captured traceback. The names of its functions are written later, when
// Python can be called. So no Python objects are made at allocations.
//
//   const uint32_t number = stacks.Number(context);   // on any thread, under the allocator's lock
//   if (!stacks.Write(fd)) ...                         // with the interpreter's lock held
//
// Numbering takes no lock and allocates nothing: address space for the maximum number of stacks is
// mapped once, and only the used part takes memory.
//
// In PyTorch 2.4, 2.6, 2.11 and 2.15, a CapturedTraceback begins with a vtable pointer and a vector
// of frames (code object and instruction). Fits() checks this layout.
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

  // Returns whether the layout is as assumed, so that the innermost frame of `captured` runs
  // `code`.
  static bool Fits(const void* captured, const PyObject* code);

  // Returns 0 if there is no stack or if there are too many stacks.
  uint32_t Number(const Context& context);
  // Appends new stacks as lines (profiler/program/history_stacks.h).
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
  // The thread that took the stack's number writes it. Other threads read it once `done` is 1.
  struct Stack {
    uint64_t hash;
    uint32_t first, count;       // range in frames_
    std::atomic<uint32_t> done;  // 1: complete
    Context context;             // keeps the code objects alive until the stack is written
  };
  bool Is(const Stack& stack, const struct Sought& sought) const;
  uint32_t Add(const struct Sought& sought, const Context& context);
  void AddNames(const Frame& frame, std::string& text);

  // A zero-initialized mapping. If mapping failed, this is null, and no stack gets a number.
  uint8_t* memory_ = nullptr;
  size_t memory_bytes_ = 0;
  Frame* frames_ = nullptr;
  Stack* stacks_ = nullptr;
  std::atomic<uint32_t>* known_ = nullptr;  // hash table of indexes in stacks_ plus 1; 0: empty
  std::atomic<uint64_t> frames_taken_{0}, stacks_taken_{0};
  std::mutex writing_;
  size_t written_ = 0;  // number of stacks that are written
  std::unordered_map<Frame, uint32_t, FrameHash>
      numbers_;  // numbers of written frames, whose code objects are kept
};

}  // namespace vramscope::cupti
