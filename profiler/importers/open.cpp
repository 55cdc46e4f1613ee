#include "profiler/importers/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include "profiler/importers/html_snapshot.h"
#include "profiler/importers/kineto.h"
#include "profiler/importers/memory_stats.h"
#include "profiler/importers/memory_timeline.h"
#include "profiler/importers/pickle.h"
#include "profiler/importers/snapshot.h"
#include "profiler/importers/sniff.h"
#include "profiler/inference/infer.h"
#include "profiler/recording/recording.h"
#include "profiler/trace/input.h"
#include "profiler/trace/reader.h"

namespace vramscope::importers {
namespace {

using recording::History;
using recording::Labels;
using recording::Recording;
using TracePtr = std::shared_ptr<const trace::Trace>;

// Where each stage of a recording ends, as parts of the whole time.
constexpr double kRead = 0.7, kReconstructed = 0.8, kInferred = 0.88;

absl::Status Cancelled(const std::string& name) {
  return absl::CancelledError(fmt::format("opening {} was cancelled", name));
}

bool IsCancelled(const OpenOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

void Progress(const OpenOptions& options, double fraction) {
  if (options.progress) options.progress(fraction);
}

// Builds the trace; events that come after a cancel are dropped.
class Sink : public trace::EventSink {
 public:
  Sink(std::string title, const Recording& r, const History& h, const Labels& labels,
       const OpenOptions& options)
      : title_(std::move(title)), options_(options) {
    sizes_.allocations = h.allocations.size();
    sizes_.retags = labels.retags.size();
    sizes_.slices = labels.steps.size() + labels.phases.size() + r.annotations.size();
    sizes_.events = r.entries.size() + h.older + h.displaced.size() + 2 * h.start_segments.size() +
                    sizes_.retags + 2 * sizes_.slices + r.extras.size() + 1;
    sizes_.activities = r.activities.size();
    builder_.Reserve(sizes_);
  }

  void Begin(const trace::TraceInfo& info) override {
    trace::TraceInfo titled = info;
    titled.title = title_;
    builder_.SetInfo(std::move(titled));
  }
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    Note(builder_.AddStrings(first_id, values));
  }
  void Stacks(const trace::StackIncrement& increment) override {
    Note(builder_.AddStacks(increment));
  }
  void Events(std::span<const trace::Event> events) override {
    if (!status_.ok()) return;
    Note(IsCancelled(options_) ? Cancelled(title_) : builder_.AddEvents(events));
    const double done =
        static_cast<double>(builder_.events()) / static_cast<double>(sizes_.events + 1);
    Progress(options_, kInferred + (1 - kInferred) * std::min(1.0, done));
  }
  void Activities(std::span<const trace::Activity> activities) override {
    if (status_.ok()) Note(builder_.AddActivities(activities));
  }
  void End(bool, std::string_view) override {}

  // What could not be stored is the program's mistake, not the file's, but the rest is shown.
  absl::StatusOr<TracePtr> Finish(const std::string& lost) {
    if (absl::IsCancelled(status_)) return status_;
    std::string why(status_.message());
    if (!status_.ok()) builder_.AddWarning(fmt::format("not everything could be shown: {}", why));
    if (!lost.empty()) builder_.AddWarning(lost);
    if (why.empty()) why = lost;
    return builder_.Finish(why.empty(), why);
  }
  trace::TraceBuilder& builder() { return builder_; }

 private:
  void Note(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const std::string title_;
  const OpenOptions& options_;
  trace::TableSizes sizes_;
  trace::TraceBuilder builder_;
  absl::Status status_;
};

// Only what the file itself says.
Labels SaidLabels(const Recording& r, const History& h) {
  Labels labels;
  const uint32_t n = h.allocations.size();
  labels.category.assign(n, trace::Category::kUnknown);
  labels.rule.assign(n, 0);
  labels.op.assign(n, {});
  labels.module.assign(n, {});
  recording::TakeSaid(r, h, labels);
  return labels;
}

// A picture while a recording loads: rebuilt when the recording has doubled, and no more often than
// makes it a small part of the time.
class Preview {
 public:
  Preview(std::string title, const OpenOptions& options)
      : title_(std::move(title)), options_(options) {}

  void Show(const Recording& so_far) {
    const auto now = Clock::now();
    if (so_far.entries.size() < next_entries_ || now < next_time_) return;
    absl::StatusOr<History> history = recording::Reconstruct(so_far);
    if (!history.ok()) return;
    const Labels labels = SaidLabels(so_far, *history);
    OpenOptions quiet;
    quiet.cancel = options_.cancel;
    Sink sink(title_, so_far, *history, labels, quiet);
    recording::Emit(so_far, *history, labels, sink);
    absl::StatusOr<TracePtr> trace = sink.Finish("");
    if (trace.ok()) options_.preview(*std::move(trace));
    const auto took = Clock::now() - now;
    next_entries_ = 2 * uint64_t{so_far.entries.size()};
    next_time_ = now + std::max<Clock::duration>(6 * took, std::chrono::milliseconds(250));
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::string title_;
  const OpenOptions& options_;
  uint64_t next_entries_ = 20'000;
  Clock::time_point next_time_ = Clock::time_point::min();
};

absl::StatusOr<TracePtr> FromRecording(Recording recording, const std::string& title,
                                       const OpenOptions& options) {
  Progress(options, kRead);
  if (IsCancelled(options)) return Cancelled(title);
  absl::StatusOr<History> history = recording::Reconstruct(recording);
  if (!history.ok()) return history.status();
  Progress(options, kReconstructed);
  if (IsCancelled(options)) return Cancelled(title);
  const Labels labels =
      options.infer ? inference::Infer(recording, *history) : SaidLabels(recording, *history);
  Progress(options, kInferred);
  if (IsCancelled(options)) return Cancelled(title);
  Sink sink(title, recording, *history, labels, options);
  for (const auto* warnings : {&recording.warnings, &history->warnings})
    for (const std::string& warning : *warnings) sink.builder().AddWarning(warning);
  recording::Emit(recording, *history, labels, sink);
  absl::StatusOr<TracePtr> trace = sink.Finish(recording.lost);
  if (trace.ok()) Progress(options, 1);
  return trace;
}

SnapshotOptions ForSnapshot(std::string_view head, const std::string& path,
                            const OpenOptions& options, Preview& preview) {
  SnapshotOptions to;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none))
    to.again = [path] { return trace::InputStream::Open(path); };
  to.head = head;
  to.progress = [&options](double fraction) { Progress(options, kRead * fraction); };
  to.cancel = options.cancel;
  to.memory_limit = options.memory_limit;
  if (options.preview) to.preview = [&preview](const Recording& so_far) { preview.Show(so_far); };
  to.device = options.device;
  to.first_entry = options.first_entry;
  to.last_entry = options.last_entry;
  to.from_ns = options.from_ns;
  to.to_ns = options.to_ns;
  return to;
}

KinetoOptions ForKineto(std::string_view head, const OpenOptions& options) {
  return {.head = head,
          .progress = [&options](double fraction) { Progress(options, kRead * fraction); },
          .cancel = options.cancel,
          .memory_limit = options.memory_limit,
          .device = options.device,
          .first_entry = options.first_entry,
          .last_entry = options.last_entry,
          .from_ns = options.from_ns,
          .to_ns = options.to_ns};
}

bool IsPart(const OpenOptions& options) {
  const OpenOptions all;
  return options.first_entry != all.first_entry || options.last_entry != all.last_entry ||
         options.from_ns != all.from_ns || options.to_ns != all.to_ns;
}

// "'x': what": the readers know the byte, not the file.
absl::Status In(const std::string& name, const absl::Status& status) {
  const std::string message(status.message());
  if (message.find(name) != std::string::npos) return status;
  absl::Status in(status.code(), fmt::format("'{}': {}", name, message));
  status.ForEachPayload(
      [&in](absl::string_view type, const absl::Cord& value) { in.SetPayload(type, value); });
  return in;
}

MemoryTimelineOptions ForTimeline(std::string_view head, const OpenOptions& options) {
  return {.head = head,
          .progress = [&options](double fraction) { Progress(options, kRead * fraction); },
          .cancel = options.cancel,
          .memory_limit = options.memory_limit};
}

absl::Status NothingKnown(const std::string& name, std::string_view head) {
  if (const std::string_view why = WhyNoSnapshotInHtml(head); !why.empty())
    return absl::InvalidArgumentError(fmt::format("'{}' is {}", name, why));
  const std::string kind = trace::LooksLike(head);
  return absl::InvalidArgumentError(
      fmt::format("'{}' is no trace, CUDA memory snapshot or Kineto trace: it {}", name,
                  kind.empty() ? "does not begin like one" : "looks like " + kind));
}

}  // namespace

bool IsRefused(const absl::Status& status) {
  return status.GetPayload(kRefusedPayload).has_value();
}

absl::StatusOr<TracePtr> OpenTraceFile(const std::string& path, const OpenOptions& options) {
  absl::StatusOr<std::unique_ptr<trace::InputStream>> input = trace::InputStream::Open(path);
  if (!input.ok()) return input.status();
  return OpenTraceStream(*std::move(input), "", path, options);
}

absl::StatusOr<TracePtr> OpenTraceStream(std::unique_ptr<trace::InputStream> input,
                                         std::string head, const std::string& path,
                                         const OpenOptions& options) {
  const std::string name = trace::DisplayName(path);
  size_t have = head.size();
  head.resize(std::max(have, kSniffBytes));
  while (have < head.size()) {
    absl::StatusOr<size_t> n = input->Read(head.data() + have, head.size() - have);
    if (!n.ok() && have == 0) return n.status();
    if (!n.ok() || *n == 0) break;  // the reader meets a damage again
    have += *n;
  }
  head.resize(have);

  const std::string title = path == "-" ? name : std::filesystem::path(path).filename().string();
  switch (Sniff(head)) {
    case FileKind::kTrace: {
      trace::ReadOptions read;
      read.progress = options.progress;
      read.cancel = options.cancel;
      read.memory_limit = options.memory_limit;
      read.from_ns = options.from_ns;
      read.to_ns = options.to_ns;
      absl::StatusOr<TracePtr> trace = trace::ReadTrace(*input, head, path, read);
      if (!trace.ok()) return In(name, trace.status());
      return trace;
    }
    case FileKind::kSnapshotPickle:
    case FileKind::kSnapshotJson: {
      Preview preview(title, options);
      absl::StatusOr<Recording> recording =
          ReadSnapshot(*input, ForSnapshot(head, path, options, preview));
      input.reset();
      if (!recording.ok()) return In(name, recording.status());
      return FromRecording(*std::move(recording), title, options);
    }
    case FileKind::kJsonTokens: {
      absl::StatusOr<Recording> recording = ReadKineto(*input, ForKineto(head, options));
      input.reset();
      if (!recording.ok()) return In(name, recording.status());
      return FromRecording(*std::move(recording), title, options);
    }
    case FileKind::kHtmlSnapshot: {
      Preview preview(title, options);
      PickleInHtml pickle(*input, head);
      SnapshotOptions snapshot = ForSnapshot("", path, options, preview);
      snapshot.again = {};
      absl::StatusOr<Recording> recording = ReadSnapshot(pickle, snapshot);
      input.reset();
      if (!recording.ok()) return In(name, recording.status());
      return FromRecording(*std::move(recording), title, options);
    }
    case FileKind::kMemoryTimeline: {
      if (IsPart(options))
        return In(name, absl::OutOfRangeError("a memory timeline has no parts: open it whole"));
      absl::StatusOr<Recording> recording = ReadMemoryTimeline(*input, ForTimeline(head, options));
      input.reset();
      if (!recording.ok()) return In(name, recording.status());
      // The categories are the file's own; nothing else in it could tell more.
      OpenOptions as_said = options;
      as_said.infer = false;
      return FromRecording(*std::move(recording), title, as_said);
    }
    case FileKind::kMemoryStats: {
      if (IsPart(options))
        return In(name,
                  absl::OutOfRangeError("memory statistics have no entries: open them whole"));
      absl::StatusOr<Recording> recording = ReadMemoryStats(*input, head);
      if (!recording.ok()) return In(name, recording.status());
      return FromRecording(*std::move(recording), title, options);
    }
    case FileKind::kUnknown:
      break;
  }
  return NothingKnown(name, head);
}

}  // namespace vramscope::importers
