// Tests the consumer with generated buffers: each kind of record that it reads, and records that
// are out of order, truncated, unknown, without an end, or whose launch never arrives.
#include "cupti/consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/cupti/buffer.h"

namespace vramscope::cupti {
namespace {

using testing::ElementsAre;
using testing::Field;
using trace::Activity;
using trace::ActivityKind;
using trace::MemorySpace;

std::string NameOfCall(CallbackDomain domain, uint32_t callback) {
  if (domain == kRuntimeDomain && callback == 211) return "cudaLaunchKernel_v7000";
  if (domain == kDriverDomain && callback == 243) return "cuMemAlloc_v2";
  return "";
}

class ConsumerTest : public testing::Test {
 protected:
  std::vector<Activity> Consume(const Buffer& buffer) {
    std::vector<Activity> out;
    consumer_.Consume(buffer.data(), buffer.size(), out);
    return out;
  }
  std::string NameOf(const Activity& activity) const {
    return consumer_.names()[activity.name.value];
  }
  Consumer consumer_{{.next = &NextRecordOf, .name_of_call = &NameOfCall}};
};

TEST_F(ConsumerTest, KernelsHaveTheirNamesStreamsAndTimes) {
  KernelRecord kernel = Kernel(5, 100, 250, "_Z3addPfi", 13);
  kernel.device = 1;
  const std::vector<Activity> out =
      Consume(Buffer().Add(kernel).Add(Kernel(6, 300, 400, "ncclDevKernel_AllReduce")));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].kind, ActivityKind::kKernel);
  EXPECT_EQ(NameOf(out[0]), "add(float*, int)");
  EXPECT_EQ(out[0].device, 1);
  EXPECT_EQ(out[0].stream, 13u);
  EXPECT_EQ(out[0].begin_ns, 100);
  EXPECT_EQ(out[0].end_ns, 250);
  EXPECT_EQ(out[0].correlation, 5u);
  EXPECT_EQ(out[1].kind, ActivityKind::kCollective);
  EXPECT_EQ(NameOf(out[1]), "ncclDevKernel_AllReduce");
}

TEST_F(ConsumerTest, CopiesAndMemsetsHaveBytesAndMemorySpaces) {
  MemcpyRecord copy = {};
  copy.kind = kMemcpy, copy.from_kind = kPinned, copy.to_kind = kDevice, copy.bytes = 4096;
  copy.start = 10, copy.end = 20, copy.correlation = 3;
  MemcpyBetweenRecord between = {};
  between.kind = kMemcpy2, between.from_kind = between.to_kind = kDevice, between.bytes = 8;
  between.start = 30, between.end = 40, between.correlation = 4, between.stream = 9;
  MemsetRecord memset_record = {};
  memset_record.kind = kMemset, memset_record.memory_kind = kManaged, memset_record.bytes = 64,
  memset_record.start = 50, memset_record.end = 60;
  const std::vector<Activity> out = Consume(Buffer().Add(copy).Add(between).Add(memset_record));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].kind, ActivityKind::kMemcpy);
  EXPECT_EQ(out[0].from, MemorySpace::kPinned);
  EXPECT_EQ(out[0].to, MemorySpace::kDevice);
  EXPECT_EQ(out[0].bytes, 4096u);
  EXPECT_EQ(out[1].kind, ActivityKind::kMemcpy);
  EXPECT_EQ(out[1].stream, 9u);
  EXPECT_EQ(NameOf(out[1]), "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(out[1].correlation, 4u);
  EXPECT_EQ(out[2].kind, ActivityKind::kMemset);
  EXPECT_EQ(out[2].to, MemorySpace::kManaged);
  EXPECT_EQ(out[2].bytes, 64u);
}

TEST_F(ConsumerTest, CallsHaveNamesAndThreads) {
  const std::vector<Activity> out = Consume(Buffer()
                                                .Add(Api(kRuntime, 211, 1, 10, 20, 77))
                                                .Add(Api(kDriver, 243, 2, 30, 40, 78))
                                                .Add(Api(kRuntime, 999, 3, 50, 60, 78)));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].kind, ActivityKind::kRuntimeCall);
  EXPECT_EQ(NameOf(out[0]), "cudaLaunchKernel");
  EXPECT_EQ(out[0].thread, 77u);
  EXPECT_EQ(out[1].kind, ActivityKind::kDriverCall);
  EXPECT_EQ(NameOf(out[1]), "cuMemAlloc_v2");
  EXPECT_EQ(NameOf(out[2]), "runtime call 999");
}

