// Memory that another stream still uses is freed in two steps: when the free is requested, and when
// the GPU has finished using it. An allocator that can distinguish the two steps reports them like
// this:
//
//   { FreeRequestScope scope; recorder.OnFree(key); }   // requested
//   recorder.OnFree(key);                               // completed
//
// Without the first call, both steps are recorded at the time of the second call.
#pragma once

#include <utility>

namespace vramscope::trainer {

namespace internal {
inline thread_local bool only_asks_to_free = false;
}

class FreeRequestScope {
 public:
  FreeRequestScope() : before_(std::exchange(internal::only_asks_to_free, true)) {}
  ~FreeRequestScope() { internal::only_asks_to_free = before_; }
  FreeRequestScope(const FreeRequestScope&) = delete;
  FreeRequestScope& operator=(const FreeRequestScope&) = delete;

  static bool open() { return internal::only_asks_to_free; }

 private:
  const bool before_;
};

}  // namespace vramscope::trainer
