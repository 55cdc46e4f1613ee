// Stops a run at any time. The loop sets the flag, allocators and kernels of a backend poll it at
// every call, and the outermost function of the loop converts the exception to kCancelled.
//
//   CancelScope scope(hooks.cancel);
//   try { Train(); } catch (const CancelledError&) { return absl::CancelledError("..."); }
//
// RecordFunction callbacks can't be used for this, because LibTorch swallows their exceptions. A
// std::exception thrown in autograd's device thread is rethrown, with its type, in the thread that
// called backward().
#pragma once

#include <atomic>
#include <exception>

namespace vramscope::trainer {

class CancelledError : public std::exception {
 public:
  const char* what() const noexcept override { return "the run was cancelled"; }
};

namespace internal {
inline std::atomic<const std::atomic<bool>*> cancel_flag{nullptr};
}

inline void ThrowIfCancelled() {
  const std::atomic<bool>* flag = internal::cancel_flag.load(std::memory_order_relaxed);
  if (flag != nullptr && flag->load(std::memory_order_relaxed)) throw CancelledError();
}

// While this object exists, `flag` (may be null) can cancel the run. One per process at a time.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>* flag) { internal::cancel_flag = flag; }
  ~CancelScope() { internal::cancel_flag = nullptr; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
};

}  // namespace vramscope::trainer
