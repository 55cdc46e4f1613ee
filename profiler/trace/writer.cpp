#include "profiler/trace/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/trace/activity_codec.h"
#include "profiler/trace/batch_codec.h"
#include "profiler/trace/event_fields.h"
#include "profiler/trace/event_source.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/live_state.h"
#include "profiler/trace/outline_slices.h"
#include "profiler/trace/output_file.h"

namespace vramscope::trace {
namespace {

// Strings are collected up to this size before they are sent, unless events need them earlier.
constexpr size_t kStringBytes = size_t{1} << 20;
// Batches for a pipe are small, because the run is shown while it is in progress.
constexpr size_t kLiveBatchEvents = 8192;
// Between two keyframes, there are at least 64 times as many events as a keyframe restates, so that
// keyframes are only a few percent of the file.
constexpr uint64_t kRestatedInKeyframe = TraceWriter::kKeyframeEvents / 64;

class Writer : public TraceWriter {
 public:
  Writer(ByteSink sink, std::unique_ptr<OutputFile> file, uint64_t keyframe_events)
      : sink_(std::move(sink)),
        file_(std::move(file)),
        batch_events_(file_ != nullptr ? kBatchEvents : kLiveBatchEvents),
        batch_operands_(file_ != nullptr ? kMaxBatchActivities : kLiveBatchEvents),
        compression_(file_ != nullptr ? Compression::kNormal : Compression::kFast),
        keyframe_events_(std::max<uint64_t>(1, keyframe_events)) {}

  void Begin(const TraceInfo& info) override { Send(FrameType::kTraceHeader, EncodeHeader(info)); }

  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    if (values.empty()) return;
    if (strings_.empty()) first_string_ = first_id;
    if (first_id != first_string_ + strings_.size()) {
      Fail(absl::InvalidArgumentError(i18n::Format("strings: ids begin at {} instead of {}",
                                                   first_id, first_string_ + strings_.size())));
      return;
    }
    live_.Strings(first_id, values);
    for (const std::string& value : values) {
      if (value.size() > kMaxPayload / 2) {
        Fail(absl::InvalidArgumentError(
            i18n::Format("a string of {} bytes cannot be stored", value.size())));
        return;
      }
      if (string_bytes_ + value.size() > kStringBytes) SendStrings();
      strings_.push_back(value);
      string_bytes_ += value.size() + 4;
    }
  }

  // Writes several frames if necessary, because a stack table may exceed the size limit of a frame.
  void Stacks(const StackIncrement& in) override {
    Flush();
    constexpr size_t kRows = size_t{1} << 20;
    StackIncrement part;
    part.first_stack = in.first_stack;
    for (size_t i = 0; i < in.function.size(); i += kRows) {
      const size_t n = std::min(kRows, in.function.size() - i);
      const auto copy = [&](const auto& from, auto& to) {
        to.assign(from.begin() + static_cast<ptrdiff_t>(i),
                  from.begin() + static_cast<ptrdiff_t>(i + n));
      };
      part.first_frame = in.first_frame + static_cast<uint32_t>(i);
      copy(in.function, part.function);
      copy(in.file, part.file);
      copy(in.line, part.line);
      Send(FrameType::kStacks, EncodeStacks(part));
    }
    part = StackIncrement();
    part.first_frame = in.first_frame + static_cast<uint32_t>(in.function.size());
    part.first_stack = in.first_stack;
    size_t at = 0;
    for (size_t i = 0; i < in.lengths.size(); ++i) {
      part.lengths.push_back(in.lengths[i]);
      part.frames.insert(part.frames.end(), in.frames.begin() + static_cast<ptrdiff_t>(at),
                         in.frames.begin() + static_cast<ptrdiff_t>(at + in.lengths[i]));
      at += in.lengths[i];
      if (part.frames.size() + part.lengths.size() < kRows && i + 1 < in.lengths.size()) continue;
      Send(FrameType::kStacks, EncodeStacks(part));
      part.first_stack += static_cast<uint32_t>(part.lengths.size());
      part.lengths.clear();
      part.frames.clear();
    }
  }

  void Events(std::span<const Event> events) override {
    while (!events.empty() && status_.ok()) {
      if (pending_.empty() && events.size() >= batch_events_) {
        SendBatch(events.first(batch_events_));
        events = events.subspan(batch_events_);
        continue;
      }
      const size_t n = std::min(events.size(), batch_events_ - pending_.size());
      pending_.insert(pending_.end(), events.begin(), events.begin() + static_cast<ptrdiff_t>(n));
      events = events.subspan(n);
      if (pending_.size() == batch_events_) Flush();
    }
  }

