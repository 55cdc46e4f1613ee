#include "profiler/reproduce/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vramscope::reproduce {
namespace {

FigureResult JudgeFigure(const Figure& figure, const std::vector<estimate::Term>& terms,
                         const std::string& failure) {
  FigureResult out{.figure = &figure, .predicted = {}, .missing = {}, .error = {}, .within = {}};
  if (figure.formula.has_value()) {
    out.predicted = figure.formula->value;
  } else {
    const absl::StatusOr<double> value = estimate::EvaluateExpression(figure.predict, terms);
    if (!value.ok()) {
      out.missing = failure.empty() ? std::string(value.status().message()) : failure;
      return out;
    }
    out.predicted = *value;
  }
  const double predicted = *out.predicted;
  std::optional<bool> within;
  if (const std::optional<double> target = figure.target(); target.has_value()) {
    out.error = *target != 0 ? predicted / *target - 1 : predicted;
    const double allowed =
        figure.relative ? figure.tolerance * std::abs(*target) : figure.tolerance;
    // The factor lets a difference pass that equals the tolerance except for rounding.
    within = std::abs(predicted - *target) <= allowed * (1 + 1e-9);
  }
  if (figure.least.has_value()) within = within.value_or(true) && predicted >= *figure.least;
  if (figure.most.has_value()) within = within.value_or(true) && predicted <= *figure.most;
  if (!figure.informative) out.within = within;
  return out;
}

}  // namespace

bool Result::has_published() const {
  return std::ranges::any_of(figures, [](const FigureResult& f) {
    return f.figure->published.has_value() && !f.figure->informative;
  });
}

const FigureResult* Result::headline() const {
  const Figure* figure = experiment->headline();
  for (const FigureResult& result : figures) {
    if (result.figure == figure) return &result;
  }
  return nullptr;
}

Result Judge(const Experiment& experiment, const std::vector<RunOutcome>& runs) {
  Result out{.experiment = &experiment, .lacks = experiment.lacks, .figures = {}, .within = {}};
  std::vector<estimate::Term> terms;
  std::string failure = experiment.lacks;
  for (const RunOutcome& run : runs) {
    if (!run.status.ok()) {
      if (failure.empty()) {
        failure = (run.name == "run" ? "" : run.name + ": ") + std::string(run.status.message());
      }
      continue;
    }
    const std::string prefix = run.name == "run" ? "" : run.name + "_";
    for (const Quantity& quantity : run.quantities.all)
      terms.push_back({prefix + quantity.name, "", quantity.value});
  }
  size_t known = 0;
  bool all_within = true, judged = false;
  for (const Figure& figure : experiment.figures) {
    FigureResult result = JudgeFigure(figure, terms, failure);
    if (result.predicted.has_value()) ++known;
    if (out.lacks.empty() && !result.missing.empty()) out.lacks = result.missing;
    const bool counts =
        !figure.informative &&
        (figure.target().has_value() || figure.least.has_value() || figure.most.has_value());
    if (counts) {
      judged = true;
      all_within = all_within && result.within.value_or(false);
    }
    out.figures.push_back(std::move(result));
  }
  if (out.lacks.empty()) out.lacks = failure;
  out.state = known == experiment.figures.size() && out.lacks.empty() ? State::kDone
              : known > 0                                             ? State::kPartly
                                                                      : State::kNotRun;
  if (judged && out.state != State::kNotRun) out.within = all_within;
  return out;
}

Score ScoreOf(const std::vector<Result>& results) {
  Score score;
  for (const Result& result : results) {
    ++score.experiments;
    if (result.state == State::kDone) ++score.done;
    if (result.state == State::kNotRun) ++score.not_run;
    if (result.has_published()) {
      ++score.published;
      if (result.within.value_or(false)) ++score.published_within;
    }
    for (const FigureResult& figure : result.figures) {
      if (figure.figure->informative) continue;
      if (!figure.figure->least.has_value() && !figure.figure->most.has_value()) continue;
      ++score.bounds;
      if (figure.within.value_or(false)) ++score.bounds_hold;
    }
  }
  return score;
}

}  // namespace vramscope::reproduce
