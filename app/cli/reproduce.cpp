// `reproduce [ID...]`: plans published experiments, and prints the planned figures beside the
// published figures.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "app/cli/worker_run.h"
#include "profiler/base/i18n.h"
#include "profiler/reproduce/report.h"
#include "profiler/reproduce/session.h"
#include "profiler/run/device_file.h"
#include "profiler/run/units.h"

namespace vramscope::cli::reproduce_command {
namespace {

using reproduce::Experiment;
using reproduce::Figure;
using reproduce::FigureResult;
using reproduce::Result;

struct Options {
  std::vector<std::string> ids;
  std::string output, device, gpu_memory;
  bool json = false;
};

// `id` is a full id ("A1-vanilla") or the prefix of several ids ("A1", "C").
bool Matches(const Experiment& experiment, const std::string& id) {
  if (experiment.id == id) return true;
  if (!experiment.id.starts_with(id) || id.empty()) return false;
  return id.size() == 1 || experiment.id[id.size()] == '-';
}

absl::StatusOr<std::vector<const Experiment*>> Chosen(const std::vector<std::string>& ids) {
  const auto documents = reproduce::Documents();
  if (!documents.ok()) return absl::InternalError(std::string(documents.status().message()));
  std::vector<const Experiment*> chosen;
  std::vector<std::string_view> names;
  std::vector<bool> used(ids.size());
  for (const reproduce::Document& document : **documents) {
    for (const Experiment& experiment : document.experiments) {
      names.push_back(experiment.id);
      bool wanted = ids.empty();
      for (size_t i = 0; i < ids.size(); ++i) {
        if (!Matches(experiment, ids[i])) continue;
        wanted = true;
        used[i] = true;
      }
      if (wanted) chosen.push_back(&experiment);
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (used[i]) continue;
    const std::string_view near = run::Nearest(ids[i], names.data(), names.data() + names.size());
    return absl::NotFoundError(i18n::Format(
        "no experiment is called \"{}\"{}", ids[i],
        near.empty() ? std::string(i18n::Text("; `vramscope reproduce` runs all experiments"))
                     : i18n::Format("; did you mean \"{}\"?", near)));
  }
  return chosen;
}

Json NumberOf(const Figure& figure, const std::optional<double>& value) {
  if (!value.has_value()) return Json();
  // Bytes and counts are integers; ratios and times are not.
  if (figure.unit == "x" || figure.unit == "ms") return Json(*value);
  return Json(static_cast<int64_t>(*value + (*value < 0 ? -0.5 : 0.5)));
}

Json FigureJson(const FigureResult& result) {
  const Figure& figure = *result.figure;
  Json json = {{"name", figure.name},
               {"counter", figure.counter},
               {"unit", figure.unit},
               {"published", NumberOf(figure, figure.published)},
               {"reference", NumberOf(figure, figure.reference)},
               {"predicted", NumberOf(figure, result.predicted)},
               {"error", result.error.has_value() ? Json(*result.error) : Json()},
               {"tolerance", reproduce::ToleranceText(figure)},
               {"least", NumberOf(figure, figure.least)},
               {"most", NumberOf(figure, figure.most)},
               {"within_tolerance", result.within.has_value() ? Json(*result.within) : Json()},
               {"judged", !figure.informative},
               {"why", figure.why},
               {"note", figure.note}};
  if (figure.formula.has_value()) {
    json["formula"] = figure.formula->text;
    for (const estimate::Term& term : figure.formula->terms)
      json["terms"].push_back({{"name", term.name}, {"what", term.what}, {"value", term.value}});
  } else {
    json["expression"] = figure.predict;
  }
  if (!result.missing.empty()) json["missing"] = result.missing;
  return json;
}

Json ExperimentJson(const Result& result, const reproduce::Session& session) {
  const Experiment& e = *result.experiment;
  Json json;
  json["id"] = e.id;
  json["title"] = e.title;
  json["document"] = e.document;
  json["kind"] = e.kind;
  json["state"] = result.state == reproduce::State::kDone     ? "run"
                  : result.state == reproduce::State::kPartly ? i18n::Text("partly run")
                                                              : i18n::Text("not run");
  json["lacks"] = result.lacks;
  // Adds the planned configuration, including the values that a search found.
  json["config"] = Json::object();
  for (const reproduce::ExperimentRun& run : e.runs) {
    Json settings = Json::object();
    for (const auto& [key, value] : session.SettingsOfRun(run)) settings[key] = value;
    if (run.name == "run") {
      json["config"] = std::move(settings);
    } else {
      json["compared_with"][run.name] = std::move(settings);
    }
  }
  // The keys at the top level are those of the main figure. The list contains all figures.
  const FigureResult* head = result.headline();
  json["figure"] = head == nullptr ? Json() : Json(head->figure->name);
  json["unit"] = head == nullptr ? Json() : Json(head->figure->unit);
  json["counter"] = head == nullptr ? Json() : Json(head->figure->counter);
  json["published"] = head == nullptr ? Json() : NumberOf(*head->figure, head->figure->published);
  json["predicted"] = head == nullptr ? Json() : NumberOf(*head->figure, head->predicted);
  json["error"] = head == nullptr || !head->error.has_value() ? Json() : Json(*head->error);
  json["tolerance"] = head == nullptr ? Json() : Json(reproduce::ToleranceText(*head->figure));
  json["within_tolerance"] = result.within.has_value() ? Json(*result.within) : Json();
  json["note"] = e.note;
  json["figures"] = Json::array();
  for (const FigureResult& figure : result.figures) json["figures"].push_back(FigureJson(figure));
  return json;
}

// Returns one line for each reason, because many experiments may not run for the same reason.
std::string NotRunText(const std::vector<Result>& results) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Result& result : results) {
    if (result.lacks.empty()) continue;
    const auto same =
        std::ranges::find(reasons, result.lacks, &std::pair<std::string, std::string>::first);
    if (same == reasons.end()) {
      reasons.emplace_back(result.lacks, result.experiment->id);
    } else {
      same->second += ", " + result.experiment->id;
    }
  }
  std::string text;
  for (const auto& [reason, ids] : reasons)
    text += Prose(i18n::Format("Experiments not run: {}. Reason: {}", ids, reason));
  return text;
}

// One line about a figure that is not within its tolerance.
std::string OffText(const Result& result, const FigureResult& of) {
  const Figure& figure = *of.figure;
  return Prose(i18n::Format(
      "{}: {} is {}, {} {}{}. {}", result.experiment->id, reproduce::ShownFigure(figure.name),
      reproduce::ValueText(figure, *of.predicted),
      figure.target().has_value() ? i18n::Format("compared with {}; tolerance:",
                                                 reproduce::ValueText(figure, *figure.target()))
                                  : i18n::Text("should be"),
      reproduce::ToleranceText(figure),
      figure.why.empty() ? std::string() : ": " + i18n::Text(figure.why),
      i18n::Text(result.experiment->note)));
}

std::string ResultsText(const std::vector<Result>& results, const reproduce::Session& session,
                        bool details) {
  std::string text;
  Table table({{i18n::Text("Experiment"), Table::kLeft, true},
               {i18n::Text("Title")},
               {i18n::Text("Figure")},
               {i18n::Text("Published"), Table::kRight},
               {i18n::Text("Planned"), Table::kRight},
               {i18n::Text("Error"), Table::kRight},
               {i18n::Text("Tolerance"), Table::kRight},
               {""}});
  for (const Result& result : results) {
    const Experiment& e = *result.experiment;
    for (const FigureResult& figure : result.figures) {
      const bool head = &figure == result.headline();
      if (!head && !details) continue;
      const std::optional<double> target = figure.figure->target();
      std::string against = target.has_value() ? reproduce::ValueText(*figure.figure, *target) : "";
      if (!figure.figure->published.has_value() && target.has_value())
        against = "(" + against + ")";
      table.Row(
          {head || !details ? e.id : "", head ? i18n::Text(e.title) : "",
           reproduce::ShownFigure(figure.figure->name), against,
           figure.predicted.has_value() ? reproduce::ValueText(*figure.figure, *figure.predicted)
                                        : "",
           reproduce::ErrorText(figure), reproduce::ToleranceText(*figure.figure),
           i18n::Text(details ? reproduce::VerdictText(figure) : reproduce::VerdictText(result))});
    }
  }
  text += table.Text() + "\n";
  if (!details) {
    for (const Result& result : results) {
      if (result.state != reproduce::State::kNotRun) {
        for (const FigureResult& figure : result.figures) {
          if (figure.within.value_or(true)) continue;
          text += OffText(result, figure);
        }
      }
    }
    text += NotRunText(results);
  } else {
    for (const Result& result : results) {
      if (!result.experiment->note.empty())
        text += Prose(
            fmt::format("{}: {}", result.experiment->id, i18n::Text(result.experiment->note)));
      for (const FigureResult& figure : result.figures) {
        if (figure.within.value_or(true) || figure.figure->why.empty()) continue;
        text += Prose(i18n::Format("{}, {}: {}.", result.experiment->id,
                                   reproduce::ShownFigure(figure.figure->name),
                                   i18n::Text(figure.figure->why)));
      }
      if (!result.lacks.empty())
        text +=
            Prose(i18n::Format("{} was not run. Reason: {}", result.experiment->id, result.lacks));
    }
  }
  for (const reproduce::Solved& solved : session.solved())
    text += Prose(reproduce::SolvedText(solved) + ".");
  const reproduce::Score score = reproduce::ScoreOf(results);
  text += Prose(i18n::Format(
      "{} experiments: {} were run completely, {} were not run. Experiments with published values: "
      "{} of {} are within tolerance. Expected relations, for example that one run needs less "
      "memory than another: {} of {} hold. (Values in parentheses in the table were not published. "
      "They come from a model of the program's memory, written in Python.)",
      score.experiments, score.done, score.not_run, score.published_within, score.published,
      score.bounds_hold, score.bounds));
  return text;
}

// Returns the GPU of --device and --gpu-memory in the form of the device table, or "" for the GPU
// of the publication.
absl::StatusOr<std::string> DeviceOf(const Options& options) {
  if (options.device.empty()) return std::string();
  absl::StatusOr<std::string> text = run::DeviceTextOf(options.device);
  if (text.ok() && !options.gpu_memory.empty()) text = run::WithMemory(*text, options.gpu_memory);
  if (!text.ok()) return text;
  const absl::StatusOr<run::Device> device = run::ReadDevice(*text);
  if (!device.ok()) return device.status();
  return device->key;
}

ExitCode Execute(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.json && options.output == "-") {
    NoteError(i18n::Text("--json and -o - both write to standard output; choose one"));
    return kUsage;
  }
  const absl::StatusOr<std::vector<const Experiment*>> chosen = Chosen(options.ids);
  if (!chosen.ok()) {
    NoteError(std::string(chosen.status().message()));
    return absl::IsInternal(chosen.status()) ? kInternalFailure : kUsage;
  }
  if (options.device.empty() && !options.gpu_memory.empty()) {
    NoteError(i18n::Text("--gpu-memory needs a GPU; name the GPU with --device"));
    return kUsage;
  }
  if (WouldReplaceInput(options.output, {options.device})) return kUsage;
  const absl::StatusOr<std::string> device = DeviceOf(options);
  if (!device.ok()) return ReportError(device.status());
  if (const absl::Status wrong = CheckOutput(options.output); !wrong.ok())
    return ReportError(wrong);
  reproduce::Session session(*chosen, {.pictures = !options.output.empty(), .device = *device});
  if (!session.done()) {
    Planner planner;
    std::string latest;
    const absl::Status status = planner.Drain(
        [&]() -> std::optional<Planner::Job> {
          std::optional<reproduce::Job> job = session.Next();
          if (!job.has_value()) return std::nullopt;
          latest = job->what;
          return Planner::Job{job->id, std::move(job->config)};
        },
        [&](size_t id, const WorkerRun& run) { session.Finished(id, run.status, run.trace.get()); },
        [&] {
          return Planner::Progress{
              static_cast<double>(session.finished()) / static_cast<double>(session.known()),
              i18n::Format("run {}/{} {}", session.finished() + 1, session.known(), latest)};
        });
    if (!status.ok()) return ReportError(status);
  }
  const std::vector<Result> results = session.Results();
  if (!options.output.empty()) {
    const absl::Status written = WriteStream(options.output, [&](std::ostream& out) {
      out << reproduce::HtmlReport(session, results);
      return absl::OkStatus();
    });
    if (!written.ok()) return ReportError(written);
    if (options.output == "-") return kDone;
  }
  if (!device->empty())
    Note(
        i18n::Format("the plans are for {}, not for the GPUs of the publications; published values "
                     "are shown, but without a verdict",
                     *device));
  if (!options.json) {
    // A small selection of experiments is printed in full.
    return PrintText(ResultsText(results, session, !options.ids.empty() && results.size() <= 12));
  }
  Json json;
  json["experiments"] = Json::array();
  for (const Result& result : results)
    json["experiments"].push_back(ExperimentJson(result, session));
  json["solved"] = Json::array();
  for (const reproduce::Solved& solved : session.solved()) {
    json["solved"].push_back({{"name", solved.open->name},
                              {"what", solved.open->what},
                              {"from", solved.open->experiment},
                              {"figure", solved.open->figure},
                              {"value", solved.value.has_value() ? Json(*solved.value) : Json()},
                              {"error", std::string(solved.status.message())}});
  }
  const reproduce::Score score = reproduce::ScoreOf(results);
  json["summary"] = {{"experiments", score.experiments},
                     {"run", score.done},
                     {"not_run", score.not_run},
                     {"published", score.published},
                     {"published_within", score.published_within},
                     {"orders", score.bounds},
                     {"orders_hold", score.bounds_hold}};
  json["device"] = device->empty() ? Json() : Json(*device);
  json["assumptions"] = Json::array();
  for (const reproduce::Solved& solved : session.solved()) {
    json["assumptions"].push_back({{"what", reproduce::SolvedText(solved)},
                                   {"where", "resources/experiments"},
                                   {"bytes", Json()}});
  }
  json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return PrintJson(json);
}

void DeclareReproduce(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("ID", options->ids,
                      "experiments: one (A1-vanilla), a group (A1), or a whole document (C). "
                      "Default: all experiments");
  command->add_option("-o,--output", options->output, "write an HTML report with pictures")
      ->type_name("REPORT.html");
  command
      ->add_option(
          "--device", options->device,
          "plan for this GPU instead of the publications' GPUs: a name in `vramscope devices`, a "
          "MIG slice, a file or properties. Published values are then shown without a verdict")
      ->type_name("GPU");
  command->add_option("--gpu-memory", options->gpu_memory, kGpuMemoryHelp)->type_name("SIZE");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_reproduce() {
  return {
      .place = 160,
      .name = "reproduce",
      .help =
          "plan published experiments, and compare the predicted values with the published values",
      .example = "reproduce A1-vanilla A2-half -o report.html",
      .declare = DeclareReproduce};
}

}  // namespace vramscope::cli::reproduce_command
