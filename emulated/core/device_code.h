// Reads device code: a cubin (an ELF file), a fat binary of several cubins, or PTX. The registers,
// shared memory and parameters of a kernel determine its occupancy, on which the sizes of scratch
// buffers depend.
//
//   DeviceCode code = ParseImage(image, 89);
//   ReadKernels(&code);
//   int registers = code.kernels["_Z6kernelPf"].registers;
//
// Pure functions. The formats are known from public descriptions. Images are not trusted: reads
// stay within the lengths that an image states, and these lengths have limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulated/core/api.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

using Bytes = std::span<const unsigned char>;

// One part of a fat binary: machine code or PTX of one architecture.
struct CodeEntry {
  enum class Compression { kNone, kLz4, kZstd, kUnknown };
  bool is_cubin = false;  // machine code; false: PTX
  int architecture = 0;   // 86 for sm_86
  bool specific = false;  // runs only on this architecture (sm_90a, sm_100f)
  Compression compression = Compression::kNone;
  Bytes bytes;  // the stored bytes, maybe compressed
  uint64_t unpacked_bytes = 0;
};

struct DeviceCode {
  bool runs = true;          // the GPU can run some of the code, or the code is unknown
  int architecture = 0;      // architecture of the machine code that the GPU runs
  int ptx_architecture = 0;  // architecture of the PTX that is compiled for the GPU
  std::optional<CodeEntry> entry;
  // Filled by ReadKernels.
  std::string problem;  // why nothing could be read; empty: no problem
  std::unordered_map<std::string, KernelFacts> kernels;
};

// Returns the length that the header of an image states, or 0 for PTX and unknown formats.
VRAMSCOPE_EMULATED_API size_t ImageBytes(const void* image);

std::vector<CodeEntry> EntriesOf(Bytes fat_binary);
// Returns the entry that a GPU of this compute capability loads: the newest machine code of its
// generation, or else PTX. Returns null if it can run no entry.
const CodeEntry* ChooseEntry(std::span<const CodeEntry> entries, int compute_capability);
// Returns nothing if the entry is damaged or its compression is unknown.
std::optional<std::vector<unsigned char>> Unpack(const CodeEntry& entry);
std::unordered_map<std::string, KernelFacts> KernelsOf(Bytes cubin);

// Finds the code that a GPU would run from an image, but does not unpack it. `image` is what nvcc's
// host code registers (a wrapper that points to a fat binary), a fat binary, or a cubin. The image
// must stay valid as long as the result is used.
DeviceCode ParseImage(const void* image, int compute_capability);
void ReadKernels(DeviceCode* code);

}  // namespace vramscope::emulated
