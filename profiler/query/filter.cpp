#include "profiler/query/filter.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/times.h"
#include "profiler/run/units.h"

namespace vramscope::query {
namespace {

constexpr std::array<std::pair<std::string_view, FilterField>, 13> kFields = {
    {{"size", FilterField::kSize},
     {"module", FilterField::kModule},
     {"op", FilterField::kOp},
     {"stack", FilterField::kStack},
     {"file", FilterField::kFile},
     {"phase", FilterField::kPhase},
     {"category", FilterField::kCategory},
     {"age", FilterField::kAge},
     {"stream", FilterField::kStream},
     {"step", FilterField::kStep},
     {"name", FilterField::kName},
     {"duration", FilterField::kDuration},
     {"kind", FilterField::kKind}}};

// A longer relation comes before a relation that is its prefix.
constexpr std::array<std::pair<std::string_view, Relation>, 8> kRelations = {
    {{"!=", Relation::kNotEqual},
     {"!~", Relation::kContainsNot},
     {"<=", Relation::kAtMost},
     {">=", Relation::kAtLeast},
     {"=", Relation::kEqual},
     {"<", Relation::kLess},
     {">", Relation::kMore},
     {"~", Relation::kContains}}};

enum class Measure : uint8_t { kText, kBytes, kTime, kNumber };

Measure MeasureOf(FilterField field) {
  switch (field) {
    case FilterField::kSize:
      return Measure::kBytes;
    case FilterField::kAge:
    case FilterField::kDuration:
      return Measure::kTime;
    case FilterField::kStream:
    case FilterField::kStep:
      return Measure::kNumber;
    default:
      return Measure::kText;
  }
}

bool IsSpace(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }
bool IsOfRelation(char c) { return c == '=' || c == '!' || c == '<' || c == '>' || c == '~'; }
bool IsOfField(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower;
}

bool IsWord(std::string_view text, std::string_view lower) { return Lower(text) == lower; }

std::optional<FilterField> FieldOf(std::string_view word) {
  for (const auto& [name, field] : kFields)
    if (IsWord(word, name)) return field;
  return std::nullopt;
}

std::string FieldList() {
  std::string list;
  for (const auto& [name, field] : kFields) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

}  // namespace

std::string_view Name(FilterField field) {
  for (const auto& [name, each] : kFields)
    if (each == field) return name;
  return "";
}

Filter Filter::OfText(std::string_view text) {
  Filter filter;
  text = base::Trimmed(text);
  if (!text.empty()) filter.nodes_.push_back({.text = Lower(text)});
  return filter;
}

std::string_view Filter::plain_text() const {
  return nodes_.size() == 1 && nodes_[0].is == FilterNode::Is::kText ? nodes_[0].text
                                                                     : std::string_view();
}

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Filter> Parse() {
    if (text_.size() > kLongestFilter)
      return absl::InvalidArgumentError(i18n::Format(
          "the filter has {1} bytes; at most {0} are allowed", kLongestFilter, text_.size()));
    SkipSpace();
    if (at_ == text_.size()) return Filter();
    if (const auto whole = Any(); !whole.ok()) return whole.status();
    if (at_ < text_.size())
      return Error(at_, text_[at_] == ')'
                            ? i18n::Text("this bracket was never opened")
                            : i18n::Text("\"and\" or \"or\" is missing in front of this"));
    return std::move(filter_);
  }

 private:
  using Node = absl::StatusOr<uint32_t>;

  // The column in the message counts characters from 1, as in an editor.
  absl::Status Error(size_t at, std::string_view what) const {
    size_t column = 1;
    for (size_t i = 0; i < at; ++i) column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    return absl::InvalidArgumentError(i18n::Format("column {}: {}", column, what));
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  // Returns the next word without consuming it.
  std::string_view Peek() const {
    size_t end = at_;
    while (end < text_.size() && !IsSpace(text_[end]) && text_[end] != '(' && text_[end] != ')' &&
           text_[end] != '"' && !IsOfRelation(text_[end]))
      ++end;
    return text_.substr(at_, end - at_);
  }
  bool Take(std::string_view word) {
    if (!IsWord(Peek(), word)) return false;
    at_ += word.size();
    SkipSpace();
    return true;
  }
  uint32_t Add(FilterNode node) {
    filter_.nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(filter_.nodes_.size() - 1);
  }

  Node Any() {
    Node left = All();
    while (left.ok() && Take("or")) {
      const Node right = All();
      if (!right.ok()) return right;
      left = Add({.is = FilterNode::Is::kOr, .left = *left, .right = *right});
    }
    return left;
  }

  Node All() {
    Node left = One();
    while (left.ok() && Take("and")) {
      const Node right = One();
      if (!right.ok()) return right;
      left = Add({.is = FilterNode::Is::kAnd, .left = *left, .right = *right});
    }
    return left;
  }

  Node One() {
    if (depth_ >= kDeepestFilter)
      return Error(at_,
                   i18n::Format("brackets and \"not\" are nested deeper than {}", kDeepestFilter));
    ++depth_;
    Node node = Inner();
    --depth_;
    return node;
  }

  Node Inner() {
    if (Take("not")) {
      const Node of = One();
      if (!of.ok()) return of;
      return Add({.is = FilterNode::Is::kNot, .left = *of});
    }
    if (at_ < text_.size() && text_[at_] == '(') {
      const size_t open = at_++;
      SkipSpace();
      const Node inside = Any();
      if (!inside.ok()) return inside;
      if (at_ == text_.size() || text_[at_] != ')')
        return Error(open, i18n::Text("this bracket is not closed"));
      ++at_;
      SkipSpace();
      return inside;
    }
    const size_t begin = at_;
    const std::string_view word = Peek();
    at_ += word.size();
    SkipSpace();
    if (const auto relation = TakeRelation()) {
      const auto field = FieldOf(word);
      if (word.empty()) return Error(begin, i18n::Text("a field is missing in front of this"));
      if (!field)
        return Error(begin,
                     i18n::Format("\"{}\" is not a field; fields are {}", word, FieldList()));
      return Comparison(*field, *relation);
    }
    at_ = begin;
    const absl::StatusOr<std::string> text = Value(i18n::Text("a field or a text"));
    if (!text.ok()) return text.status();
    return Add({.text = Lower(*text)});
  }

  std::optional<Relation> TakeRelation() {
    for (const auto& [sign, relation] : kRelations) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      SkipSpace();
      return relation;
    }
    return std::nullopt;
  }

