// Stopping a run at any moment: the loop arms the flag, allocators and kernels of a backend poll it
// at every request, and the loop's edge turns the exception into kCancelled.
//
//   CancelScope scope(hooks.cancel);
//   try { Train(); } catch (const CancelledError&) { return absl::CancelledError("..."); }
//
// RecordFunction callbacks can't do this: LibTorch swallows what they throw. An exception in
// autograd's device thread arrives in the thread that called backward(), type and all, which needs
// it to be a std::exception.
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

// Arms `flag` (may be null) for its life. One at a time in a process.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>* flag) { internal::cancel_flag = flag; }
  ~CancelScope() { internal::cancel_flag = nullptr; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
};

}  // namespace vramscope::trainer
