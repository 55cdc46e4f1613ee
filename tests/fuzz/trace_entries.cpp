#include "tests/fuzz/trace_entries.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/query/operand_links.h"
#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/crc32c.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/input.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/live_state.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input_folder.h"

namespace vramscope::fuzz {

using namespace trace;

void CheckTrace(const trace::Trace& t) {
  const uint32_t n = t.events.size();
  for (uint32_t i = 1; i < n; ++i)
    Check(t.events.time_ns[i - 1] <= t.events.time_ns[i], "time goes backwards");
  for (uint32_t i = 0; i < n; ++i)
    Check(t.events.name[i].value < t.strings.size() &&
              t.events.UserMetadataOf(i).value < t.strings.size() &&
              t.events.CompileContextOf(i).value < t.strings.size(),
          "string");
  for (const PackedColumn<StringId>* column : {&t.events.user_metadata, &t.events.compile_context})
    Check(column->empty() || column->size() == n, "column of strings");
  const AllocationTable& a = t.allocations;
  for (uint32_t i = 0; i < a.size(); ++i) {
    Check(a.alloc_event[i] < n, "alloc event");
    Check(a.free_event[i] == kNoEvent || a.free_event[i] < n, "free event");
    Check(a.end_ns[i] >= a.begin_ns[i], "an allocation ends before it begins");
    Check(!a.segment[i].valid() || a.segment[i].value < t.segments.size(), "segment");
  }
  for (uint32_t i = 0; i < t.slices.size(); ++i)
    Check(t.slices.end_ns[i] >= t.slices.begin_ns[i], "a slice ends before it begins");
  for (uint32_t i = 0; i < t.activities.size(); ++i) {
    const Activity activity = t.activities.Row(i);
    Check(CheckActivity(activity, t.strings.size()).ok(), "an activity that is none");
    Check(i == 0 || t.activities.begin_ns[i - 1] <= activity.begin_ns, "activities out of order");
  }
  for (uint32_t i = 0; i < t.operands.size(); ++i) {
    const Activity operand = t.operands.Row(i);
    Check(CheckActivity(operand, t.strings.size()).ok(), "an operand that is none");
    Check(operand.kind == ActivityKind::kOperand, "an operand of another kind");
    Check(i == 0 || t.operands.begin_ns[i - 1] <= operand.begin_ns, "operands out of order");
  }
  const query::OperandLinks links(t);
  for (uint32_t i = 0; i < std::min(t.activities.size(), 100u); ++i) {
    Check(t.activities.kind[i] != ActivityKind::kOperand, "an operand among the activities");
    for (const auto& block : links.BlocksOf(i, 10))
      Check(block.allocation.value < a.size(), "an operand in no block");
  }
  for (uint32_t i = 0; i < std::min(a.size(), 100u); ++i)
    for (const uint32_t row : links.TouchedBy({i}, 10))
      Check(row < t.activities.size(), "work that is none");
  const StackTable& s = t.stacks;
  for (uint32_t i = 0; i < s.frame_count(); ++i)
    Check(s.function[i].value < t.strings.size() && s.file[i].value < t.strings.size(),
          "string of a frame");
  Check(s.file.size() == s.frame_count() && s.line.size() == s.frame_count() &&
            s.first.back() == s.frames.size() && std::is_sorted(s.first.begin(), s.first.end()),
        "stacks");
  for (const uint32_t frame : s.frames) Check(frame < s.frame_count(), "frame of a stack");
  Check(t.events.stack.empty() || t.events.stack.size() == n, "column of stacks");
  for (uint32_t i = 0; i < n; ++i) Check(t.events.StackOf(i).value < s.size(), "stack");
  for (uint32_t row = 0; row < t.other_events.size(); ++row) {
    const EventIndex i = t.other_events.event[row];
    if (t.events.kind[i] != EventKind::kSegmentMap && t.events.kind[i] != EventKind::kSegmentUnmap)
      continue;
    const uint64_t id = t.events.id[i];
    Check(id < t.segments.size() && t.segments.expandable[id], "segment of a map");
    const uint64_t from = t.other_events.address[row] - t.segments.address[id];
    Check(from <= t.segments.bytes[id] && t.events.bytes[i] <= t.segments.bytes[id] - from,
          "a map outside of its segment");
  }
}

std::string WithRightChecksums(std::string bytes) {
  const auto number = [&](size_t at) {
    uint32_t v = 0;
    for (size_t i = 0; i < 4; ++i) v |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
    return v;
  };
  size_t at = 0;
  while (bytes.size() - at >= kEnvelopeBytes && bytes.compare(at, 4, kFrameMagic) == 0) {
    const size_t stored = number(at + 8);
    if (stored > bytes.size() - at - kEnvelopeBytes) break;
    const std::string_view view(bytes);
    const uint32_t crc =
        Crc32c(view.substr(at + kEnvelopeBytes, stored), Crc32c(view.substr(at + 4, 12)));
    for (size_t i = 0; i < 4; ++i) bytes[at + 16 + i] = static_cast<char>(crc >> (8 * i));
    at += kEnvelopeBytes + stored;
  }
  return bytes;
}

namespace {

void Assemble(std::string_view bytes) {
  FrameDecoder decoder;
  TraceAssembler assembler;
  decoder.Append(bytes);
  // The fuzzer stays fast because only 64 frames and 64 MiB are read.
  size_t total = 0;
  for (int i = 0; i < 64 && total < kMaxPayload; ++i) {
    const auto frame = decoder.Next();
    if (!frame.ok() || !frame->has_value()) break;
    total += (*frame)->payload.size();
    if (!assembler.Add(**frame).ok()) break;
  }
  CheckTrace(*assembler.Snapshot());
  CheckTrace(*assembler.Finish("cut"));
}

}  // namespace

void Trace(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)LooksLike(bytes);
  Assemble(bytes);
  const std::string repaired = WithRightChecksums(bytes);
  if (repaired != bytes) Assemble(repaired);
}

