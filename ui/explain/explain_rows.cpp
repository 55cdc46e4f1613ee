#include "ui/explain/explain_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using explain::Fragmentation;
using timeline::FormatBytes;
using timeline::FormatCount;

Cell Bytes(uint64_t bytes) {
  return {.text = bytes == 0 ? "0" : FormatBytes(bytes),
          .sort = static_cast<double>(bytes),
          .exact = timeline::FormatBytesExact(bytes),
          .tone = bytes == 0 ? Cell::Tone::kDim : Cell::Tone::kPlain};
}

Cell Count(uint64_t count) {
  return {.text = FormatCount(count),
          .sort = static_cast<double>(count),
          .tone = count == 0 ? Cell::Tone::kDim : Cell::Tone::kPlain};
}

Cell BadCount(uint64_t count) {
  Cell cell = Count(count);
  if (count > 0) cell.tone = Cell::Tone::kBad;
  return cell;
}

// More given back is better.
Cell GivenBack(int64_t bytes) {
  Cell cell{.text = bytes == 0 ? "0" : timeline::FormatSignedBytes(bytes),
            .sort = static_cast<double>(bytes),
            .exact = fmt::format("{:+d} B", bytes)};
  cell.tone = bytes > 0 ? Cell::Tone::kGood : bytes < 0 ? Cell::Tone::kBad : Cell::Tone::kDim;
  return cell;
}

Cell Duration(int64_t ns) {
  return {.text = timeline::FormatDuration(ns), .sort = static_cast<double>(ns)};
}

Cell Category(trace::Category category) {
  return {.text = std::string(trace::Name(category)), .sort = static_cast<double>(category)};
}

}  // namespace

std::vector<FragmentFact> FragmentFacts(const Fragmentation& f) {
  std::vector<FragmentFact> facts = {
      {"reserved", f.reserved, "held by the caching allocator: the sum of its segments"},
      {"allocated", f.allocated, "of that, in blocks that tensors use"},
      {"holes", f.holes, "free, but between live blocks of the same segment: can't go back"},
      {"cached", f.cached, "in segments that are wholly free: empty_cache() gives it back"},
      {"largest hole", f.largest_hole, "the largest request that needs no new segment"},
      {"rounding", f.rounding,
       "of allocated: up to a multiple of 512 bytes, or as the settings say"},
      {"unsplit tails", f.tails, "of allocated: rests of blocks too small to be split off"},
  };
  if (f.pending > 0)
    facts.push_back({"pending frees", f.pending,
                     "freed by the program; another stream is not done with it yet"});
  if (f.outside > 0) facts.push_back({"outside", f.outside, "in no segment that the file knows"});
  return facts;
}

