// Finds and names call sites, and sums up the memory that each of them used.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/site_names.h"
#include "profiler/run/saturating.h"

namespace vramscope::explain {
namespace {

using trace::AllocationId;
using trace::EventIndex;
using trace::EventKind;

CallSite Fields(const trace::Trace& trace, uint32_t allocation) {
  return {.stack = trace.events.StackOf(trace.allocations.alloc_event[allocation]),
          .module = trace.allocations.module[allocation],
          .op = trace.allocations.op[allocation]};
}

std::string NameOf(const trace::Trace& trace, const SiteNames& names, const CallSite& site,
                   bool older) {
  if (site.stack.value != 0) {
    const std::string name = names.Name(site.stack, trace.String(site.op));
    if (!name.empty()) return name;
  }
  return ModuleOpName(trace, site.module, site.op, older);
}

}  // namespace

CallSites FindCallSites(const trace::Trace& trace) {
  const trace::AllocationTable& a = trace.allocations;
  const SiteNames names(trace);
  CallSites out;
  out.site_of.resize(a.size());
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> of_stack(trace.stacks.size(), kNone);
  base::HashMap<std::string, uint32_t> by_key;
  base::HashMap<uint64_t, uint32_t> by_module_op;
  uint32_t older_site = kNone;
  const auto add = [&](uint32_t id) {
    CallSite site = Fields(trace, id);
    site.name = NameOf(trace, names, site, IsOlder(trace, id));
    out.sites.push_back(std::move(site));
    return static_cast<uint32_t>(out.sites.size() - 1);
  };
  for (uint32_t id = 0; id < a.size(); ++id) {
    const trace::StackId stack = trace.events.StackOf(a.alloc_event[id]);
    if (stack.value != 0) {
      uint32_t& site = of_stack[stack.value];
      if (site == kNone) {
        const auto [it, fresh] = by_key.try_emplace(names.Key(stack, false), 0);
        if (fresh) it->second = add(id);
        site = it->second;
      }
      out.site_of[id] = site;
      continue;
    }
    const uint64_t key = uint64_t{a.module[id].value} << 32 | a.op[id].value;
    if (key == 0 && IsOlder(trace, id)) {
      if (older_site == kNone) older_site = add(id);
      out.site_of[id] = older_site;
      continue;
    }
    const auto [it, fresh] = by_module_op.try_emplace(key, 0);
    if (fresh) it->second = add(id);
    out.site_of[id] = it->second;
  }
  std::vector<NamedStack> named;
  named.reserve(out.sites.size());
  for (CallSite& site : out.sites)
    named.push_back({&trace, site.stack, trace.String(site.op), &site.name});
  MakeNamesDistinct(named);
  return out;
}

CallSite SiteOf(const trace::Trace& trace, AllocationId allocation) {
  CallSite site = Fields(trace, allocation.value);
  const SiteNames names(trace);
  // If the operator is unknown, only the module shows to which layer a block belongs.
  const bool by_module =
      site.stack.value != 0 && trace.String(site.op).empty() && names.Operator(site.stack).empty();
  if (by_module) site.name = names.Name(site.stack, trace.String(site.module));
  if (site.name.empty()) site.name = NameOf(trace, names, site, IsOlder(trace, allocation.value));
  return site;
}

std::vector<std::string> StackLines(const trace::Trace& trace, trace::StackId stack,
                                    bool program_only) {
  std::vector<std::string> lines;
  if (stack.value >= trace.stacks.size()) return lines;
  const SiteNames names(trace);
  for (const uint32_t frame : trace.stacks.Frames(stack)) {
    if (program_only && names.KindOf(frame) == SiteNames::Frame::kMachinery) continue;
    const std::string_view file = trace.String(trace.stacks.file[frame]);
    const uint32_t line = trace.stacks.line[frame];
    std::string text(FunctionName(trace.String(trace.stacks.function[frame])));
    if (!file.empty() && file != "??") {
      text += line == 0 ? fmt::format("  {}", file) : fmt::format("  {}:{}", file, line);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

absl::StatusOr<SiteOrder> ParseSiteOrder(std::string_view name) {
  for (const SiteOrder order : {SiteOrder::kByteSeconds, SiteOrder::kCount, SiteOrder::kBytes,
                                SiteOrder::kLife, SiteOrder::kPeak}) {
    if (name == Name(order)) return order;
  }
  return absl::InvalidArgumentError(
      i18n::Format("cannot order by \"{}\"; choose from held, count, bytes, life, peak", name));
}

std::string_view Name(SiteOrder order) {
  switch (order) {
    case SiteOrder::kByteSeconds:
      return "held";
    case SiteOrder::kCount:
      return "count";
    case SiteOrder::kBytes:
      return "bytes";
    case SiteOrder::kLife:
      return "life";
    case SiteOrder::kPeak:
      return "peak";
  }
  return "";
}

std::vector<SiteUse> UseOfSites(const trace::Trace& trace, const CallSites& sites,
                                const SiteUseOptions& options) {
  const trace::AllocationTable& a = trace.allocations;
  const trace::EventTable& e = trace.events;
  if (e.size() == 0 || options.first >= e.size()) return {};
  const EventIndex last = std::min(options.last, e.size() - 1);
  // At the end of the trace, end_ns of the blocks counts: other devices' events may be later.
  const int64_t end_ns = last + 1 < e.size() ? e.time_ns[last] : INT64_MAX;

  const size_t n = sites.sites.size();
  std::vector<SiteUse> uses(n);
  std::vector<uint64_t> live(n);
  std::vector<double> life_sum(n);
  std::vector<std::array<uint64_t, trace::kCategoryCount>> categories(n);
  const auto counts = [&](uint32_t id) {
    return a.alloc_event[id] >= options.first && (options.older || !IsOlder(trace, id));
  };
  for (EventIndex i = options.first; i <= last; ++i) {
    if (e.kind[i] != EventKind::kAlloc && e.kind[i] != EventKind::kFreeCompleted) continue;
    const auto id = static_cast<uint32_t>(e.id[i]);
    if (!counts(id)) continue;
    const uint32_t site = sites.site_of[id];
    const uint64_t bytes = a.bytes_rounded[id];
    if (e.kind[i] == EventKind::kFreeCompleted) {
      live[site] -= bytes;
      continue;
    }
    SiteUse& use = uses[site];
    live[site] += bytes;
    use.peak_live_bytes = std::max(use.peak_live_bytes, live[site]);
    ++use.count;
    use.bytes = run::AddSaturating(use.bytes, bytes);
    use.largest = std::max(use.largest, bytes);
    // kNoEvent, for blocks that are never freed, is the largest value.
    const bool alive = a.free_event[id] > last;
    const int64_t life = std::min(end_ns, a.end_ns[id]) - a.begin_ns[id];
    life_sum[site] += static_cast<double>(life);
    use.longest_life_ns = std::max(use.longest_life_ns, life);
    use.byte_seconds += static_cast<double>(bytes) * static_cast<double>(life) * 1e-9;
    if (alive) {
      ++use.alive_count;
      use.alive_bytes += bytes;
    }
    categories[site][static_cast<size_t>(a.main_category[id])] += bytes;
  }
  std::vector<SiteUse> out;
  for (uint32_t site = 0; site < n; ++site) {
    SiteUse& use = uses[site];
    if (use.count == 0) continue;
    use.site = site;
    use.mean_life_ns = run::ToInt64(life_sum[site] / static_cast<double>(use.count));
    const auto most = std::max_element(categories[site].begin(), categories[site].end());
    use.category = static_cast<trace::Category>(std::distance(categories[site].begin(), most));
    out.push_back(use);
  }
  Sort(out, SiteOrder::kByteSeconds);
  return out;
}

void Sort(std::vector<SiteUse>& uses, SiteOrder order) {
  const auto value = [order](const SiteUse& use) -> double {
    switch (order) {
      case SiteOrder::kByteSeconds:
        return use.byte_seconds;
      case SiteOrder::kCount:
        return static_cast<double>(use.count);
      case SiteOrder::kBytes:
        return static_cast<double>(use.bytes);
      case SiteOrder::kLife:
        return static_cast<double>(use.mean_life_ns);
      case SiteOrder::kPeak:
        return static_cast<double>(use.peak_live_bytes);
    }
    return 0;
  };
  std::sort(uses.begin(), uses.end(), [&](const SiteUse& x, const SiteUse& y) {
    const double vx = value(x), vy = value(y);
    return vx != vy ? vx > vy : x.site < y.site;
  });
}

}  // namespace vramscope::explain
