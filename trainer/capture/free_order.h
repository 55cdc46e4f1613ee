// Some of LibTorch's containers let tensors go in the order of a hash of pointers (autocast's cache
// of casts). A device that must repeat its events exactly holds the frees of such a moment back and
// makes them in an order of its own.
//
//   { FreeOrderScope scope; at::autocast::clear_cache(); }
#pragma once

#include <atomic>

namespace vramscope::trainer {

class FreeOrder {
 public:
  virtual ~FreeOrder() = default;
  virtual void HoldFrees() = 0;     // from now on frees are kept back
  virtual void ReleaseFrees() = 0;  // ... and now made, by address
};

namespace internal {
inline std::atomic<FreeOrder*> free_order{nullptr};  // of the backend that runs; null: none
}

// Nothing may be allocated inside.
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
