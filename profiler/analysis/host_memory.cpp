#include "profiler/analysis/host_memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/processes.h"

namespace vramscope::analysis {
namespace {

using trace::ActivityKind;
using trace::MemorySpace;

constexpr uint32_t kNoRow = UINT32_MAX;

bool IsOfHost(MemorySpace space) {
  return space == MemorySpace::kPinned || space == MemorySpace::kManaged ||
         space == MemorySpace::kPageable;
}

// The live allocations of host memory of all processes, by process and address.
class Live {
 public:
  explicit Live(const trace::ActivityTable& activities) : a_(activities) {}
  // Ends the live allocation at the row's address and returns that allocation's row, or kNoRow.
  // `row` may also be an allocation: an earlier one at its address must have been freed without a
  // record.
  uint32_t Release(uint32_t row) {
    const auto at = rows_.find(Key(row));
    if (at == rows_.end()) return kNoRow;
    const uint32_t allocation = at->second;
    rows_.erase(at);
    return allocation;
  }
  // Whether the row allocates host memory.
  bool Allocate(uint32_t row) {
    if (a_.kind[row] != ActivityKind::kDriverAlloc || !IsOfHost(a_.to[row])) return false;
    rows_[Key(row)] = row;
    return true;
  }
  const base::HashMap<std::pair<uint64_t, uint64_t>, uint32_t>& rows() const { return rows_; }

 private:
  std::pair<uint64_t, uint64_t> Key(uint32_t row) const {
    return {a_.correlation[row] >> trace::kCorrelationShift, a_.address[row]};
  }
  const trace::ActivityTable& a_;
  base::HashMap<std::pair<uint64_t, uint64_t>, uint32_t> rows_;
};

bool IsOfDriver(ActivityKind kind) {
  return kind == ActivityKind::kDriverAlloc || kind == ActivityKind::kDriverFree;
}

// The memory that is allocated right after row `last`, by site.
std::vector<HostMemory::Site> SitesAt(const trace::Trace& trace, uint32_t last) {
  const trace::ActivityTable& a = trace.activities;
  Live live(a);
  for (uint32_t row = 0; row <= last; ++row) {
    if (!IsOfDriver(a.kind[row])) continue;
    live.Release(row);
    live.Allocate(row);
  }
  base::HashMap<uint64_t, uint32_t> calls;  // correlation of an allocation -> row of its call
  for (const auto& [key, row] : live.rows())
    if (a.correlation[row] != 0) calls[a.correlation[row]] = kNoRow;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kRuntimeCall && a.kind[row] != ActivityKind::kDriverCall)
      continue;
    const auto call = calls.find(a.correlation[row]);
    if (call != calls.end() && call->second == kNoRow) call->second = row;
  }
  std::map<std::string, HostMemory::Site> sites;
  for (const auto& [key, row] : live.rows()) {
    const auto of = calls.find(a.correlation[row]);
    const uint32_t call = of == calls.end() ? kNoRow : of->second;
    std::string_view name;
    if (call != kNoRow) name = trace.String(a.op[call]);
    if (name.empty()) name = trace.String(a.name[row]);
    if (name.empty() && call != kNoRow) name = trace.String(a.name[call]);
    if (name.empty()) name = i18n::Text("unknown");
    HostMemory::Site& site = sites[std::string(name)];
    site.bytes += a.bytes[row];
    ++site.count;
  }
  std::vector<HostMemory::Site> out;
  for (auto& [name, site] : sites) {
    site.name = name;
    out.push_back(std::move(site));
  }
  std::ranges::stable_sort(out, std::greater{}, &HostMemory::Site::bytes);
  return out;
}

}  // namespace

HostMemory HostMemoryOf(const trace::Trace& trace) {
  const trace::ActivityTable& a = trace.activities;
  HostMemory memory;
  if (trace.info.has_config) return memory;  // the embedded loop
  uint64_t copied = 0;                       // most bytes of pinned memory in one memcpy
  Live live(a);
  std::map<MemorySpace, std::pair<HostMemory::Curve, uint64_t>> spaces;  // with the current bytes
  uint64_t now = 0;
  uint32_t peak_row = 0;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] == ActivityKind::kMemcpy &&
        (a.from[row] == MemorySpace::kPinned || a.to[row] == MemorySpace::kPinned))
      copied = std::max<uint64_t>(copied, a.bytes[row]);
    if (!IsOfDriver(a.kind[row])) continue;
    memory.recorded = true;
    const auto change = [&](uint32_t allocation, bool allocated) {
      auto& [curve, bytes] = spaces[a.to[allocation]];
      const uint64_t by = allocated ? a.bytes[allocation] : -a.bytes[allocation];
      bytes += by;
      now += by;
      curve.time_ns.push_back(a.begin_ns[row]);
      curve.bytes.push_back(bytes);
    };
    if (const uint32_t freed = live.Release(row); freed != kNoRow) change(freed, false);
    if (live.Allocate(row)) change(row, true);
    if (now <= memory.peak) continue;
    memory.peak = now;
    memory.peak_ns = a.begin_ns[row];
    peak_row = row;
  }
  if (copied > memory.peak) return {};
  for (auto& [space, of] : spaces) {
    of.first.space = space;
    memory.curves.push_back(std::move(of.first));
  }
  if (memory.peak > 0) memory.sites = SitesAt(trace, peak_row);
  return memory;
}

}  // namespace vramscope::analysis
