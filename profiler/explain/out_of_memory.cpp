// Explains out-of-memory events: the request, the available memory, its users, and ways out.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/allocator/rules.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/site_names.h"
#include "profiler/explain/ways_out.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::EventIndex;
using trace::EventKind;

constexpr size_t kMostSites = 20;

uint32_t StreamOf(const trace::Trace& trace, EventIndex event) {
  const auto& rows = trace.other_events.event;
  const auto it = std::lower_bound(rows.begin(), rows.end(), event);
  if (it == rows.end() || *it != event) return 0;
  return trace.other_events.stream[static_cast<size_t>(it - rows.begin())];
}

run::AllocConf ConfOf(const trace::Trace& trace) {
  return run::ParseAllocConf(replay::RecordedConf(trace)).value_or(run::AllocConf{});
}

std::string Headline(const OutOfMemory& o) {
  std::string text = i18n::Format("{} were requested, {} were free on the device",
                                  FormatBytes(o.asked), FormatBytes(o.device_free));
  if (o.device_free >= o.needed) {
    return text + i18n::Text(". The process reached its own limit, not the device's.");
  }
  if (o.fragmented) {
    return text + i18n::Format(
                      ", and {} were free in holes (the largest hole has {}). This is enough in "
                      "total, but the free memory is fragmented.",
                      FormatBytes(o.holes), FormatBytes(o.largest_hole));
  }
  return text + i18n::Format(
                    ". The request needs {} more than is free or cached; {} of the {} reserved are "
                    "in use.",
                    FormatBytes(o.missing), FormatBytes(o.allocated), FormatBytes(o.reserved));
}

// Explains an out-of-memory event if `failure` is null. Otherwise, the event is an allocation of a
// plan that continued after it had exceeded the GPU's memory. A replay under the GPU's limit fails
// at this allocation, and `failure` states the memory at that point.
OutOfMemory Explain(const trace::Trace& trace, EventIndex event,
                    const replay::Replayed::Failure* failure = nullptr) {
  OutOfMemory o;
  o.event = event;
  o.device = trace::OnlyDevice(trace);
  const uint32_t stream = StreamOf(trace, event);
  o.asked = trace.events.bytes[event];
  o.device_free = failure != nullptr ? failure->device_free : trace.events.bytes_rounded[event];
  const uint64_t rounded = allocator::RoundSize(o.asked, ConfOf(trace));
  o.needed = SegmentNeededAt(trace, event);
  o.site.stack = trace.events.StackOf(event);
  // If a plan granted the request, use the state before the request.
  const bool granted = trace.events.kind[event] == EventKind::kAlloc;
  const analysis::LiveSet live = analysis::LiveAt(trace, granted && event > 0 ? event - 1 : event);
  o.context = analysis::ContextAt(trace, event);
  o.site.name = StackName(trace, o.site.stack);
  if (o.site.name.empty())
    o.site.name = fmt::format(
        "{} > {}", o.context.module.empty() ? i18n::Text("(no module)") : o.context.module,
        o.context.op.empty() ? i18n::Text("(no op)") : o.context.op);
  o.requested = live.requested;
  o.allocated = live.allocated;
  o.by_category = live.by_category;

  const trace::Pool pool = allocator::PoolOf(rounded);
  if (failure != nullptr) {
    o.reserved = failure->reserved;
    o.holes = failure->holes;
    o.largest_hole = failure->largest_hole;
  } else {
    const Fragmentation f = FragmentationAt(trace, event);
    o.reserved = f.reserved;
    for (const Fragmentation::PoolUse& p : f.pools) {
      // Private pools (for example, of CUDA graphs) neither serve requests of other pools nor
      // release memory for them.
      if (p.mempool != 0) continue;
      o.cached += p.cached;  // before failing, the allocator releases all of this
      if (p.pool != pool || p.stream != stream) continue;
      o.holes += p.holes;
      o.largest_hole = std::max(o.largest_hole, p.largest_hole);
    }
  }
  const uint64_t can_give = o.device_free + o.cached;
  o.missing = o.needed > can_give ? o.needed - can_give : 0;
  o.fragmented = o.missing > 0 && o.holes + can_give >= rounded;

  o.sites = GroupBySite(trace, live);
  if (o.sites.size() > kMostSites) o.sites.resize(kMostSites);
  o.ways = EstimatedWays(trace, live, o);
  o.headline = Headline(o);
  return o;
}

