#include "ui/explain/live_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/query/matcher.h"
#include "ui/panels/cells.h"

namespace vramscope::ui {
namespace {

using analysis::GroupBy;

const std::string& TitleOf(GroupBy by) {
  switch (by) {
    case GroupBy::kCategory:
      return i18n::Text("Category");
    case GroupBy::kModule:
      return i18n::Text("Module");
    case GroupBy::kOp:
      return i18n::Text("Op");
    case GroupBy::kStack:
      return i18n::Text("Call site");
    case GroupBy::kPhase:
      return i18n::Text("Phase");
    case GroupBy::kFile:
      return i18n::Text("File");
    case GroupBy::kSize:
      return i18n::Text("Size class");
    case GroupBy::kAge:
      return i18n::Text("Age");
    case GroupBy::kAnnotation:
      return i18n::Text("Annotation");
  }
  static const std::string kNone;
  return kNone;
}

std::string Title(const std::optional<analysis::GroupExpression>& by) {
  if (!by) return i18n::Text("Block");
  std::string title;
  for (const analysis::GroupPart& part : by->parts())
    title += (title.empty() ? "" : ", ") + TitleOf(part.by);
  return title;
}

std::string LabelOf(const analysis::GroupExpression& by, const analysis::Group& group) {
  return by.Is(GroupBy::kFile) ? analysis::FileLabel(group.name) : analysis::GroupLabel(by, group);
}

Cell ShareCell(uint64_t bytes, uint64_t of) {
  const double share = of == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(of);
  return {.text = fmt::format("{:.1f} %", 100 * share), .sort = share, .percent = 100 * share};
}

// Returns the allocations of the set that match the filter.
std::vector<analysis::LiveAllocation> Matching(const trace::Trace& trace,
                                               const analysis::LiveSet& set,
                                               const query::Filter& filter) {
  if (filter.empty()) return set.allocations;
  // A block's category may change over time; the filter uses the category at the time of the set.
  std::vector<trace::Category> category(trace.allocations.main_category.begin(),
                                        trace.allocations.main_category.end());
  for (const analysis::LiveAllocation& l : set.allocations) category[l.id.value] = l.category;
  query::Matcher matcher(filter, trace, nullptr, set.context.time_ns);
  matcher.UseCategories(&category);
  std::vector<analysis::LiveAllocation> left;
  for (const analysis::LiveAllocation& l : set.allocations)
    if (matcher.Matches({query::ThingKind::kBlock, l.id.value})) left.push_back(l);
  return left;
}

std::string SiteName(const trace::Trace& trace, trace::AllocationId id) {
  return explain::SiteOf(trace, id).name;
}

}  // namespace

std::vector<Column> LiveColumns(const std::optional<analysis::GroupExpression>& by) {
  return {
      {Title(by), false, 300},
      {i18n::Text("Bytes"), true, 104, false,
       i18n::Text("Block sizes: requested sizes, rounded up")},
      {i18n::Text("Share"), true, 70, false,
       i18n::Text("Share of all bytes allocated at this time")},
      {i18n::Text("Blocks"), true, 76},
      {i18n::Text("Requested"), true, 104},
      {i18n::Text("Category"), false, 142},
      {i18n::Text("Phase"), false, 84, false, i18n::Text("Phase in which the block was allocated")},
      {i18n::Text("Age"), true, 96, false, i18n::Text("For a group: the age of its oldest block")},
      {i18n::Text("Call site"), false, 240}};
}

LiveRows::LiveRows(std::shared_ptr<const trace::Trace> trace,
                   std::shared_ptr<const analysis::LiveSet> set, const LiveQuestion& question)
    : trace_(std::move(trace)), set_(std::move(set)), by_(question.by) {
  blocks_ = Matching(*trace_, *set_, question.filter);
  const trace::AllocationTable& a = trace_->allocations;
  std::vector<uint32_t> group_of;
  if (by_) {
    analysis::LiveSet left;
    left.context = set_->context;
    left.allocations = blocks_;
    analysis::LiveGroups grouped = analysis::GroupBlocks(*trace_, left, *by_);
    for (analysis::Group& g : grouped.groups)
      groups_.push_back({.name = g.name, .label = LabelOf(*by_, g), .bytes = g.bytes});
    group_of = std::move(grouped.group_of);
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const uint32_t id = blocks_[i].id.value;
    bytes_ += a.bytes_rounded[id];
    requested_ += a.bytes[id];
    if (!by_) continue;
    Group& group = groups_[group_of[i]];
    group.requested += a.bytes[id];
    group.oldest_ns = std::max(group.oldest_ns, AgeOf(blocks_[i].id));
    if (group.count++ == 0) group.largest = blocks_[i].id;  // the set begins with the largest
    if (by_->Is(GroupBy::kCategory)) group.category = blocks_[i].category;
  }
  Sort(question, std::move(group_of));
}

int64_t LiveRows::AgeOf(trace::AllocationId id) const {
  return std::max<int64_t>(set_->context.time_ns - trace_->allocations.begin_ns[id.value], 0);
}

// Sorts the groups, and the blocks in each group. The sort is stable: blocks with equal keys stay
// sorted by size, the largest first.
void LiveRows::Sort(const LiveQuestion& question, std::vector<uint32_t> group_of) {
  const trace::AllocationTable& a = trace_->allocations;
  const auto sorted = [&](size_t n, const auto& less) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
      return question.descending ? less(y, x) : less(x, y);
    });
    return order;
  };
  const std::vector<uint32_t> groups = sorted(groups_.size(), [&](uint32_t i, uint32_t j) {
    const Group &x = groups_[i], &y = groups_[j];
    switch (question.column) {
      case LiveColumn::kBytes:
      case LiveColumn::kShare:
        return x.bytes < y.bytes;
      case LiveColumn::kBlocks:
        return x.count < y.count;
      case LiveColumn::kRequested:
        return x.requested < y.requested;
      case LiveColumn::kAge:
        return x.oldest_ns < y.oldest_ns;
      case LiveColumn::kName:
        return x.name < y.name;
      case LiveColumn::kCategory:
      case LiveColumn::kPhase:
      case LiveColumn::kSite:
        break;  // groups do not have this column
    }
    return false;
  });
  std::vector<uint32_t> place(groups.size());
  for (uint32_t i = 0; i < groups.size(); ++i) place[groups[i]] = i;
  // Build the name of each group only once.
  std::vector<std::string> names;
  if (question.column == LiveColumn::kName || question.column == LiveColumn::kSite) {
    names.reserve(blocks_.size());
    for (const analysis::LiveAllocation& l : blocks_)
      names.push_back(question.column == LiveColumn::kName ? ShortName(*trace_, l.id)
                                                           : SiteName(*trace_, l.id));
  }
  std::vector<uint32_t> blocks = sorted(blocks_.size(), [&](uint32_t i, uint32_t j) {
    const uint32_t x = blocks_[i].id.value, y = blocks_[j].id.value;
    switch (question.column) {
      case LiveColumn::kBytes:
      case LiveColumn::kShare:
        return a.bytes_rounded[x] < a.bytes_rounded[y];
      case LiveColumn::kRequested:
        return a.bytes[x] < a.bytes[y];
      case LiveColumn::kCategory:
        return blocks_[i].category < blocks_[j].category;
      case LiveColumn::kPhase:
        return a.phase[x] < a.phase[y];
      case LiveColumn::kAge:
        return a.begin_ns[x] > a.begin_ns[y];
      case LiveColumn::kName:
      case LiveColumn::kSite:
        return names[i] < names[j];
      case LiveColumn::kBlocks:
        break;  // all blocks get the same key, so that they stay sorted by size
    }
    return false;
  });
  if (by_)
    std::stable_sort(blocks.begin(), blocks.end(), [&](uint32_t x, uint32_t y) {
      return place[group_of[x]] < place[group_of[y]];
    });
  std::vector<Group> sorted_groups;
  sorted_groups.reserve(groups_.size());
  uint32_t first = 0;
  for (const uint32_t from : groups) {
    sorted_groups.push_back(std::move(groups_[from]));
    sorted_groups.back().first = first;
    first += sorted_groups.back().count;
  }
  groups_ = std::move(sorted_groups);
  std::vector<analysis::LiveAllocation> sorted_blocks;
  sorted_blocks.reserve(blocks_.size());
  for (const uint32_t from : blocks) sorted_blocks.push_back(blocks_[from]);
  blocks_ = std::move(sorted_blocks);
}

