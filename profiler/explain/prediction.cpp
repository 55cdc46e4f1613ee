#include "profiler/explain/prediction.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "profiler/analysis/phase_peaks.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
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

// Returns the step to compare, or nullopt to compare the whole traces.
absl::StatusOr<std::optional<int32_t>> StepOf(const Trace& a, const Trace& b,
                                              std::optional<int32_t> wanted) {
  if (wanted) return wanted;
  const std::set<int32_t> of_a = WholeSteps(a), of_b = WholeSteps(b);
  if (of_a.empty() && of_b.empty()) return std::optional<int32_t>();
  for (auto step = of_a.rbegin(); step != of_a.rend(); ++step)
    if (of_b.contains(*step)) return std::optional(*step);
  return absl::NotFoundError(i18n::Text("the two traces have no whole step in common"));
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

struct Launch {
  std::string_view name, op;
  int64_t when_ns = 0, ns = 0;
};

// Returns the kernels that the host launched within the span, in launch order. (The GPU may run
// them after the span.)
std::vector<Launch> LaunchesOf(const Trace& t, Span span) {
  const trace::ActivityTable& a = t.activities;
  base::HashMap<uint64_t, int64_t> launched;  // keyed by correlation
  for (uint32_t row = 0; row < a.size(); ++row)
    if ((a.kind[row] == ActivityKind::kRuntimeCall || a.kind[row] == ActivityKind::kDriverCall) &&
        a.correlation[row] != 0)
      launched.try_emplace(a.correlation[row], a.begin_ns[row]);
  std::vector<Launch> launches;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kKernel && a.kind[row] != ActivityKind::kCollective) continue;
    const auto call = launched.find(a.correlation[row]);
    const int64_t when = call == launched.end() ? a.begin_ns[row] : call->second;
    if (when < span.begin_ns || when >= span.end_ns) continue;
    launches.push_back(
        {t.String(a.name[row]), t.String(a.op[row]), when, a.end_ns[row] - a.begin_ns[row]});
  }
  std::ranges::stable_sort(launches, {}, &Launch::when_ns);
  return launches;
}

constexpr std::string_view kOthers = TEXT_MARK("others");

// Returns the class of a library's kernel, or "" for other kernels. Library kernels cannot be
// compared by name, because one call can run several kernels, and their names differ between GPUs.
std::string_view ClassOf(std::string_view name, std::string_view op) {
  constexpr std::string_view kAttention = TEXT_MARK("attention"),
                             kConvolutions = TEXT_MARK("convolutions"),
                             kBatchNorms = TEXT_MARK("batch norms"),
                             kProducts = TEXT_MARK("matrix products");
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"fmha_", kAttention},
      {"flash_fwd", kAttention},
      {"flash_bwd", kAttention},
      {"sdpa", kAttention},
      {"attention", kAttention},
      {"implicit_gemm", kConvolutions},
      {"implicitgemm", kConvolutions},
      {"convol", kConvolutions},
      {"dgrad", kConvolutions},
      {"wgrad", kConvolutions},
      {"fprop", kConvolutions},
      {"nchwtonhwc", kConvolutions},
      {"nhwctonchw", kConvolutions},
      {"winograd", kConvolutions},
      {"batch_norm", kBatchNorms},
      {"::bn_", kBatchNorms},
      {"gemm", kProducts},
      {"gemv", kProducts},
      {"nvjet", kProducts},
      {"cutlass::kernel2", kProducts},
      {"splitk", kProducts},
      {"cublas", kProducts},
  };
  const std::string lower = absl::AsciiStrToLower(absl::string_view(name.data(), name.size()));
  for (const auto& [part, of] : kParts)
    if (lower.find(part) != std::string::npos)
      return of == kProducts && op.find("conv") != std::string_view::npos ? kConvolutions : of;
  return {};
}

