// Finds memory that every step leaves behind.
//
// The first step is not judged, because it allocates lasting memory (optimizer state, caches). The
// last step is not judged, because its gradients and results are still in use. A call site leaks if
// blocks from at least half of the judged steps are still live when the last step ends. At least
// one of these blocks must be from the last third of the steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::EventIndex;

constexpr size_t kFewestSteps = 3;
constexpr size_t kExamples = 8;

struct Span {
  EventIndex begin = 0, end = 0;
  int32_t number = 0;
};

// The outermost steps, in order.
std::vector<Span> StepsOf(const trace::Trace& trace) {
  const trace::SliceTable& s = trace.slices;
  std::vector<Span> steps;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != trace::SliceKind::kStep || s.depth[i] != 0) continue;
    steps.push_back({.begin = s.begin_event[i],
                     .end = std::min(s.end_event[i], trace.events.size() - 1),
                     .number = static_cast<int32_t>(s.number[i])});
  }
  return steps;
}

// Returns whether `leak.stayed` shows a leak. If so, sets its confidence and bytes_per_step.
bool Judge(Leak& leak) {
  const size_t first = 1, last = leak.stayed.size() - 1;  // judged steps: [first, last)
  size_t hits = 0, latest = 0;
  uint64_t bytes = 0;
  for (size_t k = first; k < last; ++k) {
    if (leak.stayed[k] == 0) continue;
    ++hits;
    latest = k;
    bytes += leak.stayed[k];
  }
  const size_t judged = last - first;
  if (hits == 0 || 2 * hits < judged) return false;
  if (judged > 1 && hits < 2) return false;
  if (3 * (latest - first + 1) < 2 * judged) return false;  // stopped leaking early
  const double share = static_cast<double>(hits) / static_cast<double>(judged);
  leak.confidence = share * (1 - std::exp2(-static_cast<double>(hits)));
  leak.bytes_per_step = static_cast<double>(bytes) / static_cast<double>(judged);
  return true;
}

std::string Headline(const Leaks& leaks) {
  if (!leaks.known) {
    return i18n::Format(
        "At least {} steps are needed to tell a leak from temporary growth. Recorded steps: {}.",
        kFewestSteps, leaks.steps.size());
  }
  if (leaks.leaks.empty()) {
    return i18n::Format("No leak: everything that {} steps allocated was freed or replaced.",
                        leaks.steps.size());
  }
  std::string text = i18n::Format(
      "In every step, the program allocates {} that it never frees, at {} call site{}.",
      FormatBytes(static_cast<uint64_t>(leaks.bytes_per_step)), leaks.leaks.size(),
      leaks.leaks.size() == 1 ? "" : "s");
  if (leaks.steps_until_full > 0) {
    text += i18n::Format(" At this rate, the device will be full after {:.0f} more steps.",
                         leaks.steps_until_full);
  }
  return text;
}

}  // namespace

Leaks FindLeaks(const trace::Trace& trace, const CallSites& sites) {
  Leaks out;
  const std::vector<Span> steps = StepsOf(trace);
  for (const Span& step : steps) out.steps.push_back(step.number);
  out.known = steps.size() >= kFewestSteps;
  trace::MemoryCursor at(trace);
  for (const Span& step : steps) {
    at.AdvanceTo(step.end == trace::kNoEvent ? step.end : step.end + 1);
    out.allocated.push_back(at.sums().allocated);
  }
  if (!out.known) {
    out.headline = Headline(out);
    return out;
  }

  const trace::AllocationTable& a = trace.allocations;
  std::vector<Leak> by_site(sites.sites.size());
  std::vector<std::array<uint64_t, trace::kCategoryCount>> categories(by_site.size());
  size_t step = 0;
  // Leaks are counted when the last step ends, because everything may be freed when the process
  // ends. An allocation between two steps counts for the earlier step.
  const EventIndex end = steps.back().end;
  for (uint32_t id = 0; id < a.size() && a.alloc_event[id] <= end; ++id) {
    if (a.alloc_event[id] < steps[0].begin) continue;
    while (step + 1 < steps.size() && steps[step + 1].begin <= a.alloc_event[id]) ++step;
    // kNoEvent, for blocks that are never freed, is the largest value.
    if (a.free_requested_event[id] <= end) continue;
    const uint32_t site = sites.site_of[id];
    Leak& leak = by_site[site];
    if (leak.stayed.empty()) leak.stayed.resize(steps.size());
    leak.stayed[step] += a.bytes_rounded[id];
    leak.bytes += a.bytes_rounded[id];
    ++leak.count;
    if (step > 0 && leak.examples.size() < kExamples) leak.examples.push_back({id});
    categories[site][static_cast<size_t>(a.category[id])] += a.bytes_rounded[id];
  }
  for (uint32_t site = 0; site < by_site.size(); ++site) {
    Leak& leak = by_site[site];
    if (leak.stayed.empty() || !Judge(leak)) continue;
    leak.site = site;
    const auto most = std::max_element(categories[site].begin(), categories[site].end());
    leak.category = static_cast<trace::Category>(std::distance(categories[site].begin(), most));
    out.bytes_per_step += leak.bytes_per_step;
    out.leaks.push_back(std::move(leak));
  }
  std::sort(out.leaks.begin(), out.leaks.end(), [](const Leak& x, const Leak& y) {
    return x.bytes_per_step != y.bytes_per_step ? x.bytes_per_step > y.bytes_per_step
                                                : x.site < y.site;
  });
  const run::DeviceProfile& device = trace.info.device;
  const uint64_t used = device.context_bytes + out.allocated.back();
  if (out.bytes_per_step > 0 && device.memory_bytes > used) {
    out.steps_until_full = static_cast<double>(device.memory_bytes - used) / out.bytes_per_step;
  }
  out.headline = Headline(out);
  return out;
}

}  // namespace vramscope::explain
