// Uses the libraries as programs do: loads them by name and calls their C interface. The three
// runtimes that this process loads share one platform.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulated/core/activity.h"
#include "tests/emulated/cubin.h"

namespace {

constexpr char kGpu[] =
    "name=Test "
    "Card;memory_bytes=8589934592;context_bytes=536870912;sm_count=20;max_threads_per_sm=1536;"
    "compute_capability=86;l2_bytes=4194304;bandwidth_bytes_per_s=5e11;bus_bits=256\n"
    "name=Other Card;memory_bytes=4294967296;context_bytes=0;sm_count=10;max_threads_per_sm=2048;"
    "compute_capability=80";

// Sets the variables before the first library is loaded, because they are read only once.
const int kEnvironment = setenv("VRAMSCOPE_EMULATED_GPU", kGpu, 1) |
                         unsetenv("VRAMSCOPE_EMULATED_DEVICES") |
                         unsetenv("VRAMSCOPE_EMULATED_OUTPUT");

class Library {
 public:
  explicit Library(const std::string& soname)
      : handle_(dlopen((std::string(VRAMSCOPE_EMULATED_DIR "/") + soname).c_str(),
                       RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  // Calls the C function with that name, which must return a number.
  template <typename... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    EXPECT_NE(function, nullptr) << name;
    return function == nullptr ? -1 : function(arguments...);
  }
  template <typename Result, typename... Arguments>
  Result Get(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(handle_, name))(arguments...);
  }
  bool Has(const char* name) const { return dlsym(handle_, name) != nullptr; }

 private:
  void* handle_;
};

class RuntimeTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { cuda_("cudaSetDevice", 0); }
  Library cuda_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Versions, RuntimeTest,
                         testing::Values("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"),
                         [](const auto& info) {
                           std::string name = info.param;
                           return "cuda" + name.substr(name.find(".so.") + 4, 2);
                         });

TEST_P(RuntimeTest, ReportsDeviceProperties) {
  int count = 0, value = 0;
  EXPECT_EQ(cuda_("cudaGetDeviceCount", &count), 0);
  EXPECT_EQ(count, 2);
  std::vector<char> properties(4096, 0x55);
  EXPECT_EQ(cuda_("cudaGetDeviceProperties", properties.data(), 1), 0);
  EXPECT_STREQ(properties.data(), "Other Card");
  uint64_t memory = 0;
  std::memcpy(&memory, properties.data() + 288, sizeof memory);  // totalGlobalMem
  EXPECT_EQ(memory, 4294967296u);
  EXPECT_EQ(cuda_("cudaDeviceGetAttribute", &value, 16, 0), 0);  // multiprocessors
  EXPECT_EQ(value, 20);
  EXPECT_EQ(cuda_("cudaSetDevice", 2), 101);
  EXPECT_STREQ(cuda_.Get<const char*>("cudaGetErrorName", 101), "cudaErrorInvalidDevice");
  EXPECT_EQ(cuda_("cudaGetLastError"), 101);
  EXPECT_EQ(cuda_("cudaGetLastError"), 0);
}

TEST_P(RuntimeTest, AllocatesUntilOutOfMemory) {
  size_t free = 0, total = 0;
  EXPECT_EQ(cuda_("cudaMemGetInfo", &free, &total), 0);
  EXPECT_EQ(total, 8589934592u);
  EXPECT_EQ(free, 8589934592u - 536870912u);
  void *at = nullptr, *more = nullptr;
  ASSERT_EQ(cuda_("cudaMalloc", &at, size_t{6} << 30), 0);
  EXPECT_EQ(cuda_("cudaMalloc", &more, size_t{2} << 30), 2);
  EXPECT_STREQ(cuda_.Get<const char*>("cudaGetErrorString", 2), "out of memory");
  cuda_("cudaGetLastError");
  struct {
    int type, device;
    void *device_pointer, *host_pointer;
    long reserved[8];
  } attributes;
  EXPECT_EQ(cuda_("cudaPointerGetAttributes", &attributes, static_cast<char*>(at) + 5), 0);
  EXPECT_EQ(attributes.type, 2);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(cuda_("cudaPointerGetAttributes", &attributes, &free), 0);
  EXPECT_EQ(attributes.type, 0);
  EXPECT_EQ(cuda_("cudaFree", at), 0);
  EXPECT_EQ(cuda_("cudaFree", at), 1);
  cuda_("cudaGetLastError");
}

