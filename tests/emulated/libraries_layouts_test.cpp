// Compares our declarations of CUPTI's records with the headers of a toolkit. The fields that we
// fill must have the same offsets, and no record may be shorter than CUPTI's.
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "cupti/records.h"

namespace vramscope::cupti {
namespace {

#define VRAMSCOPE_SAME(OURS, THEIRS, FIELD, FIELD_OF_THEIRS)          \
  EXPECT_EQ(offsetof(OURS, FIELD), offsetof(THEIRS, FIELD_OF_THEIRS)) \
      << #THEIRS "." #FIELD_OF_THEIRS

TEST(CuptiLayout, Kernel) {
  using Theirs = CUpti_ActivityKernel9;
  EXPECT_GE(sizeof(KernelRecord), sizeof(Theirs));
  EXPECT_EQ(kConcurrentKernel, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  VRAMSCOPE_SAME(KernelRecord, Theirs, registers, registersPerThread);
  VRAMSCOPE_SAME(KernelRecord, Theirs, start, start);
  VRAMSCOPE_SAME(KernelRecord, Theirs, completed, completed);
  VRAMSCOPE_SAME(KernelRecord, Theirs, device, deviceId);
  VRAMSCOPE_SAME(KernelRecord, Theirs, stream, streamId);
  VRAMSCOPE_SAME(KernelRecord, Theirs, grid, gridX);
  VRAMSCOPE_SAME(KernelRecord, Theirs, block, blockX);
  VRAMSCOPE_SAME(KernelRecord, Theirs, static_shared, staticSharedMemory);
  VRAMSCOPE_SAME(KernelRecord, Theirs, dynamic_shared, dynamicSharedMemory);
  VRAMSCOPE_SAME(KernelRecord, Theirs, correlation, correlationId);
  VRAMSCOPE_SAME(KernelRecord, Theirs, grid_id, gridId);
  VRAMSCOPE_SAME(KernelRecord, Theirs, name, name);
}
TEST(CuptiLayout, Memcpy) {
  using Theirs = CUpti_ActivityMemcpy5;
  EXPECT_GE(sizeof(MemcpyRecord), sizeof(Theirs));
  EXPECT_EQ(kMemcpy, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY));
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, copy_kind, copyKind);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, from_kind, srcKind);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, to_kind, dstKind);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, flags, flags);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, bytes, bytes);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, start, start);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, device, deviceId);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, stream, streamId);
  VRAMSCOPE_SAME(MemcpyRecord, Theirs, correlation, correlationId);
}
TEST(CuptiLayout, Memset) {
  using Theirs = CUpti_ActivityMemset4;
  EXPECT_GE(sizeof(MemsetRecord), sizeof(Theirs));
  EXPECT_EQ(kMemset, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMSET));
  VRAMSCOPE_SAME(MemsetRecord, Theirs, bytes, bytes);
  VRAMSCOPE_SAME(MemsetRecord, Theirs, start, start);
  VRAMSCOPE_SAME(MemsetRecord, Theirs, device, deviceId);
  VRAMSCOPE_SAME(MemsetRecord, Theirs, stream, streamId);
  VRAMSCOPE_SAME(MemsetRecord, Theirs, correlation, correlationId);
  VRAMSCOPE_SAME(MemsetRecord, Theirs, memory_kind, memoryKind);
}
TEST(CuptiLayout, Calls) {
  EXPECT_EQ(sizeof(ApiRecord), sizeof(CUpti_ActivityAPI));
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, callback, cbid);
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, start, start);
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, process, processId);
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, thread, threadId);
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, correlation, correlationId);
  VRAMSCOPE_SAME(ApiRecord, CUpti_ActivityAPI, result, returnValue);
  EXPECT_EQ(sizeof(ExternalRecord), sizeof(CUpti_ActivityExternalCorrelation));
  VRAMSCOPE_SAME(ExternalRecord, CUpti_ActivityExternalCorrelation, external_kind, externalKind);
  VRAMSCOPE_SAME(ExternalRecord, CUpti_ActivityExternalCorrelation, external, externalId);
  VRAMSCOPE_SAME(ExternalRecord, CUpti_ActivityExternalCorrelation, correlation, correlationId);
  EXPECT_GE(sizeof(SynchronizationRecord), sizeof(CUpti_ActivitySynchronization2));
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization2, type, type);
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization2, start, start);
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization2, correlation, correlationId);
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization2, stream, streamId);
}
TEST(CuptiLayout, Memory) {
  using Theirs = CUpti_ActivityMemory4;
  EXPECT_GE(sizeof(MemoryRecord), sizeof(Theirs));
  EXPECT_EQ(kMemory2, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMORY2));
  VRAMSCOPE_SAME(MemoryRecord, Theirs, operation, memoryOperationType);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, memory_kind, memoryKind);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, correlation, correlationId);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, address, address);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, bytes, bytes);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, timestamp, timestamp);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, device, deviceId);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, stream, streamId);
  VRAMSCOPE_SAME(MemoryRecord, Theirs, asynchronous, isAsync);
  EXPECT_EQ(kDevice, static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
  EXPECT_EQ(kPinned, static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
  EXPECT_EQ(kManaged, static_cast<uint32_t>(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED));
}
TEST(CuptiLayout, PeerCopyOverheadAndEnvironment) {
  using Between = CUpti_ActivityMemcpyPtoP4;
  EXPECT_GE(sizeof(MemcpyBetweenRecord), sizeof(Between));
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, from_kind, srcKind);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, bytes, bytes);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, start, start);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, stream, streamId);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, from_device, srcDeviceId);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, to_device, dstDeviceId);
  VRAMSCOPE_SAME(MemcpyBetweenRecord, Between, correlation, correlationId);
  EXPECT_GE(sizeof(OverheadRecord), sizeof(CUpti_ActivityOverhead3));
  VRAMSCOPE_SAME(OverheadRecord, CUpti_ActivityOverhead3, overhead_kind, overheadKind);
  VRAMSCOPE_SAME(OverheadRecord, CUpti_ActivityOverhead3, object_kind, objectKind);
  VRAMSCOPE_SAME(OverheadRecord, CUpti_ActivityOverhead3, object, objectId);
  VRAMSCOPE_SAME(OverheadRecord, CUpti_ActivityOverhead3, start, start);
  EXPECT_EQ(sizeof(EnvironmentRecord), sizeof(CUpti_ActivityEnvironment));
  VRAMSCOPE_SAME(EnvironmentRecord, CUpti_ActivityEnvironment, timestamp, timestamp);
  VRAMSCOPE_SAME(EnvironmentRecord, CUpti_ActivityEnvironment, environment_kind, environmentKind);
  VRAMSCOPE_SAME(EnvironmentRecord, CUpti_ActivityEnvironment, data, data);
  EXPECT_EQ(kMaxLimitReached, static_cast<int>(CUPTI_ERROR_MAX_LIMIT_REACHED));
  EXPECT_EQ(kInvalidOperation, static_cast<int>(CUPTI_ERROR_INVALID_OPERATION));
  EXPECT_EQ(kQueueEmpty, static_cast<int>(CUPTI_ERROR_QUEUE_EMPTY));
  EXPECT_EQ(kMultipleSubscribers, static_cast<int>(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED));
  EXPECT_EQ(kInsufficientPrivileges, static_cast<int>(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
}

}  // namespace
}  // namespace vramscope::cupti
