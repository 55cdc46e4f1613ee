#include "profiler/reproduce/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/exporters/memory_svg.h"
#include "profiler/reproduce/demos.h"

namespace vramscope::reproduce {
namespace {

const Document* DocumentOf(const Experiment& experiment) {
  const auto documents = Documents();
  if (!documents.ok()) return nullptr;
  for (const Document& document : **documents) {
    if (document.letter == experiment.document) return &document;
  }
  return nullptr;
}

}  // namespace

Session::Session(std::vector<const Experiment*> experiments, SessionOptions options)
    : experiments_(std::move(experiments)), options_(std::move(options)) {
  for (const Experiment* experiment : experiments_) {
    const Document* document = DocumentOf(*experiment);
    for (const ExperimentRun& run : experiment->runs) {
      for (const std::string& name : OpenNames(run)) {
        if (document == nullptr) continue;
        const auto open = std::ranges::find(document->open, name, &Open::name);
        if (open == document->open.end()) continue;
        if (std::ranges::find(solved_, &*open, &Solved::open) != solved_.end()) continue;
        solved_.push_back({&*open, std::nullopt, absl::OkStatus()});
        Search search;
        search.solved = solved_.size() - 1;
        search.low = open->low;
        search.high = open->high;
        const auto from =
            std::ranges::find(document->experiments, open->experiment, &Experiment::id);
        if (from != document->experiments.end()) {
          search.experiment = &*from;
          const auto figure = std::ranges::find(from->figures, open->figure, &Figure::name);
          if (figure != from->figures.end()) search.figure = &*figure;
        }
        searches_.push_back(std::move(search));
      }
    }
  }
  for (Search& search : searches_) StartSearch(search);
  for (const Experiment* experiment : experiments_) Require(*experiment);
}

// Returns the run's configuration, with the GPU that the options request, if any.
absl::StatusOr<run::RunConfig> Session::PlannedAs(const ExperimentRun& run,
                                                  const Values& open) const {
  absl::StatusOr<run::RunConfig> config = ConfigOf(run, open);
  if (config.ok() && !options_.device.empty()) {
    config->device = options_.device;
    config->custom_device = {};
  }
  return config;
}

size_t Session::Need(const run::RunConfig& config, const std::string& what) {
  const auto [row, added] = by_config_.try_emplace(run::ToJson(config), runs_.size());
  if (added) {
    runs_.push_back({.config = config, .what = what, .status = {}, .quantities = {}, .svg = {}});
  }
  return row->second;
}

Values Session::OpenValues() const {
  Values values;
  for (const Solved& solved : solved_) {
    if (solved.value.has_value()) values.emplace_back(solved.open->name, *solved.value);
  }
  return values;
}

bool Session::Resolved(const ExperimentRun& run) const {
  const Values values = OpenValues();
  return std::ranges::all_of(OpenNames(run), [&](const std::string& name) {
    return std::ranges::find(values, name, &Values::value_type::first) != values.end();
  });
}

// Adds those runs of an experiment whose open values are known.
void Session::Require(const Experiment& experiment) {
  if (!experiment.lacks.empty()) return;
  for (const ExperimentRun& run : experiment.runs) {
    if (!Resolved(run)) continue;
    const absl::StatusOr<run::RunConfig> config = PlannedAs(run, OpenValues());
    if (config.ok()) Need(*config, experiment.id);
  }
}

void Session::StartSearch(Search& search) {
  if (search.figure == nullptr || !search.figure->published.has_value()) {
    Settle(search, std::nullopt,
           absl::InternalError(i18n::Text("the experiment does not name the value to solve for")));
    return;
  }
  Continue(search);
}

// Makes one step of a bisection. Assumes that memory grows with the open value.
void Session::Continue(Search& search) {
  const double target = *search.figure->published;
  const auto nearest = [&] {
    return std::ranges::min_element(search.seen, {},
                                    [&](const auto& row) { return std::abs(row.second - target); })
        ->first;
  };
  if (search.high - search.low < 2 && search.seen.contains(search.low) &&
      search.seen.contains(search.high)) {
    Settle(search, nearest(), absl::OkStatus());
    return;
  }
  search.trying = !search.seen.contains(search.low)    ? search.low
                  : !search.seen.contains(search.high) ? search.high
                                                       : (search.low + search.high) / 2;
  Values values = OpenValues();
  values.emplace_back(solved_[search.solved].open->name, search.trying);
  const std::vector<ExperimentRun>& runs = search.experiment->runs;
  const auto named =
      std::ranges::find(runs, solved_[search.solved].open->run, &ExperimentRun::name);
  const ExperimentRun& run = named == runs.end() ? runs.front() : *named;
  const absl::StatusOr<run::RunConfig> config = ConfigOf(run, values);
  if (!config.ok()) {
    Settle(search, std::nullopt, config.status());
    return;
  }
  search.run = Need(*config, fmt::format("{} ({} = {})", search.experiment->id,
                                         solved_[search.solved].open->name, search.trying));
}

void Session::Settle(Search& search, std::optional<int> value, const absl::Status& status) {
  search.run.reset();
  solved_[search.solved].value = value;
  solved_[search.solved].status = status;
  for (const Experiment* experiment : experiments_) Require(*experiment);
}

std::optional<Job> Session::Next() {
  // Searches come first: each of their runs depends on the run before it, so they take longest.
  for (const Search& search : searches_) {
    if (!search.run.has_value() || runs_[*search.run].state != RunState::kWaiting) continue;
    runs_[*search.run].state = RunState::kRunning;
    return Job{*search.run, runs_[*search.run].config, runs_[*search.run].what};
  }
  for (size_t row = 0; row < runs_.size(); ++row) {
    if (runs_[row].state != RunState::kWaiting) continue;
    runs_[row].state = RunState::kRunning;
    return Job{row, runs_[row].config, runs_[row].what};
  }
  return std::nullopt;
}

void Session::Finished(size_t id, const absl::Status& status, const trace::Trace* trace) {
  if (id >= runs_.size() || runs_[id].state == RunState::kEnded) return;
  PlannedRun& run = runs_[id];
  run.state = RunState::kEnded;
  ++finished_;
  run.status = status;
  // A run that ends early because the GPU is too small is a valid result.
  const bool told = trace != nullptr && (status.ok() || absl::IsResourceExhausted(status));
  if (told) {
    run.quantities = QuantitiesOf(*trace);
    if (run.quantities.Of("out_of_memory").value_or(0) > 0) run.status = absl::OkStatus();
    if (options_.pictures) run.svg = exporters::MemorySvg(*trace);
  } else if (status.ok()) {
    run.status = absl::InternalError(i18n::Text("the run produced no trace"));
  }
  for (Search& search : searches_) {
    if (search.run != id) continue;
    if (!runs_[id].status.ok()) {
      Settle(search, std::nullopt, runs_[id].status);
      continue;
    }
    const Values none;
    std::vector<estimate::Term> terms;
    for (const Quantity& quantity : runs_[id].quantities.all)
      terms.push_back({quantity.name, "", quantity.value});
    const absl::StatusOr<double> value =
        estimate::EvaluateExpression(search.figure->predict, terms);
    if (!value.ok()) {
      Settle(search, std::nullopt, value.status());
      continue;
    }
    search.seen[search.trying] = *value;
    if (search.trying != search.low && search.trying != search.high)
      (*value < *search.figure->published ? search.low : search.high) = search.trying;
    search.run.reset();
    Continue(search);
  }
}

bool Session::done() const {
  return std::ranges::all_of(runs_,
                             [](const PlannedRun& run) { return run.state == RunState::kEnded; });
}

std::vector<RunOutcome> Session::Outcomes(const Experiment& experiment, const Values& open) const {
  std::vector<RunOutcome> outcomes;
  if (!experiment.demonstration.empty()) {
    const absl::StatusOr<Quantities> shown = Demonstrate(experiment.demonstration);
    outcomes.push_back({"run", shown.status(), shown.ok() ? *shown : Quantities()});
  }
  for (const ExperimentRun& run : experiment.runs) {
    RunOutcome outcome{.name = run.name, .status = absl::OkStatus(), .quantities = {}};
    if (!Resolved(run)) {
      outcome.status = absl::FailedPreconditionError(i18n::Text(
          "the publication does not state a setting, and no value could be computed for it"));
      for (const Solved& solved : solved_) {
        if (!solved.status.ok()) outcome.status = solved.status;
      }
      outcomes.push_back(std::move(outcome));
      continue;
    }
    const absl::StatusOr<run::RunConfig> config = PlannedAs(run, open);
    if (!config.ok()) {
      outcome.status = config.status();
    } else if (const auto row = by_config_.find(run::ToJson(*config)); row != by_config_.end()) {
      const PlannedRun& planned = runs_[row->second];
      outcome.status = planned.state == RunState::kEnded
                           ? planned.status
                           : absl::CancelledError(i18n::Text("the plan was not finished"));
      outcome.quantities = planned.quantities;
    } else {
      outcome.status = absl::CancelledError(i18n::Text("not planned"));
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Result> Session::Results() const {
  const Values open = OpenValues();
  std::vector<Result> results;
  for (const Experiment* experiment : experiments_)
    results.push_back(Judge(*experiment, Outcomes(*experiment, open)));
  if (options_.device.empty()) return results;
  for (Result& result : results) {
    result.within.reset();
    for (FigureResult& figure : result.figures) {
      figure.within.reset();
      figure.error.reset();
    }
  }
  return results;
}

Settings Session::SettingsOfRun(const ExperimentRun& run) const {
  absl::StatusOr<Settings> found = SettingsOf(run, OpenValues());
  Settings settings = found.ok() ? *std::move(found) : run.settings;
  if (options_.device.empty()) return settings;
  std::erase_if(settings, [](const auto& setting) { return setting.first == "device"; });
  settings.emplace_back("device", options_.device);
  return settings;
}

std::string Session::ChartOf(const Experiment& experiment) const {
  for (const ExperimentRun& run : experiment.runs) {
    if (!Resolved(run)) continue;
    const absl::StatusOr<run::RunConfig> config = PlannedAs(run, OpenValues());
    if (!config.ok()) continue;
    const auto row = by_config_.find(run::ToJson(*config));
    if (row != by_config_.end() && !runs_[row->second].svg.empty()) return runs_[row->second].svg;
  }
  return "";
}

std::optional<run::RunConfig> Session::Config(const Experiment& experiment) const {
  if (experiment.runs.empty() || !Resolved(experiment.runs.front())) return std::nullopt;
  absl::StatusOr<run::RunConfig> config = PlannedAs(experiment.runs.front(), OpenValues());
  return config.ok() ? std::optional(*std::move(config)) : std::nullopt;
}

}  // namespace vramscope::reproduce
