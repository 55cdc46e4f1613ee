#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/cli/explain.h"
#include "app/cli/format.h"
#include "app/cli/summary.h"
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
  return fmt::format("{}, stream {}", pool == trace::Pool::kSmall ? "small" : "large", stream);
}

std::string More(size_t all, size_t shown, std::string_view what) {
  return all > shown ? fmt::format("  ({} more {})\n", all - shown, what) : "";
}

// How each part of the blocks is known to exist.
std::string EvidenceText(const std::vector<explain::EvidenceShare>& shares) {
  std::string text;
  for (const explain::EvidenceShare& share : shares) {
    const std::string source = share.evidence.source.empty() ? "" : share.evidence.source + ": ";
    text += Prose(fmt::format("{} of it {} {}: {}{}", FormatBytes(share.bytes),
                              share.blocks == 1 ? "is" : "are", Name(share.evidence.kind), source,
                              share.evidence.text));
  }
  return text;
}

std::string FragmentationText(const trace::Trace& trace, const explain::Fragmentation& f,
                              const std::vector<explain::EvidenceShare>& evidence, size_t top) {
  std::string text = Heading("Fragmentation", f.headline);
  text += fmt::format("  at {}\n\n", TimeAndContextText(trace, f.context));
  if (f.reserved == 0) return text;
  Table causes({{"Cause"}, {"Bytes", Table::kRight}, {""}});
  if (f.sizes_are_of_blocks) {
    causes.Row({"allocated", FormatBytes(f.allocated),
                "sizes of blocks, because requested sizes are not recorded"});
  } else {
    causes.Row({"requested", FormatBytes(f.requested)});
    causes.Row(
        {"+ rounding", FormatBytes(f.rounding), "to 512 bytes, or according to the settings"});
    causes.Row({"+ tails", FormatBytes(f.tails), "rests too small to be split off"});
    causes.Row({"= allocated", FormatBytes(f.allocated)});
  }
  if (f.record == trace::SegmentRecord::kTotalOnly) {
    causes.Row({"+ not in use", FormatBytes(f.unplaced), "its place is not recorded"});
  } else {
    causes.Row({"+ holes", FormatBytes(f.holes), "free, next to live blocks in the same segment"});
    causes.Row({"+ cached", FormatBytes(f.cached),
                fmt::format("completely free: empty_cache() releases it; {} of {} segments",
                            Count(f.segments_cached), Count(f.segments))});
  }
  causes.Row({"= reserved", FormatBytes(f.reserved)});
  text += causes.Text() + EvidenceText(evidence);
  if (f.pending > 0) {
    text += fmt::format("  {} of the allocated memory only wait for another stream.\n",
                        FormatBytes(f.pending));
  }
  if (f.outside > 0) {
    text += fmt::format("  {} are in no known segment.\n", FormatBytes(f.outside));
  }
  if (!f.pools.empty()) {
    Table pools({{"Pool"},
                 {"Segments", Table::kRight},
                 {"Reserved", Table::kRight},
                 {"Live", Table::kRight},
                 {"Holes", Table::kRight},
                 {"Cached", Table::kRight},
                 {"Largest", Table::kRight}});
    for (size_t i = 0; i < std::min(f.pools.size(), top); ++i) {
      const auto& p = f.pools[i];
      std::string name = explain::PoolName(p);
      if (p.device != 0) name += fmt::format(", cuda:{}", p.device);
      pools.Row({name, Count(p.segments), FormatBytes(p.reserved), FormatBytes(p.live),
                 FormatBytes(p.holes), FormatBytes(p.cached), FormatBytes(p.largest_hole)});
    }
    text += "\n" + pools.Text() + More(f.pools.size(), top, "pools");
  }
  if (f.pinned.empty()) return text + "\n";
  Table pinned({{"Free", Table::kRight},
                {"of", Table::kRight},
                {"Pool"},
                {"Held by", Table::kRight},
                {"Largest of them"}});
  for (size_t i = 0; i < std::min(f.pinned.size(), top); ++i) {
    const auto& s = f.pinned[i];
    const std::string pin = s.pins.empty()
                                ? ""
                                : fmt::format("{} {}, {}", FormatBytes(s.pins[0].bytes),
                                              trace::Name(s.pins[0].category), s.pins[0].site.name);
    pinned.Row({FormatBytes(s.free), FormatBytes(s.bytes), PoolText(s.pool, s.stream),
                fmt::format("{} block{}", Count(s.pin_count), s.pin_count == 1 ? "" : "s"), pin});
  }
  text += "\n" + pinned.Text() + More(f.pinned_count, std::min(f.pinned.size(), top), "segments");
  if (f.pinned_by.size() < 2) return text + "\n";
  Table by({{"Held free by", Table::kRight}, {"Blocks", Table::kRight}, {"Call site"}});
  for (size_t i = 0; i < std::min(f.pinned_by.size(), top); ++i)
    by.Row({FormatBytes(f.pinned_by[i].bytes), Count(f.pinned_by[i].count), f.pinned_by[i].name});
  return text + "\n" + by.Text() + More(f.pinned_by.size(), top, "call sites") + "\n";
}

