#include "profiler/explain/site_names.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"

namespace vramscope::explain {
namespace {

constexpr size_t kMostCallers = 6, kMostWithin = 4;

// The number of frames of each kind in a site's name.
struct Detail {
  size_t callers = 1, within = 0;
};

std::string NameOf(const NamedStack& site, Detail detail) {
  return SiteNames(*site.trace).Name(site.stack, site.op, detail.callers, detail.within);
}

using Rows = std::vector<uint32_t>;

// Adds frames to the names of all sites until at least two names differ. First tries frames of
// packages (`within`), and then callers instead. If both fail, returns false and keeps the
// names.
bool Split(std::span<const NamedStack> sites, const Rows& rows, std::vector<Detail>& details) {
  const Detail now = details[rows.front()];
  std::vector<Detail> tries;
  for (size_t n = now.within + 1; n <= kMostWithin; ++n) tries.push_back({now.callers, n});
  for (size_t n = now.callers + 1; n <= kMostCallers; ++n) tries.push_back({n, now.within});
  for (const Detail detail : tries) {
    std::vector<std::string> names;
    base::HashSet<std::string_view> distinct;
    names.reserve(rows.size());
    for (const uint32_t row : rows) names.push_back(NameOf(sites[row], detail));
    distinct.insert(names.begin(), names.end());
    if (distinct.size() < 2) continue;
    for (size_t i = 0; i < rows.size(); ++i) {
      *sites[rows[i]].name = std::move(names[i]);
      details[rows[i]] = detail;
    }
    return true;
  }
  return false;
}

}  // namespace

std::string StackName(const trace::Trace& trace, trace::StackId stack) {
  return SiteNames(trace).Name(stack);
}

void MakeNamesDistinct(std::span<const NamedStack> sites) {
  std::vector<Detail> details(sites.size());
  base::HashMap<std::string, Rows> by_name;
  for (uint32_t i = 0; i < sites.size(); ++i)
    if (sites[i].stack.value != 0) by_name[*sites[i].name].push_back(i);
  std::vector<Rows> groups;
  for (auto& [name, rows] : by_name) groups.push_back(std::move(rows));
  while (!groups.empty()) {
    const Rows rows = std::move(groups.back());
    groups.pop_back();
    if (rows.size() < 2 || !Split(sites, rows, details)) continue;
    base::HashMap<std::string_view, Rows> parts;
    for (const uint32_t row : rows) parts[*sites[row].name].push_back(row);
    for (auto& [name, part] : parts) groups.push_back(std::move(part));
  }
}

}  // namespace vramscope::explain
