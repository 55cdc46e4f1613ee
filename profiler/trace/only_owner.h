// Whether what a shared pointer holds is nobody else's any more, so that it may be written to.
#pragma once

#include <atomic>
#include <memory>

#if defined(__SANITIZE_THREAD__)
#define VRAMSCOPE_NO_FENCES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VRAMSCOPE_NO_FENCES 1
#endif
#endif

namespace vramscope::trace {

// True: whoever had it too has done reading. There is one thread that copies `mine`, the caller's.
template <class T>
bool OnlyOwner(const std::shared_ptr<T>& mine) {
  if (mine.use_count() > 1) return false;
#ifdef VRAMSCOPE_NO_FENCES
  // ThreadSanitizer knows no fences; counting up and down acquires the same.
  static_cast<void>(std::shared_ptr<T>(mine));
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

}  // namespace vramscope::trace
