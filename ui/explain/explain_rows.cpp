#include "ui/explain/explain_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "ui/panels/cells.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

using explain::Fragmentation;
using timeline::FormatBytes;
using timeline::FormatCount;

Cell BadCount(uint64_t count) {
  Cell cell = CountCell(count);
  if (count > 0) cell.tone = Cell::Tone::kBad;
  return cell;
}

// If the trace has no times, `byte_seconds` is in bytes × history entries instead of bytes ×
// seconds.
Cell HeldCell(double byte_seconds, bool times) {
  const double gib = byte_seconds / 1073741824.0 * (times ? 1 : 1e9);
  const std::string figure = gib >= 1000 ? timeline::FormatCount(static_cast<uint64_t>(gib + 0.5))
                                         : fmt::format("{:.3g}", gib);
  return {
      .text = figure + (times ? i18n::Text(" GiB·s") : i18n::Text(" GiB·entries")),
      .sort = byte_seconds,
      .exact =
          times ? i18n::Text("bytes multiplied by the time for which they were allocated")
                : i18n::Text("bytes multiplied by their lifetime. The file has no times, so the "
                             "lifetime is the number of history entries from allocation to free")};
}

// Returns the allocations of each site.
std::vector<std::shared_ptr<std::vector<trace::AllocationId>>> BlocksOf(
    const explain::CallSites& sites) {
  std::vector<std::shared_ptr<std::vector<trace::AllocationId>>> blocks(sites.sites.size());
  for (auto& ids : blocks) ids = std::make_shared<std::vector<trace::AllocationId>>();
  for (uint32_t i = 0; i < sites.site_of.size(); ++i)
    blocks[sites.site_of[i]]->push_back(trace::AllocationId{i});
  return blocks;
}

}  // namespace

