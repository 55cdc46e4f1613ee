#include "emulated/core/work.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulated/core/durations.h"
#include "emulated/core/pacing.h"
#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

Place PlaceOf(const PointerFacts& facts) {
  switch (facts.kind) {
    case MemoryKind::kHost:
      return Place::kPinned;
    case MemoryKind::kDevice:
      return Place::kDevice;
    case MemoryKind::kManaged:
      return Place::kManaged;
    case MemoryKind::kUnregistered:
      break;
  }
  return facts.device >= 0 ? Place::kDevice : Place::kPageable;
}

// Returns the kernel name for a library's call, which is one modelled kernel. Names of NCCL's calls
// get the prefix of NCCL's kernels. The text is valid until the process ends, because a recorder
// may read it later.
const char* ModelledName(const char* call) {
  static auto* names = new std::unordered_map<std::string, std::string>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::string& text = (*names)[call];
  if (text.empty()) {
    text = call;
    if (text.starts_with("nccl")) text = "ncclDevKernel_" + text.substr(4);
    text += " (modelled)";
  }
  return text.c_str();
}

}  // namespace

void Keep(std::vector<Operand> operands, int device, Node* work) {
  const CountRequests requests = OperandsEnabled();
  if (requests == nullptr) {
    return;
  }
  const Memory& memory = ThePlatform().memory;
  std::erase_if(operands, [&](const Operand& operand) {
    return memory.DeviceOf(reinterpret_cast<void*>(operand.address)) < 0;
  });
  std::sort(operands.begin(), operands.end(),
            [](const Operand& a, const Operand& b) { return a.address < b.address; });
  for (const Operand& operand : operands) {
    if (work->operands.empty() || work->operands.back().address != operand.address) {
      work->operands.push_back(operand);
      continue;
    }
    Use& use = work->operands.back().use;
    use = static_cast<Use>(static_cast<uint8_t>(use) | static_cast<uint8_t>(operand.use));
  }
  work->activity.requests = requests(device);
}

Result Do(const StreamFacts& stream, void* handle, Node work, bool synchronous, Interval* done) {
  Platform& platform = ThePlatform();
  const NodeKind kind = work.kind;
  const std::function<void()> effect = work.effect;
  Activity activity = work.activity;
  const std::vector<Operand> operands = work.operands;
  activity.operands = operands.data();
  activity.operand_count = static_cast<uint32_t>(operands.size());
  Interval when;
  bool captured = false;
  // Uses the shared clock, which this thread moves from now on. A thread that only queried so far
  // may have a time of its own that is ahead of the shared clock.
  activity.call_begin_ns = platform.clock.Submit(0);
  const Result result = platform.streams.Enqueue(handle, std::move(work), &when, &captured);
  if (result != Result::kSuccess || captured) {
    return result;
  }
  effect();
  if (done != nullptr) {
    *done = when;
  }
  if (Recorder* recorder = TheRecorder(); recorder != nullptr && kind <= NodeKind::kFill) {
    activity.device = stream.device;
    activity.stream = stream.id;
    activity.waits = synchronous;
    activity.start_ns = when.start_ns;
    activity.end_ns = when.end_ns;
    activity.call_end_ns =
        synchronous ? std::max(platform.clock.now(), when.end_ns) : platform.clock.now();
    recorder->OnWork(activity);
  }
  return Result::kSuccess;
}

Result Submit(const LibraryWork& work) {
  Platform& platform = ThePlatform();
  StreamFacts stream;
  if (const Result result = platform.streams.FactsOf(work.stream, &stream);
      result != Result::kSuccess) {
    return result;
  }
  platform.launches.fetch_add(1, std::memory_order_relaxed);
  platform.recognised.fetch_add(1, std::memory_order_relaxed);
  const int64_t duration = work.duration_ns >= 0
                               ? work.duration_ns
                               : ProductDuration(platform.gpus[stream.device], work.product,
                                                 work.flops, work.precision, work.bytes);
  Node node{.kind = NodeKind::kKernel,
            .duration_ns = duration,
            .activity = {.kind = ActivityKind::kKernel,
                         .name = TheRecorder() != nullptr ? ModelledName(work.name) : "",
                         .bytes = work.bytes},
            .effect = [written = std::vector(work.writes.begin(), work.writes.end())] {
              for (const Written& range : written) {
                ThePlatform().host_bytes.Overwritten(reinterpret_cast<uint64_t>(range.address),
                                                     range.bytes);
              }
            }};
  if (OperandsEnabled() != nullptr) {
    std::vector<Operand> operands;
    for (const void* read : work.reads) {
      operands.push_back({reinterpret_cast<uint64_t>(read), Use::kRead});
    }
    for (const Written& range : work.writes) {
      operands.push_back({reinterpret_cast<uint64_t>(range.address), Use::kWritten});
    }
    Keep(std::move(operands), stream.device, &node);
  }
  Interval when;
  const Result result = Do(stream, work.stream, std::move(node), false, &when);
  if (work.polled && when.end_ns > 0) {
    ExpectProgress(when.end_ns);
  }
  return result;
}

