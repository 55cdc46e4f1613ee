#include "app/cli/summary.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "app/cli/format.h"
#include "profiler/base/i18n.h"
#include "profiler/program/verdict.h"
#include "profiler/query/device_times.h"
#include "profiler/run/seq.h"
#include "profiler/run/units.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/block_evidence.h"
#include "profiler/trace/counters.h"
#include "profiler/trace/processes.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli {
namespace {

using analysis::Summary;
using run::FormatBytes;

std::string SettingsText(const run::RunConfig& c) {
  std::string text = i18n::Format("batch {} x seq {}", c.batch, run::ShortSeqText(c));
  if (c.micro_batches > 1) text += i18n::Format(" in {} micro-batches", c.micro_batches);
  text += i18n::Format(", {} step{}, {}, {} attention, {} ({})", c.steps, c.steps == 1 ? "" : "s",
                       c.Get("precision"), c.Get("attention"), c.Get("optimizer.name"),
                       c.Get("optimizer.impl"));
  if (c.Is("checkpointing.mode", "every-k")) {
    text += c.Is("checkpointing.k", "1")
                ? i18n::Text(", checkpointing every layer")
                : i18n::Format(", checkpointing every {} layers", c.Get("checkpointing.k"));
  } else if (c.Is("checkpointing.mode", "layer")) {
    text += i18n::Text(", checkpointing every layer");
  }
  if (!c.Is("lora.rank", "0")) {
    text += i18n::Format(", {} rank {} on {}", c.Is("lora.kind", "dora") ? "DoRA" : "LoRA",
                         c.Get("lora.rank"), c.Get("lora.targets"));
  }
  // The settings that the text describes in words. All other settings are printed as key=value.
  constexpr std::string_view kSaid[] = {"precision",      "attention",          "optimizer.name",
                                        "optimizer.impl", "checkpointing.mode", "checkpointing.k",
                                        "lora.rank",      "lora.targets",       "lora.kind",
                                        "lengths",        "samples.file"};
  for (const auto& [key, value] : c.settings) {
    if (std::find(std::begin(kSaid), std::end(kSaid), key) != std::end(kSaid)) continue;
    text += fmt::format(", {}={}", key, value);
  }
  return text;
}

std::string FitText(const trace::Trace& trace, const Summary& summary) {
  const run::DeviceProfile& device = trace.info.device;
  const uint64_t headroom = summary.headroom_bytes < 0
                                ? uint64_t{0} - static_cast<uint64_t>(summary.headroom_bytes)
                                : static_cast<uint64_t>(summary.headroom_bytes);
  // `explain` prints what NVML reported for memory outside the allocator.
  if (trace.info.measured)
    return i18n::Format(
        "Ran on {}: at most {} of the GPU's {} were reserved, not counting the CUDA context.",
        device.name, FormatBytes(summary.peak.reserved), FormatBytes(device.memory_bytes));
  const std::string parts =
      i18n::Format("{} + {} CUDA context, of {}", UseText(summary.most_used),
                   FormatBytes(device.context_bytes), FormatBytes(device.memory_bytes));
  // Mentions failed allocations, because no figure includes them.
  const auto& kinds = trace.events.kind;
  const auto first = std::find(kinds.begin(), kinds.end(), trace::EventKind::kOutOfMemory);
  const auto refused = std::count(first, kinds.end(), trace::EventKind::kOutOfMemory);
  const std::string request = i18n::Format(
      "{} failed{}",
      first == kinds.end()
          ? i18n::Text("an allocation")
          : i18n::Format(
                "an allocation of {}",
                FormatBytes(trace.events.bytes[static_cast<size_t>(first - kinds.begin())])),
      refused > 1 ? i18n::Format(", the first of {} failures", refused) : "");
  if (summary.fits)
    return i18n::Format(
        "Fits on {}: {} to spare ({}).{}", device.name, FormatBytes(headroom), parts,
        summary.went_on
            ? i18n::Format(" During the run, {}; the program caught the error and continued.",
                           request)
            : std::string());
  if (summary.headroom_bytes < 0)
    return i18n::Format("Does not fit on {}: {} too much ({}).", device.name, FormatBytes(headroom),
                        parts);
  return i18n::Format("Does not fit on {}: {} ({}).", device.name, request, parts);
}

// Returns the loss of each step. A run that computes values records each loss as a marker.
std::vector<double> Losses(const trace::Trace& trace) {
  constexpr std::string_view kPrefix = "loss=";
  std::vector<double> losses;
  for (const trace::Marker& marker : trace.markers) {
    const std::string text(trace.String(marker.name));
    double loss = 0;
    if (text.starts_with(kPrefix) &&
        absl::SimpleAtod(absl::string_view(text).substr(kPrefix.size()), &loss)) {
      losses.push_back(loss);
    }
  }
  return losses;
}

// Returns an entry for each step, or nothing if the trace does not record when the GPU was busy.
std::vector<query::DeviceTimes> DeviceTimesOf(const trace::Trace& trace, size_t steps) {
  if (!trace.info.has_times || steps == 0 || trace.activities.size() == 0) return {};
  // The index gets a pointer that does not own the trace, because the trace outlives the index.
  const std::shared_ptr<const trace::Trace> borrowed(std::shared_ptr<void>(), &trace);
  std::vector<query::DeviceTimes> times = query::DeviceTimesOfSteps(query::ActivityIndex(borrowed));
  if (times.size() != steps) times.clear();
  return times;
}

}  // namespace

