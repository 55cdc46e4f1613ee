#include "trainer/backends/plan/roofline.h"

#include <algorithm>
#include <cmath>

namespace vramscope::trainer::plan {

void Roofline::Start(const run::DeviceProfile& profile) {
  profile_ = profile;
  now_ns_ = 0;
}

int64_t Roofline::Duration(const run::DeviceProfile& profile, const Cost& cost) {
  double rate = profile.fp32_flops;
  if (cost.rate == Rate::kTf32) rate = profile.tf32_flops;
  if (cost.rate == Rate::kBf16) rate = profile.bf16_flops;
  double seconds = static_cast<double>(cost.link_bytes) / kLinkBytesPerSecond;
  if (profile.bandwidth_bytes_per_s > 0) {
    seconds = std::max(seconds, static_cast<double>(cost.bytes) / profile.bandwidth_bytes_per_s);
  }
  if (rate > 0) seconds = std::max(seconds, cost.flops / rate);
  return std::max(kLaunchNs, static_cast<int64_t>(std::llround(seconds * 1e9)));
}

void Roofline::Advance(const Cost& cost) {
  now_ns_.fetch_add(Duration(profile_, cost), std::memory_order_relaxed);
}

}  // namespace vramscope::trainer::plan
