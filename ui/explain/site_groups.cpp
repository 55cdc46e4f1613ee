// Groups allocations by properties other than the call stack.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "ui/explain/explain_rows.h"

namespace vramscope::ui {
namespace {

using trace::StringId;
using trace::Trace;

// Returns, for each allocation, the innermost annotation that was open on any thread at the time of
// the allocation.
std::vector<StringId> AnnotationsOf(const Trace& trace) {
  const trace::AllocationTable& a = trace.allocations;
  const trace::SliceTable& s = trace.slices;
  std::vector<StringId> out(a.size());
  // Slices are sorted by their begin. `open` has the currently open slices, the innermost last.
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (uint32_t i = 0; i < a.size(); ++i) {
    const trace::EventIndex born = a.alloc_event[i];
    for (; next < s.size() && s.begin_event[next] <= born; ++next)
      if (s.kind[next] == trace::SliceKind::kAnnotation) open.push_back(next);
    std::erase_if(open, [&](uint32_t slice) { return s.end_event[slice] < born; });
    if (!open.empty()) out[i] = s.name[open.back()];
  }
  return out;
}

template <class Names>
explain::CallSites ByName(const Trace& trace, const Names& names, std::string_view without) {
  explain::CallSites out;
  out.site_of.resize(names.size());
  std::map<StringId, uint32_t> known;
  for (uint32_t i = 0; i < names.size(); ++i) {
    const auto [at, fresh] = known.try_emplace(names[i], static_cast<uint32_t>(out.sites.size()));
    if (fresh) {
      const std::string_view name = trace.String(names[i]);
      out.sites.push_back({.name = std::string(name.empty() ? without : name)});
    }
    out.site_of[i] = at->second;
  }
  return out;
}

template <class Of>
std::vector<StringId> Births(const Trace& trace, const Of& of) {
  std::vector<StringId> names;
  names.reserve(trace.allocations.size());
  for (const trace::EventIndex e : trace.allocations.alloc_event) names.push_back(of(e));
  return names;
}

template <class Names>
bool Any(const Names& names) {
  return std::any_of(names.begin(), names.end(), [](StringId id) { return id.value != 0; });
}

}  // namespace

std::string_view Name(SiteBy by) {
  static constexpr std::array<std::string_view, 6> kNames = {
      TEXT_MARK("call site"),  TEXT_MARK("module"),        TEXT_MARK("op"),
      TEXT_MARK("annotation"), TEXT_MARK("user metadata"), TEXT_MARK("compile context")};
  return i18n::Text(kNames[static_cast<size_t>(by)]);
}

std::vector<SiteBy> SiteGroupings(const Trace& trace) {
  std::vector<SiteBy> out = {SiteBy::kCallSite};
  if (Any(trace.allocations.module)) out.push_back(SiteBy::kModule);
  if (Any(trace.allocations.op)) out.push_back(SiteBy::kOp);
  const auto& kinds = trace.slices.kind;
  if (std::find(kinds.begin(), kinds.end(), trace::SliceKind::kAnnotation) != kinds.end())
    out.push_back(SiteBy::kAnnotation);
  if (Any(trace.events.user_metadata)) out.push_back(SiteBy::kUserMetadata);
  if (Any(trace.events.compile_context)) out.push_back(SiteBy::kCompileContext);
  return out;
}

explain::CallSites GroupSites(const Trace& trace, SiteBy by) {
  switch (by) {
    case SiteBy::kCallSite:
      break;
    case SiteBy::kModule:
      return ByName(trace, trace.allocations.module, i18n::Text("(no module)"));
    case SiteBy::kOp:
      return ByName(trace, trace.allocations.op, i18n::Text("(no op)"));
    case SiteBy::kAnnotation:
      return ByName(trace, AnnotationsOf(trace), i18n::Text("(in no annotation)"));
    case SiteBy::kUserMetadata:
      return ByName(trace, Births(trace, [&](auto e) { return trace.events.UserMetadataOf(e); }),
                    i18n::Text("(no user metadata)"));
    case SiteBy::kCompileContext:
      return ByName(trace, Births(trace, [&](auto e) { return trace.events.CompileContextOf(e); }),
                    i18n::Text("(not compiled)"));
  }
  return explain::FindCallSites(trace);
}

}  // namespace vramscope::ui
