#include <algorithm>

#include "app/cli/explain.h"
#include "app/cli/summary.h"

namespace vramscope::cli {
namespace {

using explain::CallSite;

std::string_view PoolName(trace::Pool pool) {
  return pool == trace::Pool::kSmall ? "small" : "large";
}

Json SiteJson(const trace::Trace& trace, const CallSite& site) {
  Json json{{"name", site.name}};
  if (site.stack.value != 0) json["stack"] = explain::StackLines(trace, site.stack, true);
  return json;
}

Json GroupsJson(const std::vector<analysis::Group>& groups, size_t most) {
  Json json = Json::array();
  for (size_t i = 0; i < std::min(groups.size(), most); ++i) {
    json.push_back(
        {{"name", groups[i].name}, {"bytes", groups[i].bytes}, {"count", groups[i].count}});
  }
  return json;
}

Json FragmentationJson(const trace::Trace& trace, const explain::Fragmentation& f, size_t top) {
  Json json;
  json["headline"] = f.headline;
  json["at"] = ContextJson(f.context);
  json["event"] = f.context.event;
  json["requested"] = f.requested;
  json["allocated"] = f.allocated;
  json["reserved"] = f.reserved;
  json["rounding"] = f.rounding;
  json["tails"] = f.tails;
  json["holes"] = f.holes;
  json["cached"] = f.cached;
  json["largest_hole"] = f.largest_hole;
  json["pending"] = f.pending;
  json["outside"] = f.outside;
  json["segments"] = f.segments;
  json["segments_cached"] = f.segments_cached;
  json["pools"] = Json::array();
  for (const auto& p : f.pools) {
    json["pools"].push_back({{"device", p.device},
                             {"pool", std::string(PoolName(p.pool))},
                             {"stream", p.stream},
                             {"mempool", p.mempool},
                             {"segments", p.segments},
                             {"segments_cached", p.segments_cached},
                             {"reserved", p.reserved},
                             {"live", p.live},
                             {"holes", p.holes},
                             {"cached", p.cached},
                             {"largest_hole", p.largest_hole}});
  }
  json["pinned_count"] = f.pinned_count;
  json["pinned"] = Json::array();
  for (size_t i = 0; i < std::min(f.pinned.size(), top); ++i) {
    const auto& s = f.pinned[i];
    Json pins = Json::array();
    for (const auto& pin : s.pins) {
      pins.push_back({{"allocation", pin.allocation.value},
                      {"bytes", pin.bytes},
                      {"category", std::string(trace::Name(pin.category))},
                      {"site", SiteJson(trace, pin.site)}});
    }
    json["pinned"].push_back({{"segment", s.segment.value},
                              {"bytes", s.bytes},
                              {"free", s.free},
                              {"largest_hole", s.largest_hole},
                              {"pool", std::string(PoolName(s.pool))},
                              {"stream", s.stream},
                              {"pin_count", s.pin_count},
                              {"pins", std::move(pins)}});
  }
  json["pinned_by"] = GroupsJson(f.pinned_by, top);
  return json;
}

Json SegmentsJson(const std::vector<explain::SegmentView>& segments) {
  using Use = explain::SegmentView::Use;
  Json json = Json::array();
  for (const explain::SegmentView& s : segments) {
    Json pieces = Json::array();
    for (const auto& p : s.pieces) {
      Json piece{{"address", p.address},
                 {"bytes", p.bytes},
                 {"use", p.use == Use::kFree      ? "free"
                         : p.use == Use::kLive    ? "live"
                         : p.use == Use::kPending ? "pending"
                                                  : "unmapped"}};
      if (p.allocation.valid()) piece["allocation"] = p.allocation.value;
      pieces.push_back(std::move(piece));
    }
    json.push_back({{"segment", s.segment.value},
                    {"device", s.device},
                    {"address", s.address},
                    {"bytes", s.bytes},
                    {"live", s.live_bytes},
                    {"largest_hole", s.largest_hole},
                    {"pool", std::string(PoolName(s.pool))},
                    {"stream", s.stream},
                    {"mempool", s.mempool},
                    {"expandable", s.expandable},
                    {"pieces", std::move(pieces)}});
  }
  return json;
}

Json RemedyJson(const explain::Remedy& r) {
  Json json{{"name", r.name}};
  if (!r.error.empty()) {
    json["error"] = r.error;
    return json;
  }
  if (!r.note.empty()) json["note"] = r.note;
  json["reserved"] = r.reserved;
  json["given_back"] = r.given_back;
  json["peak_reserved"] = r.peak_reserved;
  json["peak_given_back"] = r.peak_given_back;
  json["driver_calls"] = r.segment_allocs;
  json["segment_frees"] = r.segment_frees;
  json["retries"] = r.retries;
  json["out_of_memory"] = r.out_of_memory;
  return json;
}

Json ReclaimJson(const explain::Reclaim& r) {
  Json json;
  json["headline"] = r.headline;
  json["device"] = r.device;
  json["at"] = ContextJson(r.context);
  json["event"] = r.context.event;
  json["allocated"] = r.allocated;
  json["reserved"] = r.reserved;
  json["cached"] = r.cached;
  json["holes"] = r.holes;
  json["as_recorded"] = RemedyJson(r.as_recorded);
  json["remedies"] = Json::array();
  for (const explain::Remedy& remedy : r.remedies) json["remedies"].push_back(RemedyJson(remedy));
  return json;
}

Json LeaksJson(const trace::Trace& trace, const explain::Leaks& leaks,
               const explain::CallSites& sites) {
  Json json;
  json["headline"] = leaks.headline;
  json["known"] = leaks.known;
  json["steps"] = leaks.steps;
  json["allocated_at_step_end"] = leaks.allocated;
  json["bytes_per_step"] = leaks.bytes_per_step;
  json["steps_until_full"] = leaks.steps_until_full > 0 ? Json(leaks.steps_until_full) : Json();
  json["leaks"] = Json::array();
  for (const explain::Leak& l : leaks.leaks) {
    Json examples = Json::array();
    for (const trace::AllocationId id : l.examples) examples.push_back(id.value);
    json["leaks"].push_back({{"site", SiteJson(trace, sites.sites[l.site])},
                             {"bytes_per_step", l.bytes_per_step},
                             {"confidence", l.confidence},
                             {"bytes", l.bytes},
                             {"count", l.count},
                             {"stayed", l.stayed},
                             {"category", std::string(trace::Name(l.category))},
                             {"examples", std::move(examples)}});
  }
  return json;
}

Json SitesJson(const trace::Trace& trace, const ExplainPages& pages) {
  Json json;
  json["sorted_by"] = std::string(explain::Name(pages.order));
  json["count"] = pages.sites->size();
  json["sites"] = Json::array();
  for (size_t i = 0; i < std::min(pages.sites->size(), pages.top); ++i) {
    const explain::SiteUse& use = (*pages.sites)[i];
    json["sites"].push_back({{"site", SiteJson(trace, pages.call_sites.sites[use.site])},
                             {"count", use.count},
                             {"bytes", use.bytes},
                             {"largest", use.largest},
                             {"byte_seconds", use.byte_seconds},
                             {"mean_life_ns", use.mean_life_ns},
                             {"longest_life_ns", use.longest_life_ns},
                             {"peak_live_bytes", use.peak_live_bytes},
                             {"alive_count", use.alive_count},
                             {"alive_bytes", use.alive_bytes},
                             {"category", std::string(trace::Name(use.category))}});
  }
  return json;
}

Json OomJson(const trace::Trace& trace, const explain::OutOfMemoryPage& page) {
  Json json;
  json["headline"] = page.headline;
  json["count"] = page.count;
  json["peak_reserved"] = page.peak_reserved;
  json["device_memory"] = page.device_memory;
  json["events"] = Json::array();
  for (const explain::OutOfMemory& o : page.events) {
    Json ways = Json::array();
    for (const explain::WayOut& w : o.ways) {
      ways.push_back({{"name", w.name},
                      {"how", w.how},
                      {"computed", w.computed},
                      {"passes", w.passes},
                      {"bytes", w.bytes}});
    }
    json["events"].push_back({{"headline", o.headline},
                              {"event", o.event},
                              {"device", o.device},
                              {"at", ContextJson(o.context)},
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
                              {"ways", std::move(ways)},
                              {"replay_error", o.replay_error}});
  }
  return json;
}

}  // namespace

Json ExplainJson(const trace::Trace& trace, const ExplainPages& pages) {
  Json json = Json::object();
  if (pages.oom) json["oom"] = OomJson(trace, *pages.oom);
  if (pages.fragmentation) {
    json["fragmentation"] = FragmentationJson(trace, *pages.fragmentation, pages.top);
  }
  if (!pages.segments.empty()) json["segments"] = SegmentsJson(pages.segments);
  if (pages.reclaim) json["reclaim"] = ReclaimJson(*pages.reclaim);
  if (!pages.reclaim_error.empty()) json["reclaim"] = {{"error", pages.reclaim_error}};
  if (pages.leaks) json["leaks"] = LeaksJson(trace, *pages.leaks, pages.call_sites);
  if (pages.sites) json["sites"] = SitesJson(trace, pages);
  return json;
}

}  // namespace vramscope::cli
