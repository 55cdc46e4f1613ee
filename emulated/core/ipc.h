// Memory and events that a process hands to another one of the same run (cudaIpc*). The memory
// stays the first one's: where it is opened it has addresses and takes nothing of the card.
//
//   IpcHandle handle;
//   ShareMemory(address, &handle);              // in one process
//   OpenMemory(handle, &there);                 // in another
//
// Thread-safe. Handles come from other processes: nothing in them is believed unchecked.
#pragma once

#include <array>

#include "emulated/core/api.h"
#include "emulated/core/result.h"

namespace vramscope::emulated {

using IpcHandle = std::array<unsigned char, 64>;

VRAMSCOPE_EMULATED_API Result ShareMemory(const void* address, IpcHandle* handle);
VRAMSCOPE_EMULATED_API Result OpenMemory(const IpcHandle& handle, void** address);
VRAMSCOPE_EMULATED_API Result CloseMemory(void* address);
VRAMSCOPE_EMULATED_API Result ShareEvent(void* event, IpcHandle* handle);
// An event of this process that is over: the other one's time is its own.
VRAMSCOPE_EMULATED_API Result OpenEvent(const IpcHandle& handle, void** event);

}  // namespace vramscope::emulated
