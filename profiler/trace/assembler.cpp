#include "profiler/trace/assembler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/trace/activity_codec.h"

namespace vramscope::trace {

namespace {

// Converts an event of an older format version to an activity, if events of its kind are activities
// now.
std::optional<Activity> OldActivity(const Event& e, uint32_t version) {
  static constexpr ActivityKind kKinds[] = {ActivityKind::kKernel, ActivityKind::kMemcpy,
                                            ActivityKind::kMemset, ActivityKind::kDriverAlloc,
                                            ActivityKind::kDriverFree};
  Activity activity;
  const int kind = static_cast<int>(e.kind);
  if (kind >= kFirstOldKind && kind <= kLastOldKind) activity.kind = kKinds[kind - kFirstOldKind];
  // A map event of version 1 does not name its segment. (No program recorded such events.)
  else if (version == 1 && e.kind == EventKind::kSegmentMap)
    activity.kind = ActivityKind::kDriverAlloc;
  else if (version == 1 && e.kind == EventKind::kSegmentUnmap)
    activity.kind = ActivityKind::kDriverFree;
  else
    return std::nullopt;
  activity.device = e.device;
  activity.stream = e.stream;
  activity.thread = e.thread;
  activity.name = e.name;
  activity.op = e.module;  // the Kineto importer, the only producer, stored the op there
  activity.address = e.address;
  activity.bytes = e.bytes;
  activity.begin_ns = e.time_ns;
  const auto longest = static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(e.time_ns);
  activity.end_ns =
      static_cast<int64_t>(static_cast<uint64_t>(e.time_ns) + std::min(e.duration_ns, longest));
  return activity;
}

}  // namespace

absl::Status TraceAssembler::Impl::CheckStart(const BatchStart& start) const {
  if (start.event != events)
    return absl::DataLossError(
        i18n::Format("a batch begins at event {} instead of {}", start.event, events));
  return absl::OkStatus();
}

absl::Status TraceAssembler::Impl::AddBatch(std::string_view payload) {
  BatchDecoder decoder;
  if (absl::Status s = decoder.Open(payload); !s.ok()) return s;
  if (absl::Status s = CheckStart(decoder.start()); !s.ok()) return s;
  while (const size_t n = decoder.Read(chunk))
    if (absl::Status s = AddEvents(std::span(chunk).first(n)); !s.ok()) return s;
  return decoder.status();
}

absl::Status TraceAssembler::Impl::AddEvents(std::span<Event> added) {
  events += added.size();
  const auto add = [this](std::span<const Event> of) {
    return part ? part->Pass(of, builder) : builder.AddEvents(of);
  };
  if (version >= 4) return add(added);
  std::vector<Activity> were;
  size_t kept = 0;
  for (const Event& e : added) {
    if (const std::optional<Activity> activity = OldActivity(e, version))
      were.push_back(*activity);
    else
      added[kept++] = e;
  }
  if (absl::Status s = add(added.first(kept)); !s.ok()) return s;
  return part ? part->Activities(were, builder) : builder.AddActivities(were);
}

absl::Status TraceAssembler::Impl::AddActivities(std::span<const Activity> added) {
  absl::Status status = part ? part->Activities(added, builder) : builder.AddActivities(added);
  if (status.ok()) activities += added.size();
  return status;
}

std::string TraceAssembler::Impl::Missing(bool of_file) const {
  if (footer->events != events)
    return of_file ? i18n::English("the footer counts {} events, but the file contains {}",
                                   footer->events, events)
                   : i18n::English("the footer counts {} events, but {} arrived", footer->events,
                                   events);
  if (footer->activities != activities)
    return of_file ? i18n::English("the footer counts {} activities, but the file contains {}",
                                   footer->activities, activities)
                   : i18n::English("the footer counts {} activities, but {} arrived",
                                   footer->activities, activities);
  return "";
}

absl::Status TraceAssembler::Impl::Add(const Frame& frame) {
  if (!has_header && frame.type != FrameType::kTraceHeader)
    return absl::DataLossError(i18n::Text("a trace must begin with its header frame"));
  if (footer.has_value() && frame.type != FrameType::kEnd)
    return absl::DataLossError(i18n::Text("there is a frame after the footer"));
  switch (frame.type) {
    case FrameType::kTraceHeader: {
      if (has_header) return absl::DataLossError(i18n::Text("there is a second header frame"));
      absl::StatusOr<Header> header = DecodeHeader(frame.payload);
      if (!header.ok()) return header.status();
      has_header = true;
      version = header->version;
      builder.SetInfo(std::move(header->info));
      if (!header->warning.empty()) builder.AddWarning(std::move(header->warning));
      return absl::OkStatus();
    }
    case FrameType::kStrings: {
      absl::StatusOr<StringIncrement> strings = DecodeStrings(frame.payload);
      if (!strings.ok()) return strings.status();
      return part ? part->Strings(*strings, builder)
                  : builder.AddStrings(strings->first_id, strings->values);
    }
    case FrameType::kStacks: {
      absl::StatusOr<StackIncrement> stacks = DecodeStacks(frame.payload);
      if (!stacks.ok()) return stacks.status();
      return part ? part->Stacks(*std::move(stacks), builder) : builder.AddStacks(*stacks);
    }
    case FrameType::kEvents:
      return AddBatch(frame.payload);
    case FrameType::kActivities:
      if (absl::Status s = DecodeActivities(frame.payload, activities_chunk); !s.ok()) return s;
      return AddActivities(activities_chunk);
    case FrameType::kFooter: {
      absl::StatusOr<Footer> parsed = DecodeFooter(frame.payload);
      if (!parsed.ok()) return parsed.status();
      footer = *std::move(parsed);
      return absl::OkStatus();
    }
    case FrameType::kEnd:
      return absl::OkStatus();
    default:
      return absl::DataLossError(
          i18n::Format("a trace has no frames of type {}", static_cast<int>(frame.type)));
  }
}

TraceAssembler::TraceAssembler() : impl_(std::make_unique<Impl>()) {}
TraceAssembler::~TraceAssembler() = default;

absl::Status TraceAssembler::Add(const Frame& frame) { return impl_->Add(frame); }
bool TraceAssembler::ended() const { return impl_->footer.has_value(); }
uint64_t TraceAssembler::events() const { return impl_->builder.events(); }
std::shared_ptr<const Trace> TraceAssembler::Snapshot() const { return impl_->builder.Snapshot(); }

std::shared_ptr<const Trace> TraceAssembler::Finish(std::string reason_if_incomplete) {
  if (!impl_->footer.has_value())
    return impl_->builder.Finish(false, std::move(reason_if_incomplete));
  if (std::string missing = impl_->Missing(false); !missing.empty()) {
    impl_->builder.AddWarning(missing);
    return impl_->builder.Finish(false, std::move(missing));
  }
  return impl_->builder.Finish(impl_->footer->complete, impl_->footer->end_message);
}

}  // namespace vramscope::trace
