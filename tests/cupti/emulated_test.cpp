// Tests the client on the emulated platform, where activities have times of the virtual clock.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <set>
#include <thread>

#include "cupti/client.h"

namespace vramscope::cupti {
namespace {

using trace::Activity;
using trace::ActivityKind;
using trace::MemorySpace;

const int kEnvironment =
    setenv(
        "VRAMSCOPE_EMULATED_GPU",
        "name=Test Card;memory_bytes=8589934592;context_bytes=0;sm_count=20;"
        "max_threads_per_sm=1536;compute_capability=86;l2_bytes=4194304;"
        "bandwidth_bytes_per_s=5e11;fp32_flops=1e13;tf32_flops=4e13;bf16_flops=8e13;bus_bits=256;"
        "boost_mhz=1700",
        1) |
    unsetenv("VRAMSCOPE_EMULATED_DEVICES") | unsetenv("VRAMSCOPE_EMULATED_OUTPUT");

void* Open(const char* soname) {
  void* handle =
      dlopen((std::string(VRAMSCOPE_EMULATED_DIR "/") + soname).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle;
}
template <class... Arguments>
int Call(const char* name, Arguments... arguments) {
  static void* const runtime = Open("libcudart.so.12");
  static void* const driver = Open("libcuda.so.1");
  void* symbol = dlsym(std::string_view(name).starts_with("cuda") ? runtime : driver, name);
  EXPECT_NE(symbol, nullptr) << name;
  return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
}

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};
char g_kernel;
void Register() {
  static void* const runtime = Open("libcudart.so.12");
  const auto add =
      reinterpret_cast<void (*)(void**, const char*, char*, const char*, int, void*, void*, void*,
                                void*, int*)>(dlsym(runtime, "__cudaRegisterFunction"));
  add(nullptr, &g_kernel, nullptr, "_Z3addPfi", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

struct Kept : Receiver {
  void Receive(std::span<const Activity> activities,
               const std::vector<std::string>& all_names) override {
    all.insert(all.end(), activities.begin(), activities.end());
    names = all_names;
  }
  std::vector<Activity> Of(ActivityKind kind) const {
    std::vector<Activity> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](const Activity& activity) { return activity.kind == kind; });
    return some;
  }
  std::vector<Activity> all;
  std::vector<std::string> names;
};

class EmulatedTest : public testing::Test {
 protected:
  void SetUp() override {
    Open("libcupti.so.12");
    Open("libvramscope-emulated.so");
    Register();
    const Found found = FindLibrary();
    ASSERT_EQ(found.problem, "");
    EXPECT_EQ(found.library.name, "libcupti.so.12");
    ASSERT_TRUE(IsVirtual(ClockOfProcess()));
    const Report report =
        Client::The().Start(found, {.receiver = &kept_, .clock = ClockOfProcess()});
    ASSERT_TRUE(report.running);
    for (const Problem& problem : report.problems) ADD_FAILURE() << problem.what;
  }
  void TearDown() override { Client::The().Stop(); }
  void Launch(void* stream = nullptr, unsigned blocks = 1000) {
    EXPECT_EQ(Call("cudaLaunchKernel", static_cast<const void*>(&g_kernel), Dim{blocks}, Dim{256},
                   static_cast<void**>(nullptr), size_t{0}, stream),
              0);
  }
  std::string NameOf(const Activity& activity) const { return kept_.names[activity.name.value]; }
  Kept kept_;
};

// The virtual clock starts at 0, although begin and end 0 mean unknown times in CUPTI's records.
TEST_F(EmulatedTest, RecordsCallsAtTimeZero) {
  ASSERT_EQ(Call("cudaDeviceSynchronize"), 0);
  void* device = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &device, size_t{1} << 22), 0);
  Client::The().Flush(true);
  EXPECT_EQ(Client::The().counts().consumed.untimed, 0u);
  EXPECT_EQ(kept_.Of(ActivityKind::kSynchronization).size(), 1u);
  EXPECT_EQ(kept_.Of(ActivityKind::kRuntimeCall).size(), 2u);
  EXPECT_EQ(kept_.Of(ActivityKind::kDriverAlloc).size(), 1u);
}

