// Addresses of variables in device code (__device__, __constant__). The variables are not counted
// as used device memory.
#pragma once

#include <cstddef>

#include "emulated/core/result.h"

namespace vramscope::emulated::runtime {

void RegisterSymbol(const void* symbol, size_t bytes);
// The address on the current device; kNotFound: no such symbol.
Result AddressOfSymbol(const void* symbol, void** address, size_t* bytes);

}  // namespace vramscope::emulated::runtime
