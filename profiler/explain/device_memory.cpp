#include "profiler/explain/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/analysis/past_allocator.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/run/saturating.h"
#include "profiler/run/units.h"
#include "profiler/trace/device_counters.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::ActivityKind;
using trace::EventIndex;
using What = DeviceMemory::What;
using Source = DeviceMemory::Source;

// Limits the figure, because figures of a file may be larger than any memory.
int64_t Signed(uint64_t bytes) {
  return static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
}

bool IsCommunication(std::string_view library) { return library.starts_with("libnccl"); }

std::string Libraries(const std::map<std::string, uint64_t>& by_library, bool communication) {
  std::string text;
  for (const auto& [library, bytes] : by_library)
    if (IsCommunication(library) == communication)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                          library.empty() ? i18n::Text("an unknown library") : library,
                          FormatBytes(bytes));
  return i18n::Text("memory outside the caching allocator, as recorded by CUPTI: ") + text;
}

}  // namespace

const DeviceMemory::Part* DeviceMemory::Of(What what) const {
  const auto at = std::find_if(parts.begin(), parts.end(),
                               [what](const Part& part) { return part.what == what; });
  return at == parts.end() ? nullptr : &*at;
}

std::string_view Name(What what) {
  switch (what) {
    case What::kRequested:
      return i18n::Text("blocks, as requested");
    case What::kBlocks:
      return i18n::Text("blocks");
    case What::kRounding:
      return i18n::Text("rounding of blocks");
    case What::kHoles:
      return i18n::Text("holes between blocks");
    case What::kCached:
      return i18n::Text("cached, wholly free");
    case What::kUnplaced:
      return i18n::Text("reserved, not in use");
    case What::kLibraries:
      return i18n::Text("libraries");
    case What::kCommunication:
      return i18n::Text("communication");
    case What::kContext:
      return i18n::Text("CUDA context");
    case What::kOtherProcesses:
      return i18n::Text("other processes");
    case What::kDriver:
      return i18n::Text("driver and firmware");
    case What::kRemainder:
      return i18n::Text("not accounted for");
  }
  return "?";
}

std::string_view Name(Source source) {
  switch (source) {
    case Source::kMeasured:
      return i18n::Text("measured");
    case Source::kModelled:
      return i18n::Text("modelled");
    case Source::kAssumed:
      return i18n::Text("assumed");
  }
  return "?";
}

DeviceMemoryHistory::DeviceMemoryHistory(const trace::Trace& trace) : trace_(trace) {
  const trace::ActivityTable& a = trace.activities;
  constexpr std::optional<uint64_t> Answer::*kFields[] = {&Answer::total, &Answer::used,
                                                          &Answer::driver, &Answer::process};
  static_assert(std::size(kFields) == trace::kMemoryCounters.size());
  // Name of a counter -> its number in kFields; -1: a counter of another kind.
  base::HashMap<uint32_t, int> names;
  taken_ = analysis::PastAllocatorRows(trace);
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kCounter) continue;
    const auto [it, added] = names.try_emplace(a.name[row].value, -1);
    if (added) {
      const auto& all = trace::kMemoryCounters;
      const auto at = std::find(all.begin(), all.end(), trace.String(a.name[row]));
      if (at != all.end()) it->second = static_cast<int>(at - all.begin());
    }
    if (it->second < 0) continue;
    if (answers_.empty() || answers_.back().time_ns != a.begin_ns[row])
      answers_.push_back({.time_ns = a.begin_ns[row]});
    answers_.back().*kFields[it->second] = a.bytes[row];
  }
  std::erase_if(answers_, [](const Answer& answer) { return !answer.used; });
  if (answers_.empty()) return;
  of_process_ =
      std::ranges::all_of(answers_, [](const Answer& x) { return x.process.has_value(); });
  context_ = std::max<int64_t>(0, UsedBy(answers_.front()) - AccountedAt(answers_.front().time_ns));
}

DeviceMemoryHistory::OutsideAllocator DeviceMemoryHistory::OutsideAllocatorAt(
    int64_t time_ns) const {
  const trace::ActivityTable& a = trace_.activities;
  base::HashMap<uint64_t, uint32_t> live;  // address -> row
  for (const uint32_t row : taken_) {
    if (a.begin_ns[row] > time_ns) break;
    if (a.kind[row] == ActivityKind::kDriverFree)
      live.erase(a.address[row]);
    else
      live[a.address[row]] = row;
  }
  OutsideAllocator taken;
  for (const auto& [address, row] : live) {
    const std::string_view library = trace_.String(a.name[row]);
    for (uint64_t* sum : {IsCommunication(library) ? &taken.communication : &taken.libraries,
                          &taken.by_library[std::string(library)]})
      *sum = run::AddSaturating(*sum, uint64_t{a.bytes[row]});
  }
  return taken;
}

