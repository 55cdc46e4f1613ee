// Submits work to the GPU: launches of kernels that programs registered, and operations of
// libraries (a matrix product, a collective).
//
//   // a library; the name need not outlive the call
//   const Written writes[] = {{c, bytes_of_c}};
//   Submit({.name = "cublasSgemm", .stream = stream, .flops = 2.0 * m * n * k, .bytes = bytes,
//   .writes = writes});
//   // a launch of a registered kernel
//   Launch({.function = host_function, .grid = grid, .block = block, .stream = stream, .parameters
//   = arguments});
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated/core/activity.h"
#include "emulated/core/api.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

struct Written {
  const void* address = nullptr;
  uint64_t bytes = 0;
};

enum class Precision { kFp32, kTf32, kBf16 };  // kBf16: all 16-bit and narrower formats

// A product of an m x k and a k x n matrix, or a batch of products of this size.
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int alignment = 16;  // alignment of all rows (columns) of its operands, in bytes
  int most_parts = 0;  // maximum number of parts of the sum over k; 0: as in cuBLAS
};

// A call of a library, described by the work that it causes.
struct LibraryWork {
  const char* name = "";
  void* stream = nullptr;
  double flops = 0;
  Precision precision = Precision::kFp32;
  uint64_t bytes = 0;          // bytes read and written
  MatrixProduct product = {};  // the matrix product; m 0: none
  // The addresses that the call reads. Used only to record operands. Null pointers are ignored.
  std::span<const void* const> reads = {};
  std::span<const Written> writes = {};  // the shadow contents there become unknown
  int64_t duration_ns = -1;              // >= 0: the duration, instead of the roofline estimate
  bool polled = false;                   // a thread of the program polls for its completion
};
VRAMSCOPE_EMULATED_API Result Submit(const LibraryWork& work);

struct KernelLaunch {
  const void* function = nullptr;  // the registered address
  Dim grid = {}, block = {};
  uint64_t shared_bytes = 0;
  void* stream = nullptr;
  void** parameters = nullptr;
  bool cooperative = false;
  bool driver = false;  // launched by cuLaunchKernel or similar
};
VRAMSCOPE_EMULATED_API Result Launch(const KernelLaunch& launch);
// Returns the kernels that no rule (work_rules.h) recognises and how often each was launched, most
// frequent first. They show when PyTorch's kernels have changed.
VRAMSCOPE_EMULATED_API std::vector<std::pair<std::string, uint64_t>> UnrecognisedLaunches();

// Properties of a kernel read from its code, or assumed if the code could not be read.
struct KernelFacts {
  static constexpr size_t kMostParameters = 4096;

  const char* name = "";  // mangled
  int registers = 32;
  int static_shared = 0;
  int local_bytes = 0;
  int constant_bytes = 0;
  int most_threads = 1024;  // limit for a block
  // The architecture of the machine code that the GPU runs. For example, it is 86 on a GPU of
  // compute capability 8.9 if there is no code for 8.9.
  int architecture = 0;
  int ptx_architecture = 0;
  int parameter_bytes = 0;
  std::vector<uint16_t> parameters;  // size of each parameter in bytes
  bool read = false;                 // the facts are from machine code; false: they are assumed
  bool runs = true;                  // there is code that this GPU can run
};
// `image` is the fat binary (or cubin) that contains the kernel, or null if there is none. Strings
// are copied.
VRAMSCOPE_EMULATED_API void RegisterKernel(const void* function, const char* name,
                                           const void* image);
VRAMSCOPE_EMULATED_API void ForgetKernel(const void* function);
// Forgets all kernels of an image that is unloaded.
VRAMSCOPE_EMULATED_API void ForgetKernels(const void* image);
VRAMSCOPE_EMULATED_API bool IsRegistered(const void* function);
// Returns the facts of the kernel on the current device.
VRAMSCOPE_EMULATED_API KernelFacts FactsOf(const void* function);
VRAMSCOPE_EMULATED_API int BlocksPerMultiprocessor(int device, const void* function, int threads,
                                                   uint64_t dynamic_shared);

// Implement cudaMemcpy and cudaMemset, synchronous or on a stream. Any address may be on the host
// or a GPU.
VRAMSCOPE_EMULATED_API Result Copy(void* to, const void* from, uint64_t bytes, void* stream,
                                   bool synchronous);
// Copies `rows` rows of `width` bytes. Rows begin every `to_pitch` bytes in `to`, and every
// `from_pitch` bytes in `from`.
VRAMSCOPE_EMULATED_API Result CopyRows(void* to, uint64_t to_pitch, const void* from,
                                       uint64_t from_pitch, uint64_t width, uint64_t rows,
                                       void* stream, bool synchronous);
VRAMSCOPE_EMULATED_API Result Fill(void* to, const void* pattern, uint64_t pattern_bytes,
                                   uint64_t count, void* stream, bool synchronous);
// Submits a host function to the stream. It runs on this thread, immediately or, while the stream
// is captured, when the graph is launched.
VRAMSCOPE_EMULATED_API Result CallHost(void* stream, void (*function)(void*), void* argument);
// Copies bytes in no virtual time. Collectives use it, because they have their own duration.
VRAMSCOPE_EMULATED_API void CopyBytes(void* to, const void* from, uint64_t bytes);

}  // namespace vramscope::emulated
