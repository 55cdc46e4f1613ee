// Closed formulas as values: what is computed, the text of the formula, the numbers put in, the
// result, and where it is from. The text is what is evaluated, so it cannot tell another story than
// the result.
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
  std::string source;  // where it is from, or how it is derived
  std::vector<Term> terms;
  double value = 0;
  uint64_t bytes() const { return run::ToUint64(value + 0.5); }
};

// A formula of the table, by id; `values` gives every term that its text names, and no other.
// kNotFound: no such formula; kInvalidArgument: a term is missing, unknown or no finite number.
using Values = std::vector<std::pair<std::string_view, double>>;
absl::StatusOr<Formula> Evaluate(std::string_view id, const Values& values);

// The table, without numbers: terms have value 0.
const std::vector<Formula>& Formulas();

// + - * / ( ), min(a, b), max(a, b), ceil(a), numbers and terms by name. kInvalidArgument says what
// is wrong and where; also when the result is no finite number.
absl::StatusOr<double> EvaluateExpression(std::string_view text, const std::vector<Term>& terms);

}  // namespace vramscope::estimate
