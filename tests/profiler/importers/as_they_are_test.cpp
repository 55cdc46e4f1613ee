// Reads files that are not complete runs: snapshots without history, entries without times,
// truncated files, and files that unpack to more data than a recording can have.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/importers/open.h"
#include "profiler/trace/memory_budget.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/importers/memory_input.h"
#include "tests/profiler/importers/pickle_writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::importers {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Json;
using testing::ManyEntries;
using testing::SampleSnapshot;
using testing::ToPickle;
using TracePtr = std::shared_ptr<const trace::Trace>;

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

std::string Repeated(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

class IncompleteRecordings : public ::testing::Test {
 protected:
  IncompleteRecordings() {
    std::string name = (fs::temp_directory_path() / "vramscope_as_they_are_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    dir_ = name;
  }
  ~IncompleteRecordings() override { fs::remove_all(dir_); }
  std::string Write(const std::string& bytes) {
    const std::string path = (dir_ / std::to_string(next_++)).string();
    trace::testing::WriteFile(path, bytes);
    return path;
  }
  TracePtr Open(const std::string& bytes, const OpenOptions& options = {}) {
    auto t = OpenTraceFile(Write(bytes), options);
    EXPECT_TRUE(t.ok()) << t.status();
    return t.ok() ? *t : nullptr;
  }
  absl::Status Error(const std::string& bytes, const OpenOptions& options = {}) {
    return OpenTraceFile(Write(bytes), options).status();
  }
  fs::path dir_;
  int next_ = 0;
};

trace::MemorySums AtEnd(const trace::Trace& t) {
  trace::MemoryCursor at(t);
  at.AdvanceTo(t.events.size());
  return at.sums();
}

// ---- Snapshots without history

TEST_F(IncompleteRecordings, SnapshotWithoutHistoryIsAState) {
  Json s = SampleSnapshot();
  s["device_traces"] = Json::array({Json::array()});
  const Json list = s["segments"];
  Json bare = s;
  bare.erase("device_traces");
  // Out-of-memory observers write such files. An example is yiyi_oom in ../shared/snapshots/more.
  Json observer = s;
  observer["device_traces"] =
      Json::array({Json::array({{{"action", "snapshot"}, {"addr", 0}, {"size", 9}}})});
  for (const std::string& bytes :
       {ToPickle(s), s.dump(), ToPickle(bare), ToPickle(observer), ToPickle(list), list.dump(),
        ToPickle(list, {2, false}), Gzip(list.dump())}) {
    const TracePtr t = Open(bytes);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->info.content, trace::Content::kState);
    EXPECT_FALSE(t->info.has_times);
    EXPECT_EQ(t->info.start_unix_ns, 0);
    EXPECT_EQ(t->begin_ns(), t->end_ns());
    EXPECT_THAT(t->info.source, HasSubstr("snapshot"));
    EXPECT_GT(AtEnd(*t).allocated, 0u);
    EXPECT_GT(AtEnd(*t).reserved, AtEnd(*t).allocated);
  }
  EXPECT_THAT(Open(ToPickle(list))->info.source, HasSubstr("a list of segments"));
  // A range of entries cannot be read.
  OpenOptions part;
  part.last_entry = 3;
  EXPECT_EQ(Error(ToPickle(list), part).code(), absl::StatusCode::kOutOfRange);
  // With entries, the content is a run.
  EXPECT_EQ(Open(ToPickle(SampleSnapshot()))->info.content, trace::Content::kRun);
}

TEST_F(IncompleteRecordings, ReadsMemoryStatisticsWithoutBlocks) {
  const Json flat = {{"active.all.current", 3},
                     {"allocated_bytes.all.current", 1024},
                     {"allocated_bytes.all.peak", 4096},
                     {"max_split_size", -1},
                     {"num_ooms", 0}};
  const Json nested = {{"active", {{"all", {{"current", 3}}}}},
                       {"allocated_bytes", {{"all", {{"current", 1024}, {"peak", 4096}}}}},
                       {"max_split_size", -1},
                       {"num_ooms", 0}};
  for (const std::string& bytes : {flat.dump(), nested.dump(2), Zstd(flat.dump())}) {
    const TracePtr t = Open(bytes);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->info.content, trace::Content::kState);
    EXPECT_FALSE(t->info.has_times);
    EXPECT_EQ(t->allocations.size(), 0u);
    ASSERT_EQ(t->info.statistics.size(), 5u);
    EXPECT_EQ(t->info.statistics[2], (trace::Statistic{"allocated_bytes.all.peak", 4096}));
    EXPECT_EQ(t->info.statistics[3], (trace::Statistic{"max_split_size", -1}));
    EXPECT_TRUE(t->complete);
  }
  const TracePtr cut = Open(flat.dump().substr(0, flat.dump().size() - 8));
  ASSERT_NE(cut, nullptr);
  EXPECT_FALSE(cut->complete);
  EXPECT_EQ(cut->info.statistics.size(), 4u);
}

