// Opens files and pipes, whose format is recognised by the content. Tests progress, cancellation
// and errors.
#include "profiler/importers/open.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/importers/importer.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/importers/pickle_writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::importers {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using TracePtr = std::shared_ptr<const trace::Trace>;

class OpenFile : public ::testing::Test {
 protected:
  OpenFile() {
    std::string name = (fs::temp_directory_path() / "vramscope_open_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~OpenFile() override { fs::remove_all(dir_); }
  std::string At(const std::string& name) const { return (dir_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    trace::testing::WriteFile(At(name), bytes);
    return At(name);
  }
  static TracePtr Open(const std::string& path, const OpenOptions& options = {}) {
    auto t = OpenTraceFile(path, options);
    EXPECT_TRUE(t.ok()) << t.status();
    return t.ok() ? *t : nullptr;
  }
  std::string Error(const std::string& name, const std::string& bytes, absl::StatusCode code) {
    const absl::Status status = OpenTraceFile(Write(name, bytes), {}).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(At(name)));
    return std::string(status.message());
  }
  fs::path dir_;
};

const std::string& Sample() {
  static const auto* bytes = new std::string(testing::ToPickle(testing::SampleSnapshot()));
  return *bytes;
}

std::string Gzip(const std::string& bytes) {
  std::string out(compressBound(bytes.size()) + 64, '\0');
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string Zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

// ---- Kinds of files

std::string_view ImporterOf(std::string_view head) {
  const ImporterEntry* const importer = FindImporter(head);
  return importer == nullptr ? "" : importer->name;
}

TEST(FindImporter, DetectsFileKindsByTheirBeginning) {
  EXPECT_EQ(ImporterOf("\x89VRT...."), "trace");
  for (const char* head : {"\x80\x02}q", "\x80\x04\x95", "\x80\x05\x95"})
    EXPECT_EQ(ImporterOf(head), "snapshot");
  EXPECT_EQ(ImporterOf("\x80\x06\x95"), "");
  for (const char* head : {R"({"segments": [)", R"(  {"device_traces":)",
                           R"({"note": "traceEvents", "x": {"traceEvents": 1}, "segments": [)",
                           "\xef\xbb\xbf{\"allocator_settings\": {"})
    EXPECT_EQ(ImporterOf(head), "snapshot") << head;
  for (const char* head :
       {R"({"schemaVersion": 1,)", R"({ "deviceProperties": [{"segments": 1}],)",
        R"({"a": "\"segments\"", "traceEvents": [)", R"([{"ph": "X", "name": "segments"})"})
    EXPECT_EQ(ImporterOf(head), "kineto") << head;
  for (const char* head : {"", "{", "[1, 2]", R"({"x": {"segments": 1}})", R"(["segments")",
                           "segments", R"({"segments)", "\x80"})
    EXPECT_EQ(ImporterOf(head), "") << head;
  EXPECT_EQ(ImporterOf("[[-1, 2"), "memory-timeline");
  EXPECT_EQ(ImporterOf(R"({"allocated_bytes.all.current": 1)"), "memory-stats");
}

TEST_F(OpenFile, OpensEveryKindPlainAndCompressedUnderAnyName) {
  const std::string json = testing::SampleSnapshot().dump();
  const TracePtr expected = Open(Write("a.pickle", Sample()));
  ASSERT_NE(expected, nullptr);
  EXPECT_GT(expected->allocations.size(), 0u);
  EXPECT_EQ(expected->info.title, "a.pickle");
  EXPECT_EQ(expected->info.backend, trace::Backend::kImported);
  EXPECT_TRUE(expected->info.measured);
  EXPECT_EQ(expected->info.source, "CUDA memory snapshot (pickle, protocol 4)");
  EXPECT_TRUE(expected->complete);
  int n = 0;
  for (const std::string& bytes : {Sample(), Gzip(Sample()), Zstd(Sample()), json, Gzip(json)}) {
    const std::string path = Write("file" + std::to_string(n++) + ".trace", bytes);
    const TracePtr t = Open(path);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->events.kind, expected->events.kind);
    EXPECT_EQ(t->allocations.bytes_rounded, expected->allocations.bytes_rounded);
    EXPECT_EQ(t->info.title, fs::path(path).filename().string());
  }
  // A file in vramscope's own format is read by the trace reader.
  const auto stream = trace::testing::RandomStream(3, 2000);
  auto writer = trace::TraceWriter::ToFile(At("own.pickle"));
  trace::testing::Play(stream, **writer);
  ASSERT_TRUE((*writer)->Close().ok());
  const TracePtr own = Open(At("own.pickle"));
  EXPECT_EQ(trace::testing::Difference(*own, *trace::testing::Build(stream)), "");
  const std::string packed = Zstd(trace::testing::ReadFile(At("own.pickle")));
  EXPECT_EQ(trace::testing::Difference(*Open(Write("own.zst", packed)), *own), "");
  const TracePtr kineto = Open(Write("k.json", R"({"schemaVersion": 1, "traceEvents": [
      {"ph": "i", "name": "[memory]", "ts": 1, "args":
        {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 512, "Total Allocated": 512,
         "Total Reserved": 2097152}}]})"));
  ASSERT_NE(kineto, nullptr);
  EXPECT_GT(kineto->allocations.size(), 0u);
}

TEST_F(OpenFile, OpensStandardInput) {
  const auto stream = trace::testing::RandomStream(3, 2000);
  auto writer = trace::TraceWriter::ToFile(At("own.trace"));
  trace::testing::Play(stream, **writer);
  ASSERT_TRUE((*writer)->Close().ok());
  for (const std::string& bytes :
       {Sample(), Gzip(Sample()), trace::testing::ReadFile(At("own.trace"))}) {
    const TracePtr expected = Open(Write("x", bytes));
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(ends[1]);
    const int saved = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    const TracePtr t = Open("-");
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
    ::close(ends[0]);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->events.kind, expected->events.kind);
    EXPECT_TRUE(t->complete);
  }
}

// ---- Errors

TEST_F(OpenFile, ErrorsNameTheFileAndItsLikelyKind) {
  EXPECT_EQ(OpenTraceFile(At("missing"), {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenTraceFile(dir_.string(), {}).status().code(), absl::StatusCode::kInvalidArgument);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Error("a", "", invalid), HasSubstr("an empty file"));
  EXPECT_THAT(Error("b", "some words\n", invalid), HasSubstr("text"));
  EXPECT_THAT(Error("c", "\x89PNG\r\n\x1a\n", invalid), HasSubstr("a PNG picture"));
  EXPECT_THAT(Error("d", R"({"loss": [1, 2]})", invalid), HasSubstr("JSON"));
  EXPECT_THAT(Error("e", Gzip("some words\n"), invalid), HasSubstr("text"));
  EXPECT_THAT(Error("f", std::string("PK\x03\x04 and more"), invalid), HasSubstr("torch.save"));
  // An error about damage states the byte offset.
  const std::string damaged = Sample().substr(0, Sample().size() - 1) + "R";
  EXPECT_THAT(Error("g", damaged, absl::StatusCode::kDataLoss), HasSubstr(": byte "));
  EXPECT_THAT(Error("h", Gzip(Sample()).substr(0, 200), absl::StatusCode::kDataLoss),
              HasSubstr("gzip"));
}

TEST_F(OpenFile, OpensTruncatedTraceUpToTheCut) {
  const auto stream = trace::testing::TrainingStream({.max_events = 100'000});
  auto writer = trace::TraceWriter::ToFile(At("own.trace"));
  trace::testing::Play(stream, **writer);
  ASSERT_TRUE((*writer)->Close().ok());
  const std::string bytes = trace::testing::ReadFile(At("own.trace"));
  const TracePtr t = Open(Write("cut.trace", bytes.substr(0, bytes.size() - 100)));
  ASSERT_NE(t, nullptr);
  EXPECT_FALSE(t->complete);
  EXPECT_THAT(t->warnings.at(0), HasSubstr("cut at byte"));
}

TEST_F(OpenFile, KeepsWarningsOfAllStages) {
  testing::Json snapshot = testing::SampleSnapshot();
  snapshot["allocator_settings"]["trace_alloc_overflowed"] = true;
  auto& entries = snapshot["device_traces"][0];
  entries.push_back({{"action", "free_completed"}, {"addr", 77}, {"size", 1}, {"stream", 0}});
  entries.push_back({{"action", "free_completed"}, {"addr", 77}, {"size", 1}, {"stream", 0}});
  const TracePtr t = Open(Write("a", testing::ToPickle(snapshot)));
  ASSERT_NE(t, nullptr);
  EXPECT_THAT(t->warnings,
              ::testing::Contains(HasSubstr("frees ignored because nothing was allocated")));
  EXPECT_THAT(t->warnings, ::testing::Contains(HasSubstr("oldest")));
}

// ---- During loading

TEST_F(OpenFile, ProgressEndsAtOne) {
  const std::string path = Write("a", testing::ToPickle(testing::ManyEntries(30'000)));
  OpenOptions options;
  std::vector<double> seen;
  options.progress = [&](double fraction) { seen.push_back(fraction); };
  ASSERT_NE(Open(path, options), nullptr);
  ASSERT_GT(seen.size(), 5u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_DOUBLE_EQ(seen.back(), 1);
}

TEST_F(OpenFile, CanBeCancelledAtEveryStage) {
  const std::string path = Write("a", testing::ToPickle(testing::ManyEntries(30'000)));
  for (const double at : {0.0, 0.3, 0.69, 0.7, 0.8, 0.88, 0.9, 0.95}) {
    std::atomic<bool> cancel = false;
    OpenOptions options;
    options.cancel = &cancel;
    options.progress = [&](double fraction) {
      if (fraction >= at) cancel = true;
    };
    EXPECT_EQ(OpenTraceFile(path, options).status().code(), absl::StatusCode::kCancelled) << at;
  }
}

// While a pipe pauses in the middle, a preview must have the events read so far.
TEST_F(OpenFile, PreviewsHaveEventsReadSoFar) {
  const std::string bytes = testing::ToPickle(testing::ManyEntries(60'000));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    const size_t half = bytes.size() / 2;
    for (size_t at = 0; at < bytes.size();) {
      if (at == half) std::this_thread::sleep_for(std::chrono::milliseconds(700));
      const ssize_t n = ::write(ends[1], bytes.data() + at, (at < half ? half : bytes.size()) - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    ::close(ends[1]);
  });
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  OpenOptions options;
  std::vector<TracePtr> previews;
  options.preview = [&](TracePtr t) { previews.push_back(std::move(t)); };
  const TracePtr whole = Open("-", options);
  writer.join();
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(ends[0]);
  ASSERT_NE(whole, nullptr);
  ASSERT_GT(previews.size(), 0u);
  const trace::Trace& first = *previews.front();
  EXPECT_EQ(first.info.title, "standard input");
  EXPECT_GE(first.events.size(), 20'000u);
  EXPECT_LT(first.events.size(), whole->events.size());
  EXPECT_GT(first.allocations.size(), 0u);
  EXPECT_EQ(first.end_message, "");
}

// ---- Parts of files

TEST_F(OpenFile, RangeStartsWithEarlierBlocks) {
  const std::string path = Write("a", testing::ToPickle(testing::ManyEntries(3000)));
  OpenOptions options;
  options.infer = false;
  options.first_entry = 1000;  // the free of the block that entry 999 allocated
  options.last_entry = 1499;
  const TracePtr t = Open(path, options);
  ASSERT_NE(t, nullptr);
  ASSERT_NE(t->recording_begin, trace::kNoEvent);
  EXPECT_EQ(t->events.size() - t->recording_begin - 1, 500u);
  EXPECT_LT(t->allocations.alloc_event[0], t->recording_begin);
  EXPECT_GT(t->allocations.alloc_event[1], t->recording_begin);
  EXPECT_EQ(t->allocations.free_requested_event[0], t->recording_begin + 1);
}

TEST_F(OpenFile, ReadsOnlyTheChosenDevice) {
  testing::Json snapshot = testing::ManyEntries(300);
  snapshot["device_traces"].push_back(testing::ManyEntries(30)["device_traces"][0]);
  const std::string path = Write("a", testing::ToPickle(snapshot));
  const auto devices = [](const trace::Trace& t) {
    return std::set<int>(t.allocations.device.begin(), t.allocations.device.end());
  };
  EXPECT_EQ(devices(*Open(path)), (std::set<int>{0, 1}));
  OpenOptions options;
  options.device = 1;
  const TracePtr t = Open(path, options);
  EXPECT_EQ(devices(*t), std::set<int>{1});
  EXPECT_EQ(t->allocations.size(), 10u);
}

TEST_F(OpenFile, WithoutInferenceKeepsOnlyStatedCategories) {
  testing::Json snapshot = testing::ManyEntries(30);
  snapshot["categories"] = {"unknown", "GRADIENT", "PARAMETER"};
  auto& entries = snapshot["device_traces"][0];
  entries.erase(entries.begin());  // the first block is now from before the recording
  entries[1]["category"] = 1;      // its free_completed
  entries[2]["category"] = 2;      // the next alloc
  const uint64_t base = 0x7f1000000000;
  snapshot["segments"].push_back({{"device", 0},
                                  {"address", base},
                                  {"total_size", 2097152},
                                  {"stream", 0},
                                  {"segment_type", "small"},
                                  {"blocks",
                                   {{{"address", base},
                                     {"size", 512},
                                     {"requested_size", 512},
                                     {"state", "active_allocated"},
                                     {"category", 2}}}}});
  const std::string path = Write("a", testing::ToPickle(snapshot));
  OpenOptions options;
  options.infer = false;
  const TracePtr t = Open(path, options);
  ASSERT_NE(t, nullptr);
  for (uint32_t i = 0; i < t->slices.size(); ++i)
    EXPECT_EQ(t->slices.kind[i], trace::SliceKind::kAnnotation);
  EXPECT_EQ(t->retags.size(), 0u);
  ASSERT_GT(t->allocations.size(), 4u);
  const std::vector<trace::Category> categories(t->allocations.category.begin(),
                                                t->allocations.category.begin() + 4);
  EXPECT_EQ(categories, (std::vector{trace::Category::kGradient, trace::Category::kParameter,
                                     trace::Category::kParameter, trace::Category::kUnknown}));
}

// ---- Recordings by other tools

TEST(SharedSnapshots, MatchMemoryFiguresOfTheIndex) {
  const fs::path folder = fs::path(VRAMSCOPE_SOURCE_DIR) / "../shared/snapshots";
  if (!fs::exists(folder / "index.json"))
    GTEST_SKIP() << "no ../shared/snapshots beside the sources";
  std::ifstream file(folder / "index.json");
  const nlohmann::json index = nlohmann::json::parse(file);
  ASSERT_GE(index["files"].size(), 6u);
  for (const nlohmann::json& f : index["files"]) {
    SCOPED_TRACE(f["file"].get<std::string>());
    const auto opened = OpenTraceFile((folder / f["file"].get<std::string>()).string(), {});
    ASSERT_TRUE(opened.ok()) << opened.status();
    const trace::Trace& t = **opened;
    EXPECT_THAT(t.warnings, IsEmpty());
    ASSERT_NE(t.recording_begin, trace::kNoEvent);
    const auto at = [&](const char* when, trace::EventIndex event) {
      const analysis::LiveSet live = analysis::LiveAt(t, event);
      EXPECT_EQ(live.allocated, f[when]["allocated"].get<uint64_t>()) << when;
      EXPECT_EQ(live.requested, f[when]["requested"].get<uint64_t>()) << when;
      EXPECT_EQ(live.reserved, f[when]["reserved"].get<uint64_t>()) << when;
      EXPECT_EQ(live.allocations.size(), f[when]["blocks"].get<size_t>()) << when;
    };
    at("start", t.recording_begin);
    at("end", t.events.size() - 1);
    const analysis::MemoryCurves curves = analysis::ComputeCurves(t);
    const auto highest = [](const auto& values) {
      return *std::max_element(values.begin(), values.end());
    };
    EXPECT_EQ(highest(curves.allocated), f["peak"]["allocated"].get<uint64_t>());
    EXPECT_EQ(highest(curves.requested), f["peak"]["requested"].get<uint64_t>());
    EXPECT_EQ(highest(curves.reserved), f["peak"]["reserved"].get<uint64_t>());
    // Every entry is an event.
    std::map<trace::EventKind, uint64_t> counts;
    for (uint32_t i = t.recording_begin + 1; i < t.events.size(); ++i) ++counts[t.events.kind[i]];
    const auto entries = [&](const char* action) {
      return f["events"].contains(action) ? f["events"][action].get<uint64_t>() : 0;
    };
    EXPECT_EQ(counts[trace::EventKind::kAlloc], entries("alloc"));
    EXPECT_EQ(counts[trace::EventKind::kFreeRequested], entries("free_requested"));
    EXPECT_EQ(counts[trace::EventKind::kFreeCompleted], entries("free_completed"));
    EXPECT_EQ(counts[trace::EventKind::kSegmentAlloc], entries("segment_alloc"));
    EXPECT_EQ(counts[trace::EventKind::kSegmentFree], entries("segment_free"));
    for (uint32_t id = 0; id < t.allocations.size(); ++id)
      EXPECT_TRUE(t.allocations.segment[id].valid());
  }
}

}  // namespace
}  // namespace vramscope::importers
