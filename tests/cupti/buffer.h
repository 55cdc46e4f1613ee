// Builds buffers of records as CUPTI fills them.
#pragma once

#include <cstring>
#include <vector>

#include "cupti/records.h"

namespace vramscope::cupti {

inline size_t SizeOfKind(uint32_t kind) {
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return sizeof(KernelRecord);
    case kMemcpy:
      return sizeof(MemcpyRecord);
    case kMemcpy2:
      return sizeof(MemcpyBetweenRecord);
    case kMemset:
      return sizeof(MemsetRecord);
    case kRuntime:
    case kDriver:
      return sizeof(ApiRecord);
    case kExternalCorrelation:
      return sizeof(ExternalRecord);
    case kSynchronization:
      return sizeof(SynchronizationRecord);
    case kMemory2:
      return sizeof(MemoryRecord);
    case kOperands:
      return sizeof(OperandsRecord);
    case kOverhead:
      return sizeof(OverheadRecord);
    case kEnvironment:
      return sizeof(EnvironmentRecord);
    default:
      return 8;  // a kind of a future version
  }
}

// Replaces cuptiActivityGetNextRecord. Does not check the buffer.
inline int NextRecordOf(uint8_t* buffer, size_t valid, uint8_t** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    next = *record + SizeOfKind(kind);
  }
  if (next >= buffer + valid) return kMaxLimitReached;
  *record = next;
  return kSuccess;
}

class Buffer {
 public:
  template <class Record>
  Buffer& Add(const Record& record) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof record);
    return *this;
  }
  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
};

inline KernelRecord Kernel(uint32_t correlation, uint64_t start, uint64_t end, const char* name,
                           uint32_t stream = 7) {
  KernelRecord record = {};
  record.kind = kConcurrentKernel;
  record.start = start, record.end = end, record.correlation = correlation, record.name = name;
  record.stream = stream;
  return record;
}
inline ApiRecord Api(uint32_t kind, uint32_t callback, uint32_t correlation, uint64_t start,
                     uint64_t end, uint32_t thread) {
  return {kind, callback, start, end, 1, thread, correlation, 0};
}

}  // namespace vramscope::cupti
