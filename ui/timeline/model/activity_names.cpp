#include "ui/timeline/model/activity_names.h"

#include <fmt/format.h>

#include <iterator>

#include "profiler/base/i18n.h"
#include "profiler/query/kernel_names.h"
#include "profiler/trace/device_counters.h"
#include "profiler/trace/processes.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui::timeline {

using trace::ActivityKind;

std::string_view ActivityNoun(ActivityKind kind) {
  return kind == ActivityKind::kMemcpy   ? i18n::Text("memcpy")
         : kind == ActivityKind::kMemset ? i18n::Text("memset")
                                         : i18n::Text(trace::Name(kind));
}

std::string ActivityLabel(const trace::Trace& t, uint32_t row) {
  const trace::ActivityTable& a = t.activities;
  const std::string_view name = t.String(a.name[row]);
  switch (a.kind[row]) {
    case ActivityKind::kKernel:
      return name.empty() ? i18n::Text("kernel") : query::KernelName(name);
    case ActivityKind::kMemcpy:
      return fmt::format("{} → {} {}", i18n::Text(trace::Name(a.from[row])),
                         i18n::Text(trace::Name(a.to[row])), FormatBytes(a.bytes[row], true));
    case ActivityKind::kMemset:
      return i18n::Format("memset {}", FormatBytes(a.bytes[row], true));
    case ActivityKind::kCollective:
      return a.bytes[row] ? fmt::format("{} {}", name, FormatBytes(a.bytes[row], true))
                          : std::string(name);
    case ActivityKind::kDriverAlloc:
      return fmt::format("+{}", FormatBytes(a.bytes[row], true));
    case ActivityKind::kDriverFree:
      return fmt::format("−{}", FormatBytes(a.bytes[row], true));
    case ActivityKind::kSynchronization:
    case ActivityKind::kRuntimeCall:
    case ActivityKind::kDriverCall:
    case ActivityKind::kOverhead:
    case ActivityKind::kRange:
    case ActivityKind::kOperand:
      break;
    case ActivityKind::kCounter:
      if (!name.empty()) return CounterLabel(name);
      break;
  }
  return std::string(name.empty() ? i18n::Text(trace::Name(a.kind[row])) : name);
}

std::string ThreadName(const trace::Trace& t, uint32_t thread) {
  const uint32_t own = thread & ((1u << trace::kProcessShift) - 1);
  for (const trace::Process& process : trace::ProcessesOf(t))
    if (process.number == trace::ProcessOfThread(thread))
      return i18n::Format("thread {} of {}", own, process.name);
  return i18n::Format("thread {}", own);
}

std::string PlaceOf(const trace::Trace& t, uint32_t row) {
  const trace::ActivityTable& a = t.activities;
  if (!trace::IsOfDevice(a.kind[row]) && a.kind[row] != ActivityKind::kDriverAlloc &&
      a.kind[row] != ActivityKind::kDriverFree)
    return ThreadName(t, a.thread[row]);
  const std::string device = trace::NameOfDevice(t, a.device[row]);
  if (a.kind[row] == ActivityKind::kKernel || a.kind[row] == ActivityKind::kMemcpy ||
      a.kind[row] == ActivityKind::kMemset || a.kind[row] == ActivityKind::kCollective)
    return i18n::Format("stream {} of {}", a.stream[row], device);
  return device;
}

std::string CounterLabel(std::string_view name) {
  // The labels of trace::kMemoryCounters, in the same order.
  static constexpr std::string_view kLabels[] = {
      TEXT_MARK("total GPU memory"), TEXT_MARK("memory used by all processes"),
      TEXT_MARK("memory kept by the driver"), TEXT_MARK("memory used by this process")};
  static_assert(std::size(kLabels) == trace::kMemoryCounters.size());
  name = trace::WithoutUnit(name);
  for (size_t i = 0; i < std::size(kLabels); ++i)
    if (name == trace::WithoutUnit(trace::kMemoryCounters[i])) return i18n::Text(kLabels[i]);
  return std::string(name);
}

}  // namespace vramscope::ui::timeline