TEST_P(RuntimeTest, CopiesKeepValuesUntilUnknownKernel) {
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(cuda_("cudaMalloc", &a, size_t{1} << 20), 0);
  ASSERT_EQ(cuda_("cudaMalloc", &b, size_t{1} << 20), 0);
  const int64_t sent[] = {1, 2, 3};
  int64_t back[] = {9, 9, 9};
  EXPECT_EQ(cuda_("cudaMemcpyAsync", a, sent, sizeof sent, 1, nullptr), 0);
  EXPECT_EQ(cuda_("cudaMemcpyAsync", b, a, sizeof sent, 3, nullptr), 0);
  EXPECT_EQ(cuda_("cudaMemcpy", back, b, sizeof back, 2), 0);
  EXPECT_EQ(back[2], 3);
  EXPECT_EQ(cuda_("cudaMemset", b, 0xff, size_t{8}), 0);
  EXPECT_EQ(cuda_("cudaMemcpy", back, b, sizeof back, 2), 0);
  EXPECT_EQ(back[0], -1);
  EXPECT_EQ(back[1], 2);
  // An unknown kernel may write anywhere, so all contents are unknown after it.
  static const int kernel = 0;
  void** module = cuda_.Get<void**>("__cudaRegisterFatBinary", static_cast<void*>(nullptr));
  cuda_("__cudaRegisterFunction", module, &kernel, "kernel", "kernel", -1, nullptr, nullptr,
        nullptr, nullptr, nullptr);
  struct Dim {
    unsigned x, y, z;
  };
  EXPECT_EQ(
      cuda_("cudaLaunchKernel", static_cast<const void*>(&kernel), Dim{1, 1, 1}, Dim{32, 1, 1},
            static_cast<void**>(nullptr), size_t{0}, static_cast<void*>(nullptr)),
      0);
  EXPECT_EQ(
      cuda_("cudaLaunchKernel", static_cast<const void*>(&kernel), Dim{0, 1, 1}, Dim{32, 1, 1},
            static_cast<void**>(nullptr), size_t{0}, static_cast<void*>(nullptr)),
      9);
  cuda_("cudaGetLastError");
  EXPECT_EQ(cuda_("cudaMemcpy", back, b, sizeof back, 2), 0);
  EXPECT_EQ(back[0], 0);
  cuda_.Get<void>("__cudaUnregisterFatBinary", module);
  cuda_("cudaFree", a);
  cuda_("cudaFree", b);
}

struct IpcHandle {
  char reserved[64];
};

