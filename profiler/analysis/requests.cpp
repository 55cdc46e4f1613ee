#include "profiler/analysis/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "profiler/allocator/rules.h"
#include "profiler/analysis/sequence_diff.h"
#include "profiler/base/i18n.h"

namespace vramscope::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::SliceKind;

// The first and last event of a step.
struct Range {
  EventIndex first = 0, last = 0;
};

absl::StatusOr<Range> RangeOfStep(const trace::Trace& trace, int step) {
  const trace::SliceTable& s = trace.slices;
  std::optional<Range> found;
  std::string there;
  int listed = 0;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != SliceKind::kStep || s.end_event[i] == trace::kNoEvent) continue;
    const bool wanted = step < 0 || s.number[i] == static_cast<uint32_t>(step);
    if (wanted && (step < 0 || !found)) found = Range{s.begin_event[i], s.end_event[i]};
    if (++listed <= 10) there += fmt::format("{}{}", listed > 1 ? ", " : "", s.number[i]);
  }
  if (found) return *found;
  if (listed == 0) return absl::NotFoundError(i18n::Text("the trace has no complete step"));
  if (listed > 10) there += i18n::Format(", ... ({} in all)", listed);
  return absl::NotFoundError(
      i18n::Format("the trace has no complete step {}. The complete steps are {}", step, there));
}

std::string Where(const trace::Trace& trace, uint32_t id) {
  const std::string_view op = trace.String(trace.allocations.op[id]);
  const std::string_view module = trace.String(trace.allocations.module[id]);
  return PlaceOfRequest(op, module);
}

std::string InWords(const Request& r) {
  const std::string where = r.where.empty() ? "" : fmt::format(" ({})", r.where);
  return r.is_alloc ? i18n::English("alloc #{} of {} B{}", r.allocation, r.bytes, where)
         : r.allocation < 0
             ? i18n::English("free of {} B (a block that was allocated earlier){}", r.bytes, where)
             : i18n::English("free #{} of {} B{}", r.allocation, r.bytes, where);
}

uint64_t Peak(const RequestStream& stream) {
  uint64_t now = 0;  // relative to the start, so it may wrap around
  int64_t peak = 0;
  for (const Request& r : stream.requests) {
    const uint64_t bytes = allocator::RoundSize(r.bytes);
    now += r.is_alloc ? bytes : -bytes;
    peak = std::max(peak, static_cast<int64_t>(now));
  }
  return static_cast<uint64_t>(peak);
}

std::vector<Token> SizeTokens(const RequestStream& s) {
  std::vector<Token> out;
  out.reserve(s.requests.size());
  for (const Request& r : s.requests) out.push_back({r.bytes, r.is_alloc ? 0u : 1u});
  return out;
}

// For each allocation in one stream, the matching allocation in the other stream, or -1.
struct Counterparts {
  std::vector<int64_t> of_a, of_b;
};

size_t AllocationCount(const RequestStream& s) {
  int64_t highest = -1;
  for (const Request& r : s.requests) highest = std::max(highest, r.allocation);
  return static_cast<size_t>(highest + 1);
}

Counterparts CounterpartsOf(const RequestStream& a, const RequestStream& b,
                            const std::vector<Match>& matches) {
  Counterparts c{std::vector<int64_t>(AllocationCount(a), -1),
                 std::vector<int64_t>(AllocationCount(b), -1)};
  for (const Match& m : matches) {
    const Request &x = a.requests[m.a], &y = b.requests[m.b];
    if (!x.is_alloc) continue;
    c.of_a[static_cast<size_t>(x.allocation)] = y.allocation;
    c.of_b[static_cast<size_t>(y.allocation)] = x.allocation;
  }
  return c;
}

// Two tokens are equal only if they are for the same allocation. An allocation with a
// counterpart has its number in stream a as its token. Any other allocation has its number and
// its stream.
std::vector<Token> IdentityTokens(const RequestStream& s, const std::vector<int64_t>& counterpart,
                                  bool is_a) {
  std::vector<Token> out;
  out.reserve(s.requests.size());
  for (const Request& r : s.requests) {
    const uint32_t kind = r.is_alloc ? 0 : 1;
    if (r.allocation < 0) {
      out.push_back({r.bytes, 6});
    } else if (counterpart[static_cast<size_t>(r.allocation)] < 0) {
      out.push_back({static_cast<uint64_t>(r.allocation), kind + (is_a ? 2u : 4u)});
    } else {
      out.push_back({static_cast<uint64_t>(is_a ? r.allocation
                                                : counterpart[static_cast<size_t>(r.allocation)]),
                     kind});
    }
  }
  return out;
}