std::string UseText(const analysis::GpuUse& use) {
  if (use.past_allocator == 0)
    return i18n::Format("{} reserved at most", FormatBytes(use.reserved));
  return i18n::Format("{} reserved + {} outside the allocator at the same time",
                      FormatBytes(use.reserved), FormatBytes(use.past_allocator));
}

Json CountersJson(const trace::Trace& trace) {
  Json json = Json::array();
  for (const trace::CounterSummary& c : trace::SummarizeCounters(trace))
    json.push_back({{"counter", c.counter},
                    {"device", c.device},
                    {"readings", c.readings},
                    {"last", c.last.bytes},
                    {"most", c.most},
                    {"last_ns", c.last.time_ns}});
  return json;
}

std::string CountersText(const trace::Trace& trace) {
  const std::vector<trace::CounterSummary> counters = trace::SummarizeCounters(trace);
  if (counters.empty()) return "";
  Table table({{i18n::Text("Counter read by the program")},
               {i18n::Text("Device")},
               {i18n::Text("Last value"), Table::kRight},
               {i18n::Text("At"), Table::kRight},
               {i18n::Text("Maximum"), Table::kRight},
               {i18n::Text("Readings"), Table::kRight}});
  for (const trace::CounterSummary& c : counters)
    table.Row({Printable(c.counter) + "()", trace::NameOfDevice(trace, c.device),
               FormatBytes(c.last.bytes), TimeText(trace, c.last.time_ns), FormatBytes(c.most),
               Count(c.readings)});
  return table.Text();
}

Json AssumptionsJson(const std::vector<run::Assumption>& assumptions) {
  Json json = Json::array();
  for (const run::Assumption& a : assumptions) {
    json.push_back(
        {{"what", a.what}, {"where", a.where}, {"bytes", a.bytes > 0 ? Json(a.bytes) : Json()}});
  }
  return json;
}

Json EvidenceJson(const trace::Evidence& evidence) {
  return {{"kind", std::string(trace::Name(evidence.kind))},
          {"text", evidence.text},
          {"where", evidence.source.empty() ? Json() : Json(evidence.source)}};
}

std::string AssumptionsText(const std::vector<run::Assumption>& assumptions) {
  if (assumptions.empty()) return "";
  std::string text = i18n::Text("\n  Assumed:\n");
  for (const run::Assumption& a : assumptions) {
    text += Prose(fmt::format("- {}{}{}", i18n::Shown(a.what),
                              a.bytes > 0 ? ": " + FormatBytes(a.bytes) : "",
                              a.where.empty() ? "" : fmt::format(" ({})", i18n::Shown(a.where))));
  }
  return text;
}

