// Compares two traces step by step and call site by call site.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/explain/site_names.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::EventIndex;

struct LiveSite {
  std::string name;
  uint64_t bytes = 0, count = 0;
  trace::StackId stack;
  std::string_view op;
  std::string innermost;  // the innermost frame (InnermostKey), operator and age; "" if unknown
  std::vector<trace::AllocationId> blocks;
  std::array<uint64_t, trace::kCategoryCount> by_category{};
};
// The key identifies the site, and is the same in both traces.
using LiveSites = std::map<std::string, LiveSite>;

LiveSites SitesOf(const trace::Trace& trace, const analysis::LiveSet& live, bool by_stack,
                  bool within_packages) {
  const trace::AllocationTable& a = trace.allocations;
  const SiteNames names(trace);
  LiveSites out;
  // Sites by stack (or module and op) and by whether the block is older than the recording.
  base::HashMap<std::pair<uint64_t, bool>, LiveSite*> known;
  for (const analysis::LiveAllocation& l : live.allocations) {
    const uint32_t id = l.id.value;
    const trace::StackId stack =
        by_stack ? trace.events.StackOf(a.alloc_event[id]) : trace::StackId{};
    const bool older = IsOlder(trace, id);
    const uint64_t key = stack.value != 0 ? uint64_t{1} << 63 | stack.value
                                          : uint64_t{a.module[id].value} << 32 | a.op[id].value;
    LiveSite*& site = known[{key, older}];
    if (site == nullptr) {
      const std::string module_op = ModuleOpName(trace, a.module[id], a.op[id], older);
      site = &out[stack.value != 0 ? names.Key(stack, true) : module_op];
      if (site->name.empty()) {
        site->name = names.Name(stack, trace.String(a.op[id]), 1, within_packages ? 1 : 0);
        if (site->name.empty()) site->name = module_op;
        site->op = trace.String(a.op[id]);
        site->stack = stack;
        if (stack.value != 0) site->innermost = names.InnermostKey(stack, within_packages);
        if (!site->innermost.empty())
          site->innermost += fmt::format("\n{}{}", site->op, older ? "\nolder" : "");
      }
    }
    site->bytes += a.bytes_rounded[id];
    ++site->count;
    site->blocks.push_back(l.id);
    site->by_category[static_cast<size_t>(l.category)] += a.bytes_rounded[id];
  }
  return out;
}

void Join(LiveSite& to, LiveSite& from) {
  to.bytes += from.bytes;
  to.count += from.count;
  to.blocks.insert(to.blocks.end(), from.blocks.begin(), from.blocks.end());
  for (size_t c = 0; c < to.by_category.size(); ++c) to.by_category[c] += from.by_category[c];
}

// Joins a site that is only in A with a site that is only in B if they have the same innermost
// frame. Outer frames differ if the program was started in another way.
void JoinByInnermost(const trace::Trace* const (&traces)[2], LiveSites& a, LiveSites& b) {
  std::map<std::string, std::array<std::vector<std::string>, 2>> alone;  // the keys in each trace
  LiveSites* const sides[] = {&a, &b};
  for (size_t side = 0; side < 2; ++side)
    for (const auto& [key, site] : *sides[side])
      if (!site.innermost.empty() && !sides[1 - side]->contains(key))
        alone[site.innermost][side].push_back(key);
  for (auto& [innermost, keys] : alone) {
    if (keys[0].empty() || keys[1].empty()) continue;
    for (size_t side = 0; side < 2; ++side) {
      LiveSite joined;
      for (const std::string& key : keys[side]) {
        const auto at = sides[side]->find(key);
        if (joined.count == 0)
          joined = std::move(at->second);
        else
          Join(joined, at->second);
        sides[side]->erase(at);
      }
      const trace::PackedColumn<uint64_t>& bytes = traces[side]->allocations.bytes_rounded;
      std::ranges::stable_sort(joined.blocks, std::greater{},
                               [&](trace::AllocationId id) -> uint64_t { return bytes[id.value]; });
      (*sides[side])["innermost\n" + innermost] = std::move(joined);
    }
  }
}

