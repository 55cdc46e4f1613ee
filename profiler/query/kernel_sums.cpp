#include "profiler/query/kernel_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "profiler/query/matcher.h"

namespace vramscope::query {

using trace::ActivityKind;
using trace::SliceKind;

bool IsDeviceWork(ActivityKind kind) {
  return trace::IsOfDevice(kind) && kind != ActivityKind::kCounter;
}

std::string ActivityName(const trace::Trace& trace, uint32_t row) {
  const trace::ActivityTable& a = trace.activities;
  if (const std::string_view name = trace.String(a.name[row]); !name.empty())
    return std::string(name);
  if (a.kind[row] == ActivityKind::kMemcpy) return trace::CopyName(a.from[row], a.to[row]);
  return a.kind[row] == ActivityKind::kMemset ? trace::SetName(a.to[row])
                                              : std::string(trace::Name(a.kind[row]));
}

std::string_view OpOf(const ActivityIndex& index, uint32_t row) {
  const trace::Trace& trace = index.trace();
  const uint32_t slice = index.SliceOf(row, SliceKind::kOp);
  return trace.String(slice == kNoRow ? trace.activities.op[row] : trace.slices.name[slice]);
}

std::string_view ModuleOf(const ActivityIndex& index, uint32_t row) {
  return index.trace().String(index.ModuleOf(row));
}

std::string_view PhaseOf(const ActivityIndex& index, uint32_t row) {
  const uint32_t slice = index.SliceOf(row, SliceKind::kPhase);
  return slice == kNoRow ? std::string_view() : trace::Name(index.trace().slices.phase(slice));
}

int64_t StepOf(const ActivityIndex& index, uint32_t row) {
  const uint32_t slice = index.SliceOf(row, SliceKind::kStep);
  return slice == kNoRow ? -1 : int64_t{index.trace().slices.number[slice]};
}

std::string_view Name(KernelsBy by) {
  switch (by) {
    case KernelsBy::kName:
      return "name";
    case KernelsBy::kOp:
      return "op";
    case KernelsBy::kModule:
      return "module";
    case KernelsBy::kPhase:
      return "phase";
    case KernelsBy::kStep:
      return "step";
    case KernelsBy::kStream:
      return "stream";
    case KernelsBy::kKind:
      return "kind";
  }
  return "";
}

std::optional<KernelsBy> ParseKernelsBy(std::string_view name) {
  for (const KernelsBy by : kKernelsBy)
    if (Name(by) == name) return by;
  return std::nullopt;
}

namespace {

std::string KeyText(const ActivityIndex& index, uint32_t row, KernelsBy by) {
  switch (by) {
    case KernelsBy::kOp:
      return std::string(OpOf(index, row));
    case KernelsBy::kModule:
      return std::string(ModuleOf(index, row));
    case KernelsBy::kPhase:
      return std::string(PhaseOf(index, row));
    case KernelsBy::kStep: {
      const int64_t step = StepOf(index, row);
      return step < 0 ? "" : fmt::format("{}", step);
    }
    case KernelsBy::kStream:
      return fmt::format("stream {}", index.trace().activities.stream[row]);
    case KernelsBy::kKind:
      return std::string(trace::Name(index.trace().activities.kind[row]));
    case KernelsBy::kName:
      break;
  }
  return ActivityName(index.trace(), row);
}

// Returns a number for an activity's group. Activities with equal numbers are in the same group.
// Groups with different numbers can have the same name.
uint64_t KeyNumber(const ActivityIndex& index, uint32_t row, KernelsBy by) {
  const trace::Trace& trace = index.trace();
  const trace::ActivityTable& a = trace.activities;
  switch (by) {
    case KernelsBy::kOp: {
      const uint32_t slice = index.SliceOf(row, SliceKind::kOp);
      return (slice == kNoRow ? a.op[row] : trace.slices.name[slice]).value;
    }
    case KernelsBy::kModule:
      return index.ModuleOf(row).value;
    case KernelsBy::kPhase: {
      const uint32_t slice = index.SliceOf(row, SliceKind::kPhase);
      return slice == kNoRow ? UINT64_MAX : uint64_t{trace.slices.number[slice]};
    }
    case KernelsBy::kStep:
      return static_cast<uint64_t>(StepOf(index, row));
    case KernelsBy::kStream:
      return a.stream[row];
    case KernelsBy::kKind:
      return static_cast<uint64_t>(a.kind[row]);
    case KernelsBy::kName:
      break;
  }
  const uint64_t name = a.name[row].value;
  return name << 24 | static_cast<uint64_t>(a.kind[row]) << 16 |
         static_cast<uint64_t>(a.from[row]) << 8 | static_cast<uint64_t>(a.to[row]);
}

}  // namespace

KernelSums SumKernels(const ActivityIndex& index, KernelsBy by, int64_t begin_ns, int64_t end_ns,
                      const Filter& filter) {
  const trace::Trace& trace = index.trace();
  const trace::ActivityTable& a = trace.activities;
  KernelSums out;
  out.sum_of.assign(a.size(), kNoRow);
  Matcher matcher(filter, trace, &index);
  std::unordered_map<uint64_t, uint32_t> by_number;
  std::map<std::string, uint32_t> by_text;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (!IsDeviceWork(a.kind[row])) continue;
    if (begin_ns < end_ns && (a.begin_ns[row] < begin_ns || a.begin_ns[row] >= end_ns)) continue;
    if (!matcher.Matches({*ThingKindOf(a.kind[row]), row})) continue;
    const auto [at, fresh] = by_number.try_emplace(KeyNumber(index, row, by), 0);
    if (fresh) {
      const auto [text, first] =
          by_text.try_emplace(KeyText(index, row, by), static_cast<uint32_t>(out.sums.size()));
      if (first) out.sums.emplace_back().name = text->first;
      at->second = text->second;
    }
    KernelSum& sum = out.sums[at->second];
    const int64_t takes = TakesOf(trace, row);
    if (sum.longest == kNoRow || takes > TakesOf(trace, sum.longest)) sum.longest = row;
    ++sum.count;
    sum.bytes += a.bytes[row];
    sum.takes_ns += takes;
    ++out.count;
    out.takes_ns += takes;
    out.sum_of[row] = at->second;
  }
  std::vector<uint32_t> order(out.sums.size()), place(out.sums.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    const KernelSum &l = out.sums[x], &r = out.sums[y];
    return l.takes_ns != r.takes_ns ? l.takes_ns > r.takes_ns : l.name < r.name;
  });
  std::vector<KernelSum> sorted;
  sorted.reserve(order.size());
  for (const uint32_t from : order) {
    place[from] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(out.sums[from]));
  }
  out.sums = std::move(sorted);
  for (uint32_t& sum : out.sum_of)
    if (sum != kNoRow) sum = place[sum];
  return out;
}

}  // namespace vramscope::query
