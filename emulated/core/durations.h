// How long work takes on a card: a roofline of the card's rates. It orders work and lets the host
// run ahead; it is no measurement. Pure functions.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"
#include "emulated/core/card.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

// A kernel of which only the launch is known: every thread is taken to move 48 bytes (four elements
// of 4 bytes, two read and one written, as PyTorch's elementwise kernels do).
inline constexpr double kBytesPerThread = 48;
VRAMSCOPE_EMULATED_API int64_t KernelDuration(const Card& card, uint64_t blocks, uint64_t threads,
                                              double bytes_per_thread = kBytesPerThread);
// What a thread of the kernel of that name moves. PyTorch's foreach and fused optimizer kernels
// work through lists of tensors: a block of 512 threads takes 65,536 elements of each list, whose
// number the name says; each is read, and one written.
VRAMSCOPE_EMULATED_API double BytesPerThread(const char* name);
// A library's call that says what it does.
VRAMSCOPE_EMULATED_API int64_t WorkDuration(const Card& card, double flops, Precision precision,
                                            uint64_t bytes);
// `over_bus`: between host and card (25 GB/s, PCIe 4 x16 as measured by bandwidthTest), else on the
// card.
VRAMSCOPE_EMULATED_API int64_t CopyDuration(const Card& card, uint64_t bytes, bool over_bus);

}  // namespace vramscope::emulated
