#include "profiler/exporters/chrome_activities.h"

#include <iterator>

#include "profiler/base/hash_map.h"
#include "profiler/exporters/json_text.h"

namespace vramscope::exporters {
namespace {

using trace::Activity;
using trace::ActivityKind;
using trace::MemorySpace;

std::string_view CategoryOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kCollective:
      return "kernel";
    case ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ActivityKind::kMemset:
      return "gpu_memset";
    case ActivityKind::kSynchronization:
      return "cuda_sync";
    case ActivityKind::kRuntimeCall:
      return "cuda_runtime";
    case ActivityKind::kDriverCall:
      return "cuda_driver";
    case ActivityKind::kDriverAlloc:
      return "driver_alloc";
    case ActivityKind::kDriverFree:
      return "driver_free";
    case ActivityKind::kOverhead:
      return "overhead";
    case ActivityKind::kRange:
      return "range";
    case ActivityKind::kCounter:
      return "counter";
    case ActivityKind::kOperand:  // stored in a separate table
      break;
  }
  return "";
}

bool IsCall(ActivityKind kind) {
  return kind == ActivityKind::kRuntimeCall || kind == ActivityKind::kDriverCall;
}

}  // namespace

ChromeActivities::ChromeActivities(const trace::Trace& trace, const std::vector<std::string>& names,
                                   int64_t begin_ns)
    : table_(trace.activities), names_(names), begin_ns_(begin_ns) {
  base::HashSet<uint64_t> launched;
  for (uint32_t row = 0; row < table_.size(); ++row)
    if (trace::IsOfDevice(table_.kind[row]) && table_.correlation[row] != 0)
      launched.insert(table_.correlation[row]);
  // A runtime call takes precedence over the driver call that it makes, which has the same
  // correlation.
  for (const ActivityKind kind : {ActivityKind::kRuntimeCall, ActivityKind::kDriverCall})
    for (uint32_t row = 0; row < table_.size(); ++row)
      if (table_.kind[row] == kind && launched.contains(table_.correlation[row]))
        calls_.try_emplace(table_.correlation[row], row);
}

void ChromeActivities::Write(uint32_t row, Place place, fmt::memory_buffer& out) const {
  const Activity a = table_.Row(row);
  const auto put = [&out]<typename... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  const std::string begin = Microseconds(a.begin_ns - begin_ns_);
  const bool counter = a.kind == ActivityKind::kCounter;
  put("  {{\n    \"ph\": \"{}\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n"
      "    \"ts\": {}, \"dur\": {},\n    \"args\": {{ ",
      counter ? 'C' : 'X', CategoryOf(a.kind), names_[a.name.value], place.process, place.thread,
      begin, Microseconds(a.end_ns - a.begin_ns));
  const char* comma = "";
  const auto number = [&](std::string_view key, auto value) {
    put("{}\"{}\": {}", comma, key, value);
    comma = ", ";
  };
  const auto text = [&](std::string_view key, std::string_view value) {
    put("{}\"{}\": \"{}\"", comma, key, value);
    comma = ", ";
  };
  // Viewers draw every argument of a counter as a curve, so counters have only one argument.
  if (a.bytes != 0 || counter) number("bytes", a.bytes);
  if (!counter) {
    if (trace::HasDevice(a.kind)) number("device", a.device);
    if (a.stream == trace::kAllStreams)
      number("stream", -1);
    else if (trace::IsOfDevice(a.kind) || a.kind == ActivityKind::kSynchronization)
      number("stream", a.stream);
    if (a.correlation != 0) number("correlation", a.correlation);
    if (a.address != 0) number("Addr", a.address);
    if (a.from != MemorySpace::kUnknown) text("from", trace::Name(a.from));
    if (a.to != MemorySpace::kUnknown) text("to", trace::Name(a.to));
    if (a.op.value != 0) text("Op", names_[a.op.value]);
    if (a.module.value != 0) text("Module", names_[a.module.value]);
  }
  put(" }}\n  }},\n");

  const auto call = calls_.find(a.correlation);
  if (call == calls_.end()) return;
  const bool begins = call->second == row;
  if (!begins && (IsCall(a.kind) || !trace::IsOfDevice(a.kind))) return;
  put("  {{\n    \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {},\n"
      "    \"cat\": \"ac2g\", \"name\": \"ac2g\"{}\n  }},\n",
      begins ? 's' : 'f', a.correlation, place.process, place.thread, begin,
      begins ? "" : ", \"bp\": \"e\"");
}

}  // namespace vramscope::exporters