// ---- Entries without times

TEST_F(IncompleteRecordings, NumbersEntriesWithoutTimes) {
  Json s = SampleSnapshot();
  Json entries = s["device_traces"][0];
  for (Json& entry : entries) entry.erase("time_us");
  s["device_traces"][0] = entries;
  OpenOptions part;
  part.infer = false;  // one event per entry
  const TracePtr t = Open(ToPickle(s), part);
  ASSERT_NE(t, nullptr);
  EXPECT_FALSE(t->info.has_times);
  EXPECT_EQ(t->info.content, trace::Content::kRun);
  EXPECT_EQ(t->info.start_unix_ns, 0);
  for (uint32_t i = t->recording_begin + 1; i < t->events.size(); ++i)
    EXPECT_EQ(t->events.time_ns[i], i - t->recording_begin - 1);
  for (const std::string& warning : t->warnings)
    EXPECT_EQ(warning.find("microsecond"), std::string::npos) << warning;
  part.first_entry = 4;
  part.last_entry = 5;
  const TracePtr p = Open(ToPickle(s), part);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->events.time_ns[p->recording_begin + 1], 4);
  part = {};
  part.to_ns = 5;
  EXPECT_EQ(Error(ToPickle(s), part).code(), absl::StatusCode::kInvalidArgument);
}

// ---- Truncated files

// Cuts files between and within entries. A later cut must give at least as many entries. It must
// not give an error if at least one entry is complete.
TEST_F(IncompleteRecordings, ReadsTruncatedSnapshotUpToItsLastEntry) {
  Json traces_first;
  traces_first["device_traces"] = SampleSnapshot()["device_traces"];
  traces_first["segments"] = SampleSnapshot()["segments"];
  const std::string whole = ToPickle(SampleSnapshot());
  for (const std::string& bytes :
       {whole, SampleSnapshot().dump(), ToPickle(SampleSnapshot(), {4, true, 1000, true}),
        ToPickle(SampleSnapshot(), {2, false}), ToPickle(SampleSnapshot(), {4, true, 3}),
        ToPickle(traces_first), traces_first.dump()}) {
    size_t opened = 0, entries_most = 0;
    OpenOptions options;
    options.infer = false;
    for (size_t size = 8; size < bytes.size(); size += 7) {
      SCOPED_TRACE(::testing::Message() << size << " of " << bytes.size());
      auto t = OpenTraceFile(Write(bytes.substr(0, size)), options);
      if (!t.ok()) {
        EXPECT_EQ(opened, 0u) << t.status();
        continue;
      }
      ++opened;
      const trace::Trace& trace = **t;
      EXPECT_FALSE(trace.complete);
      EXPECT_THAT(trace.end_message, HasSubstr("byte"));
      EXPECT_THAT(trace.warnings, Contains(trace.end_message));
      const size_t entries = trace.events.size() - trace.recording_begin - 1;
      if (trace.info.content == trace::Content::kRun)
        entries_most = std::max(entries_most, entries);
    }
    EXPECT_GT(opened, 20u);
    EXPECT_GE(entries_most, 8u);
  }
}

