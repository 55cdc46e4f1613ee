#include "ui/timeline/model/activity_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/activity_names.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui::timeline {
namespace {

using query::kNoRow;
using trace::ActivityKind;
using trace::SliceKind;

constexpr size_t kMostRelated = 64;
// The maximum number of an op's kernels that are summed, and of its allocations.
constexpr size_t kMostSummed = 10'000;

std::string Blocks(size_t count) {
  return count == 1 ? i18n::Format("{} block", 1) : i18n::Format("{} blocks", FormatCount(count));
}

std::string Allocations(size_t count) {
  return count == 1 ? i18n::Format("{} allocation", 1)
                    : i18n::Format("{} allocations", FormatCount(count));
}

std::string NameOfAllocation(const trace::Trace& t, uint32_t id) {
  const trace::AllocationTable& a = t.allocations;
  return fmt::format("{} {}", FormatBytes(a.bytes[id]),
                     i18n::Text(trace::Name(a.main_category[id])));
}

// Adds the blocks that are the kernel's operands, if operands were recorded.
void AddBlocks(const TimelineData& d, uint32_t row, std::vector<LinkedFact>* facts) {
  const query::OperandLinks& links = d.activities()->operands();
  if (!links.any()) return;
  const std::vector<query::OperandLinks::Block> blocks = links.BlocksOf(row, kMostSummed);
  if (blocks.empty()) return;
  uint64_t bytes = 0;
  for (const auto& block : blocks)
    bytes += d.trace().allocations.bytes_rounded[block.allocation.value];
  facts->push_back(
      {i18n::Text("works on"), fmt::format("{}, {}", Blocks(blocks.size()), FormatBytes(bytes))});
  for (size_t i = 0; i < std::min(blocks.size(), kNamed); ++i) {
    const uint32_t id = blocks[i].allocation.value;
    facts->push_back({i18n::Text(query::UseText(blocks[i].read, blocks[i].written)),
                      NameOfAllocation(d.trace(), id),
                      {Link::To::kAllocation, id}});
  }
}

void AddTouches(const TimelineData& d, trace::AllocationId id, std::vector<LinkedFact>* facts) {
  const trace::Trace& t = d.trace();
  const query::OperandLinks::Touches touches = d.activities()->operands().TouchesOf(id);
  if (touches.count == 0) return;
  facts->push_back({i18n::Text("used by"), touches.count == 1
                                               ? i18n::Format("{} kernel, memcpy or memset", 1)
                                               : i18n::Format("{} kernels, memcpys and memsets",
                                                              FormatCount(touches.count))});
  const auto add = [&](std::string_view label, uint32_t row) {
    if (row != kNoRow)
      facts->push_back({std::string(label),
                        i18n::Format("{} at {}", ActivityLabel(t, row),
                                     TimeTextOf(t, t.activities.begin_ns[row], 1)),
                        {Link::To::kActivity, row}});
  };
  add(i18n::Text("first used by"), touches.all.first);
  add(i18n::Text("last used by"), touches.all.last);
  add(i18n::Text("first read by"), touches.reads.first);
  add(i18n::Text("last read by"), touches.reads.last);
  add(i18n::Text("first written by"), touches.writes.first);
  add(i18n::Text("last written by"), touches.writes.last);
}

void AddKernels(const TimelineData& d, uint32_t slice, std::string_view label,
                std::vector<LinkedFact>* facts) {
  const trace::Trace& t = d.trace();
  std::vector<uint32_t> rows = d.activities()->LaunchedWithin(slice, kMostSummed + 1);
  if (rows.empty()) return;
  const bool more = rows.size() > kMostSummed;
  if (more) rows.pop_back();
  int64_t takes = 0;
  for (const uint32_t row : rows) takes += t.activities.end_ns[row] - t.activities.begin_ns[row];
  facts->push_back(
      {std::string(label), i18n::Format("{}{} launched, {}", more ? i18n::Text("more than ") : "",
                                        FormatCount(rows.size()), FormatDuration(takes))});
  for (size_t i = 0; i < std::min(rows.size(), kNamed); ++i) {
    const uint32_t row = rows[i];
    facts->push_back(
        {"",
         fmt::format("{}  {}", ActivityLabel(t, row),
                     FormatDuration(t.activities.end_ns[row] - t.activities.begin_ns[row])),
         {Link::To::kActivity, row}});
  }
}

}  // namespace