// Sorts each sequence of consecutive frees by token.
std::vector<Token> FreesSorted(const RequestStream& s, std::vector<Token> tokens) {
  for (size_t begin = 0; begin < tokens.size();) {
    size_t end = begin;
    while (end < tokens.size() && !s.requests[end].is_alloc) ++end;
    std::sort(tokens.begin() + static_cast<ptrdiff_t>(begin),
              tokens.begin() + static_cast<ptrdiff_t>(end), [](const Token& x, const Token& y) {
                return std::tie(x.kind, x.value) < std::tie(y.kind, y.value);
              });
    begin = std::max(end, begin + 1);
  }
  return tokens;
}

}  // namespace

std::string PlaceOfRequest(std::string_view op, std::string_view module) {
  if (op.empty() || module.empty()) return std::string(op.empty() ? module : op);
  return fmt::format("{}, {}", op, module);
}

absl::StatusOr<RequestStream> RequestsOfStep(const trace::Trace& trace, std::optional<int> step) {
  const trace::EventTable& e = trace.events;
  RequestStream out;
  if (e.size() == 0 && !step) return out;
  Range range{0, e.size() == 0 ? 0 : e.size() - 1};
  if (step) {
    absl::StatusOr<Range> found = RangeOfStep(trace, *step);
    if (!found.ok()) return found.status();
    range = *found;
  } else if (trace.recording_begin != trace::kNoEvent) {
    range.first = trace.recording_begin;  // the events before it restate older blocks
  }
  const trace::AllocationTable& a = trace.allocations;
  for (EventIndex i = 0; i < range.first; ++i) {
    if (e.kind[i] == EventKind::kAlloc) out.start_bytes += a.bytes_rounded[e.id[i]];
    if (e.kind[i] == EventKind::kFreeCompleted) out.start_bytes -= a.bytes_rounded[e.id[i]];
  }
  std::optional<uint64_t> first_id;  // ids are consecutive: index in the stream = id - first_id
  for (EventIndex i = range.first; i <= range.last; ++i) {
    const bool is_alloc = e.kind[i] == EventKind::kAlloc;
    if (!is_alloc && e.kind[i] != EventKind::kFreeCompleted) continue;
    const auto id = static_cast<uint32_t>(e.id[i]);
    if (is_alloc && !first_id) first_id = id;
    out.requests.push_back(
        {.is_alloc = is_alloc,
         .bytes = a.bytes[id],
         .bytes_rounded = a.bytes_rounded[id],
         .allocation = first_id && id >= *first_id ? static_cast<int64_t>(id - *first_id) : -1,
         .where = Where(trace, id),
         .event = i});
  }
  return out;
}

RequestDiff DiffRequests(const RequestStream& a, const RequestStream& b, size_t max_differences) {
  RequestDiff out;
  const size_t na = a.requests.size(), nb = b.requests.size();
  out.total = std::max(na, nb);
  out.peak_a = Peak(a);
  out.peak_b = Peak(b);
  const uint32_t bound = DifferenceBound(na, nb);
  const Counterparts c = CounterpartsOf(a, b, AlignSequences(SizeTokens(a), SizeTokens(b), bound));
  const std::vector<Match> matches =
      AlignSequences(IdentityTokens(a, c.of_a, true), IdentityTokens(b, c.of_b, false), bound);
  out.equal = matches.size();
  out.equal_frees_unordered =
      out.identical()
          ? out.equal
          : std::max<uint64_t>(
                out.equal, AlignSequences(FreesSorted(a, IdentityTokens(a, c.of_a, true)),
                                          FreesSorted(b, IdentityTokens(b, c.of_b, false)), bound)
                               .size());

  size_t x = 0, y = 0;
  const auto gap = [&](size_t end_a, size_t end_b) {  // unmatched entries before (end_a, end_b)
    while ((x < end_a || y < end_b) && out.first_differences.size() < max_differences) {
      RequestDiff::Difference d;
      d.index_a = x;
      d.index_b = y;
      if (x < end_a) d.a = InWords(a.requests[x++]);
      if (y < end_b) d.b = InWords(b.requests[y++]);
      out.first_differences.push_back(std::move(d));
    }
    x = end_a + 1;
    y = end_b + 1;
  };
  for (const Match& m : matches) gap(m.a, m.b);
  gap(na, nb);
  return out;
}

}  // namespace vramscope::analysis