Table PinnedByTable(const Fragmentation& f) {
  Table table;
  table.columns = {{"Who pins free memory", false, 300}, {"Free", true, 110}, {"Blocks", true, 70}};
  for (const analysis::Group& g : f.pinned_by) {
    Row row;
    row.cells = {{.text = g.name, .exact = g.name}, Bytes(g.bytes), Count(g.count)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table PinnedTable(const Fragmentation& f) {
  Table table;
  table.columns = {{"Segment", true, 110},
                   {"Free", true, 110},
                   {"Largest hole", true, 110},
                   {"Pinned by", false, 300},
                   {"Blocks", true, 60}};
  for (const Fragmentation::Pinned& p : f.pinned) {
    Row row;
    const std::string who = p.pins.empty() ? std::string() : p.pins.front().site.name;
    row.cells = {Bytes(p.bytes),
                 Bytes(p.free),
                 Bytes(p.largest_hole),
                 {.text = who, .exact = who},
                 Count(p.pin_count)};
    if (!p.pins.empty()) {
      row.category = p.pins.front().category;
      row.allocation = p.pins.front().allocation;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table RemedyTable(const explain::Reclaim& reclaim) {
  Table table;
  table.columns = {
      {"What", false, 280},         {"Reserved then", true, 110},   {"Given back", true, 110},
      {"Peak reserved", true, 110}, {"Peak given back", true, 120}, {"cudaMalloc", true, 90},
      {"cudaFree", true, 80},       {"Retries", true, 70},          {"Out of memory", true, 110}};
  const auto add = [&](const explain::Remedy& r, bool reference) {
    Row row;
    row.marked = reference;
    if (!r.error.empty()) {
      row.cells.assign(table.columns.size(), Cell{});
      row.cells[0] = {.text = r.name, .exact = r.error};
      row.cells[1] = {.text = "not computed", .exact = r.error, .tone = Cell::Tone::kDim};
    } else {
      row.cells = {{.text = r.name, .exact = r.name},
                   Bytes(r.reserved),
                   reference ? Cell{} : GivenBack(r.given_back),
                   Bytes(r.peak_reserved),
                   reference ? Cell{} : GivenBack(r.peak_given_back),
                   Count(r.segment_allocs),
                   Count(r.segment_frees),
                   BadCount(r.retries),
                   BadCount(r.out_of_memory)};
    }
    table.rows.push_back(std::move(row));
  };
  add(reclaim.as_recorded, true);
  for (const explain::Remedy& r : reclaim.remedies) add(r, false);
  return table;
}

Table WhatIfTable(const WhatIf& w) {
  Table table;
  table.columns = {{"", false, 210},
                   {"Peak reserved", true, 110},
                   {"Difference", true, 110},
                   {"cudaMalloc, map", true, 130},
                   {"cudaFree, unmap", true, 130},
                   {"Retries", true, 70},
                   {"Out of memory", true, 110},
                   {"Largest hole", true, 110},
                   {"Stranded", true, 110}};
  Row recorded;
  recorded.cells.resize(table.columns.size());
  recorded.cells[0] = {.text = "recorded"};
  recorded.cells[1] = Bytes(w.recorded_peak_reserved);
  recorded.cells[6] = BadCount(w.recorded_out_of_memory);
  table.rows.push_back(recorded);
  const auto add = [&](const char* name, const replay::Replayed& r, uint64_t against) {
    Row row;
    row.cells = {{.text = name},
                 Bytes(r.peak_reserved),
                 GivenBack(static_cast<int64_t>(r.peak_reserved) - static_cast<int64_t>(against)),
                 Count(r.segment_allocs + r.segment_maps),
                 Count(r.segment_frees + r.segment_unmaps),
                 BadCount(r.retries),
                 BadCount(r.out_of_memory),
                 Bytes(r.largest_hole),
                 Bytes(r.stranded_bytes)};
    // Here less is better.
    auto& tone = row.cells[2].tone;
    if (tone != Cell::Tone::kDim)
      tone = tone == Cell::Tone::kGood ? Cell::Tone::kBad : Cell::Tone::kGood;
    row.cells[8].exact = "free bytes in partly used segments, when most is reserved";
    table.rows.push_back(std::move(row));
  };
  if (w.as_recorded != nullptr)
    add("model, recorded settings", *w.as_recorded, w.recorded_peak_reserved);
  if (w.under != nullptr) {
    add("model, these settings", *w.under,
        w.as_recorded ? w.as_recorded->peak_reserved : w.recorded_peak_reserved);
    table.rows.back().marked = true;
  }
  return table;
}

Table CallSiteTable(const trace::Trace& trace, const explain::CallSites& sites,
                    const std::vector<explain::SiteUse>& uses) {
  Table table;
  table.columns = {{"Call site", false, 380},   {"Category", false, 120},
                   {"Held", true, 120},         {"Count", true, 80},
                   {"Bytes in all", true, 110}, {"Most at once", true, 110},
                   {"Largest", true, 100},      {"Mean life", true, 90},
                   {"Longest", true, 90},       {"Alive at the end", true, 120}};
  std::vector<uint32_t> example(sites.sites.size(), trace::AllocationId::kNoneValue);
  const auto& bytes = trace.allocations.bytes_rounded;
  for (uint32_t i = 0; i < sites.site_of.size(); ++i) {
    uint32_t& e = example[sites.site_of[i]];
    if (e == trace::AllocationId::kNoneValue || bytes[i] > bytes[e]) e = i;
  }
  for (const explain::SiteUse& u : uses) {
    if (u.site >= sites.sites.size()) continue;
    const explain::CallSite& site = sites.sites[u.site];
    std::string stack;
    for (const std::string& line : explain::StackLines(trace, site.stack, true)) {
      if (!stack.empty()) stack += '\n';
      stack += line;
    }
    Row row;
    row.category = u.category;
    row.has_category = true;
    row.allocation = {example[u.site]};
    Cell alive = Bytes(u.alive_bytes);
    if (u.alive_count > 0) alive.exact += fmt::format(" in {} blocks", FormatCount(u.alive_count));
    row.cells = {{.text = site.name, .exact = stack.empty() ? site.name : std::move(stack)},
                 Category(u.category),
                 {.text = fmt::format("{:.3g} GiB·s", u.byte_seconds / 1073741824.0),
                  .sort = u.byte_seconds,
                  .exact = "bytes times the time that they were held"},
                 Count(u.count),
                 Bytes(u.bytes),
                 Bytes(u.peak_live_bytes),
                 Bytes(u.largest),
                 Duration(u.mean_life_ns),
                 Duration(u.longest_life_ns),
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
  table.columns = {{"Call site", false, 380},       {"Category", false, 120}, {"A step", true, 100},
                   {"Stays at the end", true, 120}, {"Blocks", true, 80},     {"Sure", true, 60},
                   {"By step", false, 180}};
  for (const explain::Leak& l : leaks.leaks) {
    Row row;
    row.category = l.category;
    row.has_category = true;
    if (!l.examples.empty()) row.allocation = l.examples.front();
    const std::string name =
        l.site < sites.sites.size() ? sites.sites[l.site].name : std::string("?");
    Cell step = Bytes(static_cast<uint64_t>(std::max(0.0, l.bytes_per_step)));
    step.text = "+" + step.text;
    step.tone = Cell::Tone::kBad;
    row.cells = {{.text = name, .exact = name},
                 Category(l.category),
                 std::move(step),
                 Bytes(l.bytes),
                 Count(l.count),
                 {.text = fmt::format("{:.0f} %", 100 * l.confidence), .sort = l.confidence},
                 {.text = Sparkline(l.stayed, 24),
                  .exact = "bytes born in each step that are alive at the end"}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Fact> OutOfMemoryFacts(const explain::OutOfMemory& o) {
  std::vector<Fact> facts;
  const auto add = [&](const char* label, uint64_t bytes) {
    facts.push_back({label, bytes == 0 ? "0" : FormatBytes(bytes)});
  };
  facts.push_back({"who asked", o.site.name.empty() ? "not known" : o.site.name});
  add("asked for", o.asked);
  add("segment that needs", o.needed);
  add("free on the device", o.device_free);
  add("reserved", o.reserved);
  add("allocated", o.allocated);
  add("cached, wholly free", o.cached);
  add("in holes", o.holes);
  add("largest hole", o.largest_hole);
  add("missing", o.missing);
  facts.push_back({"fragmentation's fault",
                   o.fragmented ? "yes: in one piece, what is free would have sufficed" : "no"});
  return facts;
}

Table WaysOutTable(const explain::OutOfMemory& o) {
  Table table;
  table.columns = {{"Way out", false, 220},
                   {"Passes", false, 110},
                   {"Frees then", true, 110},
                   {"How it is known", false, 460}};
  for (const explain::WayOut& w : o.ways) {
    Row row;
    row.marked = w.passes;
    row.cells = {{.text = w.name, .exact = w.name},
                 {.text = w.passes ? "passes" : "not enough",
                  .sort = w.passes ? 1.0 : 0.0,
                  .tone = w.passes ? Cell::Tone::kGood : Cell::Tone::kDim},
                 Bytes(w.bytes),
                 {.text = w.how, .exact = w.how}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table GroupTable(const std::string& title, const std::vector<analysis::Group>& groups) {
  Table table;
  table.columns = {{title, false, 420}, {"Bytes", true, 110}, {"Blocks", true, 80}};
  for (const analysis::Group& g : groups) {
    Row row;
    row.cells = {{.text = g.name, .exact = g.name}, Bytes(g.bytes), Count(g.count)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<trace::Category> CategoriesAt(const trace::Trace& trace, trace::EventIndex event) {
  std::vector<trace::Category> out = trace.allocations.birth_category;
  const trace::RetagTable& r = trace.retags;
  for (uint32_t i = 0; i < r.size() && r.event[i] <= event; ++i)
    out[r.allocation[i].value] = r.to[i];
  return out;
}

std::string MomentText(const trace::Trace& trace, const analysis::Context& at) {
  std::string text;
  if (at.step >= 0) text = fmt::format("step {} · ", at.step);
  if (at.phase != trace::Phase::kNone) text += fmt::format("{} · ", trace::Name(at.phase));
  return text + timeline::FormatTime(at.time_ns - trace.begin_ns(), 10'000, 0);
}

const std::vector<ConfKey>& ConfKeys() {
  static const std::vector<ConfKey> keys = {
      {"expandable_segments:True", "segments that grow: fewer holes"},
      {"max_split_size_mb:128", "larger blocks are never split"},
      {"garbage_collection_threshold:0.8", "free old cached segments from there on"},
      {"roundup_power2_divisions:8", "round requests up, so that blocks are used again"},
      {"large_segment_size_mb:64", "size of the segments that large blocks share"},
      {"max_non_split_rounding_mb:64", "how much larger an unsplit block may be"},
      {"per_process_memory_fraction:0.8", "as if the device were smaller"},
  };
  return keys;
}

}  // namespace vramscope::ui
