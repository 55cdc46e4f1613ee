#include "ui/timeline/dump_state.h"

#include <QJsonArray>
#include <QString>

#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

QString Q(std::string_view s) { return QString::fromUtf8(s.data(), qsizetype(s.size())); }

QJsonArray RectOf(const Rect& r) { return {r.x, r.y, r.w, r.h}; }

QJsonObject AllocationOf(const TimelineData& d, trace::AllocationId id) {
  const trace::Trace& t = d.trace();
  uint32_t i = id.value;
  return {{"allocation", qint64{i}},
          {"module", Q(t.String(t.allocations.module[i]))},
          {"op", Q(t.String(t.allocations.op[i]))},
          {"category", Q(trace::Name(t.allocations.main_category[i]))},
          {"bytes", qint64(t.allocations.bytes[i])},
          {"bytes_rounded", qint64(t.allocations.bytes_rounded[i])},
          {"begin_ns", qint64(t.allocations.begin_ns[i])},
          {"end_ns", qint64(t.allocations.end_ns[i])}};
}

QJsonObject HoverOf(const CanvasState& s) {
  static constexpr const char* kKinds[] = {"none",     "allocation", "slice",     "memory",
                                           "overview", "ruler",      "title",     "activity",
                                           "idle",     "edge",       "scroll bar"};
  QJsonObject o{{"kind", kKinds[static_cast<size_t>(s.hover.kind)]},
                {"lane", s.hover.lane ? Q(s.hover.lane->key()) : QString()},
                {"time_ns", s.hover.time},
                {"tooltip", s.tooltip}};
  if (s.hover.allocation.valid()) o["allocation"] = qint64{s.hover.allocation.value};
  if (s.hover.activity != query::kNoRow) o["activity"] = qint64{s.hover.activity};
  if (s.hover.slice != kNoSlice && s.data) o["slice"] = Q(s.data->SliceName(s.hover.slice));
  if (s.hover.category) o["category"] = Q(trace::Name(*s.hover.category));
  if (s.tooltip) {
    Tooltip tip = MakeTooltip(s, s.hover);
    o["title"] = Q(tip.title);
    QJsonObject rows;
    for (const TooltipRow& row : tip.rows) rows[Q(row.label)] = Q(row.value);
    o["rows"] = rows;
  }
  return o;
}

}  // namespace