// Draws forty cells: fully used, partly used or unused.
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
  std::string text = Heading(
      "Segments",
      "most free first; # in use, + mostly, - partly, . free; gaps: addresses without memory");
  Table table({{"Address"},
               {"Bytes", Table::kRight},
               {"Free", Table::kRight},
               {"Largest", Table::kRight},
               {"Pool"},
               {"Use"}});
  std::vector<const explain::SegmentView*> order;
  for (const explain::SegmentView& s : segments) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* x, const auto* y) { return x->free_bytes() > y->free_bytes(); });
  for (size_t i = 0; i < std::min(order.size(), top); ++i) {
    const explain::SegmentView& s = *order[i];
    table.Row({fmt::format("{:#x}", s.address), FormatBytes(s.bytes), FormatBytes(s.free_bytes()),
               FormatBytes(s.largest_hole), PoolText(s.pool, s.stream), "[" + Strip(s) + "]"});
  }
  return text + table.Text() + More(segments.size(), top, "segments") + "\n";
}

std::string ReclaimText(const trace::Trace& trace, const explain::Reclaim& r) {
  std::string text = Heading("Reserved but unused", r.headline);
  text += Prose(fmt::format("at {}: {} allocated, {} reserved ({} in holes, {} wholly free)",
                            TimeAndContextText(trace, r.context), FormatBytes(r.allocated),
                            FormatBytes(r.reserved), FormatBytes(r.holes), FormatBytes(r.cached))) +
          "\n";
  if (r.reserved == 0) return text;
  Table table({{"By replay", Table::kLeft, true},
               {"Reserved then", Table::kRight},
               {"Change", Table::kRight},
               {"Peak reserved", Table::kRight},
               {"Change", Table::kRight},
               {"cudaMalloc", Table::kRight},
               {"Out of memory", Table::kRight}});
  std::string notes;
  const auto row = [&](const explain::Remedy& m) {
    if (!m.error.empty()) {
      notes += Prose(m.name + ": " + m.error);
      return;
    }
    table.Row({m.name, FormatBytes(m.reserved), SignedBytes(-m.given_back),
               FormatBytes(m.peak_reserved), SignedBytes(-m.peak_given_back),
               Count(m.segment_allocs), m.out_of_memory == 0 ? "no" : Count(m.out_of_memory)});
    if (!m.note.empty()) notes += Prose(m.name + ": " + m.note);
  };
  row(r.as_recorded);
  if (r.anew) row(*r.anew);
  for (const explain::Remedy& m : r.remedies) row(m);
  if (!r.state && !r.anew) notes += Prose("Changes are against the row \"as recorded\".");
  if (r.anew) {
    notes += Prose(
        "For the settings, blocks older than the recording are allocated anew, and the result is "
        "compared with the recorded settings from the same start. empty_cache() is called in the "
        "unchanged recording.");
  }
  return text + table.Text() + notes + "\n";
}

std::string LeaksText(const explain::Leaks& leaks, const explain::CallSites& sites, size_t top) {
  std::string text = Heading("Leaks over steps", leaks.headline);
  if (leaks.leaks.empty()) return text;
  Table table({{"A step", Table::kRight},
               {"Sure", Table::kRight},
               {"Alive", Table::kRight},
               {"Blocks", Table::kRight},
               {"Category"},
               {"Call site"}});
  for (size_t i = 0; i < std::min(leaks.leaks.size(), top); ++i) {
    const explain::Leak& l = leaks.leaks[i];
    table.Row({FormatBytes(static_cast<uint64_t>(l.bytes_per_step)), Percent(l.confidence),
               FormatBytes(l.bytes), Count(l.count), std::string(trace::Name(l.category)),
               sites.sites[l.site].name});
  }
  return text + table.Text() + More(leaks.leaks.size(), top, "call sites") + "\n";
}

std::string SitesText(const trace::Trace& trace, const ExplainPages& pages) {
  std::string text =
      Heading("Call sites", fmt::format("{} call sites, by {}", Count(pages.sites->size()),
                                        pages.order == explain::SiteOrder::kByteSeconds
                                            ? "bytes times time held"
                                            : explain::Name(pages.order)));
  Table table({{"Bytes x time", Table::kRight},
               {"Times", Table::kRight},
               {"Bytes in all", Table::kRight},
               {"Most at once", Table::kRight},
               {"Mean life", Table::kRight},
               {"Alive", Table::kRight},
               {"Category"},
               {"Call site"}});
  for (size_t i = 0; i < std::min(pages.sites->size(), pages.top); ++i) {
    const explain::SiteUse& u = (*pages.sites)[i];
    const bool timed = trace.info.has_times;
    table.Row({timed ? FormatBytes(static_cast<uint64_t>(std::min(u.byte_seconds, 1e18))) + " s"
                     : std::string("-"),
               Count(u.count), FormatBytes(u.bytes), FormatBytes(u.peak_live_bytes),
               timed ? Milliseconds(static_cast<double>(u.mean_life_ns) / 1e6) : std::string("-"),
               u.alive_bytes == 0 ? "-" : FormatBytes(u.alive_bytes),
               std::string(trace::Name(u.category)), pages.call_sites.sites[u.site].name});
  }
  return text + table.Text() + More(pages.sites->size(), pages.top, "call sites") + "\n";
}