TEST_F(EmulatedTest, RecordsEveryKindOnTheVirtualClock) {
  void *device = nullptr, *pinned = nullptr, *stream = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &device, size_t{1} << 22), 0);
  ASSERT_EQ(Call("cudaHostAlloc", &pinned, size_t{1} << 22, 0u), 0);
  ASSERT_EQ(Call("cudaStreamCreate", &stream), 0);
  std::vector<char> pageable(4096);
  ASSERT_EQ(
      Call("cudaMemcpyAsync", device, static_cast<const void*>(pinned), size_t{1} << 22, 1, stream),
      0);
  ASSERT_EQ(Call("cudaMemsetAsync", device, 0, size_t{4096}, stream), 0);
  Launch(stream);
  Launch();
  ASSERT_EQ(Call("cudaMemcpy", static_cast<void*>(pageable.data()),
                 static_cast<const void*>(device), size_t{4096}, 2),
            0);
  const uint64_t before = ClockOfProcess()();
  ASSERT_EQ(Call("cudaStreamSynchronize", stream), 0);
  const uint64_t after = ClockOfProcess()();
  ASSERT_EQ(Call("cudaFree", device), 0);
  ASSERT_EQ(Call("cudaFreeHost", pinned), 0);
  Client::The().Flush();

  const std::vector<Activity> kernels = kept_.Of(ActivityKind::kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(NameOf(kernels[0]), "add(float*, int)");
  EXPECT_NE(kernels[0].stream, kernels[1].stream);
  // StreamId() maps the allocator's stream handles to the stream numbers of the activities.
  EXPECT_EQ(Client::The().StreamId(reinterpret_cast<uint64_t>(stream)), kernels[0].stream);
  EXPECT_EQ(Client::The().StreamId(0), kernels[1].stream);
  EXPECT_EQ(Client::The().StreamId(0x1234567), std::nullopt);
  const std::vector<Activity> copies = kept_.Of(ActivityKind::kMemcpy);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].bytes, 1u << 22);
  EXPECT_EQ(copies[0].from, MemorySpace::kPinned);
  EXPECT_EQ(copies[0].to, MemorySpace::kDevice);
  EXPECT_EQ(copies[1].to, MemorySpace::kPageable);
  EXPECT_EQ(kept_.Of(ActivityKind::kMemset).size(), 1u);

  const std::vector<Activity> waits = kept_.Of(ActivityKind::kSynchronization);
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits.back().stream, copies[0].stream);
  EXPECT_EQ(waits.back().begin_ns, static_cast<int64_t>(before));
  EXPECT_EQ(waits.back().end_ns, static_cast<int64_t>(after));
  EXPECT_EQ(waits.back().thread, static_cast<uint32_t>(gettid()));

  const std::vector<Activity> made = kept_.Of(ActivityKind::kDriverAlloc),
                              freed = kept_.Of(ActivityKind::kDriverFree);
  ASSERT_EQ(made.size(), 2u);
  ASSERT_EQ(freed.size(), 2u);
  EXPECT_EQ(made[0].to, MemorySpace::kDevice);
  EXPECT_EQ(made[1].to, MemorySpace::kPinned);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(made[i].address, freed[i].address);
    EXPECT_EQ(freed[i].bytes, 1u << 22);
  }
  EXPECT_FALSE(kept_.Of(ActivityKind::kCounter).empty());

  // Each activity has a correlated call and does not begin before it. Activities on one stream do
  // not overlap.
  std::map<uint64_t, Activity> calls;
  for (const ActivityKind kind : {ActivityKind::kRuntimeCall, ActivityKind::kDriverCall})
    for (const Activity& call : kept_.Of(kind)) calls[call.correlation] = call;
  std::map<uint32_t, int64_t> ends;
  for (const Activity& work : kept_.all) {
    if (work.kind != ActivityKind::kKernel && work.kind != ActivityKind::kMemcpy &&
        work.kind != ActivityKind::kMemset)
      continue;
    ASSERT_TRUE(calls.contains(work.correlation));
    EXPECT_GE(work.begin_ns, calls[work.correlation].begin_ns);
    EXPECT_LT(calls[work.correlation].begin_ns, calls[work.correlation].end_ns);
    EXPECT_GE(work.begin_ns, ends[work.stream]);
    ends[work.stream] = work.end_ns;
  }
  EXPECT_EQ(NameOf(calls[kernels[0].correlation]), "cudaLaunchKernel");
  EXPECT_EQ(NameOf(calls[copies[0].correlation]), "cudaMemcpyAsync");
}

