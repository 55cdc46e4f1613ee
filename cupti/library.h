// Finds the documented C functions of libcupti at run time, so that building and starting need no
// CUDA. Example:
//
//   const Found found = FindLibrary();
//   if (!found.problem.empty()) Say(found.problem);
//   else found.library.ActivityEnable(kConcurrentKernel);
//
// Two copies of libcupti in one process disturb each other, so a loaded copy is preferred.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cupti/consumer.h"
#include "cupti/records.h"

namespace vramscope::cupti {

using RequestBuffer = void (*)(uint8_t** buffer, size_t* bytes, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                 size_t valid);
using ClockFunction = uint64_t (*)();

struct Library {
  std::string name;      // soname
  uint32_t version = 0;  // CUPTI's version: 17 for CUDA 11.7, 130001 for 13.0

  int (*GetVersion)(uint32_t* version) = nullptr;
  int (*GetTimestamp)(uint64_t* now) = nullptr;
  int (*ActivityRegisterCallbacks)(RequestBuffer, BufferCompleted) = nullptr;
  int (*ActivityEnable)(uint32_t kind) = nullptr;
  int (*ActivityDisable)(uint32_t kind) = nullptr;
  int (*ActivityFlushAll)(uint32_t flag) = nullptr;
  NextRecord ActivityGetNextRecord = nullptr;
  // Optional functions. They are null if the library lacks them.
  int (*ActivityGetNumDroppedRecords)(void* context, uint32_t stream, size_t* count) = nullptr;
  int (*ActivityRegisterTimestampCallback)(ClockFunction) = nullptr;
  int (*ActivityPushExternalCorrelationId)(uint32_t kind, uint64_t id) = nullptr;
  int (*ActivityPopExternalCorrelationId)(uint32_t kind, uint64_t* last) = nullptr;
  int (*ActivityEnableRuntimeApi)(uint32_t callback, uint8_t on) = nullptr;
  int (*ActivityEnableDriverApi)(uint32_t callback, uint8_t on) = nullptr;
  int (*GetCallbackName)(uint32_t domain, uint32_t callback, const char** name) = nullptr;
  int (*GetStreamIdEx)(void* context, void* stream, uint8_t per_thread, uint32_t* id) = nullptr;
  int (*GetResultString)(int status, const char** text) = nullptr;
  int (*SetThreadIdType)(uint32_t type) = nullptr;
  int (*Subscribe)(void** subscriber, void* callback, void* data) = nullptr;
  int (*Unsubscribe)(void* subscriber) = nullptr;
};

struct Found {
  Library library;
  std::string problem;  // "": no problem
};
Found FindLibrary();

// Returns the clock of a program's marks, in nanoseconds. It is the emulated platform's virtual
// clock if the platform is loaded, otherwise CLOCK_REALTIME.
ClockFunction ClockOfProcess();
bool IsVirtual(ClockFunction clock);
// Makes the emulated platform record which addresses kernels, memcpys and memsets use. Each record
// also has the count that `requests` returns (Options::requests). If `requests` is null, stops
// recording. Returns false if there is no emulated platform.
bool EnableOperands(uint64_t (*requests)(int device));
// Makes the emulated platform record for each host allocation the line that `site` returns
// (Options::call_site). Null stops the recording. Does nothing if there is no emulated platform.
void EnableCallSites(const char* (*site)());

}  // namespace vramscope::cupti
