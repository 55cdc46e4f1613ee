// Activity records in CUPTI's layout: our own declarations. Fields have kept their places from
// CUDA 11.7 to 13 (a test compares them where a toolkit's headers are); newer structures are
// longer, so a record here is as long as the longest and a program reads as much of it as its
// header knows.
#pragma once

#include <cstdint>

namespace vramscope::emulated::cupti {

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kRuntime = 5,
  kConcurrentKernel = 10,
  kSynchronization = 38,
  kExternalCorrelation = 39,
};

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

}  // namespace vramscope::emulated::cupti
