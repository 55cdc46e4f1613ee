// Writes one HTML page about published experiments and their predictions: a table of
// all experiments, and the settings, figures, note and memory curve of each. The page
// has no external dependencies.
//
//   out << HtmlReport(session, results);
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "profiler/reproduce/judge.h"
#include "profiler/reproduce/session.h"

namespace vramscope::reproduce {

std::string HtmlReport(const Session& session, const std::vector<Result>& results);

// Translates the name of a figure, unless it is the name of a quantity ("peak_allocated").
std::string ShownFigure(const std::string& name);
// Return texts for tables on the page, in the terminal and in the window: "19.26 GiB", "3.91 GB",
// "540672", "1.50 x".
std::string ValueText(const Figure& figure, double value);
std::string ErrorText(const FigureResult& result);  // "-1.2 %"; "" without FigureResult::error
std::string ToleranceText(const Figure& figure);    // "10 %", "0.06 GiB", ">= 0 B"
// "within", "out of tolerance", "not run", "not judged"; marked with TEXT_MARK.
std::string_view VerdictText(const FigureResult& result);
std::string_view VerdictText(const Result& result);
// Returns "model=qwen2-0.5b batch=2 ...", as for --set.
std::string SettingsText(const Settings& settings);
std::string SolvedText(const Solved& solved);

}  // namespace vramscope::reproduce
