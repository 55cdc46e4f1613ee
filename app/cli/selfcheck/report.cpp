#include "app/cli/selfcheck/report.h"

#include <fmt/format.h>

#include "app/cli/format.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli::selfcheck {
namespace {

constexpr size_t kLongest = 120;

// Returns the text for the reason why a group was skipped. The reason may be the error of a
// command.
std::string ShownReason(std::string_view reason) {
  if (!reason.starts_with(kErrorPrefix)) return i18n::Shown(reason);
  return i18n::Text(kErrorPrefix) + i18n::Shown(reason.substr(kErrorPrefix.size()));
}

std::string Short(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  return text;
}

}  // namespace

void Report::Count(std::string_view what, bool holds, std::string a, std::string b) {
  Group& group = groups_.back();
  ++group.comparisons;
  if (holds) return;
  ++group.failed;
  if (group.differences.size() < kMaxDifferences)
    group.differences.push_back({std::string(what), std::move(a), std::move(b)});
}

void Report::Equal(std::string_view what, const Json& a, const Json& b) {
  const bool holds = !a.is_null() && a == b;
  Count(what, holds, holds ? "" : Short(a), holds ? "" : Short(b));
}

void Report::True(std::string_view what, bool holds, std::string_view detail) {
  Count(what, holds, std::string(detail), "");
}

uint64_t Report::comparisons() const {
  uint64_t all = 0;
  for (const Group& group : groups_) all += group.comparisons;
  return all;
}

uint64_t Report::failed() const {
  uint64_t all = 0;
  for (const Group& group : groups_) all += group.failed;
  return all;
}

Json ReportJson(const Report& report) {
  Json json = {{"ok", report.failed() == 0},
               {"comparisons", report.comparisons()},
               {"failed", report.failed()},
               {"groups", Json::array()}};
  for (const Report::Group& group : report.groups()) {
    Json differences = Json::array();
    for (const Report::Difference& d : group.differences)
      differences.push_back({{"what", d.what}, {"a", d.a}, {"b", d.b}});
    json["groups"].push_back({{"name", group.name},
                              {"comparisons", group.comparisons},
                              {"failed", group.failed},
                              {"differences", std::move(differences)},
                              {"skipped", group.skipped.empty() ? Json() : Json(group.skipped)}});
  }
  return json;
}

std::string ReportText(const Report& report) {
  std::string text;
  for (const Report::Group& group : report.groups()) {
    if (group.comparisons > 0 || group.skipped.empty())
      text += fmt::format(
          "{}  {}: {}{}\n", group.failed > 0 ? "FAIL" : "PASS", Printable(i18n::Shown(group.name)),
          group.comparisons == 1 ? i18n::Format("{} comparison", cli::Count(group.comparisons))
                                 : i18n::Format("{} comparisons", cli::Count(group.comparisons)),
          group.failed > 0 ? i18n::Format(", {} failed", cli::Count(group.failed)) : std::string());
    else
      text += fmt::format("SKIP  {}: {}\n", Printable(i18n::Shown(group.name)),
                          Printable(ShownReason(group.skipped)));
    for (const Report::Difference& d : group.differences)
      text += fmt::format(
          "        {}: {}\n", Printable(i18n::Shown(d.what)),
          d.b.empty() ? Printable(d.a) : i18n::Format("{} and {}", Printable(d.a), Printable(d.b)));
    if (group.failed > group.differences.size())
      text += "        " +
              i18n::Format("({} more)", cli::Count(group.failed - group.differences.size())) + "\n";
  }
  return text + i18n::Format("{} comparisons, {} failed\n", cli::Count(report.comparisons()),
                             cli::Count(report.failed()));
}

}  // namespace vramscope::cli::selfcheck
