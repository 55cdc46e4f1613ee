#include "ui/timeline/model/thing_facts.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/query/filter.h"
#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/slice_facts.h"

namespace vramscope::ui::timeline {
namespace {

using query::Quoted;
using query::ThingKind;

// Returns the Python frames of the stack or, if it has no Python frames, all frames.
std::string StackText(const trace::Trace& trace, trace::AllocationId id) {
  std::string text;
  for (const StackLine& line : StackLines(trace, StackOf(trace, id), 0)) {
    if (!line.python && !text.empty()) break;
    text += fmt::format("{}  {}\n", line.function, line.place);
  }
  return text;
}

void AddLike(ThingFacts* facts, std::string label, std::string_view kind, std::string_view field,
             std::string_view value) {
  if (!value.empty())
    facts->likes.push_back(
        {std::move(label), fmt::format("kind = {} and {} = {}", kind, field, Quoted(value))});
}

ThingFacts OfBlock(const TimelineData& data, const query::Thing& thing) {
  const trace::Trace& t = data.trace();
  const trace::AllocationTable& a = t.allocations;
  const uint32_t i = thing.row;
  ThingFacts facts;
  facts.size = fmt::format("{}", a.bytes_rounded[i]);
  facts.address = fmt::format("{:#x}", a.address[i]);
  facts.stack = StackText(t, {i});
  facts.likes.push_back({i18n::Text("Find blocks of this size"),
                         fmt::format("kind = block and size = {} B", a.bytes_rounded[i])});
  AddLike(&facts, i18n::Text("Find blocks of this op"), "block", "op", t.String(a.op[i]));
  AddLike(&facts, i18n::Text("Find blocks of this module"), "block", "module",
          t.String(a.module[i]));
  AddLike(&facts, i18n::Text("Find blocks of this category"), "block", "category",
          trace::Name(a.main_category[i]));
  if (a.phase[i] != trace::Phase::kNone)
    AddLike(&facts, i18n::Text("Find blocks made in this phase"), "block", "phase",
            trace::Name(a.phase[i]));
  facts.links = KernelsOf(data, {i});
  return facts;
}

ThingFacts OfActivity(const TimelineData& data, const query::Thing& thing) {
  const trace::Trace& t = data.trace();
  const trace::ActivityTable& a = t.activities;
  const uint32_t i = thing.row;
  ThingFacts facts;
  if (a.bytes[i] != 0 && thing.kind != ThingKind::kKernel)
    facts.size = fmt::format("{}", a.bytes[i]);
  if (a.address[i] != 0) facts.address = fmt::format("{:#x}", a.address[i]);
  const std::string_view kind = query::Name(thing.kind);
  AddLike(&facts, i18n::Text("Find activities with this name"), kind, "name",
          query::ActivityName(t, i));
  if (data.activities() != nullptr && query::IsDeviceWork(a.kind[i])) {
    AddLike(&facts, i18n::Text("Find activities of this op"), kind, "op",
            query::OpOf(*data.activities(), i));
    AddLike(&facts, i18n::Text("Find activities of this module"), kind, "module",
            query::ModuleOf(*data.activities(), i));
  }
  facts.links = FactsOfActivity(data, i).facts;
  return facts;
}

ThingFacts OfSlice(const TimelineData& data, const query::Thing& thing) {
  const trace::Trace& t = data.trace();
  ThingFacts facts;
  const std::string_view kind = query::Name(thing.kind);
  const std::string name = query::GroupName(t, thing);
  AddLike(&facts, i18n::Format("Find every {} with this name", i18n::Text(kind)), kind, "name",
          name);
  const std::string_view field = thing.kind == ThingKind::kModule  ? "module"
                                 : thing.kind == ThingKind::kOp    ? "op"
                                 : thing.kind == ThingKind::kPhase ? "phase"
                                                                   : "";
  if (!field.empty()) AddLike(&facts, i18n::Format("Find its blocks"), "block", field, name);
  if (thing.kind == ThingKind::kModule || thing.kind == ThingKind::kOp)
    AddLike(&facts, i18n::Text("Find its kernels"), "kernel", field, name);
  facts.links = FactsOfSlice(data, thing.row).facts;
  return facts;
}

std::string JsonText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

ThingFacts FactsOfThing(const TimelineData& data, const query::Thing& thing) {
  ThingFacts facts = thing.block()      ? OfBlock(data, thing)
                     : thing.activity() ? OfActivity(data, thing)
                                        : OfSlice(data, thing);
  const std::string group = query::GroupName(data.trace(), thing);
  facts.name = thing.activity() ? query::ActivityName(data.trace(), thing.row) : group;
  facts.title = thing.kind == ThingKind::kStep || thing.kind == ThingKind::kMicroBatch
                    ? group
                    : fmt::format("{}: {}", i18n::Text(query::Name(thing.kind)), group);
  std::erase_if(facts.links, [](const LinkedFact& fact) {
    return fact.link.to == Link::To::kNothing || fact.value.empty();
  });
  return facts;
}

std::string JsonOfThing(const TimelineData& data, const query::Thing& thing) {
  const trace::Trace& t = data.trace();
  const ThingFacts facts = FactsOfThing(data, thing);
  std::string json;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty())
      json += fmt::format("{}  \"{}\": {}", json.empty() ? "" : ",\n", key, value);
  };
  const auto text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, JsonText(value));
  };
  text("kind", query::Name(thing.kind));
  add("row", fmt::format("{}", thing.row));
  text("name", facts.name);
  const int64_t begin = query::BeginOf(t, thing), end = query::EndOf(t, thing);
  if (t.info.has_times) {
    add("begin_ns", fmt::format("{}", begin));
    add("takes_ns", fmt::format("{}", end - begin));
  } else {
    add("begin_entry", fmt::format("{}", begin));
  }
  add("bytes", facts.size);
  text("address", facts.address);
  if (thing.block()) {
    const trace::AllocationTable& a = t.allocations;
    add("bytes_requested", fmt::format("{}", a.bytes[thing.row]));
    text("category", trace::Name(a.main_category[thing.row]));
    text("op", t.String(a.op[thing.row]));
    text("module", t.String(a.module[thing.row]));
    if (a.phase[thing.row] != trace::Phase::kNone) text("phase", trace::Name(a.phase[thing.row]));
    add("step", a.step[thing.row] < 0 ? "" : fmt::format("{}", a.step[thing.row]));
    add("stream", fmt::format("{}", a.stream[thing.row]));
    text("stack", facts.stack);
  } else if (thing.activity() && query::IsDeviceWork(t.activities.kind[thing.row])) {
    add("stream", fmt::format("{}", t.activities.stream[thing.row]));
    if (data.activities() != nullptr) {
      text("op", query::OpOf(*data.activities(), thing.row));
      text("module", query::ModuleOf(*data.activities(), thing.row));
      text("phase", query::PhaseOf(*data.activities(), thing.row));
    }
  }
  return "{\n" + json + "\n}\n";
}

