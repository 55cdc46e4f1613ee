// `info FILE`: what is in it.
#include "app/cli/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

struct Options {
  std::string file;
  bool json = false;
};

size_t CountSteps(const trace::Trace& trace) {
  return static_cast<size_t>(
      std::count(trace.slices.kind.begin(), trace.slices.kind.end(), trace::SliceKind::kStep));
}

Json InfoJson(const trace::Trace& trace) {
  const analysis::Peak peak = analysis::FindPeak(trace, analysis::ComputeCurves(trace));
  Json json;
  json["kind"] = "trace";
  json["events"] = trace.events.size();
  json["devices"] = Json::array();
  if (!trace.info.device.name.empty()) json["devices"].push_back(trace.info.device.name);
  json["steps"] = CountSteps(trace);
  json["time_span_ns"] = trace.end_ns() - trace.begin_ns();
  json["peak"] = {{"allocated", peak.allocated}, {"reserved", peak.reserved}};
  json["warnings"] = trace.warnings;
  json["truncated"] = !trace.complete;
  json["end_message"] = trace.end_message;
  json["backend"] = std::string(trace::Name(trace.info.backend));
  json["measured"] = trace.info.measured;
  json["producer"] = trace.info.producer;
  json["title"] = trace.info.title;
  json["model"] = trace.info.model.name;
  json["parameters"] = {{"count", trace.info.model.parameter_count},
                        {"trainable", trace.info.model.trainable_count},
                        {"bytes", trace.info.model.parameter_bytes}};
  json["allocations"] = trace.allocations.size();
  json["segments"] = trace.segments.size();
  json["slices"] = trace.slices.size();
  json["start_unix_ns"] = trace.info.start_unix_ns;
  if (trace.info.has_config) {
    json["config"] = Json::parse(run::ToJson(trace.info.config), nullptr, false);
  }
  return json;
}

std::string InfoText(const std::string& file, const trace::Trace& trace) {
  const analysis::Peak peak = analysis::FindPeak(trace, analysis::ComputeCurves(trace));
  std::string text = fmt::format(
      "{}: a trace of the {} backend ({}), written by {}\n", Printable(DisplayName(file)),
      trace::Name(trace.info.backend), trace.info.measured ? "measured" : "modelled",
      trace.info.producer.empty() ? "an unknown program" : Printable(trace.info.producer));
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", what, Printable(value));
  };
  if (!trace.info.model.name.empty()) {
    line("model", fmt::format("{}, {} parameters ({} trainable), {}", trace.info.model.name,
                              Count(trace.info.model.parameter_count),
                              Count(trace.info.model.trainable_count),
                              run::FormatBytes(trace.info.model.parameter_bytes)));
  }
  if (!trace.info.device.name.empty()) {
    line("device", fmt::format("{}, {}", trace.info.device.name,
                               run::FormatBytes(trace.info.device.memory_bytes)));
  }
  line("time", Milliseconds(static_cast<double>(trace.end_ns() - trace.begin_ns()) / 1e6));
  line("events", fmt::format("{} ({} allocations, {} segments, {} slices)",
                             Count(trace.events.size()), Count(trace.allocations.size()),
                             Count(trace.segments.size()), Count(trace.slices.size())));
  line("steps", fmt::format("{}", CountSteps(trace)));
  line("peak", fmt::format("{} allocated, {} reserved ({})", run::FormatBytes(peak.allocated),
                           run::FormatBytes(peak.reserved), ContextText(peak.context)));
  line("complete",
       trace.complete ? "yes" : "no" + (trace.end_message.empty() ? "" : ": " + trace.end_message));
  for (const std::string& warning : trace.warnings) line("warning", warning);
  return text;
}

}  // namespace

ExitCode ShowInfo(const std::string& file, bool json) {
  const auto trace = OpenTrace(file);
  if (!trace.ok()) return ReportError(trace.status());
  return json ? PrintJson(InfoJson(**trace)) : PrintText(InfoText(file, **trace));
}

void RegisterInfo(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("info", "what is in a trace");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "a .trace ('-': standard input)")->required();
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &context] { context.exit_code = ShowInfo(options->file, options->json); });
}

}  // namespace vramscope::cli
