#include "profiler/exporters/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/run/units.h"
#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::exporters {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Collects the tags of a page, and checks that each is closed in the right order. Skips <style>,
// whose contents are not markup.
struct Markup {
  std::set<std::string> tags;
  std::string error;
};
Markup Read(std::string_view html) {
  Markup out;
  std::vector<std::string> open;
  const std::string_view doctype = "<!DOCTYPE html>";
  if (!html.starts_with(doctype)) out.error = "no doctype";
  html.remove_prefix(doctype.size());
  while (out.error.empty()) {
    const size_t begin = html.find('<');
    if (begin == html.npos) break;
    const size_t end = html.find('>', begin);
    if (end == html.npos) out.error = "a tag without an end";
    const std::string_view tag = html.substr(begin + 1, end - begin - 1);
    html.remove_prefix(end + 1);
    if (tag.empty() || tag.find('<') != tag.npos) out.error = "a bracket in a tag";
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name.substr(1)) out.error = "unexpected </" + name;
      if (!open.empty()) open.pop_back();
      continue;
    }
    out.tags.insert(name);
    if (tag.ends_with('/') || name == "meta") continue;
    open.push_back(name);
    if (name == "style") html.remove_prefix(std::min(html.find("</style>"), html.size()));
  }
  if (out.error.empty() && !open.empty()) out.error = "<" + open.back() + "> stays open";
  return out;
}

constexpr const char* kHostile =
    "\"><script>alert('x')</script><img src=x onerror=y>&amp;\x01\xff</style>";

std::shared_ptr<const trace::Trace> Hostile() {
  using trace::EventKind;
  trace::TraceBuilder builder;
  trace::TraceInfo info;
  info.title = info.model.name = info.device.name = info.source = info.alloc_conf = kHostile;
  info.device.memory_bytes = uint64_t{8} << 30;
  builder.SetInfo(info);
  EXPECT_TRUE(builder.AddStrings(0, std::vector<std::string>{"", kHostile}).ok());
  std::vector<trace::Event> events;
  const auto add = [&](EventKind kind, int64_t time_ns) -> trace::Event& {
    trace::Event& event = events.emplace_back();
    event.kind = kind;
    event.time_ns = time_ns;
    return event;
  };
  add(EventKind::kStepBegin, 1);
  trace::Event& block = add(EventKind::kAlloc, 2);
  block.bytes = block.bytes_rounded = 1 << 20;
  block.name = block.module = {1};
  trace::Event& failure = add(EventKind::kOutOfMemory, 3);
  failure.bytes = uint64_t{1} << 40;
  add(EventKind::kStepEnd, 4);
  EXPECT_TRUE(builder.AddEvents(events).ok());
  const std::vector<trace::Activity> activities = {
      {.kind = trace::ActivityKind::kKernel, .name = {1}, .begin_ns = 2, .end_ns = 3}};
  EXPECT_TRUE(builder.AddActivities(activities).ok());
  builder.AddWarning(kHostile);
  return builder.Finish(false, kHostile);
}

TEST(HtmlReportTest, EscapesTextsOfTheTrace) {
  const auto trace = Hostile();
  const std::string page = HtmlReport(
      trace,
      {.title = kHostile, .command = kHostile, .baseline = trace, .baseline_title = kHostile});
  const Markup markup = Read(page);
  EXPECT_EQ(markup.error, "");
  for (const char* tag : {"script", "img", "iframe", "object", "link", "a", "base", "form"})
    EXPECT_EQ(markup.tags.count(tag), 0u) << tag;
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x01")), Not(HasSubstr("\xff")),
                          HasSubstr("&lt;script&gt;")));
}

TEST(HtmlReportTest, IsSelfContained) {
  const auto trace = vramscope::testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 2}});
  const std::string page = HtmlReport(trace);
  EXPECT_EQ(Read(page).error, "");
  // The page must not load other files.
  for (const char* reference : {"src=", "href=", "url(", "@import", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("prefers-color-scheme:dark"),
                          HasSubstr("@media print")));
  EXPECT_EQ(HtmlReport(trace), page) << "equal input gives an equal page";
}

TEST(HtmlReportTest, ShowsPeakAndCategoriesOfTheTrace) {
  const auto trace = vramscope::testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 2}});
  const std::string page = HtmlReport(trace);
  const analysis::Peak peak = analysis::FindPeak(*trace, analysis::ComputeCurves(*trace));
  EXPECT_THAT(page, HasSubstr("<span>peak allocated</span><b>" + run::FormatBytes(peak.allocated) +
                              "</b>"));
  for (int c = 0; c < trace::kCategoryCount; ++c)
    if (const uint64_t bytes = peak.by_category[static_cast<size_t>(c)]; bytes > 0) {
      const std::string name(trace::Name(static_cast<trace::Category>(c)));
      EXPECT_THAT(page, HasSubstr("<td>" + name + "</td><td class=\"n\">" +
                                  run::FormatBytes(bytes) + "</td>"));
    }
  EXPECT_THAT(page, AllOf(HasSubstr("The peak by module"), HasSubstr("<h2>Steps"),
                          HasSubstr("<h2>Kernels")));
}

TEST(HtmlReportTest, ComparesWithABaseline) {
  const auto a = vramscope::testing::MakeSyntheticTrace({.layers = 3, .steps = 2});
  const auto b = vramscope::testing::MakeSyntheticTrace({.layers = 4, .steps = 2});
  const std::string page = HtmlReport(b, {.baseline = a, .baseline_title = "three layers"});
  EXPECT_EQ(Read(page).error, "");
  EXPECT_THAT(page, HasSubstr("Compared with three layers"));
  const auto peak = [](const trace::Trace& t) {
    return run::FormatBytes(analysis::FindPeak(t, analysis::ComputeCurves(t)).allocated);
  };
  EXPECT_THAT(page, HasSubstr("<td>Peak allocated</td><td class=\"n\">" + peak(*a) +
                              "</td><td class=\"n\">" + peak(*b) + "</td>"));
  EXPECT_THAT(HtmlReport(a), Not(HasSubstr("Compared with")));
}

TEST(HtmlReportTest, ReportsAnEmptyTrace) {
  trace::TraceBuilder builder;
  const std::string page = HtmlReport(builder.Finish(true, ""));
  EXPECT_EQ(Read(page).error, "");
  EXPECT_THAT(page, HasSubstr("no GPU memory was recorded"));
}

}  // namespace
}  // namespace vramscope::exporters
