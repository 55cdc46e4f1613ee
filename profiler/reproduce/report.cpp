#include "profiler/reproduce/report.h"

#include <fmt/format.h>

#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/exporters/json_text.h"

namespace vramscope::reproduce {
namespace {

std::string Escaped(std::string_view text) { return exporters::XmlText(text); }

constexpr std::string_view kHead =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>vramscope reproduce</title>"
    "<style>body{font:14px sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:.5em 0}td,th{padding:2px 10px;border-bottom:1px solid "
    "#ddd;text-align:right}td:first-child,th:first-child,td.t{text-align:left}.within{color:#080}"
    ".off{color:#b00;font-weight:bold}.not{color:#777}code{background:#f4f4f4}h2{margin-top:2em}"
    "p{max-width:50em}</style><body><h1>Published experiments, planned again</h1>";

constexpr std::string_view kOff = TEXT_MARK("out of tolerance");

std::string_view Class(std::string_view verdict) {
  return verdict == "within" ? "within" : verdict == kOff ? "off" : "not";
}

std::string Row(const FigureResult& result) {
  const Figure& figure = *result.figure;
  const std::string_view verdict = VerdictText(result);
  const std::string source = figure.published.has_value()   ? "published"
                             : figure.reference.has_value() ? "Python model"
                                                            : "";
  return fmt::format(
      "<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}"
      "</td><td>{}</td><td class=\"{}\">{}</td><td class=\"t\">{}</td></tr>",
      Escaped(figure.name), Escaped(figure.counter),
      figure.target().has_value() ? Escaped(ValueText(figure, *figure.target())) : "", source,
      result.predicted.has_value() ? Escaped(ValueText(figure, *result.predicted)) : "",
      Escaped(ErrorText(result)), Escaped(ToleranceText(figure)), Class(verdict), verdict,
      Escaped(figure.why + (figure.note.empty() ? "" : " " + figure.note)));
}

std::string Section(const Session& session, const Result& result) {
  const Experiment& e = *result.experiment;
  std::string html = fmt::format("<h2 id=\"{0}\">{0} {1}</h2>", Escaped(e.id), Escaped(e.title));
  if (!e.note.empty()) html += fmt::format("<p>{}</p>", Escaped(e.note));
  for (const ExperimentRun& run : e.runs) {
    html +=
        fmt::format("<p>{}<code>{}</code></p>", run.name == "run" ? "" : Escaped(run.name) + ": ",
                    Escaped(SettingsText(session.SettingsOfRun(run))));
  }
  if (!result.lacks.empty())
    html += fmt::format("<p class=\"not\">Not run: {}</p>", Escaped(result.lacks));
  html +=
      "<table><tr><th>figure</th><th>counter</th><th>compared "
      "with</th><th></th><th>planned</th><th>error</th><th>tolerance</th><th></th><th></th></tr>";
  for (const FigureResult& figure : result.figures) html += Row(figure);
  html += "</table>";
  for (const FigureResult& figure : result.figures) {
    if (!figure.figure->formula.has_value()) continue;
    html += fmt::format("<p><code>{}</code> with", Escaped(figure.figure->formula->text));
    for (const estimate::Term& term : figure.figure->formula->terms)
      html += fmt::format(" {} = {}", Escaped(term.name), term.value);
    html += "</p>";
  }
  return html + session.ChartOf(e);
}

}  // namespace

std::string ShownFigure(const std::string& name) {
  return name.find(' ') == std::string::npos ? name : i18n::Text(name);
}

std::string ValueText(const Figure& figure, double value) {
  const double scaled = value / figure.scale();
  if (figure.unit == "count" || figure.unit == "B" || figure.unit == "event")
    return fmt::format("{:.0f}{}", scaled, figure.unit == "B" ? " B" : "");
  // Uses five significant digits, because published numbers have no more.
  const double size = std::abs(scaled);
  const int decimals = size >= 1000 ? 1 : size >= 100 ? 2 : size >= 10 ? 3 : size >= 1 ? 4 : 5;
  return fmt::format("{:.{}f} {}", scaled, decimals, figure.unit);
}

std::string ErrorText(const FigureResult& result) {
  if (!result.error.has_value()) return "";
  return fmt::format("{:+.2f} %", 100 * *result.error);
}

std::string ToleranceText(const Figure& figure) {
  std::string text;
  if (figure.target().has_value() && !figure.informative) {
    text = figure.relative ? fmt::format("{:g} %", figure.tolerance * 100)
                           : fmt::format("{:g} {}", figure.tolerance / figure.scale(), figure.unit);
  }
  const auto add = [&](std::string_view sign, const std::optional<double>& bound) {
    if (!bound.has_value()) return;
    text += fmt::format("{}{} {:g} {}", text.empty() ? "" : ", ", sign, *bound / figure.scale(),
                        figure.unit);
  };
  add(">=", figure.least);
  add("<=", figure.most);
  return text;
}

std::string_view VerdictText(const FigureResult& result) {
  if (!result.predicted.has_value()) return TEXT_MARK("not run");
  if (!result.within.has_value()) return TEXT_MARK("not judged");
  return *result.within ? TEXT_MARK("within") : kOff;
}

std::string_view VerdictText(const Result& result) {
  if (result.state == State::kNotRun) return TEXT_MARK("not run");
  if (!result.within.has_value()) return TEXT_MARK("not judged");
  if (*result.within) return TEXT_MARK("within");
  return result.state == State::kPartly ? TEXT_MARK("partly run") : kOff;
}

std::string SettingsText(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

std::string SolvedText(const Solved& solved) {
  if (!solved.value.has_value())
    return i18n::Format("no value could be computed for {} ({}): {}", solved.open->name,
                        i18n::Text(solved.open->what), std::string(solved.status.message()));
  return i18n::Format(
      "{} = {} ({}): the publication does not state this value. It was computed from the published "
      "{} of {}, and all other experiments use it",
      solved.open->name, *solved.value, i18n::Text(solved.open->what), solved.open->figure,
      solved.open->experiment);
}

std::string HtmlReport(const Session& session, const std::vector<Result>& results) {
  const i18n::InEnglish english;  // the page is for readers of any language
  const Score score = ScoreOf(results);
  std::string html(kHead);
  html += fmt::format(
      "<p>{} experiments: {} were run completely, {} were not run. Experiments with published "
      "values: {} of {} are within tolerance. Expected relations, for example that one run needs "
      "less memory than another: {} of {} hold.</p>",
      score.experiments, score.done, score.not_run, score.published_within, score.published,
      score.bounds_hold, score.bounds);
  for (const Solved& solved : session.solved())
    html += fmt::format("<p>{}.</p>", Escaped(SolvedText(solved)));
  html +=
      "<table><tr><th>experiment</th><th></th><th>compared "
      "with</th><th>planned</th><th>error</th><th>tolerance</th><th></th></tr>";
  for (const Result& result : results) {
    const Experiment& e = *result.experiment;
    const FigureResult* head = result.headline();
    const std::string_view verdict = VerdictText(result);
    html += fmt::format(
        "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"t\">{1}</td><td>{2}</td><td>{3}</td><td>"
        "{4}</td><td>{5}</td><td class=\"{6}\">{7}</td></tr>",
        Escaped(e.id), Escaped(e.title),
        head != nullptr && head->figure->target().has_value()
            ? Escaped(ValueText(*head->figure, *head->figure->target()))
            : "",
        head != nullptr && head->predicted.has_value()
            ? Escaped(ValueText(*head->figure, *head->predicted))
            : "",
        head != nullptr ? Escaped(ErrorText(*head)) : "",
        head != nullptr ? Escaped(ToleranceText(*head->figure)) : "", Class(verdict), verdict);
  }
  html += "</table>";
  for (const Result& result : results) html += Section(session, result);
  return html + "</body></html>\n";
}

}  // namespace vramscope::reproduce
