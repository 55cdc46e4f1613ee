#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/cli/explain.h"
#include "app/cli/format.h"
#include "app/cli/summary.h"
#include "profiler/analysis/site_names.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/state.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using run::FormatBytes;

std::string Heading(std::string_view title, const std::string& headline) {
  return fmt::format("{}\n{}\n", title, Prose(headline));
}

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string PoolText(trace::Pool pool, uint32_t stream) {
  return i18n::Format("{}, stream {}",
                      pool == trace::Pool::kSmall ? i18n::Text("small") : i18n::Text("large"),
                      stream);
}

std::string MorePools(size_t count) { return i18n::Format("{} more pools", count); }
std::string MoreSegments(size_t count) { return i18n::Format("{} more segments", count); }
std::string MoreSites(size_t count) { return i18n::Format("{} more call sites", count); }
std::string MoreFindings(size_t count) { return i18n::Format("{} more findings", count); }
std::string MoreFailures(size_t count) { return i18n::Format("{} more failed allocations", count); }

std::string More(size_t all, size_t shown, std::string (*text)(size_t count)) {
  return all > shown ? fmt::format("  ({})\n", text(all - shown)) : "";
}

// Returns how many of the bytes are of each EvidenceKind: recorded, made or modelled.
std::string EvidenceText(const std::vector<explain::EvidenceShare>& shares) {
  std::string text;
  for (const explain::EvidenceShare& share : shares) {
    const std::string bytes = FormatBytes(share.bytes), what = i18n::Shown(share.evidence.text);
    const std::string& kind = i18n::Text(Name(share.evidence.kind));
    text += Prose(share.evidence.source.empty()
                      ? i18n::Format("{} of the allocated memory is {}: {}", bytes, kind, what)
                      : i18n::Format("{} of the allocated memory is {} ({}): {}", bytes, kind,
                                     i18n::Shown(share.evidence.source), what));
  }
  return text;
}

