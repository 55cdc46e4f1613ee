#include "profiler/trace/activity_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/trace/frame.h"
#include "proto/trace.pb.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

std::vector<Activity> InOrder(uint64_t seed, size_t count) {
  std::vector<Activity> activities = testing::RandomStream(seed, 3 * count).activities;
  SortByBegin(activities);
  return activities;
}

TEST(ActivityCodec, RoundTripsEveryActivity) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<Activity> activities = InOrder(seed, 1 + seed * 11);
    std::vector<Activity> back(3);
    ASSERT_TRUE(DecodeActivities(EncodeActivities(activities), back).ok());
    ASSERT_EQ(back.size(), activities.size());
    for (size_t i = 0; i < back.size(); ++i)
      ASSERT_TRUE(back[i] == activities[i]) << "seed " << seed << " activity " << i;
  }
}

TEST(ActivityCodec, SortByBeginIsStable) {
  std::vector<Activity> activities;
  for (const int64_t begin : {5, 3, 5, 3, 1})
    activities.push_back({.correlation = activities.size(), .begin_ns = begin, .end_ns = 9});
  SortByBegin(activities);
  std::vector<uint64_t> order;
  for (const Activity& a : activities) order.push_back(a.correlation);
  EXPECT_EQ(order, (std::vector<uint64_t>{4, 1, 3, 0, 2}));
}

// Returns the operands of several steps. Each kernel has three: a weight, a block that every step
// allocates, and an address that is in alternating blocks.
std::vector<Activity> OperandsOfSteps(int steps, int kernels) {
  std::vector<Activity> operands;
  for (int step = 0; step < steps; ++step)
    for (int kernel = 0; kernel < kernels; ++kernel) {
      const int64_t begin = (int64_t{step} * kernels + kernel) * 8000;
      const uint64_t addresses[] = {uint64_t{0x7f0000000000} + kernel * 512u,
                                    uint64_t{0x7f0000800000} + kernel * 3072u, 0x7f0000900000};
      const int64_t made[] = {-1 - kernel, begin - 700, begin - (kernel % 3) * 8000};
      for (int i = 0; i < 3; ++i)
        operands.push_back({.kind = ActivityKind::kOperand,
                            .correlation = operands.size() / 3 + 1,
                            .address = addresses[i],
                            .bytes = static_cast<uint64_t>(made[i]),
                            .begin_ns = begin,
                            .end_ns = begin});
    }
  return operands;
}

TEST(ActivityCodec, RoundTripsOperands) {
  std::vector<Activity> back, operands = OperandsOfSteps(5, 40);
  ASSERT_TRUE(DecodeActivities(EncodeActivities(operands), back).ok());
  EXPECT_TRUE(back == operands);
  // Some differences of times cannot be encoded. Then the whole batch is stored as it is.
  std::mt19937_64 random(5);
  const uint64_t extremes[] = {0, 1, INT64_MAX, uint64_t{1} << 63, UINT64_MAX};
  for (int round = 0; round < 2000; ++round) {
    operands.resize(1 + random() % 12);
    for (Activity& operand : operands) {
      operand.address = random() % 3;
      operand.bytes = extremes[random() % std::size(extremes)];
    }
    ASSERT_TRUE(DecodeActivities(EncodeActivities(operands), back).ok());
    ASSERT_TRUE(back == operands) << "round " << round;
  }
  operands.resize(1);
  operands[0].bytes = uint64_t{1} << 63;
  proto::ActivityBatch message;
  ASSERT_TRUE(message.ParseFromString(EncodeActivities(operands)));
  EXPECT_EQ(message.operand_blocks(), 0u);
}

TEST(ActivityCodec, RepeatedStepsCompressWell) {
  const auto bytes = [](int steps) {
    return EncodeFrame(FrameType::kActivities, EncodeActivities(OperandsOfSteps(steps, 300)))
        .size();
  };
  // 36,000 operands must take only little more space than the first 900.
  EXPECT_LT(bytes(40), bytes(1) + 2500);
}

TEST(ActivityCodec, RejectsOperandWithoutBlock) {
  std::vector<Activity> back, operands = OperandsOfSteps(1, 1);
  operands.resize(1);
  proto::ActivityBatch message;
  ASSERT_TRUE(message.ParseFromString(EncodeActivities(operands)));
  ASSERT_EQ(message.operand_blocks(), 1u);
  message.set_bytes(0, 0);  // refers to the previous address, but there is none
  EXPECT_EQ(DecodeActivities(message.SerializeAsString(), back).code(),
            absl::StatusCode::kDataLoss);
}

// The columns are encoded by our own code. Protobuf's generated code must be able to read them.
TEST(ActivityCodec, MatchesTheProtobufSchema) {
  const std::vector<Activity> activities = InOrder(9, 600);
  proto::ActivityBatch message;
  ASSERT_TRUE(message.ParseFromString(EncodeActivities(activities)));
  ASSERT_EQ(message.count(), activities.size());
  EXPECT_EQ(message.GetReflection()->GetUnknownFields(message).field_count(), 0);
  ASSERT_EQ(message.begin_delta_ns_size(), static_cast<int>(activities.size()));
  auto begin = static_cast<uint64_t>(message.first_begin_ns());
  for (size_t i = 0; i < activities.size(); ++i) {
    begin += message.begin_delta_ns(static_cast<int>(i));
    EXPECT_EQ(static_cast<int64_t>(begin), activities[i].begin_ns);
    EXPECT_EQ(message.kind()[i], static_cast<char>(activities[i].kind));
  }
  std::array<int, 13> used{};
  for (const auto& layout : message.layouts())
    for (int f = 0; f < 13; ++f)
      if (layout.columns() >> f & 1) used[f] += static_cast<int>(layout.count());
  const int column_sizes[] = {message.begin_delta_ns_size(),
                              message.duration_ns_size(),
                              static_cast<int>(message.device().size()),
                              static_cast<int>(message.from().size()),
                              static_cast<int>(message.to().size()),
                              message.stream_size(),
                              message.thread_size(),
                              message.name_size(),
                              message.op_size(),
                              message.module_size(),
                              message.correlation_size(),
                              message.address_size(),
                              message.bytes_size()};
  for (int f = 0; f < 13; ++f) EXPECT_EQ(column_sizes[f], used[f]) << "column " << f;
}

// Data may be damaged although the checksum is valid. Decoding must not crash, hang or read out of
// bounds.
TEST(ActivityCodec, RandomDamageIsSafe) {
  std::mt19937_64 random(3);
  const std::string good = EncodeActivities(InOrder(11, 100));
  std::vector<Activity> activities;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const absl::Status status = DecodeActivities(bytes, activities);
    ASSERT_LE(activities.size(), bytes.size());
    if (status.ok()) continue;
    ++refused;
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
  EXPECT_GT(refused, 1000);
}

TEST(ActivityCodec, RejectsMoreActivitiesThanItsBytesAllow) {
  proto::ActivityBatch message;
  auto& layout = *message.add_layouts();
  layout.set_columns(1);
  message.add_begin_delta_ns(0);
  std::vector<Activity> activities;
  for (const uint32_t count : {200'000u, 300'000u}) {
    message.set_count(count);
    message.set_kind(std::string(count, '\0'));
    layout.set_count(count);
    EXPECT_EQ(DecodeActivities(message.SerializeAsString(), activities).code(),
              absl::StatusCode::kDataLoss);
    EXPECT_LT(activities.capacity(), 1000u);
  }
}

}  // namespace
}  // namespace vramscope::trace
