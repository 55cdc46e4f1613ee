#include "ui/panels/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/analysis/step_time.h"
#include "profiler/base/i18n.h"
#include "profiler/program/verdict.h"
#include "profiler/trace/block_evidence.h"
#include "profiler/trace/length.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"
#include "ui/panels/cells.h"
#include "ui/panels/phase_rows.h"
#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

using analysis::LiveSet;
using trace::AllocationId;
using trace::Category;
using trace::Phase;
using trace::Trace;

constexpr double kMiB = 1048576.0;
constexpr double kGiB = 1073741824.0;

std::string Text(std::string_view text) { return std::string(text); }

std::string Bare(std::string_view op) {
  const size_t colons = op.rfind("::");
  return Text(colons == std::string_view::npos ? op : op.substr(colons + 2));
}

std::string Life(const Trace& trace, AllocationId id) {
  const auto& a = trace.allocations;
  const int64_t ns = a.end_ns[id.value] - a.begin_ns[id.value];
  if (a.free_event[id.value] == trace::kNoEvent) return i18n::Text("to the end");
  return timeline::LengthOf(trace, ns);
}

// Returns the phase and time of an event, such as "backward · 71.2 ms".
std::string Moment(const Trace& trace, trace::EventIndex event) {
  const analysis::Context at = analysis::ContextAt(trace, event);
  std::string text;
  if (at.step >= 0) text = i18n::Format("step {} · ", at.step);
  if (at.phase != Phase::kNone) text += fmt::format("{} · ", i18n::Text(trace::Name(at.phase)));
  return text + timeline::TimeTextOf(trace, at.time_ns);
}

std::vector<Phase> PhasesOf(const Trace& trace) {
  std::array<bool, trace::kPhaseCount> there{};
  const trace::SliceTable& s = trace.slices;
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kPhase && s.number[i] < trace::kPhaseCount)
      there[s.number[i]] = true;
  std::vector<Phase> phases;
  for (int p = 1; p < trace::kPhaseCount; ++p)
    if (there[static_cast<size_t>(p)]) phases.push_back(static_cast<Phase>(p));
  return phases;
}

std::vector<Digest::Origin> OriginsOf(const Trace& trace, const LiveSet& live) {
  const auto& events = trace.events;
  std::vector<uint8_t> rule(trace.allocations.size());
  for (uint32_t i = 0; i < rule.size(); ++i)
    rule[i] = events.detail[trace.allocations.alloc_event[i]];
  for (uint32_t r = 0; r < trace.retags.size(); ++r) {
    if (trace.retags.event[r] > live.context.event) break;
    rule[trace.retags.allocation[r].value] = events.detail[trace.retags.event[r]];
  }
  std::array<uint64_t, 256> bytes{};
  for (const analysis::LiveAllocation& a : live.allocations)
    bytes[rule[a.id.value]] += trace.allocations.bytes_rounded[a.id.value];
  std::vector<Digest::Origin> out;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > 0) out.push_back({static_cast<uint8_t>(i), bytes[i]});
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  return out;
}

}  // namespace

std::string FormatMs(double ms) {
  return ms < 10'000 ? fmt::format("{:.3f} ms", ms) : fmt::format("{:.3f} s", ms / 1000);
}

std::string FormatSaving(int64_t bytes) {
  const double size = std::abs(static_cast<double>(bytes));
  const char* sign = bytes < 0 ? "\u2212" : "+";
  if (size >= kGiB * 1024) return fmt::format("{}{:.2f} TiB", sign, size / kGiB / 1024);
  if (size >= kGiB * 0.095) return fmt::format("{}{:.2f} GiB", sign, size / kGiB);
  if (size >= kMiB * 0.5) return fmt::format("{}{:.0f} MiB", sign, size / kMiB);
  if (size >= 1024) return fmt::format("{}{:.0f} KiB", sign, size / 1024);
  return "\u00b10";
}

std::string FormatFactor(double factor) { return i18n::Format("{:.2f}× time", factor); }

