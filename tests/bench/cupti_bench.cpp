// Measures how long it takes to process CUPTI's buffers; "record" is the time per record. Half of
// the records are kernels (200 different ones, with names of 100 letters), half are their launches.
#include <benchmark/benchmark.h>

#include <string>

#include "cupti/consumer.h"
#include "profiler/program/activity_chunk.h"
#include "tests/cupti/buffer.h"

namespace vramscope::cupti {
namespace {

constexpr size_t kLaunches = 3000;  // in a buffer of 1 MiB

const std::vector<std::string>& Names() {
  static const auto* names = [] {
    auto* all = new std::vector<std::string>;
    for (int i = 0; i < 200; ++i)
      all->push_back("kernel_" + std::to_string(i) + "_" + std::string(90, 'k'));
    return all;
  }();
  return *names;
}

Buffer Filled() {
  Buffer buffer;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const uint64_t at = 1'000'000 + 5000 * uint64_t{i};
    buffer.Add(Api(kRuntime, 211, i + 1, at, at + 3000, 4711));
    buffer.Add(Kernel(i + 1, at + 4000, at + 8000, Names()[i % Names().size()].c_str()));
  }
  return buffer;
}

std::string NameOfCall(CallbackDomain, uint32_t) { return "cudaLaunchKernel_v7000"; }

void PerRecord(benchmark::State& state) {
  state.counters["record"] =
      benchmark::Counter(2.0 * kLaunches * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Gives every call a unique number, as in a program.
void Renumber(std::vector<uint8_t>& bytes, uint32_t first) {
  uint8_t* at = bytes.data();
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const uint32_t number = first + i;
    std::memcpy(at + offsetof(ApiRecord, correlation), &number, sizeof number);
    at += sizeof(ApiRecord);
    std::memcpy(at + offsetof(KernelRecord, correlation), &number, sizeof number);
    at += sizeof(KernelRecord);
  }
}

void BM_Consume(benchmark::State& state) {
  const Buffer filled = Filled();
  std::vector<uint8_t> buffer(filled.data(), filled.data() + filled.size());
  uint32_t number = 1;
  ConsumerOptions options;
  options.next = &NextRecordOf;
  options.name_of_call = &NameOfCall;
  Consumer consumer(options);
  std::vector<trace::Activity> out;
  for (auto _ : state) {
    out.clear();
    Renumber(buffer, number);
    number += kLaunches;
    consumer.Consume(buffer.data(), buffer.size(), out);
    benchmark::DoNotOptimize(out.data());
  }
  PerRecord(state);
}
BENCHMARK(BM_Consume);

std::vector<trace::Activity> Consumed(std::vector<std::string>& names) {
  const Buffer buffer = Filled();
  ConsumerOptions options;
  options.next = &NextRecordOf;
  options.name_of_call = &NameOfCall;
  Consumer consumer(options);
  std::vector<trace::Activity> out;
  consumer.Consume(buffer.data(), buffer.size(), out);
  names = consumer.names();
  return out;
}

void BM_Encode(benchmark::State& state) {
  std::vector<std::string> names;
  const std::vector<trace::Activity> rows = Consumed(names);
  size_t bytes = 0;
  for (auto _ : state) bytes = program::EncodeActivities(1, {}, rows).size();
  PerRecord(state);
  state.counters["record_bytes"] = static_cast<double>(bytes) / (2.0 * kLaunches);
}
BENCHMARK(BM_Encode);

void BM_Decode(benchmark::State& state) {
  std::vector<std::string> names;
  const std::string chunk = program::EncodeActivities(1, {}, Consumed(names));
  for (auto _ : state) {
    size_t used = 0;
    program::ActivityChunk decoded;
    if (program::DecodeChunk(chunk, used, decoded) != program::Decoded::kChunk)
      state.SkipWithError("not a chunk");
    benchmark::DoNotOptimize(decoded.activities.data());
  }
  PerRecord(state);
}
BENCHMARK(BM_Decode);

}  // namespace
}  // namespace vramscope::cupti

BENCHMARK_MAIN();
