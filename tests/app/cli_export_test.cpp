// Tests that `export` writes files for other tools completely or not at all. Also tests which files
// remain after Ctrl-C.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/sample_snapshot.h"

namespace vramscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(CliRecording, ExportsSnapshotPickleThatReopens) {
  const std::string file = Write("s.json", {}), out = folder_ / "out.pickle";
  const Outcome written = RunVramscope({"export", file, "--to", "snapshot", "-o", out});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_TRUE(ReadFile(out).starts_with("\x80\x04"));
  json before = Json({"info", file, "--json"}), after = Json({"info", out, "--json"});
  EXPECT_THAT(after["source"].get<std::string>(), HasSubstr("pickle"));
  for (const char* key : {"entries", "peak", "older_allocations", "segments", "alloc_conf",
                          "time_span_ns", "inferred"})
    EXPECT_EQ(before[key], after[key]) << key;
  EXPECT_EQ(Json({"replay", out, "--json"})["addresses"]["matched"], 4);
  EXPECT_EQ(RunVramscope({"export", file, "--to", "snapshot", "-o", "-"}).out, ReadFile(out));

  const Outcome bare = RunVramscope(
      {"export", file, "--to", "snapshot", "--no-categories", "--no-annotations", "-o", "-"});
  EXPECT_EQ(bare.status, 0);
  EXPECT_EQ(bare.out.find("category"), std::string::npos);
  EXPECT_EQ(RunVramscope({"export", file, "--to", "csv", "--no-categories", "-o", "-"}).status, 2);
}

TEST_F(CliRecording, ExportsMemoryTimelineAsGzip) {
  const std::string file = Write("s.json", {}), out = folder_ / "out.raw.json.gz";
  EXPECT_EQ(RunVramscope({"export", file, "--to", "memory-timeline", "-o", out}).status, 0);
  EXPECT_TRUE(ReadFile(out).starts_with("\x1f\x8b"));
  EXPECT_EQ(RunVramscope({"export", file, "--to", "memory-timeline", "-o", "-"}).out,
            ReadFile(out));
  // Exports only a part of the input.
  EXPECT_EQ(RunVramscope({"export", file, "--to", "memory-timeline", "--entries", "0:2", "-o", out})
                .status,
            0);
}

TEST_F(CliRecording, ExportsSvgWithTitle) {
  const std::string file = Write("s.json", {}), out = folder_ / "out.svg";
  EXPECT_EQ(RunVramscope({"export", file, "--to", "svg", "--title", "a < b", "-o", out}).status, 0);
  const std::string svg = ReadFile(out);
  EXPECT_THAT(svg, AllOf(HasSubstr("</svg>"), HasSubstr("a &lt; b"), HasSubstr("peak 6.00 MiB")));
  EXPECT_THAT(RunVramscope({"export", file, "--to", "svg", "-o", "-"}).out, HasSubstr("s.json"));
  EXPECT_EQ(RunVramscope({"export", file, "--to", "csv", "--title", "a", "-o", "-"}).status, 2);
}

TEST_F(CliRecording, ExportsTimelineAsPngPdfAndSvg) {
  const std::string file = Write("s.json", {}), out = folder_ / "out.png";
  const Outcome png =
      RunVramscope({"export", file, "--to", "png", "--size", "800x600", "--scale", "2", "-o", out});
  if (png.status == 3 && png.err.find("has no window") != std::string::npos)
    GTEST_SKIP() << "a build without the window";
  ASSERT_EQ(png.status, 0) << png.err;
  const std::string bytes = ReadFile(out);
  ASSERT_TRUE(bytes.starts_with("\x89PNG"));
  const auto number = [&](size_t at) {  // reads a big-endian number of the header
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  EXPECT_EQ(number(16), 1600u);
  EXPECT_EQ(number(20), 1200u);
  EXPECT_EQ(
      RunVramscope({"export", file, "--to", "png", "--size", "800x600", "--scale", "2", "-o", "-"})
          .out,
      bytes)
      << "the image is the same each time";
  EXPECT_NE(RunVramscope({"export", file, "--to", "png", "--size", "800x600", "--scale", "2",
                          "--theme", "dark", "-o", "-"})
                .out,
            bytes);
  const Outcome pdf = RunVramscope({"export", file, "--to", "pdf", "--size", "700x500", "-o", "-"});
  ASSERT_EQ(pdf.status, 0) << pdf.err;
  EXPECT_TRUE(pdf.out.starts_with("%PDF-"));
  EXPECT_THAT(pdf.out, HasSubstr("/MediaBox [0 0 700"));
  // SVG shows the same drawing, here in another size.
  const Outcome svg = RunVramscope({"export", file, "--to", "svg", "--size", "700x500", "--title",
                                    "a < b", "--theme", "dark", "-o", "-"});
  ASSERT_EQ(svg.status, 0) << svg.err;
  EXPECT_THAT(svg.out,
              AllOf(HasSubstr("<svg xmlns"), HasSubstr("viewBox=\"0 0 700 500\""),
                    HasSubstr("a &lt; b"), HasSubstr("fill=\"#15171c\""), HasSubstr("</svg>")));
  EXPECT_EQ(RunVramscope({"export", file, "--to", "svg", "--theme", "dark", "-o", "-"}).status, 2)
      << "without a size, it only shows the memory, in the reader's theme";
  const Outcome small = RunVramscope({"export", file, "--to", "png", "--size", "1x1", "-o", "-"});
  EXPECT_EQ(small.status, 2);
  EXPECT_THAT(small.err, HasSubstr("1680x1050"));
  EXPECT_EQ(RunVramscope({"export", file, "--to", "csv", "--size", "800x600", "-o", "-"}).status,
            2);
}

TEST_F(CliRecording, ExportsHtmlReportWithBaseline) {
  const std::string file = Write("s.json", {}), other = Write("t.json", {.activation = 3 * kMiB});
  const std::string out = folder_ / "out.html";
  const Outcome written = RunVramscope(
      {"export", file, "--to", "html", "--title", "<script>alert(1)</script>", "-o", out});
  ASSERT_EQ(written.status, 0) << written.err;
  const std::string page = ReadFile(out);
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;"), HasSubstr("peak 6.00 MiB"),
                          HasSubstr("The peak by category"), HasSubstr("</html>")));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  const Outcome both =
      RunVramscope({"export", file, "--to", "html", "--baseline", other, "-o", "-"});
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("Compared with t.json"));
  EXPECT_EQ(RunVramscope({"export", file, "--to", "csv", "--baseline", other, "-o", "-"}).status,
            2);
  EXPECT_EQ(RunVramscope({"export", file, "--to", "html", "--baseline", other, "-o", other}).status,
            2)
      << "the output is also an input";
}