// Returns the reserved bytes plus the bytes that were allocated from the driver directly.
int64_t DeviceMemoryHistory::AccountedAt(int64_t time_ns) const {
  const OutsideAllocator taken = OutsideAllocatorAt(time_ns);
  uint64_t reserved = 0;
  const trace::EventTable& events = trace_.events;
  if (events.size() > 0 && events.time_ns.front() <= time_ns)
    reserved =
        trace::MemoryCursor::Behind(trace_, analysis::EventAtTime(trace_, time_ns)).sums().reserved;
  return Signed(
      run::AddSaturating(run::AddSaturating(taken.libraries, taken.communication), reserved));
}

int64_t DeviceMemoryHistory::UsedBy(const Answer& answer) const {
  return Signed(of_process_ ? *answer.process : *answer.used);
}

DeviceMemory DeviceMemoryHistory::At(EventIndex event) const {
  const trace::TraceInfo& info = trace_.info;
  DeviceMemory m;
  m.device = trace::OnlyDevice(trace_);
  const Fragmentation f = FragmentationAt(trace_, event);
  m.context = f.context;
  m.of_host = trace::IsOfHostMemory(trace_);
  m.total = m.of_host ? 0 : std::min<uint64_t>(info.device.memory_bytes, INT64_MAX);
  // The figures of a recording, imported or not, are measured. The figures of a plan are modelled.
  const bool imported = info.backend == trace::Backend::kImported;
  const Source source = info.measured || imported ? Source::kMeasured : Source::kModelled;
  const auto add = [&](What what, int64_t bytes, std::string about, Source from) {
    if (bytes == 0 && what != What::kRemainder) return;
    m.used = run::AddSaturating(m.used, bytes);
    m.parts.push_back({what, from, bytes, std::move(about)});
  };
  const bool state = info.content == trace::Content::kState;
  const std::string history =
      f.record == trace::SegmentRecord::kTotalOnly ? i18n::Text("the profiler's totals")
      : state     ? i18n::Text("the snapshot, which contains one state and no history")
      : m.of_host ? i18n::Text("the host's allocator")
                  : i18n::Text("the allocator's history");
  if (f.sizes_are_of_blocks) {
    add(What::kBlocks, Signed(f.allocated),
        history + i18n::Text("; these are block sizes, because requested sizes are not recorded"),
        source);
  } else {
    add(What::kRequested, Signed(f.requested), history, source);
    add(What::kRounding, Signed(f.rounding + f.tails), history, source);
  }
  add(What::kHoles, Signed(f.holes), history, source);
  add(What::kCached, Signed(f.cached), history + i18n::Text("; empty_cache() releases this memory"),
      source);
  add(What::kUnplaced, Signed(f.unplaced),
      history +
          i18n::Text(
              "; the trace does not record whether this memory is in holes or in free segments"),
      source);

  const int64_t now = m.context.time_ns;
  const OutsideAllocator taken = OutsideAllocatorAt(now);
  add(What::kLibraries, Signed(taken.libraries), Libraries(taken.by_library, false), source);
  add(What::kCommunication, Signed(taken.communication), Libraries(taken.by_library, true), source);
  if (answers_.empty()) {
    if (!imported && !m.of_host)
      add(What::kContext, Signed(info.device.context_bytes),
          i18n::Text("the device table, because NVML was not queried"), Source::kAssumed);
    return m;
  }
  const auto after = std::upper_bound(answers_.begin(), answers_.end(), now,
                                      [](int64_t t, const Answer& x) { return t < x.time_ns; });
  const Answer& first = answers_.front();
  const Answer& last = after == answers_.begin() ? first : *std::prev(after);
  const auto at = [](const Answer& answer) {
    return fmt::format("{:.3f} s", static_cast<double>(answer.time_ns) / 1e9);
  };
  m.asked_ns = last.time_ns;
  if (last.total) m.total = std::min<uint64_t>(*last.total, INT64_MAX);
  add(What::kContext, context_,
      i18n::Format("memory {} according to the first NVML query (at {}), minus the parts above",
                   of_process_ ? i18n::Text("of this process")
                               : i18n::Text("of all processes (NVML did not report each process)"),
                   at(first)),
      source);
  if (of_process_)
    add(What::kOtherProcesses, std::max<int64_t>(0, Signed(*last.used) - Signed(*last.process)),
        i18n::Format(
            "memory of all processes minus memory of this process, according to the NVML query at "
            "{}. If there are no other processes, this is the driver's own memory",
            at(last)),
        source);
  add(What::kDriver, Signed(last.driver.value_or(0)), i18n::Text("NVML: reserved"), source);
  add(What::kRemainder, run::AddSaturating(UsedBy(last) - AccountedAt(last.time_ns), -context_),
      i18n::Format("memory according to the last NVML query (at {}), minus the parts above. This "
                   "remainder is code "
                   "that was loaded since the first query, and memory that was not recorded",
                   at(last)),
      source);
  return m;
}

}  // namespace vramscope::explain
