// Some of LibTorch's containers, such as autocast's cache of casts, free tensors in an order that
// depends on hashes of pointers. If the events of a backend must be reproducible, the backend
// defers these frees and then makes them in a fixed order.
//
//   { FreeOrderScope scope; at::autocast::clear_cache(); }
#pragma once

#include <atomic>

namespace vramscope::trainer {

class FreeOrder {
 public:
  virtual ~FreeOrder() = default;
  virtual void HoldFrees() = 0;     // from now on, frees are deferred
  virtual void ReleaseFrees() = 0;  // performs the deferred frees in order of address
};

namespace internal {
inline std::atomic<FreeOrder*> free_order{nullptr};  // set by the running backend; null: none
}

// Do not allocate memory within this scope.
class FreeOrderScope {
 public:
  FreeOrderScope() : order_(internal::free_order.load()) {
    if (order_ != nullptr) order_->HoldFrees();
  }
  ~FreeOrderScope() {
    if (order_ != nullptr) order_->ReleaseFrees();
  }
  FreeOrderScope(const FreeOrderScope&) = delete;
  FreeOrderScope& operator=(const FreeOrderScope&) = delete;

 private:
  FreeOrder* order_;
};

}  // namespace vramscope::trainer