// Runs the function in a forked child and returns its result, which is the child's exit status.
template <typename Function>
int InChild(Function&& function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST_P(RuntimeTest, OpensIpcHandlesInAnotherProcess) {
  IpcHandle memory_handle = {}, event_handle = {};
  void *at = nullptr, *event = nullptr, *there = nullptr;
  ASSERT_EQ(cuda_("cudaMalloc", &at, size_t{100} << 20), 0);
  ASSERT_EQ(cuda_("cudaEventCreate", &event), 0);
  EXPECT_EQ(cuda_("cudaIpcGetMemHandle", &memory_handle, at), 0);
  EXPECT_EQ(cuda_("cudaIpcGetEventHandle", &event_handle, event), 0);
  EXPECT_EQ(cuda_("cudaIpcGetMemHandle", &memory_handle, static_cast<void*>(&at)),
            1);  // a host address
  // As on a GPU, the owning process cannot open the handle.
  EXPECT_EQ(cuda_("cudaIpcOpenMemHandle", &there, memory_handle, 1u), 201);
  const auto child = [&] {
    size_t before = 0, after = 0, total = 0;
    void *again = nullptr, *opened = nullptr;
    if (cuda_("cudaMemGetInfo", &before, &total) != 0) return 1;
    if (cuda_("cudaIpcOpenMemHandle", &there, memory_handle, 1u) != 0) return 2;
    if (cuda_("cudaMemGetInfo", &after, &total) != 0 || before != after) return 3;
    if (cuda_("cudaMemset", there, 1, size_t{100} << 20) != 0) return 4;
    if (cuda_("cudaIpcOpenMemHandle", &again, memory_handle, 1u) != 0 || again != there) return 5;
    if (cuda_("cudaIpcOpenEventHandle", &opened, event_handle) != 0) return 6;
    if (cuda_("cudaStreamWaitEvent", static_cast<void*>(nullptr), opened, 0u) != 0) return 7;
    if (cuda_("cudaIpcCloseMemHandle", there) != 0) return 8;
    if (cuda_("cudaIpcCloseMemHandle", there) != 0) return 9;
    if (cuda_("cudaIpcCloseMemHandle", there) != 1) return 10;  // it was opened only twice
    // Invalid handles: a handle of an event, of another size, and of a process that does not exist.
    if (cuda_("cudaIpcOpenMemHandle", &there, event_handle, 1u) != 1) return 11;
    IpcHandle damaged = memory_handle;
    std::memset(damaged.reserved + 32, 0xff, 8);
    if (cuda_("cudaIpcOpenMemHandle", &there, damaged, 1u) != 1) return 12;
    damaged = memory_handle;
    damaged.reserved[16] ^= 1;  // the start time of the process
    if (cuda_("cudaIpcOpenMemHandle", &there, damaged, 1u) != 1) return 13;
    damaged = memory_handle;
    damaged.reserved[12] = 50;  // the device
    if (cuda_("cudaIpcOpenMemHandle", &there, damaged, 1u) != 101) return 14;
    return there == nullptr ? 0 : 15;
  };
  EXPECT_EQ(InChild(child), 0);
  cuda_("cudaGetLastError");
  cuda_("cudaFree", at);
}

TEST_P(RuntimeTest, UnsupportedFunctionsFailAndZeroResults) {
  EXPECT_EQ(cuda_("cudaCtxResetPersistingL2Cache"),
            0);  // one of the stubs that return success
  uint64_t texture = 0x5555, other = 0x5555;
  EXPECT_EQ(cuda_("cudaCreateTextureObject", &texture, nullptr, nullptr, nullptr), 801);
  EXPECT_EQ(texture, 0u);
  EXPECT_EQ(cuda_("cudaGraphNodeFindInClone", &other, nullptr, nullptr), 801);
  EXPECT_EQ(other, 0u);
  EXPECT_EQ(cuda_("cudaGraphNodeFindInClone", nullptr, nullptr, nullptr), 801);
}

TEST_P(RuntimeTest, FindsDriverEntryPoints) {
  void* function = nullptr;
  int query_result = -1;
  EXPECT_EQ(cuda_("cudaGetDriverEntryPoint", "cuMemCreate", &function, 0ull, &query_result), 0);
  EXPECT_NE(function, nullptr);
  if (std::string(GetParam()) == "libcudart.so.11.0") {  // CUDA 11's function has no query result
    EXPECT_EQ(cuda_("cudaGetDriverEntryPoint", "cuNoSuchThing", &function, 0ull), 500);
    cuda_("cudaGetLastError");
    return;
  }
  EXPECT_EQ(query_result, 0);
  EXPECT_EQ(cuda_("cudaGetDriverEntryPoint", "cuNoSuchThing", &function, 0ull, &query_result), 0);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(query_result, 1);
}

// CUmemAllocationProp: memory of the first GPU.
struct {
  int type = 1, handle_types = 0, location_type = 1, location = 0;
  void* meta = nullptr;
  unsigned char flags[8] = {};
} properties;

TEST(Driver, RereadsModuleAtReusedAddress) {
  const Library driver("libcuda.so.1");
  // After at most a few rounds, malloc places the copy of a module at the address of the previous
  // copy.
  for (int registers = 40; registers < 72; ++registers) {
    const auto cubin = vramscope::emulated::Cubin(registers, 0);
    void *module = nullptr, *function = nullptr;
    int value = 0;
    ASSERT_EQ(driver("cuModuleLoadData", &module, cubin.data()), 0);
    ASSERT_EQ(driver("cuModuleGetFunction", &function, module, "k"), 0);
    ASSERT_EQ(driver("cuFuncGetAttribute", &value, 4, function), 0);
    EXPECT_EQ(value, registers);
    ASSERT_EQ(driver("cuModuleUnload", module), 0);
  }
}

// Memory is reported when it becomes accessible. If a call makes several mappings accessible, each
// is reported, but only the first report has `first` set.
TEST(Driver, ReportsMappedMemory) {
  static std::vector<vramscope::emulated::MemoryActivity> reported;
  reported.clear();
  const Library platform("libvramscope-emulated.so");
  const vramscope::emulated::Listener listener{
      .memory = [](const vramscope::emulated::MemoryActivity& activity) {
        reported.push_back(activity);
      }};
  const vramscope::emulated::Listener* no_listener = nullptr;
  platform.Get<void>("vramscope_emulated_listen", &listener);
  const Library driver("libcuda.so.1");
  const size_t page = size_t{20} << 20;
  unsigned long long at = 0;
  ASSERT_EQ(driver("cuMemAddressReserve", &at, 4 * page, size_t{0}, 0ull, 0ull), 0);
  for (size_t i = 0; i < 2; ++i) {
    uint64_t handle = 0;
    ASSERT_EQ(driver("cuMemCreate", &handle, page, &properties, 0ull), 0);
    ASSERT_EQ(driver("cuMemMap", at + i * page, page, size_t{0}, handle, 0ull), 0);
    EXPECT_EQ(driver("cuMemRelease", handle), 0);
  }
  EXPECT_TRUE(reported.empty());
  struct {
    int location_type, location, flags;
  } access = {1, 0, 3};
  for (int call = 0; call < 2; ++call)  // the second call reports nothing
    ASSERT_EQ(driver("cuMemSetAccess", at, 2 * page, &access, size_t{1}), 0);
  ASSERT_EQ(driver("cuMemUnmap", at + page, page), 0);
  ASSERT_EQ(driver("cuMemUnmap", at, page), 0);
  ASSERT_EQ(driver("cuMemAddressFree", at, 4 * page), 0);
  platform.Get<void>("vramscope_emulated_listen", no_listener);
  ASSERT_EQ(reported.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reported[i].allocated, i < 2);
    EXPECT_EQ(reported[i].first, i != 1);
    EXPECT_EQ(reported[i].bytes, page);
    EXPECT_EQ(reported[i].address, at + (i == 1 || i == 2 ? page : 0));
  }
}

