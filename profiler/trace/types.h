// The basic types of a trace: kinds of events, categories, phases, and ids of a distinct type for
// each table. The enumerators' values are part of the file format (proto/FORMAT.md): add new ones
// at the end, never renumber.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace vramscope::trace {

enum class Backend : uint8_t { kPlan = 0, kCpu = 1, kCuda = 2, kImported = 3 };

enum class EventKind : uint8_t {
  kAlloc = 1,          // id: allocation; bytes, bytes_rounded, address, stream, pool; category: its
                       // first category; name: innermost op; module; detail: the rule that inferred
                       // the category, or 0 if the producer set it
  kFreeRequested = 2,  // id: allocation
  kFreeCompleted = 3,  // id: allocation
  kRetag = 4,          // id: allocation; category: the new one; name: reason; detail: as for kAlloc
  kSegmentAlloc = 5,   // id: segment; bytes, address, stream, pool, mempool; detail: 1 if the
                       // segment is expandable (`bytes` is then the size of an address range, to
                       // which kSegmentMap maps memory)
  kSegmentFree = 6,    // id: segment
  kSegmentMap = 7,     // id: an expandable segment; address, bytes, stream, pool
  kSegmentUnmap = 8,   // fields as for kSegmentMap
  kOutOfMemory = 9,    // bytes: requested; bytes_rounded: free on the device
  kPhaseBegin = 10,    // detail: Phase; id: the rule that inferred the phase, or 0 if the producer
                       // set it
  kPhaseEnd = 11,
  kStepBegin = 12,  // id: step, from 0; detail: the rule that inferred the step, or 0 if the
                    // producer set it
  kStepEnd = 13,
  kMicroBatchBegin = 14,  // id: micro-batch within its step, from 0
  kMicroBatchEnd = 15,
  kModuleBegin = 16,  // name: full path, "model.layers.3.mlp"; thread
  kModuleEnd = 17,
  kOpBegin = 18,  // name: "aten::mm" or "MmBackward0"; module; thread
  kOpEnd = 19,
  // The values 20-24 were kernels, copies and driver allocations before version 4. They are
  // activities (activities.h) now.
  kDeviceUsage = 25,      // bytes: used on the device; bytes_rounded: total of the device
  kMarker = 26,           // name; see kMarker* below
  kAnnotationBegin = 27,  // name: a range that the program named; thread
  kAnnotationEnd = 28,
};

// Names of the markers that delimit the training. The summary of a run reads these markers.
inline constexpr std::string_view kMarkerTrainingBegin = "training_begin";
inline constexpr std::string_view kMarkerTrainingEnd = "training_end";
// In an imported recording: the events before this marker restate the segments and blocks that
// existed when the recording began.
inline constexpr std::string_view kMarkerRecordingBegin = "recording_begin";

// Categories of memory, in PyTorch's terms.
enum class Category : uint8_t {
  kUnknown = 0,
  kParameter = 1,
  kBuffer = 2,
  kGradient = 3,
  kOptimizerState = 4,
  kActivation = 5,
  kInput = 6,
  kTemporary = 7,
  kAutogradDetail = 8,
  kWorkspace = 9,
  kCommunication = 10,
  kKvCache = 11,  // keys and values that are kept from token to token
};
inline constexpr int kCategoryCount = 12;

enum class Phase : uint8_t {
  kNone = 0,
  kSetup = 1,
  kData = 2,
  kForward = 3,
  kLoss = 4,
  kBackward = 5,
  kOptimizer = 6,
  kZeroGrad = 7,
  kEval = 8,
  kGeneration = 9,
  kSave = 10,  // a checkpoint is written
  kLoad = 11,  // a checkpoint is read
};
inline constexpr int kPhaseCount = 12;

enum class Pool : uint8_t { kSmall = 0, kLarge = 1 };

enum class SliceKind : uint8_t {
  kStep = 0,
  kMicroBatch = 1,
  kPhase = 2,
  kModule = 3,
  kOp = 4,
  kAnnotation = 5,
};

std::string_view Name(Backend);    // "plan"
std::string_view Name(EventKind);  // "alloc"
std::string_view Name(Category);   // "Optimizer state"
std::string_view Name(Phase);      // "forward"
std::string_view Name(SliceKind);

// A row number of one table. Because of the tag, using the id of one table with another table is a
// compile error.
template <class Tag>
struct Id {
  static constexpr uint32_t kNoneValue = std::numeric_limits<uint32_t>::max();
  uint32_t value = kNoneValue;
  constexpr bool valid() const { return value != kNoneValue; }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
};
using AllocationId = Id<struct AllocationTag>;
using SegmentId = Id<struct SegmentTag>;
using SliceId = Id<struct SliceTag>;
using EventIndex = uint32_t;
inline constexpr EventIndex kNoEvent = std::numeric_limits<EventIndex>::max();

// Interned string; 0 is the empty string.
struct StringId {
  uint32_t value = 0;
  friend constexpr bool operator==(StringId, StringId) = default;
  friend constexpr auto operator<=>(StringId, StringId) = default;
};

// Interned call stack; 0: none.
struct StackId {
  uint32_t value = 0;
  friend constexpr bool operator==(StackId, StackId) = default;
  friend constexpr auto operator<=>(StackId, StackId) = default;
};

// One event. EventKind above lists the fields that each kind uses; the others are zero. Allocation
// and segment ids count from 0 in order of their Alloc / SegmentAlloc events.
struct Event {
  EventKind kind = EventKind::kMarker;
  Category category = Category::kUnknown;
  Pool pool = Pool::kSmall;
  uint8_t detail = 0;
  uint8_t device = 0;
  uint32_t stream = 0;
  uint32_t thread = 0;
  StringId name;
  StringId module;
  StackId stack;  // call stack of an allocator event
  // Two strings that PyTorch records with an allocator event: the user metadata set through
  // torch.cuda.memory, and the compiled region ("0/0") that allocated. Only in recordings.
  StringId user_metadata;
  StringId compile_context;
  // Private pool of a segment; 0: none. PyTorch's id of a pool has two parts, which are stored as
  // first << 16 | second.
  uint32_t mempool = 0;
  uint64_t id = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;          // of an allocation: the requested size
  uint64_t bytes_rounded = 0;  // of an allocation: the size of its block
  int64_t time_ns = 0;
  uint64_t duration_ns = 0;  // of a kernel or copy in a file before version 4 (assembler.h)
};

}  // namespace vramscope::trace
