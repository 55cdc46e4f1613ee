// Converts a recording to a trace: its history, labels and events.
#include <algorithm>
#include <chrono>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/preview.h"
#include "profiler/inference/infer.h"

namespace vramscope::importers {
namespace {

using recording::History;
using recording::Labels;
using recording::Recording;
using TracePtr = std::shared_ptr<const trace::Trace>;

// The progress at the end of each stage, as a fraction of the whole time.
constexpr double kRead = 0.7, kReconstructed = 0.8, kInferred = 0.88;

absl::Status Cancelled(const std::string& name) {
  return absl::CancelledError(i18n::Format("opening {} was cancelled", name));
}

bool IsCancelled(const OpenOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

void Progress(const OpenOptions& options, double fraction) {
  if (options.progress) options.progress(fraction);
}

// Builds the trace. Events that arrive after a cancellation are dropped.
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

  // If an event cannot be stored, that is a bug of vramscope, not of the file. The rest of the file
  // is still shown.
  absl::StatusOr<TracePtr> Finish(const std::string& lost) {
    if (absl::IsCancelled(status_)) return status_;
    std::string why(status_.message());
    if (!status_.ok()) builder_.AddWarning(i18n::English("not everything could be shown: {}", why));
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

// Returns only the labels that the file itself contains.
Labels RecordedLabels(const Recording& r, const History& h) {
  Labels labels;
  const uint32_t n = h.allocations.size();
  labels.category.assign(n, trace::Category::kUnknown);
  labels.rule.assign(n, 0);
  labels.op.assign(n, {});
  labels.module.assign(n, {});
  recording::ApplyRecordedLabels(r, h, labels);
  return labels;
}

}  // namespace

bool IsPart(const OpenOptions& options) {
  const OpenOptions all;
  return options.first_entry != all.first_entry || options.last_entry != all.last_entry ||
         options.from_ns != all.from_ns || options.to_ns != all.to_ns;
}

std::function<void(double fraction)> ReadingProgress(const OpenOptions& options) {
  return [&options](double fraction) { Progress(options, kRead * fraction); };
}

void Preview::Show(const Recording& so_far) {
  const auto now = Clock::now();
  if (so_far.entries.size() < next_entries_ || now < next_time_) return;
  absl::StatusOr<History> history = recording::Reconstruct(so_far);
  if (!history.ok()) return;
  const Labels labels = RecordedLabels(so_far, *history);
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

absl::StatusOr<TracePtr> FromRecording(Recording recording, const std::string& title,
                                       const OpenOptions& options) {
  Progress(options, kRead);
  if (IsCancelled(options)) return Cancelled(title);
  absl::StatusOr<History> history = recording::Reconstruct(recording);
  if (!history.ok()) return history.status();
  Progress(options, kReconstructed);
  if (IsCancelled(options)) return Cancelled(title);
  const Labels labels =
      options.infer ? inference::Infer(recording, *history) : RecordedLabels(recording, *history);
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

}  // namespace vramscope::importers
