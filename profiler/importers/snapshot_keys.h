// The words of a snapshot: keys of its dicts, actions, states. Internal.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/recording/recording.h"

namespace vramscope::importers {

enum class Key : uint8_t {
  kNone,  // an unknown key
  // Entries.
  kAction,
  kAddr,
  kSize,  // key of blocks, too
  kStream,
  kTimeUs,
  kFrames,
  kDeviceFree,
  kCategory,
  kCompileContext,
  kUserMetadata,
  // Frames.
  kName,
  kFilename,
  kLine,
  // Annotations.
  kStage,
  kDevice,
  // Segments.
  kAddress,
  kTotalSize,
  kSegmentType,
  kSegmentPoolId,
  kIsExpandable,
  kBlocks,
  // Keys of blocks. Only old files use `history`, `real_size` and `addr`.
  kRequestedSize,
  kState,
  kHistory,
  kRealSize,
  // The outermost dict.
  kSegments,
  kDeviceTraces,
  kAllocatorSettings,
  kExternalAnnotations,
  kHostSegments,
  kHostTraces,
  kCategories,
  kVramscope,
  kInferred,
  // Settings.
  kAllocConf,
  kMaxSplitSize,
  kGarbageCollectionThreshold,
  kExpandableSegments,
  kRoundupPower2Divisions,
  kTraceAllocMaxEntries,
  kTraceAllocOverflowed,
};
static_assert(static_cast<int>(Key::kTraceAllocOverflowed) < 64);  // keys are used in bit masks

constexpr uint64_t Bit(Key key) { return uint64_t{1} << static_cast<int>(key); }
constexpr uint64_t Bits(auto... keys) { return (Bit(keys) | ...); }

Key KeyOf(std::string_view text);
recording::Action ActionOf(std::string_view text);
recording::BlockUse UseOf(std::string_view state);
// Returns the category that a name in `categories` means. (Any tool may write this extension.)
trace::Category CategoryOf(std::string_view name);

}  // namespace vramscope::importers
