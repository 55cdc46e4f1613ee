// A filter for everything that is drawn. It is a plain text, or consists of comparisons of fields.
//
//   ASSIGN_OR_RETURN(Filter filter, ParseFilter("size > 10 MiB and module ~ attn"));
//   Matcher matcher(filter, trace, &index);         // matcher.h
//
//   filter     = all { "or" all }
//   all        = one { "and" one }
//   one        = "not" one | "(" filter ")" | field relation value | text
//   relation   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" (contains) | "!~"
//   value      words up to "and", "or", ")" or the end; or "in quotes"
//
// Fields: size, module, op, stack, file, phase, category, age, stream, step, name, duration, kind.
// Sizes have units of bytes ("10 MiB"), times have units of time ("20 us"), and text comparisons
// ignore case. Plain values, usable from any thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::query {

enum class FilterField : uint8_t {
  kSize,
  kModule,
  kOp,
  kStack,
  kFile,
  kPhase,
  kCategory,
  kAge,
  kStream,
  kStep,
  kName,
  kDuration,
  kKind,
};
std::string_view Name(FilterField field);  // "size"

enum class Relation : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kAtMost,
  kMore,
  kAtLeast,
  kContains,
  kContainsNot,
};

// One node of the filter's tree; `left` and `right` are indices of earlier nodes.
struct FilterNode {
  enum class Is : uint8_t { kText, kCompare, kNot, kAnd, kOr };
  Is is = Is::kText;
  FilterField field = FilterField::kName;
  Relation relation = Relation::kContains;
  std::string text = {};  // lower case
  double number = 0;      // sizes in bytes, times in ns
  uint32_t left = 0, right = 0;
};

class Filter {
 public:
  // A filter that consists of a plain text.
  static Filter OfText(std::string_view text);
  bool empty() const { return nodes_.empty(); }                 // whether it matches everything
  std::span<const FilterNode> nodes() const { return nodes_; }  // the last one is the root
  // Returns the text if the filter is a plain text, otherwise "".
  std::string_view plain_text() const;

 private:
  friend class FilterParser;
  std::vector<FilterNode> nodes_;
};

inline constexpr size_t kLongestFilter = 4096;  // maximum length in bytes
inline constexpr int kDeepestFilter = 64;       // maximum nesting of brackets and "not"

// Errors are kInvalidArgument with the column: "column 8: \"10 apples\" is no size; write ...".
absl::StatusOr<Filter> ParseFilter(std::string_view text);
// Parses the text of a search box. The text is a filter if it compares a field. Otherwise it is a
// plain text, because names of kernels contain brackets and spaces.
absl::StatusOr<Filter> ParseSearch(std::string_view text);

// Quotes and escapes a text, so that it is one value of a filter.
std::string Quoted(std::string_view text);

}  // namespace vramscope::query
