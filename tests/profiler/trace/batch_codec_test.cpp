#include "profiler/trace/batch_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/trace/event_fields.h"
#include "proto/trace.pb.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

bool Same(const Event& a, const Event& b) {
  const auto fields = [](const Event& e) {
    return std::tie(e.kind, e.category, e.pool, e.detail, e.device, e.stream, e.thread, e.name,
                    e.module, e.stack, e.mempool, e.user_metadata, e.compile_context, e.id,
                    e.address, e.bytes, e.bytes_rounded, e.time_ns, e.duration_ns);
  };
  return fields(a) == fields(b);
}

TEST(BatchCodec, RoundTripsEveryEvent) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const testing::Stream s = testing::RandomStream(seed, 1 + seed * 37);
    BatchDecoder decoder;
    const std::string payload = EncodeBatch(s.events, {});
    ASSERT_TRUE(decoder.Open(payload).ok());
    ASSERT_EQ(decoder.count(), s.events.size());
    std::vector<Event> piece(1 + seed % 50);
    size_t at = 0;
    while (const size_t n = decoder.Read(piece))
      for (size_t i = 0; i < n; ++i, ++at)
        ASSERT_TRUE(Same(piece[i], Normalized(s.events[at]))) << "seed " << seed << " event " << at;
    EXPECT_TRUE(decoder.status().ok()) << decoder.status();
    EXPECT_EQ(at, s.events.size());
  }
}

TEST(BatchCodec, DecodesABatchAlone) {
  const testing::Stream s = testing::RandomStream(7, 4000);
  const size_t half = 2000;
  BatchStart start{half, 0, 0};
  for (const Event& e : std::span(s.events).first(half)) {
    start.allocation += e.kind == EventKind::kAlloc;
    start.segment += e.kind == EventKind::kSegmentAlloc;
  }
  const std::string payload = EncodeBatch(std::span(s.events).subspan(half), start);
  BatchDecoder decoder;
  ASSERT_TRUE(decoder.Open(payload).ok());
  EXPECT_EQ(decoder.start().event, half);
  std::vector<Event> events(half);
  ASSERT_EQ(decoder.Read(events), half);
  for (size_t i = 0; i < half; ++i) ASSERT_TRUE(Same(events[i], Normalized(s.events[half + i])));
}

// The columns are encoded by our own code. Protobuf's generated code must be able to read them.
TEST(BatchCodec, MatchesTheProtobufSchema) {
  const testing::Stream s = testing::RandomStream(9, 2000);
  proto::EventBatch message;
  ASSERT_TRUE(message.ParseFromString(EncodeBatch(s.events, {123, 0, 0})));
  EXPECT_EQ(message.first_event(), 123u);
  ASSERT_EQ(message.count(), s.events.size());
  ASSERT_EQ(message.time_delta_ns_size(), static_cast<int>(s.events.size()));
  EXPECT_EQ(message.GetReflection()->GetUnknownFields(message).field_count(), 0);
  int64_t time = message.first_time_ns();
  std::array<int, kFieldCount> used{};
  for (size_t i = 0; i < s.events.size(); ++i) {
    time += static_cast<int64_t>(message.time_delta_ns(static_cast<int>(i)));
    EXPECT_EQ(time, s.events[i].time_ns);
    EXPECT_EQ(message.kind()[i], static_cast<char>(s.events[i].kind));
  }
  for (const auto& layout : message.layouts())
    for (int f = 0; f < kFieldCount; ++f)
      if (layout.columns() >> f & 1) used[f] += static_cast<int>(layout.count());
  EXPECT_EQ(message.id_size(), used[1]);
  EXPECT_EQ(message.address_size(), used[2]);
  EXPECT_EQ(message.bytes_size(), used[3]);
  EXPECT_EQ(message.bytes_rounded_size(), used[4]);
  EXPECT_EQ(message.name_size(), used[5]);
  EXPECT_EQ(message.module_size(), used[6]);
  EXPECT_EQ(static_cast<int>(message.category().size()), used[7]);
  EXPECT_EQ(static_cast<int>(message.detail().size()), used[8]);
  EXPECT_EQ(message.stream_size(), used[9]);
  EXPECT_EQ(message.thread_size(), used[10]);
  EXPECT_EQ(static_cast<int>(message.device().size()), used[11]);
  EXPECT_EQ(static_cast<int>(message.pool().size()), used[12]);
  EXPECT_EQ(message.duration_ns_size(), used[13]);
  EXPECT_EQ(message.stack_size(), used[14]);
  EXPECT_EQ(message.mempool_size(), used[15]);
  EXPECT_EQ(message.user_metadata_size(), used[16]);
  EXPECT_EQ(message.compile_context_size(), used[17]);
  EXPECT_GT(used[16], 0);
  EXPECT_GT(used[17], 0);
}

// Data may be damaged although the checksum is valid. Decoding must not crash, hang or read out of
// bounds.
TEST(BatchCodec, RandomDamageIsSafe) {
  std::mt19937_64 random(3);
  const testing::Stream s = testing::RandomStream(11, 300);
  const std::string good = EncodeBatch(s.events, {});
  std::vector<Event> events(64);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    BatchDecoder decoder;
    if (!decoder.Open(bytes).ok()) {
      ++refused;
      continue;
    }
    size_t total = 0;
    while (const size_t n = decoder.Read(events)) total += n;
    ASSERT_LE(total, decoder.count());
    refused += !decoder.status().ok();
  }
  EXPECT_GT(refused, 1000);
}

TEST(BatchCodec, RejectsMoreEventsThanItsBytesAllow) {
  proto::EventBatch message;
  message.set_count(1'000'000);
  message.set_kind(std::string(1'000'000, static_cast<char>(EventKind::kMarker)));
  auto& layout = *message.add_layouts();
  layout.set_kind(static_cast<uint32_t>(EventKind::kMarker));
  layout.set_count(1'000'000);
  layout.set_columns(kFieldTime);
  message.add_time_delta_ns(0);
  BatchDecoder decoder;
  const std::string bytes = message.SerializeAsString();
  EXPECT_EQ(decoder.Open(bytes).code(), absl::StatusCode::kDataLoss);
  message.set_count(2'000'000'000);
  const std::string claim = message.SerializeAsString();
  EXPECT_EQ(decoder.Open(claim).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vramscope::trace
