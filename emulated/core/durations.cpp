#include "emulated/core/durations.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace vramscope::emulated {
namespace {

constexpr double kShortest = 2e-6;  // seconds: an empty kernel
constexpr double kBus = 25e9;
constexpr double kLongest = 3600;

int64_t Nanoseconds(double seconds) {
  return static_cast<int64_t>(std::clamp(seconds, kShortest, kLongest) * 1e9);
}

}  // namespace

int64_t KernelDuration(const Card& card, uint64_t blocks, uint64_t threads,
                       double bytes_per_thread) {
  const double bytes =
      static_cast<double>(blocks) * static_cast<double>(threads) * bytes_per_thread;
  return Nanoseconds(bytes / card.bandwidth_bytes_per_s);
}

double BytesPerThread(const char* name) {
  if (std::strstr(name, "multi_tensor_apply_kernel") == nullptr) return kBytesPerThread;
  constexpr const char* kLists = "TensorListMetadataILi";
  const char* lists = std::strstr(name, kLists);
  if (lists == nullptr) return kBytesPerThread;
  const int count = std::clamp(std::atoi(lists + std::strlen(kLists)), 1, 8);
  const bool half = std::strstr(name, "BFloat16") != nullptr || std::strstr(name, "c104Half");
  constexpr double kElements = 65536.0 / 512;
  return kElements * (half ? 2 : 4) * (count + 1);
}

int64_t WorkDuration(const Card& card, double flops, Precision precision, uint64_t bytes) {
  const double rate = precision == Precision::kFp32   ? card.fp32_flops
                      : precision == Precision::kTf32 ? card.tf32_flops
                                                      : card.bf16_flops;
  return Nanoseconds(
      std::max(flops / rate, static_cast<double>(bytes) / card.bandwidth_bytes_per_s));
}

int64_t CopyDuration(const Card& card, uint64_t bytes, bool over_bus) {
  const double rate = over_bus ? kBus : card.bandwidth_bytes_per_s / 2;  // read and written
  return Nanoseconds(static_cast<double>(bytes) / rate);
}

}  // namespace vramscope::emulated