void Batch(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)DecodeHeader(bytes);
  (void)DecodeStrings(bytes);
  (void)DecodeFooter(bytes);
  (void)DecodeEnd(bytes);
  if (const auto keyframe = DecodeKeyframe(bytes); keyframe.ok()) {
    LiveState live;
    if (keyframe->Restore(live).ok()) {
      const std::string again = EncodeKeyframe(live, keyframe->event, 1);
      const auto back = DecodeKeyframe(again);
      LiveState second;
      Check(back.ok() && back->Restore(second).ok(), "a keyframe that was written does not read");
      // Mapped pages outside all segments are not written, so less memory may be reserved.
      Check(second.allocated() == live.allocated() && second.reserved() <= live.reserved() &&
                second.size() == live.size(),
            "a keyframe changed on the way");
    }
  }
  BatchDecoder decoder;
  if (!decoder.Open(bytes).ok()) return;
  std::vector<Event> events(decoder.count());
  const size_t n = decoder.Read(events);
  TraceBuilder builder;
  (void)builder.AddEvents(std::span(events).first(n));
  CheckTrace(*builder.Finish(true, ""));
  if (!decoder.status().ok() || n == 0) return;
  for (Event& e : events) {
    if (!IsKnown(e.kind)) return;
    e = Normalized(e);
  }
  const std::string again = EncodeBatch(events, decoder.start());
  BatchDecoder second;
  Check(second.Open(again).ok(), "a batch that was written does not open");
  std::vector<Event> back(events.size());
  Check(second.Read(back) == events.size(), "a batch that was written does not read");
  const auto fields = [](const Event& e) {
    return std::tie(e.kind, e.category, e.pool, e.detail, e.device, e.stream, e.thread, e.name,
                    e.module, e.stack, e.mempool, e.user_metadata, e.compile_context, e.id,
                    e.address, e.bytes, e.bytes_rounded, e.time_ns, e.duration_ns);
  };
  for (size_t i = 0; i < n; ++i)
    Check(fields(events[i]) == fields(back[i]), "an event changed on the way");
}

void Activities(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<Activity> activities, back;
  if (!DecodeActivities(bytes, activities).ok()) return;
  TraceBuilder builder;
  (void)builder.AddActivities(activities);
  CheckTrace(*builder.Finish(true, ""));
  SortByBegin(activities);
  Check(DecodeActivities(EncodeActivities(activities), back).ok(), "a batch that was written");
  Check(activities == back, "an activity changed on the way");
}

void TraceOutline(const uint8_t* data, size_t size) {
  const std::string path = TheFolder().Write(
      "run.trace", WithRightChecksums({reinterpret_cast<const char*>(data), size}));
  const auto outline = ReadOutline(path);
  Check(outline.ok() || !outline.status().message().empty(), "an error without a message");
  if (!outline.ok()) return;
  const int64_t begin = outline->begin_ns(), length = outline->end_ns() - begin;
  Check(length >= 0 && begin < INT64_MAX, "an outline that ends before it begins");
  uint64_t events = 0, activities = 0;
  for (const Outline::Batch& batch : outline->batches) {
    Check(begin <= batch.begin_ns && batch.begin_ns <= batch.end_ns &&
              batch.end_ns - begin <= length && batch.peak_allocated <= outline->peak_allocated(),
          "a batch outside of its outline");
    events += batch.events;
  }
  for (const Outline::Activities& batch : outline->activity_batches) activities += batch.count;
  Check(events == outline->events && activities == outline->activities, "counts");
  for (const Outline::Slice& slice : outline->steps_and_phases)
    Check(slice.count > 0 && slice.end_ns - slice.begin_ns >= 0, "a slice that is none");
  // The index may contradict the data. Even then, reading a part must give a valid trace, or an
  // error with a message.
  const auto part = ReadTraceFile(path, {.from_ns = length / 3, .to_ns = length / 3 * 2});
  Check(part.ok() || !part.status().message().empty(), "an error without a message");
  if (part.ok()) CheckTrace(**part);
}

}  // namespace vramscope::fuzz