  void Activities(std::span<const Activity> activities) override {
    for (const Activity& activity : activities) {
      if (!status_.ok()) return;
      const size_t strings = std::max<uint32_t>(1, NextString());
      Fail(CheckActivity(activity, strings));
      const bool is_operand = activity.kind == ActivityKind::kOperand;
      std::vector<Activity>& batch = is_operand ? operands_ : activities_;
      batch.push_back(activity);
      if (batch.size() == (is_operand ? batch_operands_ : batch_events_)) SendActivities(batch);
    }
  }

  void Flush() override {
    if (!pending_.empty()) SendBatch(pending_);
    pending_.clear();
    if (!activities_.empty()) SendActivities(activities_);
    if (!operands_.empty()) SendActivities(operands_);
    SendStrings();
  }

  void End(bool complete, std::string_view message) override {
    if (ended_) return;
    Flush();
    ended_ = true;
    footer_.events = start_.event;
    footer_.complete = complete;
    footer_.end_message = message;
    footer_.outline = outline_.Take(last_time_ns_);
    if (footer_.keyframes.empty()) footer_.tables.clear();
    const uint64_t offset = offset_;
    Send(FrameType::kFooter, EncodeFooter(footer_));
    if (file_ != nullptr) Send(FrameType::kEnd, EncodeEnd(offset));
  }

  absl::Status Close() override {
    if (!closed_) {
      closed_ = true;
      if (!ended_) End(false, TEXT_MARK("the producer stopped without ending the trace"));
      // Unless the file was committed, its destructor removes it.
      if (file_ != nullptr && status_.ok()) status_ = file_->Commit();
      file_.reset();
    }
    return status_;
  }

 private:
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  void Send(FrameType type, const std::string& payload) {
    if (!status_.ok()) return;
    if (type == FrameType::kStacks) footer_.tables.push_back(offset_);
    if (payload.size() > kMaxPayload) {
      Fail(absl::InvalidArgumentError(i18n::Format(
          "a frame of {} bytes cannot be stored; the limit is {}", payload.size(), kMaxPayload)));
      return;
    }
    const std::string bytes = EncodeFrame(type, payload, compression_);
    status_ = sink_(bytes);
    offset_ += bytes.size();
  }

  void SendStrings() {
    if (strings_.empty()) return;
    footer_.tables.push_back(offset_);
    Send(FrameType::kStrings, EncodeStrings(first_string_, strings_));
    first_string_ += static_cast<uint32_t>(strings_.size());
    footer_.strings = first_string_;
    strings_.clear();
    string_bytes_ = 0;
  }

  void SendBatch(std::span<const Event> events) {
    SendStrings();
    if (KeyframeIsDue()) SendKeyframe();
    Footer::Batch row;
    row.offset = offset_;
    row.first_event = start_.event;
    row.count = static_cast<uint32_t>(events.size());
    row.first_time_ns = events.front().time_ns;
    row.last_time_ns = events.back().time_ns;
    BatchStart next = start_;
    row.peak_allocated = live_.allocated();
    row.peak_reserved = live_.reserved();
    for (const Event& e : events) {
      if (!IsKnown(e.kind)) {
        Fail(absl::InvalidArgumentError(
            i18n::Format("event {} has kind {}, which is not in the format", next.event,
                         static_cast<int>(e.kind))));
        return;
      }
      Count(e, next);
      outline_.Add(e);
      // After inconsistent events, writes no more keyframes: a reader that starts at a keyframe
      // would not notice the error.
      consistent_ = live_.Advance(e).ok() && consistent_;
      row.peak_allocated = std::max(row.peak_allocated, live_.allocated());
      row.peak_reserved = std::max(row.peak_reserved, live_.reserved());
      ++next.event;
    }
    Send(FrameType::kEvents, EncodeBatch(events, start_));
    footer_.batches.push_back(row);
    last_time_ns_ = row.last_time_ns;
    start_ = next;
  }

  void SendActivities(std::vector<Activity>& batch) {
    SendStrings();
    SortByBegin(batch);
    Footer::ActivityBatch row;
    row.offset = offset_;
    row.count = static_cast<uint32_t>(batch.size());
    row.first_begin_ns = batch.front().begin_ns;
    row.last_end_ns = batch.front().end_ns;
    for (const Activity& a : batch) row.last_end_ns = std::max(row.last_end_ns, a.end_ns);
    Send(FrameType::kActivities, EncodeActivities(batch));
    footer_.activity_batches.push_back(row);
    footer_.activities += row.count;
    batch.clear();
  }

  uint32_t NextString() const { return first_string_ + static_cast<uint32_t>(strings_.size()); }

