// How compact and how fast a `.trace` is. Peers, in the same run over the same events: one protobuf
// message an event, length-prefixed, gzip level 6 (a row format); and a Chrome-trace JSON, gzip
// level 6 (what PyTorch's profiler writes).
//
// Bytes an event: total of the file by allocator events ("alloc_event") and by all ("event"); and
// for allocator events alone ("alone": a stream with nothing else in it).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "profiler/trace/frame.h"
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
    std::erase_if(s.events, [](const Event& e) { return !testing::IsAllocatorEvent(e.kind); });
  }
  return s;
}

size_t AllocatorEvents(const Stream& s) {
  return static_cast<size_t>(std::count_if(s.events.begin(), s.events.end(), [](const Event& e) {
    return testing::IsAllocatorEvent(e.kind);
  }));
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
      // The same fields, one message an event.
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
      if (testing::IsAllocatorEvent(e.kind))
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
