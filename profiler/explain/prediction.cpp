#include "profiler/explain/prediction.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "profiler/analysis/phase_peaks.h"
#include "profiler/explain/explain.h"

namespace vramscope::explain {
namespace {

using trace::ActivityKind;
using trace::SliceKind;
using trace::Trace;

std::set<int32_t> WholeSteps(const Trace& t) {
  std::set<int32_t> steps;
  for (uint32_t i = 0; i < t.slices.size(); ++i)
    if (t.slices.kind[i] == SliceKind::kStep && t.slices.end_event[i] != trace::kNoEvent)
      steps.insert(static_cast<int32_t>(t.slices.number[i]));
  return steps;
}

// The step to compare; nothing: all.
absl::StatusOr<std::optional<int32_t>> StepOf(const Trace& a, const Trace& b,
                                              std::optional<int32_t> wanted) {
  if (wanted) return wanted;
  const std::set<int32_t> of_a = WholeSteps(a), of_b = WholeSteps(b);
  if (of_a.empty() && of_b.empty()) return std::optional<int32_t>();
  for (auto step = of_a.rbegin(); step != of_a.rend(); ++step)
    if (of_b.contains(*step)) return std::optional(*step);
  return absl::NotFoundError("the two have no whole step in common");
}

struct Span {
  int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
};
Span SpanOf(const Trace& t, std::optional<int32_t> step) {
  for (uint32_t i = 0; step && i < t.slices.size(); ++i)
    if (t.slices.kind[i] == SliceKind::kStep && static_cast<int32_t>(t.slices.number[i]) == *step)
      return {t.slices.begin_ns[i], t.slices.end_ns[i]};
  return {};
}

struct Work {
  uint64_t count = 0;
  int64_t ns = 0;
};

// By name, of what was launched within the span: a card runs behind its host.
std::map<std::string, Work> KernelsOf(const Trace& t, Span span) {
  const trace::ActivityTable& a = t.activities;
  absl::flat_hash_map<uint64_t, int64_t> launched;  // by correlation
  for (uint32_t row = 0; row < a.size(); ++row)
    if ((a.kind[row] == ActivityKind::kRuntimeCall || a.kind[row] == ActivityKind::kDriverCall) &&
        a.correlation[row] != 0)
      launched.try_emplace(a.correlation[row], a.begin_ns[row]);
  absl::flat_hash_map<uint32_t, Work> by_name;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kKernel && a.kind[row] != ActivityKind::kCollective) continue;
    const auto call = launched.find(a.correlation[row]);
    const int64_t when = call == launched.end() ? a.begin_ns[row] : call->second;
    if (when < span.begin_ns || when >= span.end_ns) continue;
    Work& work = by_name[a.name[row].value];
    ++work.count;
    work.ns += a.end_ns[row] - a.begin_ns[row];
  }
  std::map<std::string, Work> kernels;
  for (const auto& [name, work] : by_name) {
    Work& all = kernels[std::string(t.String({name}))];
    all.count += work.count;
    all.ns += work.ns;
  }
  return kernels;
}

void AddKernels(const Trace& planned, const Trace& measured, Prediction& out) {
  std::map<std::string, Prediction::Kernel> rows;
  for (const auto& [name, work] : KernelsOf(planned, SpanOf(planned, out.step))) {
    rows[name].planned_count = work.count;
    rows[name].planned_ns = work.ns;
  }
  for (const auto& [name, work] : KernelsOf(measured, SpanOf(measured, out.step))) {
    rows[name].measured_count = work.count;
    rows[name].measured_ns = work.ns;
  }
  const auto add = [](Prediction::Kernel& to, const Prediction::Kernel& kernel) {
    to.planned_count += kernel.planned_count;
    to.measured_count += kernel.measured_count;
    to.planned_ns += kernel.planned_ns;
    to.measured_ns += kernel.measured_ns;
  };
  for (auto& [name, kernel] : rows) {
    kernel.name = name;
    add(out.total, kernel);
    if (kernel.planned_count > 0 && kernel.measured_count > 0) add(out.both, kernel);
    out.kernels.push_back(std::move(kernel));
  }
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [](const auto& x, const auto& y) {
    return std::max(x.planned_ns, x.measured_ns) > std::max(y.planned_ns, y.measured_ns);
  });
}

