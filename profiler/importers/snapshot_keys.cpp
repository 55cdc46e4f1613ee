#include "profiler/importers/snapshot_keys.h"

#include <cctype>
#include <string>
#include <utility>

namespace vramscope::importers {
namespace {

constexpr std::pair<std::string_view, Key> kKeys[] = {
    {"action", Key::kAction},
    {"addr", Key::kAddr},
    {"size", Key::kSize},
    {"stream", Key::kStream},
    {"time_us", Key::kTimeUs},
    {"frames", Key::kFrames},
    {"device_free", Key::kDeviceFree},
    {"category", Key::kCategory},
    {"compile_context", Key::kCompileContext},
    {"user_metadata", Key::kUserMetadata},
    {"name", Key::kName},
    {"filename", Key::kFilename},
    {"line", Key::kLine},
    {"stage", Key::kStage},
    {"device", Key::kDevice},
    {"address", Key::kAddress},
    {"total_size", Key::kTotalSize},
    {"segment_type", Key::kSegmentType},
    {"segment_pool_id", Key::kSegmentPoolId},
    {"is_expandable", Key::kIsExpandable},
    {"blocks", Key::kBlocks},
    {"requested_size", Key::kRequestedSize},
    {"state", Key::kState},
    {"history", Key::kHistory},
    {"real_size", Key::kRealSize},
    {"segments", Key::kSegments},
    {"device_traces", Key::kDeviceTraces},
    {"allocator_settings", Key::kAllocatorSettings},
    {"external_annotations", Key::kExternalAnnotations},
    {"host_segments", Key::kHostSegments},
    {"host_traces", Key::kHostTraces},
    {"categories", Key::kCategories},
    {"vramscope", Key::kVramscope},
    {"inferred", Key::kInferred},
    {"PYTORCH_CUDA_ALLOC_CONF", Key::kAllocConf},
    {"PYTORCH_ALLOC_CONF", Key::kAllocConf},
    {"max_split_size", Key::kMaxSplitSize},
    {"garbage_collection_threshold", Key::kGarbageCollectionThreshold},
    {"expandable_segments", Key::kExpandableSegments},
    {"roundup_power2_divisions", Key::kRoundupPower2Divisions},
    {"trace_alloc_max_entries", Key::kTraceAllocMaxEntries},
    {"trace_alloc_overflowed", Key::kTraceAllocOverflowed},
};

using recording::Action;
constexpr std::pair<std::string_view, Action> kActions[] = {
    {"alloc", Action::kAlloc},
    {"free_requested", Action::kFreeRequested},
    {"free_completed", Action::kFreeCompleted},
    {"free", Action::kFreeCompleted},  // in very old files
    {"segment_alloc", Action::kSegmentAlloc},
    {"segment_free", Action::kSegmentFree},
    {"segment_map", Action::kSegmentMap},
    {"segment_unmap", Action::kSegmentUnmap},
    {"snapshot", Action::kSnapshot},
    {"annotate", Action::kAnnotate},
    {"oom", Action::kOutOfMemory},
};

}  // namespace

Key KeyOf(std::string_view text) {
  for (const auto& [name, key] : kKeys)
    if (name == text) return key;
  return Key::kNone;
}

Action ActionOf(std::string_view text) {
  for (const auto& [name, action] : kActions)
    if (name == text) return action;
  return Action::kOther;
}

recording::BlockUse UseOf(std::string_view state) {
  if (state == "active_allocated") return recording::BlockUse::kAllocated;
  if (state.starts_with("active_")) return recording::BlockUse::kPendingFree;
  return recording::BlockUse::kInactive;
}

trace::Category CategoryOf(std::string_view name) {
  using trace::Category;
  std::string plain;
  for (const char c : name)
    plain += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  for (int i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    std::string ours(trace::Name(category));
    for (char& c : ours) c = static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
    if (plain == ours || plain == ours + "s") return category;
  }
  if (plain == "autograd") return Category::kAutogradDetail;
  if (plain == "weight" || plain == "weights") return Category::kParameter;
  return Category::kUnknown;
}

}  // namespace vramscope::importers
