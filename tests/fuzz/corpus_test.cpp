// The fuzzers' entry functions over the corpus and over damaged copies of it, without libFuzzer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/assembly_entries.h"
#include "tests/fuzz/device_code_entries.h"
#include "tests/fuzz/device_entries.h"
#include "tests/fuzz/folder_entries.h"
#include "tests/fuzz/histogram_entries.h"
#include "tests/fuzz/kineto_entries.h"
#include "tests/fuzz/marks_entries.h"
#include "tests/fuzz/requests_entries.h"
#include "tests/fuzz/run_entries.h"
#include "tests/fuzz/snapshot_entries.h"
#include "tests/fuzz/tail_entries.h"
#include "tests/fuzz/trace_entries.h"
#include "tests/fuzz/typed_entries.h"
#include "tests/fuzz/worker_entries.h"

namespace vramscope::fuzz {
namespace {

using Entry = void (*)(const uint8_t*, size_t);

void Run(Entry entry, const std::string& bytes) {
  entry(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void RunCorpus(Entry entry, const char* name) {
  std::mt19937_64 random(1);
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           std::string(VRAMSCOPE_SOURCE_DIR "/tests/fuzz/corpus/") + name)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    SCOPED_TRACE(file.path().string());
    ++files;
    Run(entry, bytes);
    for (int i = 0; i < 50 && !bytes.empty(); ++i) {
      std::string damaged = bytes;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      if (i % 3 == 0) damaged.resize(random() % damaged.size());
      Run(entry, damaged);
    }
  }
  EXPECT_GT(files, 0);
}

TEST(FuzzCorpus, Trace) { RunCorpus(&Trace, "trace"); }
TEST(FuzzCorpus, Batch) { RunCorpus(&Batch, "batch"); }
TEST(FuzzCorpus, Activities) { RunCorpus(&Activities, "activities"); }
TEST(FuzzCorpus, Pickle) { RunCorpus(&Pickle, "pickle"); }
TEST(FuzzCorpus, Kineto) { RunCorpus(&Kineto, "kineto"); }
TEST(FuzzCorpus, Marks) { RunCorpus(&ProgramMarks, "marks"); }
TEST(FuzzCorpus, HistoryTail) { RunCorpus(&HistoryTail, "history_tail"); }
TEST(FuzzCorpus, ActivityTail) { RunCorpus(&ActivityTail, "activity_tail"); }
TEST(FuzzCorpus, DeviceCode) { RunCorpus(&DeviceCode, "device_code"); }
TEST(FuzzCorpus, Device) { RunCorpus(&DeviceFile, "device"); }
TEST(FuzzCorpus, Histogram) { RunCorpus(&Histogram, "histogram"); }
TEST(FuzzCorpus, ActivityChunks) { RunCorpus(&ActivityChunks, "activity_chunks"); }
TEST(FuzzCorpus, ProgramFolder) { RunCorpus(&ProgramFolder, "program_folder"); }
TEST(FuzzCorpus, FolderStream) { RunCorpus(&FolderStream, "folder_stream"); }
TEST(FuzzCorpus, ModelConfig) { RunCorpus(&ModelConfig, "model_config"); }
TEST(FuzzCorpus, RunJson) { RunCorpus(&RunJson, "run_json"); }
TEST(FuzzCorpus, RunBytes) { RunCorpus(&RunBytes, "run_bytes"); }
TEST(FuzzCorpus, Settings) { RunCorpus(&Settings, "settings"); }
TEST(FuzzCorpus, Requests) { RunCorpus(&Requests, "requests"); }
TEST(FuzzCorpus, Worker) { RunCorpus(&WorkerRequests, "worker"); }
TEST(FuzzCorpus, Outline) { RunCorpus(&TraceOutline, "outline"); }
TEST(FuzzCorpus, Typed) { RunCorpus(&Typed, "typed"); }
TEST(FuzzCorpus, Experiments) { RunCorpus(&Experiments, "experiments"); }
TEST(FuzzCorpus, Assembly) { RunCorpus(&WorkerAnswers, "assembly"); }
TEST(FuzzCorpus, SnapshotJson) { RunCorpus(&SnapshotJson, "snapshot_json"); }

}  // namespace
}  // namespace vramscope::fuzz