  Node Comparison(FilterField field, Relation relation) {
    FilterNode node{.is = FilterNode::Is::kCompare, .field = field, .relation = relation};
    const size_t begin = at_;
    const Measure measure = MeasureOf(field);
    const bool contains = relation == Relation::kContains || relation == Relation::kContainsNot;
    const bool ordered =
        !contains && relation != Relation::kEqual && relation != Relation::kNotEqual;
    if (measure == Measure::kText && ordered)
      return Error(begin,
                   i18n::Format("{} is a text; compare it with =, !=, ~ or !~", Name(field)));
    if (measure != Measure::kText && contains)
      return Error(begin, i18n::Format("{} is a number; compare it with =, !=, <, <=, > or >=",
                                       Name(field)));
    const absl::StatusOr<std::string> value = Value(i18n::Text("a value"));
    if (!value.ok()) return value.status();
    if (measure == Measure::kText) {
      node.text = Lower(*value);
    } else {
      const auto number = Number(measure, *value);
      if (!number.ok()) return Error(begin, std::string(number.status().message()));
      node.number = *number;
    }
    return Add(std::move(node));
  }

  static absl::StatusOr<double> Number(Measure measure, const std::string& value) {
    if (measure == Measure::kBytes) {
      const auto bytes = run::ParseBytes(value);
      if (!bytes.ok()) return bytes.status();
      return static_cast<double>(*bytes);
    }
    if (measure == Measure::kNumber) return run::ParseNumber(value);
    std::string together;  // "20us" for "20 us"
    for (const char c : value)
      if (!IsSpace(c)) together += c;
    const auto time = run::ParseTime(together);
    if (!time.ok()) return time.status();
    return static_cast<double>(*time);
  }

  // Reads a quoted value, or words up to "and", "or", a closing bracket or the end.
  absl::StatusOr<std::string> Value(std::string_view what) {
    if (at_ < text_.size() && text_[at_] == '"') return InQuotes();
    std::string value;
    int open = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsOfRelation(c) || c == '"') break;
      if (c == ')' && open == 0) break;
      if (IsSpace(c)) {
        SkipSpace();
        const std::string_view next = Peek();
        if (IsWord(next, "and") || IsWord(next, "or")) break;
        if (!value.empty()) value += ' ';
        continue;
      }
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
      value += c;
      ++at_;
    }
    while (!value.empty() && value.back() == ' ') value.pop_back();
    if (value.empty()) return Error(at_, i18n::Format("{} is missing here", what));
    if (at_ < text_.size() && text_[at_] != ')' && (IsOfRelation(text_[at_]) || text_[at_] == '"'))
      return Error(at_, i18n::Text("\"and\" or \"or\" is missing in front of this comparison. If "
                                   "this is part of a text, put the whole text in quotes"));
    return value;
  }

  absl::StatusOr<std::string> InQuotes() {
    const size_t begin = at_++;
    std::string value;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    if (at_ == text_.size()) return Error(begin, i18n::Text("these quotes are not closed"));
    ++at_;
    SkipSpace();
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  Filter filter_;
};

absl::StatusOr<Filter> ParseFilter(std::string_view text) { return FilterParser(text).Parse(); }

absl::StatusOr<Filter> ParseSearch(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!IsOfField(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsOfField(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool alone = at == 0 || IsSpace(text[at - 1]) || text[at - 1] == '(';
    while (end < text.size() && IsSpace(text[end])) ++end;
    if (alone && end < text.size() && IsOfRelation(text[end]) && FieldOf(word))
      return ParseFilter(text);
    at = std::max(end, at + 1);
  }
  if (text.size() > kLongestFilter)
    return absl::InvalidArgumentError(i18n::Format(
        "the search has {1} bytes; at most {0} are allowed", kLongestFilter, text.size()));
  return Filter::OfText(text);
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace vramscope::query
