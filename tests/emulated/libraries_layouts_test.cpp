// Our declarations of CUPTI's records against the headers of a toolkit: places of the fields that
// are filled, and that no record of ours is shorter than theirs.
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "emulated/libraries/cupti_records.h"

namespace vramscope::emulated::cupti {
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
  EXPECT_GE(sizeof(SynchronizationRecord), sizeof(CUpti_ActivitySynchronization));
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization, start, start);
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization, correlation, correlationId);
  VRAMSCOPE_SAME(SynchronizationRecord, CUpti_ActivitySynchronization, stream, streamId);
}

}  // namespace
}  // namespace vramscope::emulated::cupti