Json CategoriesJson(const analysis::CategoryBytes& categories) {
  Json json = Json::object();
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (categories[c] > 0)
      json[std::string(trace::Name(static_cast<trace::Category>(c)))] = categories[c];
  }
  return json;
}

Json ContextJson(const trace::Trace& trace, const analysis::Context& context) {
  Json json;
  json["step"] = context.step < 0 ? Json() : Json(context.step);
  json["micro_batch"] = context.micro_batch < 0 ? Json() : Json(context.micro_batch);
  json["phase"] = std::string(trace::Name(context.phase));
  json["module"] = context.module;
  json["op"] = context.op;
  json["time_ns"] = trace.info.has_times ? Json(context.time_ns) : Json();
  if (!trace.info.has_times) json["entry"] = context.time_ns;
  return json;
}

std::string ContextText(const analysis::Context& context) {
  std::string text =
      context.step < 0 ? i18n::Text("outside the steps") : i18n::Format("step {}", context.step);
  if (context.micro_batch > 0) text += i18n::Format(", micro-batch {}", context.micro_batch);
  if (context.phase != trace::Phase::kNone)
    text += fmt::format(", {}", i18n::Text(trace::Name(context.phase)));
  if (!context.module.empty()) text += ", " + context.module;
  if (!context.op.empty()) text += ", " + context.op;
  return Printable(text);
}

std::string TimeText(const trace::Trace& trace, int64_t time_ns) {
  return trace.info.has_times ? Milliseconds(static_cast<double>(time_ns) / 1e6)
                              : i18n::Format("entry {}", time_ns);
}

std::string TimeAndContextText(const trace::Trace& trace, const analysis::Context& context) {
  if (trace.info.content == trace::Content::kState) return i18n::Text("the time of the snapshot");
  return TimeText(trace, context.time_ns) + ", " + ContextText(context);
}

std::string PeakText(const trace::Trace& trace, const analysis::Peak& peak) {
  const bool state = trace.info.content == trace::Content::kState;
  const std::string where = state ? "" : " (" + ContextText(peak.context) + ")";
  std::string allocated = i18n::Format("{} allocated", FormatBytes(peak.allocated));
  if (const uint64_t counted = analysis::MostByCounter(trace); counted < peak.allocated)
    allocated = i18n::Format("{} active ({} according to torch.cuda.max_memory_allocated())",
                             FormatBytes(peak.allocated), FormatBytes(counted));
  if (trace::IsOfHostMemory(trace) && trace.segments.size() == 0) return allocated + where;
  if (trace::SegmentRecordOf(trace) == trace::SegmentRecord::kNone)
    return allocated + where + i18n::Text("; reserved memory is not recorded");
  if (peak.reserved_then == peak.reserved)
    return i18n::Format("{}, {} reserved{}", allocated, FormatBytes(peak.reserved), where);
  return i18n::Format("{} with {} reserved{}; the peak of reserved memory is at another time: {}",
                      allocated, FormatBytes(peak.reserved_then), where,
                      FormatBytes(peak.reserved));
}

Json StepsJson(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps) {
  const auto timed = [&](auto value) { return trace.info.has_times ? Json(value) : Json(); };
  const std::vector<query::DeviceTimes> gpu = DeviceTimesOf(trace, steps.size());
  Json json = Json::array();
  for (const analysis::StepRow& step : steps) {
    Json row = {{"index", step.index},
                {"peak_allocated", step.peak_allocated},
                {"peak_reserved", step.peak_reserved},
                {"peak_phase", std::string(trace::Name(step.peak_phase))},
                {"begin_ns", timed(step.begin_ns)},
                {"end_ns", timed(step.end_ns)}};
    for (const query::PhaseTime& t :
         query::TimesOf(step, gpu.empty() ? nullptr : &gpu[json.size()])) {
      row[std::string(t.host) + "_ms"] = timed(t.host_ms);
      if (t.gpu_ms) row["device"][std::string(t.gpu) + "_ms"] = *t.gpu_ms;
    }
    json.push_back(std::move(row));
  }
  return json;
}

