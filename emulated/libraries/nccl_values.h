// Computes collectives on small values, for NCCL's element types and operations. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vramscope::emulated::nccl {

// ncclDataType_t; 0: unknown type.
size_t ElementBytes(int type);

// into = into (op) from, element by element: sum 0, product 1, maximum 2, minimum 3, average 4 (a
// sum; see Divide). False for operations and types that are not computed (a program's own
// operations, 8-bit floats).
bool Reduce(int type, int operation, std::span<std::byte> into, std::span<const std::byte> from);
void Divide(int type, int ranks, std::span<std::byte> values);

}  // namespace vramscope::emulated::nccl