// In CUPTI's own records, this field has another meaning, so it is ignored by default.
TEST_F(ConsumerTest, LineOfCodeIsTheNameOnlyIfRecordsContainIt) {
  MemoryRecord memory = {};
  memory.kind = kMemory2, memory.operation = MemoryRecord::kAllocation;
  memory.memory_kind = kPinned, memory.address = 0x7000, memory.bytes = 4096;
  memory.timestamp = 5, memory.name = "/home/me/train.py:88 main";
  const Buffer buffer = Buffer().Add(memory);
  EXPECT_EQ(NameOf(Consume(buffer).at(0)), "");
  consumer_.set_call_sites(true);
  EXPECT_EQ(NameOf(Consume(buffer).at(0)), "/home/me/train.py:88 main");
  memory.name = nullptr;
  EXPECT_EQ(NameOf(Consume(Buffer().Add(memory)).at(0)), "");
}

TEST_F(ConsumerTest, ReadsDriverAllocationsOverheadAndCounters) {
  MemoryRecord memory = {};
  memory.kind = kMemory2, memory.operation = MemoryRecord::kAllocation;
  memory.memory_kind = kDevice, memory.address = 0x7000, memory.bytes = 1 << 21;
  memory.timestamp = 5;
  MemoryRecord release = memory;
  release.operation = MemoryRecord::kRelease, release.timestamp = 9;
  OverheadRecord overhead = {};
  overhead.kind = kOverhead, overhead.overhead_kind = 1 << 16, overhead.start = 6, overhead.end = 8;
  overhead.object_kind = OverheadRecord::kOfThread, overhead.object[1] = 42;
  EnvironmentRecord power = {};
  power.kind = kEnvironment, power.environment_kind = EnvironmentRecord::kPower;
  power.timestamp = 7, power.data[0] = 350'000, power.device = 2;
  const std::vector<Activity> out =
      Consume(Buffer().Add(memory).Add(release).Add(overhead).Add(power));
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].kind, ActivityKind::kDriverAlloc);
  EXPECT_EQ(out[0].address, 0x7000u);
  EXPECT_EQ(out[0].bytes, 1u << 21);
  EXPECT_EQ(out[0].begin_ns, out[0].end_ns);
  EXPECT_EQ(out[1].kind, ActivityKind::kDriverFree);
  EXPECT_EQ(out[2].kind, ActivityKind::kOverhead);
  EXPECT_EQ(out[2].thread, 42u);
  EXPECT_EQ(NameOf(out[2]), "CUPTI buffer flush");
  EXPECT_EQ(out[3].kind, ActivityKind::kCounter);
  EXPECT_EQ(NameOf(out[3]), "power (mW)");
  EXPECT_EQ(out[3].bytes, 350'000u);
  EXPECT_EQ(out[3].device, 2);
}

TEST_F(ConsumerTest, LimitsOperandCountToRecordSize) {
  OperandsRecord operands = {};
  operands.kind = kOperands, operands.correlation = 7, operands.start = 50;
  operands.requests = 12, operands.device = 1, operands.stream = 13;
  for (uint32_t i = 0; i < OperandsRecord::kMost; ++i)
    operands.address[i] = 0x7000 + i, operands.use[i] = static_cast<uint8_t>(i);
  operands.count = 4;
  OperandsRecord lying = operands;
  lying.count = UINT32_MAX;
  const std::vector<Activity> out = Consume(Buffer().Add(operands).Add(lying));
  ASSERT_EQ(out.size(), 4u + OperandsRecord::kMost);
  const auto device = [](bool is) { return is ? MemorySpace::kDevice : MemorySpace::kUnknown; };
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out[i].kind, ActivityKind::kOperand);
    EXPECT_EQ(out[i].address, 0x7000 + i);
    EXPECT_EQ(out[i].bytes, 12u);
    EXPECT_EQ(out[i].correlation, 7u);
    EXPECT_EQ(out[i].stream, 13u);
    EXPECT_EQ(out[i].device, 1);
    EXPECT_EQ(out[i].begin_ns, 50);
    EXPECT_EQ(out[i].end_ns, 50);
    EXPECT_EQ(out[i].from, device(i == 1 || i == 3));
    EXPECT_EQ(out[i].to, device(i >= 2));
  }
}

