#include "profiler/explain/site_groups.h"

#include <algorithm>
#include <string>

#include "profiler/explain/explain.h"
#include "profiler/explain/site_names.h"

namespace vramscope::explain {

void SiteGroups::Add(trace::AllocationId id, uint64_t bytes) {
  const trace::AllocationTable& a = trace_.allocations;
  const trace::StackId stack = trace_.events.StackOf(a.alloc_event[id.value]);
  std::pair<uint64_t, uint64_t> key(stack.value, 1);
  if (stack.value == 0) {
    key = {uint64_t{a.module[id.value].value} << 32 | a.op[id.value].value,
           IsOlder(trace_, id.value) ? 2 : 0};
  }
  const auto [it, fresh] = sums_.try_emplace(key, Sum{.example = id});
  it->second.bytes += bytes;
  ++it->second.count;
}

std::vector<analysis::Group> SiteGroups::Sorted() const {
  base::HashMap<std::string, analysis::Group> by_name;
  for (const auto& [key, sum] : sums_) {
    const std::string name = SiteGroupOf(trace_, sum.example);
    analysis::Group& group = by_name[name];
    group.name = name;
    group.bytes += sum.bytes;
    group.count += sum.count;
  }
  std::vector<analysis::Group> out;
  for (auto& [name, group] : by_name) out.push_back(std::move(group));
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return x.bytes != y.bytes ? x.bytes > y.bytes : x.name < y.name;
  });
  return out;
}

std::string SiteGroupOf(const trace::Trace& trace, trace::AllocationId allocation) {
  const trace::AllocationTable& a = trace.allocations;
  const uint32_t id = allocation.value;
  std::string name =
      SiteNames(trace).GroupName(trace.events.StackOf(a.alloc_event[id]), trace.String(a.op[id]));
  if (name.empty()) name = ModuleOpName(trace, a.module[id], a.op[id], IsOlder(trace, id));
  return name;
}

std::vector<analysis::Group> GroupBySite(const trace::Trace& trace, const analysis::LiveSet& live) {
  SiteGroups groups(trace);
  for (const analysis::LiveAllocation& l : live.allocations) {
    groups.Add(l.id, trace.allocations.bytes_rounded[l.id.value]);
  }
  return groups.Sorted();
}

}  // namespace vramscope::explain
