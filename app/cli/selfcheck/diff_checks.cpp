#include <fmt/format.h>

#include <algorithm>

#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli::selfcheck {
namespace {

Answer Diff(const Subject& s, std::vector<std::string> options) {
  options.insert(options.begin(), s.file);
  return s.Ask("diff", std::move(options));
}

// In every object of `json` with "a" and "b", checks that the two are equal and that "delta" is 0.
void CheckSides(const Subject& s, const Json& json, const std::string& where) {
  if (json.is_object() && json.contains("a") && json.contains("b")) {
    s.report.Equal(where + ": a, b", json["a"], json["b"]);
    if (json.contains("delta"))
      s.report.Equal(where + ": " + TEXT_MARK("`delta` is 0"), json["delta"], 0);
    return;
  }
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) CheckSides(s, value, where + " " + key);
}

}  // namespace

void CheckDiff(const Subject& s) {
  s.Begin(TEXT_MARK("`diff` of the file with itself finds no difference"));
  const Answer totals = Diff(s, {});
  s.report.Equal(TEXT_MARK("the command exits with status 0"), totals.exit_code, int{kDone});
  s.report.Equal(TEXT_MARK("in the output of `diff`, `equal` is true"), At(totals.json, "equal"),
                 true);
  s.report.Equal(TEXT_MARK("`diff` and `info` report the same peak of allocated memory"),
                 At(totals.json, "peak", "allocated", "a"), At(s.of_device, "allocated"));
  s.report.Equal(TEXT_MARK("`diff` and `info` report the same peak of reserved memory"),
                 At(totals.json, "peak", "reserved", "a"), At(s.of_device, "reserved"));
  CheckSides(s, totals.json, "diff");

  const Answer sites = Diff(s, {"--by", "stack"});
  s.report.Equal(TEXT_MARK("`diff --by stack` exits with status 0"), sites.exit_code, int{kDone});
  s.report.Equal(TEXT_MARK("in the output of `diff --by stack`, `equal` is true"),
                 At(sites.json, "equal"), true);
  s.report.Equal(
      TEXT_MARK("the call sites of `diff --by stack` add up to the peak of allocated memory"),
      Sum(At(sites.json, "sites"), "a"), At(s.of_device, "allocated"));
  CheckSides(s, At(sites.json, "peak"), "--by stack, peak");
  for (const Json& site : At(sites.json, "sites"))
    s.report.Equal(
        TEXT_MARK("in the output of `diff --by stack`, the `delta` of each call site is 0"),
        At(site, "delta"), 0);

  if (!s.device.empty()) return;  // --requests has no --device
  const Answer requests = s.commands.Run({"diff", "--requests", s.file, s.file, "--json"});
  if (requests.exit_code == kBadInput) return;  // there is no complete step to compare
  s.report.Equal(TEXT_MARK("`diff --requests` exits with status 0"), requests.exit_code,
                 int{kDone});
  s.report.Equal(TEXT_MARK("`diff --requests` reports all requests as equal"),
                 At(requests.json, "requests", "equal"), At(requests.json, "requests", "total"));
  s.report.Equal(TEXT_MARK("`diff --requests` reports the same peak for both files"),
                 At(requests.json, "peak", "a"), At(requests.json, "peak", "b"));
}

}  // namespace vramscope::cli::selfcheck