// Matches kernels by name. Kernels without a match are summed by class if they have one. All
// others are matched by operator and launch order. (A library's kernel has another name on each
// GPU.)
void AddKernels(const Trace& planned, const Trace& measured, Prediction& out) {
  const std::vector<Launch> sides[] = {LaunchesOf(planned, SpanOf(planned, out.step)),
                                       LaunchesOf(measured, SpanOf(measured, out.step))};
  std::set<std::string_view> names[2];
  for (const int side : {0, 1})
    for (const Launch& launch : sides[side]) names[side].insert(launch.name);

  std::map<std::pair<std::string_view, std::string_view>, Prediction::Kernel> rows;
  std::map<std::string_view, Prediction::Kernel> classes, of_one_side;
  const auto add_to = [](Prediction::Kernel& row, int side, const Launch& launch) {
    ++(side == 0 ? row.planned_count : row.measured_count);
    (side == 0 ? row.planned_ns : row.measured_ns) += launch.ns;
  };
  const auto count = [&rows](const Launch* plan, const Launch* measure) {
    const auto name = [](const Launch* launch) {
      return launch == nullptr ? std::string_view() : launch->name;
    };
    Prediction::Kernel& row = rows[{name(plan), name(measure)}];
    if (plan != nullptr) ++row.planned_count, row.planned_ns += plan->ns;
    if (measure != nullptr) ++row.measured_count, row.measured_ns += measure->ns;
  };
  std::map<std::string_view, std::vector<const Launch*>> of_op[2];
  for (const int side : {0, 1}) {
    for (const Launch& launch : sides[side]) {
      const std::string_view of = ClassOf(launch.name, launch.op);
      add_to(classes[of.empty() ? kOthers : of], side, launch);
      if (names[1 - side].contains(launch.name)) {
        add_to(rows[{launch.name, launch.name}], side, launch);
      } else if (!of.empty()) {
        add_to(of_one_side[of], side, launch);
      } else if (launch.op.empty()) {
        side == 0 ? count(&launch, nullptr) : count(nullptr, &launch);
      } else {
        of_op[side][launch.op].push_back(&launch);
        of_op[1 - side][launch.op];
      }
    }
  }
  for (const auto& [op, plans] : of_op[0]) {
    const std::vector<const Launch*>& measures = of_op[1][op];
    for (size_t i = 0; i < std::max(plans.size(), measures.size()); ++i)
      count(i < plans.size() ? plans[i] : nullptr, i < measures.size() ? measures[i] : nullptr);
  }

  const auto add = [](Prediction::Kernel& to, const Prediction::Kernel& kernel) {
    to.planned_count += kernel.planned_count;
    to.measured_count += kernel.measured_count;
    to.planned_ns += kernel.planned_ns;
    to.measured_ns += kernel.measured_ns;
  };
  for (auto& [name, kernel] : of_one_side) {
    kernel.name = name;
    kernel.is_class = true;
    add(out.total, kernel);
    if (kernel.planned_count > 0 && kernel.measured_count > 0) add(out.by_class, kernel);
    out.kernels.push_back(std::move(kernel));
  }
  for (auto& [name, kernel] : classes) {
    kernel.name = name;
    out.classes.push_back(std::move(kernel));
  }
  for (auto& [name, kernel] : rows) {
    kernel.name = name.first.empty() ? name.second : name.first;
    const bool on_both = kernel.planned_count > 0 && kernel.measured_count > 0;
    if (on_both && name.first != name.second) kernel.measured_name = name.second;
    add(out.total, kernel);
    if (on_both) add(kernel.measured_name.empty() ? out.both : out.by_op, kernel);
    out.kernels.push_back(std::move(kernel));
  }
  for (std::vector<Prediction::Kernel>* kernels : {&out.kernels, &out.classes})
    std::stable_sort(kernels->begin(), kernels->end(), [](const auto& x, const auto& y) {
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
  trace::StackId stack = t.events.StackOf(event);  // for a free: the stack that freed, if recorded
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
