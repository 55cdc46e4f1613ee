// What is looked for among everything that is drawn: a text, or comparisons of its fields.
//
//   ASSIGN_OR_RETURN(Filter filter, ParseFilter("size > 10 MiB and module ~ attn"));
//   Matcher matcher(filter, trace, index);          // matcher.h
//
//   filter     = all { "or" all }
//   all        = one { "and" one }
//   one        = "not" one | "(" filter ")" | field relation value | text
//   relation   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" (contains) | "!~"
//   value      words up to "and", "or", ")" or the end; or "in quotes"
//
// Fields: size, module, op, stack, file, phase, category, age, stream, step, name, duration, kind.
// Sizes have units of bytes ("10 MiB"), times those of time ("20 us"); texts are compared whatever
// their case. Plain values; no limit on threads.
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

// One of them at a time; `left` and `right` are numbers of others, which come before it.
struct FilterNode {
  enum class Is : uint8_t { kText, kCompare, kNot, kAnd, kOr };
  Is is = Is::kText;
  FilterField field = FilterField::kName;
  Relation relation = Relation::kContains;
  std::string text = {};  // lower case
  double number = 0;      // of sizes in bytes, of times in ns
  uint32_t left = 0, right = 0;
};

class Filter {
 public:
  // What contains this text in one of its words.
  static Filter OfText(std::string_view text);
  bool empty() const { return nodes_.empty(); }                 // matches everything
  std::span<const FilterNode> nodes() const { return nodes_; }  // the last one is the whole
  // The text, where that is all that is looked for; "": it is more.
  std::string_view plain_text() const;

 private:
  friend class FilterParser;
  std::vector<FilterNode> nodes_;
};

inline constexpr size_t kLongestFilter = 4096;  // bytes
inline constexpr int kDeepestFilter = 64;       // of brackets and "not"s in one another

// kInvalidArgument, by column: "column 8: \"10 apples\" is no size; write ...".
absl::StatusOr<Filter> ParseFilter(std::string_view text);
// What a search box has: a filter where a field is compared in it, else the text as it stands (the
// names of kernels have brackets and spaces).
absl::StatusOr<Filter> ParseSearch(std::string_view text);

// As a value of a filter: in quotes, with what is special in them escaped.
std::string Quoted(std::string_view text);

}  // namespace vramscope::query