TraceDiff::Change ChangeOf(const TraceDiff::Site& s) {
  if (s.a_count == 0) return TraceDiff::Change::kAdded;
  if (s.b_count == 0) return TraceDiff::Change::kRemoved;
  if (s.a_bytes < s.b_bytes) return TraceDiff::Change::kGrown;
  if (s.a_bytes > s.b_bytes) return TraceDiff::Change::kShrunk;
  return TraceDiff::Change::kSame;
}

std::vector<TraceDiff::Step> StepsOf(const std::vector<analysis::StepRow>& a,
                                     const std::vector<analysis::StepRow>& b,
                                     const TraceDiff& diff) {
  std::map<int32_t, TraceDiff::Step> steps;
  for (const analysis::StepRow& row : a) {
    TraceDiff::Step& step = steps[row.index];
    step.a_peak = row.peak_allocated;
    step.a_reserved = row.peak_reserved;
    step.in_a = true;
  }
  for (const analysis::StepRow& row : b) {
    TraceDiff::Step& step = steps[row.index];
    step.b_peak = row.peak_allocated;
    step.b_reserved = row.peak_reserved;
    step.in_b = true;
  }
  if (steps.empty()) {
    steps[-1] = {.a_peak = diff.a.allocated,
                 .b_peak = diff.b.allocated,
                 .a_reserved = diff.a.reserved,
                 .b_reserved = diff.b.reserved,
                 .in_a = true,
                 .in_b = true};
  }
  std::vector<TraceDiff::Step> out;
  for (auto& [number, step] : steps) {
    step.step = number;
    out.push_back(step);
  }
  return out;
}

// Returns the event of the step with the most allocated bytes, or kNoEvent if there is no such
// step.
EventIndex PeakEvent(const trace::Trace& trace, const analysis::MemoryCurves& curves,
                     int32_t step) {
  const trace::SliceTable& s = trace.slices;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != trace::SliceKind::kStep || s.depth[i] != 0 ||
        static_cast<int32_t>(s.number[i]) != step) {
      continue;
    }
    EventIndex best = s.begin_event[i];
    const std::optional<size_t> before = analysis::PointAt(curves, best);
    uint64_t most = before ? curves.allocated[*before] : 0;
    for (size_t p = before ? *before + 1 : 0; p < curves.size() && curves.event[p] < s.end_event[i];
         ++p) {
      if (curves.allocated[p] <= most) continue;
      most = curves.allocated[p];
      best = curves.event[p];
    }
    return best;
  }
  return trace::kNoEvent;
}

analysis::Peak PeakAt(const analysis::LiveSet& live, uint64_t reserved) {
  return {.allocated = live.allocated,
          .reserved = reserved,
          .context = live.context,
          .by_category = live.by_category};
}

std::string Headline(const TraceDiff& diff) {
  const auto delta = static_cast<int64_t>(diff.b.allocated - diff.a.allocated);
  size_t changed = 0;
  for (const TraceDiff::Site& s : diff.sites) changed += s.change != TraceDiff::Change::kSame;
  if (delta == 0 && changed == 0)
    return i18n::Text("Every call site holds the same amount of memory at both peaks.");
  std::string text =
      delta == 0 ? i18n::Format("Both peaks are {}; ", FormatBytes(diff.a.allocated))
                 : i18n::Format("The peak of B is {} {} than the peak of A ({} instead of {}); ",
                                FormatBytes(static_cast<uint64_t>(std::abs(delta))),
                                delta >= 0 ? i18n::Text("higher") : i18n::Text("lower"),
                                FormatBytes(diff.b.allocated), FormatBytes(diff.a.allocated));
  text += changed == 1 ? i18n::Format("{} of {} call sites differs.", changed, diff.sites.size())
                       : i18n::Format("{} of {} call sites differ.", changed, diff.sites.size());
  if (changed > 0) {
    const TraceDiff::Site& s = diff.sites.front();
    text += i18n::Format(" The largest difference: {} ({}{}).", analysis::ShownName(s.name),
                         s.delta() < 0 ? "-" : "+",
                         FormatBytes(static_cast<uint64_t>(std::abs(s.delta()))));
  }
  return text;
}

}  // namespace

