#include "ui/timeline/model/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "profiler/run/seq.h"

namespace vramscope::ui::timeline {
namespace {

struct PhaseSpan {
  double begin, end;
};
using PhaseKey = std::tuple<int32_t, uint32_t, uint32_t>;  // step, phase, occurrence

// Returns the phases of a trace. Also returns its steps, with 0xffff as the phase, so that runs
// without phases are aligned by their steps.
std::map<PhaseKey, PhaseSpan> Phases(const trace::Trace& t) {
  std::map<PhaseKey, PhaseSpan> spans;
  std::map<std::pair<int32_t, uint32_t>, uint32_t> seen;
  for (uint32_t i = 0; i < t.slices.size(); ++i) {
    trace::SliceKind kind = t.slices.kind[i];
    if (kind != trace::SliceKind::kPhase && kind != trace::SliceKind::kStep) continue;
    bool step = kind == trace::SliceKind::kStep;
    int32_t number = step ? static_cast<int32_t>(t.slices.number[i]) : t.slices.step[i];
    uint32_t phase = step ? 0xffff : t.slices.number[i];
    uint32_t occurrence = seen[{number, phase}]++;
    spans[{number, phase, occurrence}] = {static_cast<double>(t.slices.begin_ns[i] - t.begin_ns()),
                                          static_cast<double>(t.slices.end_ns[i] - t.begin_ns())};
  }
  return spans;
}

std::optional<trace::StringId> FindString(const trace::Trace& t, const std::string& s) {
  for (uint32_t i = 0; i < t.strings.size(); ++i) {
    if (t.strings[i] == s) return trace::StringId{i};
  }
  return std::nullopt;
}

}  // namespace

TimeMap::TimeMap(const trace::Trace& a, const trace::Trace& b) {
  std::map<PhaseKey, PhaseSpan> of_a = Phases(a), of_b = Phases(b);
  std::vector<std::pair<double, double>> pairs{{0, 0}};
  for (const auto& [key, span] : of_a) {
    auto other = of_b.find(key);
    if (other == of_b.end()) continue;
    pairs.emplace_back(span.begin, other->second.begin);
    pairs.emplace_back(span.end, other->second.end);
  }
  std::sort(pairs.begin(), pairs.end());
  for (auto [x, y] : pairs) {
    // The two runs may have phases in different orders. Skip a pair of times if it would lie before
    // the previous pair in either run.
    if (!a_.empty() && (x <= a_.back() || y < b_.back())) continue;
    a_.push_back(x);
    b_.push_back(y);
  }
}

double TimeMap::Map(double a) const {
  if (a_.empty()) return a;
  auto next = std::upper_bound(a_.begin(), a_.end(), a);
  if (next == a_.begin()) return b_.front() + (a - a_.front());
  size_t i = next - a_.begin() - 1;
  // If both intervals have the same length, do not round, so that a run is mapped exactly to
  // itself.
  if (next == a_.end() || b_[i + 1] - b_[i] == a_[i + 1] - a_[i]) return a + (b_[i] - a_[i]);
  return b_[i] + (a - a_[i]) * (b_[i + 1] - b_[i]) / (a_[i + 1] - a_[i]);
}

bool SameWork(const trace::TraceInfo& a, const trace::TraceInfo& b) {
  return a.has_config && b.has_config && a.backend == b.backend && a.model.name == b.model.name &&
         a.config.model == b.config.model &&
         a.config.model_config_json == b.config.model_config_json &&
         a.config.batch == b.config.batch && run::SeqText(a.config) == run::SeqText(b.config);
}

bool SameSubject(const trace::TraceInfo& a, const trace::TraceInfo& b) {
  if (SameWork(a, b)) return true;
  return !a.has_config && !b.has_config && a.backend == b.backend && a.model.name == b.model.name &&
         a.title == b.title && a.source == b.source;
}

BaselineColumns BaselineUnder(const trace::Trace& shown, const trace::Trace& baseline,
                              const query::CurveIndex& baseline_curves, const TimeMap& map,
                              std::span<const int64_t> edges) {
  BaselineColumns out;
  const auto length = static_cast<double>(baseline.end_ns() - baseline.begin_ns());
  std::vector<int64_t> there;
  there.reserve(edges.size());
  for (int64_t edge : edges) {
    const double at = map.Map(static_cast<double>(edge - shown.begin_ns()));
    const int64_t time = baseline.begin_ns() + std::llround(std::clamp(at, -1.0, length + 1));
    if (!there.empty()) {
      // The last column counts even if it ends after both runs.
      const bool within =
          at <= length || (edge > shown.end_ns() && there.back() < baseline.end_ns());
      if (!within) break;
      ++out.end;
    }
    there.push_back(std::max(time, there.empty() ? time : there.back()));
  }
  out.allocated = baseline_curves.AllocatedBetween(there);
  out.allocated.resize(edges.empty() ? 0 : edges.size() - 1, 0);
  return out;
}

AllocationKey KeyOf(const trace::Trace& t, trace::AllocationId id) {
  AllocationKey key;
  if (!id.valid() || id.value >= t.allocations.size()) return key;
  const trace::AllocationTable& a = t.allocations;
  trace::StringId module = a.module[id.value], op = a.op[id.value];
  key.module = t.String(module);
  key.op = t.String(op);
  key.step = a.step[id.value];
  for (uint32_t i = 0; i < id.value; ++i) {
    if (a.module[i] == module && a.op[i] == op && a.step[i] == key.step) ++key.occurrence;
  }
  return key;
}

trace::AllocationId FindAllocation(const trace::Trace& t, const AllocationKey& key) {
  if (!key.valid()) return {};
  auto module = FindString(t, key.module), op = FindString(t, key.op);
  if (!module || !op) return {};
  const trace::AllocationTable& a = t.allocations;
  auto find = [&](int32_t step) -> trace::AllocationId {
    uint32_t occurrence = 0;
    for (uint32_t i = 0; i < a.size(); ++i) {
      if (a.module[i] != *module || a.op[i] != *op || a.step[i] != step) continue;
      if (occurrence++ == key.occurrence) return {i};
    }
    return {};
  };
  if (trace::AllocationId found = find(key.step); found.valid()) return found;
  int32_t last = -1;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a.module[i] == *module && a.op[i] == *op) last = std::max(last, a.step[i]);
  }
  return last == key.step ? trace::AllocationId{} : find(last);
}

}  // namespace vramscope::ui::timeline
