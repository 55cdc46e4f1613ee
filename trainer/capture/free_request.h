// A block that another stream still uses is freed in two steps: the free is requested, and is
// completed when the GPU no longer uses the block. An allocator that can tell these steps apart
// reports them like this:
//
//   { FreeRequestScope scope; recorder.OnFree(key); }   // requested
//   recorder.OnFree(key);                               // completed
//
// If the first call is left out, both steps are recorded at the second call.
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