std::string_view Name(TraceDiff::Change change) {
  switch (change) {
    case TraceDiff::Change::kSame:
      return "same";
    case TraceDiff::Change::kAdded:
      return "added";
    case TraceDiff::Change::kRemoved:
      return "removed";
    case TraceDiff::Change::kGrown:
      return "grown";
    case TraceDiff::Change::kShrunk:
      return "shrunk";
  }
  return "";
}

absl::StatusOr<TraceDiff> DiffTraces(const trace::Trace& a, const trace::Trace& b,
                                     std::optional<int32_t> step, bool within_packages) {
  const trace::Trace* traces[2] = {&a, &b};
  analysis::LiveSet live[2];
  analysis::Peak peaks[2];
  std::vector<analysis::StepRow> rows[2];
  for (int side = 0; side < 2; ++side) {
    const trace::Trace& t = *traces[side];
    const analysis::MemoryCurves curves = analysis::ComputeCurves(t);
    rows[side] = analysis::StepTable(t, curves);
    peaks[side] = analysis::FindPeak(t, curves);
    EventIndex event = peaks[side].context.event;
    if (step) {
      event = PeakEvent(t, curves, *step);
      if (event == trace::kNoEvent) {
        return absl::NotFoundError(
            i18n::Format("there is no step {} in {}", *step, side == 0 ? "A" : "B"));
      }
      const auto row = std::find_if(rows[side].begin(), rows[side].end(),
                                    [&](const auto& r) { return r.index == *step; });
      live[side] = analysis::LiveAt(t, event);
      peaks[side] =
          PeakAt(live[side], row == rows[side].end() ? live[side].reserved : row->peak_reserved);
    } else {
      live[side] = analysis::LiveAt(t, event);
    }
  }
  TraceDiff diff;
  diff.a = peaks[0];
  diff.b = peaks[1];
  diff.steps = StepsOf(rows[0], rows[1], diff);
  diff.by_stack = a.stacks.size() > 1 && b.stacks.size() > 1;  // row 0 is the empty stack

  LiveSites sites_a = SitesOf(a, live[0], diff.by_stack, within_packages);
  LiveSites sites_b = SitesOf(b, live[1], diff.by_stack, within_packages);
  JoinByInnermost(traces, sites_a, sites_b);
  std::map<std::string, std::pair<const LiveSite*, const LiveSite*>> both;
  for (const auto& [key, site] : sites_a) both[key].first = &site;
  for (const auto& [key, site] : sites_b) both[key].second = &site;
  std::vector<NamedStack> named;
  diff.sites.reserve(both.size());  // `sites` must not move: pointers to the names are kept
  for (const auto& [key, pair] : both) {
    TraceDiff::Site& out = diff.sites.emplace_back();
    std::array<uint64_t, trace::kCategoryCount> categories{};
    if (const LiveSite* s = pair.first; s != nullptr) {
      out.name = s->name;
      out.a_bytes = s->bytes;
      out.a_count = s->count;
      out.a_stack = s->stack;
      out.a_blocks = s->blocks;
      categories = s->by_category;
    }
    if (const LiveSite* s = pair.second; s != nullptr) {
      out.name = s->name;
      out.b_bytes = s->bytes;
      out.b_count = s->count;
      out.b_stack = s->stack;
      out.b_blocks = s->blocks;
      for (size_t c = 0; c < categories.size(); ++c) categories[c] += s->by_category[c];
    }
    out.category = static_cast<trace::Category>(
        std::max_element(categories.begin(), categories.end()) - categories.begin());
    out.change = ChangeOf(out);
    const bool of_b = pair.second != nullptr;
    const LiveSite& shown = of_b ? *pair.second : *pair.first;
    named.push_back({of_b ? &b : &a, shown.stack, shown.op, &out.name});
  }
  MakeNamesDistinct(named);
  std::stable_sort(diff.sites.begin(), diff.sites.end(), [](const auto& x, const auto& y) {
    return std::abs(x.delta()) > std::abs(y.delta());
  });
  diff.headline = Headline(diff);
  return diff;
}

}  // namespace vramscope::explain
