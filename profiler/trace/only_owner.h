// Tests whether a shared pointer is the only owner of its object, so that the object may be written
// to.
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

// Returns true if all other owners are gone and have finished reading. No other thread may copy
// `shared` during the call.
template <class T>
bool OnlyOwner(const std::shared_ptr<T>& shared) {
  if (shared.use_count() > 1) return false;
#ifdef VRAMSCOPE_NO_FENCES
  // ThreadSanitizer does not support fences. Incrementing and decrementing the count also has
  // acquire semantics.
  static_cast<void>(std::shared_ptr<T>(shared));
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

}  // namespace vramscope::trace
