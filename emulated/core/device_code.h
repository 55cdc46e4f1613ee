// Device code as programs hand it over: a cubin (an ELF file), a fat binary of several, PTX. What a
// kernel's code says about it (registers, shared memory, parameters) decides occupancy, and that
// the sizes of scratch buffers.
//
//   DeviceCode code = LookAtImage(image, 89);
//   ReadKernels(&code);
//   int registers = code.kernels["_Z6kernelPf"].registers;
//
// Pure; the formats are known from public descriptions. Images are hostile input: nothing is read
// beyond the lengths that they state, and these are capped.
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
  bool is_cubin = false;  // else PTX
  int architecture = 0;   // 86
  bool specific = false;  // runs on that architecture alone (sm_90a, sm_100f)
  Compression compression = Compression::kNone;
  Bytes bytes;  // as they lie there
  uint64_t unpacked_bytes = 0;
};

struct DeviceCode {
  bool runs = true;          // there is something that the card can run, or nothing is known
  int architecture = 0;      // of the machine code that the card runs
  int ptx_architecture = 0;  // of the PTX that it is compiled from
  std::optional<CodeEntry> entry;
  // Filled by ReadKernels.
  std::string problem;  // why nothing could be read
  std::unordered_map<std::string, KernelFacts> kernels;
};

// How long an image in memory is by what it says itself; 0: it does not say (PTX, or nothing
// known).
VRAMSCOPE_EMULATED_API size_t ImageBytes(const void* image);

std::vector<CodeEntry> EntriesOf(Bytes fat_binary);
// What a card of this compute capability loads: the newest machine code of its generation, else
// PTX; null: nothing runs.
const CodeEntry* ChooseEntry(std::span<const CodeEntry> entries, int compute_capability);
// Nothing when it is damaged, or packed in a way that is not known.
std::optional<std::vector<unsigned char>> Unpack(const CodeEntry& entry);
std::unordered_map<std::string, KernelFacts> KernelsOf(Bytes cubin);

// What a card would run of an image, without unpacking it. `image`: what nvcc's host code registers
// (a wrapper that points to a fat binary), a fat binary, or a cubin. It stays where it is for as
// long as the result is used.
DeviceCode LookAtImage(const void* image, int compute_capability);
void ReadKernels(DeviceCode* code);

}  // namespace vramscope::emulated
