// Tests the client with replacements of libcupti: one that works, and ones with the errors that a
// real libcupti can return.
#include "cupti/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "tests/cupti/buffer.h"

namespace vramscope::cupti {
namespace {

using testing::HasSubstr;
using trace::Activity;

// A replacement of libcupti. Tests set which calls it refuses.
struct Fake {
  RequestBuffer request = nullptr;
  BufferCompleted completed = nullptr;
  std::map<uint32_t, bool> enabled;
  std::map<uint32_t, int> refuse;  // by kind
  std::map<uint32_t, bool> runtime_calls,
      driver_calls;  // calls set one by one after their kind was enabled
  int subscribe = kSuccess, clock = kSuccess;
  bool subscribed = false;
  size_t dropped = 0;
  std::vector<std::pair<uint8_t*, size_t>> out;  // buffers that were requested
} fake;

uint64_t FakeClock() { return 5'000'000; }

Library FakeLibrary() {
  fake = {};
  Library l;
  l.name = "libcupti.so.99";
  l.version = 130001;
  l.GetVersion = [](uint32_t* v) { return *v = 130001, 0; };
  l.GetTimestamp = [](uint64_t* now) { return *now = 4'000'000, 0; };
  l.ActivityRegisterCallbacks = [](RequestBuffer request, BufferCompleted completed) {
    fake.request = request, fake.completed = completed;
    return 0;
  };
  l.ActivityEnable = [](uint32_t kind) {
    if (fake.refuse.contains(kind)) return fake.refuse[kind];
    fake.enabled[kind] = true;
    if (kind == kRuntime) fake.runtime_calls.clear();  // all calls are on again, as CUPTI documents
    if (kind == kDriver) fake.driver_calls.clear();
    return 0;
  };
  l.ActivityEnableRuntimeApi = [](uint32_t call, uint8_t on) {
    return fake.runtime_calls[call] = on != 0, 0;
  };
  l.ActivityEnableDriverApi = [](uint32_t call, uint8_t on) {
    return fake.driver_calls[call] = on != 0, 0;
  };
  l.ActivityDisable = [](uint32_t kind) { return fake.enabled.erase(kind), 0; };
  l.ActivityFlushAll = [](uint32_t) { return 0; };
  l.ActivityGetNextRecord = &NextRecordOf;
  l.ActivityGetNumDroppedRecords = [](void*, uint32_t, size_t* n) {
    return *n = std::exchange(fake.dropped, 0), 0;
  };
  l.ActivityRegisterTimestampCallback = [](ClockFunction) { return fake.clock; };
  l.Subscribe = [](void** s, void*, void*) {
    *s = &fake;
    fake.subscribed = fake.subscribe == kSuccess;
    return fake.subscribe;
  };
  l.Unsubscribe = [](void*) { return fake.subscribed = false, 0; };
  return l;
}

// Requests a buffer, fills it and returns it, as CUPTI does.
bool Deliver(const Buffer& records) {
  uint8_t* buffer = nullptr;
  size_t bytes = 0, most = 0;
  fake.request(&buffer, &bytes, &most);
  if (buffer == nullptr) return false;
  EXPECT_GE(bytes, records.size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 8, 0u);
  std::memcpy(buffer, records.data(), records.size());
  fake.out.emplace_back(buffer, records.size());
  fake.completed(nullptr, 0, buffer, bytes, records.size());
  return true;
}

struct Kept : Receiver {
  void Receive(std::span<const Activity> activities, const std::vector<std::string>&) override {
    all.insert(all.end(), activities.begin(), activities.end());
  }
  std::vector<Activity> all;
};

class ClientTest : public testing::Test {
 protected:
  Report Start(Library library, Options options = {}) {
    options.receiver = &kept_;
    return Client::The().Start({std::move(library), ""}, options);
  }
  ~ClientTest() override { Client::The().Stop(); }
  Kept kept_;
};

TEST_F(ClientTest, ActivitiesReachTheReceiver) {
  const Report report = Start(FakeLibrary());
  EXPECT_TRUE(report.running);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_FALSE(fake.subscribed);  // so that the program may profile itself
  EXPECT_TRUE(Deliver(Buffer().Add(Kernel(1, 5, 6, "k"))));
  Client::The().Flush();
  ASSERT_EQ(kept_.all.size(), 1u);
  Client::The().Stop();
  EXPECT_TRUE(fake.enabled.empty());
  EXPECT_FALSE(Client::The().running());
}

// In GPT-2's training steps on an H200, a dozen query functions made 94,000 of 106,000 calls.
TEST_F(ClientTest, DisablesQueryCallsButNotLaunches) {
  constexpr uint32_t kGetDevice = 17, kGetLastError = 10, kLaunchKernel = 211, kMalloc = 20;
  constexpr uint32_t kContextState = 392, kKernelGetName = 719, kLaunchKernelEx = 652;
  ASSERT_TRUE(Start(FakeLibrary()).running);
  for (const uint32_t call : {kGetDevice, kGetLastError})
    EXPECT_FALSE(fake.runtime_calls.at(call)) << call;
  for (const uint32_t call : {kContextState, kKernelGetName})
    EXPECT_FALSE(fake.driver_calls.at(call)) << call;
  EXPECT_FALSE(fake.runtime_calls.contains(kLaunchKernel));
  EXPECT_FALSE(fake.runtime_calls.contains(kMalloc));
  EXPECT_FALSE(fake.driver_calls.contains(kLaunchKernelEx));
  Client::The().Stop();
  Library old = FakeLibrary();  // cannot filter calls, so it reports all
  old.ActivityEnableRuntimeApi = old.ActivityEnableDriverApi = nullptr;
  EXPECT_TRUE(Start(old).running);
}

TEST_F(ClientTest, ReusesBuffers) {
  Start(FakeLibrary(), {.most_buffers = 2});
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Deliver(Buffer().Add(Kernel(1, 5, 6, "k"))));
    Client::The().Flush();
  }
  std::sort(fake.out.begin(), fake.out.end());
  fake.out.erase(std::unique(fake.out.begin(), fake.out.end()), fake.out.end());
  EXPECT_EQ(fake.out.size(), 1u);
  EXPECT_EQ(kept_.all.size(), 100u);
}

