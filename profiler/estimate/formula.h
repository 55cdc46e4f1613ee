// Closed formulas as values. A formula has a title, a text, terms with numbers, a result and a
// source. The result is computed from the text, so text and result always agree. Example:
//
//   ASSIGN_OR_RETURN(Formula f, Evaluate("peft-saved", {{"K", 582e6}, {"N", 884736}, {"e", 4}}));
//   f.text;    // "e * (3*K - 4*N)"
//   f.bytes(); // 6969843456
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/run/saturating.h"

namespace vramscope::estimate {

struct Term {
  std::string name;  // "K"
  std::string what;  // "frozen parameters"
  double value = 0;
};

struct Formula {
  std::string id;      // "peft-saved"; stable, for scripts and resources/experiments
  std::string title;   // "Saved by training adapters alone"
  std::string text;    // "e * (3*K - 4*N)"
  std::string source;  // publication or derivation
  std::vector<Term> terms;
  double value = 0;
  uint64_t bytes() const { return run::ToUint64(value + 0.5); }
};

// Evaluates a formula of the table. `values` must contain exactly the terms in its text. Returns
// kNotFound if there is no such formula, and kInvalidArgument if a term is missing, unknown or not
// finite.
using Values = std::vector<std::pair<std::string_view, double>>;
absl::StatusOr<Formula> Evaluate(std::string_view id, const Values& values);

// Returns the table of formulas, in which all terms have the value 0.
const std::vector<Formula>& Formulas();

// Supports + - * / ( ), min(a, b), max(a, b), ceil(a), numbers and named terms. Returns
// kInvalidArgument for a syntax error (with its position), and if the result is not finite.
absl::StatusOr<double> EvaluateExpression(std::string_view text, const std::vector<Term>& terms);

}  // namespace vramscope::estimate
