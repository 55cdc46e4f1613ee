#include "profiler/trace/keyframe.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/varint.h"

namespace vramscope::trace {
namespace {

void PutIds(std::string& out, const std::vector<uint64_t>& ids) {
  uint64_t before = 0;
  for (const uint64_t id : ids) PutVarint(out, id - std::exchange(before, id));
}

// Reads ids in the order of the file. Each is stored as the difference from the id before.
class Ids {
 public:
  explicit Ids(std::string_view bytes)
      : at_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(at_ + bytes.size()) {}
  bool Next() {
    uint64_t more = 0;
    if (!GetVarint(at_, end_, more)) return false;
    last_ += more;
    return true;
  }
  uint64_t last() const { return last_; }
  bool at_end() const { return at_ == end_; }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
  uint64_t last_ = 0;
};

}  // namespace

std::string EncodeKeyframe(const LiveState& live, uint64_t event, uint32_t next_string) {
  std::vector<Event> events = live.Memory();
  const std::vector<Event> open = live.open();
  events.insert(events.end(), open.begin(), open.end());
  if (events.size() > kMaxBatchEvents) return "";
  std::vector<uint64_t> blocks, segments;
  for (Event& e : events) {
    e.time_ns = 0;
    // A block's or segment's other events directly follow its Alloc or SegmentAlloc.
    if (e.kind == EventKind::kAlloc) blocks.push_back(e.id);
    if (e.kind == EventKind::kSegmentAlloc) segments.push_back(e.id);
    if (e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeRequested)
      e.id = blocks.size() - 1;
    else if (e.kind == EventKind::kSegmentAlloc || e.kind == EventKind::kSegmentMap)
      e.id = segments.size() - 1;
  }
  KeyframeMessage message;
  message.event = event;
  message.next_block = live.next_block();
  message.next_segment = live.next_segment();
  PutIds(message.blocks, blocks);
  PutIds(message.segments, segments);
  if (!events.empty()) message.batch = EncodeBatch(events, {});
  return EncodeStrings(next_string, {}, &message);
}

absl::StatusOr<Keyframe> DecodeKeyframe(std::string_view payload) {
  absl::StatusOr<KeyframeMessage> message = DecodeKeyframeMessage(payload);
  if (!message.ok()) return message.status();
  Keyframe out;
  out.event = message->event;
  out.next_block = message->next_block;
  out.next_segment = message->next_segment;
  Ids blocks(message->blocks), segments(message->segments);
  if (!message->batch.empty()) {
    BatchDecoder decoder;
    if (absl::Status s = decoder.Open(message->batch); !s.ok()) return s;
    if (decoder.count() > kMaxBatchEvents)
      return absl::DataLossError(i18n::Text("a keyframe is too large"));
    out.events.resize(decoder.count());
    out.events.resize(decoder.Read(out.events));
    if (!decoder.status().ok()) return decoder.status();
  }
  for (Event& e : out.events) {
    if (e.kind == EventKind::kAlloc || e.kind == EventKind::kFreeRequested) {
      if (e.kind == EventKind::kAlloc && !blocks.Next())
        return absl::DataLossError(i18n::Text("a keyframe has fewer ids than blocks"));
      e.id = blocks.last();
    } else if (e.kind == EventKind::kSegmentAlloc || e.kind == EventKind::kSegmentMap) {
      if (e.kind == EventKind::kSegmentAlloc && !segments.Next())
        return absl::DataLossError(i18n::Text("a keyframe has fewer ids than segments"));
      e.id = segments.last();
    }
  }
  if (!blocks.at_end() || !segments.at_end())
    return absl::DataLossError(i18n::Text("a keyframe has more ids than blocks and segments"));
  return out;
}

absl::Status Keyframe::Restore(LiveState& live) const {
  for (const Event& e : events) {
    absl::Status status;
    if (e.kind == EventKind::kAlloc)
      status = live.SkipTo(e.id, live.next_segment());
    else if (e.kind == EventKind::kSegmentAlloc)
      status = live.SkipTo(live.next_block(), e.id);
    if (status.ok()) status = live.Advance(e);
    if (!status.ok()) return status;
  }
  return live.SkipTo(next_block, next_segment);
}

}  // namespace vramscope::trace
