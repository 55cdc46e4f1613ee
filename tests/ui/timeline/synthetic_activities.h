// Generates GPU activities for the operators of a synthetic run: runtime calls, kernels on streams,
// memcpys from pinned memory, collectives in backward, allocations of the driver, and
// synchronizations. The result is deterministic. By default, the GPU is faster than the host and
// waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::testing {

struct ActivityOptions {
  int streams = 0;         // number of streams, which kernels use in turn; 0: no activities
  int kernels_per_op = 2;  // each kernel has a call
  double speed = 0.7;      // GPU time divided by host time; below 1, the GPU is faster
  // How long after the last event the GPU's memory is queried once more; 0: it is not queried.
  int64_t asked_after_ns = 0;
};

using StringOf = std::function<trace::StringId(const std::string&)>;

inline std::vector<trace::Activity> MakeActivities(const std::vector<trace::Event>& events,
                                                   const ActivityOptions& o, StringOf string_of) {
  using trace::Activity;
  using trace::ActivityKind;
  using trace::EventKind;
  using trace::MemorySpace;
  constexpr uint32_t kFirstStream = 7, kCopyStream = 4, kCollectiveStream = 5;
  static constexpr const char* kKernels[] = {
      "ampere_sgemm_128x64_tn",
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
      "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(float*)",
      "void at::native::reduce_kernel<512, 1>(at::native::ReduceOp<float>)",
  };
  std::vector<Activity> out;
  std::vector<int64_t> free_at(static_cast<size_t>(std::max(o.streams, 1)), 0);
  int64_t copies_free_at = 0, collectives_free_at = 0;
  uint64_t correlation = 0;
  const auto host = [&](ActivityKind kind, const char* name, int64_t begin, int64_t takes) {
    Activity a;
    a.kind = kind;
    a.name = string_of(name);
    a.begin_ns = begin;
    a.end_ns = begin + takes;
    a.correlation = ++correlation;
    out.push_back(a);
    return a.end_ns;
  };
  const auto device = [&](ActivityKind kind, const char* name, uint32_t stream, int64_t from,
                          int64_t takes) -> Activity& {
    Activity a;
    a.kind = kind;
    a.name = string_of(name);
    a.stream = stream;
    a.begin_ns = from;
    a.end_ns = from + takes;
    a.correlation = correlation;
    out.push_back(a);
    return out.back();
  };
  const auto driver = [&](ActivityKind kind, MemorySpace space, uint64_t address, uint64_t bytes,
                          int64_t at) {
    Activity a;
    a.kind = kind;
    a.to = space;
    a.address = address;
    a.bytes = bytes;
    a.begin_ns = a.end_ns = at;
    out.push_back(a);
  };
  size_t ops = 0;
  bool backward = false;
  const trace::Event* op = nullptr;
  for (const trace::Event& e : events) {
    switch (e.kind) {
      case EventKind::kPhaseBegin:
        backward = e.detail == static_cast<uint8_t>(trace::Phase::kBackward);
        break;
      case EventKind::kSegmentAlloc:
        host(ActivityKind::kRuntimeCall, "cudaMalloc", e.time_ns, 90'000);
        driver(ActivityKind::kDriverAlloc, MemorySpace::kDevice, e.address, e.bytes, e.time_ns);
        break;
      case EventKind::kStepBegin: {
        const int64_t asked = host(ActivityKind::kRuntimeCall, "cudaHostAlloc", e.time_ns, 15'000);
        driver(ActivityKind::kDriverAlloc, MemorySpace::kPinned, 0x5000 + e.id, uint64_t{8} << 20,
               asked);
        host(ActivityKind::kRuntimeCall, "cudaMemcpyAsync", asked, 7'000);
        Activity& copy = device(ActivityKind::kMemcpy, "Memcpy HtoD", kCopyStream,
                                std::max(copies_free_at, asked + 12'000), 640'000);
        copy.from = MemorySpace::kPinned;
        copy.to = MemorySpace::kDevice;
        copy.bytes = uint64_t{8} << 20;
        copies_free_at = copy.end_ns;
        break;
      }
      case EventKind::kStepEnd:
        host(ActivityKind::kSynchronization, "cudaStreamSynchronize", e.time_ns, 30'000);
        driver(ActivityKind::kDriverFree, MemorySpace::kPinned, 0x5000 + e.id, 0, e.time_ns);
        break;
      case EventKind::kOpBegin:
        op = &e;
        break;
      case EventKind::kOpEnd: {
        if (op == nullptr) break;
        const int64_t length = e.time_ns - op->time_ns;
        for (int k = 0; k < o.kernels_per_op; ++k, ++ops) {
          const int64_t asked = op->time_ns + (2 * k + 1) * length / (2 * o.kernels_per_op + 1);
          const int64_t called = host(ActivityKind::kRuntimeCall, "cudaLaunchKernel", asked, 8'000);
          const size_t lane = ops % free_at.size();
          const auto takes = static_cast<int64_t>(static_cast<double>(length) / o.kernels_per_op *
                                                  o.speed * (0.5 + 0.25 * (ops % 4)));
          const Activity& kernel = device(
              ActivityKind::kKernel, kKernels[ops % 4], kFirstStream + static_cast<uint32_t>(lane),
              std::max(free_at[lane], called + 4'000), std::max<int64_t>(takes, 1'000));
          free_at[lane] = kernel.end_ns;
          if (backward && ops % 8 == 7) {
            host(ActivityKind::kRuntimeCall, "cudaLaunchKernelExC", called + 1'000, 9'000);
            Activity& reduce = device(ActivityKind::kCollective, "ncclAllReduce", kCollectiveStream,
                                      std::max(collectives_free_at, free_at[lane]), length);
            reduce.bytes = uint64_t{25} << 20;
            collectives_free_at = reduce.end_ns;
          }
        }
        op = nullptr;
        break;
      }
      default:
        break;
    }
  }
  if (o.asked_after_ns > 0 && !events.empty()) {
    Activity a;
    a.kind = ActivityKind::kCounter;
    a.name = string_of("memory used by all");
    a.begin_ns = a.end_ns = events.back().time_ns + o.asked_after_ns;
    a.bytes = uint64_t{1} << 30;
    out.push_back(a);
  }
  return out;
}

}  // namespace vramscope::testing