std::string FragmentationText(const trace::Trace& trace, const explain::Fragmentation& f,
                              const std::vector<explain::EvidenceShare>& evidence, size_t top) {
  std::string text = Heading(i18n::Text("Fragmentation"), f.headline);
  text += i18n::Format("  at {}\n\n", TimeAndContextText(trace, f.context));
  if (f.reserved == 0) return text;
  Table causes({{i18n::Text("Cause")}, {i18n::Text("Bytes"), Table::kRight}, {""}});
  if (f.sizes_are_of_blocks) {
    causes.Row({i18n::Text("allocated"), FormatBytes(f.allocated),
                i18n::Text("sizes of blocks, because requested sizes are not recorded")});
  } else {
    causes.Row({i18n::Text("requested"), FormatBytes(f.requested)});
    causes.Row(
        {i18n::Text("+ rounding"), FormatBytes(f.rounding),
         i18n::Text("rounding to multiples of 512 bytes, or as the allocator's settings specify")});
    causes.Row({i18n::Text("+ remainders"), FormatBytes(f.tails),
                i18n::Text("remainders that are too small to be split off")});
    causes.Row({i18n::Text("= allocated"), FormatBytes(f.allocated)});
  }
  if (f.record == trace::SegmentRecord::kTotalOnly) {
    causes.Row({i18n::Text("+ not in use"), FormatBytes(f.unplaced),
                i18n::Text("the location in the segments is not recorded")});
  } else {
    causes.Row({i18n::Text("+ holes"), FormatBytes(f.holes),
                i18n::Text("free, next to live blocks in the same segment")});
    causes.Row({i18n::Text("+ cached"), FormatBytes(f.cached),
                i18n::Format("free memory that empty_cache() releases, in {} of {} segments",
                             Count(f.segments_cached), Count(f.segments))});
  }
  causes.Row({i18n::Text("= reserved"), FormatBytes(f.reserved)});
  text += causes.Text() + EvidenceText(evidence);
  if (f.pending > 0) {
    text += i18n::Format(
        "  {} of the allocated memory was freed but is still in use by another stream.\n",
        FormatBytes(f.pending));
  }
  if (f.outside > 0) {
    text += i18n::Format("  {} of the allocated memory is outside all recorded segments.\n",
                         FormatBytes(f.outside));
  }
  if (!f.pools.empty()) {
    Table pools({{i18n::Text("Pool")},
                 {i18n::Text("Segments"), Table::kRight},
                 {i18n::Text("Reserved"), Table::kRight},
                 {i18n::Text("Live"), Table::kRight},
                 {i18n::Text("Holes"), Table::kRight},
                 {i18n::Text("Cached"), Table::kRight},
                 {i18n::Text("Largest free range"), Table::kRight}});
    for (size_t i = 0; i < std::min(f.pools.size(), top); ++i) {
      const auto& p = f.pools[i];
      std::string name = explain::PoolName(p);
      if (p.device != 0) name += fmt::format(", cuda:{}", p.device);
      pools.Row({name, Count(p.segments), FormatBytes(p.reserved), FormatBytes(p.live),
                 FormatBytes(p.holes), FormatBytes(p.cached), FormatBytes(p.largest_hole)});
    }
    text += "\n" + pools.Text() + More(f.pools.size(), top, MorePools);
  }
  if (f.pinned.empty()) return text + "\n";
  Table pinned({{i18n::Text("Free"), Table::kRight},
                {i18n::Text("Segment"), Table::kRight},
                {i18n::Text("Pool")},
                {i18n::Text("Held by"), Table::kRight},
                {i18n::Text("Largest block")}});
  for (size_t i = 0; i < std::min(f.pinned.size(), top); ++i) {
    const auto& s = f.pinned[i];
    const std::string pin = s.pins.empty()
                                ? ""
                                : fmt::format("{} {}, {}", FormatBytes(s.pins[0].bytes),
                                              i18n::Text(trace::Name(s.pins[0].category)),
                                              analysis::ShownName(s.pins[0].site.name));
    pinned.Row(
        {FormatBytes(s.free), FormatBytes(s.bytes), PoolText(s.pool, s.stream),
         s.pin_count == 1 ? i18n::Text("1 block") : i18n::Format("{} blocks", Count(s.pin_count)),
         pin});
  }
  text += "\n" + pinned.Text() + More(f.pinned_count, std::min(f.pinned.size(), top), MoreSegments);
  if (f.pinned_by.size() < 2) return text + "\n";
  Table by({{i18n::Text("Free memory in the same segments"), Table::kRight},
            {i18n::Text("Blocks"), Table::kRight},
            {i18n::Text("Call site")}});
  for (size_t i = 0; i < std::min(f.pinned_by.size(), top); ++i)
    by.Row({FormatBytes(f.pinned_by[i].bytes), Count(f.pinned_by[i].count),
            analysis::ShownName(f.pinned_by[i].name)});
  return text + "\n" + by.Text() + More(f.pinned_by.size(), top, MoreSites) + "\n";
}

// Draws a segment as forty characters. Each shows how full a fortieth of the segment is.
std::string Strip(const explain::SegmentView& s) {
  constexpr size_t kCells = 40;
  if (s.pieces.empty()) return "";
  const uint64_t span = s.pieces.back().address + s.pieces.back().bytes - s.address;
  std::array<double, kCells> live{}, mapped{};
  const double scale =
      static_cast<double>(kCells) / static_cast<double>(std::max<uint64_t>(span, 1));
  for (const auto& p : s.pieces) {
    const double begin = static_cast<double>(p.address - s.address) * scale;
    const double end = begin + static_cast<double>(p.bytes) * scale;
    for (auto cell = static_cast<size_t>(begin); cell < kCells && static_cast<double>(cell) < end;
         ++cell) {
      const double part =
          std::min(end, static_cast<double>(cell) + 1) - std::max(begin, static_cast<double>(cell));
      if (p.use != explain::SegmentView::Use::kUnmapped) mapped[cell] += part;
      if (p.allocation.valid()) live[cell] += part;
    }
  }
  std::string text;
  for (size_t i = 0; i < kCells; ++i) {
    text += live[i] > 0.95  ? "#"
            : live[i] > 0.5 ? "+"
            : live[i] > 0   ? "-"
            : mapped[i] > 0 ? "."
                            : " ";
  }
  return text;
}