std::optional<query::Thing> ThingOf(const trace::Trace& trace, const Hit& hit) {
  if (hit.kind == HitKind::kAllocation && hit.allocation.valid())
    return query::Thing{ThingKind::kBlock, hit.allocation.value};
  if (hit.kind == HitKind::kActivity && hit.activity != query::kNoRow) {
    const auto kind = query::ThingKindOf(trace.activities.kind[hit.activity]);
    if (kind) return query::Thing{*kind, hit.activity};
  }
  if (hit.kind == HitKind::kSlice && hit.slice != kNoSlice)
    return query::Thing{query::ThingKindOf(trace.slices.kind[hit.slice]), hit.slice};
  return std::nullopt;
}

std::optional<query::Thing> ThingOf(const trace::Trace& trace, const Link& link) {
  Hit hit;
  switch (link.to) {
    case Link::To::kAllocation:
      if (link.row >= trace.allocations.size()) return std::nullopt;
      hit.kind = HitKind::kAllocation;
      hit.allocation = {link.row};
      break;
    case Link::To::kActivity:
      if (link.row >= trace.activities.size()) return std::nullopt;
      hit.kind = HitKind::kActivity;
      hit.activity = link.row;
      break;
    case Link::To::kSlice:
      if (link.row >= trace.slices.size()) return std::nullopt;
      hit.kind = HitKind::kSlice;
      hit.slice = link.row;
      break;
    case Link::To::kNothing:
      return std::nullopt;
  }
  return ThingOf(trace, hit);
}

Link LinkTo(const query::Thing& thing) {
  return {thing.block()      ? Link::To::kAllocation
          : thing.activity() ? Link::To::kActivity
                             : Link::To::kSlice,
          thing.row};
}

std::optional<query::Thing> SelectedThing(const CanvasState& s) {
  if (!s.data) return std::nullopt;
  Hit hit;
  hit.allocation = s.selection;
  hit.activity = s.selected_activity;
  hit.slice = s.selected_slice;
  hit.kind = s.selection.valid()                    ? HitKind::kAllocation
             : s.selected_activity != query::kNoRow ? HitKind::kActivity
                                                    : HitKind::kSlice;
  return ThingOf(s.data->trace(), hit);
}

}  // namespace vramscope::ui::timeline