QJsonObject DumpState(const CanvasState& s, const SceneCounts& counts) {
  QJsonObject o;
  static constexpr const char* kStatus[] = {"none", "loading", "failed"};
  o["status"] = kStatus[static_cast<size_t>(s.status)];
  o["theme"] = s.theme.dark ? "dark" : "light";
  o["size"] = QJsonArray{s.layout.width, s.layout.height};
  o["scale"] = s.scale;
  o["has_trace"] = s.data != nullptr;
  if (s.outline)
    o["outline"] = QJsonObject{{"events", qint64(s.outline->events)},
                               {"batches", qint64(s.outline->batches.size())},
                               {"steps_and_phases", qint64(s.outline->steps_and_phases.size())}};
  QJsonArray lanes;
  for (const LanePlace& lane : s.layout.lanes) {
    if (!lane.visible) continue;
    lanes.append(QJsonObject{{"lane", Q(lane.lane->key())},
                             {"title", RectOf(lane.title)},
                             {"body", RectOf(lane.body)},
                             {"rows", lane.rows},
                             {"count", qint64(s.data ? lane.lane->Count(s) : 0)},
                             {"folded", lane.folded},
                             {"pinned", lane.pinned},
                             {"in_sight", lane.in_sight()}});
  }
  o["lanes"] = lanes;
  o["scroll"] = QJsonObject{{"at", s.layout.scroll}, {"most", s.layout.scroll_most}};
  if (!s.data) return o;
  const Span &view = s.viewport.view(), &extent = s.viewport.extent();
  o["viewport"] =
      QJsonObject{{"begin_ns", view.begin},         {"end_ns", view.end},
                  {"extent_end_ns", extent.end},    {"ns_per_px", s.viewport.ns_per_px()},
                  {"plot_left", s.viewport.left()}, {"plot_width", s.viewport.width()},
                  {"all", s.viewport.shows_all()}};
  o["memory_axis"] = QJsonObject{{"max", qint64(s.axis.max)}, {"step", qint64(s.axis.step)}};
  o["drawn"] = QJsonObject{{"columns", qint64{counts.columns}},
                           {"block_rects", qint64{counts.block_rects}},
                           {"block_cells", qint64{counts.block_cells}},
                           {"slices", qint64{counts.slices}},
                           {"slice_columns", qint64{counts.slice_columns}},
                           {"activities", qint64{counts.activities}},
                           {"gaps", qint64{counts.gaps}},
                           {"labels", qint64{counts.labels}},
                           {"marks", qint64{counts.marks}},
                           {"notes", qint64{counts.notes}},
                           {"lanes", qint64{counts.lanes}}};
  const analysis::Peak& peak = s.data->peak();
  o["peak"] = QJsonObject{{"shown", counts.peak_shown},
                          {"allocated", qint64(peak.allocated)},
                          {"reserved", qint64(peak.reserved)},
                          {"time_ns", s.data->FromTrace(peak.context.time_ns)},
                          {"place", Q(s.data->peak_place())}};
  o["limit"] = QJsonObject{{"bytes", qint64(s.device_limit)}, {"shown", counts.limit_shown}};
  QJsonObject baseline{{"shown", counts.baseline_shown}};
  if (s.baseline) {
    baseline["label"] = Q(s.baseline_label);
    baseline["peak_allocated"] = qint64(s.baseline->peak().allocated);
    if (s.layout["difference"].visible)
      baseline["difference"] = QJsonObject{{"highest", counts.difference_highest},
                                           {"lowest", counts.difference_lowest},
                                           {"columns", qint64{counts.difference_end}}};
  }
  o["ghost"] = baseline;
  o["events"] = qint64{s.data->trace().events.size()};
  o["allocations"] = qint64{s.data->trace().allocations.size()};
  o["activities"] = qint64{s.data->trace().activities.size()};
  if (s.selection.valid()) {
    o["selection"] = AllocationOf(*s.data, s.selection);
  } else if (const ActivityFacts facts = FactsOfSelection(s); !facts.title.empty()) {
    QJsonArray rows;
    for (const LinkedFact& fact : facts.facts)
      rows.append(QJsonArray{Q(fact.label), Q(fact.value)});
    QJsonObject selected{{"title", Q(facts.title)}, {"place", Q(facts.subtitle)}, {"facts", rows}};
    if (s.selected_activity != query::kNoRow) selected["activity"] = qint64{s.selected_activity};
    if (s.selected_gap != query::kNoRow) selected["gap"] = qint64{s.selected_gap};
    if (s.selected_slice != kNoSlice) selected["slice"] = Q(s.data->SliceName(s.selected_slice));
    o["selection"] = selected;
  } else {
    o["selection"] = QJsonValue::Null;
  }
  o["highlighted"] = qint64{s.marking ? s.marking->block_count : 0};
  QJsonArray hidden;
  for (int c = 0; c < trace::kCategoryCount; ++c)
    if (s.hides(static_cast<trace::Category>(c)))
      hidden.append(Q(trace::Name(static_cast<trace::Category>(c))));
  o["hidden_categories"] = hidden;
  o["marked"] = qint64{s.marking ? s.marking->count : 0};
  o["range"] = s.range
                   ? QJsonValue(QJsonObject{{"begin_ns", s.range->begin}, {"end_ns", s.range->end}})
                   : QJsonValue::Null;
  o["cursor_ns"] = s.cursor ? QJsonValue(*s.cursor) : QJsonValue::Null;
  o["hover"] = s.hovering ? QJsonValue(HoverOf(s)) : QJsonValue::Null;
  return o;
}

}  // namespace vramscope::ui::timeline