std::string SegmentsText(const std::vector<explain::SegmentView>& segments, size_t top) {
  std::string text =
      Heading(i18n::Text("Segments"),
              i18n::Text("sorted by free bytes. In the last column, # is in use, + is mostly in "
                         "use, - is partly in use, . is free, and a blank has no mapped memory"));
  Table table({{i18n::Text("Address")},
               {i18n::Text("Bytes"), Table::kRight},
               {i18n::Text("Free"), Table::kRight},
               {i18n::Text("Largest free range"), Table::kRight},
               {i18n::Text("Pool")},
               {i18n::Text("Use")}});
  std::vector<const explain::SegmentView*> order;
  for (const explain::SegmentView& s : segments) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* x, const auto* y) { return x->free_bytes() > y->free_bytes(); });
  for (size_t i = 0; i < std::min(order.size(), top); ++i) {
    const explain::SegmentView& s = *order[i];
    table.Row({fmt::format("{:#x}", s.address), FormatBytes(s.bytes), FormatBytes(s.free_bytes()),
               FormatBytes(s.largest_hole), PoolText(s.pool, s.stream), "[" + Strip(s) + "]"});
  }
  return text + table.Text() + More(segments.size(), top, MoreSegments) + "\n";
}

std::string ReclaimText(const trace::Trace& trace, const explain::Reclaim& r) {
  std::string text = Heading(i18n::Text("Reserved but unused"), r.headline);
  text +=
      Prose(i18n::Format("at {}: {} allocated, {} reserved ({} in holes, {} completely free)",
                         TimeAndContextText(trace, r.context), FormatBytes(r.allocated),
                         FormatBytes(r.reserved), FormatBytes(r.holes), FormatBytes(r.cached))) +
      "\n";
  if (r.reserved == 0) return text;
  Table table({{i18n::Text("Replayed with"), Table::kLeft, true},
               {i18n::Text("Reserved"), Table::kRight},
               {i18n::Text("Change"), Table::kRight},
               {i18n::Text("Peak reserved"), Table::kRight},
               {i18n::Text("Change"), Table::kRight},
               {"cudaMalloc", Table::kRight},
               {i18n::Text("Out of memory"), Table::kRight}});
  std::string notes;
  const auto row = [&](const explain::Remedy& m) {
    if (!m.error.empty()) {
      notes += Prose(i18n::Text(m.name) + ": " + m.error);
      return;
    }
    table.Row({i18n::Text(m.name), FormatBytes(m.reserved), SignedBytes(-m.given_back),
               FormatBytes(m.peak_reserved), SignedBytes(-m.peak_given_back),
               Count(m.segment_allocs),
               m.out_of_memory == 0 ? i18n::Text("no") : Count(m.out_of_memory)});
    if (!m.note.empty()) notes += Prose(i18n::Text(m.name) + ": " + m.note);
  };
  row(r.as_recorded);
  if (r.anew) row(*r.anew);
  for (const explain::Remedy& m : r.remedies) row(m);
  if (!r.state && !r.anew)
    notes += Prose(i18n::Text("Changes are relative to the row \"as recorded\"."));
  if (r.anew) {
    notes += Prose(
        i18n::Text("In each row with settings other than the recorded ones, the replay also "
                   "allocates the blocks that are older than the recording. Changes in such a row "
                   "are relative to the row \"as recorded, but older blocks are allocated again\". "
                   "Changes in the row \"empty_cache()\" are relative to the recording itself."));
  }
  return text + table.Text() + notes + "\n";
}