std::shared_ptr<const Digest> MakeDigest(std::shared_ptr<const Trace> trace,
                                         const std::string& file, std::optional<uint8_t> device,
                                         std::shared_ptr<const analysis::MemoryCurves> curves) {
  auto digest = std::make_shared<Digest>();
  if (const std::vector<uint8_t> devices = analysis::DevicesOf(*trace); devices.size() > 1) {
    const bool there = device && std::ranges::count(devices, *device) > 0;
    digest->device = there ? device : analysis::DeviceToShow(trace);
    digest->devices = analysis::PeakOfEachDevice(trace);
    digest->whole = std::exchange(trace, trace::OfDevice(trace, *digest->device));
    curves = nullptr;  // `curves` covers all devices, so it does not apply to this one
  }
  digest->name = !file.empty()               ? file.substr(file.rfind('/') + 1)
                 : trace->info.title.empty() ? trace->info.model.name
                                             : trace->info.title;
  if (file.empty() && !trace->info.has_config && trace->info.backend != trace::Backend::kImported &&
      !trace->info.device.name.empty())
    digest->name += i18n::Text(" on ") + trace->info.device.name;
  if (digest->device) digest->name += " · " + trace::NameOfDevice(*digest->whole, *digest->device);
  digest->curves =
      curves != nullptr
          ? std::move(curves)
          : std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*trace));
  digest->summary = analysis::Summarize(*trace, *digest->curves);
  if (trace->events.size() > 0)
    digest->at_peak = analysis::LiveAt(*trace, digest->summary.peak.context.event);
  digest->last_step_ms = analysis::LastStepMs(*trace, digest->summary.steps);
  for (const Category c : timeline::kStackOrder)
    if (!digest->curves->category[static_cast<size_t>(c)].empty()) digest->categories.push_back(c);
  digest->phases = PhasesOf(*trace);
  digest->unused =
      digest->at_peak.reserved - std::min(digest->at_peak.reserved, digest->at_peak.allocated);
  for (trace::EventIndex e : trace->other_events.event)
    digest->out_of_memory += trace->events.kind[e] == trace::EventKind::kOutOfMemory;
  if (!trace->info.has_config) digest->origins = OriginsOf(*trace, digest->at_peak);
  digest->trace = std::move(trace);
  return digest;
}

bool Digest::inferred() const {
  return std::any_of(origins.begin(), origins.end(), [](const Origin& o) { return o.rule != 0; });
}

std::string AssumptionText(const run::Assumption& assumption) {
  std::string text = i18n::Shown(assumption.what);
  if (assumption.bytes > 0) text += ": " + timeline::FormatBytes(assumption.bytes);
  if (!assumption.where.empty())
    text += " (" + i18n::Shown(assumption.where.substr(assumption.where.rfind('/') + 1)) + ")";
  return text;
}

RecordingFacts RecordingFactsOf(const Digest& digest, const std::string& file) {
  const Trace& t = *digest.trace;
  RecordingFacts out;
  const auto fact = [&](std::string label, std::string value) {
    if (!value.empty()) out.facts.push_back({std::move(label), std::move(value)});
  };
  fact(i18n::Text("file"),
       file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1));
  if (digest.watched()) {
    fact(i18n::Text("program"), program::ShortCommand(t.info.title));
    fact(digest.program() ? i18n::Text("planned on") : i18n::Text("recorded on"),
         t.info.device.name);
    fact(i18n::Text("with"), t.info.source);
  } else {
    fact(i18n::Text("kind"), t.info.source);
  }
  if (t.events.size() == 0) return out;
  if (digest.state())
    fact(i18n::Text("content"), i18n::Text("snapshot without history"));
  else
    fact(i18n::Text("length"),
         timeline::LengthOf(t, trace::LengthNs(digest.whole != nullptr ? *digest.whole : t)));
  fact(digest.device
           ? i18n::Format("events of {}", trace::NameOfDevice(*digest.whole, *digest.device))
           : i18n::Text("events"),
       timeline::FormatCount(t.events.size()));
  const size_t steps = digest.summary.steps.size();
  bool steps_inferred = false;
  for (uint32_t s = 0; s < t.slices.size() && !steps_inferred; ++s)
    steps_inferred =
        t.slices.kind[s] == trace::SliceKind::kStep && !timeline::SliceRule(t, s).empty();
  if (!digest.state())
    fact(i18n::Text("steps"),
         steps == 0 ? i18n::Text("none found")
                    : fmt::format("{}{}", steps, steps_inferred ? i18n::Text(", inferred") : ""));
  if (!t.info.has_times && !digest.state())
    fact(i18n::Text("times"), i18n::Text("none; the axis counts history entries"));
  if (t.recording_begin != trace::kNoEvent && !digest.state()) {
    const auto& born = t.allocations.alloc_event;
    fact(i18n::Text("older blocks"),
         timeline::FormatCount(static_cast<uint64_t>(
             std::lower_bound(born.begin(), born.end(), t.recording_begin) - born.begin())));
  }
  fact(i18n::Text("call stacks"),
       t.stacks.size() > 1 ? timeline::FormatCount(t.stacks.size() - 1) : i18n::Text("none"));
  fact(i18n::Text("allocator"),
       t.info.alloc_conf.empty() ? i18n::Text("default settings") : t.info.alloc_conf);
  if (digest.out_of_memory > 0)
    fact(i18n::Text("out of memory"),
         digest.out_of_memory == 1
             ? std::string(i18n::Text("once"))
             : i18n::Format("{} times", timeline::FormatCount(digest.out_of_memory)));
  for (const analysis::DevicePeak& of : digest.devices)
    fact(i18n::Text("peak of ") + trace::NameOfDevice(*digest.whole, of.device),
         timeline::FormatBytes(of.peak.allocated));
  out.inferred = digest.inferred();
  const double whole = static_cast<double>(std::max<uint64_t>(digest.at_peak.allocated, 1));
  for (const Digest::Origin& o : digest.origins) {
    std::string rule = timeline::RuleText(o.rule);
    out.rules.push_back({fmt::format("{:.1f} %", 100 * static_cast<double>(o.bytes) / whole),
                         !rule.empty()      ? std::move(rule)
                         : digest.watched() ? i18n::Text("from PyTorch hooks")
                                            : i18n::Text("from the file")});
  }
  return out;
}