TEST(Driver, MapsPhysicalMemory) {
  const Library driver("libcuda.so.1");
  unsigned long long at = 0;
  uint64_t handle = 0;
  size_t free_before = 0, free_after = 0, total = 0;
  EXPECT_EQ(driver("cuMemGetInfo_v2", &free_before, &total), 0);
  ASSERT_EQ(driver("cuMemAddressReserve", &at, size_t{9} << 30, size_t{0}, 0ull, 0ull), 0);
  ASSERT_EQ(driver("cuMemCreate", &handle, size_t{20} << 20, &properties, 0ull), 0);
  ASSERT_EQ(driver("cuMemMap", at, size_t{20} << 20, size_t{0}, handle, 0ull), 0);
  EXPECT_EQ(driver("cuMemRelease", handle), 0);  // the mapping keeps the memory
  EXPECT_EQ(driver("cuMemGetInfo_v2", &free_after, &total), 0);
  EXPECT_EQ(free_before - free_after, size_t{20} << 20);
  unsigned type = 0;
  EXPECT_EQ(driver("cuPointerGetAttribute", &type, 2, at), 0);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(driver("cuMemUnmap", at, size_t{20} << 20), 0);
  EXPECT_EQ(driver("cuMemGetInfo_v2", &free_after, &total), 0);
  EXPECT_EQ(free_before, free_after);
  EXPECT_EQ(driver("cuMemCreate", &handle, size_t{8} << 30, &properties, 0ull), 2);
  EXPECT_EQ(driver("cuMemCreate", &handle, size_t{100}, &properties, 0ull),
            1);  // not a multiple of a page
  EXPECT_EQ(driver("cuMemAddressFree", at, size_t{9} << 30), 0);
}