std::string LeaksText(const explain::Leaks& leaks, const explain::CallSites& sites, size_t top) {
  std::string text = Heading(i18n::Text("Leaks over steps"), leaks.headline);
  if (leaks.leaks.empty()) return text;
  Table table({{i18n::Text("Per step"), Table::kRight},
               {i18n::Text("Confidence"), Table::kRight},
               {i18n::Text("Live at the end"), Table::kRight},
               {i18n::Text("Blocks"), Table::kRight},
               {i18n::Text("Category")},
               {i18n::Text("Call site")}});
  for (size_t i = 0; i < std::min(leaks.leaks.size(), top); ++i) {
    const explain::Leak& l = leaks.leaks[i];
    table.Row({FormatBytes(static_cast<uint64_t>(l.bytes_per_step)), Percent(l.confidence),
               FormatBytes(l.bytes), Count(l.count), i18n::Text(trace::Name(l.category)),
               analysis::ShownName(sites.sites[l.site].name)});
  }
  return text + table.Text() + More(leaks.leaks.size(), top, MoreSites) + "\n";
}

const std::string& OrderText(explain::SiteOrder order) {
  using explain::SiteOrder;
  switch (order) {
    case SiteOrder::kByteSeconds:
      break;
    case SiteOrder::kCount:
      return i18n::Text("number of allocations");
    case SiteOrder::kBytes:
      return i18n::Text("total bytes");
    case SiteOrder::kLife:
      return i18n::Text("mean lifetime");
    case SiteOrder::kPeak:
      return i18n::Text("peak bytes");
  }
  return i18n::Text("bytes times lifetime");
}

std::string SitesText(const trace::Trace& trace, const ExplainPages& pages) {
  std::string text = Heading(i18n::Text("Call sites"),
                             i18n::Format("{} call sites, sorted by {}", Count(pages.sites->size()),
                                          OrderText(pages.order)));
  Table table({{i18n::Text("Bytes x time"), Table::kRight},
               {i18n::Text("Allocations"), Table::kRight},
               {i18n::Text("Total bytes"), Table::kRight},
               {i18n::Text("Peak bytes"), Table::kRight},
               {i18n::Text("Mean lifetime"), Table::kRight},
               {i18n::Text("Live at the end"), Table::kRight},
               {i18n::Text("Category")},
               {i18n::Text("Call site")}});
  for (size_t i = 0; i < std::min(pages.sites->size(), pages.top); ++i) {
    const explain::SiteUse& u = (*pages.sites)[i];
    const bool timed = trace.info.has_times;
    table.Row({timed ? FormatBytes(static_cast<uint64_t>(std::min(u.byte_seconds, 1e18))) + " s"
                     : std::string("-"),
               Count(u.count), FormatBytes(u.bytes), FormatBytes(u.peak_live_bytes),
               timed ? Milliseconds(static_cast<double>(u.mean_life_ns) / 1e6) : std::string("-"),
               u.alive_bytes == 0 ? "-" : FormatBytes(u.alive_bytes),
               i18n::Text(trace::Name(u.category)),
               analysis::ShownName(pages.call_sites.sites[u.site].name)});
  }
  return text + table.Text() + More(pages.sites->size(), pages.top, MoreSites) + "\n";
}

