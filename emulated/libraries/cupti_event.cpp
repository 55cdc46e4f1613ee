#include "emulated/libraries/cupti_event.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "emulated/core/platform.h"

namespace vramscope::emulated::cupti {
namespace {

// In the order of Call.
constexpr CallFacts kCalls[] = {
    {kRuntime, 211, "_v7000"}, {kDriver, 307, ""},         {kRuntime, 311, "_v10000"},
    {kRuntime, 41, "_v3020"},  {kRuntime, 51, "_v3020"},   {kRuntime, 20, "_v3020"},
    {kRuntime, 22, "_v3020"},  {kRuntime, 206, "_v6000"},  {kRuntime, 27, "_v3020"},
    {kRuntime, 26, "_v3020"},  {kRuntime, 373, "_v11020"}, {kRuntime, 375, "_v11020"},
    {kDriver, 243, ""},        {kDriver, 245, ""},         {kDriver, 553, ""},
    {kDriver, 552, ""},        {kDriver, 371, ""},         {kDriver, 39, ""},
    {kDriver, 38, ""},         {kRuntime, 131, "_v3020"},  {kRuntime, 165, "_v3020"},
    {kRuntime, 137, "_v3020"},
};
static_assert(std::size(kCalls) == static_cast<size_t>(Call::kEventSynchronize) + 1);

uint32_t StreamId(const Activity& activity) { return RecordsStreamId(activity.stream); }

uint8_t KindOf(Place place) {
  switch (place) {
    case Place::kPageable:
      return kPageable;
    case Place::kPinned:
      return kPinned;
    case Place::kDevice:
      return kDevice;
    case Place::kManaged:
      return kManaged;
    default:
      return 0;
  }
}

uint8_t CopyKind(Place from, Place to) {
  const bool device = from == Place::kDevice;
  if (to == Place::kDevice) return device ? 8 : 1;  // device to device, host to device
  return device ? 2 : 9;                            // device to host, host to host
}

template <class T>
void Put(const T& record, uint8_t* to) {
  std::memcpy(to, &record, sizeof record);
}

}  // namespace

const CallFacts& FactsOf(Call call) { return kCalls[static_cast<size_t>(call)]; }

const char* NameOf(uint32_t domain, uint32_t callback) {
  static const auto* names = [] {
    auto* made = new std::vector<std::string>;
    for (size_t i = 0; i < std::size(kCalls); ++i)
      made->push_back(std::string(NameOf(static_cast<Call>(i))) + kCalls[i].interface);
    return made;
  }();
  const uint32_t kind = domain == kDriverDomain ? kDriver : kRuntime;
  for (size_t i = 0; i < std::size(kCalls); ++i)
    if (kCalls[i].kind == kind && kCalls[i].callback == callback) return (*names)[i].c_str();
  return nullptr;
}

uint32_t RecordsStreamId(uint64_t stream) {
  constexpr uint32_t kDefault = 7;  // CUPTI's id of the default stream
  const size_t gpus = ThePlatform().gpus.size();
  return stream <= gpus ? kDefault : kDefault + 4 * static_cast<uint32_t>(stream - gpus);
}

size_t SizeOf(uint32_t kind) {
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return sizeof(KernelRecord);
    case kMemcpy:
      return sizeof(MemcpyRecord);
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
      return 0;
  }
}

