#include "cupti/consumer.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace vramscope::cupti {
namespace {

using trace::Activity;
using trace::ActivityKind;
using trace::MemorySpace;
using trace::StringId;

// How many API calls are remembered. The record of a kernel may arrive up to this many calls later.
constexpr size_t kMostCauses = size_t{1} << 17;
constexpr size_t kMostWaiting = size_t{1} << 16;
constexpr size_t kMostNames = size_t{1} << 20;
constexpr size_t kLongestName = 4096;

// The size of a record up to the end of a field. An older library may write records that are
// shorter than declared here.
#define VRAMSCOPE_UP_TO(RECORD, FIELD) (offsetof(RECORD, FIELD) + sizeof(RECORD::FIELD))

MemorySpace SpaceOf(uint32_t kind) {
  switch (kind) {
    case kPageable:
      return MemorySpace::kPageable;
    case kPinned:
      return MemorySpace::kPinned;
    case kDevice:
    case kArray:
    case kDeviceStatic:
      return MemorySpace::kDevice;
    case kManaged:
    case kManagedStatic:
      return MemorySpace::kManaged;
    default:
      return MemorySpace::kUnknown;
  }
}

uint8_t DeviceOf(uint32_t device) { return static_cast<uint8_t>(std::min<uint32_t>(device, 255)); }

// Demangles a name, for example to "void at::native::kernel<float>(int)". Returns a name that is
// not mangled unchanged.
std::string Demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string_view OverheadName(uint32_t kind) {
  constexpr uint32_t kCupti = 1u << 16;
  switch (kind) {
    case 1:
      return "driver compiler";
    case 1 * kCupti:
      return "CUPTI buffer flush";
    case 2 * kCupti:
      return "CUPTI instrumentation";
    case 3 * kCupti:
      return "CUPTI resource";
    case 4 * kCupti:
      return "module loading";
    case 5 * kCupti:
      return "lazy function loading";
    case 6 * kCupti:
      return "command buffer full";
    case 7 * kCupti:
      return "CUPTI buffer request";
    default:
      return "overhead";
  }
}

}  // namespace

Consumer::Consumer(ConsumerOptions options)
    : options_(std::move(options)),
      causes_(static_cast<Slot*>(std::calloc(kMostCauses, sizeof(Slot)))) {
  if (causes_ == nullptr) std::abort();  // like operator new without exceptions
  ids_.emplace("", StringId{0});
  for (const std::string& name : options_.first_names) Intern(name);
}

StringId Consumer::Intern(std::string_view text) {
  text = text.substr(0, kLongestName);
  const auto it = ids_.find(text);
  if (it != ids_.end()) return it->second;
  if (names_.size() == kMostNames) return {};
  const StringId id{static_cast<uint32_t>(names_.size())};
  names_.emplace_back(text);
  ids_.emplace(text, id);
  return id;
}

StringId Consumer::NameOfKernel(const char* mangled) {
  if (mangled == nullptr) return Intern("kernel");
  const auto it = kernels_.find(std::string_view(mangled));
  if (it != kernels_.end()) return it->second;
  const StringId id = Intern(Demangled(mangled));
  if (kernels_.size() < kMostNames) kernels_.emplace(mangled, id);
  return id;
}

StringId Consumer::NameOfCall(CallbackDomain domain, uint32_t callback) {
  const auto [it, added] = calls_.try_emplace(uint64_t{domain} << 32 | callback);
  if (!added) return it->second;
  std::string name = options_.name_of_call ? options_.name_of_call(domain, callback) : "";
  if (name.empty())
    name = (domain == kRuntimeDomain ? "runtime call " : "driver call ") + std::to_string(callback);
  // "cudaLaunchKernel_v7000": the suffix is the version that introduced this interface.
  const size_t version = name.rfind("_v");
  if (domain == kRuntimeDomain && version != std::string::npos && version + 3 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string::npos)
    name.resize(version);
  return it->second = Intern(name);
}

StringId Consumer::NameOfCode(uint64_t address) {
  if (address == 0 || !options_.name_of_code) return {};
  if (code_.size() >= kMostNames) code_.clear();
  const auto [it, added] = code_.try_emplace(address);
  if (added) it->second = Intern(options_.name_of_code(address));
  return it->second;
}

Consumer::Cause& Consumer::CauseOf(uint32_t correlation) {
  Slot& slot = causes_[correlation % kMostCauses];
  if (slot.correlation != correlation) slot = {.correlation = correlation, .cause = {}};
  return slot.cause;
}

const Consumer::Cause* Consumer::FindCause(uint32_t correlation) const {
  const Slot& slot = causes_[correlation % kMostCauses];
  return slot.correlation == correlation ? &slot.cause : nullptr;
}

// Returns false if the call that caused the activity is not known yet.
bool Consumer::Complete(Activity& activity) const {
  const bool host = activity.kind == ActivityKind::kSynchronization;
  if (activity.correlation == 0 || !(host || options_.wait_for_cause)) return true;
  const Cause* cause = FindCause(static_cast<uint32_t>(activity.correlation));
  if (cause == nullptr || !cause->called) return false;
  if (host) activity.thread = cause->thread;
  activity.op.value = static_cast<uint32_t>(cause->external >> 32);
  activity.module.value = static_cast<uint32_t>(cause->external);
  return true;
}

