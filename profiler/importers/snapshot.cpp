#include "profiler/importers/snapshot.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/pickle.h"
#include "profiler/importers/preview.h"
#include "profiler/importers/snapshot_builder.h"
#include "profiler/importers/snapshot_bytes.h"
#include "profiler/importers/snapshot_json.h"
#include "profiler/trace/memory_budget.h"

namespace vramscope::importers {
namespace {

using std::chrono::steady_clock;

constexpr char kPickle = '\x80';  // opcode PROTO, the first byte
constexpr auto kPreviewEvery = std::chrono::milliseconds(250);

// Decides whether the part read so far can be shown. It can as long as its times ascend.
class PreviewGate {
 public:
  bool Open(const recording::EntryTable& entries) {
    for (; seen_ < entries.size(); ++seen_) {
      if (entries.time_ns[seen_] < last_) closed_ = true;
      last_ = entries.time_ns[seen_];
    }
    return !closed_ && seen_ > 0;
  }

 private:
  size_t seen_ = 0;
  int64_t last_ = 0;
  bool closed_ = false;
};

// Fails with builder.needs_all() set if the range of `builder` cannot be cut out during the
// reading.
absl::StatusOr<recording::Recording> Read(trace::InputStream& input, std::string head,
                                          const SnapshotOptions& options,
                                          const trace::MemoryBudget& budget,
                                          SnapshotBuilder& builder) {
  PreviewGate gate;
  auto next_preview = steady_clock::now() + kPreviewEvery;
  const auto tick = [&]() -> absl::Status {
    if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed))
      return absl::CancelledError(i18n::Text("cancelled"));
    if (options.progress && input.total() > 0)
      options.progress(static_cast<double>(input.consumed()) / static_cast<double>(input.total()));
    if (options.preview && steady_clock::now() >= next_preview) {
      if (gate.Open(builder.so_far().entries)) options.preview(builder.so_far());
      next_preview = steady_clock::now() + kPreviewEvery;
    }
    return absl::OkStatus();
  };
  if (head.empty()) {
    head.resize(1);
    absl::StatusOr<size_t> n = input.Read(head.data(), 1);
    if (!n.ok()) return n.status();
    head.resize(*n);
  }
  std::string syntax;
  absl::Status status;
  bool cut = false;
  if (head.starts_with(kPickle)) {
    SnapshotBytes bytes(input, head, tick);
    PickleEnd end;
    status = ReadPickle(bytes, builder, &end);
    cut = end.cut;
    syntax = fmt::format("pickle, protocol {}", end.protocol);
  } else {
    status = ReadSnapshotJson(input, head, tick, builder, &cut);
    syntax = "JSON";
  }
  if (builder.exhausted())
    return budget.Exceeded(
        i18n::Format("{} entries and the data that they refer to", builder.entries()),
        SnapshotRange::IsAsked(options)
            ? i18n::Text("open a smaller part of the file (--entries or --time)")
            : i18n::Text("open a part of the file (--entries A:B or --time A:B)"));
  if (!status.ok() && !cut) return status;
  if (cut) builder.CloseAtCut();
  SnapshotParts parts;
  if (!builder.Finish(&parts)) return cut ? status : absl::InvalidArgumentError(builder.error());
  if (cut) {
    if (parts.recording.entries.size() == 0 && parts.recording.segments.empty()) return status;
    parts.cut = std::string(status.message());
  }
  parts.recording.source = fmt::format("CUDA memory snapshot ({}{})",
                                       parts.bare_list ? "a list of segments; " : "", syntax);
  if (options.progress) options.progress(1);
  return FinishSnapshot(std::move(parts), options);
}

}  // namespace

absl::StatusOr<recording::Recording> ReadSnapshot(trace::InputStream& input,
                                                  const SnapshotOptions& options) {
  std::string head(options.head);
  trace::MemoryBudget budget(input, options.memory_limit);
  if (!options.again || !SnapshotRange::IsAsked(options)) {
    SnapshotBuilder builder(budget);
    return Read(input, std::move(head), options, budget, builder);
  }
  auto builder = std::make_unique<SnapshotBuilder>(budget, options);
  absl::StatusOr<recording::Recording> part =
      Read(input, std::move(head), options, budget, *builder);
  if (!builder->needs_all()) return part;
  builder.reset();
  absl::StatusOr<std::unique_ptr<trace::InputStream>> whole = options.again();
  if (!whole.ok()) return whole.status();
  trace::MemoryBudget again(**whole, options.memory_limit);
  builder = std::make_unique<SnapshotBuilder>(again);
  return Read(**whole, "", options, again, *builder);
}

namespace {

bool BeginsAsPickle(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80') return false;
  const auto protocol = static_cast<unsigned char>(head[1]);
  return protocol >= 2 && protocol <= 5;
}

bool IsSnapshotKey(const JsonKey& key) {
  static constexpr std::string_view kOuter[] = {"segments",           "device_traces",
                                                "allocator_settings", "external_annotations",
                                                "host_segments",      "host_traces"};
  static constexpr std::string_view kOfSegment[] = {"segment_type", "total_size", "allocated_size"};
  return key.in_list ? std::ranges::find(kOfSegment, key.name) != std::end(kOfSegment)
                     : std::ranges::find(kOuter, key.name) != std::end(kOuter);
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenSnapshot(ImportRequest& request) {
  Preview preview(request.title, request.options);
  absl::StatusOr<recording::Recording> recording = ReadSnapshot(
      *request.input, SnapshotOptionsFor(request.head, request.path, request.options, preview));
  request.input.reset();
  if (!recording.ok()) return recording.status();
  return FromRecording(*std::move(recording), request.title, request.options);
}

}  // namespace

SnapshotOptions SnapshotOptionsFor(std::string_view head, const std::string& path,
                                   const OpenOptions& options, Preview& preview) {
  SnapshotOptions to;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none))
    to.again = [path] { return trace::InputStream::Open(path); };
  to.head = head;
  to.progress = ReadingProgress(options);
  to.cancel = options.cancel;
  to.memory_limit = options.memory_limit;
  if (options.preview)
    to.preview = [&preview](const recording::Recording& so_far) { preview.Show(so_far); };
  to.first_entry = options.first_entry;
  to.last_entry = options.last_entry;
  to.from_ns = options.from_ns;
  to.to_ns = options.to_ns;
  return to;
}

ImporterEntry DeclareImporter_snapshot() {
  return {.place = 20,
          .name = "snapshot",
          .begins = BeginsAsPickle,
          .has_key = IsSnapshotKey,
          .read = OpenSnapshot};
}

}  // namespace vramscope::importers
