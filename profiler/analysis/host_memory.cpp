#include "profiler/analysis/host_memory.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
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

// Tracks the live host allocations of all processes. The key is the process and the address.
class Live {
 public:
  explicit Live(const trace::ActivityTable& activities) : a_(activities) {}
  // Ends the live allocation at the address of `row`. Returns that allocation's row, or kNoRow. If
  // `row` itself is an allocation, the earlier allocation must have been freed without a record.
  uint32_t Release(uint32_t row) {
    const auto at = rows_.find(Key(row));
    if (at == rows_.end()) return kNoRow;
    const uint32_t allocation = at->second;
    rows_.erase(at);
    return allocation;
  }
  // Adds the row if it allocates host memory. Returns whether it does.
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

// Returns for each live allocation the row of the API call that made it (kNoRow if it is unknown).
// The key is the correlation.
base::HashMap<uint64_t, uint32_t> CallsOf(const trace::ActivityTable& a, const Live& live) {
  base::HashMap<uint64_t, uint32_t> calls;
  for (const auto& [key, row] : live.rows())
    if (a.correlation[row] != 0) calls[a.correlation[row]] = kNoRow;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kRuntimeCall && a.kind[row] != ActivityKind::kDriverCall)
      continue;
    const auto call = calls.find(a.correlation[row]);
    if (call != calls.end() && call->second == kNoRow) call->second = row;
  }
  return calls;
}

// Returns the site of an allocation, without bytes. `call` is the row of the API call that
// allocated, or kNoRow.
HostMemory::Site SiteOf(const trace::Trace& trace, uint32_t row, uint32_t call) {
  const trace::ActivityTable& a = trace.activities;
  HostMemory::Site site;
  site.space = a.to[row];
  if (call != kNoRow) site.op = trace.String(a.op[call]);
  const std::string_view name = trace.String(a.name[row]);
  std::string frame;
  if (const std::optional<CodeLine> code = ParseCodeLine(name)) {
    site.file = code->file;
    site.function = code->function;
    site.line = code->line;
    frame = FrameName(code->file, code->line, code->function);
  }
  site.name = SiteName(frame, site.op);
  if (site.name.empty()) site.name = name;
  if (site.name.empty() && call != kNoRow) site.name = trace.String(a.name[call]);
  if (site.name.empty()) site.name = i18n::Text("unknown");
  return site;
}

// Returns the memory that is allocated directly after row `last`, by site.
std::vector<HostMemory::Site> SitesAt(const trace::Trace& trace, uint32_t last) {
  const trace::ActivityTable& a = trace.activities;
  Live live(a);
  for (uint32_t row = 0; row <= last; ++row) {
    if (!IsOfDriver(a.kind[row])) continue;
    live.Release(row);
    live.Allocate(row);
  }
  const base::HashMap<uint64_t, uint32_t> calls = CallsOf(a, live);
  // The key has the whole path, because files with equal base names are different sites.
  std::map<std::tuple<std::string, std::string, MemorySpace>, HostMemory::Site> sites;
  for (const auto& [key, row] : live.rows()) {
    const auto call = calls.find(a.correlation[row]);
    HostMemory::Site made = SiteOf(trace, row, call == calls.end() ? kNoRow : call->second);
    std::tuple of(made.name, made.file, made.space);
    HostMemory::Site& site = sites.try_emplace(std::move(of), std::move(made)).first->second;
    site.bytes += a.bytes[row];
    ++site.count;
  }
  std::vector<HostMemory::Site> out;
  for (auto& [of, site] : sites) out.push_back(std::move(site));
  std::ranges::stable_sort(out, std::greater{}, &HostMemory::Site::bytes);
  return out;
}

}  // namespace

HostMemory HostMemoryOf(const trace::Trace& trace) {
  const trace::ActivityTable& a = trace.activities;
  HostMemory memory;
  // A trace of the embedded training loop, which does not record host allocations.
  if (trace.info.has_config) return memory;
  uint64_t copied = 0;  // most bytes of pinned memory in one memcpy
  Live live(a);
  // The curve and the current bytes of each memory space.
  std::map<MemorySpace, std::pair<HostMemory::Curve, uint64_t>> spaces;
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

std::string SiteText(const HostMemory::Site& site) {
  const std::string bytes = run::FormatBytes(site.bytes), name = ShownName(site.name);
  const std::string_view space = i18n::Text(trace::Name(site.space));
  return site.file.empty() ? i18n::Format("{} {} by {}", bytes, space, name)
                           : i18n::Format("{} {} at {}", bytes, space, name);
}

std::optional<CodeLine> ParseCodeLine(std::string_view name) {
  // A path may contain colons. A function's name contains no colons and no spaces.
  const size_t colon = name.rfind(':');
  const size_t space = name.find(' ', colon == std::string_view::npos ? name.size() : colon);
  if (colon == 0 || space == std::string_view::npos) return std::nullopt;
  CodeLine code{.file = name.substr(0, colon), .function = name.substr(space + 1)};
  const char* const end = name.data() + space;
  const auto [read, error] = std::from_chars(name.data() + colon + 1, end, code.line);
  if (error != std::errc() || read != end || code.function.empty()) return std::nullopt;
  return code;
}

}  // namespace vramscope::analysis
