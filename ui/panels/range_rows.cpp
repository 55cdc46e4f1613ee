#include "ui/panels/range_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

using timeline::FormatBytes;
using timeline::FormatCount;
using trace::AllocationId;
using trace::EventIndex;
using trace::Trace;

void FindPeak(const Digest& digest, RangeFigures& out) {
  const analysis::MemoryCurves& c = *digest.curves;
  EventIndex at = out.span.first;
  if (out.span.first > 0) {
    if (const auto before = analysis::PointAt(c, out.span.first - 1)) {
      out.at_begin = out.peak = c.allocated[*before];
      out.peak_reserved = out.reserved_at_begin = c.reserved[*before];
      at = out.span.first - 1;
    }
  }
  out.at_end = out.at_begin;
  out.reserved_at_end = out.reserved_at_begin;
  const auto from =
      std::lower_bound(c.event.begin(), c.event.end(), out.span.first) - c.event.begin();
  for (auto i = static_cast<size_t>(from); i < c.size() && c.event[i] <= out.span.last; ++i) {
    if (c.allocated[i] > out.peak) {
      out.peak = c.allocated[i];
      at = c.event[i];
    }
    out.peak_reserved = std::max(out.peak_reserved, c.reserved[i]);
    out.at_end = c.allocated[i];
    out.reserved_at_end = c.reserved[i];
  }
  out.at_peak = analysis::LiveAt(*digest.trace, at);
}

// Makes each call site's name only once. A call site is a stack, or a pair of module and op.
class Sites {
 public:
  explicit Sites(const Trace& trace) : trace_(trace), names_(trace) {}
  void Add(uint32_t id) {
    const auto& a = trace_.allocations;
    const trace::StackId stack = trace_.events.StackOf(a.alloc_event[id]);
    const uint64_t who =
        stack.value != 0 ? uint64_t{stack.value}
                         : uint64_t{1} << 63 | uint64_t{a.module[id].value} << 32 | a.op[id].value;
    auto [at, fresh] = by_key_.try_emplace(who, nullptr);
    if (fresh) {
      std::string name = names_.GroupName(stack, trace_.String(a.op[id]));
      if (name.empty()) name = analysis::ModuleOpName(trace_, a.module[id], a.op[id], false);
      analysis::Group& group = groups_[name];
      group.name = name;
      at->second = &group;  // pointers to a map's values stay valid
    }
    at->second->bytes += a.bytes_rounded[id];
    ++at->second->count;
  }
  std::vector<analysis::Group> Most(size_t count) const {
    std::vector<analysis::Group> all;
    for (const auto& [name, group] : groups_) all.push_back(group);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
    if (all.size() > count) all.resize(count);
    return all;
  }

 private:
  const Trace& trace_;
  analysis::SiteNames names_;
  std::map<uint64_t, analysis::Group*> by_key_;
  std::map<std::string, analysis::Group> groups_;
};

void CountBorn(const Trace& trace, RangeFigures& out) {
  const auto& a = trace.allocations;
  const auto& born = a.alloc_event;  // in ascending order
  auto i = static_cast<uint32_t>(std::lower_bound(born.begin(), born.end(), out.span.first) -
                                 born.begin());
  Sites sites(trace);
  for (; i < a.size() && born[i] <= out.span.last; ++i) {
    if (analysis::IsOlder(trace, i)) continue;
    const uint64_t bytes = a.bytes_rounded[i];
    ++out.allocated_count;
    out.allocated_bytes += bytes;
    out.allocated_by_category[static_cast<size_t>(a.main_category[i])] += bytes;
    if (a.free_event[i] > out.span.last) {  // kNoEvent is the maximum value
      ++out.staying_count;
      out.staying_bytes += bytes;
    }
    if (a.free_event[i] == trace::kNoEvent) {
      ++out.unfreed_count;
      out.unfreed_bytes += bytes;
    }
    sites.Add(i);
    const auto smaller = [&](AllocationId x, AllocationId y) {
      return a.bytes_rounded[x.value] > a.bytes_rounded[y.value];
    };
    auto& largest = out.largest;
    if (largest.size() == RangeFigures::kLargest && !smaller({i}, largest.back())) continue;
    if (largest.size() == RangeFigures::kLargest) largest.pop_back();
    largest.insert(std::upper_bound(largest.begin(), largest.end(), AllocationId{i}, smaller),
                   AllocationId{i});
  }
  out.sites = sites.Most(RangeFigures::kSites);
}