std::string OneOomText(const trace::Trace& trace, const explain::OutOfMemory& o, size_t top) {
  std::string text = i18n::Format("  event {} at {}\n  requested by {}\n\n", o.event,
                                  TimeAndContextText(trace, o.context),
                                  Printable(analysis::ShownName(o.site.name)));
  Table numbers({{i18n::Text("At that time")}, {i18n::Text("Bytes"), Table::kRight}});
  numbers.Row({i18n::Text("requested"), FormatBytes(o.asked)});
  if (o.needed != o.asked)
    numbers.Row({i18n::Text("size of the needed segment"), FormatBytes(o.needed)});
  numbers.Row({i18n::Text("free on the device"), FormatBytes(o.device_free)});
  numbers.Row({i18n::Text("reserved"), FormatBytes(o.reserved)});
  numbers.Row({i18n::Text("allocated"), FormatBytes(o.allocated)});
  numbers.Row({i18n::Text("completely free segments"), FormatBytes(o.cached)});
  numbers.Row({i18n::Text("holes in the allocation's pool"), FormatBytes(o.holes)});
  numbers.Row({i18n::Text("largest hole"), FormatBytes(o.largest_hole)});
  text += numbers.Text() + "\n";

  Table held({{i18n::Text("Allocated")},
              {i18n::Text("Bytes"), Table::kRight},
              {i18n::Text("Blocks"), Table::kRight}});
  std::vector<std::pair<uint64_t, int>> categories;
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (o.by_category[c] > 0) categories.emplace_back(o.by_category[c], c);
  }
  std::sort(categories.rbegin(), categories.rend());
  for (const auto& [bytes, c] : categories) {
    held.Row({i18n::Text(trace::Name(static_cast<trace::Category>(c))), FormatBytes(bytes)});
  }
  for (size_t i = 0; i < std::min(o.sites.size(), top); ++i) {
    held.Row({"  " + analysis::ShownName(o.sites[i].name), FormatBytes(o.sites[i].bytes),
              Count(o.sites[i].count)});
  }
  text += held.Text() + "\n";

  Table ways({{i18n::Text("Remedy"), Table::kLeft, true},
              {i18n::Text("Succeeds")},
              {i18n::Text("Frees"), Table::kRight}});
  std::string how;
  for (const explain::WayOut& w : o.ways) {
    const std::string& passes = !w.request_passes           ? i18n::Text("nothing")
                                : !w.run_passes.has_value() ? i18n::Text("that request")
                                : *w.run_passes             ? i18n::Text("the whole run")
                                                            : i18n::Text("only that request");
    ways.Row({i18n::Text(w.name), passes, w.bytes == 0 ? "-" : FormatBytes(w.bytes)});
    how += Prose(i18n::Text(w.name) + ": " + i18n::Text(w.how));
  }
  text += ways.Text() + "\n" + how;
  if (!o.replay_error.empty()) {
    text += i18n::Format("  Settings could not be replayed: {}\n", Printable(o.replay_error));
  }
  return text;
}

std::string OomText(const trace::Trace& trace, const explain::OutOfMemoryPage& page, size_t top) {
  std::string text = Heading(i18n::Text("Out of memory"), page.headline);
  for (const explain::OutOfMemory& o : page.events) text += OneOomText(trace, o, top) + "\n";
  return text + More(page.count, page.events.size(), MoreFailures);
}

}  // namespace

std::string FindingsText(const std::vector<explain::Finding>& findings, size_t top) {
  if (findings.empty()) return Heading(i18n::Text("Findings"), explain::NoFindingsText()) + "\n";
  std::string text = i18n::Text("Findings") + "\n";
  for (size_t i = 0; i < std::min(findings.size(), top); ++i) {
    const explain::Finding& finding = findings[i];
    const std::string toggle =
        finding.rule->toggle.empty() ? "" : fmt::format(" (--toggle {})", finding.rule->toggle);
    const std::string where =
        finding.where.empty() ? "" : " (" + analysis::ShownName(finding.where) + ")";
    text += Prose(i18n::Format("{}. {}. Remedy: {}{}", i + 1, Printable(finding.text + where),
                               i18n::Text(finding.rule->remedy), toggle));
  }
  return text + More(findings.size(), top, MoreFindings) + "\n";
}

std::string ExplainText(const trace::Trace& trace, const ExplainPages& pages) {
  std::string text;
  if (pages.findings) text += FindingsText(*pages.findings, pages.top);
  const bool ran_out = pages.oom && pages.oom->count > 0;
  if (ran_out) text += OomText(trace, *pages.oom, pages.top);
  if (pages.fragmentation && pages.segments.empty()) {
    text += FragmentationText(trace, *pages.fragmentation, pages.evidence, pages.top);
  }
  if (!pages.segments.empty()) text += SegmentsText(pages.segments, pages.top);
  if (!pages.held_graph.headline.empty())
    text += Heading(i18n::Text("Kept for a backward pass"), pages.held_graph.headline) + "\n";
  if (pages.reclaim) text += ReclaimText(trace, *pages.reclaim);
  if (!pages.reclaim_error.empty())
    text += Heading(i18n::Text("Reserved but unused"), pages.reclaim_error);
  if (pages.leaks) text += LeaksText(*pages.leaks, pages.call_sites, pages.top);
  if (pages.sites) text += SitesText(trace, pages);
  if (pages.oom && !ran_out) text += OomText(trace, *pages.oom, pages.top);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace vramscope::cli
