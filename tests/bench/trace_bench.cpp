// Measures the size and speed of a `.trace`. Compares it with two other formats of the same events,
// both compressed with gzip level 6. One has a length-prefixed protobuf message per event (a row
// format). The other is Chrome-trace JSON, the format of PyTorch's profiler.
//
// Reports the file's size per allocator event ("alloc_event") and per event ("event"), and the same
// for a stream that has only allocator events ("alone").
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "profiler/trace/allocator_events.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/input.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "proto/trace.pb.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

using testing::Stream;

const Stream& Training(size_t events) {
  static std::map<size_t, Stream> streams;
  Stream& s = streams[events];
  if (s.events.empty())
    s = testing::TrainingStream({.layers = 24, .steps = 1 << 20, .max_events = events});
  return s;
}

const Stream& AllocatorOnly(size_t events) {
  static std::map<size_t, Stream> streams;
  Stream& s = streams[events];
  if (s.events.empty()) {
    s = Training(events);
    std::erase_if(s.events, [](const Event& e) { return !IsAllocatorEvent(e.kind); });
  }
  return s;
}

size_t AllocatorEvents(const Stream& s) {
  return static_cast<size_t>(std::count_if(
      s.events.begin(), s.events.end(), [](const Event& e) { return IsAllocatorEvent(e.kind); }));
}

std::string Path() { return fmt::format("trace_bench.{}.trace", ::getpid()); }

size_t FileBytes(const Stream& s, const std::string& path) {
  auto writer = TraceWriter::ToFile(path);
  if (!writer.ok()) std::abort();
  testing::Play(s, **writer, 4096);
  if (!(*writer)->Close().ok()) std::abort();
  return testing::ReadFile(path).size();
}

