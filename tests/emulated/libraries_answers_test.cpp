// Tests the math libraries as programs load them: exported names and versions, handles and
// descriptors, sizes, and durations on the virtual clock.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

const int kEnvironment =
    setenv(
        "VRAMSCOPE_EMULATED_GPU",
        "name=Test Card;memory_bytes=8589934592;context_bytes=0;sm_count=20;"
        "max_threads_per_sm=1536;compute_capability=86;l2_bytes=4194304;"
        "bandwidth_bytes_per_s=5e11;fp32_flops=1e13;tf32_flops=4e13;bf16_flops=8e13;bus_bits=256",
        1) |
    unsetenv("VRAMSCOPE_EMULATED_DEVICES") | unsetenv("VRAMSCOPE_EMULATED_OUTPUT") |
    setenv("VRAMSCOPE_EMULATED_VERSIONS", "cuda=12.4;nvidia-cudnn-cu=9.1.0;nvidia-nccl-cu=2.21.5",
           1);

class Library {
 public:
  explicit Library(const std::string& soname)
      : handle_(dlopen((VRAMSCOPE_EMULATED_DIR "/" + soname).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  template <typename... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    EXPECT_NE(function, nullptr) << name;
    return function ? function(arguments...) : -1;
  }
  template <typename Result, typename... Arguments>
  Result Get(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(handle_, name))(arguments...);
  }
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

uint64_t Now() {
  static Library core("libvramscope-emulated.so");
  return core.Get<uint64_t>("vramscope_emulated_now_ns");
}
// Synchronizes the device and returns the virtual time at which all work has finished.
uint64_t Finished() {
  static Library runtime("libcudart.so.12");
  EXPECT_EQ(runtime("cudaDeviceSynchronize"), 0);
  return Now();
}

TEST(EmulatedLibraries, ExportEveryPublicNameWithItsVersion) {
  int libraries = 0, names = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(VRAMSCOPE_SOURCE_DIR "/emulated/names")) {
    if (file.path().extension() != ".txt") continue;
    const std::string soname = file.path().stem();
    if (!std::filesystem::exists(VRAMSCOPE_EMULATED_DIR "/" + soname))
      continue;  // another target builds it
    const Library library(soname);
    ++libraries;
    std::ifstream lines(file.path());
    std::string line, node;
    while (std::getline(lines, line)) {
      if (line.starts_with("# node ")) node = line.substr(7);
      if (line.empty() || line[0] == '#') continue;
      const std::string name = line.substr(0, line.find_first_of("@ "));
      const size_t at = line.find('@');
      const std::string version = at == std::string::npos ? node : line.substr(at + 1);
      void* found = version.empty() ? dlsym(library.handle(), name.c_str())
                                    : dlvsym(library.handle(), name.c_str(), version.c_str());
      EXPECT_NE(found, nullptr) << soname << ": " << line;
      ++names;
    }
  }
  EXPECT_GE(libraries, 40);
  EXPECT_GE(names, 9000);
}

TEST(EmulatedLibraries, UnimplementedFunctionReturnsError) {
  const Library nvrtc("libnvrtc.so.12");
  EXPECT_EQ(nvrtc("__nvrtcCPEx"), 11);
}