std::string StepsTable(const trace::Trace& trace, const std::vector<analysis::StepRow>& steps) {
  if (!trace.info.has_times) {
    Table table({{i18n::Text("Step"), Table::kRight}, {i18n::Text("Peak"), Table::kRight}, {"in"}});
    for (const analysis::StepRow& step : steps)
      table.Row({fmt::format("{}", step.index), FormatBytes(step.peak_allocated),
                 i18n::Text(trace::Name(step.peak_phase))});
    return table.Text();
  }
  // The GPU's busy time is shown if it is known, because the host runs ahead of the GPU.
  const std::vector<query::DeviceTimes> gpu = DeviceTimesOf(trace, steps.size());
  const bool trains = query::HasPhases(steps);
  std::vector<Table::Column> columns = {{i18n::Text("Step"), Table::kRight}};
  if (trains)
    for (const std::string& name :
         {i18n::Text("Forward"), i18n::Text("Backward"), i18n::Text("Optimizer")})
      columns.push_back({name, Table::kRight});
  if (!gpu.empty()) columns.push_back({i18n::Text("Busy"), Table::kRight});
  for (const std::string& name : {i18n::Text("Total"), i18n::Text("Peak")})
    columns.push_back({name, Table::kRight});
  columns.push_back({i18n::Text("in")});
  Table table(columns);
  for (size_t i = 0; i < steps.size(); ++i) {
    const analysis::StepRow& step = steps[i];
    std::vector<std::string> cells = {fmt::format("{}", step.index)};
    const auto times = query::TimesOf(step, gpu.empty() ? nullptr : &gpu[i]);
    for (const query::PhaseTime& t : times)
      if (&t == &times.back() ? t.gpu_ms.has_value() : trains)
        cells.push_back(Milliseconds(t.gpu_ms.value_or(t.host_ms)));
    cells.push_back(Milliseconds(times.back().host_ms));
    cells.push_back(FormatBytes(step.peak_allocated));
    cells.emplace_back(i18n::Text(trace::Name(step.peak_phase)));
    table.Row(cells);
  }
  return table.Text() + (gpu.empty()
                             ? ""
                             : i18n::Text("  The phase columns show the GPU time of the work that "
                                          "the phase launched. Busy also shows GPU time, and Total "
                                          "shows host time. The host runs ahead of the GPU.\n"));
}

Json SummaryJson(const trace::Trace& trace, const Summary& summary) {
  const trace::TraceInfo& info = trace.info;
  Json json;
  json["backend"] = std::string(trace::Name(info.backend));
  json["measured"] = info.measured;
  json["device"] = info.device.key;
  json["device_name"] = info.device.name;
  json["device_memory"] = info.device.memory_bytes;
  json["device_context"] = info.device.context_bytes;
  json["model"] = info.model.name;
  json["parameters"] = {{"count", info.model.parameter_count},
                        {"trainable", info.model.trainable_count},
                        {"bytes", info.model.parameter_bytes}};
  const auto pair = [](const analysis::MemoryPair& memory) {
    return Json{{"allocated", memory.allocated}, {"reserved", memory.reserved}};
  };
  json["before_training"] = pair(summary.before_training);
  json["after_training"] = pair(summary.after_training);
  Json peak{{"allocated", summary.peak.allocated},
            {"reserved", summary.peak.reserved},
            {"reserved_then", summary.peak.reserved_then},
            {"max_memory_allocated", analysis::MostByCounter(trace)}};
  peak.update(ContextJson(trace, summary.peak.context));
  json["peak"] = std::move(peak);
  json["program_counters"] = CountersJson(trace);
  json["peak_by_category"] = CategoriesJson(summary.peak.by_category);
  json["steps"] = StepsJson(trace, summary.steps);
  if (const std::vector<double> losses = Losses(trace); !losses.empty()) json["loss"] = losses;
  json["events"] = summary.events;
  json["fits"] = summary.fits;
  json["headroom"] = summary.headroom_bytes;
  json["past_allocator"] = summary.most_used.past_allocator;
  json["out_of_memory"] = summary.out_of_memory;
  json["went_on"] = summary.went_on;
  json["complete"] = trace.complete;
  json["assumptions"] = AssumptionsJson(trace::AssumptionsOf(trace));
  if (info.has_config) json["config"] = Json::parse(run::ToJson(info.config), nullptr, false);
  return json;
}