void CopyBytes(void* to, const void* from, uint64_t bytes) {
  if (bytes == 0 || to == from) {
    return;
  }
  Platform& platform = ThePlatform();
  const bool to_device = platform.memory.DeviceOf(to) >= 0;
  const bool from_device = platform.memory.DeviceOf(from) >= 0;
  const uint64_t target = reinterpret_cast<uint64_t>(to);
  const uint64_t source = reinterpret_cast<uint64_t>(from);
  // A large range of unknown bytes is not copied, because the copied bytes would be unknown, too.
  constexpr uint64_t kLarge = uint64_t{64} << 10;
  if (to_device && from_device) {
    platform.host_bytes.Move(target, source, bytes);
  } else if (to_device) {
    if (bytes >= kLarge && platform.memory.IsUntouched(from, bytes)) {
      platform.host_bytes.Overwritten(target, bytes);
    } else {
      platform.host_bytes.Write(target, from, bytes);
    }
  } else if (from_device) {
    const bool cleared = bytes >= kLarge && !platform.host_bytes.IsKnown(source, bytes) &&
                         platform.memory.ClearHost(to, bytes);
    if (!cleared) {
      platform.host_bytes.Read(to, source, bytes);
    }
  } else {
    std::memmove(to, from, bytes);
  }
}

namespace {

Result CopyWith(void* to, const void* from, uint64_t bytes, void* stream, bool synchronous,
                std::function<void()> effect) {
  Platform& platform = ThePlatform();
  StreamFacts facts;
  if (const Result result = platform.streams.FactsOf(stream, &facts); result != Result::kSuccess) {
    return result;
  }
  if (bytes == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || from == nullptr) {
    return Result::kInvalidValue;
  }
  const Place target = PlaceOf(platform.memory.Find(to));
  const Place source = PlaceOf(platform.memory.Find(from));
  const CopyPath path = target == Place::kPageable || source == Place::kPageable
                            ? CopyPath::kPageable
                        : target == Place::kDevice && source == Place::kDevice ? CopyPath::kOnGpu
                                                                               : CopyPath::kPinned;
  // Pageable host memory is staged, so a copy to it returns only when it is done.
  const bool waits = synchronous || target == Place::kPageable;
  Node node{.kind = NodeKind::kCopy,
            .duration_ns = CopyDuration(platform.gpus[facts.device], bytes, path),
            .activity = {.kind = ActivityKind::kCopy,
                         .bytes = bytes,
                         .from = source,
                         .to = target,
                         .call = Call::kMemcpyAsync},
            .effect = std::move(effect)};
  if (OperandsEnabled() != nullptr) {
    Keep({{reinterpret_cast<uint64_t>(from), Use::kRead},
          {reinterpret_cast<uint64_t>(to), Use::kWritten}},
         facts.device, &node);
  }
  const Result result = Do(facts, stream, std::move(node), waits);
  return result == Result::kSuccess && waits ? platform.streams.Synchronize(stream) : result;
}

}  // namespace

Result Copy(void* to, const void* from, uint64_t bytes, void* stream, bool synchronous) {
  return CopyWith(to, from, bytes, stream, synchronous, [=] { CopyBytes(to, from, bytes); });
}

Result CopyRows(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch, uint64_t width,
                uint64_t rows, void* stream, bool synchronous) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  if (width == 0 || rows == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || from == nullptr || width > to_pitch || width > from_pitch ||
      rows > kMost / std::max(to_pitch, from_pitch)) {
    return Result::kInvalidValue;
  }
  return CopyWith(to, from, width * rows, stream, synchronous, [=] {
    if (to_pitch == width && from_pitch == width) {
      CopyBytes(to, from, width * rows);
      return;
    }
    for (uint64_t row = 0; row < rows; ++row) {
      CopyBytes(static_cast<char*>(to) + row * to_pitch,
                static_cast<const char*>(from) + row * from_pitch, width);
    }
  });
}

Result Fill(void* to, const void* pattern, uint64_t pattern_bytes, uint64_t count, void* stream,
            bool synchronous) {
  Platform& platform = ThePlatform();
  StreamFacts facts;
  if (const Result result = platform.streams.FactsOf(stream, &facts); result != Result::kSuccess) {
    return result;
  }
  if (count == 0) {
    return Result::kSuccess;
  }
  if (to == nullptr || pattern_bytes == 0 || pattern_bytes > 8 ||
      count > (uint64_t{1} << 48) / pattern_bytes) {
    return Result::kInvalidValue;
  }
  const uint64_t bytes = count * pattern_bytes;
  const Place target = PlaceOf(platform.memory.Find(to));
  uint64_t value = 0;
  std::memcpy(&value, pattern, pattern_bytes);
  Node node{.kind = NodeKind::kFill,
            .duration_ns = FillDuration(platform.gpus[facts.device], bytes),
            .activity = {.kind = ActivityKind::kFill,
                         .bytes = bytes,
                         .to = target,
                         .call = Call::kMemsetAsync},
            .effect = [=] {
              if (target == Place::kDevice) {
                ThePlatform().host_bytes.Fill(reinterpret_cast<uint64_t>(to), &value, pattern_bytes,
                                              count);
                return;
              }
              for (uint64_t i = 0; i < count; ++i) {
                std::memcpy(static_cast<char*>(to) + i * pattern_bytes, &value, pattern_bytes);
              }
            }};
  if (OperandsEnabled() != nullptr) {
    Keep({{reinterpret_cast<uint64_t>(to), Use::kWritten}}, facts.device, &node);
  }
  const Result result = Do(facts, stream, std::move(node), synchronous);
  if (result != Result::kSuccess || !synchronous) {
    return result;
  }
  return platform.streams.Synchronize(stream);
}

Result CallHost(void* stream, void (*function)(void*), void* argument) {
  StreamFacts facts;
  if (const Result result = ThePlatform().streams.FactsOf(stream, &facts);
      result != Result::kSuccess) {
    return result;
  }
  if (function == nullptr) {
    return Result::kInvalidValue;
  }
  return Do(facts, stream, {.kind = NodeKind::kHost, .effect = [=] { function(argument); }});
}

}  // namespace vramscope::emulated
