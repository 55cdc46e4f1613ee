#include "ui/timeline/model/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/inference/rules.h"

namespace vramscope::ui::timeline {
namespace {

StackLine LineOf(const trace::Trace& trace, uint32_t frame, bool python) {
  const trace::StackTable& s = trace.stacks;
  const std::string_view file = trace.String(s.file[frame]);
  StackLine line;
  line.function = trace.String(s.function[frame]);
  line.python = python;
  if (s.line[frame] > 0) {
    line.file = fmt::format("{}:{}", analysis::LastParts(file), s.line[frame]);
    line.place = fmt::format("{}:{}", file, s.line[frame]);
  } else {
    line.file = analysis::LastParts(file);
    line.place = file;
  }
  return line;
}

}  // namespace

std::string RuleText(uint64_t rule) {
  if (rule == inference::kStatedByProducer) return {};
  const std::string_view name =
      rule <= UINT8_MAX ? inference::RuleName(static_cast<uint8_t>(rule)) : std::string_view();
  return name.empty() ? fmt::format("rule {}", rule) : i18n::Text(name);
}

uint8_t CategoryRuleNumber(const trace::Trace& trace, trace::AllocationId id,
                           trace::Category category) {
  const trace::AllocationTable& a = trace.allocations;
  if (a.birth_category[id.value] == category) return trace.events.detail[a.alloc_event[id.value]];
  const trace::RetagTable& r = trace.retags;
  const auto from =
      std::lower_bound(r.event.begin(), r.event.end(), a.alloc_event[id.value]) - r.event.begin();
  for (auto i = static_cast<size_t>(from); i < r.size(); ++i) {
    if (r.event[i] > a.free_event[id.value]) break;
    if (r.allocation[i] == id && r.to[i] == category) return trace.events.detail[r.event[i]];
  }
  return inference::kStatedByProducer;
}

std::string CategoryRule(const trace::Trace& trace, trace::AllocationId id,
                         trace::Category category) {
  return RuleText(CategoryRuleNumber(trace, id, category));
}

std::string SliceRule(const trace::Trace& trace, uint32_t slice) {
  const trace::SliceTable& s = trace.slices;
  const trace::EventIndex begin = s.begin_event[slice];
  if (s.kind[slice] == trace::SliceKind::kPhase) return RuleText(trace.events.id[begin]);
  if (s.kind[slice] == trace::SliceKind::kStep) return RuleText(trace.events.detail[begin]);
  return {};
}

std::vector<StackLine> StackLines(const trace::Trace& trace, trace::StackId stack, size_t limit) {
  std::vector<StackLine> lines;
  if (stack.value >= trace.stacks.size()) return lines;
  const auto frames = trace.stacks.Frames(stack);
  const analysis::SiteNames names(trace);
  for (const bool python : {true, false})
    for (const uint32_t frame : frames) {
      if (limit > 0 && lines.size() >= limit) return lines;
      if (names.OfPython(frame) == python) lines.push_back(LineOf(trace, frame, python));
    }
  return lines;
}

trace::StackId StackOf(const trace::Trace& trace, trace::AllocationId id) {
  return trace.events.StackOf(trace.allocations.alloc_event[id.value]);
}

std::string CallSite(const trace::Trace& trace, trace::StackId stack) {
  return analysis::SiteNames(trace).Name(stack);
}

std::string NameOf(const trace::Trace& trace, trace::AllocationId id) {
  const std::string site = CallSite(trace, StackOf(trace, id));
  if (!site.empty()) return site;
  if (analysis::IsOlder(trace, id.value))
    return fmt::format("{} {}", i18n::Text("older block"), id.value);
  const trace::AllocationTable& a = trace.allocations;
  const trace::Category category = a.main_category[id.value];
  std::string name =
      fmt::format("{} {}",
                  category == trace::Category::kUnknown ? i18n::Text("allocation")
                                                        : i18n::Text(trace::Name(category)),
                  id.value);
  if (const trace::Phase phase = a.phase[id.value]; phase != trace::Phase::kNone)
    name += fmt::format(" · {}", i18n::Text(trace::Name(phase)));
  return name;
}

}  // namespace vramscope::ui::timeline
