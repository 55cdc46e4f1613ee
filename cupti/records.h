// Activity records in CUPTI's layout. Only the fields that are read or written are declared. Their
// positions are the same from CUDA 11.7 to 13; a test compares them with the installed headers.
// Newer structures have more fields at the end. The emulated libcupti writes these structures, so
// they have the length of the longest version.
#pragma once

#include <cstdint>

namespace vramscope::cupti {

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kEnvironment = 20,
  kMemcpy2 = 22,  // between two devices
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,
  // Operands of the kernel, memcpy or memset in the preceding record. Only the emulated libcupti
  // writes these records, and only if it delivers each record when it is made (Options::at_once).
  kOperands = 0x5653,
};

// The relevant return values of CUPTI's functions.
enum Status : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidOperation = 7,
  kMaxLimitReached = 12,
  kNotInitialized = 15,
  kQueueEmpty = 18,
  kInvalidKind = 21,
  kNotSupported = 27,
  kVirtualizedDevice = 33,
  kInsufficientPrivileges = 35,
  kMultipleSubscribers = 39,
  kUnknownError = 999,
};

enum MemoryKind : uint32_t {
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
  kDeviceStatic = 6,
  kManagedStatic = 7,
};

enum CallbackDomain : uint32_t { kDriverDomain = 1, kRuntimeDomain = 2 };

struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  uint32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
  uint64_t rest[16];
};
static_assert(sizeof(KernelRecord) == 240);

struct MemcpyRecord {
  uint32_t kind;
  uint8_t copy_kind, from_kind, to_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, padding;
  uint64_t reserved, graph_node;
  uint32_t graph, channel, channel_type, end_padding;
  uint64_t copies;
};
static_assert(sizeof(MemcpyRecord) == 96);

struct MemcpyBetweenRecord {
  uint32_t kind;
  uint8_t copy_kind, from_kind, to_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, from_device, from_context, to_device, to_context, correlation;
  uint64_t rest[4];
};
static_assert(sizeof(MemcpyBetweenRecord) == 96);

struct MemsetRecord {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
  uint32_t padding;
  uint64_t reserved, graph_node;
  uint32_t graph, channel, channel_type, end_padding;
};
static_assert(sizeof(MemsetRecord) == 88);

// For kRuntime and kDriver.
struct ApiRecord {
  uint32_t kind, callback;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};
static_assert(sizeof(ApiRecord) == 40);

struct ExternalRecord {
  uint32_t kind, external_kind;
  uint64_t external;
  uint32_t correlation, reserved;
};
static_assert(sizeof(ExternalRecord) == 24);

struct SynchronizationRecord {
  uint32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
  uint64_t rest[2];
};
static_assert(sizeof(SynchronizationRecord) == 56);

struct MemoryRecord {  // record of kMemory2
  static constexpr uint32_t kAllocation = 1, kRelease = 2;
  uint32_t kind, operation, memory_kind, correlation;
  uint64_t address, bytes, timestamp, program_counter;
  uint32_t process, device, context, stream;
  const char* name;
  uint32_t asynchronous, padding;
  uint64_t rest[6];
};
static_assert(sizeof(MemoryRecord) == 128);

struct OperandsRecord {
  static constexpr uint32_t kMost = 14;
  uint32_t kind, correlation;
  uint64_t start;     // begin of the kernel, memcpy or memset
  uint64_t requests;  // allocations and frees on the device before the program passed the addresses
  uint32_t device, stream, count, padding;
  uint64_t address[kMost];
  uint8_t use[16];  // 1: read, 2: written, 3: both, 0: unknown
};
static_assert(sizeof(OperandsRecord) == 168);

struct OverheadRecord {
  static constexpr uint32_t kOfProcess = 1, kOfThread = 2;
  uint32_t kind, overhead_kind, object_kind;
  uint32_t object[3];  // process and thread; or device, context and stream
  uint64_t start, end;
  uint64_t rest[2];
};
static_assert(sizeof(OverheadRecord) == 56);

struct EnvironmentRecord {
  static constexpr uint32_t kSpeed = 1, kTemperature = 2, kPower = 3, kCooling = 4;
  uint32_t kind, device;
  uint64_t timestamp;
  uint32_t environment_kind;
  // SM clock and memory clock in MHz, temperature in Celsius, power and its limit in milliwatts.
  uint32_t data[5];
};
static_assert(sizeof(EnvironmentRecord) == 40);

}  // namespace vramscope::cupti