std::vector<timeline::StackLine> StackLinesOf(const Trace& trace, AllocationId id) {
  return timeline::StackLines(trace, timeline::StackOf(trace, id), 0);
}

Table PhaseTable(const Digest& digest, int64_t begin_ns, int64_t end_ns) {
  return PhaseTable(digest, begin_ns, end_ns, std::nullopt);
}

std::vector<Part> PartsOf(const analysis::CategoryBytes& bytes, uint64_t allocated,
                          const std::vector<Category>& all) {
  std::vector<Part> parts;
  const auto whole = static_cast<double>(std::max<uint64_t>(allocated, 1));
  for (int c = 0; c < trace::kCategoryCount; ++c)
    if (const uint64_t b = bytes[static_cast<size_t>(c)]; b > 0)
      parts.push_back({static_cast<Category>(c), b, static_cast<double>(b) / whole});
  std::sort(parts.begin(), parts.end(),
            [](const Part& x, const Part& y) { return x.bytes > y.bytes; });
  for (const Category c : all)
    if (bytes[static_cast<size_t>(c)] == 0) parts.push_back({c, 0, 0});
  return parts;
}

std::string ShortName(const Trace& trace, AllocationId id) {
  const auto& a = trace.allocations;
  std::string module = Text(trace.String(a.module[id.value]));
  const std::string op = Bare(trace.String(a.op[id.value]));
  for (std::string_view prefix : {"model.", "transformer."})
    if (module.rfind(prefix, 0) == 0) module.erase(0, prefix.size());
  if (module.empty() && op.empty()) return timeline::NameOf(trace, id);
  if (module.empty()) return op;
  return op.empty() ? module : fmt::format("{} · {}", module, op);
}

SelectionFacts FactsOf(const Trace& trace, AllocationId id) {
  const auto& a = trace.allocations;
  const uint32_t i = id.value;
  SelectionFacts out;
  out.title = ShortName(trace, id);
  out.category = a.main_category[i];
  out.facts.push_back({i18n::Text("requested"), timeline::FormatBytesExact(a.bytes[i])});
  out.facts.push_back({i18n::Text("block"), timeline::FormatBytesExact(a.bytes_rounded[i])});
  std::string category = Text(i18n::Text(trace::Name(a.main_category[i])));
  if (a.birth_category[i] != a.main_category[i])
    category += i18n::Format(", allocated as {}", i18n::Text(trace::Name(a.birth_category[i])));
  if (a.category[i] != a.main_category[i])
    category += i18n::Format(", at the end {}", i18n::Text(trace::Name(a.category[i])));
  out.facts.push_back({i18n::Text("category"), std::move(category)});
  if (std::string rule = timeline::CategoryRule(trace, id, a.main_category[i]); !rule.empty())
    out.facts.push_back({i18n::Text("inferred by"), std::move(rule)});
  const trace::Evidence evidence = trace::BlockEvidence(trace).Of(id);
  out.facts.push_back({i18n::Text(trace::Name(evidence.kind)), i18n::Shown(evidence.text)});
  if (trace.info.content == trace::Content::kRun) {  // a snapshot has no times
    out.facts.push_back({i18n::Text("allocated"), Moment(trace, a.alloc_event[i])});
    out.facts.push_back({i18n::Text("freed"), a.free_event[i] == trace::kNoEvent
                                                  ? std::string(i18n::Text("not in this trace"))
                                                  : Moment(trace, a.free_event[i])});
    out.facts.push_back({i18n::Text("lifetime"), Life(trace, id)});
  }
  if (a.segment[i].valid()) {
    const uint32_t s = a.segment[i].value;
    out.facts.push_back(
        {i18n::Text("segment"),
         i18n::Format("{} · {} pool", timeline::FormatBytes(trace.segments.bytes[s], true),
                      trace.segments.pool[s] == trace::Pool::kSmall ? i18n::Text("small")
                                                                    : i18n::Text("large"))});
  }
  out.facts.push_back({i18n::Text("address"), fmt::format("0x{:x}", a.address[i])});
  const trace::EventIndex e = a.alloc_event[i];
  if (const auto user = trace.String(trace.events.UserMetadataOf(e)); !user.empty())
    out.facts.push_back({i18n::Text("user metadata"), Text(user)});
  if (const auto compiled = trace.String(trace.events.CompileContextOf(e)); !compiled.empty())
    out.facts.push_back({i18n::Text("compile context"), Text(compiled)});
  const std::string module = Text(trace.String(a.module[i]));
  const std::string op = Text(trace.String(a.op[i]));
  out.facts.push_back({i18n::Text("module"), module.empty() ? "\u2013" : module});
  out.facts.push_back({i18n::Text("op"), op.empty() ? "\u2013" : op});
  return out;
}

}  // namespace vramscope::ui
