// Collects the comparisons of `selfcheck` in groups, with the differences that they find. Example:
//
//   report.Begin("diff of the file with itself finds no difference");
//   report.Equal("diff and info report the same steps", diff["steps"], info["steps"]);
//   report.Skip("the file has no segments");   // nothing was compared, for this reason
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"

namespace vramscope::cli::selfcheck {

class Report {
 public:
  struct Difference {
    std::string what;  // "`info` and `peak` report the same device memory"
    std::string a, b;
  };
  // Names and differences are in English, as in JSON. ReportText() translates a text that is marked
  // with TEXT_MARK or made by i18n::English().
  struct Group {
    std::string name;
    uint64_t comparisons = 0;
    std::vector<Difference> differences = {};  // the first kMaxDifferences differences
    uint64_t failed = 0;
    std::string skipped = {};  // why nothing could be compared
  };
  static constexpr size_t kMaxDifferences = 20;

  void Begin(std::string name) { groups_.push_back({.name = std::move(name)}); }
  // A missing value (null) counts as a difference.
  void Equal(std::string_view what, const Json& a, const Json& b);
  void True(std::string_view what, bool holds, std::string_view detail = "");
  void Skip(std::string why) { groups_.back().skipped = std::move(why); }

  uint64_t comparisons() const;
  uint64_t failed() const;
  const std::vector<Group>& groups() const { return groups_; }

 private:
  void Count(std::string_view what, bool holds, std::string a, std::string b);

  std::vector<Group> groups_;
};

Json ReportJson(const Report& report);
std::string ReportText(const Report& report);  // lines with PASS, FAIL or SKIP, then counts

}  // namespace vramscope::cli::selfcheck
