#include "emulated/core/ipc.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMemory = 0x6d656d2d6d617276, kEvent = 0x7476652d6d617276;

struct Contents {
  uint64_t kind = 0;
  int32_t process = 0, device = 0;
  uint64_t start = 0;  // start of the process
  uint64_t base = 0, bytes = 0;
};
static_assert(sizeof(Contents) <= sizeof(IpcHandle));

void Write(const Contents& contents, IpcHandle* handle) {
  handle->fill(0);
  std::memcpy(handle->data(), &contents, sizeof contents);
}

// Reads a handle. Fails unless the handle is from another process that is still running.
Result Read(const IpcHandle& handle, uint64_t kind, Contents* contents) {
  std::memcpy(contents, handle.data(), sizeof *contents);
  if (contents->kind != kind || contents->process <= 0) return Result::kInvalidValue;
  // CUDA does not open a handle in the process that created it.
  if (contents->process == getpid()) return Result::kInvalidContext;
  if (StartOfProcess(contents->process) != contents->start) return Result::kInvalidValue;
  const int devices = static_cast<int>(ThePlatform().gpus.size());
  return contents->device >= 0 && contents->device < devices ? Result::kSuccess
                                                             : Result::kInvalidDevice;
}

using Origin = std::tuple<int32_t, uint64_t, uint64_t>;  // process, its start, the address in it
struct Opened {
  void* address = nullptr;
  uint64_t bytes = 0;
  int times = 0;
};
struct Openings {
  std::mutex mutex;
  std::map<Origin, Opened> all;
};
Openings& TheOpenings() {
  static auto* openings = new Openings;
  return *openings;
}

}  // namespace

Result ShareMemory(const void* address, IpcHandle* handle) {
  if (handle == nullptr) return Result::kInvalidValue;
  const PointerFacts facts = ThePlatform().memory.Find(address);
  // Memory that is mapped page by page (expandable segments) cannot be shared, as on a real GPU.
  if (facts.kind != MemoryKind::kDevice || facts.base == 0 || facts.is_mapped)
    return Result::kInvalidValue;
  Write({.kind = kMemory,
         .process = getpid(),
         .device = facts.device,
         .start = StartOfProcess(getpid()),
         .base = facts.base,
         .bytes = facts.bytes},
        handle);
  return Result::kSuccess;
}

Result OpenMemory(const IpcHandle& handle, void** address) {
  if (address == nullptr) return Result::kInvalidValue;
  *address = nullptr;
  Contents contents;
  if (const Result result = Read(handle, kMemory, &contents); result != Result::kSuccess)
    return result;
  Memory& memory = ThePlatform().memory;
  if (contents.bytes == 0 || contents.bytes > memory.total(contents.device))
    return Result::kInvalidValue;
  Openings& openings = TheOpenings();
  std::lock_guard lock(openings.mutex);
  Opened& opened = openings.all[{contents.process, contents.start, contents.base}];
  // If the memory was opened before, returns the same address. Fails if the other process has
  // meanwhile allocated memory of another size there.
  if (opened.times > 0 && opened.bytes != contents.bytes) return Result::kInvalidValue;
  if (opened.times == 0) {
    opened.bytes = contents.bytes;
    if (const Result result = memory.ReserveAddresses(opened.bytes, 0, &opened.address);
        result != Result::kSuccess)
      return result;
    memory.SetMapped(opened.address, opened.bytes, contents.device);
    Assume(
        "memory opened from another process (CUDA IPC) is not counted as GPU memory of this "
        "process, and its values are unknown",
        "cudaIpcOpenMemHandle", opened.bytes);
  }
  ++opened.times;
  *address = opened.address;
  return Result::kSuccess;
}

Result CloseMemory(void* address) {
  Openings& openings = TheOpenings();
  std::lock_guard lock(openings.mutex);
  for (auto it = openings.all.begin(); it != openings.all.end(); ++it) {
    if (it->second.address != address || it->second.times == 0) continue;
    if (--it->second.times > 0) return Result::kSuccess;
    const uint64_t bytes = it->second.bytes;
    openings.all.erase(it);
    return ThePlatform().memory.ReleaseAddresses(address, bytes);
  }
  return Result::kInvalidValue;
}

Result ShareEvent(void* event, IpcHandle* handle) {
  if (handle == nullptr) return Result::kInvalidValue;
  int device = 0;
  if (const Result result = ThePlatform().streams.EventDevice(event, &device);
      result != Result::kSuccess)
    return result;
  Write({.kind = kEvent,
         .process = getpid(),
         .device = device,
         .start = StartOfProcess(getpid()),
         .base = reinterpret_cast<uint64_t>(event)},
        handle);
  return Result::kSuccess;
}

Result OpenEvent(const IpcHandle& handle, void** event) {
  if (event == nullptr) return Result::kInvalidValue;
  *event = nullptr;
  Contents contents;
  if (const Result result = Read(handle, kEvent, &contents); result != Result::kSuccess)
    return result;
  Assume("CUDA events of another process are treated as completed", "cudaIpcOpenEventHandle", 0);
  return ThePlatform().streams.CreateEvent(contents.device, 0, event);
}

}  // namespace vramscope::emulated