void Consumer::Emit(const Activity& activity, std::vector<Activity>& out) {
  Activity complete = activity;
  if (Complete(complete) || waiting_.size() >= kMostWaiting)
    out.push_back(complete);
  else
    waiting_.push_back(activity);
}

bool Consumer::Times(uint64_t start, uint64_t end, Activity& activity) {
  // Begin and end are both 0 if CUPTI could not measure them. A begin of 0 alone is valid: it is
  // the start of the virtual clock.
  if ((start == 0 && end == 0) || start > INT64_MAX || end > INT64_MAX) {
    ++counts_.untimed;
    return false;
  }
  if (end < start) {
    ++(end == 0 ? counts_.unfinished : counts_.reversed);
    end = start;
  }
  activity.begin_ns = static_cast<int64_t>(start) + options_.offset_ns;
  activity.end_ns = static_cast<int64_t>(end) + options_.offset_ns;
  return true;
}

template <typename CopyRecord>
void Consumer::EmitCopy(const CopyRecord& copy, Activity& activity, std::vector<Activity>& out) {
  if (!Times(copy.start, copy.end, activity)) return;
  activity.kind = ActivityKind::kMemcpy;
  activity.device = DeviceOf(copy.device);
  activity.stream = copy.stream;
  activity.bytes = copy.bytes;
  activity.from = SpaceOf(copy.from_kind);
  activity.to = SpaceOf(copy.to_kind);
  activity.correlation = copy.correlation;
  Emit(activity, out);
}

