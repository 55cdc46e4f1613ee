#include "profiler/explain/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/explain/pool_owners.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;

std::string Headline(const MemoryState& s) {
  const Fragmentation& f = s.fragmentation;
  if (f.reserved == 0 && f.allocated == 0) return i18n::Text("No memory is in use.");
  std::string text = i18n::Format("{} of the {} reserved are in use", FormatBytes(f.allocated),
                                  FormatBytes(f.reserved));
  if (!s.by_category.empty() &&
      s.by_category.front().name != trace::Name(trace::Category::kUnknown)) {
    text += i18n::Format(", mostly {} ({})", i18n::Text(s.by_category.front().name),
                         FormatBytes(s.by_category.front().bytes));
  }
  text += i18n::Format("; {} are in holes between live blocks, and {} are cached.",
                       FormatBytes(f.holes), FormatBytes(f.cached));
  if (f.cached > 0) {
    text += i18n::Format(
        " empty_cache() would release {}{}.", FormatBytes(s.empty_cache_gives),
        s.empty_cache_gives < f.cached ? i18n::Text(": private pools keep the rest") : "");
  }
  return text;
}

}  // namespace

std::string PoolName(const Fragmentation::PoolUse& p) {
  std::string name = i18n::Format(
      "{}, stream {}", p.pool == trace::Pool::kSmall ? i18n::Text("small") : i18n::Text("large"),
      p.stream);
  if (p.mempool == 0) return name;
  return i18n::Format("{} (private pool {}), {}", p.owner, PoolId(p.mempool), name);
}

MemoryState StateAt(const trace::Trace& trace, trace::EventIndex event) {
  MemoryState s;
  s.device = trace::OnlyDevice(trace);
  s.event = trace.events.size() == 0 ? 0 : std::min(event, trace.events.size() - 1);
  s.fragmentation = FragmentationAt(trace, event);
  s.segments = SegmentsAt(trace, event);
  const analysis::LiveSet live = analysis::LiveAt(trace, event);
  s.by_site = GroupBySite(trace, live);
  s.by_category = analysis::GroupLive(trace, live, analysis::GroupBy::kCategory);
  for (const Fragmentation::PoolUse& p : s.fragmentation.pools) {
    if (p.mempool == 0) s.empty_cache_gives += p.cached;
    if (p.live > 0) s.by_pool.push_back({.name = PoolName(p), .bytes = p.live, .count = p.blocks});
  }
  if (s.fragmentation.outside > 0) {
    s.by_pool.push_back(
        {.name = i18n::Text("(in no known segment)"), .bytes = s.fragmentation.outside});
  }
  std::stable_sort(s.by_pool.begin(), s.by_pool.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  s.headline = Headline(s);
  return s;
}

MemoryState StateAtEnd(const trace::Trace& trace) {
  return StateAt(trace, trace.events.size() == 0 ? 0 : trace.events.size() - 1);
}

}  // namespace vramscope::explain