TEST_F(ClientTest, CountsRecordsDroppedWithoutBuffer) {
  Start(FakeLibrary(), {.most_buffers = 2});
  EXPECT_TRUE(Deliver(Buffer().Add(Kernel(1, 5, 6, "k"))));
  fake.dropped = 17;
  EXPECT_TRUE(Deliver(Buffer().Add(Kernel(2, 5, 6, "k"))));
  EXPECT_FALSE(Deliver(Buffer().Add(Kernel(3, 5, 6, "k"))));
  Client::The().Flush();
  EXPECT_TRUE(Deliver(Buffer().Add(Kernel(4, 5, 6, "k"))));
  Client::The().Stop();
  EXPECT_EQ(kept_.all.size(), 3u);
  EXPECT_EQ(Client::The().counts().dropped, 17u);
}

TEST_F(ClientTest, DoesNotStartIfAnotherProfilerRuns) {
  Library library = FakeLibrary();
  fake.subscribe = kMultipleSubscribers;
  const Report report = Start(library);
  EXPECT_FALSE(report.running);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0].what, HasSubstr("another profiler"));
  EXPECT_EQ(fake.request, nullptr);
  EXPECT_TRUE(fake.enabled.empty());
}

TEST_F(ClientTest, ReportsRejectedKindAndEnablesTheRest) {
  Library library = FakeLibrary();
  fake.refuse[kMemory2] = kInsufficientPrivileges;
  const Report report = Start(library);
  EXPECT_TRUE(report.running);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0].what, HasSubstr("INSUFFICIENT_PRIVILEGES"));
  EXPECT_THAT(report.problems[0].without, HasSubstr("allocator"));
  EXPECT_TRUE(fake.enabled[kConcurrentKernel]);
}

TEST_F(ClientTest, ReportsIfNothingCanBeEnabled) {
  Library library = FakeLibrary();
  for (uint32_t kind = 0; kind < 64; ++kind) fake.refuse[kind] = kUnknownError;
  const Report report = Start(library);
  EXPECT_FALSE(report.running);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0].what, HasSubstr("no driver"));
  EXPECT_THAT(report.problems[0].without, HasSubstr("kernels, memcpys and calls"));

  Found nowhere;
  nowhere.problem = "there is no libcupti";
  const Report none = Client::The().Start(nowhere, {});
  EXPECT_FALSE(none.running);
  EXPECT_THAT(none.problems.at(0).what, HasSubstr("no libcupti"));
}

TEST_F(ClientTest, CorrectsTimesWithoutTimestampCallback) {
  Library library = FakeLibrary();
  fake.clock = kNotSupported;
  Start(library, {.clock = &FakeClock});
  Deliver(Buffer().Add(Kernel(1, 5, 6, "k")));
  Client::The().Flush();
  ASSERT_EQ(kept_.all.size(), 1u);
  EXPECT_EQ(kept_.all[0].begin_ns, 1'000'005);
}

TEST_F(ClientTest, FlushesInOwnThread) {
  Start(FakeLibrary(), {.period_ms = 1});
  const uint64_t before = Client::The().counts().activities;
  Deliver(Buffer().Add(Kernel(1, 5, 6, "k")));
  for (int i = 0; i < 2000 && Client::The().counts().activities == before; ++i) usleep(1000);
  EXPECT_EQ(Client::The().counts().activities, before + 1);
}

TEST_F(ClientTest, ForkedChildDoesNothing) {
  Start(FakeLibrary(), {.period_ms = 1});
  const pid_t child = fork();
  if (child == 0) {
    Client::The().Flush();
    Client::The().Stop();
    _exit(kept_.all.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ClientTest, RestartsAfterStop) {
  const Library library = FakeLibrary();
  Start(library);
  Deliver(Buffer().Add(Kernel(1, 5, 6, "before")));
  Client::The().Stop();
  const size_t before = kept_.all.size();
  EXPECT_TRUE(Start(library).running);
  Deliver(Buffer().Add(Kernel(2, 5, 6, "after")));
  Client::The().Flush();
  ASSERT_EQ(kept_.all.size(), before + 1);
  EXPECT_NE(kept_.all.back().name, kept_.all.front().name);
}

}  // namespace
}  // namespace vramscope::cupti