// An allocation of host memory is named after the line that made it. Allocations of GPU memory are
// not, because PyTorch's history contains their stacks.
TEST_F(EmulatedTest, HostMemoryIsNamedByItsLineOfCode) {
  static int asked = 0;
  asked = 0;
  Client::The().Stop();
  ASSERT_TRUE(Client::The()
                  .Start(FindLibrary(), {.receiver = &kept_,
                                         .clock = ClockOfProcess(),
                                         .at_once = true,
                                         .call_site = []() -> const char* {
                                           return ++asked == 2 ? nullptr : "train.py:88 main";
                                         }})
                  .running);
  void *device = nullptr, *pinned = nullptr, *managed = nullptr, *of_driver = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &device, size_t{1} << 22), 0);
  ASSERT_EQ(Call("cudaHostAlloc", &pinned, size_t{1} << 22, 0u), 0);
  // Here, `call_site` returns null, as for a call that does not come from Python code.
  ASSERT_EQ(Call("cudaMallocManaged", &managed, size_t{1} << 22, 1u), 0);
  ASSERT_EQ(Call("cuMemHostAlloc", &of_driver, size_t{1} << 22, 0u), 0);
  ASSERT_EQ(Call("cudaFreeHost", pinned), 0);
  std::vector<Activity> made = kept_.Of(ActivityKind::kDriverAlloc);
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(NameOf(made[0]), "");
  EXPECT_EQ(NameOf(made[1]), "train.py:88 main");
  EXPECT_EQ(NameOf(made[2]), "");
  EXPECT_EQ(NameOf(made[3]), "train.py:88 main");
  EXPECT_EQ(made[3].to, MemorySpace::kPinned);
  EXPECT_EQ(NameOf(kept_.Of(ActivityKind::kDriverFree).at(0)), "");

  Client::The().Stop();  // from here on, `call_site` is not called
  ASSERT_EQ(Call("cuMemFreeHost", of_driver), 0);
  ASSERT_EQ(Call("cudaHostAlloc", &pinned, size_t{1} << 22, 0u), 0);
  EXPECT_EQ(asked, 3);
}

TEST_F(EmulatedTest, GraphKernelsShareCorrelationOfTheirLaunch) {
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(Call("cudaStreamCreate", &stream), 0);
  ASSERT_EQ(Call("cudaStreamBeginCapture", stream, 0), 0);
  for (int i = 0; i < 5; ++i) Launch(stream);
  ASSERT_EQ(Call("cudaStreamEndCapture", stream, &graph), 0);
  ASSERT_EQ(Call("cudaGraphInstantiate", &executable, graph, 0ULL), 0);
  Client::The().Flush();
  EXPECT_TRUE(kept_.Of(ActivityKind::kKernel).empty());
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Call("cudaGraphLaunch", executable, stream), 0);
  Client::The().Flush();
  std::set<uint64_t> launches;
  for (const Activity& kernel : kept_.Of(ActivityKind::kKernel))
    launches.insert(kernel.correlation);
  EXPECT_EQ(kept_.Of(ActivityKind::kKernel).size(), 10u);
  EXPECT_EQ(launches.size(), 2u);
}