void Format(const Event& event, const Scale& time, uint8_t* to) {
  const Activity& a = event.activity;
  const auto device = static_cast<uint32_t>(a.device), context = device + 1;
  constexpr uint32_t kNoStream = 0xffffffff;
  switch (event.kind) {
    case kConcurrentKernel:
    case kKernel: {
      KernelRecord record = {};
      record.kind = event.kind;
      record.registers = static_cast<uint16_t>(std::clamp(a.registers, 0, 255));
      record.start = time(event.start), record.end = record.completed = time(event.end);
      record.device = device, record.context = context, record.stream = StreamId(a);
      const unsigned grid[] = {a.grid.x, a.grid.y, a.grid.z},
                     block[] = {a.block.x, a.block.y, a.block.z};
      for (int i = 0; i < 3; ++i)
        record.grid[i] = static_cast<int32_t>(grid[i]),
        record.block[i] = static_cast<int32_t>(block[i]);
      record.static_shared = static_cast<int32_t>(a.static_shared),
      record.dynamic_shared = static_cast<int32_t>(a.dynamic_shared);
      record.correlation = event.correlation, record.grid_id = event.correlation;
      record.name = *a.name != 0 ? a.name : "kernel";
      return Put(record, to);
    }
    case kMemcpy: {
      MemcpyRecord record = {};
      record.kind = event.kind, record.flags = 1, record.copies = 1;
      record.copy_kind = CopyKind(a.from, a.to), record.from_kind = KindOf(a.from),
      record.to_kind = KindOf(a.to);
      record.bytes = a.bytes, record.start = time(event.start), record.end = time(event.end);
      record.device = device, record.context = context, record.stream = StreamId(a),
      record.correlation = event.correlation;
      return Put(record, to);
    }
    case kMemset: {
      MemsetRecord record = {};
      record.kind = event.kind, record.bytes = a.bytes, record.memory_kind = KindOf(a.to);
      record.start = time(event.start), record.end = time(event.end);
      record.device = device, record.context = context, record.stream = StreamId(a),
      record.correlation = event.correlation;
      return Put(record, to);
    }
    case kRuntime:
    case kDriver:
      return Put(ApiRecord{event.kind, event.callback, time(event.start), time(event.end),
                           static_cast<uint32_t>(getpid()), event.thread, event.correlation, 0},
                 to);
    case kExternalCorrelation:
      return Put(ExternalRecord{kExternalCorrelation, event.external_kind, event.external,
                                event.correlation, 0},
                 to);
    case kSynchronization: {
      constexpr uint32_t kStream = 3, kContext = 4;
      SynchronizationRecord record = {};
      record.kind = kSynchronization, record.type = a.stream ? kStream : kContext;
      record.start = time(event.start), record.end = time(event.end),
      record.correlation = event.correlation;
      record.context = context, record.stream = a.stream ? StreamId(a) : kNoStream;
      return Put(record, to);
    }
    case kMemory2: {
      MemoryRecord record = {};
      record.kind = kMemory2, record.correlation = event.correlation;
      record.operation = event.allocated ? MemoryRecord::kAllocation : MemoryRecord::kRelease;
      record.memory_kind = KindOf(a.to);
      record.address = event.address, record.bytes = a.bytes, record.timestamp = time(event.end);
      record.program_counter = event.caller;
      record.process = static_cast<uint32_t>(getpid());
      record.device = device, record.context = context, record.stream = kNoStream;
      record.name = event.site;  // in CUPTI, the field names static variables
      return Put(record, to);
    }
    case kOperands: {
      OperandsRecord record = {};
      record.kind = kOperands, record.correlation = event.correlation;
      record.start = time(event.start), record.requests = a.requests;
      record.device = device, record.stream = StreamId(a);
      record.count = std::min(a.operand_count - event.value, OperandsRecord::kMost);
      for (uint32_t i = 0; i < record.count; ++i) {
        const Operand& operand = a.operands[event.value + i];
        record.address[i] = operand.address, record.use[i] = static_cast<uint8_t>(operand.use);
      }
      return Put(record, to);
    }
    case kOverhead: {
      constexpr uint32_t kBufferFlush = 1u << 16;
      OverheadRecord record = {};
      record.kind = kOverhead, record.overhead_kind = kBufferFlush;
      record.object_kind = OverheadRecord::kOfThread;
      record.object[0] = static_cast<uint32_t>(getpid()), record.object[1] = event.thread;
      record.start = time(event.start), record.end = time(event.end);
      return Put(record, to);
    }
    case kEnvironment: {
      EnvironmentRecord record = {};
      record.kind = kEnvironment, record.device = device, record.timestamp = time(event.start);
      record.environment_kind = EnvironmentRecord::kSpeed, record.data[0] = event.value;
      return Put(record, to);
    }
    default:
      return;
  }
}

}  // namespace vramscope::emulated::cupti