ActivityFacts FactsOfActivity(const TimelineData& d, uint32_t row) {
  const trace::Trace& t = d.trace();
  const trace::ActivityTable& a = t.activities;
  const query::ActivityIndex& index = *d.activities();
  ActivityFacts out;
  const bool kernel = a.kind[row] == ActivityKind::kKernel;
  const std::string_view name = t.String(a.name[row]);
  out.title = ActivityLabel(t, row);
  out.subtitle = fmt::format("{} · {}", ActivityNoun(a.kind[row]), PlaceOf(t, row));
  if (kernel && !name.empty() && name != out.title)
    out.facts.push_back({i18n::Text("full name"), std::string(name)});
  const int64_t takes = a.end_ns[row] - a.begin_ns[row];
  if (takes > 0) out.facts.push_back({i18n::Text("duration"), FormatDuration(takes)});
  out.facts.push_back({i18n::Text("begins"), TimeTextOf(t, a.begin_ns[row], 1)});
  const bool copy = a.kind[row] == ActivityKind::kMemcpy;
  if (copy)
    out.facts.push_back(
        {i18n::Text("from, to"), fmt::format("{} → {}", i18n::Text(trace::Name(a.from[row])),
                                             i18n::Text(trace::Name(a.to[row])))});
  if (a.bytes[row] > 0 && a.kind[row] != ActivityKind::kCounter) {
    out.facts.push_back({i18n::Text("bytes"), FormatBytesExact(a.bytes[row])});
    if (copy && takes > 0)
      out.facts.push_back(
          {i18n::Text("rate"), fmt::format("{:.1f} GB/s", static_cast<double>(a.bytes[row]) /
                                                              static_cast<double>(takes))});
  }
  const uint32_t call = index.CallOf(row);
  if (call != kNoRow && call != row) {
    out.facts.push_back({i18n::Text("launched by"),
                         i18n::Format("{} on {}", ActivityLabel(t, call), PlaceOf(t, call)),
                         {Link::To::kActivity, call}});
    out.facts.push_back(
        {i18n::Text("launch delay"),
         i18n::Format("{} from call to start",
                      FormatDuration(std::max<int64_t>(a.begin_ns[row] - a.begin_ns[call], 0)))});
  } else if (call == row) {
    size_t named = 0;
    for (const uint32_t of : index.Correlated(row))
      if (trace::IsOfDevice(a.kind[of]) && named++ < kNamed)
        out.facts.push_back(
            {i18n::Text("launches"), ActivityLabel(t, of), {Link::To::kActivity, of}});
  } else if (trace::IsOfDevice(a.kind[row]) && a.kind[row] != ActivityKind::kCounter) {
    out.facts.push_back({i18n::Text("launched by"), i18n::Text("a call that was not recorded")});
  }
  // Take the op and module from the trace's slices. If the trace has no such slices, take them from
  // the activity's columns.
  const uint32_t op = index.SliceOf(row, SliceKind::kOp);
  const uint32_t module = index.SliceOf(row, SliceKind::kModule);
  if (op != kNoRow) {
    out.facts.push_back({i18n::Text("op"), d.SliceName(op), {Link::To::kSlice, op}});
  } else if (const auto said = t.String(a.op[row]); !said.empty()) {
    out.facts.push_back({i18n::Text("op"), std::string(said)});
  }
  if (module != kNoRow) {
    out.facts.push_back({i18n::Text("module"), d.SliceName(module), {Link::To::kSlice, module}});
  } else if (const auto said = t.String(index.ModuleOf(row)); !said.empty()) {
    out.facts.push_back({i18n::Text("module"), std::string(said)});
  }
  AddBlocks(d, row, &out.facts);
  if (op != kNoRow) {
    const query::RowRange made = index.MadeWithin(op);
    uint64_t bytes = 0;
    for (uint32_t id = made.first; id < std::min<size_t>(made.last, made.first + kMostSummed); ++id)
      bytes += t.allocations.bytes_rounded[id];
    if (made.size() == 0)
      out.facts.push_back({i18n::Text("allocated by its op"), i18n::Text("no allocation")});
    if (made.size() > 0)
      out.facts.push_back({i18n::Text("allocated by its op"),
                           fmt::format("{}, {}", Allocations(made.size()), FormatBytes(bytes))});
    for (uint32_t id = made.first; id < std::min<size_t>(made.last, made.first + kNamed); ++id)
      out.facts.push_back({"", NameOfAllocation(t, id), {Link::To::kAllocation, id}});
  }
  return out;
}

