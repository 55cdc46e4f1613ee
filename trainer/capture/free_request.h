// Memory that another stream still uses is let go of in two moments: when freeing it is asked for,
// and when the card is done with it. An allocator that knows tells the recorder of the first one
// so:
//
//   { FreeRequestScope scope; recorder.OnFree(key); }   // asked for
//   recorder.OnFree(key);                               // done
//
// Without the first call both are the moment of the second, as they are on one stream.
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