Row LiveRows::GroupRow(uint32_t group) const {
  const Group& g = groups_[group];
  Row row;
  row.marked = true;
  Cell name = TextCell(g.name);
  name.text = TextCell(g.label).text;
  row.cells = {std::move(name),
               BytesCell(g.bytes),
               ShareCell(g.bytes, set_->allocated),
               CountCell(g.count),
               BytesCell(g.requested),
               {},
               {},
               DurationCell(g.oldest_ns, trace_->info.has_times),
               {}};
  row.group = group;
  row.allocation = g.largest;
  return row;
}

Row LiveRows::BlockRow(uint32_t block) const {
  const analysis::LiveAllocation& l = blocks_[block];
  const trace::AllocationTable& a = trace_->allocations;
  const uint32_t id = l.id.value;
  Row row;
  row.cells = {TextCell(ShortName(*trace_, l.id)),
               BytesCell(a.bytes_rounded[id]),
               ShareCell(a.bytes_rounded[id], set_->allocated),
               CountCell(1),
               BytesCell(a.bytes[id]),
               CategoryCell(l.category),
               {.text = a.phase[id] == trace::Phase::kNone ? "\u2013"
                                                           : i18n::Text(trace::Name(a.phase[id]))},
               DurationCell(AgeOf(l.id), trace_->info.has_times),
               TextCell(SiteName(*trace_, l.id))};
  row.allocation = l.id;
  return row;
}

}  // namespace vramscope::ui