TEST_F(CliRecording, ExportsEntriesAsTrace) {
  const std::string file = Write("s.json", {}), out = folder_ / "part.trace";
  EXPECT_EQ(RunVramscope({"export", file, "--to", "trace", "--entries", "2:4", "-o", out}).status,
            0);
  const json part = Json({"info", out, "--json"});
  const json expected = Json({"info", file, "--entries", "2:4", "--json"});
  for (const char* key : {"peak", "allocations", "segments", "events"})
    EXPECT_EQ(part[key], expected[key]) << key;
  EXPECT_EQ(Json({"peak", out, "--json"})["by_category"],
            Json({"peak", file, "--entries", "2:4", "--json"})["by_category"]);
}

TEST_F(CliRecording, FailedExportLeavesNoFile) {
  const std::string file = Write("s.json", {}), out = folder_ / "out.pickle";
  WriteFile(out, "old");
  const std::string broken = folder_ / "broken.json";
  WriteFile(broken, ReadFile(file).substr(0, 500));
  for (const char* format : {"snapshot", "memory-timeline", "chrome", "csv"}) {
    EXPECT_EQ(RunVramscope({"export", broken, "--to", format, "-o", out}).status, 3) << format;
    EXPECT_EQ(ReadFile(out), "old");
    const std::string nowhere = folder_ / "no/such/folder/out";
    const Outcome outcome = RunVramscope({"export", file, "--to", format, "-o", nowhere});
    EXPECT_EQ(outcome.status, 3) << format;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(nowhere), HasSubstr("No such file")));
    if (std::filesystem::exists("/dev/full")) {
      const Outcome full = RunVramscope({"export", file, "--to", format, "-o", "/dev/full"});
      EXPECT_EQ(full.status, 4) << format;
      EXPECT_THAT(full.err, HasSubstr("/dev/full"));
    }
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "")) {
    EXPECT_THAT(entry.path().filename().string(),
                ::testing::AnyOf("s.json", "out.pickle", "broken.json"));
    ++files;
  }
  EXPECT_EQ(files, 3);
}

// The input is a pipe without data, so the program waits while reading.
TEST_F(CliRecording, InterruptEndsEveryCommand) {
  const std::string file = Write("s.json", {}), out = folder_ / "out";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"info"},
                                             {"peak"},
                                             {"explain"},
                                             {"replay"},
                                             {"phases"},
                                             {"diff", file},
                                             {"export", "--to", "snapshot", "-o", out}}) {
    const std::string pipe = folder_ / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    int writer = -1;  // opens as soon as the program reads
    std::vector<std::string> arguments = command;
    arguments.push_back(pipe);
    const Outcome outcome =
        RunVramscope(arguments, {.signal = SIGINT, .signal_when = [&] {
                                   writer = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
                                   return writer >= 0;
                                 }});
    EXPECT_EQ(outcome.status, 130) << command[0];
    EXPECT_THAT(outcome.err, HasSubstr("vramscope: cancelled\n")) << command[0];
    EXPECT_EQ(outcome.out, "") << command[0];
    EXPECT_FALSE(std::filesystem::exists(out));
    close(writer);
    std::filesystem::remove(pipe);
  }
}

}  // namespace
}  // namespace vramscope::test