TEST(EmulatedLibraries, CublasStoresSettingsAndReportsVersion) {
  const Library cublas("libcublas.so.12");
  void* handle = nullptr;
  ASSERT_EQ(cublas("cublasCreate_v2", &handle), 0);
  int value = -1;
  EXPECT_EQ(cublas("cublasGetPointerMode_v2", handle, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cublas("cublasSetMathMode", handle, 3), 0);
  EXPECT_EQ(cublas("cublasGetMathMode", handle, &value), 0);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(cublas("cublasGetVersion_v2", handle, &value), 0);
  EXPECT_EQ(value, 120405);  // the version in CUDA 12.4
  EXPECT_EQ(cublas("cublasGetVersion_v2", handle, static_cast<int*>(nullptr)), 7);
  EXPECT_EQ(cublas("cublasDestroy_v2", handle), 0);
}

TEST(EmulatedLibraries, CublasProductTakesModelledTime) {
  const Library cublas("libcublas.so.12");
  void* handle = nullptr;
  ASSERT_EQ(cublas("cublasCreate_v2", &handle), 0);
  const float one = 1;
  const auto product = [&](int n) {
    const uint64_t before = Finished();
    EXPECT_EQ(cublas("cublasSgemm_v2", handle, 0, 0, n, n, n, &one, &one, n, &one, n, &one,
                     static_cast<float*>(nullptr), n),
              0);
    return Finished() - before;
  };
  const uint64_t small = product(64), large = product(8192);  // 2 n^3 at 10 TFLOP/s: 0.11 s
  EXPECT_LT(small, 1'000'000u);
  EXPECT_GT(large, 50'000'000u);
  EXPECT_LT(large, 500'000'000u);
  EXPECT_EQ(cublas("cublasSgemm_v2", handle, 0, 0, -1, 1, 1, &one, &one, 1, &one, 1, &one,
                   static_cast<float*>(nullptr), 1),
            7);
  float dot = 5;  // host memory: the result is written to it
  EXPECT_EQ(cublas("cublasSdot_v2", handle, 4, &one, 1, &one, 1, &dot), 0);
  EXPECT_EQ(dot, 0);
  cublas("cublasDestroy_v2", handle);
}

TEST(EmulatedLibraries, CublasLtDescriptorsReadBackAttributes) {
  const Library lt("libcublasLt.so.12");
  void *layout = nullptr, *matmul = nullptr;
  ASSERT_EQ(lt("cublasLtMatrixLayoutCreate", &layout, 0, uint64_t{32}, uint64_t{16}, int64_t{32}),
            0);
  const int batch = 5;
  EXPECT_EQ(lt("cublasLtMatrixLayoutSetAttribute", layout, 5, &batch, sizeof batch), 0);
  int read = 0;
  size_t written = 0;
  EXPECT_EQ(lt("cublasLtMatrixLayoutGetAttribute", layout, 5, &read, sizeof read, &written), 0);
  EXPECT_EQ(read, 5);
  uint64_t rows = 0;
  EXPECT_EQ(lt("cublasLtMatrixLayoutGetAttribute", layout, 2, &rows, sizeof rows, &written), 0);
  EXPECT_EQ(rows, 32u);
  ASSERT_EQ(lt("cublasLtMatmulDescCreate", &matmul, 68, 0), 0);
  std::vector<char> results(96 * 4, 0x55);
  int count = -1;
  EXPECT_EQ(lt("cublasLtMatmulAlgoGetHeuristic", nullptr, matmul, layout, layout, layout, layout,
               nullptr, 4, results.data(), &count),
            0);
  EXPECT_EQ(count, 1);
  size_t workspace = 1;
  std::memcpy(&workspace, results.data() + 64, sizeof workspace);
  EXPECT_EQ(workspace, 0u);
  EXPECT_EQ(lt("cublasLtMatmulDescSetAttribute", nullptr, 0, &batch, sizeof batch), 7);
  lt("cublasLtMatmulDescDestroy", matmul);
  EXPECT_EQ(lt("cublasLtMatmulDescSetAttribute", matmul, 0, &batch, sizeof batch), 7);
  lt("cublasLtMatrixLayoutDestroy", layout);
}

// Builds a convolution with cuDNN's graph interface, with the documented enum values.
class Graph {
 public:
  explicit Graph(const Library& cudnn) : cudnn_(cudnn) {}
  void* Make(int type) {
    void* descriptor = nullptr;
    EXPECT_EQ(cudnn_("cudnnBackendCreateDescriptor", type, &descriptor), 0);
    return descriptor;
  }
  void Numbers(void* to, int attribute, std::vector<int64_t> values) {
    EXPECT_EQ(cudnn_("cudnnBackendSetAttribute", to, attribute, 3,
                     static_cast<int64_t>(values.size()), values.data()),
              0);
  }
  void Link(void* to, int attribute, void* other) {
    EXPECT_EQ(cudnn_("cudnnBackendSetAttribute", to, attribute, 15, int64_t{1}, &other), 0);
  }
  void* Tensor(int64_t id, std::vector<int64_t> dims, std::vector<int64_t> strides) {
    void* tensor = Make(17);
    const int fp32 = 0;
    EXPECT_EQ(cudnn_("cudnnBackendSetAttribute", tensor, 901, 1, int64_t{1}, &fp32), 0);
    Numbers(tensor, 902, dims);
    Numbers(tensor, 903, strides);
    Numbers(tensor, 906, {id});
    return tensor;
  }

 private:
  const Library& cudnn_;
};

TEST(EmulatedLibraries, CudnnGraphPlansConvolution) {
  const Library cudnn("libcudnn.so.9");
  EXPECT_EQ(cudnn.Get<size_t>("cudnnGetVersion"), 90100u);
  void* handle = nullptr;
  ASSERT_EQ(cudnn("cudnnCreate", &handle), 0);
  Graph graph(cudnn);
  void* x = graph.Tensor('x', {2048, 8, 10, 10}, {800, 100, 10, 1});
  void* w = graph.Tensor('w', {16, 8, 3, 3}, {72, 9, 3, 1});
  void* y = graph.Tensor('y', {2048, 16, 8, 8}, {1024, 64, 8, 1});
  void* forward = graph.Make(10);
  graph.Link(forward, 703, w);
  graph.Link(forward, 704, x);
  graph.Link(forward, 705, y);
  void* operations = graph.Make(15);
  graph.Link(operations, 801, forward);
  ASSERT_EQ(cudnn("cudnnBackendFinalize", operations), 0);
  // Objects must stay valid after the descriptors that they were built from are destroyed.
  for (void* descriptor : {x, w, y, forward})
    EXPECT_EQ(cudnn("cudnnBackendDestroyDescriptor", descriptor), 0);

  void* heuristics = graph.Make(4);
  graph.Link(heuristics, 201, operations);
  int64_t count = 0;
  ASSERT_EQ(cudnn("cudnnBackendGetAttribute", heuristics, 202, 15, int64_t{0}, &count,
                  static_cast<void*>(nullptr)),
            0);
  ASSERT_EQ(count, 2);  // one configuration with tensor cores, one without
  void* configs[] = {graph.Make(3), graph.Make(3)};
  ASSERT_EQ(cudnn("cudnnBackendGetAttribute", heuristics, 202, 15, int64_t{2}, &count,
                  static_cast<void*>(configs)),
            0);
  int64_t workspaces[2] = {-1, -1};
  void* plans[2];
  for (int i = 0; i < 2; ++i) {
    plans[i] = graph.Make(5);
    graph.Link(plans[i], 401, configs[i]);
    ASSERT_EQ(cudnn("cudnnBackendFinalize", plans[i]), 0);
    EXPECT_EQ(cudnn("cudnnBackendGetAttribute", plans[i], 402, 3, int64_t{1}, &count,
                    static_cast<void*>(&workspaces[i])),
              0);
    void* engine = graph.Make(2);
    EXPECT_EQ(cudnn("cudnnBackendGetAttribute", configs[i], 300, 15, int64_t{1}, &count,
                    static_cast<void*>(&engine)),
              0);
    int notes[16];
    EXPECT_EQ(cudnn("cudnnBackendGetAttribute", engine, 1303, 11, int64_t{16}, &count,
                    static_cast<void*>(notes)),
              0);
    EXPECT_EQ(count, i == 0 ? 1 : 0);
  }
  // For tensor cores, x, w and y are converted to channels last, which needs a workspace.
  EXPECT_EQ(workspaces[0], 4 * (2048 * 8 * 100 + 16 * 8 * 9 + 2048 * 16 * 64) + 16);
  EXPECT_EQ(workspaces[1], 0);

  void* pack = graph.Make(16);
  graph.Numbers(pack, 1000, {'x', 'y', 'w'});
  const uint64_t before = Finished();
  EXPECT_EQ(cudnn("cudnnBackendExecute", handle, plans[0], pack), 0);
  EXPECT_GT(Finished(), before);
  EXPECT_EQ(cudnn("cudnnBackendExecute", handle, pack, pack), 5000);  // no plan
  EXPECT_EQ(cudnn("cudnnBackendExecute", handle, static_cast<void*>(&count), pack), 2000);
  cudnn("cudnnDestroy", handle);
}

TEST(EmulatedLibraries, CudnnRejectsInvalidDescriptors) {
  const Library cudnn("libcudnn.so.9");
  int64_t count = 0;
  EXPECT_EQ(
      cudnn("cudnnBackendSetAttribute", static_cast<void*>(&count), 902, 3, int64_t{1}, &count),
      2000);
  void* tensor = nullptr;
  cudnn("cudnnBackendCreateDescriptor", 17, &tensor);
  EXPECT_EQ(cudnn("cudnnBackendSetAttribute", tensor, 902, 3, int64_t{-1}, &count), 2000);
  EXPECT_EQ(cudnn("cudnnBackendSetAttribute", tensor, 902, 3, int64_t{1} << 40, &count), 2000);
  std::vector<int> dims(9, 1);
  void* legacy = nullptr;
  ASSERT_EQ(cudnn("cudnnCreateTensorDescriptor", &legacy), 0);
  EXPECT_EQ(cudnn("cudnnSetTensorNdDescriptor", legacy, 0, 9, dims.data(), dims.data()), 2000);
  EXPECT_EQ(cudnn("cudnnDestroyTensorDescriptor", legacy), 0);
  EXPECT_EQ(cudnn("cudnnBackendDestroyDescriptor", tensor), 0);
}

TEST(EmulatedLibraries, CudnnPlacesLstmParameters) {
  const Library cudnn("libcudnn.so.9");
  void *handle = nullptr, *rnn = nullptr, *matrix = nullptr, *bias = nullptr;
  ASSERT_EQ(cudnn("cudnnCreate", &handle), 0);
  ASSERT_EQ(cudnn("cudnnCreateRNNDescriptor", &rnn), 0);
  ASSERT_EQ(cudnn("cudnnCreateTensorDescriptor", &matrix), 0);
  ASSERT_EQ(cudnn("cudnnCreateTensorDescriptor", &bias), 0);
  // An LSTM with two layers, one direction, two biases, input size 3 and hidden size 5, in fp32.
  ASSERT_EQ(cudnn("cudnnSetRNNDescriptor_v8", rnn, 0, 2, 2, 0, 0, 0, 0, 0, 3, 5, 5, 2,
                  static_cast<void*>(nullptr), 0u),
            0);
  size_t bytes = 0;
  ASSERT_EQ(cudnn("cudnnGetRNNWeightSpaceSize", handle, rnn, &bytes), 0);
  const size_t first = 4 * 5 * 3 + 4 * 5 * 5, second = 4 * 5 * 5 + 4 * 5 * 5, biases = 2 * 4 * 5;
  EXPECT_EQ(bytes, 4 * (first + second + 2 * biases));
  std::vector<float> weights(bytes / 4);
  void *at = nullptr, *bias_at = nullptr;
  ASSERT_EQ(cudnn("cudnnGetRNNWeightParams", handle, rnn, 1, bytes,
                  static_cast<const void*>(weights.data()), 5, matrix, &at, bias, &bias_at),
            0);
  EXPECT_EQ(static_cast<float*>(at) - weights.data(),
            static_cast<ptrdiff_t>(first + 4 * 5 * 5 + 5 * 5));
  EXPECT_EQ(static_cast<float*>(bias_at) - weights.data(),
            static_cast<ptrdiff_t>(first + second + biases + 5 * 5));
  int type = -1, count = 0, dims[3] = {}, strides[3] = {};
  EXPECT_EQ(cudnn("cudnnGetTensorNdDescriptor", matrix, 3, &type, &count, dims, strides), 0);
  EXPECT_THAT(dims, testing::ElementsAre(1, 5, 5));
  // The caller may pass null for the address of the matrix or of the bias.
  EXPECT_EQ(cudnn("cudnnGetRNNWeightParams", handle, rnn, 0, bytes,
                  static_cast<const void*>(weights.data()), 0, matrix, &at,
                  static_cast<void*>(nullptr), static_cast<void**>(nullptr)),
            0);
  for (void* descriptor : {matrix, bias})
    EXPECT_EQ(cudnn("cudnnDestroyTensorDescriptor", descriptor), 0);
  EXPECT_EQ(cudnn("cudnnDestroyRNNDescriptor", rnn), 0);
  EXPECT_EQ(cudnn("cudnnDestroy", handle), 0);
}

TEST(EmulatedLibraries, SolverFftAndSparseSizesAreReported) {
  const Library cusolver("libcusolver.so.11");
  void* solver = nullptr;
  ASSERT_EQ(cusolver("cusolverDnCreate", &solver), 0);
  int lwork = -1;
  EXPECT_EQ(cusolver("cusolverDnSsyevd_bufferSize", solver, 1, 0, 10, nullptr, 10, nullptr, &lwork),
            0);
  EXPECT_EQ(lwork, 1 + 6 * 10 + 2 * 100);
  size_t device = 1, host = 1;
  EXPECT_EQ(cusolver("cusolverDnXpotrf_bufferSize", solver, nullptr, 0, int64_t{10}, 1, nullptr,
                     int64_t{10}, 1, &device, &host),
            0);
  EXPECT_EQ(device, 10u * 64 * 8);
  EXPECT_EQ(host, 0u);

  const Library cufft("libcufft.so.11");
  int plan = 0;
  size_t work = 1;
  ASSERT_EQ(cufft("cufftCreate", &plan), 0);
  ASSERT_EQ(cufft("cufftSetAutoAllocation", plan, 0), 0);
  EXPECT_EQ(cufft("cufftMakePlan1d", plan, 1000, 0x29, 3, &work), 0);
  EXPECT_EQ(work, 1000u * 3 * 8);
  EXPECT_EQ(cufft("cufftMakePlan1d", plan, 0, 0x29, 3, &work), 4);
  EXPECT_EQ(cufft("cufftDestroy", plan), 0);
  EXPECT_EQ(cufft("cufftDestroy", plan), 1);

  const Library cusparse("libcusparse.so.12");
  void* matrix = nullptr;
  ASSERT_EQ(cusparse("cusparseCreateCsr", &matrix, int64_t{4}, int64_t{6}, int64_t{8}, nullptr,
                     nullptr, nullptr, 2, 2, 0, 0),
            0);
  int64_t rows = 0, columns = 0, nonzeros = 0;
  EXPECT_EQ(cusparse("cusparseSpMatGetSize", matrix, &rows, &columns, &nonzeros), 0);
  EXPECT_THAT((std::vector<int64_t>{rows, columns, nonzeros}), testing::ElementsAre(4, 6, 8));
  EXPECT_EQ(cusparse("cusparseDestroySpMat", matrix), 0);
  EXPECT_EQ(cusolver("cusolverDnDestroy", solver), 0);
}

TEST(EmulatedLibraries, NvrtcReturnsZeroedImage) {
  const Library nvrtc("libnvrtc.so.12");
  void* program = nullptr;
  ASSERT_EQ(nvrtc("nvrtcCreateProgram", &program, "x", "x.cu", 0, nullptr, nullptr), 0);
  size_t bytes = 0;
  ASSERT_EQ(nvrtc("nvrtcGetCUBINSize", program, &bytes), 0);
  std::vector<char> image(bytes, 1);
  EXPECT_EQ(nvrtc("nvrtcGetCUBIN", program, image.data()), 0);
  EXPECT_THAT(image, testing::Each(0));
  const char* lowered = nullptr;
  EXPECT_EQ(nvrtc("nvrtcGetLoweredName", program, "f<float, 4>", &lowered), 0);
  EXPECT_STREQ(lowered, "f_float__4_");
  EXPECT_EQ(nvrtc("nvrtcDestroyProgram", &program), 0);
}

struct UniqueId {
  char bytes[128];
};

TEST(EmulatedLibraries, NcclOneProcessRepresentsAllRanks) {
  setenv("VRAMSCOPE_EMULATED_ALONE", "1", 1);
  const Library nccl("libnccl.so.2"), runtime("libcudart.so.12");
  int version = 0;
  EXPECT_EQ(nccl("ncclGetVersion", &version), 0);
  EXPECT_EQ(version, 22105);
  UniqueId id;
  ASSERT_EQ(nccl("ncclGetUniqueId", &id), 0);
  void *comm = nullptr, *sent = nullptr, *all = nullptr;
  ASSERT_EQ(nccl("ncclCommInitRank", &comm, 8, id, 3), 0);  // does not wait for other ranks
  ASSERT_EQ(runtime("cudaMalloc", &sent, size_t{8}), 0);
  ASSERT_EQ(runtime("cudaMalloc", &all, size_t{64}), 0);
  const int64_t value = 5;
  constexpr int kToDevice = 1, kToHost = 2, kInt64 = 4, kSum = 0, kAverage = 4;
  ASSERT_EQ(runtime("cudaMemcpy", sent, &value, sizeof value, kToDevice), 0);
  EXPECT_EQ(nccl("ncclAllGather", sent, all, size_t{1}, kInt64, comm, nullptr), 0);
  int64_t gathered[8] = {};
  ASSERT_EQ(runtime("cudaMemcpy", gathered, all, sizeof gathered, kToHost), 0);
  EXPECT_THAT(gathered, testing::Each(5));
  EXPECT_EQ(nccl("ncclAllReduce", sent, sent, size_t{1}, kInt64, kSum, comm, nullptr), 0);
  ASSERT_EQ(runtime("cudaMemcpy", gathered, sent, sizeof value, kToHost), 0);
  EXPECT_EQ(gathered[0], 40);
  EXPECT_EQ(nccl("ncclAllReduce", sent, sent, size_t{1}, kInt64, kAverage, comm, nullptr), 0);
  ASSERT_EQ(runtime("cudaMemcpy", gathered, sent, sizeof value, kToHost), 0);
  EXPECT_EQ(gathered[0], 40);
  // The collective's input has unknown values, so its result is unknown and is read as zero.
  EXPECT_EQ(nccl("ncclAllReduce", all, sent, size_t{1}, kInt64, 7, comm, nullptr), 0);
  ASSERT_EQ(runtime("cudaMemcpy", gathered, sent, sizeof value, kToHost), 0);
  EXPECT_EQ(gathered[0], 0);
  EXPECT_EQ(nccl("ncclAllReduce", all, sent, size_t{1}, 99, kSum, comm, nullptr), 4);
  EXPECT_EQ(nccl("ncclCommDestroy", comm), 0);
  unsetenv("VRAMSCOPE_EMULATED_ALONE");
}

// Uses CUPTI as a profiler does: provides buffers on demand, pushes ids around calls, and reads
// records at their documented offsets.
std::vector<char> g_records;
void Request(uint8_t** buffer, size_t* size, size_t* most) {
  *size = 4096;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
  *most = 0;
}
void Complete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const Library cupti("libcupti.so.12");
  uint8_t* record = nullptr;
  while (cupti("cuptiActivityGetNextRecord", buffer, valid, &record) == 0)
    g_records.insert(g_records.end(), record,
                     record + 240 < buffer + 4096 ? record + 240 : buffer + 4096),
        g_records.resize((g_records.size() + 239) / 240 * 240);
  free(buffer);
}
template <class T>
T At(const char* record, size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

TEST(EmulatedLibraries, CuptiCorrelatesKernelsCallsAndExternalIds) {
  const Library cupti("libcupti.so.12"), cublas("libcublas.so.12");
  void* handle = nullptr;
  ASSERT_EQ(cublas("cublasCreate_v2", &handle), 0);
  ASSERT_EQ(cupti("cuptiActivityRegisterCallbacks", &Request, &Complete), 0);
  for (int kind : {5, 10, 38, 39}) EXPECT_EQ(cupti("cuptiActivityEnable", kind), 0);
  EXPECT_EQ(cupti("cuptiActivityPushExternalCorrelationId", 3, uint64_t{42}), 0);
  const float one = 1;
  constexpr int kProducts = 40;
  for (int i = 0; i < kProducts; ++i)
    EXPECT_EQ(cublas("cublasSgemm_v2", handle, 0, 0, 64, 64, 64, &one, &one, 64, &one, 64, &one,
                     static_cast<float*>(nullptr), 64),
              0);
  uint64_t popped = 0;
  EXPECT_EQ(cupti("cuptiActivityPopExternalCorrelationId", 3, &popped), 0);
  EXPECT_EQ(popped, 42u);
  Finished();
  EXPECT_EQ(cupti("cuptiActivityFlushAll", 1), 0);
  for (int kind : {5, 10, 38, 39}) EXPECT_EQ(cupti("cuptiActivityDisable", kind), 0);

  std::vector<uint32_t> kernels, calls, externals;
  uint64_t end = 0;
  for (size_t at = 0; at + 240 <= g_records.size(); at += 240) {
    const char* record = g_records.data() + at;
    switch (At<uint32_t>(record, 0)) {
      case 10:
        EXPECT_STREQ(At<const char*>(record, 104), "cublasSgemm_v2 (modelled)");
        EXPECT_GE(At<uint64_t>(record, 16), end);  // kernels of one stream do not overlap
        end = At<uint64_t>(record, 24);
        EXPECT_EQ(At<uint32_t>(record, 48), 7u);  // the default stream
        kernels.push_back(At<uint32_t>(record, 92));
        break;
      case 5:
        if (At<uint32_t>(record, 4) == 211) calls.push_back(At<uint32_t>(record, 32));
        break;
      case 39:
        EXPECT_EQ(At<uint64_t>(record, 8), 42u);
        externals.push_back(At<uint32_t>(record, 16));
        break;
    }
  }
  EXPECT_EQ(kernels.size(), static_cast<size_t>(kProducts));
  EXPECT_EQ(kernels, calls);
  EXPECT_EQ(kernels, externals);
  EXPECT_EQ(cupti("cuptiActivityPopExternalCorrelationId", 3, &popped), 18);
  cublas("cublasDestroy_v2", handle);
}

}  // namespace