std::string SummaryText(const trace::Trace& trace, const Summary& summary) {
  const trace::TraceInfo& info = trace.info;
  // If the program called no module, there is no model to name.
  const std::string name =
      info.model.name.empty() ? program::ShortCommand(info.title) : info.model.name;
  std::string text =
      i18n::Format("{}, {} backend ({}), {}\n", Printable(name), trace::Name(info.backend),
                   i18n::Text(info.measured ? TEXT_MARK("measured") : TEXT_MARK("modelled")),
                   Printable(info.device.name));
  if (info.has_config) text += "  " + Printable(SettingsText(info.config)) + "\n";
  text +=
      i18n::Format("  {} parameters ({} trainable), size {}\n\n", Count(info.model.parameter_count),
                   Count(info.model.trainable_count), FormatBytes(info.model.parameter_bytes));

  Table memory({{i18n::Text("Memory")},
                {i18n::Text("Allocated"), Table::kRight},
                {i18n::Text("Reserved"), Table::kRight}});
  memory.Row({i18n::Text("before training"), FormatBytes(summary.before_training.allocated),
              FormatBytes(summary.before_training.reserved)});
  memory.Row({i18n::Text("after training"), FormatBytes(summary.after_training.allocated),
              FormatBytes(summary.after_training.reserved)});
  const bool at_once = summary.peak.reserved_then == summary.peak.reserved;
  memory.Row({at_once ? i18n::Text("peak") : i18n::Text("peak allocated"),
              FormatBytes(summary.peak.allocated), FormatBytes(summary.peak.reserved_then)});
  if (!at_once) memory.Row({i18n::Text("peak reserved"), "", FormatBytes(summary.peak.reserved)});
  text += memory.Text();
  if (const uint64_t counted = analysis::MostByCounter(trace); counted < summary.peak.allocated)
    text += Prose(i18n::Format(
        "Allocated bytes are active bytes here: they include freed blocks that another stream "
        "still uses. torch.cuda.max_memory_allocated() leaves these blocks out and reports {}.",
        FormatBytes(counted)));
  if (const std::string counters = CountersText(trace); !counters.empty()) text += "\n" + counters;
  text += "\n";

  text += i18n::Format("  At the peak ({}):\n", ContextText(summary.peak.context));
  Table peak({{i18n::Text("Category")},
              {i18n::Text("Bytes"), Table::kRight},
              {i18n::Text("Share"), Table::kRight}});
  std::vector<int> order;
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (summary.peak.by_category[c] > 0) order.push_back(c);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return summary.peak.by_category[a] > summary.peak.by_category[b];
  });
  for (int c : order) {
    const uint64_t bytes = summary.peak.by_category[c];
    peak.Row({i18n::Text(trace::Name(static_cast<trace::Category>(c))), FormatBytes(bytes),
              fmt::format("{:.1f} %", 100.0 * static_cast<double>(bytes) /
                                          static_cast<double>(summary.peak.allocated))});
  }
  text += peak.Text() + "\n" + StepsTable(trace, summary.steps) + "\n";
  if (const std::vector<double> losses = Losses(trace); !losses.empty()) {
    text += i18n::Format("  Loss: {:.4f} in the first step, {:.4f} in the last step\n",
                         losses.front(), losses.back());
  }
  // A run on the CPU does not show whether the same run fits into a GPU.
  if (info.device.memory_bytes > 0 && info.backend != trace::Backend::kCpu)
    text += "  " + FitText(trace, summary) + "\n";
  return text + AssumptionsText(trace::AssumptionsOf(trace));
}

}  // namespace vramscope::cli