void Consumer::Record(const uint8_t* record, size_t room, std::vector<Activity>& out) {
  uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  // Copies the record, because it may be unaligned, and it may be shorter than declared here.
  const auto read = [&](auto& to, size_t needed) {
    if (room < needed) {
      ++counts_.cut;
      return false;
    }
    std::memcpy(&to, record, needed);
    return true;
  };
  ++counts_.records;
  Activity activity;
  switch (kind) {
    case kKernel:
    case kConcurrentKernel: {
      KernelRecord kernel = {};
      if (!read(kernel, VRAMSCOPE_UP_TO(KernelRecord, name)) ||
          !Times(kernel.start, kernel.end, activity))
        return;
      activity.name = NameOfKernel(kernel.name);
      activity.kind = trace::IsCollectiveName(names_[activity.name.value])
                          ? ActivityKind::kCollective
                          : ActivityKind::kKernel;
      activity.device = DeviceOf(kernel.device);
      activity.stream = kernel.stream;
      activity.correlation = kernel.correlation;
      return Emit(activity, out);
    }
    case kMemcpy: {
      MemcpyRecord copy = {};
      if (read(copy, VRAMSCOPE_UP_TO(MemcpyRecord, correlation))) EmitCopy(copy, activity, out);
      return;
    }
    case kMemcpy2: {
      MemcpyBetweenRecord copy = {};
      if (!read(copy, VRAMSCOPE_UP_TO(MemcpyBetweenRecord, correlation))) return;
      // Must satisfy trace::IsPeerCopyName.
      activity.name = Intern("Memcpy PtoP (Device -> Device)");
      EmitCopy(copy, activity, out);
      return;
    }
    case kMemset: {
      MemsetRecord fill = {};
      if (!read(fill, VRAMSCOPE_UP_TO(MemsetRecord, memory_kind)) ||
          !Times(fill.start, fill.end, activity))
        return;
      activity.kind = ActivityKind::kMemset;
      activity.device = DeviceOf(fill.device);
      activity.stream = fill.stream;
      activity.bytes = fill.bytes;
      activity.to = SpaceOf(fill.memory_kind);
      activity.correlation = fill.correlation;
      return Emit(activity, out);
    }
    case kRuntime:
    case kDriver: {
      ApiRecord call = {};
      if (!read(call, VRAMSCOPE_UP_TO(ApiRecord, result))) return;
      Cause& cause = CauseOf(call.correlation);
      cause.thread = call.thread;
      cause.called = true;
      if (!Times(call.start, call.end, activity)) return;
      activity.kind = kind == kRuntime ? ActivityKind::kRuntimeCall : ActivityKind::kDriverCall;
      activity.thread = call.thread;
      activity.name = NameOfCall(kind == kRuntime ? kRuntimeDomain : kDriverDomain, call.callback);
      activity.op.value = static_cast<uint32_t>(cause.external >> 32);
      activity.module.value = static_cast<uint32_t>(cause.external);
      activity.correlation = call.correlation;
      out.push_back(activity);
      return;
    }
    case kExternalCorrelation: {
      ExternalRecord external = {};
      if (read(external, VRAMSCOPE_UP_TO(ExternalRecord, correlation)))
        CauseOf(external.correlation).external = external.external;
      return;
    }
    case kSynchronization: {
      constexpr uint32_t kStreamWaitsForEvent = 2;  // the host does not wait
      SynchronizationRecord wait = {};
      if (!read(wait, VRAMSCOPE_UP_TO(SynchronizationRecord, stream)) ||
          wait.type == kStreamWaitsForEvent || !Times(wait.start, wait.end, activity))
        return;
      activity.kind = ActivityKind::kSynchronization;
      activity.stream = wait.stream;  // 0xffffffff: all streams, as in trace::kAllStreams
      activity.correlation = wait.correlation;
      return Emit(activity, out);
    }
    case kMemory2: {
      MemoryRecord memory = {};
      if (!read(memory, options_.call_sites ? VRAMSCOPE_UP_TO(MemoryRecord, name)
                                            : VRAMSCOPE_UP_TO(MemoryRecord, stream)) ||
          !Times(memory.timestamp, memory.timestamp, activity))
        return;
      if (memory.operation != MemoryRecord::kAllocation &&
          memory.operation != MemoryRecord::kRelease) {
        ++counts_.unknown;
        return;
      }
      activity.kind = memory.operation == MemoryRecord::kAllocation ? ActivityKind::kDriverAlloc
                                                                    : ActivityKind::kDriverFree;
      activity.device = DeviceOf(memory.device);
      activity.to = SpaceOf(memory.memory_kind);
      activity.name = options_.call_sites && memory.name != nullptr
                          ? Intern(memory.name)
                          : NameOfCode(memory.program_counter);
      activity.address = memory.address;
      activity.bytes = memory.bytes;
      activity.correlation = memory.correlation;
      out.push_back(activity);
      return;
    }
    case kOperands: {
      OperandsRecord operands = {};
      if (!read(operands, VRAMSCOPE_UP_TO(OperandsRecord, use)) ||
          !Times(operands.start, operands.start, activity))
        return;
      activity.kind = ActivityKind::kOperand;
      activity.device = DeviceOf(operands.device);
      activity.stream = operands.stream;
      activity.correlation = operands.correlation;
      activity.bytes = operands.requests;
      for (uint32_t i = 0; i < std::min(operands.count, OperandsRecord::kMost); ++i) {
        activity.address = operands.address[i];
        activity.from = operands.use[i] & 1 ? MemorySpace::kDevice : MemorySpace::kUnknown;
        activity.to = operands.use[i] & 2 ? MemorySpace::kDevice : MemorySpace::kUnknown;
        out.push_back(activity);
      }
      return;
    }
    case kOverhead: {
      OverheadRecord overhead = {};
      if (!read(overhead, VRAMSCOPE_UP_TO(OverheadRecord, end)) ||
          !Times(overhead.start, overhead.end, activity))
        return;
      activity.kind = ActivityKind::kOverhead;
      activity.name = Intern(OverheadName(overhead.overhead_kind));
      if (overhead.object_kind == OverheadRecord::kOfThread) activity.thread = overhead.object[1];
      out.push_back(activity);
      return;
    }
    case kEnvironment: {
      EnvironmentRecord environment = {};
      if (!read(environment, VRAMSCOPE_UP_TO(EnvironmentRecord, data)) ||
          !Times(environment.timestamp, environment.timestamp, activity))
        return;
      activity.kind = ActivityKind::kCounter;
      activity.device = DeviceOf(environment.device);
      const auto counter = [&](const char* name, uint32_t value) {
        activity.name = Intern(name);
        activity.bytes = value;
        out.push_back(activity);
      };
      if (environment.environment_kind == EnvironmentRecord::kSpeed) {
        counter("SM clock (MHz)", environment.data[0]);
        counter("memory clock (MHz)", environment.data[1]);
      } else if (environment.environment_kind == EnvironmentRecord::kTemperature) {
        counter("temperature (degrees Celsius)", environment.data[0]);
      } else if (environment.environment_kind == EnvironmentRecord::kPower) {
        counter("power (mW)", environment.data[0]);
      }
      return;
    }
    default:
      ++counts_.unknown;
  }
}

void Consumer::Consume(const uint8_t* buffer, size_t valid, std::vector<Activity>& out) {
  if (options_.next == nullptr || buffer == nullptr) return;
  // CUPTI's function takes a pointer to non-const, but does not write through it.
  auto* begin = const_cast<uint8_t*>(buffer);
  uint8_t* record = nullptr;
  const uint8_t* last = nullptr;
  while (options_.next(begin, valid, &record) == kSuccess) {
    if (record < buffer || record >= buffer + valid || (last != nullptr && record <= last) ||
        static_cast<size_t>(buffer + valid - record) < sizeof(uint32_t)) {
      ++counts_.cut;
      break;
    }
    last = record;
    Record(record, static_cast<size_t>(buffer + valid - record), out);
  }
  if (waiting_.empty()) return;
  const auto still = std::remove_if(waiting_.begin(), waiting_.end(), [&](Activity& activity) {
    const bool complete = Complete(activity);
    if (complete) out.push_back(activity);
    return complete;
  });
  waiting_.erase(still, waiting_.end());
}

void Consumer::Finish(std::vector<Activity>& out) {
  out.insert(out.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
}

}  // namespace vramscope::cupti
