// The plan backend's clock: an operator takes as long as its bytes need at the GPU's bandwidth or
// its operations at the rate of their type, whichever is longer, and never less than a launch.
//
//   roofline.Start(profile);
//   roofline.Advance({.bytes = 3 * n, .flops = 0});
//   roofline.now_ns();
//
// A model, not a measurement: no overlap, no cache, no efficiency below the data sheet's rates.
// Any thread; time only moves forward.
#pragma once

#include <atomic>
#include <cstdint>

#include "profiler/run/device_profile.h"

namespace vramscope::trainer::plan {

enum class Rate : uint8_t { kFp32, kTf32, kBf16 };

struct Cost {
  uint64_t bytes = 0;  // read and written, device memory
  double flops = 0;
  Rate rate = Rate::kFp32;
  uint64_t link_bytes = 0;  // over PCI Express
};

class Roofline {
 public:
  // Shortest time between two kernels of an eager program. Launch latency of a CUDA kernel is
  // 2-4 us on current drivers; eager dispatch hides behind it only in part.
  static constexpr int64_t kLaunchNs = 4000;
  // PCI Express 4.0 x16, what pinned copies reach.
  static constexpr double kLinkBytesPerSecond = 25e9;

  void Start(const run::DeviceProfile& profile);
  void Advance(const Cost& cost);
  void Set(int64_t now_ns) { now_ns_.store(now_ns, std::memory_order_relaxed); }
  int64_t now_ns() const { return now_ns_.load(std::memory_order_relaxed); }
  static int64_t Duration(const run::DeviceProfile& profile, const Cost& cost);

 private:
  run::DeviceProfile profile_;
  std::atomic<int64_t> now_ns_{0};
};

}  // namespace vramscope::trainer::plan
