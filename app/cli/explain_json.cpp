#include <algorithm>

#include "app/cli/explain.h"
#include "app/cli/releases_json.h"
#include "app/cli/summary.h"
#include "profiler/explain/pool_owners.h"

namespace vramscope::cli {
namespace {

std::string PoolName(trace::Pool pool) { return pool == trace::Pool::kSmall ? "small" : "large"; }

std::string CategoryName(trace::Category category) { return std::string(trace::Name(category)); }

// Converts at most the first `most` items.
template <class Items, class ToJson>
Json ListJson(const Items& items, size_t most, ToJson to_json) {
  Json json = Json::array();
  for (size_t i = 0; i < std::min(items.size(), most); ++i) json.push_back(to_json(items[i]));
  return json;
}
template <class Items, class ToJson>
Json ListJson(const Items& items, ToJson to_json) {
  return ListJson(items, items.size(), to_json);
}

Json GroupsJson(const std::vector<analysis::Group>& groups, size_t most) {
  return ListJson(groups, most, [](const analysis::Group& g) {
    return Json{{"name", g.name}, {"bytes", g.bytes}, {"count", g.count}};
  });
}

Json SiteJson(const trace::Trace& trace, const explain::CallSite& site) {
  Json json{{"name", site.name}};
  if (site.stack.value != 0) json["stack"] = explain::StackLines(trace, site.stack, true);
  return json;
}

Json PoolJson(const explain::Fragmentation::PoolUse& p) {
  return {{"device", p.device},
          {"pool", PoolName(p.pool)},
          {"stream", p.stream},
          {"mempool", p.mempool},
          {"owner", p.owner.empty() ? Json() : Json(p.owner)},
          {"blocks", p.blocks},
          {"segments", p.segments},
          {"segments_cached", p.segments_cached},
          {"reserved", p.reserved},
          {"live", p.live},
          {"holes", p.holes},
          {"cached", p.cached},
          {"largest_hole", p.largest_hole}};
}

Json OwnerJson(const trace::Trace& trace, const explain::PoolOwner& o) {
  return {{"device", o.device},
          {"mempool", o.mempool},
          {"id", explain::PoolId(o.mempool)},
          {"owner", o.name},
          {"site", o.site.stack.value == 0 ? Json() : SiteJson(trace, o.site)}};
}

Json PinnedJson(const trace::Trace& trace, const explain::Fragmentation::Pinned& s) {
  const auto pin = [&trace](const auto& p) {
    return Json{{"allocation", p.allocation.value},
                {"bytes", p.bytes},
                {"category", CategoryName(p.category)},
                {"site", SiteJson(trace, p.site)}};
  };
  return {{"segment", s.segment.value},
          {"bytes", s.bytes},
          {"free", s.free},
          {"largest_hole", s.largest_hole},
          {"pool", PoolName(s.pool)},
          {"stream", s.stream},
          {"pin_count", s.pin_count},
          {"pins", ListJson(s.pins, pin)}};
}

Json FragmentationJson(const trace::Trace& trace, const explain::Fragmentation& f, size_t top) {
  return {{"headline", f.headline},
          {"at", ContextJson(trace, f.context)},
          {"event", f.context.event},
          {"requested", f.requested},
          {"allocated", f.allocated},
          {"reserved", f.reserved},
          {"rounding", f.rounding},
          {"tails", f.tails},
          {"holes", f.holes},
          {"cached", f.cached},
          {"unplaced", f.unplaced},
          {"reserved_known", f.reserved_known()},
          {"sizes_are_of_blocks", f.sizes_are_of_blocks},
          {"largest_hole", f.largest_hole},
          {"pending", f.pending},
          {"outside", f.outside},
          {"segments", f.segments},
          {"segments_cached", f.segments_cached},
          {"pools", ListJson(f.pools, PoolJson)},
          {"private_pools", ListJson(f.owners, [&](const auto& o) { return OwnerJson(trace, o); })},
          {"pinned_count", f.pinned_count},
          {"pinned", ListJson(f.pinned, top, [&](const auto& s) { return PinnedJson(trace, s); })},
          {"pinned_by", GroupsJson(f.pinned_by, top)}};
}

Json PieceJson(const explain::SegmentView::Piece& piece) {
  using Use = explain::SegmentView::Use;
  Json json{{"address", piece.address},
            {"bytes", piece.bytes},
            {"use", piece.use == Use::kFree      ? "free"
                    : piece.use == Use::kLive    ? "live"
                    : piece.use == Use::kPending ? "pending"
                                                 : "unmapped"}};
  if (piece.allocation.valid()) json["allocation"] = piece.allocation.value;
  return json;
}

Json SegmentJson(const explain::Fragmentation& f, const explain::SegmentView& s) {
  Json owner;  // the owner of the segment's private pool; null: none
  for (const explain::PoolOwner& o : f.owners) {
    if (o.device == s.device && o.mempool == s.mempool) owner = o.name;
  }
  return {{"segment", s.segment.value}, {"device", s.device},
          {"address", s.address},       {"bytes", s.bytes},
          {"live", s.live_bytes},       {"largest_hole", s.largest_hole},
          {"pool", PoolName(s.pool)},   {"stream", s.stream},
          {"mempool", s.mempool},       {"owner", owner},
          {"expandable", s.expandable}, {"pieces", ListJson(s.pieces, PieceJson)}};
}

Json RemedyJson(const explain::Remedy& r) {
  if (!r.error.empty()) return {{"name", r.name}, {"error", r.error}};
  Json json{{"name", r.name},
            {"reserved", r.reserved},
            {"given_back", r.given_back},
            {"peak_reserved", r.peak_reserved},
            {"peak_given_back", r.peak_given_back},
            {"driver_calls", r.segment_allocs},
            {"segment_frees", r.segment_frees},
            {"retries", r.retries},
            {"out_of_memory", r.out_of_memory}};
  if (!r.note.empty()) json["note"] = r.note;
  return json;
}

Json ReclaimJson(const trace::Trace& trace, const explain::Reclaim& r) {
  return {{"headline", r.headline},
          {"device", r.device},
          {"at", ContextJson(trace, r.context)},
          {"event", r.context.event},
          {"allocated", r.allocated},
          {"reserved", r.reserved},
          {"cached", r.cached},
          {"holes", r.holes},
          {"state", r.state},
          {"as_recorded", RemedyJson(r.as_recorded)},
          {"as_recorded_anew", r.anew.has_value() ? RemedyJson(*r.anew) : Json()},
          {"remedies", ListJson(r.remedies, RemedyJson)},
          {"releases", ReleasesJson(r.releases)},
          {"card", GpuJson(r.releases.capacity)}};
}

Json LeaksJson(const trace::Trace& trace, const explain::Leaks& leaks,
               const explain::CallSites& sites) {
  const auto leak = [&](const explain::Leak& l) {
    return Json{{"site", SiteJson(trace, sites.sites[l.site])},
                {"bytes_per_step", l.bytes_per_step},
                {"confidence", l.confidence},
                {"bytes", l.bytes},
                {"count", l.count},
                {"stayed", l.stayed},
                {"category", CategoryName(l.category)},
                {"examples", ListJson(l.examples, [](trace::AllocationId a) { return a.value; })}};
  };
  return {{"headline", leaks.headline},
          {"known", leaks.known},
          {"steps", leaks.steps},
          {"allocated_at_step_end", leaks.allocated},
          {"bytes_per_step", leaks.bytes_per_step},
          {"steps_until_full", leaks.steps_until_full > 0 ? Json(leaks.steps_until_full) : Json()},
          {"leaks", ListJson(leaks.leaks, leak)}};
}

Json SitesJson(const trace::Trace& trace, const ExplainPages& pages) {
  const auto timed = [&](auto value) { return trace.info.has_times ? Json(value) : Json(); };
  const auto site = [&](const explain::SiteUse& use) {
    return Json{{"site", SiteJson(trace, pages.call_sites.sites[use.site])},
                {"count", use.count},
                {"bytes", use.bytes},
                {"largest", use.largest},
                {"byte_seconds", timed(use.byte_seconds)},
                {"mean_life_ns", timed(use.mean_life_ns)},
                {"longest_life_ns", timed(use.longest_life_ns)},
                {"peak_live_bytes", use.peak_live_bytes},
                {"alive_count", use.alive_count},
                {"alive_bytes", use.alive_bytes},
                {"category", CategoryName(use.category)}};
  };
  return {{"sorted_by", std::string(explain::Name(pages.order))},
          {"count", pages.sites->size()},
          {"sites", ListJson(*pages.sites, pages.top, site)}};
}

Json OomJson(const trace::Trace& trace, const explain::OutOfMemoryPage& page) {
  const auto way = [](const explain::WayOut& w) {
    return Json{{"name", w.name},
                {"how", w.how},
                {"computed", w.computed},
                {"passes", w.passes},
                {"request_passes", w.request_passes},
                {"run_passes", w.run_passes.has_value() ? Json(*w.run_passes) : Json()},
                {"over", w.run_passes == false ? Json(w.over) : Json()},
                {"bytes", w.bytes}};
  };
  const auto event = [&](const explain::OutOfMemory& o) {
    return Json{{"headline", o.headline},
                {"event", o.event},
                {"device", o.device},
                {"at", ContextJson(trace, o.context)},
                {"site", SiteJson(trace, o.site)},
                {"asked", o.asked},
                {"needed", o.needed},
                {"device_free", o.device_free},
                {"missing", o.missing},
                {"requested", o.requested},
                {"allocated", o.allocated},
                {"reserved", o.reserved},
                {"cached", o.cached},
                {"holes", o.holes},
                {"largest_hole", o.largest_hole},
                {"fragmented", o.fragmented},
                {"by_category", CategoriesJson(o.by_category)},
                {"sites", GroupsJson(o.sites, o.sites.size())},
                {"ways", ListJson(o.ways, way)},
                {"replay_error", o.replay_error}};
  };
  return {{"headline", page.headline},
          {"count", page.count},
          {"peak_reserved", page.peak_reserved},
          {"device_memory", page.device_memory},
          {"events", ListJson(page.events, event)}};
}

}  // namespace

Json FindingJson(const explain::Finding& finding) {
  const auto text = [](std::string_view value) { return value.empty() ? Json() : Json(value); };
  Json blocks = Json::array();
  for (const trace::AllocationId id : finding.blocks) blocks.push_back(id.value);
  return {{"id", finding.rule->id},         {"bytes", finding.bytes},
          {"text", finding.text},           {"where", text(finding.where)},
          {"remedy", finding.rule->remedy}, {"toggle", text(finding.rule->toggle)},
          {"rule", finding.rule->rule},     {"blocks", blocks}};
}

Json ExplainJson(const trace::Trace& trace, const ExplainPages& pages) {
  Json json = Json::object();
  if (pages.findings) json["findings"] = ListJson(*pages.findings, FindingJson);
  if (pages.oom) json["oom"] = OomJson(trace, *pages.oom);
  if (pages.fragmentation) {
    json["fragmentation"] = FragmentationJson(trace, *pages.fragmentation, pages.top);
    json["fragmentation"]["evidence"] =
        ListJson(pages.evidence, [](const explain::EvidenceShare& share) {
          Json row = EvidenceJson(share.evidence);
          row["bytes"] = share.bytes;
          row["blocks"] = share.blocks;
          return row;
        });
  }
  if (!pages.segments.empty()) {
    json["segments"] = ListJson(pages.segments, [&pages](const explain::SegmentView& s) {
      return SegmentJson(*pages.fragmentation, s);
    });
  }
  if (!pages.held_graph.headline.empty())
    json["held_graph"] = {{"headline", pages.held_graph.headline},
                          {"bytes", pages.held_graph.bytes},
                          {"blocks", pages.held_graph.blocks}};
  if (pages.reclaim) json["reclaim"] = ReclaimJson(trace, *pages.reclaim);
  if (!pages.reclaim_error.empty()) json["reclaim"] = {{"error", pages.reclaim_error}};
  if (pages.leaks) json["leaks"] = LeaksJson(trace, *pages.leaks, pages.call_sites);
  if (pages.sites) json["sites"] = SitesJson(trace, pages);
  return json;
}

}  // namespace vramscope::cli