TEST_F(IncompleteRecordings, RollsBackTheEndStateOfATruncatedFile) {
  // The first half of the file must end with the state that the whole file has at the same entry.
  const Json s = ManyEntries(400);
  const std::string bytes = ToPickle(s);
  OpenOptions part;
  part.infer = false;
  const TracePtr cut = Open(bytes.substr(0, bytes.size() / 2), part);
  ASSERT_NE(cut, nullptr);
  const uint32_t entries = cut->events.size() - cut->recording_begin - 1;
  ASSERT_GT(entries, 50u);
  const TracePtr whole = Open(bytes, part);
  trace::MemoryCursor at(*whole);
  at.AdvanceTo(whole->recording_begin + 1 + entries);
  EXPECT_EQ(AtEnd(*cut).allocated, at.sums().allocated);
  EXPECT_EQ(AtEnd(*cut).reserved, at.sums().reserved);
  // A range of entries of the first half must equal the same range of the whole file.
  part.first_entry = 20;
  part.last_entry = 39;
  const TracePtr of_cut = Open(bytes.substr(0, bytes.size() / 2), part);
  const TracePtr of_whole = Open(bytes, part);
  EXPECT_FALSE(of_cut->complete);
  EXPECT_EQ(AtEnd(*of_cut).allocated, AtEnd(*of_whole).allocated);
  EXPECT_EQ(AtEnd(*of_cut).reserved, AtEnd(*of_whole).reserved);
}