// Returns whether the event is from a plan, and its request would fit after the allocator has
// released its cache. A plan that exceeds the GPU's memory records an out-of-memory event and
// continues without releasing anything.
bool PassesOnceReleased(const trace::Trace& trace, const OutOfMemory& o) {
  return trace.info.backend == trace::Backend::kPlan && o.missing == 0 && o.device_free < o.needed;
}

// Replays the trace under the GPU's limit, which follows from the recorded event `noted`. Returns
// the first request that fails, or nullopt.
absl::StatusOr<std::optional<OutOfMemory>> FirstFailure(const trace::Trace& trace,
                                                        const OutOfMemory& noted,
                                                        const OutOfMemoryOptions& options) {
  replay::ReplayOptions replay{.alloc_conf = ConfOf(trace),
                               .device_memory_bytes = noted.reserved + noted.device_free,
                               .restart = true,
                               .holes = false};
  replay.cancel = options.cancel;
  const absl::StatusOr<replay::Replayed> r = replay::Replay(trace, replay);
  if (!r.ok()) return r.status();
  if (!r->first_out_of_memory) return std::nullopt;
  return Explain(trace, *r->first_out_of_memory, &r->first_failure);
}

void SortWays(std::vector<WayOut>& ways) {
  std::stable_sort(ways.begin(), ways.end(), [](const WayOut& x, const WayOut& y) {
    if (x.passes != y.passes) return x.passes;
    if (x.computed != y.computed) return x.computed;
    return x.bytes > y.bytes;
  });
}

}  // namespace

uint64_t SegmentNeededAt(const trace::Trace& trace, EventIndex event) {
  const run::AllocConf conf = ConfOf(trace);
  const uint64_t rounded = allocator::RoundSize(trace.events.bytes[event], conf);
  if (!conf.expandable_segments) return allocator::SegmentSize(rounded, conf);
  const uint64_t page = allocator::PageSize(allocator::PoolOf(rounded), conf);
  return rounded <= ~uint64_t{0} - page ? allocator::RoundUp(rounded, page) : rounded;
}

absl::StatusOr<OutOfMemoryPage> ExplainOutOfMemory(const trace::Trace& trace,
                                                   const OutOfMemoryOptions& options) {
  OutOfMemoryPage page;
  const auto& kinds = trace.events.kind;
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    if (kinds[i] != EventKind::kOutOfMemory) continue;
    if (page.count++ < OutOfMemoryPage::kMost) page.events.push_back(Explain(trace, i));
  }
  for (trace::MemoryCursor at(trace); at.event() < trace.events.size();)
    if (at.Apply()) page.peak_reserved = std::max(page.peak_reserved, at.sums().reserved);
  page.device_memory = trace.info.device.memory_bytes;
  if (page.count == 0) {
    page.headline = trace.info.content == trace::Content::kState
                        ? i18n::Text(
                              "This file has no history, so it does not show whether memory "
                              "ran out before.")
                        : i18n::Text("Nothing ran out of memory in this file.");
    if (page.device_memory > page.peak_reserved) {
      page.headline +=
          i18n::Format(" At most {} of the device's {} were reserved.",
                       FormatBytes(page.peak_reserved), FormatBytes(page.device_memory));
    }
    return page;
  }
  if (options.replay && PassesOnceReleased(trace, page.events.front())) {
    absl::StatusOr<std::optional<OutOfMemory>> failure =
        FirstFailure(trace, page.events.front(), options);
    if (absl::IsCancelled(failure.status())) return failure.status();
    if (failure.ok() && !failure->has_value()) {
      page.headline = i18n::Format(
          "No request fails. Some requests exceed {} at first, but they fit after the allocator "
          "has released its cache.",
          FormatBytes(page.events.front().reserved + page.events.front().device_free));
      page.events.clear();
      page.count = 0;
      return page;
    }
    if (failure.ok()) {
      page.events.assign(1, **std::move(failure));
      page.count = 1;
    }
  }
  if (options.replay) {
    OutOfMemory& first = page.events.front();
    absl::StatusOr<std::vector<WayOut>> ways = ReplayedWays(trace, first, options);
    if (absl::IsCancelled(ways.status())) return ways.status();
    if (ways.ok())
      first.ways = *std::move(ways);
    else
      first.replay_error = std::string(ways.status().message());
  }
  for (OutOfMemory& o : page.events) SortWays(o.ways);
  page.headline = page.count == 1 ? page.events.front().headline
                                  : i18n::Format("{} requests did not fit. The first of them: {}",
                                                 page.count, page.events.front().headline);
  return page;
}

}  // namespace vramscope::explain