TEST_F(ConsumerTest, SynchronizationHasThreadOfItsCall) {
  SynchronizationRecord wait = {};
  wait.kind = kSynchronization, wait.type = 3, wait.start = 10, wait.end = 90;
  wait.correlation = 8, wait.stream = 13;
  EXPECT_TRUE(
      Consume(Buffer().Add(wait)).empty());  // the launching call arrives in the next buffer
  const std::vector<Activity> out = Consume(Buffer().Add(Api(kRuntime, 131, 8, 9, 91, 55)));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].kind, ActivityKind::kSynchronization);
  EXPECT_EQ(out[1].thread, 55u);
  EXPECT_EQ(out[1].stream, 13u);
}

TEST_F(ConsumerTest, FinishReleasesRecordsWithoutCall) {
  SynchronizationRecord wait = {};
  wait.kind = kSynchronization, wait.type = 4, wait.start = 10, wait.end = 90;
  wait.correlation = 8, wait.stream = trace::kAllStreams;
  EXPECT_TRUE(Consume(Buffer().Add(wait)).empty());
  std::vector<Activity> out;
  consumer_.Finish(out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].thread, 0u);
  EXPECT_EQ(out[0].stream, trace::kAllStreams);
  out.clear();
  consumer_.Finish(out);
  EXPECT_TRUE(out.empty());
}

TEST(ConsumerCauses, KernelGetsOperatorInAnyBufferOrder) {
  for (const bool kernel_first : {false, true}) {
    Consumer consumer({.next = &NextRecordOf, .wait_for_cause = true});
    const uint64_t id = ExternalId({11}, {22});
    Buffer host, device;
    host.Add(ExternalRecord{kExternalCorrelation, 5, id, 4, 0}).Add(Api(kRuntime, 211, 4, 1, 2, 9));
    device.Add(Kernel(4, 5, 6, "k"));
    std::vector<Activity> out;
    for (const Buffer* buffer :
         kernel_first ? std::vector{&device, &host} : std::vector{&host, &device})
      consumer.Consume(buffer->data(), buffer->size(), out);
    ASSERT_EQ(out.size(), 2u) << kernel_first;
    for (const Activity& activity : out) {
      EXPECT_EQ(activity.op.value, 11u);
      EXPECT_EQ(activity.module.value, 22u);
    }
  }
}

TEST_F(ConsumerTest, RepairsOrDropsInvalidTimes) {
  const std::vector<Activity> out = Consume(Buffer()
                                                .Add(Kernel(1, 0, 0, "no times"))
                                                .Add(Kernel(2, 50, 0, "no end"))
                                                .Add(Kernel(3, 50, 20, "reversed"))
                                                .Add(Kernel(4, UINT64_MAX, 1, "too late"))
                                                .Add(Kernel(5, 10, 20, "good")));
  EXPECT_THAT(out, ElementsAre(Field(&Activity::end_ns, 50), Field(&Activity::end_ns, 50),
                               Field(&Activity::end_ns, 20)));
  EXPECT_EQ(consumer_.counts().untimed, 2u);
  EXPECT_EQ(consumer_.counts().unfinished, 1u);
  EXPECT_EQ(consumer_.counts().reversed, 1u);
}

TEST_F(ConsumerTest, SkipsAndCountsUnknownKinds) {
  struct {
    uint32_t kind = 4711, rest = 0;
  } unknown;
  EXPECT_EQ(Consume(Buffer().Add(unknown).Add(Kernel(1, 5, 6, "k")).Add(unknown)).size(), 1u);
  EXPECT_EQ(consumer_.counts().unknown, 2u);
}