TEST_F(IncompleteRecordings, ReadsTruncatedCompressedSnapshot) {
  const std::string bytes = ToPickle(ManyEntries(30'000));
  for (const std::string& packed : {Gzip(bytes), Zstd(bytes)}) {
    const TracePtr t = Open(packed.substr(0, packed.size() / 2));
    ASSERT_NE(t, nullptr);
    EXPECT_FALSE(t->complete);
    EXPECT_GT(t->events.size(), 1000u);
  }
  // Damage other than truncation must still be an error.
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = damaged[bytes.size() / 2 + 1] = 'R';
  EXPECT_EQ(Error(damaged).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(
      IsRefused(Error("\x80\x04"
                      "cos\nsystem\n(tR.")));
  EXPECT_FALSE(IsRefused(Error("\x80\x04]q")));
}

// ---- Decompression bombs

std::string EntriesPickle(size_t n) {
  std::string s = "\x80\x02}(";
  const auto text = [&s](const std::string& t, char memo) {
    s += 'X';
    s += static_cast<char>(t.size());
    s.append(3, '\0');
    s += t + "q" + memo;
  };
  text("segments", 0);
  s += ']';
  text("device_traces", 1);
  s += "](](}(";
  text("action", 2);
  text("alloc", 3);
  text("addr", 4);
  s += std::string("K\0", 2);
  text("size", 5);
  s += "K\x09u";
  s += Repeated("}(h\x02h\x03h\x04K\x07h\x05K\x09u", n);
  return s + "eeu.";
}

std::string EntriesJson(size_t n) {
  return R"({"segments":[],"device_traces":[[)" +
         Repeated(R"({"action":"alloc","addr":7,"size":9},)", n) + R"({"action":"snapshot"}]]})";
}

std::string BlocksJson(size_t n) {
  return R"({"segments":[{"address":4096,"total_size":512,"blocks":[)" +
         Repeated(R"({"state":"active_allocated","size":1},)", n) + R"({"state":"inactive"}]}]})";
}

std::string StringsJson(size_t n) {
  std::string s = R"({"segments":[],"device_traces":[[)";
  for (size_t i = 0; i < n; ++i)
    s += R"({"action":"alloc","addr":7,"user_metadata":")" + std::to_string(i) + R"("},)";
  return s + R"({"action":"snapshot"}]]})";
}

std::string FramesJson(size_t n) {
  std::string s = R"({"segments":[],"device_traces":[[{"action":"alloc","frames":[)";
  for (size_t i = 0; i < n; ++i)
    s += R"({"name":"f","filename":"g","line":)" + std::to_string(i) + "},";
  return s + R"({"line":2}]}]]})";
}

std::string KinetoText(const std::string& event, size_t n) {
  return R"({"traceEvents":[{"ph":"i","name":"[memory]","ts":1,"args":{"Bytes":8,"Addr":1}},)" +
         Repeated(event + ",", n) + "{}]}";
}

std::vector<std::string> Bombs(size_t n) {
  return {EntriesPickle(n),
          EntriesJson(n),
          BlocksJson(n),
          StringsJson(n),
          FramesJson(n),
          KinetoText(R"({"ph":"X","cat":"cpu_op","name":"mm","ts":5,"dur":1})", n),
          KinetoText(R"({"ph":"X","cat":"python_function","name":"f","ts":5,"dur":1})", 4 * n),
          KinetoText(R"({"ph":"X","cat":"kernel","name":"k","ts":5,"dur":1})", n),
          KinetoText(R"({"ph":"X","cat":"user_annotation","name":"a","ts":5,"dur":1})", n),
          KinetoText(R"({"name":"[memory]","ts":1,"args":{"Bytes":8,"Addr":1}})", n)};
}

TEST_F(IncompleteRecordings, EveryReaderStopsAtTheMemoryLimit) {
  OpenOptions options;
  options.memory_limit = uint64_t{4} << 20;
  for (const std::string& bomb : Bombs(60'000))
    for (const std::string& bytes : {bomb, Gzip(bomb), Zstd(bomb)}) {
      SCOPED_TRACE(bomb.substr(0, 60) + (bytes.size() == bomb.size() ? "" : " packed"));
      const absl::Status status = Error(bytes, options);
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("of host memory, which is the limit"));
      EXPECT_THAT(std::string(status.message()), HasSubstr("; "));  // followed by a remedy
    }
  // A range needs less memory than the file. If even the range exceeds the limit, the error is the
  // same.
  options.first_entry = 10;
  options.last_entry = 20;
  const absl::Status part = Error(EntriesPickle(60'000), options);
  EXPECT_THAT(std::string(part.message()), HasSubstr("a smaller part"));
  options.memory_limit = uint64_t{16} << 20;
  EXPECT_NE(Open(EntriesPickle(60'000), options), nullptr);
  options.first_entry = 0;
  options.last_entry = UINT64_MAX;
  EXPECT_EQ(Error(EntriesPickle(60'000), options).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(IncompleteRecordings, TraceReaderStopsAtTheMemoryLimit) {
  const std::string path = (dir_ / "bomb.trace").string();
  auto writer = trace::TraceWriter::ToFile(path);
  ASSERT_TRUE(writer.ok());
  trace::TraceInfo info;
  (*writer)->Begin(info);
  (*writer)->Strings(0, std::vector<std::string>{""});
  const std::vector<trace::Event> events(100'000);  // markers
  for (int i = 0; i < 4; ++i) (*writer)->Events(events);
  (*writer)->End(true, "");
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_LT(fs::file_size(path), 100'000u);
  OpenOptions options;
  options.memory_limit = uint64_t{16} << 20;
  const absl::Status status = OpenTraceFile(path, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  options.memory_limit = 0;
  EXPECT_TRUE(OpenTraceFile(path, options).ok());
}

// The input unpacks to 200 equal frames of 1.5 MiB. It must be refused quickly.
TEST_F(IncompleteRecordings, RejectsInputThatUnpacksToTooMuch) {
  const std::string head = R"({"traceEvents":[)", nothing = Repeated("{},", 1 << 19);
  for (const bool gzip : {false, true}) {
    const auto pack = [&](const std::string& bytes) { return gzip ? Gzip(bytes) : Zstd(bytes); };
    const absl::Status status = Error(pack(head) + Repeated(pack(nothing), 200));
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("unpack"));
  }
}

// The exit code and the peak memory of a child process that opened a file.
struct Outcome {
  int code = -1;
  uint64_t bytes = 0;
};
Outcome InChild(const std::string& path) {
  const pid_t pid = fork();
  if (pid == 0) _exit(static_cast<int>(OpenTraceFile(path, {}).status().code()));
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status)) return {};
  return {WEXITSTATUS(status), static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasurable = false;  // sanitizers need additional memory
#else
constexpr bool kMeasurable = true;
#endif

TEST_F(IncompleteRecordings, DecompressionBombsStayBelow512MiB) {
  if (!kMeasurable) GTEST_SKIP() << "not under a sanitizer";
  std::vector<std::string> files;
  {
    const std::string bomb = EntriesPickle(3'000'000);
    files.push_back(Write(Zstd(bomb)));
  }
  files.push_back(Write(
      Zstd(KinetoText(R"({"ph":"X","cat":"cpu_op","name":"mm","ts":5,"dur":1})", 2'000'000))));
  const fs::path repro = std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared/repro";
  for (const char* name : {"bomb_pickle_entries.zst", "bomb_kineto_ops.zst"})
    if (fs::exists(repro / name)) files.push_back((repro / name).string());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Outcome outcome = InChild(file);
    EXPECT_EQ(outcome.code, static_cast<int>(absl::StatusCode::kResourceExhausted));
    EXPECT_LT(outcome.bytes, uint64_t{512} << 20);
  }
}

// The budget leaves ample room for the entries of real recordings, both plain and compressed.
TEST(MemoryBudget, GrowsWithFileSizeAndCompression) {
  class Sized : public testing::MemoryInput {
   public:
    Sized(uint64_t total, bool packed) : MemoryInput(""), total_(total), packed_(packed) {}
    uint64_t total() const override { return total_; }
    bool compressed() const override { return packed_; }

   private:
    uint64_t total_;
    bool packed_;
  };
  const uint64_t available = trace::AvailableMemory() / 10 * 9;
  const auto limit = [&](uint64_t total, bool packed) {
    const Sized input(total, packed);
    const trace::MemoryBudget budget(input);
    uint64_t low = 0, high = uint64_t{1} << 50;
    while (low + 1 < high) (budget.Fits((low + high) / 2) ? low : high) = (low + high) / 2;
    return low;
  };
  EXPECT_EQ(limit(1000, false), std::min(available, trace::MemoryBudget::kFloor));
  EXPECT_EQ(limit(1000, true), std::min(available, trace::MemoryBudget::kFloor));
  // A million entries have 115 MiB, or 2 MiB as .zst, and use 250 MiB of the budget.
  EXPECT_EQ(limit(uint64_t{115} << 20, false), std::min(available, uint64_t{920} << 20));
  EXPECT_EQ(limit(uint64_t{2} << 20, true), std::min(available, uint64_t{512} << 20));
  // Ten million entries in a file of this size can be opened, but a decompression bomb
  // cannot.
  EXPECT_EQ(limit(uint64_t{20} << 20, true), std::min(available, uint64_t{3} << 30));
}

// Regression test: a `.trace` file of 1.91 MiB, which needs 488 MiB, was refused.
TEST_F(IncompleteRecordings, BudgetOfATraceAllowsItsCompression) {
  testing::MemoryInput file(std::string(2'000'000, '\0'));
  trace::MemoryBudget of_trace(file, 0, /*packed=*/true);
  EXPECT_TRUE(of_trace.Fits(uint64_t{1} << 30));
  EXPECT_FALSE(of_trace.Fits(uint64_t{5} << 30));
  testing::MemoryInput small(std::string(5'000, '\0'));
  EXPECT_FALSE(trace::MemoryBudget(small, 0, true).Fits(trace::MemoryBudget::kFloor + 1));
}

}  // namespace
}  // namespace vramscope::importers
