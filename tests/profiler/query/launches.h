// Generates traces with kernels for the tests in this folder.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "profiler/trace/activities.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {

// Returns a training run whose operators launch work. A launch is a runtime call, which sometimes
// contains a driver call. Its kernels and memcpys run later on one of two streams.
inline std::shared_ptr<const trace::Trace> WithLaunches(uint64_t seed) {
  auto t = std::make_shared<trace::Trace>(
      *analysis::MakeRandomTrace({.seed = seed, .ops_per_layer = 10}));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return n == 0 ? 0 : random() % n; };
  const trace::SliceTable& s = t->slices;
  std::map<uint32_t, int64_t> busy_until;
  uint64_t correlation = 0;
  const auto add = [&](trace::ActivityKind kind, int64_t begin, int64_t end, uint32_t thread,
                       uint32_t stream) {
    trace::Activity a;
    a.kind = kind;
    a.begin_ns = begin;
    a.end_ns = end;
    a.thread = thread;
    a.stream = stream;
    a.correlation = correlation;
    t->activities.Append(a);
  };
  for (uint32_t row = 0; row < s.size(); ++row) {
    if (s.kind[row] != trace::SliceKind::kOp || below(3) == 0) continue;
    const auto length = static_cast<uint64_t>(s.end_ns[row] - s.begin_ns[row]);
    const int64_t begin = s.begin_ns[row] + static_cast<int64_t>(below(length));
    const int64_t end = begin + static_cast<int64_t>(below(length) / 2);
    correlation = row + 1;
    add(trace::ActivityKind::kRuntimeCall, begin, end, s.thread[row], 0);
    if (below(2) == 0) add(trace::ActivityKind::kDriverCall, begin, end, s.thread[row], 0);
    for (uint64_t n = below(3); n > 0; --n) {
      const auto stream = static_cast<uint32_t>(below(2));
      const int64_t from = std::max(busy_until[stream], end);
      busy_until[stream] = from + 1 + static_cast<int64_t>(below(length));
      add(below(2) == 0 ? trace::ActivityKind::kKernel : trace::ActivityKind::kMemcpy, from,
          busy_until[stream], 0, stream);
    }
    correlation = 0;
    if (below(20) == 0) add(trace::ActivityKind::kSynchronization, begin, end, s.thread[row], 0);
    // Adds a kernel whose launch was not recorded.
    if (below(20) == 0) add(trace::ActivityKind::kKernel, end, end + 5, 0, 9);
  }
  trace::SortActivities(t->activities);
  return t;
}

}  // namespace vramscope::query