Table FindingTable(const std::vector<explain::Finding>& findings) {
  Table table;
  table.columns = {
      {i18n::Text("Bytes"), true, 96},
      {i18n::Text("Finding"), false, 460},
      {i18n::Text("Where"), false, 160, false,
       i18n::Text("the source line or module that allocated most of the bytes")},
      {i18n::Text("Remedy"), false, 340, false, i18n::Text("the change to make in the program")},
      {i18n::Text("Toggle"), false, 100, false,
       i18n::Text("to try the remedy without editing the program, run vramscope plan --toggle NAME "
                  "-- python train.py")}};
  for (const explain::Finding& finding : findings) {
    Row row;
    if (!finding.blocks.empty()) {
      row.allocation = finding.blocks.front();
      row.blocks = std::make_shared<const std::vector<trace::AllocationId>>(finding.blocks);
    }
    row.cells = {BytesCell(finding.bytes),
                 {.text = finding.text,
                  .exact = fmt::format("{}\n{}", finding.text,
                                       i18n::Format("Rule: {}.", i18n::Text(finding.rule->rule)))},
                 TextCell(finding.where),
                 TextCell(i18n::Text(finding.rule->remedy)),
                 TextCell(std::string(finding.rule->toggle))};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<FragmentFact> FragmentFacts(const Fragmentation& f) {
  std::vector<FragmentFact> facts;
  // A figure that the file lacks has no row, because a 0 would look like a recorded value.
  if (f.reserved_known())
    facts.push_back({i18n::Text("reserved"), f.reserved,
                     i18n::Text("the sum of the caching allocator's segments")});
  facts.push_back(
      {i18n::Text("allocated"), f.allocated,
       i18n::Text("the part of the reserved memory that is in blocks used by tensors")});
  if (f.record == trace::SegmentRecord::kTotalOnly)
    facts.push_back({i18n::Text("not in use"), f.unplaced,
                     i18n::Text("reserved memory that is not allocated; the trace records only "
                                "this total, not the segments")});
  if (f.record == trace::SegmentRecord::kEach) {
    facts.push_back(
        {i18n::Text("holes"), f.holes,
         i18n::Text("free memory in segments that also have live blocks; it cannot be released")});
    facts.push_back({i18n::Text("cached"), f.cached,
                     i18n::Text("memory in completely free segments; empty_cache() releases it")});
    facts.push_back({i18n::Text("largest free block"), f.largest_hole,
                     i18n::Text("the largest allocation that fits into a hole or a free segment, "
                                "so that no new segment is needed")});
  }
  if (!f.sizes_are_of_blocks) {
    facts.push_back(
        {i18n::Text("rounding"), f.rounding,
         i18n::Text("bytes added because sizes are rounded up to a multiple of 512 bytes, or as "
                    "the settings require; they count as allocated memory")});
    facts.push_back(
        {i18n::Text("unsplit tails"), f.tails,
         i18n::Text(
             "remainders that are too small to be split off; they count as allocated memory")});
  }
  if (f.pending > 0)
    facts.push_back(
        {i18n::Text("pending frees"), f.pending,
         i18n::Text("memory that the program freed, but that another stream still uses")});
  if (f.outside > 0 && f.reserved_known())
    facts.push_back({i18n::Text("outside"), f.outside,
                     i18n::Text("allocated memory that is not in any segment of the file")});
  return facts;
}

Table PinnedByTable(const Fragmentation& f) {
  Table table;
  table.columns = {{i18n::Text("Call site that keeps segments from being released"), false, 300},
                   {i18n::Text("Free"), true, 96},
                   {i18n::Text("Blocks"), true, 64}};
  for (const analysis::Group& g : f.pinned_by) {
    Row row;
    row.cells = {TextCell(g.name), BytesCell(g.bytes), CountCell(g.count)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table PinnedTable(const Fragmentation& f) {
  Table table;
  table.columns = {{i18n::Text("Segment"), true, 110},
                   {i18n::Text("Free"), true, 110},
                   {i18n::Text("Largest free range"), true, 110},
                   {i18n::Text("Held by"), false, 300},
                   {i18n::Text("Blocks"), true, 60}};
  for (const Fragmentation::Pinned& p : f.pinned) {
    Row row;
    const std::string who = p.pins.empty() ? std::string() : p.pins.front().site.name;
    row.cells = {BytesCell(p.bytes), BytesCell(p.free), BytesCell(p.largest_hole), TextCell(who),
                 CountCell(p.pin_count)};
    if (!p.pins.empty()) {
      row.allocation = p.pins.front().allocation;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table RemedyTable(const explain::Reclaim& reclaim) {
  Table table;
  table.columns = {
      {i18n::Text("What"), false, 280},
      {i18n::Text("Reserved then"), true, 110},
      {i18n::Text("Difference"), true, 110, false,
       i18n::Text(
           "reserved memory at that time, compared with the replay under the recorded settings")},
      {i18n::Text("Peak reserved"), true, 110},
      {i18n::Text("At the peak"), true, 110, false,
       i18n::Text("difference between the peaks of reserved memory over the whole trace")},
      {"cudaMalloc", true, 104},
      {"cudaFree", true, 80},
      {i18n::Text("Retries"), true, 70},
      {i18n::Text("Out of memory"), true, 110}};
  const auto add = [&](const explain::Remedy& r, bool reference) {
    Row row;
    row.marked = reference;
    if (!r.error.empty()) {
      row.cells.assign(table.columns.size(), Cell{});
      row.cells[0] = {.text = i18n::Text(r.name), .exact = r.error};
      row.cells[1] = {
          .text = i18n::Text("not computed"), .exact = r.error, .tone = Cell::Tone::kDim};
    } else {
      row.cells = {TextCell(r.note.empty() ? i18n::Text(r.name)
                                           : fmt::format("{} · {}", i18n::Text(r.name), r.note)),
                   BytesCell(r.reserved),
                   reference ? Cell{} : DifferenceCell(-r.given_back),
                   BytesCell(r.peak_reserved),
                   reference ? Cell{} : DifferenceCell(-r.peak_given_back),
                   CountCell(r.segment_allocs),
                   CountCell(r.segment_frees),
                   BadCount(r.retries),
                   BadCount(r.out_of_memory)};
    }
    table.rows.push_back(std::move(row));
  };
  add(reclaim.as_recorded, true);
  if (reclaim.anew) add(*reclaim.anew, true);
  for (const explain::Remedy& r : reclaim.remedies) add(r, false);
  return table;
}

Table WhatIfTable(const WhatIf& w) {
  Table table;
  table.columns = {{"", false, 210},
                   {i18n::Text("Peak reserved"), true, 110},
                   {i18n::Text("Difference"), true, 110},
                   {i18n::Text("cudaMalloc, map"), true, 130},
                   {i18n::Text("cudaFree, unmap"), true, 130},
                   {i18n::Text("Retries"), true, 70},
                   {i18n::Text("Out of memory"), true, 110},
                   {i18n::Text("Largest free range"), true, 110},
                   {i18n::Text("Holes"), true, 110}};
  Row recorded;
  recorded.cells.resize(table.columns.size());
  recorded.cells[0] = {.text = i18n::Text("recorded")};
  recorded.cells[1] = BytesCell(w.recorded_peak_reserved);
  recorded.cells[6] = BadCount(w.recorded_out_of_memory);
  table.rows.push_back(recorded);
  const auto add = [&](const std::string& name, const replay::Replayed& r, uint64_t against) {
    Row row;
    row.cells = {{.text = name},
                 BytesCell(r.peak_reserved),
                 DifferenceCell(static_cast<int64_t>(r.peak_reserved - against)),
                 CountCell(r.segment_allocs + r.segment_maps),
                 CountCell(r.segment_frees + r.segment_unmaps),
                 BadCount(r.retries),
                 BadCount(r.out_of_memory),
                 BytesCell(r.largest_hole),
                 BytesCell(r.stranded_bytes)};
    row.cells[8].exact =
        i18n::Text("free bytes in partly used segments at the peak of reserved memory");
    table.rows.push_back(std::move(row));
  };
  if (w.base != nullptr) {
    add(i18n::Text("replay with the recorded settings"), w.base->own, w.recorded_peak_reserved);
    if (w.base->anew)
      add(i18n::Text("replay with the recorded settings. This replay first allocates the blocks "
                     "that are older than the recording"),
          *w.base->anew, w.recorded_peak_reserved);
  }
  if (w.under != nullptr) {
    add(i18n::Text("replay with these settings"), *w.under,
        w.against() != nullptr ? w.against()->peak_reserved : w.recorded_peak_reserved);
    table.rows.back().marked = true;
  }
  return table;
}

Table CallSiteTable(const trace::Trace& trace, const explain::CallSites& sites,
                    const std::vector<explain::SiteUse>& uses, SiteBy by) {
  Table table;
  std::string title(Name(by));
  // Only ASCII letters are capitalized; a translated title is left as it is.
  if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  table.columns = {
      {std::move(title), false, 380, false,
       by == SiteBy::kCallSite ? i18n::Text("the program's stack frame and the operator") : ""},
      {i18n::Text("Category"), false, 142, false, i18n::Text("the category with the most bytes")},
      {i18n::Text("Bytes × time"), true, 120, false,
       i18n::Text("bytes multiplied by the time for which they were allocated")},
      {i18n::Text("Count"), true, 80, false, i18n::Text("allocations")},
      {i18n::Text("Total bytes"), true, 110, false,
       i18n::Text("the sum of all allocations, including short-lived ones")},
      {i18n::Text("Peak bytes"), true, 110, false,
       i18n::Text("the maximum of bytes that were live at the same time")},
      {i18n::Text("Largest"), true, 100, false, i18n::Text("block")},
      {i18n::Text("Mean lifetime"), true, 90},
      {i18n::Text("Longest"), true, 90, false, i18n::Text("the longest lifetime of a block")},
      {i18n::Text("Live at the end"), true, 120, false,
       i18n::Text("bytes that are live at the end of the trace or of the selected range")}};
  std::vector<uint32_t> example(sites.sites.size(), trace::AllocationId::kNoneValue);
  const auto& bytes = trace.allocations.bytes_rounded;
  for (uint32_t i = 0; i < sites.site_of.size(); ++i) {
    uint32_t& e = example[sites.site_of[i]];
    if (e == trace::AllocationId::kNoneValue || bytes[i] > bytes[e]) e = i;
  }
  const auto blocks = BlocksOf(sites);
  for (const explain::SiteUse& u : uses) {
    if (u.site >= sites.sites.size()) continue;
    const explain::CallSite& site = sites.sites[u.site];
    std::string stack;
    for (const std::string& line : explain::StackLines(trace, site.stack, true)) {
      if (!stack.empty()) stack += '\n';
      stack += line;
    }
    Row row;
    row.allocation = {example[u.site]};
    row.blocks = blocks[u.site];
    Cell alive = BytesCell(u.alive_bytes);
    if (u.alive_count == 1)
      alive.exact += i18n::Text(" in one block");
    else if (u.alive_count > 1)
      alive.exact += i18n::Format(" in {} blocks", FormatCount(u.alive_count));
    row.cells = {{.text = analysis::ShownName(site.name),
                  .exact = stack.empty() ? site.name : std::move(stack)},
                 CategoryCell(u.category),
                 HeldCell(u.byte_seconds, trace.info.has_times),
                 CountCell(u.count),
                 BytesCell(u.bytes),
                 BytesCell(u.peak_live_bytes),
                 BytesCell(u.largest),
                 DurationCell(u.mean_life_ns, trace.info.has_times),
                 DurationCell(u.longest_life_ns, trace.info.has_times),
                 std::move(alive)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string Sparkline(const std::vector<uint64_t>& values, size_t most) {
  static constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty() || most == 0) return {};
  const size_t columns = std::min(values.size(), most);
  std::vector<uint64_t> shown(columns);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t& s = shown[i * columns / values.size()];
    s = std::max(s, values[i]);
  }
  const uint64_t top = std::max<uint64_t>(*std::max_element(shown.begin(), shown.end()), 1);
  std::string out;
  for (const uint64_t v : shown)
    out += kBars[static_cast<size_t>(
        std::lround(7.0 * static_cast<double>(v) / static_cast<double>(top)))];
  return out;
}

Table LeakTable(const explain::Leaks& leaks, const explain::CallSites& sites) {
  Table table;
  table.columns = {
      {i18n::Text("Call site"), false, 380},
      {i18n::Text("Category"), false, 142},
      {i18n::Text("Per step"), true, 100, false,
       i18n::Text("bytes that each step leaves allocated")},
      {i18n::Text("Live at the end"), true, 120, false,
       i18n::Text("bytes that are live when the last step ends")},
      {i18n::Text("Blocks"), true, 80, false,
       i18n::Text("number of blocks that are live when the last step ends")},
      {i18n::Text("Confidence"), true, 90, false,
       i18n::Text("rises with the number of steps that leave bytes allocated, and with their share "
                  "of all steps")},
      {i18n::Text("By step"), false, 180, false,
       i18n::Text("bytes that each step allocated and that are still live at the end")}};
  const auto blocks = BlocksOf(sites);
  for (const explain::Leak& l : leaks.leaks) {
    Row row;
    if (!l.examples.empty()) row.allocation = l.examples.front();
    if (row.allocation.valid() && l.site < blocks.size()) row.blocks = blocks[l.site];
    const std::string name =
        l.site < sites.sites.size() ? sites.sites[l.site].name : std::string("?");
    Cell step = BytesCell(static_cast<uint64_t>(std::max(0.0, l.bytes_per_step)));
    step.text = "+" + step.text;
    step.tone = Cell::Tone::kBad;
    row.cells = {
        {.text = name, .exact = name},
        CategoryCell(l.category),
        std::move(step),
        BytesCell(l.bytes),
        CountCell(l.count),
        {.text = fmt::format("{:.0f} %", 100 * l.confidence), .sort = l.confidence},
        {.text = Sparkline(l.stayed, 24),
         .exact = i18n::Text("bytes that each step allocated and that are still live at the end"),
         .tone = Cell::Tone::kDim}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Fact> OutOfMemoryFacts(const explain::OutOfMemory& o) {
  std::vector<Fact> facts;
  const auto add = [&](const std::string& label, uint64_t bytes) {
    facts.push_back({label, bytes == 0 ? "0" : FormatBytes(bytes)});
  };
  facts.push_back({i18n::Text("call site"), o.site.name.empty()
                                                ? i18n::Text("not known")
                                                : analysis::ShownName(o.site.name)});
  add(i18n::Text("requested"), o.asked);
  add(i18n::Text("segment needed"), o.needed);
  add(i18n::Text("free on the device"), o.device_free);
  add(i18n::Text("reserved"), o.reserved);
  add(i18n::Text("allocated"), o.allocated);
  add(i18n::Text("cached, wholly free"), o.cached);
  add(i18n::Text("in holes"), o.holes);
  add(i18n::Text("largest hole"), o.largest_hole);
  add(i18n::Text("missing"), o.missing);
  facts.push_back({i18n::Text("caused by fragmentation"),
                   o.fragmented
                       ? i18n::Text("yes: enough memory was free, but it was not contiguous")
                       : i18n::Text("no")});
  return facts;
}

Table WaysOutTable(const explain::OutOfMemory& o) {
  Table table;
  table.columns = {{i18n::Text("Remedy"), false, 220},
                   {i18n::Text("Succeeds"), false, 110},
                   {i18n::Text("Frees"), true, 110},
                   {i18n::Text("Evidence"), false, 460}};
  for (const explain::WayOut& w : o.ways) {
    Row row;
    row.marked = w.passes;
    row.cells = {TextCell(w.name),
                 {.text = !w.request_passes           ? i18n::Text("no")
                          : !w.run_passes.has_value() ? i18n::Text("that request")
                          : *w.run_passes             ? i18n::Text("the whole run")
                                                      : i18n::Text("only that request"),
                  .sort = w.passes ? 1.0 : 0.0,
                  .tone = w.passes ? Cell::Tone::kGood : Cell::Tone::kDim},
                 BytesCell(w.bytes),
                 TextCell(w.how)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table GroupTable(const std::string& title, const std::vector<analysis::Group>& groups) {
  Table table;
  table.columns = {
      {title, false, 420}, {i18n::Text("Bytes"), true, 110}, {i18n::Text("Blocks"), true, 80}};
  for (const analysis::Group& g : groups) {
    Row row;
    row.cells = {TextCell(g.name), BytesCell(g.bytes), CountCell(g.count)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<trace::Category> CategoriesAt(const trace::Trace& trace, trace::EventIndex event) {
  std::vector<trace::Category> out(trace.allocations.size());
  trace.allocations.birth_category.Read(0, out);
  const trace::RetagTable& r = trace.retags;
  for (uint32_t i = 0; i < r.size() && r.event[i] <= event; ++i)
    out[r.allocation[i].value] = r.to[i];
  return out;
}

std::string TimeAndContextText(const trace::Trace& trace, const analysis::Context& at) {
  std::string text;
  if (at.step >= 0) text = i18n::Format("step {} · ", at.step);
  if (at.phase != trace::Phase::kNone)
    text += fmt::format("{} · ", i18n::Text(trace::Name(at.phase)));
  return text + timeline::TimeTextOf(trace, at.time_ns);
}

const std::vector<ConfKey>& ConfKeys() {
  static const std::vector<ConfKey> keys = {
      {"expandable_segments:True", TEXT_MARK("segments can grow, which leaves fewer holes")},
      {"max_split_size_mb:128", TEXT_MARK("larger blocks are never split")},
      {"garbage_collection_threshold:0.8",
       TEXT_MARK("free old cached segments when memory use exceeds this fraction")},
      {"roundup_power2_divisions:8", TEXT_MARK("round sizes up, so that blocks are reused")},
      {"large_segment_size_mb:64", TEXT_MARK("size of a segment that several large blocks share")},
      {"max_non_split_rounding_mb:64",
       TEXT_MARK("the most by which an unsplit block may exceed the requested size")},
      {"per_process_memory_fraction:0.8",
       TEXT_MARK("use at most this fraction of the device's memory")},
  };
  return keys;
}

}  // namespace vramscope::ui
