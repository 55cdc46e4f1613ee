// Work for the card: kernels that programs registered, and what libraries do (a matrix product, a
// collective).
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

// One product of matrices, or many of the same size: m x k times k x n.
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int alignment = 16;  // bytes that all rows (columns) of its operands begin at a multiple of
  int most_parts = 0;  // that the sum over k may be cut into; 0: as cuBLAS does
};

// A call of a library, known by what it does.
struct LibraryWork {
  const char* name = "";
  void* stream = nullptr;
  double flops = 0;
  Precision precision = Precision::kFp32;
  uint64_t bytes = 0;                       // read and written
  MatrixProduct product = {};               // that it is; m 0: it is none
  std::span<const void* const> reads = {};  // for whoever wants operands; null: none
  std::span<const Written> writes = {};     // what the host wrote there is not known any more
  int64_t duration_ns = -1;  // >= 0: takes that long, instead of the roofline of the above
  bool polled = false;       // a thread of the program asks again and again whether it is over
};
VRAMSCOPE_EMULATED_API Result Submit(const LibraryWork& work);

struct KernelLaunch {
  const void* function = nullptr;  // as registered
  Dim grid = {}, block = {};
  uint64_t shared_bytes = 0;
  void* stream = nullptr;
  void** parameters = nullptr;
  bool cooperative = false;
  bool driver = false;  // by cuLaunchKernel and its like
};
VRAMSCOPE_EMULATED_API Result Launch(const KernelLaunch& launch);
// Launches of kernels of which no rule (work_rules.h) says what they do, by their names, the most
// frequent first: a change of PyTorch shows here.
VRAMSCOPE_EMULATED_API std::vector<std::pair<std::string, uint64_t>> UnrecognisedLaunches();

// What the code of a kernel says about it; what is assumed where it could not be read.
struct KernelFacts {
  static constexpr size_t kMostParameters = 4096;

  const char* name = "";  // mangled
  int registers = 32;
  int static_shared = 0;
  int local_bytes = 0;
  int constant_bytes = 0;
  int most_threads = 1024;  // a block
  int architecture = 0;     // of the machine code: 86 on a card of 8.9 when there is none of 8.9
  int ptx_architecture = 0;
  int parameter_bytes = 0;
  std::vector<uint16_t> parameters;  // bytes of each
  bool read = false;                 // from machine code: else the above is assumed
  bool runs = true;                  // there is code that this card can run
};
// `image`: the fat binary (or cubin) that holds the kernel, null when there is none. Strings are
// copied.
VRAMSCOPE_EMULATED_API void RegisterKernel(const void* function, const char* name,
                                           const void* image);
VRAMSCOPE_EMULATED_API void ForgetKernel(const void* function);
// All kernels of an image: it is unloaded.
VRAMSCOPE_EMULATED_API void ForgetKernels(const void* image);
VRAMSCOPE_EMULATED_API bool IsRegistered(const void* function);
// As the current device runs it.
VRAMSCOPE_EMULATED_API KernelFacts FactsOf(const void* function);
VRAMSCOPE_EMULATED_API int BlocksPerMultiprocessor(int device, const void* function, int threads,
                                                   uint64_t dynamic_shared);

// cudaMemcpy and cudaMemset, synchronous or on a stream: addresses of the host or of a card on
// either side.
VRAMSCOPE_EMULATED_API Result Copy(void* to, const void* from, uint64_t bytes, void* stream,
                                   bool synchronous);
// `rows` rows of `width` bytes that lie `to_pitch` and `from_pitch` apart.
VRAMSCOPE_EMULATED_API Result CopyRows(void* to, uint64_t to_pitch, const void* from,
                                       uint64_t from_pitch, uint64_t width, uint64_t rows,
                                       void* stream, bool synchronous);
VRAMSCOPE_EMULATED_API Result Fill(void* to, const void* pattern, uint64_t pattern_bytes,
                                   uint64_t count, void* stream, bool synchronous);
// A function of the host that runs when the stream comes to it: at once, in this thread.
VRAMSCOPE_EMULATED_API Result CallHost(void* stream, void (*function)(void*), void* argument);
// The bytes alone, without time: for collectives, whose duration is their own.
VRAMSCOPE_EMULATED_API void CopyBytes(void* to, const void* from, uint64_t bytes);

}  // namespace vramscope::emulated