void AddPhases(const Trace& planned, const Trace& measured, Prediction& out) {
  std::map<trace::Phase, Prediction::OfPhase> phases;
  const auto add = [&](const Trace& t, bool is_plan) {
    for (const analysis::PhasePeak& p : analysis::PhasePeaksOf(t, analysis::ComputeCurves(t))) {
      if (p.phase == trace::Phase::kNone || (out.step && p.step != *out.step)) continue;
      Prediction::OfPhase& row = phases[p.phase];
      row.phase = p.phase;
      uint64_t& allocated = is_plan ? row.allocated.planned : row.allocated.measured;
      uint64_t& reserved = is_plan ? row.reserved.planned : row.reserved.measured;
      allocated = std::max(allocated, p.allocated);
      reserved = std::max(reserved, p.reserved);
    }
  };
  add(planned, true);
  add(measured, false);
  for (const auto& [phase, row] : phases) out.phases.push_back(row);
}

void AddCategories(const analysis::Peak& planned, const analysis::Peak& measured, Prediction& out) {
  for (int i = 0; i < trace::kCategoryCount; ++i) {
    const Prediction::Figures bytes{planned.by_category[i], measured.by_category[i]};
    if (bytes.planned != 0 || bytes.measured != 0)
      out.categories.push_back({static_cast<trace::Category>(i), bytes});
  }
  std::stable_sort(out.categories.begin(), out.categories.end(), [](const auto& x, const auto& y) {
    return std::abs(x.bytes.error()) > std::abs(y.bytes.error());
  });
}

Prediction::Side SideOf(const Trace& t, const analysis::RequestStream& stream, uint64_t index,
                        const std::string& text) {
  Prediction::Side side{.index = index, .text = text};
  if (text.empty() || index >= stream.requests.size()) return side;
  const trace::EventIndex event = stream.requests[index].event;
  const auto id = static_cast<uint32_t>(t.events.id[event]);
  side.op = t.String(t.allocations.op[id]);
  side.module = t.String(t.allocations.module[id]);
  side.category = t.allocations.main_category[id];
  side.phase = t.allocations.phase[id];
  trace::StackId stack = t.events.StackOf(event);  // of a free: who freed, where that is known
  if (stack.value == 0) stack = t.events.StackOf(t.allocations.alloc_event[id]);
  side.stack = StackLines(t, stack, true);
  return side;
}

}  // namespace

std::optional<double> Prediction::Figures::relative() const {
  if (measured == 0) return std::nullopt;
  return static_cast<double>(error()) / static_cast<double>(measured);
}

absl::StatusOr<Prediction> HoldAgainst(const Trace& planned, const Trace& measured,
                                       std::optional<int32_t> step) {
  Prediction out;
  const absl::StatusOr<std::optional<int32_t>> compared = StepOf(planned, measured, step);
  if (!compared.ok()) return compared.status();
  out.step = *compared;
  const absl::StatusOr<TraceDiff> diff = DiffTraces(planned, measured, out.step);
  if (!diff.ok()) return diff.status();
  out.allocated = {diff->a.allocated, diff->b.allocated};
  out.reserved = {diff->a.reserved, diff->b.reserved};
  AddCategories(diff->a, diff->b, out);
  AddPhases(planned, measured, out);

  const auto a = analysis::RequestsOfStep(planned, out.step);
  if (!a.ok()) return a.status();
  const auto b = analysis::RequestsOfStep(measured, out.step);
  if (!b.ok()) return b.status();
  constexpr size_t kShown = 20;
  out.requests = analysis::DiffRequests(*a, *b, kShown);
  if (!out.requests.first_differences.empty()) {
    const auto& d = out.requests.first_differences.front();
    out.first = {SideOf(planned, *a, d.index_a, d.a), SideOf(measured, *b, d.index_b, d.b)};
  }
  AddKernels(planned, measured, out);
  return out;
}

}  // namespace vramscope::explain
