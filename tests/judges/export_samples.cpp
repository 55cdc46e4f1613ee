// Writes the files that the scripts in this folder check: export_samples FOLDER [RECORDED].
//   own.pickle, own.raw.json.gz         a small simulated training run; own_expandable.* is the
//                                       same with expandable segments
//   NAME.original.pickle                a recorded snapshot of the folder RECORDED
//   NAME.pickle, NAME.raw.json.gz       the same snapshot, opened and exported
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/exporters/file.h"
#include "profiler/exporters/memory_snapshot.h"
#include "profiler/exporters/memory_timeline.h"
#include "profiler/importers/open.h"
#include "profiler/trace/input.h"
#include "tests/profiler/exporters/simulated_run.h"

namespace {

using namespace vramscope;

bool Good(const absl::Status& status, const std::string& what) {
  if (!status.ok())
    std::fprintf(stderr, "%s: %s\n", what.c_str(), std::string(status.message()).c_str());
  return status.ok();
}

bool Export(const trace::Trace& trace, const std::string& stem) {
  const auto write = [&](const char* end, auto function) {
    return Good(
        exporters::WriteFile(stem + end, [&](std::ostream& out) { return function(trace, out); }),
        stem + end);
  };
  return write(".pickle",
               [](const auto& t, auto& out) { return exporters::WriteSnapshot(t, out); }) &&
         write(".raw.json.gz",
               [](const auto& t, auto& out) { return exporters::WriteMemoryTimeline(t, out); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: export_samples FOLDER [RECORDED]\n", stderr);
    return 2;
  }
  const std::string out = std::string(argv[1]) + "/";
  if (!Export(*exporters::Simulate({.steps = 4, .layers = 24, .streams = 2}), out + "own") ||
      !Export(*exporters::Simulate({.layers = 24, .expandable = true}), out + "own_expandable"))
    return 1;
  if (argc < 3 || !std::filesystem::is_directory(argv[2])) return 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[2])) {
    const std::string name = file.path().filename().string();
    constexpr std::string_view kEnd = ".pickle.zst";
    if (!name.ends_with(kEnd)) continue;
    const std::string stem = out + name.substr(0, name.size() - kEnd.size());
    const auto bytes = trace::ReadWholeInput(file.path().string(), size_t{1} << 30);
    if (!Good(bytes.status(), name)) return 1;
    std::ofstream(stem + ".original.pickle", std::ios::binary) << *bytes;
    const auto trace = importers::OpenTraceFile(file.path().string(), {});
    if (!Good(trace.status(), name) || !Export(**trace, stem)) return 1;
  }
  return 0;
}
