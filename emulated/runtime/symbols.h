// Assigns addresses to variables in device code (__device__, __constant__). They do not count as
// used device memory.
#pragma once

#include <cstddef>

#include "emulated/core/result.h"

namespace vramscope::emulated::runtime {

void RegisterSymbol(const void* symbol, size_t bytes);
// Stores the symbol's address on the current device. Returns kNotFound if there is no such symbol.
Result AddressOfSymbol(const void* symbol, void** address, size_t* bytes);

}  // namespace vramscope::emulated::runtime
