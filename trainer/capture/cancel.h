// Stops a run at any time. A caller sets the flag. Allocators and kernels of a backend poll it in
// every call and throw, and the outermost function of the loop turns the exception into kCancelled.
//
//   CancelScope scope(hooks.cancel);
//   try { Train(); } catch (const CancelledError&) { return absl::CancelledError("..."); }
//
// RecordFunction callbacks could not do this, because LibTorch swallows their exceptions. If a
// std::exception is thrown in autograd's device thread, LibTorch rethrows it with its type in the
// thread that called backward().
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

// While this object exists, `flag` (may be null) can cancel the run. Only one may exist at a time.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>* flag) { internal::cancel_flag = flag; }
  ~CancelScope() { internal::cancel_flag = nullptr; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
};

}  // namespace vramscope::trainer
