// How long work takes on a card: rates of the device table, and how much of them kernels get. Pure
// functions. Constants that were measured were measured on one card (an H200, driver 580.159.04,
// PyTorch 2.11 of CUDA 13.0): as shares of the card's own rates, or in clocks of a multiprocessor,
// they are taken for all others, too.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"
#include "emulated/core/card.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

// What a launch does, as far as its kernel and its parameters say. What is not said is 0.
struct LaunchWork {
  double bytes = 0;  // read and written, each as often as it is
  // That have the same part of the bytes each, where there are few of them; 0: it does not matter.
  double blocks = 0;
  // Clocks that a multiprocessor issues instructions, of all of them together.
  double clocks = 0;
  // So many threads go through the bytes one after the other: 0 where that holds nothing up.
  double threads_in_turn = 0;
  double in_turn_s = 0;  // steps that wait for each other, beside the above
  // Tiles of a fused kernel: one is a multiprocessor's, at a share of its rate of arithmetic.
  double tiles = 0, tile_flops = 0, share = 1;
  Precision precision = Precision::kFp32;
};
VRAMSCOPE_EMULATED_API int64_t LaunchDuration(const Card& card, const LaunchWork& work);

// Clocks of a multiprocessor for a random number by which an element is dropped or not.
inline constexpr double kClocksOfRandomNumber = 0.5;

// A kernel of which only the launch is known: every thread is taken to move 48 bytes (four elements
// of 4 bytes, two read and one written).
inline constexpr double kBytesPerThread = 48;
VRAMSCOPE_EMULATED_API int64_t KernelDuration(const Card& card, uint64_t blocks, uint64_t threads);
// A library's call that says what it does.
VRAMSCOPE_EMULATED_API int64_t WorkDuration(const Card& card, double flops, Precision precision,
                                            uint64_t bytes);
// Of a matrix product: `flops` of all of it.
VRAMSCOPE_EMULATED_API int64_t ProductDuration(const Card& card, const MatrixProduct& product,
                                               double flops, Precision precision, uint64_t bytes);

enum class CopyPath { kOnCard, kPinned, kPageable };
VRAMSCOPE_EMULATED_API int64_t CopyDuration(const Card& card, uint64_t bytes, CopyPath path);
VRAMSCOPE_EMULATED_API int64_t FillDuration(const Card& card, uint64_t bytes);

}  // namespace vramscope::emulated