// Truncates a buffer with one record of each kind to every possible length, at an odd address. The
// consumer must keep the complete records, and not read beyond the end (which a sanitizer would
// report). The record of a kernel contains a pointer to its name, so the only kernel is the
// kConcurrentKernel that Kernel() makes.
TEST_F(ConsumerTest, ReadsCompleteRecordsOfTruncatedBuffers) {
  Buffer whole;
  whole.Add(Kernel(1, 5, 6, "k")).Add(Api(kRuntime, 211, 1, 1, 2, 9));
  for (const uint32_t kind : {kDriver, kMemcpy, kMemcpy2, kMemset, kExternalCorrelation,
                              kSynchronization, kMemory2, kOperands, kOverhead, kEnvironment}) {
    std::vector<uint8_t> record(SizeOfKind(kind), 1);
    std::memcpy(record.data(), &kind, sizeof kind);
    for (const uint8_t byte : record) whole.Add(byte);
  }
  size_t last = 0;
  for (size_t length = 0; length <= whole.size(); ++length) {
    std::vector<uint8_t> exact(length + 1);
    std::memcpy(exact.data() + 1, whole.data(), length);
    Consumer consumer({.next = &NextRecordOf});
    std::vector<Activity> out;
    consumer.Consume(exact.data() + 1, length, out);
    consumer.Finish(out);
    EXPECT_GE(out.size(), last);
    last = out.size();
    if (length == whole.size()) {
      EXPECT_EQ(consumer.counts().cut, 0u);
    }
  }
  // Kernel, calls, copies, memset, synchronization, overhead, and a full record of operands.
  EXPECT_GE(last, 8u + OperandsRecord::kMost);
}

TEST(ConsumerHostile, SurvivesRandomBuffers) {
  std::mt19937 random(7);
  const uint32_t kinds[] = {1, 2, 3, 4, 5, 10, 17, 20, 22, 38, 39, 49, 77};
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> noise(random() % 700);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    for (size_t at = 0; at + 240 < noise.size(); at += 8) {
      const uint32_t kind = kinds[random() % std::size(kinds)];
      if (random() % 3 == 0) std::memcpy(&noise[at], &kind, 4);
    }
    // CUPTI guarantees that a kernel's name is a valid pointer, so random pointers are replaced.
    const auto next = [](uint8_t* buffer, size_t valid, uint8_t** record) {
      const int status = NextRecordOf(buffer, valid, record);
      if (status == kSuccess && *record + sizeof(KernelRecord) <= buffer + valid) {
        auto* kernel = reinterpret_cast<KernelRecord*>(*record);
        if (kernel->kind == kKernel || kernel->kind == kConcurrentKernel) {
          const char* name = "k";
          std::memcpy(&kernel->name, &name, sizeof name);
        }
      }
      return status;
    };
    const uint32_t first = 0;
    if (noise.size() >= 4 && noise.size() < 240) std::memcpy(noise.data(), &first, 4);
    Consumer consumer({.next = next});
    std::vector<Activity> out;
    consumer.Consume(noise.data(), noise.size(), out);
    consumer.Finish(out);
    for (const Activity& activity : out) {
      EXPECT_LE(activity.begin_ns, activity.end_ns);
      EXPECT_LT(activity.name.value, consumer.names().size());
    }
  }
}

// If the library returns the same record again and again, the loop must end.
TEST(ConsumerHostile, StopsAtRecordsThatDoNotAdvance) {
  const auto next = [](uint8_t* buffer, size_t, uint8_t** record) {
    *record = buffer;
    return static_cast<int>(kSuccess);
  };
  Buffer buffer;
  buffer.Add(Kernel(1, 5, 6, "k"));
  Consumer consumer({.next = next});
  std::vector<Activity> out;
  consumer.Consume(buffer.data(), buffer.size(), out);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(consumer.counts().cut, 1u);
}

TEST_F(ConsumerTest, AddsOffsetToTimes) {
  consumer_.set_offset_ns(1000);
  const std::vector<Activity> out = Consume(Buffer().Add(Kernel(1, 5, 6, "k")));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].begin_ns, 1005);
  EXPECT_EQ(out[0].end_ns, 1006);
}

}  // namespace
}  // namespace vramscope::cupti
