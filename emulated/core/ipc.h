// Shares memory and events of a process with another process of the same run (cudaIpc*). The
// memory belongs to the process that shares it. The process that opens it gets addresses that use
// no further GPU memory.
//
//   IpcHandle handle;
//   ShareMemory(address, &handle);              // in one process
//   OpenMemory(handle, &there);                 // in another
//
// Thread-safe. Handles come from other processes, so their contents are checked.
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
// Opens an event. It counts as completed, because the other process has its own virtual time.
VRAMSCOPE_EMULATED_API Result OpenEvent(const IpcHandle& handle, void** event);

}  // namespace vramscope::emulated