void CountFreed(const Trace& trace, RangeFigures& out) {
  const auto& e = trace.events;
  for (EventIndex i = out.span.first; i <= out.span.last && i < e.size(); ++i) {
    if (e.kind[i] != trace::EventKind::kFreeCompleted) continue;
    ++out.freed_count;
    const auto id = static_cast<uint32_t>(e.id[i]);
    const uint64_t bytes = trace.allocations.bytes_rounded[id];
    out.freed_bytes += bytes;
    out.freed_by_category[static_cast<size_t>(trace.allocations.main_category[id])] += bytes;
  }
}

void FindSlices(const Trace& trace, RangeFigures& out) {
  const trace::SliceTable& s = trace.slices;
  std::set<int32_t> steps;
  std::array<bool, trace::kPhaseCount> phases{};
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.begin_event[i] > out.span.last || s.end_event[i] < out.span.first) continue;
    if (s.kind[i] == trace::SliceKind::kStep) steps.insert(static_cast<int32_t>(s.number[i]));
    if (s.kind[i] == trace::SliceKind::kPhase && s.number[i] < trace::kPhaseCount)
      phases[s.number[i]] = true;
  }
  out.steps.assign(steps.begin(), steps.end());
  for (int p = 1; p < trace::kPhaseCount; ++p)
    if (phases[static_cast<size_t>(p)]) out.phases.push_back(static_cast<trace::Phase>(p));
}

std::vector<Fact> CategoryFacts(const analysis::CategoryBytes& bytes, uint64_t all) {
  std::vector<Fact> facts;
  for (const Part& part : PartsOf(bytes, all))
    facts.push_back({i18n::Text(trace::Name(part.category)), FormatBytes(part.bytes)});
  return facts;
}

std::string InBlocks(uint64_t bytes, uint64_t count) {
  if (count == 0) return i18n::Text("nothing");
  return i18n::Format("{} in {} block{}", FormatBytes(bytes), FormatCount(count),
                      count == 1 ? "" : "s");
}

}  // namespace

RangeFigures FiguresOfRange(const Digest& digest, int64_t begin_ns, int64_t end_ns) {
  RangeFigures out;
  out.begin_ns = begin_ns;
  out.end_ns = end_ns;
  const Trace& trace = *digest.trace;
  if (begin_ns >= end_ns || trace.events.size() == 0) return out;
  out.span = SpanOf(trace, begin_ns, end_ns);
  FindPeak(digest, out);
  CountBorn(trace, out);
  CountFreed(trace, out);
  FindSlices(trace, out);
  return out;
}