TEST_F(EmulatedTest, LibraryCallIsOneModelledKernel) {
  void* blas = Open("libcublas.so.12");
  const auto create = reinterpret_cast<int (*)(void**)>(dlsym(blas, "cublasCreate_v2"));
  const auto product =
      reinterpret_cast<int (*)(void*, int, int, int, int, int, const float*, const float*, int,
                               const float*, int, const float*, float*, int)>(
          dlsym(blas, "cublasSgemm_v2"));
  void *handle = nullptr, *device = nullptr;
  ASSERT_EQ(create(&handle), 0);
  ASSERT_EQ(Call("cudaMalloc", &device, size_t{1} << 22), 0);
  const float one = 1;
  auto* matrix = static_cast<float*>(device);
  ASSERT_EQ(product(handle, 0, 0, 64, 64, 64, &one, matrix, 64, matrix, 64, &one, matrix, 64), 0);
  Client::The().Flush();
  const std::vector<Activity> kernels = kept_.Of(ActivityKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_THAT(NameOf(kernels[0]), testing::EndsWith(" (modelled)"));
  EXPECT_EQ(reinterpret_cast<int (*)(void*)>(dlsym(blas, "cublasDestroy_v2"))(handle), 0);
}

TEST_F(EmulatedTest, CallsHaveTheirThreads) {
  std::thread other([&] { Launch(); });
  other.join();
  Launch();
  Client::The().Flush();
  std::set<uint32_t> threads;
  for (const Activity& call : kept_.Of(ActivityKind::kRuntimeCall)) threads.insert(call.thread);
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_TRUE(threads.contains(static_cast<uint32_t>(gettid())));
}

TEST_F(EmulatedTest, LosesNoneOfManyLaunches) {
  constexpr int kMany = 100'000;  // more than the platform keeps by itself
  for (int i = 0; i < kMany; ++i) {
    Launch();
    if (i % 10'000 == 0) Client::The().Flush();
  }
  Client::The().Flush();
  EXPECT_EQ(kept_.Of(ActivityKind::kKernel).size(), size_t{kMany});
  EXPECT_EQ(Client::The().counts().dropped, 0u);
}

// Each record must be delivered immediately, because a killed process cannot flush.
TEST_F(EmulatedTest, DeliversRecordsAtOnceIfRequested) {
  Client::The().Stop();
  ASSERT_TRUE(Client::The()
                  .Start(FindLibrary(), {.receiver = &kept_,
                                         .clock = ClockOfProcess(),
                                         .wait_for_cause = true,
                                         .at_once = true})
                  .running);
  const size_t before = kept_.Of(ActivityKind::kKernel).size();
  for (size_t i = 1; i <= 200; ++i) {
    Launch();
    ASSERT_EQ(kept_.Of(ActivityKind::kKernel).size(), before + i);
  }
  std::thread other([&] { Launch(); });
  other.join();
  EXPECT_EQ(kept_.Of(ActivityKind::kKernel).size(), before + 201);
  EXPECT_EQ(Client::The().counts().dropped, 0u);
}

uint64_t g_requests = 0;

// Checks the operands of a library call, a copy and a memset, and the time at which they were
// recorded. The operands of a graph are recorded during its capture.
TEST_F(EmulatedTest, RecordsOperandsIfRequested) {
  void* blas = Open("libcublas.so.12");
  const auto create = reinterpret_cast<int (*)(void**)>(dlsym(blas, "cublasCreate_v2"));
  const auto on = reinterpret_cast<int (*)(void*, void*)>(dlsym(blas, "cublasSetStream_v2"));
  const auto product =
      reinterpret_cast<int (*)(void*, int, int, int, int, int, const float*, const float*, int,
                               const float*, int, const float*, float*, int)>(
          dlsym(blas, "cublasSgemm_v2"));
  void *handle = nullptr, *a = nullptr, *b = nullptr, *c = nullptr, *stream = nullptr;
  ASSERT_EQ(create(&handle), 0);
  for (void** matrix : {&a, &b, &c}) ASSERT_EQ(Call("cudaMalloc", matrix, size_t{1} << 20), 0);
  ASSERT_EQ(Call("cudaStreamCreate", &stream), 0);
  const float one = 1;
  const auto multiply = [&](void* left, void* right, void* to) {
    ASSERT_EQ(product(handle, 0, 0, 64, 64, 64, &one, static_cast<float*>(left), 64,
                      static_cast<float*>(right), 64, &one, static_cast<float*>(to), 64),
              0);
  };
  multiply(a, b, c);
  EXPECT_TRUE(kept_.Of(ActivityKind::kOperand).empty()) << "operands were not requested";
  Client::The().Stop();
  kept_.all.clear();
  ASSERT_TRUE(Client::The()
                  .Start(FindLibrary(), {.receiver = &kept_,
                                         .clock = ClockOfProcess(),
                                         .at_once = true,
                                         .requests = [](int) { return g_requests; },
                                         .environment = false})
                  .running);
  g_requests = 3;
  multiply(a, b, c);
  multiply(a, a, a);
  g_requests = 4;
  std::vector<char> host(4096);
  ASSERT_EQ(Call("cudaMemcpy", static_cast<void*>(static_cast<char*>(b) + 512),
                 static_cast<const void*>(a), size_t{4096}, 3),
            0);
  ASSERT_EQ(Call("cudaMemcpy", static_cast<void*>(host.data()), static_cast<const void*>(c),
                 size_t{4096}, 2),
            0);
  ASSERT_EQ(Call("cudaMemset", c, 0, size_t{4096}), 0);
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(on(handle, stream), 0);
  ASSERT_EQ(Call("cudaStreamBeginCapture", stream, 0), 0);
  g_requests = 5;
  multiply(a, b, c);
  g_requests = 6;
  multiply(b, c, a);
  ASSERT_EQ(Call("cudaStreamEndCapture", stream, &graph), 0);
  ASSERT_EQ(Call("cudaGraphInstantiate", &executable, graph, 0ULL), 0);
  g_requests = 70;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Call("cudaGraphLaunch", executable, stream), 0);

  // Describes each activity by its kind and its operands ('r': read, 'w': written, 'b': both).
  std::map<const void*, char> name = {
      {a, 'a'}, {b, 'b'}, {c, 'c'}, {static_cast<char*>(b) + 512, 'B'}};
  std::vector<std::string> have;
  for (const Activity& work : kept_.all) {
    if (!trace::IsOfDevice(work.kind)) continue;
    std::set<std::string> operands;
    for (const Activity& o : kept_.Of(ActivityKind::kOperand)) {
      if (o.correlation != work.correlation || o.begin_ns != work.begin_ns) continue;
      EXPECT_EQ(o.stream, work.stream);
      const bool read = o.from == MemorySpace::kDevice, written = o.to == MemorySpace::kDevice;
      operands.insert(std::string(1, name[reinterpret_cast<void*>(o.address)]) +
                      (read && written ? "b"
                       : read          ? "r"
                       : written       ? "w"
                                       : "?") +
                      std::to_string(o.bytes));
    }
    std::string text;
    for (const std::string& operand : operands) text += operand + " ";
    have.push_back(text);
  }
  EXPECT_THAT(
      have, testing::ElementsAre("ar3 br3 cw3 ", "ab3 ", "Bw4 ar4 ", "cr4 ", "cw4 ", "ar5 br5 cw5 ",
                                 "aw6 br6 cr6 ", "ar5 br5 cw5 ", "aw6 br6 cr6 "));
  Client::The().Stop();
  const size_t before = kept_.all.size();
  multiply(a, b, c);
  EXPECT_EQ(kept_.all.size(), before);
  EXPECT_EQ(reinterpret_cast<int (*)(void*)>(dlsym(blas, "cublasDestroy_v2"))(handle), 0);
}

TEST_F(EmulatedTest, AllowsOneSubscriberAtATime) {
  const Found found = FindLibrary();
  void* subscriber = nullptr;
  EXPECT_EQ(found.library.Subscribe(&subscriber, nullptr, nullptr), kSuccess);
  Client::The().Stop();
  const Report refused = Client::The().Start(found, {.receiver = &kept_});
  EXPECT_FALSE(refused.running);
  EXPECT_EQ(found.library.Unsubscribe(subscriber), kSuccess);
  EXPECT_TRUE(Client::The().Start(found, {.receiver = &kept_}).running);
}

}  // namespace
}  // namespace vramscope::cupti
