#include "ui/explain/state_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/panels/cells.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using explain::Fragmentation;
using explain::MemoryState;
using timeline::FormatBytes;

Table Groups(std::string title, const std::vector<analysis::Group>& groups) {
  Table table;
  table.columns = {{std::move(title), false, 300},
                   {i18n::Text("Bytes"), true, 100},
                   {i18n::Text("Blocks"), true, 70}};
  for (const analysis::Group& g : groups) {
    Row row;
    row.cells = {TextCell(g.name), BytesCell(g.bytes), CountCell(g.count)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

// A figure of memory_stats() is in bytes if its name contains "bytes". Otherwise it is a count.
bool CountsBytes(std::string_view name) { return name.find("bytes") != std::string_view::npos; }

}  // namespace

std::vector<Fact> StateFacts(const MemoryState& state) {
  const Fragmentation& f = state.fragmentation;
  const auto bytes = [](uint64_t b) { return b == 0 ? std::string("0") : FormatBytes(b); };
  // If the file was cut off before its segments, reserved memory is not 0 but unknown.
  if (!f.reserved_known())
    return {{i18n::Text("allocated"), bytes(f.allocated)},
            {i18n::Text("reserved"), i18n::Text("unknown")},
            {i18n::Text("segments"), i18n::Text("unknown")}};
  std::vector<Fact> facts = {
      {i18n::Text("allocated"), bytes(f.allocated)},
      {i18n::Text("reserved"), bytes(f.reserved)},
      {i18n::Text("segments"), timeline::FormatCount(f.segments)},
      {i18n::Text("in holes"), bytes(f.holes)},
      {i18n::Text("cached"), bytes(f.cached)},
      {i18n::Text("empty_cache() releases"), bytes(state.empty_cache_gives)}};
  if (f.pending > 0) facts.push_back({i18n::Text("in use by another stream"), bytes(f.pending)});
  if (f.outside > 0) facts.push_back({i18n::Text("outside segments"), bytes(f.outside)});
  return facts;
}

Table StateSitesTable(const MemoryState& state) {
  return Groups(i18n::Text("Call site"), state.by_site);
}

Table StateCategoriesTable(const analysis::LiveSet& live) {
  Table table;
  table.columns = {{i18n::Text("Category"), false, 220},
                   {i18n::Text("Bytes"), true, 100},
                   {i18n::Text("Share"), true, 70}};
  for (const Part& part : PartsOf(live.by_category, live.allocated)) {
    Row row;
    row.cells = {CategoryCell(part.category),
                 BytesCell(part.bytes),
                 {.text = fmt::format("{:.1f} %", 100 * part.share), .sort = part.share}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table StatePoolsTable(const MemoryState& state) {
  Table table;
  table.columns = {
      {i18n::Text("Pool"), false, 300},
      {i18n::Text("Reserved"), true, 100},
      {i18n::Text("Live"), true, 100},
      {i18n::Text("Holes"), true, 90, false,
       i18n::Text("free memory in segments that also have live blocks")},
      {i18n::Text("Cached"), true, 90, false, i18n::Text("memory in completely free segments")},
      {i18n::Text("Segments"), true, 80}};
  for (const Fragmentation::PoolUse& p : state.fragmentation.pools) {
    Row row;
    Cell name = TextCell(explain::PoolName(p));
    for (const explain::PoolOwner& owner : state.fragmentation.owners)
      if (p.mempool != 0 && owner.mempool == p.mempool && owner.device == p.device &&
          !owner.site.name.empty())
        name.exact += i18n::Format("\nMost of this memory was allocated by {}", owner.site.name);
    row.cells = {std::move(name),    BytesCell(p.reserved), BytesCell(p.live),
                 BytesCell(p.holes), BytesCell(p.cached),   CountCell(p.segments)};
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const Row& x, const Row& y) { return x.cells[1].sort > y.cells[1].sort; });
  return table;
}

Table StateBlocksTable(const trace::Trace& trace, const MemoryState& state, size_t most) {
  Table table;
  table.columns = {{i18n::Text("Block"), false, 300},
                   {i18n::Text("Category"), false, 142},
                   {i18n::Text("Bytes"), true, 100},
                   {i18n::Text("Address"), true, 130}};
  struct Live {
    trace::AllocationId id;
    uint64_t bytes, address;
  };
  std::vector<Live> live;
  for (const explain::SegmentView& segment : state.segments)
    for (const explain::SegmentView::Piece& piece : segment.pieces)
      if (piece.allocation.valid() && piece.allocation.value < trace.allocations.size())
        live.push_back({piece.allocation, piece.bytes, piece.address});
  std::stable_sort(live.begin(), live.end(),
                   [](const Live& x, const Live& y) { return x.bytes > y.bytes; });
  if (live.size() > most) live.resize(most);
  for (const Live& block : live) {
    Row row;
    row.allocation = block.id;
    row.cells = {
        TextCell(ShortName(trace, block.id)),
        CategoryCell(trace.allocations.category[block.id.value]),
        BytesCell(block.bytes),
        {.text = fmt::format("0x{:x}", block.address), .sort = static_cast<double>(block.address)}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table StatisticsTable(const trace::TraceInfo& info) {
  Table table;
  table.columns = {{"torch.cuda.memory_stats()", false, 360}, {i18n::Text("Value"), true, 140}};
  for (const trace::Statistic& s : info.statistics) {
    Row row;
    const bool bytes = CountsBytes(s.name) && s.value >= 0;
    Cell value;
    if (bytes)
      value = BytesCell(static_cast<uint64_t>(s.value));
    else
      value = {.text = s.value < 0 ? fmt::format("{}", s.value)
                                   : timeline::FormatCount(static_cast<uint64_t>(s.value)),
               .sort = static_cast<double>(s.value),
               .count = s.value};
    row.cells = {TextCell(s.name), std::move(value)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vramscope::ui
