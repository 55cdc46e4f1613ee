#include "ui/panels/allocation_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "ui/panels/cells.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/origin.h"

namespace vramscope::ui {
namespace {

using trace::AllocationId;
using trace::Phase;
using trace::Trace;

enum AllocationColumn {
  kId,
  kName,
  kOp,
  kCategory,
  kRequested,
  kBlock,
  kStep,
  kPhase,
  kBorn,
  kLife,
  kUserMetadata,
  kCompileContext,
};
static_assert(kBlock == kBlockColumn && kStep == kColumnsOfTime.front() &&
              kLife == kColumnsOfTime.back());

std::string Text(std::string_view text) { return std::string(text); }

// Returns the position of each string in the sorted order of all strings.
std::vector<uint32_t> RanksOf(const std::vector<std::string>& strings) {
  std::vector<uint32_t> order(strings.size()), rank(strings.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t x, uint32_t y) { return strings[x] < strings[y]; });
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

// Maps a signed number to an unsigned number so that the order of numbers stays the same.
uint64_t Biased(int64_t value) { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }

template <class KeyOf>
std::vector<uint64_t> Keys(uint32_t n, const KeyOf& key_of) {
  std::vector<uint64_t> keys(n);
  for (uint32_t i = 0; i < n; ++i) keys[i] = key_of(i);
  return keys;
}

std::vector<uint64_t> KeysOf(const Trace& trace, int column) {
  const auto& a = trace.allocations;
  const uint32_t n = a.size();
  switch (column) {
    case kName:
    case kOp: {
      const std::vector<uint32_t> rank = RanksOf(trace.strings);
      const auto& names = column == kName ? a.module : a.op;
      return Keys(n, [&](uint32_t i) { return uint64_t{rank[names[i].value]}; });
    }
    case kUserMetadata:
    case kCompileContext: {
      const std::vector<uint32_t> rank = RanksOf(trace.strings);
      return Keys(n, [&](uint32_t i) {
        const trace::EventIndex e = a.alloc_event[i];
        return uint64_t{rank[(column == kUserMetadata ? trace.events.UserMetadataOf(e)
                                                      : trace.events.CompileContextOf(e))
                                 .value]};
      });
    }
    case kCategory:
      return Keys(n, [&](uint32_t i) { return static_cast<uint64_t>(a.main_category[i]); });
    case kRequested:
      return {a.bytes.begin(), a.bytes.end()};
    case kBlock:
      return {a.bytes_rounded.begin(), a.bytes_rounded.end()};
    case kStep:
      return Keys(n, [&](uint32_t i) { return Biased(a.step[i]); });
    case kPhase:
      return Keys(n, [&](uint32_t i) { return static_cast<uint64_t>(a.phase[i]); });
    case kBorn:
      return Keys(n, [&](uint32_t i) { return Biased(a.begin_ns[i]); });
    case kLife:
      return Keys(n, [&](uint32_t i) {
        return a.free_event[i] == trace::kNoEvent ? ~uint64_t{0}
                                                  : Biased(a.end_ns[i] - a.begin_ns[i]);
      });
    default:
      return Keys(n, [](uint32_t i) { return uint64_t{i}; });
  }
}

}  // namespace

std::vector<Column> AllocationColumns(const Trace* trace) {
  std::vector<Column> columns = {{i18n::Text("ID"), true, 84},
                                 {i18n::Text("Module"), false, 260},
                                 {i18n::Text("Op"), false, 170},
                                 {i18n::Text("Category"), false, 142},
                                 {i18n::Text("Requested"), true, 110},
                                 {i18n::Text("Block"), true, 110},
                                 {i18n::Text("Step"), true, 58},
                                 {i18n::Text("Phase"), false, 80},
                                 {i18n::Text("Allocated at"), true, 124},
                                 {i18n::Text("Lifetime"), true, 110}};
  if (trace != nullptr && !trace->events.user_metadata.empty())
    columns.push_back({i18n::Text("User metadata"), false, 150});
  if (trace != nullptr && !trace->events.compile_context.empty())
    columns.push_back({i18n::Text("Compile context"), false, 130});
  return columns;
}

Row AllocationRow(const Trace& trace, AllocationId id) {
  const auto& a = trace.allocations;
  const uint32_t i = id.value;
  Row row;
  row.cells.resize(kUserMetadata);
  row.cells[kId] = {.text = fmt::format("{}", i), .count = i};
  row.cells[kName].text = Text(trace.String(a.module[i]));
  if (row.cells[kName].text.empty() && trace.String(a.op[i]).empty()) {
    row.cells[kName].text = timeline::NameOf(trace, id);
    row.cells[kName].tone = Cell::Tone::kDim;
  }
  row.cells[kOp].text = Text(trace.String(a.op[i]));
  row.cells[kCategory] = CategoryCell(a.main_category[i]);
  if (a.birth_category[i] != a.main_category[i] || a.category[i] != a.main_category[i])
    row.cells[kCategory].exact = i18n::Format(
        "{} for most of the block's lifetime, {} when it was allocated, and {} at the end",
        i18n::Text(trace::Name(a.main_category[i])), i18n::Text(trace::Name(a.birth_category[i])),
        i18n::Text(trace::Name(a.category[i])));
  row.cells[kRequested] = BytesCell(a.bytes[i]);
  row.cells[kBlock] = BytesCell(a.bytes_rounded[i]);
  row.cells[kStep].text = a.step[i] < 0 ? "\u2013" : fmt::format("{}", a.step[i]);
  row.cells[kPhase].text =
      a.phase[i] == Phase::kNone ? "\u2013" : i18n::Text(trace::Name(a.phase[i]));
  row.cells[kBorn].text =
      trace.info.has_times
          ? fmt::format("{:.3f} ms", static_cast<double>(a.begin_ns[i] - trace.begin_ns()) / 1e6)
          : timeline::FormatEntry(a.begin_ns[i]);
  row.cells[kLife] = DurationCell(a.end_ns[i] - a.begin_ns[i], trace.info.has_times);
  if (a.free_event[i] == trace::kNoEvent) row.cells[kLife].text = i18n::Text("to the end");
  (trace.info.has_times ? row.cells[kBorn].ns : row.cells[kBorn].count) =
      a.begin_ns[i] - (trace.info.has_times ? trace.begin_ns() : 0);
  if (a.step[i] >= 0) row.cells[kStep].count = a.step[i];
  const trace::EventIndex e = a.alloc_event[i];
  if (!trace.events.user_metadata.empty())
    row.cells.push_back(TextCell(Text(trace.String(trace.events.UserMetadataOf(e)))));
  if (!trace.events.compile_context.empty())
    row.cells.push_back(TextCell(Text(trace.String(trace.events.CompileContextOf(e)))));
  return row;
}

// Sorts the keys by a radix sort, which takes milliseconds for a million rows.
std::vector<uint32_t> AllocationOrder(const Trace& trace, int column, bool descending) {
  if (column == kUserMetadata && trace.events.user_metadata.empty()) column = kCompileContext;
  std::vector<uint64_t> keys = KeysOf(trace, column);
  if (descending)
    for (uint64_t& key : keys) key = ~key;
  const size_t n = keys.size();
  std::vector<uint32_t> order(n), next(n);
  std::iota(order.begin(), order.end(), 0u);
  uint64_t some = 0, all = ~uint64_t{0};
  for (const uint64_t key : keys) some |= key, all &= key;
  constexpr int kBits = 11;
  constexpr size_t kDigits = size_t{1} << kBits;
  for (int shift = 0; shift < 64; shift += kBits) {
    const uint64_t mask = (kDigits - 1) << shift;
    if (((some ^ all) & mask) == 0) continue;  // all keys have the same digit
    std::array<uint32_t, kDigits + 1> at{};
    for (const uint64_t key : keys) ++at[((key & mask) >> shift) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    for (const uint32_t i : order) next[at[(keys[i] & mask) >> shift]++] = i;
    order.swap(next);
  }
  return order;
}

EventSpan SpanOf(const Trace& trace, int64_t begin_ns, int64_t end_ns) {
  if (begin_ns >= end_ns || trace.events.size() == 0) return {};
  const auto& times = trace.events.time_ns;
  const auto after = [&](int64_t ns) {
    return static_cast<trace::EventIndex>(std::upper_bound(times.begin(), times.end(), ns) -
                                          times.begin());
  };
  // The range includes events exactly at its begin and its end.
  const auto first = static_cast<trace::EventIndex>(
      std::lower_bound(times.begin(), times.end(), begin_ns) - times.begin());
  return {.first = first, .last = std::max(after(end_ns), 1u) - 1};
}

}  // namespace vramscope::ui