ActivityFacts FactsOfGap(const TimelineData& d, uint32_t number) {
  const trace::Trace& t = d.trace();
  const query::IdleGap gap = d.idle()->Gap(number);
  ActivityFacts out;
  out.title = i18n::Format("idle {}", FormatDuration(gap.end_ns - gap.begin_ns));
  out.subtitle = PlaceOf(t, gap.after);
  out.facts.push_back({i18n::Text("waits for"), gap.cause == query::IdleCause::kUnknown
                                                    ? i18n::Text("not known")
                                                    : i18n::Text(Name(gap.cause))});
  out.facts.push_back({i18n::Text("evidence"), i18n::Text(Rule(gap.cause)), {}, true});
  out.facts.push_back(
      {i18n::Text("before"), ActivityLabel(t, gap.before), {Link::To::kActivity, gap.before}});
  if (gap.evidence != kNoRow)
    out.facts.push_back({gap.cause == query::IdleCause::kHost ? i18n::Text("launched by")
                                                              : i18n::Text("during the gap"),
                         i18n::Format("{} at {}", ActivityLabel(t, gap.evidence),
                                      TimeTextOf(t, t.activities.begin_ns[gap.evidence], 1)),
                         {Link::To::kActivity, gap.evidence}});
  out.facts.push_back(
      {i18n::Text("after"), ActivityLabel(t, gap.after), {Link::To::kActivity, gap.after}});
  return out;
}

std::vector<LinkedFact> KernelsOf(const TimelineData& d, trace::AllocationId id) {
  std::vector<LinkedFact> facts;
  if (d.activities() == nullptr) return facts;
  if (d.activities()->operands().any()) AddTouches(d, id, &facts);
  const uint32_t made = d.activities()->OpThatMade(id);
  if (made != kNoRow) {
    facts.push_back({i18n::Text("allocated by"), d.SliceName(made), {Link::To::kSlice, made}});
    AddKernels(d, made, i18n::Text("kernels of the op"), &facts);
  }
  const uint32_t last = d.activities()->LastOpBeforeFree(id);
  if (last != kNoRow && last != made) {
    facts.push_back(
        {i18n::Text("last op before it was freed"), d.SliceName(last), {Link::To::kSlice, last}});
    AddKernels(d, last, i18n::Text("kernels of the op"), &facts);
  }
  return facts;
}

std::vector<uint32_t> Related(const TimelineData& d, uint32_t activity) {
  const auto all = d.activities()->Correlated(activity);
  return {all.begin(),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostRelated))};
}

std::vector<trace::AllocationId> BlocksWith(const TimelineData& d, uint32_t activity) {
  std::vector<trace::AllocationId> ids;
  if (d.activities()->operands().any()) {
    for (const auto& block : d.activities()->operands().BlocksOf(activity, kMostRelated))
      ids.push_back(block.allocation);
    return ids;
  }
  const uint32_t op = d.activities()->SliceOf(activity, SliceKind::kOp);
  if (op == kNoRow) return ids;
  const query::RowRange made = d.activities()->MadeWithin(op);
  for (uint32_t id = made.first; id < made.last && ids.size() < kMostRelated; ++id)
    ids.push_back({id});
  return ids;
}

std::vector<uint32_t> KernelsWith(const TimelineData& d, trace::AllocationId id) {
  if (d.activities() == nullptr) return {};
  if (d.activities()->operands().any())
    return d.activities()->operands().TouchedBy(id, kMostRelated);
  const uint32_t op = d.activities()->OpThatMade(id);
  return op == kNoRow ? std::vector<uint32_t>() : d.activities()->LaunchedWithin(op, kMostRelated);
}

}  // namespace vramscope::ui::timeline
