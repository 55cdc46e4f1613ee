// The libcupti that this process has, by its documented C functions: found at run time, so that
// nothing here needs CUDA to build or to start.
//
//   const Found found = FindLibrary();
//   if (!found.problem.empty()) Say(found.problem);
//   else found.library.ActivityEnable(kConcurrentKernel);
//
// Two copies of libcupti in one process disturb each other: the one that is loaded comes first.
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
  std::string name;      // its soname
  uint32_t version = 0;  // CUPTI's: 17 is that of CUDA 11.7, 130001 of 13.0

  int (*GetVersion)(uint32_t* version) = nullptr;
  int (*GetTimestamp)(uint64_t* now) = nullptr;
  int (*ActivityRegisterCallbacks)(RequestBuffer, BufferCompleted) = nullptr;
  int (*ActivityEnable)(uint32_t kind) = nullptr;
  int (*ActivityDisable)(uint32_t kind) = nullptr;
  int (*ActivityFlushAll)(uint32_t flag) = nullptr;
  NextRecord ActivityGetNextRecord = nullptr;
  // Null in a library that has none of that name.
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
  std::string problem;  // "": none
};
Found FindLibrary();

// Nanoseconds on the clock that a program's marks have: the emulated platform's virtual one where
// that is loaded, else the computer's (CLOCK_REALTIME).
ClockFunction ClockOfProcess();
bool IsVirtual(ClockFunction clock);
// The emulated platform takes down what work is given the addresses of from now on, with that count
// (Options::requests); null: no more. False: it does not.
bool EnableOperands(uint64_t (*requests)(int device));

}  // namespace vramscope::cupti
