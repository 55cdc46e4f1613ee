#include "profiler/trace/main_category.h"

#include <array>
#include <span>
#include <vector>

namespace vramscope::trace {
namespace {

// Returns the main category of one allocation. `rows`: its retags, in order.
Category LongestHeld(const Trace& t, uint32_t allocation, std::span<const uint32_t> rows) {
  struct Held {
    int64_t ns = 0;
    uint64_t events = 0;
  };
  std::array<Held, kCategoryCount> held;
  const AllocationTable& a = t.allocations;
  int64_t since_ns = a.begin_ns[allocation];
  EventIndex since = a.alloc_event[allocation];
  Category now = a.birth_category[allocation];
  Category best = now;
  const auto until = [&](int64_t ns, EventIndex event) {
    Held& h = held[static_cast<size_t>(now)];
    h.ns += ns - since_ns;
    h.events += event - since;
    since_ns = ns;
    since = event;
  };
  const auto consider = [&](Category c) {
    const Held& h = held[static_cast<size_t>(c)];
    const Held& b = held[static_cast<size_t>(best)];
    if (h.ns > b.ns || (h.ns == b.ns && h.events > b.events)) best = c;
  };
  for (const uint32_t row : rows) {
    until(t.events.time_ns[t.retags.event[row]], t.retags.event[row]);
    now = t.retags.to[row];
  }
  const EventIndex freed = a.free_event[allocation];
  until(a.end_ns[allocation], freed == kNoEvent ? t.events.size() : freed);
  for (const uint32_t row : rows) consider(t.retags.to[row]);
  return best;
}

}  // namespace

void FillMainCategories(Trace& t) {
  AllocationTable& a = t.allocations;
  a.main_category = a.birth_category;
  if (t.retags.size() == 0) return;
  std::vector<uint32_t> first(a.size() + 1, 0);
  for (const AllocationId id : t.retags.allocation) ++first[id.value + 1];
  for (uint32_t i = 0; i < a.size(); ++i) first[i + 1] += first[i];
  std::vector<uint32_t> rows(t.retags.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t row = 0; row < t.retags.size(); ++row)
    rows[next[t.retags.allocation[row].value]++] = row;
  for (uint32_t i = 0; i < a.size(); ++i)
    if (first[i + 1] > first[i])
      a.main_category.Set(
          i, LongestHeld(t, i, std::span(rows).subspan(first[i], first[i + 1] - first[i])));
}

}  // namespace vramscope::trace
