// Which fields of an Event each kind uses. Internal to this folder. Both the writer and the
// builder clear all other fields. Thus a trace built in memory is the same as one read from a
// file.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/trace/types.h"

namespace vramscope::trace {

// Bit n stands for the column with field number 16 + n of proto::EventBatch. Every kind has bit 0.
enum Field : uint32_t {
  kFieldTime = 1u << 0,
  kFieldId = 1u << 1,
  kFieldAddress = 1u << 2,
  kFieldBytes = 1u << 3,
  kFieldRounded = 1u << 4,
  kFieldName = 1u << 5,
  kFieldModule = 1u << 6,
  kFieldCategory = 1u << 7,
  kFieldDetail = 1u << 8,
  kFieldStream = 1u << 9,
  kFieldThread = 1u << 10,
  kFieldDevice = 1u << 11,
  kFieldPool = 1u << 12,
  kFieldDuration = 1u << 13,
  kFieldStack = 1u << 14,
  kFieldMempool = 1u << 15,
  kFieldUserMetadata = 1u << 16,
  kFieldCompileContext = 1u << 17,
};
inline constexpr int kFieldCount = 18;
inline constexpr uint32_t kAllFields = (1u << kFieldCount) - 1;

inline constexpr int kEventKindCount = 29;
// Kinds that were events in versions 1 to 3 of the format, and are activities now.
inline constexpr int kFirstOldKind = 20, kLastOldKind = 24;

// Fields that a recorder of memory snapshots adds to every allocator event.
inline constexpr uint32_t kFieldsOfEntry = kFieldStack | kFieldUserMetadata | kFieldCompileContext;

constexpr uint32_t FieldsOf(EventKind kind) {
  switch (kind) {
    case EventKind::kAlloc:
      return kFieldId | kFieldAddress | kFieldBytes | kFieldRounded | kFieldName | kFieldModule |
             kFieldCategory | kFieldStream | kFieldDevice | kFieldPool | kFieldDetail |
             kFieldsOfEntry;
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
      return kFieldId | kFieldsOfEntry;
    case EventKind::kRetag:
      return kFieldId | kFieldCategory | kFieldName | kFieldDetail;
    case EventKind::kSegmentAlloc:
      return kFieldId | kFieldAddress | kFieldBytes | kFieldStream | kFieldDevice | kFieldPool |
             kFieldDetail | kFieldMempool | kFieldsOfEntry;
    case EventKind::kSegmentFree:
      return kFieldId | kFieldsOfEntry;
    case EventKind::kPhaseBegin:
      return kFieldDetail | kFieldThread | kFieldId;
    case EventKind::kStepBegin:
      return kFieldId | kFieldThread | kFieldDetail;
    case EventKind::kMicroBatchBegin:
      return kFieldId | kFieldThread;
    case EventKind::kPhaseEnd:
    case EventKind::kStepEnd:
    case EventKind::kMicroBatchEnd:
      return kFieldThread;  // closes the innermost slice of its kind and process (processes.h)
    case EventKind::kModuleBegin:
      return kFieldName | kFieldThread;
    case EventKind::kModuleEnd:
      return kFieldThread;  // closes the innermost slice of its kind and thread
    case EventKind::kOpBegin:
      return kFieldName | kFieldModule | kFieldThread;
    case EventKind::kOpEnd:
    case EventKind::kAnnotationEnd:
      return kFieldThread;
    case EventKind::kAnnotationBegin:
      return kFieldName | kFieldThread;
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
    case EventKind::kOutOfMemory:
    case EventKind::kDeviceUsage:
    case EventKind::kMarker:
      return kAllFields & ~(kFieldMempool | kFieldDuration);
  }
  return kAllFields;
}

inline constexpr auto kFieldsOfKind = [] {
  std::array<uint32_t, 256> fields{};
  for (int k = 0; k < 256; ++k) fields[k] = FieldsOf(static_cast<EventKind>(k));
  return fields;
}();

constexpr bool IsKnown(EventKind kind) {
  const int k = static_cast<int>(kind);
  return k >= 1 && k < kEventKindCount && (k < kFirstOldKind || k > kLastOldKind);
}

// Whether the event begins a slice: a step, micro-batch, phase, module, op or annotation.
constexpr bool IsSliceBegin(EventKind kind) {
  return kind == EventKind::kPhaseBegin || kind == EventKind::kStepBegin ||
         kind == EventKind::kMicroBatchBegin || kind == EventKind::kModuleBegin ||
         kind == EventKind::kOpBegin || kind == EventKind::kAnnotationBegin;
}

// Returns a copy of the event, without the fields that its kind does not use.
inline Event Normalized(const Event& event) {
  const uint32_t fields = kFieldsOfKind[static_cast<uint8_t>(event.kind)];
  Event out;
  out.kind = event.kind;
  out.time_ns = event.time_ns;
  if (fields & kFieldId) out.id = event.id;
  if (fields & kFieldAddress) out.address = event.address;
  if (fields & kFieldBytes) out.bytes = event.bytes;
  if (fields & kFieldRounded) out.bytes_rounded = event.bytes_rounded;
  if (fields & kFieldName) out.name = event.name;
  if (fields & kFieldModule) out.module = event.module;
  if (fields & kFieldCategory) out.category = event.category;
  if (fields & kFieldDetail) out.detail = event.detail;
  if (fields & kFieldStream) out.stream = event.stream;
  if (fields & kFieldThread) out.thread = event.thread;
  if (fields & kFieldDevice) out.device = event.device;
  if (fields & kFieldPool) out.pool = event.pool;
  if (fields & kFieldStack) out.stack = event.stack;
  if (fields & kFieldMempool) out.mempool = event.mempool;
  if (fields & kFieldUserMetadata) out.user_metadata = event.user_metadata;
  if (fields & kFieldCompileContext) out.compile_context = event.compile_context;
  return out;
}

}  // namespace vramscope::trace