  bool KeyframeIsDue() const {
    const uint64_t since = start_.event - last_keyframe_;
    return file_ != nullptr && consistent_ && since >= keyframe_events_ &&
           since / keyframe_events_ >= live_.size() / kRestatedInKeyframe;
  }

  void SendKeyframe() {
    const std::string payload = EncodeKeyframe(live_, start_.event, NextString());
    last_keyframe_ = start_.event;
    if (payload.empty() || payload.size() > kMaxPayload) return;
    footer_.keyframes.push_back({offset_, start_.event, last_time_ns_});
    Send(FrameType::kStrings, payload);
  }

  void Count(const Event& e, BatchStart& next) {
    if (e.kind == EventKind::kAlloc) {
      next.allocation = e.id + 1;
      ++footer_.allocations;
    } else if (e.kind == EventKind::kSegmentAlloc) {
      next.segment = e.id + 1;
    } else if (e.kind == EventKind::kRetag) {
      ++footer_.retags;
    } else if (IsSliceBegin(e.kind)) {
      ++footer_.slices;
    }
  }

  ByteSink sink_;
  std::unique_ptr<OutputFile> file_;
  const size_t batch_events_, batch_operands_;
  const Compression compression_;
  absl::Status status_;
  bool ended_ = false, closed_ = false;
  uint64_t offset_ = 0;

  std::vector<std::string> strings_;
  uint32_t first_string_ = 0;
  size_t string_bytes_ = 0;
  std::vector<Event> pending_;
  std::vector<Activity> activities_, operands_;  // waiting for their batch
  BatchStart start_;
  Footer footer_;
  OutlineSlices outline_;
  int64_t last_time_ns_ = 0;
  LiveState live_;  // for the peaks of the footer's batches, and for keyframes
  const uint64_t keyframe_events_;
  bool consistent_ = true;
  uint64_t last_keyframe_ = 0;  // number of the event after the last keyframe
};

}  // namespace

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::ToFile(const std::string& path,
                                                                 uint64_t keyframe_events) {
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Create(path);
  if (!file.ok()) return file.status();
  OutputFile* raw = file->get();
  return std::make_unique<Writer>([raw](std::string_view bytes) { return raw->Write(bytes); },
                                  *std::move(file), keyframe_events);
}

std::unique_ptr<TraceWriter> TraceWriter::ToSink(ByteSink sink) {
  return std::make_unique<Writer>(std::move(sink), nullptr, kKeyframeEvents);
}

absl::Status WriteTraceFile(const Trace& trace, const std::string& path,
                            const WriteOptions& options) {
  absl::StatusOr<std::unique_ptr<TraceWriter>> writer = TraceWriter::ToFile(path);
  if (!writer.ok()) return writer.status();
  (*writer)->Begin(trace.info);
  (*writer)->Strings(0, trace.strings);
  if (const StackTable& s = trace.stacks; s.size() > 1) {
    StackIncrement all;
    all.function = s.function;
    all.file = s.file;
    all.line = s.line;
    all.frames = s.frames;
    for (uint32_t i = 1; i < s.size(); ++i) all.lengths.push_back(s.first[i + 1] - s.first[i]);
    (*writer)->Stacks(all);
  }
  const auto advance = [&](double rows) {
    if (options.progress)
      options.progress(rows / (static_cast<double>(trace.events.size()) + trace.activities.size() +
                               trace.operands.size()));
  };
  const auto cancelled = [&] { return options.cancel != nullptr && *options.cancel; };
  const auto was_cancelled = [&] {
    return absl::CancelledError(
        i18n::Format("writing {} was cancelled; the file is unchanged", path));
  };
  EventSource source(trace);
  std::vector<Event> chunk;
  chunk.reserve(kBatchEvents);
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    chunk.push_back(source.At(i));
    if (chunk.size() == kBatchEvents || i + 1 == trace.events.size()) {
      (*writer)->Events(chunk);
      chunk.clear();
      advance(i + 1.0);
      if (cancelled()) return was_cancelled();
    }
  }
  std::vector<Activity> activities;
  double written = trace.events.size();
  for (const ActivityTable* table : {&trace.activities, &trace.operands}) {
    for (uint32_t row = 0; row < table->size(); ++row) {
      activities.push_back(table->Row(row));
      if (activities.size() < kBatchEvents && row + 1 < table->size()) continue;
      (*writer)->Activities(activities);
      written += static_cast<double>(activities.size());
      activities.clear();
      advance(written);
      if (cancelled()) return was_cancelled();
    }
  }
  (*writer)->End(trace.complete, trace.end_message);
  return (*writer)->Close();
}

}  // namespace vramscope::trace
