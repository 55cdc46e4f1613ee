#include "profiler/exporters/memory_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/exporters/json_text.h"
#include "tests/profiler/exporters/sample_trace.h"

namespace vramscope::exporters {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::Category;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Returns whether all tags are closed in the right order and none contains '<'.
bool IsWellFormed(std::string_view svg) {
  std::vector<std::string> open;
  while (true) {
    const size_t begin = svg.find('<');
    if (begin == svg.npos) return open.empty();
    const size_t end = svg.find('>', begin);
    if (end == svg.npos) return false;
    const std::string_view tag = svg.substr(begin + 1, end - begin - 1);
    svg.remove_prefix(end + 1);
    if (tag.empty() || tag.find('<') != tag.npos) return false;
    const std::string name(tag.substr(0, tag.find(' ')));
    if (tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
}

std::shared_ptr<const trace::Trace> Step(uint64_t gpu_bytes) {
  trace::TraceInfo info = TraceMaker::PlanInfo();
  info.device.name = "GPU <7>";
  info.device.memory_bytes = gpu_bytes;
  TraceMaker maker(info);
  maker.At(0).Segment(64 * kMiB, 0x1000000);
  maker.Alloc(16 * kMiB, 16 * kMiB, 0x1000000, Category::kParameter);
  maker.At(2'000'000);
  const uint32_t kept = maker.Alloc(32 * kMiB, 32 * kMiB, 0x3000000, Category::kActivation);
  maker.At(6'000'000).Free(kept);
  maker.At(8'000'000).Alloc(kMiB, kMiB, 0x3000000, Category::kUnknown);
  return maker.Finish();
}

TEST(MemorySvg, LabelsPeakCategoriesAxesAndGpu) {
  const std::string svg = MemorySvg(*Step(72 * kMiB), {.title = "train.py"});
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  EXPECT_THAT(svg, AllOf(HasSubstr("train.py"), HasSubstr(">peak 48.00 MiB"),
                         HasSubstr(">Parameter<"), HasSubstr(">Activation<"),
                         HasSubstr(">reserved<"), HasSubstr(">20 MiB<"), HasSubstr(">4 ms<"),
                         HasSubstr(">GPU &lt;7&gt;: 72.00 MiB<"), HasSubstr("time, modelled")));
  EXPECT_THAT(svg, Not(HasSubstr("Gradient")));
}

// The image is embedded in other pages, so it must not need other files or run scripts.
TEST(MemorySvg, IsSelfContained) {
  const std::string svg = MemorySvg(*Step(0), {.title = "</title><script>x()</script>&"});
  EXPECT_TRUE(IsWellFormed(svg)) << svg;
  for (const char* word : {"<script", "href", "url(", "@import", "foreignObject"})
    EXPECT_THAT(svg, Not(HasSubstr(word)));
  EXPECT_THAT(svg, AllOf(HasSubstr("prefers-color-scheme:dark"), HasSubstr("&lt;script&gt;")));
}

// If a limit far above the curve were drawn, the curve would become flat.
TEST(MemorySvg, DrawsTheGpusLimitOnlyIfNearTheCurve) {
  EXPECT_THAT(MemorySvg(*Step(72 * kMiB)), HasSubstr("class=\"card\""));
  EXPECT_THAT(MemorySvg(*Step(uint64_t{24} << 30)), Not(HasSubstr("class=\"card\"")));
}

// `at_least` gives the pictures of two traces the same axes.
TEST(MemorySvg, AxesCanBeLonger) {
  const auto trace = Step(72 * kMiB);
  const MemoryAxes own = MemoryAxesOf(*trace);
  EXPECT_EQ(own.bytes, 72 * kMiB);  // the GPU's memory is drawn
  EXPECT_EQ(own.length_ns, 8'000'000);
  EXPECT_EQ(MemorySvg(*trace, {.at_least = own}), MemorySvg(*trace));
  const std::string svg =
      MemorySvg(*trace, {.at_least = {.bytes = 200 * kMiB, .length_ns = 16'000'000}});
  EXPECT_THAT(svg, AllOf(HasSubstr(">200 MiB<"), HasSubstr(">15 ms<")));
  EXPECT_THAT(MemorySvg(*trace), Not(HasSubstr(">15 ms<")));
}

TEST(MemorySvg, DrawsRandomAndEmptyTraces) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::string svg = MemorySvg(*RandomTrace(seed, 300), {.width = 200, .height = 80});
    EXPECT_TRUE(IsWellFormed(svg)) << seed;
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_LT(svg.size(), 200'000u);
  }
  EXPECT_TRUE(IsWellFormed(MemorySvg(trace::Trace())));
}

TEST(MemorySvg, DrawsTimesFarFromZero) {
  TraceMaker maker;
  constexpr int64_t kFar = 9'000'000'000'000'000'000;
  maker.At(kFar).Alloc(kMiB, kMiB, 0x1000000, Category::kParameter);
  maker.At(kFar + 1000).Alloc(kMiB, kMiB, 0x3000000, Category::kParameter);
  EXPECT_TRUE(IsWellFormed(MemorySvg(*maker.Finish())));
}

TEST(XmlText, EscapesMarkupAndInvalidCharacters) {
  EXPECT_EQ(XmlText("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
  EXPECT_EQ(XmlText("caf\xc3\xa9\n\x01\x1b"), "caf\xc3\xa9\n  ");
  EXPECT_EQ(XmlText("\xff"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace vramscope::exporters
