// A recursive-descent evaluator for arithmetic with numbers, named terms and three functions.
#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/estimate/formula.h"

namespace vramscope::estimate {
namespace {

// Length and nesting are limited, because expressions may come from files in resources/.
constexpr size_t kMaxText = 1024;
constexpr int kMaxDepth = 32;

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Term>& terms) : text_(text), terms_(terms) {}

  absl::StatusOr<double> Parse() {
    const double value = Sum();
    if (error_.empty() && Peek() != '\0') Fail(i18n::Text("an operator"));
    if (!error_.empty()) return absl::InvalidArgumentError(error_);
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(i18n::Format("\"{}\" is not a finite number", text_));
    }
    return value;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  double Fail(std::string_view expected) {
    if (error_.empty()) {
      error_ = i18n::Format("\"{}\": expected {} at character {}", text_, expected, at_ + 1);
    }
    return 0;
  }
  double Sum() {
    double value = Product();
    while (error_.empty()) {
      if (Take('+')) {
        value += Product();
      } else if (Take('-')) {
        value -= Product();
      } else {
        break;
      }
    }
    return value;
  }
  double Product() {
    double value = Factor();
    while (error_.empty()) {
      if (Take('*')) {
        value *= Factor();
      } else if (Take('/')) {
        value /= Factor();
      } else {
        break;
      }
    }
    return value;
  }
  double Factor() {
    if (++depth_ > kMaxDepth) return Fail(i18n::Text("less nesting"));
    const double value = Inner();
    --depth_;
    return value;
  }
  double Inner() {
    const char c = Peek();
    if (Take('(')) {
      const double value = Sum();
      return Take(')') ? value : Fail("\")\"");
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(c))) return Number();
    if (absl::ascii_isalpha(static_cast<unsigned char>(c))) return Named();
    return Fail(i18n::Text("a number, a term or \"(\""));
  }
  double Number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) return Fail(i18n::Text("a number"));
    at_ += static_cast<size_t>(end - begin);
    return value;
  }
  double Named() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (Take('(')) return Function(name);
    const auto found = std::ranges::find(terms_, name, &Term::name);
    if (found != terms_.end()) return found->value;
    at_ = begin;
    return Fail(i18n::Format("a known term instead of \"{}\"", name));
  }
  double Function(std::string_view name) {
    const double first = Sum();
    double value = 0;
    if (name == "ceil") {
      value = std::ceil(first);
    } else if (name == "min" || name == "max") {
      if (!Take(',')) return Fail("\",\"");
      const double second = Sum();
      value = name == "min" ? std::min(first, second) : std::max(first, second);
    } else {
      return Fail(i18n::Format("min, max or ceil instead of \"{}\"", name));
    }
    return Take(')') ? value : Fail("\")\"");
  }

  std::string_view text_;
  const std::vector<Term>& terms_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

absl::StatusOr<double> EvaluateExpression(std::string_view text, const std::vector<Term>& terms) {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(i18n::Format(
        "the formula has {} characters; at most {} are allowed", text.size(), kMaxText));
  }
  return Parser(text, terms).Parse();
}

}  // namespace vramscope::estimate