std::string OneOomText(const trace::Trace& trace, const explain::OutOfMemory& o, size_t top) {
  std::string text = fmt::format("  event {} at {}\n  asked by {}\n\n", o.event,
                                 TimeAndContextText(trace, o.context), Printable(o.site.name));
  Table numbers({{"Then"}, {"Bytes", Table::kRight}});
  numbers.Row({"requested", FormatBytes(o.asked)});
  if (o.needed != o.asked) numbers.Row({"as a segment", FormatBytes(o.needed)});
  numbers.Row({"free on the device", FormatBytes(o.device_free)});
  numbers.Row({"reserved", FormatBytes(o.reserved)});
  numbers.Row({"allocated", FormatBytes(o.allocated)});
  numbers.Row({"wholly free segments", FormatBytes(o.cached)});
  numbers.Row({"holes of that pool", FormatBytes(o.holes)});
  numbers.Row({"largest of them", FormatBytes(o.largest_hole)});
  text += numbers.Text() + "\n";

  Table held({{"Held by"}, {"Bytes", Table::kRight}, {"Blocks", Table::kRight}});
  std::vector<std::pair<uint64_t, int>> categories;
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (o.by_category[c] > 0) categories.emplace_back(o.by_category[c], c);
  }
  std::sort(categories.rbegin(), categories.rend());
  for (const auto& [bytes, c] : categories) {
    held.Row({std::string(trace::Name(static_cast<trace::Category>(c))), FormatBytes(bytes)});
  }
  for (size_t i = 0; i < std::min(o.sites.size(), top); ++i) {
    held.Row({"  " + o.sites[i].name, FormatBytes(o.sites[i].bytes), Count(o.sites[i].count)});
  }
  text += held.Text() + "\n";

  Table ways({{"Would it pass with", Table::kLeft, true}, {""}, {"Frees", Table::kRight}});
  std::string how;
  for (const explain::WayOut& w : o.ways) {
    const std::string_view passes = !w.request_passes ? "no"
                                    : w.run_passes.has_value()
                                        ? *w.run_passes ? "the whole run" : "not the run"
                                        : "that request";
    ways.Row({w.name, std::string(passes), w.bytes == 0 ? "-" : FormatBytes(w.bytes)});
    how += Prose(w.name + ": " + w.how);
  }
  text += ways.Text() + "\n" + how;
  if (!o.replay_error.empty()) {
    text += fmt::format("  Settings could not be replayed: {}\n", Printable(o.replay_error));
  }
  return text;
}

std::string OomText(const trace::Trace& trace, const explain::OutOfMemoryPage& page, size_t top) {
  std::string text = Heading("Out of memory", page.headline);
  for (const explain::OutOfMemory& o : page.events) text += OneOomText(trace, o, top) + "\n";
  return text + More(page.count, page.events.size(), "of them");
}

}  // namespace

std::string FindingsText(const std::vector<explain::Finding>& findings, size_t top) {
  if (findings.empty()) return Heading("Findings", explain::NoFindingsText()) + "\n";
  std::string text = "Findings\n";
  for (size_t i = 0; i < std::min(findings.size(), top); ++i) {
    const explain::Finding& finding = findings[i];
    const std::string toggle =
        finding.rule->toggle.empty() ? "" : fmt::format(" (--toggle {})", finding.rule->toggle);
    const std::string where = finding.where.empty() ? "" : " (" + finding.where + ")";
    text += Prose(fmt::format("{}. {}. Remedy: {}{}", i + 1, Printable(finding.text + where),
                              finding.rule->remedy, toggle));
  }
  return text + More(findings.size(), top, "findings") + "\n";
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
    text += Heading("Held for a backward", pages.held_graph.headline) + "\n";
  if (pages.reclaim) text += ReclaimText(trace, *pages.reclaim);
  if (!pages.reclaim_error.empty()) text += Heading("Reserved but unused", pages.reclaim_error);
  if (pages.leaks) text += LeaksText(*pages.leaks, pages.call_sites, pages.top);
  if (pages.sites) text += SitesText(trace, pages);
  if (pages.oom && !ran_out) text += OomText(trace, *pages.oom, pages.top);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace vramscope::cli