TEST(Driver, LogIsEmpty) {
  const Library driver("libcuda.so.1");
  int callback = 0;
  void* listener = nullptr;
  ASSERT_EQ(driver("cuLogsRegisterCallback", static_cast<void*>(&callback), nullptr, &listener), 0);
  EXPECT_NE(listener, nullptr);
  EXPECT_EQ(driver("cuLogsUnregisterCallback", listener), 0);
  EXPECT_EQ(driver("cuLogsRegisterCallback", nullptr, nullptr, &listener), 1);
  unsigned end = 7;
  EXPECT_EQ(driver("cuLogsCurrent", &end, 0u), 0);
  EXPECT_EQ(end, 0u);
  char text[8] = "before";
  size_t size = sizeof text;
  EXPECT_EQ(driver("cuLogsDumpToMemory", &end, &text[0], &size, 0u), 0);
  EXPECT_EQ(size, 0u);
  EXPECT_STREQ(text, "");
}

TEST(Driver, ReturnsEntryPointsByVersion) {
  const Library driver("libcuda.so.1");
  const auto entry = [&](const char* name, int version) {
    void* function = nullptr;
    int query_result = 0;
    EXPECT_EQ(driver("cuGetProcAddress_v2", name, &function, version, uint64_t{0}, &query_result),
              0);
    return function;
  };
  EXPECT_NE(entry("cuStreamGetCaptureInfo", 12000), entry("cuStreamGetCaptureInfo", 13000));
  EXPECT_EQ(entry("cuMemFree", 12000), entry("cuMemFree", 13000));
  EXPECT_NE(entry("cuMemAlloc", 12000), nullptr);
}

TEST(Nvml, ReportsGpusAndMemory) {
  const Library nvml("libnvidia-ml.so.1");
  unsigned count = 0;
  void* handle = nullptr;
  char name[96];
  EXPECT_EQ(nvml("nvmlInit_v2"), 0);
  EXPECT_EQ(nvml("nvmlDeviceGetCount_v2", &count), 0);
  EXPECT_EQ(count, 2u);
  ASSERT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", 1u, &handle), 0);
  EXPECT_EQ(nvml("nvmlDeviceGetName", handle, name, unsigned{sizeof name}), 0);
  EXPECT_STREQ(name, "Other Card");
  EXPECT_EQ(nvml("nvmlDeviceGetName", handle, name, 3u), 7);  // the buffer is too small
  unsigned long long memory[3] = {};
  EXPECT_EQ(nvml("nvmlDeviceGetMemoryInfo", handle, memory), 0);
  EXPECT_EQ(memory[0], 4294967296u);
  EXPECT_EQ(nvml("nvmlDeviceGetHandleByIndex_v2", 7u, &handle), 2);
}

// Uses a separate process, because the environment is read only once.
TEST(NoGpu, ReportsNoDeviceAndTheReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto without_gpu = [](const char* value) {
    value == nullptr ? unsetenv("VRAMSCOPE_EMULATED_GPU")
                     : setenv("VRAMSCOPE_EMULATED_GPU", value, 1);
    const Library cuda("libcudart.so.13");
    int count = -1;
    void* at = nullptr;
    const bool good = cuda("cudaGetDeviceCount", &count) == 100 && count == 0 &&
                      cuda("cudaMalloc", &at, size_t{1}) == 100 && cuda("cudaSetDevice", 0) == 100;
    exit(good ? 0 : 1);
  };
  EXPECT_EXIT(without_gpu(nullptr), testing::ExitedWithCode(0), "no GPU to emulate");
  EXPECT_EXIT(without_gpu("name=X;memory_bytes=lots"), testing::ExitedWithCode(0),
              "memory_bytes: not a valid number");
}

}  // namespace
