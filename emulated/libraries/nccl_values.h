// Computes collectives on small values, for NCCL's element types and operations. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vramscope::emulated::nccl {

// ncclDataType_t; 0: unknown type.
size_t ElementBytes(int type);

// Combines each element of `from` into `into`. `operation`: 0 sum, 1 product, 2 maximum, 3 minimum,
// 4 average (as a sum; see Divide). Returns false for a program's own operations and for 8-bit
// floats.
bool Reduce(int type, int operation, std::span<std::byte> into, std::span<const std::byte> from);
void Divide(int type, int ranks, std::span<std::byte> values);

}  // namespace vramscope::emulated::nccl
