// Writes trace files and reads them. Damaged or truncated ones must be read as far as possible.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/input.h"
#include "profiler/trace/output_file.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/file_fixture.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Stream;

TEST_F(TraceFile, RoundTripsRandomStreams) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Stream s = testing::RandomStream(seed, seed * 97);
    if (seed % 3 == 0) {
      s.info.has_config = true;
      s.info.config.batch = 17;
      s.info.config.seq = 33;
    }
    const auto expected = testing::Build(s);
    const auto read = Read(Write(s), 1 + static_cast<int>(seed % 3));
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(testing::Difference(*read, *expected), "") << "seed " << seed;
    EXPECT_THAT(read->warnings, IsEmpty());
    EXPECT_TRUE(read->complete);
    // Now writes the trace from its tables instead of from the stream of events.
    const std::string again = At("again.trace");
    ASSERT_TRUE(WriteTraceFile(*read, again).ok());
    EXPECT_EQ(testing::Difference(*Read(again), *expected), "") << "seed " << seed;
  }
}

TEST_F(TraceFile, ReadsManyBatchesOnSeveralThreads) {
  const Stream s = testing::TrainingStream({.layers = 8, .steps = 1000, .max_events = 300'000});
  const std::string path = Write(s, "big.trace", 4096);
  const auto expected = testing::Build(s);
  for (const int threads : {1, 2, 4})
    EXPECT_EQ(testing::Difference(*Read(path, threads), *expected), "") << threads << " threads";
}

TEST_F(TraceFile, SameStreamGivesTheSameBytes) {
  const Stream s = testing::RandomStream(2, 5000);
  EXPECT_EQ(testing::ReadFile(Write(s, "a", 100)), testing::ReadFile(Write(s, "b", 100)));
}

TEST_F(TraceFile, FooterIndexesEveryBatch) {
  const Stream s = testing::TrainingStream({.layers = 8, .steps = 1000, .max_events = 200'000});
  const std::string bytes = testing::ReadFile(Write(s));
  FrameDecoder d;
  d.Append(std::string_view(bytes).substr(bytes.size() - kEnvelopeBytes - kEndPayloadBytes));
  auto end = d.Next();
  ASSERT_TRUE(end.ok() && end->has_value());
  const auto offset = DecodeEnd((*end)->payload);
  ASSERT_TRUE(offset.ok());
  FrameDecoder at_footer;
  at_footer.Append(std::string_view(bytes).substr(*offset));
  const auto footer = DecodeFooter((*at_footer.Next())->payload);
  ASSERT_TRUE(footer.ok());
  EXPECT_EQ(footer->events, s.events.size());
  EXPECT_TRUE(footer->complete);
  ASSERT_EQ(footer->batches.size(), (s.events.size() + kBatchEvents - 1) / kBatchEvents);
  uint64_t allocated = 0, first = 0;
  std::vector<uint64_t> sizes;
  for (const Footer::Batch& row : footer->batches) {
    FrameDecoder at_batch;
    at_batch.Append(std::string_view(bytes).substr(row.offset));
    const auto frame = at_batch.Next();
    ASSERT_TRUE(frame.ok() && frame->has_value());
    BatchDecoder batch;
    ASSERT_TRUE(batch.Open((*frame)->payload).ok());
    EXPECT_EQ(batch.start().event, row.first_event);
    EXPECT_EQ(row.first_event, first);
    EXPECT_EQ(batch.count(), row.count);
    uint64_t peak = allocated;
    for (const Event& e : std::span(s.events).subspan(first, row.count)) {
      if (e.kind == EventKind::kAlloc) {
        sizes.push_back(e.bytes_rounded);
        allocated += e.bytes_rounded;
      }
      if (e.kind == EventKind::kFreeCompleted) allocated -= sizes[e.id];
      peak = std::max(peak, allocated);
    }
    EXPECT_EQ(row.peak_allocated, peak);
    EXPECT_EQ(row.first_time_ns, s.events[first].time_ns);
    first += row.count;
    EXPECT_EQ(row.last_time_ns, s.events[first - 1].time_ns);
  }
}

// Wherever a file is cut, all whole frames before the cut must be read.
TEST_F(TraceFile, TruncatedFileKeepsWholeFrames) {
  const Stream s = testing::RandomStream(21, 6000);
  const std::string bytes = ManyFrames(s, 50);
  const auto whole = testing::Build(s);
  // How many events and activities are complete at the end of each frame. Counted without the
  // reader.
  struct End {
    uint64_t offset, events, activities;
  };
  std::vector<End> ends;
  {
    FrameDecoder d;
    d.Append(bytes);
    uint64_t events = 0, activities = 0;
    while (true) {
      auto frame = d.Next();
      ASSERT_TRUE(frame.ok());
      if (!frame->has_value()) break;
      if ((*frame)->type == FrameType::kActivities) {
        std::vector<Activity> batch;
        ASSERT_TRUE(DecodeActivities((*frame)->payload, batch).ok());
        activities += batch.size();
      }
      if ((*frame)->type == FrameType::kEvents) {
        BatchDecoder batch;
        ASSERT_TRUE(batch.Open((*frame)->payload).ok());
        events += batch.count();
      }
      ends.push_back({(*frame)->end_offset, events, activities});
    }
  }
  ASSERT_GT(ends.size(), 100u);
  ASSERT_EQ(ends.back().activities, 2000u);
  const uint64_t header_end = ends.front().offset;
  std::mt19937_64 random(1);
  const std::string path = At("cut.trace");
  for (int i = 0; i < 1000; ++i) {
    // The first forty cuts are at the end of a frame or one byte before. The others are random.
    const size_t at = i < 40 ? ends[static_cast<size_t>(i)].offset - static_cast<size_t>(i % 2)
                             : header_end + random() % (bytes.size() - header_end);
    if (at < header_end) continue;
    testing::WriteFile(path, bytes.substr(0, at));
    End expected{};
    for (const End& end : ends)
      if (end.offset <= at) expected = end;
    const auto trace = Read(path, 1 + i % 2);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->events.size(), expected.events) << "cut at " << at;
    EXPECT_EQ(trace->activities.size() + trace->operands.size(), expected.activities)
        << "cut at " << at;
    EXPECT_FALSE(trace->complete);
    ASSERT_EQ(trace->warnings.size(), 1u);
    EXPECT_THAT(trace->warnings[0], HasSubstr("cut at byte " + std::to_string(at)));
    EXPECT_EQ(trace->end_message, trace->warnings[0]);
    if (i % 20 == 0) {
      EXPECT_EQ(testing::PrefixDifference(*trace, *whole), "");
    }
  }
}

TEST_F(TraceFile, ReportsTruncationWithinTheHeader) {
  const std::string bytes = ManyFrames(testing::RandomStream(1, 10), 50);
  for (const size_t at : {size_t{4}, size_t{19}, size_t{30}}) {
    const absl::Status status = ReadBytes(bytes.substr(0, at));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("within its header"));
  }
}

TEST_F(TraceFile, DamagedFileKeepsDataBeforeTheDamage) {
  const Stream s = testing::RandomStream(22, 4000);
  const std::string bytes = ManyFrames(s, 50);
  const auto whole = testing::Build(s);
  std::mt19937_64 random(2);
  int damaged = 0;
  for (int i = 0; i < 300; ++i) {
    std::string broken = bytes;
    const size_t at = 400 + random() % (bytes.size() - 400);
    for (size_t j = at; j < std::min(at + 1 + random() % 30, broken.size()); ++j)
      broken[j] = static_cast<char>(random());
    testing::WriteFile(At("broken.trace"), broken);
    const auto trace = Read(At("broken.trace"), 1 + i % 2);
    ASSERT_NE(trace, nullptr);
    if (broken == bytes) continue;
    ++damaged;
    EXPECT_FALSE(trace->complete);
    ASSERT_FALSE(trace->warnings.empty());
    // If a length is damaged, the frame may seem to continue after the end of the file.
    EXPECT_THAT(trace->warnings[0], AnyOf(HasSubstr("damaged at byte"), HasSubstr("cut at byte")));
    EXPECT_EQ(testing::PrefixDifference(*trace, *whole), "");
  }
  EXPECT_GT(damaged, 250);
}

TEST_F(TraceFile, StopsAtInvalidEvent) {
  Stream s = testing::RandomStream(23, 500);
  s.events[300].time_ns = s.events[299].time_ns - 1;
  const auto trace = Read(Write(s));
  EXPECT_EQ(trace->events.size(), 300u);
  EXPECT_FALSE(trace->complete);
  EXPECT_THAT(trace->warnings[0], HasSubstr("event 300"));
}

TEST_F(TraceFile, FlippedBytesAreSafe) {
  const std::string bytes = ManyFrames(testing::RandomStream(24, 300), 60);
  testing::WriteFile(At("whole"), bytes);
  const auto whole = Read(At("whole"));
  ASSERT_NE(whole, nullptr);
  std::mt19937_64 random(4);
  int refused = 0, shorter = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string broken = bytes;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n)
      broken[random() % broken.size()] = static_cast<char>(random());
    if (broken == bytes) continue;
    testing::WriteFile(At("x"), broken);
    const auto trace = ReadTraceFile(At("x"), {});
    if (!trace.ok()) {
      ++refused;
      EXPECT_THAT(trace.status().code(),
                  AnyOf(absl::StatusCode::kDataLoss, absl::StatusCode::kInvalidArgument))
          << trace.status();
      EXPECT_THAT(std::string(trace.status().message()), Not(IsEmpty()));
      continue;
    }
    ++shorter;
    EXPECT_FALSE((*trace)->complete);
    EXPECT_THAT((*trace)->warnings, Not(IsEmpty()));
    EXPECT_EQ(testing::PrefixDifference(**trace, *whole), "");
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(shorter, 1000);
}

TEST_F(TraceFile, KeepsEndMessageOfStoppedRun) {
  const Stream s = testing::RandomStream(3, 100);
  auto writer = TraceWriter::ToFile(At("a"));
  testing::Play(s, **writer, 10, false);
  ASSERT_TRUE((*writer)->Close().ok());
  const auto trace = Read(At("a"));
  EXPECT_FALSE(trace->complete);
  EXPECT_EQ(trace->end_message, "stopped");
  EXPECT_THAT(trace->warnings, IsEmpty());  // no data were lost
}

TEST_F(TraceFile, NamesFormatOfForeignFiles) {
  const auto refused = [&](const std::string& bytes, const char* what) {
    const absl::Status status = ReadBytes(bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not a .trace"));
  };
  refused("", "an empty file");
  refused("\x80\x04\x95pickled things", "a Python pickle");
  refused("{\"schemaVersion\": 1, \"traceEvents\": []}", "a Chrome or Kineto trace");
  refused("  [1, 2]", "JSON");
  refused("\x89PNG\r\n\x1a\n", "a PNG picture");
  refused("just some words\n", "text");
  refused(std::string("\x00\x01\x02\x03\x04\x05\x06", 7), "does not begin with a trace header");
  // Compressed files of other formats must be recognised by their contents.
  std::string packed(200, '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), "{}", 2, 1));
  refused(packed, "JSON");
  const absl::Status folder = ReadTraceFile(dir_.string(), {}).status();
  EXPECT_EQ(folder.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(folder.message()), HasSubstr("folder"));
  EXPECT_EQ(ReadTraceFile(At("missing"), {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(TraceFile, ReportsMissingPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  testing::WriteFile(At("x"), "x");
  ::chmod(At("x").c_str(), 0);
  EXPECT_EQ(ReadTraceFile(At("x"), {}).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(TraceFile, RejectsNewerVersions) {
  std::string header = EncodeHeader({});
  ASSERT_EQ(header.substr(0, 2), "\x08\x06");  // version = 6
  header[1] = 7;
  const absl::Status status = ReadBytes(EncodeFrame(FrameType::kTraceHeader, header));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 7"));
}

TEST_F(TraceFile, RoundTripsMetadataAndStatistics) {
  Stream s;
  s.strings = {"", "lr=1", "0/0"};
  s.info.content = Content::kState;
  s.info.has_times = false;
  s.info.statistics = {{"allocated_bytes.all.current", 512}, {"num_ooms", -1}};
  Event e;
  e.kind = EventKind::kAlloc;
  e.category = Category::kKvCache;
  e.bytes = e.bytes_rounded = 512;
  s.events.push_back(e);
  e.kind = EventKind::kOutOfMemory;
  e.user_metadata = {1};
  e.compile_context = {2};
  s.events.push_back(e);
  const auto trace = Read(Write(s));
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->info.content, Content::kState);
  EXPECT_FALSE(trace->info.has_times);
  EXPECT_EQ(trace->info.statistics, s.info.statistics);
  EXPECT_EQ(trace->allocations.category[0], Category::kKvCache);
  EXPECT_EQ(trace->String(trace->events.UserMetadataOf(0)), "");
  EXPECT_EQ(trace->String(trace->events.UserMetadataOf(1)), "lr=1");
  EXPECT_EQ(trace->String(trace->events.CompileContextOf(1)), "0/0");
}

TEST_F(TraceFile, ReplacesInvalidUtf8InTheHeader) {
  Stream s = testing::RandomStream(4, 10);
  s.info.title = "caf\xe9.json";
  s.strings.push_back("op \xff\xfe");
  const auto trace = Read(Write(s));
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->info.title, "caf\xef\xbf\xbd.json");
  EXPECT_EQ(trace->strings.back(), "op \xff\xfe");
}

TEST_F(TraceFile, RejectsHeaderWithInvalidUtf8WithoutPrinting) {
  TraceInfo info;
  info.title = "caf?.json";
  std::string header = EncodeHeader(info);
  header[header.find('?')] = '\xe9';
  ::testing::internal::CaptureStderr();
  const absl::Status status = ReadBytes(EncodeFrame(FrameType::kTraceHeader, header));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cut off within its header"));
}

TEST_F(TraceFile, ReadsCompressedFilesAndStandardInput) {
  const Stream s = testing::RandomStream(31, 3000);
  const auto expected = testing::Build(s);
  const std::string plain = testing::ReadFile(Write(s));
  std::string zst(ZSTD_compressBound(plain.size()), '\0');
  zst.resize(ZSTD_compress(zst.data(), zst.size(), plain.data(), plain.size(), 3));
  testing::WriteFile(At("z.trace.zst"), zst);
  EXPECT_EQ(testing::Difference(*Read(At("z.trace.zst")), *expected), "");

  gzFile gz = gzopen(At("z.trace.gz").c_str(), "wb");
  gzwrite(gz, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(gz);
  EXPECT_EQ(testing::Difference(*Read(At("z.trace.gz")), *expected), "");
  // If a compressed file is truncated, its readable part must be read.
  const std::string packed = testing::ReadFile(At("z.trace.gz"));
  testing::WriteFile(At("cut.gz"), packed.substr(0, packed.size() - 20));
  const auto cut = Read(At("cut.gz"));
  EXPECT_FALSE(cut->complete);
  EXPECT_EQ(testing::PrefixDifference(*cut, *expected), "");

  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(At("a.trace").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  const auto piped = Read("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(file);
  ::close(saved);
  EXPECT_EQ(testing::Difference(*piped, *expected), "");
}

TEST_F(TraceFile, ReportsProgressAndCanBeCancelled) {
  const std::string path = Write(testing::TrainingStream({.steps = 100, .max_events = 100'000}));
  ReadOptions options;
  double last = 0;
  options.progress = [&](double f) {
    EXPECT_GE(f, last);
    last = f;
  };
  ASSERT_TRUE(ReadTraceFile(path, options).ok());
  EXPECT_DOUBLE_EQ(last, 1.0);
  const std::atomic<bool> cancel{true};
  options.cancel = &cancel;
  EXPECT_EQ(ReadTraceFile(path, options).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(TraceFile, LimitsMemoryForCompressedFiles) {
  // Writes forty batches of a million equal events, which compress to almost nothing.
  std::vector<Event> events(1'000'000);
  for (Event& e : events) e.kind = EventKind::kMarker;
  std::string bytes = EncodeFrame(FrameType::kTraceHeader, EncodeHeader({}));
  BatchStart start;
  std::string payload;
  for (int i = 0; i < 40; ++i) {
    payload = EncodeBatch(events, start);
    bytes += EncodeFrame(FrameType::kEvents, payload);
    start.event += events.size();
  }
  testing::WriteFile(At("bomb"), bytes);
  const absl::Status status = ReadTraceFile(At("bomb"), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the limit for a compressed file of"));
}

TEST_F(TraceFile, IgnoresFalseCountsInTheFooter) {
  Footer footer;
  footer.events = footer.allocations = footer.retags = footer.slices = UINT64_MAX;
  footer.complete = true;
  std::string bytes = EncodeFrame(FrameType::kTraceHeader, EncodeHeader({}));
  const uint64_t at = bytes.size();
  bytes += EncodeFrame(FrameType::kFooter, EncodeFooter(footer));
  bytes += EncodeFrame(FrameType::kEnd, EncodeEnd(at));
  testing::WriteFile(At("x"), bytes);
  const auto trace = Read(At("x"));
  ASSERT_NE(trace, nullptr);
  EXPECT_LT(trace->events.kind.MemoryBytes(), 100'000u);
  EXPECT_FALSE(trace->complete);
  EXPECT_THAT(trace->warnings[0], HasSubstr("footer counts"));
}

TEST_F(TraceFile, UnclosedWriterKeepsTheOldFile) {
  const Stream s = testing::RandomStream(5, 2000);
  testing::WriteFile(At("a.trace"), "the old one");
  {
    auto writer = TraceWriter::ToFile(At("a.trace"));
    testing::Play(s, **writer);
    EXPECT_EQ(testing::ReadFile(At("a.trace")), "the old one");
  }  // the file was never closed
  EXPECT_EQ(testing::ReadFile(At("a.trace")), "the old one");
  EXPECT_EQ(FilesInDir(), 1u);
}

TEST_F(TraceFile, FullDiskKeepsTheOldFile) {
  const Stream s = testing::RandomStream(6, 20'000);
  testing::WriteFile(At("a.trace"), "the old one");
  // A limit of the file size stands for a full disk: the same write fails.
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 10'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  absl::Status status;
  {
    auto writer = TraceWriter::ToFile(At("a.trace"));
    ASSERT_TRUE(writer.ok());
    testing::Play(s, **writer);
    status = (*writer)->Close();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(At("a.trace")));
  EXPECT_THAT(std::string(status.message()), HasSubstr("unchanged"));
  EXPECT_EQ(testing::ReadFile(At("a.trace")), "the old one");
  EXPECT_EQ(FilesInDir(), 1u);
}

TEST_F(TraceFile, ReportsFullDevice) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  auto writer = TraceWriter::ToFile("/dev/full");
  ASSERT_TRUE(writer.ok()) << writer.status();
  testing::Play(testing::RandomStream(7, 10), **writer);
  const absl::Status status = (*writer)->Close();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("No space left"));
}

TEST_F(TraceFile, KeepsSymlinkWhenSaving) {
  testing::WriteFile(At("real"), "old");
  ::chmod(At("real").c_str(), 0640);
  fs::create_symlink(At("real"), At("link"));
  const Stream s = testing::RandomStream(8, 10);
  Write(s, "link");
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_EQ(testing::Difference(*Read(At("real")), *testing::Build(s)), "");
  struct stat info {};
  ASSERT_EQ(::stat(At("real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(TraceFile, FailsForMissingFolderAndForFolder) {
  EXPECT_EQ(TraceWriter::ToFile(At("no/such/folder")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(TraceWriter::ToFile(dir_.string()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TraceFile, StopsAfterAnErrorOfTheSink) {
  int calls = 0;
  auto writer = TraceWriter::ToSink([&](std::string_view) {
    return ++calls == 2 ? absl::UnavailableError("the pipe is closed") : absl::OkStatus();
  });
  testing::Play(testing::RandomStream(9, 50'000), *writer, 1000);
  EXPECT_EQ(writer->Close(), absl::UnavailableError("the pipe is closed"));
  EXPECT_EQ(calls, 2);
}

TEST_F(TraceFile, WriterRejectsUnknownEventKinds) {
  Stream s = testing::RandomStream(10, 10);
  s.events[5].kind = static_cast<EventKind>(99);
  auto writer = TraceWriter::ToFile(At("a.trace"));
  testing::Play(s, **writer);
  EXPECT_EQ((*writer)->Close().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TraceFile, AssemblesFramesWhileWriting) {
  const Stream s = testing::RandomStream(12, 30'000);
  FrameDecoder d;
  TraceAssembler assembler;
  auto writer = TraceWriter::ToSink([&](std::string_view bytes) -> absl::Status {
    d.Append(bytes);
    while (true) {
      auto frame = d.Next();
      if (!frame.ok()) return frame.status();
      if (!frame->has_value()) return absl::OkStatus();
      if (absl::Status added = assembler.Add(**frame); !added.ok()) return added;
    }
  });
  testing::Play(s, *writer, 500);
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_TRUE(assembler.ended());
  EXPECT_EQ(assembler.events(), s.events.size());
  EXPECT_EQ(testing::Difference(*assembler.Finish("not used"), *testing::Build(s)), "");
}

TEST_F(TraceFile, KeepsFramesOfWorkerThatDied) {
  const Stream s = testing::RandomStream(13, 2000);
  FrameDecoder d;
  d.Append(ManyFrames(s, 100));
  TraceAssembler assembler;
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(assembler.Add(**d.Next()).ok());
  EXPECT_FALSE(assembler.ended());
  const auto trace = assembler.Finish("the worker ended unexpectedly");
  EXPECT_FALSE(trace->complete);
  EXPECT_EQ(trace->end_message, "the worker ended unexpectedly");
  EXPECT_GT(trace->events.size(), 0u);
  EXPECT_EQ(testing::PrefixDifference(*trace, *testing::Build(s)), "");
}

TEST_F(TraceFile, RejectsFramesOutOfOrder) {
  const Stream s = testing::RandomStream(14, 10);
  FrameDecoder d;
  d.Append(ManyFrames(s, 100));
  const Frame header = **d.Next(), strings = **d.Next(), events = **d.Next(), footer = **d.Next();
  {
    TraceAssembler a;
    EXPECT_FALSE(a.Add(events).ok());  // no header yet
  }
  TraceAssembler a;
  EXPECT_TRUE(a.Add(header).ok());
  EXPECT_FALSE(a.Add(header).ok());
  EXPECT_TRUE(a.Add(strings).ok());
  EXPECT_TRUE(a.Add(events).ok());
  EXPECT_FALSE(a.Add(events).ok());  // the same batch again
  EXPECT_FALSE(a.Add(Frame{FrameType::kHello, "", 0, 0}).ok());
  EXPECT_TRUE(a.Add(footer).ok());
  EXPECT_FALSE(a.Add(strings).ok());
}

TEST_F(TraceFile, LimitsSizeOfWholeInputs) {
  testing::WriteFile(At("x"), std::string(1000, 'x'));
  EXPECT_EQ(ReadWholeInput(At("x"), 1000)->size(), 1000u);
  EXPECT_EQ(ReadWholeInput(At("x"), 999).status().code(), absl::StatusCode::kResourceExhausted);
  const std::string zeros(100'000'000, '\0');
  std::string packed(ZSTD_compressBound(zeros.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), zeros.data(), zeros.size(), 1));
  ASSERT_LT(packed.size(), 100'000u);
  testing::WriteFile(At("bomb.zst"), packed);
  EXPECT_EQ(ReadWholeInput(At("bomb.zst"), 1 << 20).status().code(),
            absl::StatusCode::kResourceExhausted);
  // In gzip and zstd, compressed parts can be concatenated.
  std::string two;
  for (const char* part : {"one", "two"}) {
    std::string z(100, '\0');
    z.resize(ZSTD_compress(z.data(), z.size(), part, 3, 1));
    two += z;
  }
  testing::WriteFile(At("two"), two);
  EXPECT_EQ(*ReadWholeInput(At("two"), 100), "onetwo");
}

}  // namespace
}  // namespace vramscope::trace