std::vector<Fact> RangeFacts(const Trace& trace, const RangeFigures& r) {
  std::vector<Fact> facts;
  const auto moment = [&](int64_t ns) {
    return timeline::TimeTextOf(trace, std::clamp(ns, trace.begin_ns(), trace.end_ns()));
  };
  facts.push_back({i18n::Text("from"), moment(r.begin_ns)});
  facts.push_back({i18n::Text("to"), moment(r.end_ns)});
  facts.push_back({i18n::Text("length"), timeline::LengthOf(trace, r.end_ns - r.begin_ns)});
  facts.push_back({i18n::Text("peak"), FormatBytes(r.peak)});
  if (r.peak_reserved > 0)
    facts.push_back({i18n::Text("most reserved"), FormatBytes(r.peak_reserved)});
  facts.push_back({i18n::Text("at the start"), FormatBytes(r.at_begin)});
  facts.push_back({i18n::Text("at the end"), FormatBytes(r.at_end)});
  facts.push_back(
      {i18n::Text("difference"), timeline::FormatSignedBytes(static_cast<int64_t>(r.at_end) -
                                                             static_cast<int64_t>(r.at_begin))});
  if (r.peak_reserved > 0)
    facts.push_back({i18n::Text("reserved difference"),
                     timeline::FormatSignedBytes(static_cast<int64_t>(r.reserved_at_end) -
                                                 static_cast<int64_t>(r.reserved_at_begin))});
  facts.push_back({i18n::Text("allocated"), InBlocks(r.allocated_bytes, r.allocated_count)});
  facts.push_back({i18n::Text("freed"), InBlocks(r.freed_bytes, r.freed_count)});
  facts.push_back({i18n::Text("live after the range"), InBlocks(r.staying_bytes, r.staying_count)});
  if (r.unfreed_count > 0 && r.unfreed_count != r.staying_count)
    facts.push_back({i18n::Text("never freed"), InBlocks(r.unfreed_bytes, r.unfreed_count)});
  if (!r.steps.empty())
    facts.push_back({i18n::Text("steps"), r.steps.size() == 1
                                              ? fmt::format("{}", r.steps.front())
                                              : i18n::Format("{} to {} ({})", r.steps.front(),
                                                             r.steps.back(), r.steps.size())});
  if (!r.phases.empty()) {
    std::string names;
    for (const trace::Phase p : r.phases)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", i18n::Text(trace::Name(p)));
    facts.push_back({i18n::Text("phases"), std::move(names)});
  }
  return facts;
}

std::string RangeLine(const Trace& trace, const RangeFigures& r) {
  return i18n::Format("{} long, memory {}; allocated {}, freed {}",
                      timeline::LengthOf(trace, r.end_ns - r.begin_ns),
                      timeline::FormatSignedBytes(static_cast<int64_t>(r.at_end) -
                                                  static_cast<int64_t>(r.at_begin)),
                      InBlocks(r.allocated_bytes, r.allocated_count),
                      InBlocks(r.freed_bytes, r.freed_count));
}

std::vector<Fact> RangeCategories(const RangeFigures& r) {
  return CategoryFacts(r.allocated_by_category, r.allocated_bytes);
}

std::vector<Fact> RangeFreedCategories(const RangeFigures& r) {
  return CategoryFacts(r.freed_by_category, r.freed_bytes);
}

std::string RangeAsTsv(const Trace& trace, const RangeFigures& r) {
  std::string out;
  const auto line = [&](const std::string& name, int64_t value) {
    out += fmt::format("{}\t{}\n", name, value);
  };
  const auto bytes = [&](const std::string& name, uint64_t value) {
    line(name + " [B]", static_cast<int64_t>(value));
  };
  line(i18n::Text("from") + " [ns]", r.begin_ns - trace.begin_ns());
  line(i18n::Text("to") + " [ns]", r.end_ns - trace.begin_ns());
  line(i18n::Text("length") + " [ns]", r.end_ns - r.begin_ns);
  bytes(i18n::Text("peak"), r.peak);
  bytes(i18n::Text("most reserved"), r.peak_reserved);
  bytes(i18n::Text("at the start"), r.at_begin);
  bytes(i18n::Text("at the end"), r.at_end);
  line(i18n::Text("difference") + " [B]",
       static_cast<int64_t>(r.at_end) - static_cast<int64_t>(r.at_begin));
  line(i18n::Text("reserved difference") + " [B]",
       static_cast<int64_t>(r.reserved_at_end) - static_cast<int64_t>(r.reserved_at_begin));
  bytes(i18n::Text("allocated"), r.allocated_bytes);
  for (const Part& part : PartsOf(r.allocated_by_category, r.allocated_bytes))
    bytes(i18n::Format("allocated, {}", i18n::Text(trace::Name(part.category))), part.bytes);
  bytes(i18n::Text("freed"), r.freed_bytes);
  for (const Part& part : PartsOf(r.freed_by_category, r.freed_bytes))
    bytes(i18n::Format("freed, {}", i18n::Text(trace::Name(part.category))), part.bytes);
  return out;
}

}  // namespace vramscope::ui