void Write(benchmark::State& state) {
  const Stream& s = Training(static_cast<size_t>(state.range(0)));
  const std::string path = Path();
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    auto writer = TraceWriter::ToFile(path);
    if (!writer.ok()) std::abort();
    testing::Play(s, **writer, 4096);
    if (!(*writer)->Close().ok()) std::abort();
  }
  bytes = testing::ReadFile(path).size();
  ::unlink(path.c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
  state.counters["bytes/event"] = static_cast<double>(bytes) / static_cast<double>(s.events.size());
  state.counters["bytes/alloc_event"] =
      static_cast<double>(bytes) / static_cast<double>(AllocatorEvents(s));
  const Stream& alone = AllocatorOnly(static_cast<size_t>(state.range(0)));
  state.counters["bytes/alloc_event_alone"] =
      static_cast<double>(FileBytes(alone, path)) / static_cast<double>(alone.events.size());
  ::unlink(path.c_str());
}
BENCHMARK(Write)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void WriteToPipe(benchmark::State& state) {
  const Stream& s = Training(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    size_t bytes = 0;
    auto writer = TraceWriter::ToSink([&](std::string_view b) {
      bytes += b.size();
      return absl::OkStatus();
    });
    testing::Play(s, *writer, 4096);
    if (!writer->Close().ok()) std::abort();
    state.counters["bytes/event"] =
        static_cast<double>(bytes) / static_cast<double>(s.events.size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(WriteToPipe)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void Read(benchmark::State& state) {
  const Stream& s = Training(static_cast<size_t>(state.range(0)));
  const std::string path = Path();
  FileBytes(s, path);
  ReadOptions options;
  options.threads = static_cast<int>(state.range(1));
  for (auto _ : state) {
    auto trace = ReadTraceFile(path, options);
    if (!trace.ok() || (*trace)->events.size() != s.events.size()) std::abort();
    benchmark::DoNotOptimize(trace);
  }
  ::unlink(path.c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(Read)
    ->ArgNames({"events", "threads"})
    ->Args({1 << 20, 1})
    ->Args({1 << 20, 2})
    ->Args({10'000'000, 1})
    ->Args({10'000'000, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Repeats a recorded step of ../shared (a 24-layer model on a GPU) to get a long run. The step has
// real sizes, addresses and times, but no operator and module events.
Stream Recorded(int times) {
  Stream s;
  auto csv = ReadWholeInput(
      VRAMSCOPE_SOURCE_DIR "/../shared/reference/medium_128_training_requests.csv.zst", 1u << 30);
  if (!csv.ok()) return s;
  s.strings = {""};
  std::map<std::string, uint32_t> ids{{"", 0}};
  const auto intern = [&](const std::string& text) {
    const auto [at, added] = ids.try_emplace(text, static_cast<uint32_t>(s.strings.size()));
    if (added) s.strings.push_back(text);
    return StringId{at->second};
  };
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(*csv);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string>& cells = rows.emplace_back(1);
    for (const char c : line)
      if (c == ',')
        cells.emplace_back();
      else
        cells.back().push_back(c);
  }
  const auto number = [](const std::string& t) { return std::strtoull(t.c_str(), nullptr, 0); };
  // Columns:
  // index,action,size,rounded,addr,stream,time_us,inner_frame,outer,phase,block,alloc_index,op,...
  uint64_t base = 0;
  int64_t start = 0;
  for (int i = 0; i < times; ++i) {
    uint64_t allocations = 0;
    int64_t time = start;
    for (const auto& row : rows) {
      Event e;
      time = std::max(
          time, start + static_cast<int64_t>((number(row[6]) - number(rows.front()[6])) * 1000));
      e.time_ns = time;
      if (row[1] == "alloc") {
        e.kind = EventKind::kAlloc;
        e.id = base + allocations++;
        e.bytes = number(row[2]);
        e.bytes_rounded = number(row[3]);
        e.address = number(row[4]);
        e.name = intern(row[12]);
        e.module = intern(row[7]);
        e.category = Category::kTemporary;
      } else if (row[1].starts_with("free") && !row[11].empty() && row[11] != "-1") {
        e.kind = row[1] == "free_requested" ? EventKind::kFreeRequested : EventKind::kFreeCompleted;
        e.id = base + number(row[11]);
      } else {
        continue;
      }
      s.events.push_back(e);
    }
    base += allocations;
    start = time + 1000;
  }
  return s;
}

void WriteRecorded(benchmark::State& state) {
  const Stream s = Recorded(static_cast<int>(state.range(0)));
  if (s.events.empty()) {
    state.SkipWithError("../shared/reference is not here");
    return;
  }
  const std::string path = Path();
  size_t bytes = 0;
  for (auto _ : state) bytes = FileBytes(s, path);
  ::unlink(path.c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
  state.counters["bytes/alloc_event"] =
      static_cast<double>(bytes) / static_cast<double>(s.events.size());
}
BENCHMARK(WriteRecorded)->ArgName("steps")->Arg(1)->Unit(benchmark::kMillisecond);

// Measures the parts of reading on one thread: decoding batches, and building the tables.
void DecodeBatches(benchmark::State& state) {
  const Stream& s = Training(1 << 20);
  std::vector<std::string> payloads;
  BatchStart start;
  for (size_t at = 0; at < s.events.size(); at += kBatchEvents) {
    const auto part =
        std::span(s.events).subspan(at, std::min<size_t>(kBatchEvents, s.events.size() - at));
    payloads.push_back(EncodeBatch(part, start));
    start.event += part.size();
    for (const Event& e : part) {
      if (e.kind == EventKind::kAlloc) start.allocation = e.id + 1;
      if (e.kind == EventKind::kSegmentAlloc) start.segment = e.id + 1;
    }
  }
  std::vector<Event> events(1024);
  for (auto _ : state)
    for (const std::string& payload : payloads) {
      BatchDecoder decoder;
      if (!decoder.Open(payload).ok()) std::abort();
      while (decoder.Read(events) > 0) benchmark::DoNotOptimize(events.data());
    }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(DecodeBatches)->Unit(benchmark::kMillisecond);

void BuildTables(benchmark::State& state) {
  const Stream& s = Training(1 << 20);
  for (auto _ : state) {
    TraceBuilder builder;
    builder.Reserve(
        {s.events.size(), s.events.size() / 3, s.events.size() / 10, s.events.size() / 4});
    if (!builder.AddStrings(0, s.strings).ok()) std::abort();
    for (size_t at = 0; at < s.events.size(); at += 1024)
      if (!builder
               .AddEvents(
                   std::span(s.events).subspan(at, std::min<size_t>(1024, s.events.size() - at)))
               .ok())
        std::abort();
    benchmark::DoNotOptimize(builder.Finish(true, ""));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(BuildTables)->Unit(benchmark::kMillisecond);

std::string Gzip(const std::string& in) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, in.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

void PeerProtobufRows(benchmark::State& state) {
  const Stream& s = Training(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    std::string rows;
    proto::EventBatch row;
    for (const Event& e : s.events) {
      // Writes the fields of the event as one message.
      row.Clear();
      row.set_kind(std::string(1, static_cast<char>(e.kind)));
      row.set_first_time_ns(e.time_ns);
      if (e.id) row.add_id(static_cast<int64_t>(e.id));
      if (e.address) row.add_address(static_cast<int64_t>(e.address));
      if (e.bytes) row.add_bytes(e.bytes);
      if (e.bytes_rounded) row.add_bytes_rounded(static_cast<int64_t>(e.bytes_rounded));
      if (e.name.value) row.add_name(e.name.value);
      if (e.module.value) row.add_module(e.module.value);
      if (e.thread) row.add_thread(e.thread);
      if (e.detail) row.set_detail(std::string(1, static_cast<char>(e.detail)));
      if (e.category != Category::kUnknown)
        row.set_category(std::string(1, static_cast<char>(e.category)));
      rows.push_back(static_cast<char>(row.ByteSizeLong()));
      row.AppendToString(&rows);
    }
    const std::string packed = Gzip(rows);
    state.counters["bytes/event"] =
        static_cast<double>(packed.size()) / static_cast<double>(s.events.size());
    state.counters["raw_bytes/event"] =
        static_cast<double>(rows.size()) / static_cast<double>(s.events.size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(PeerProtobufRows)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void PeerChromeJsonGz(benchmark::State& state) {
  const Stream& s = Training(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    fmt::memory_buffer json;
    auto out = fmt::appender(json);
    fmt::format_to(out, "{{\"traceEvents\":[\n");
    for (const Event& e : s.events) {
      fmt::format_to(out, R"({{"ph":"i","ts":{}.{:03},"pid":0,"tid":{},"name":"{}","args":{{)",
                     e.time_ns / 1000, e.time_ns % 1000, e.thread,
                     e.name.value ? s.strings[e.name.value] : std::string(Name(e.kind)));
      if (IsAllocatorEvent(e.kind))
        fmt::format_to(out, R"("id":{},"Addr":{},"Bytes":{},"module":"{}")", e.id, e.address,
                       e.bytes, s.strings[e.module.value]);
      fmt::format_to(out, "}}}},\n");
    }
    fmt::format_to(out, "{{}}]}}\n");
    const std::string packed = Gzip(fmt::to_string(json));
    state.counters["bytes/event"] =
        static_cast<double>(packed.size()) / static_cast<double>(s.events.size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(s.events.size()));
}
BENCHMARK(PeerChromeJsonGz)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::trace

BENCHMARK_MAIN();
