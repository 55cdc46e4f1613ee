#include "profiler/exporters/memory_timeline.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <iterator>

#include "profiler/base/i18n.h"
#include "profiler/exporters/exporter.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::exporters {
namespace {

using trace::Category;
using trace::EventIndex;
using trace::EventKind;

constexpr size_t kFlushAt = size_t{1} << 16;
constexpr EventIndex kCheckEvery = 1 << 14;

// torch.profiler._memory_profiler.Action.
enum Action : int { kPreexisting = 1, kCreate = 2, kIncrementVersion = 3, kDestroy = 4 };
constexpr int64_t kBefore = -1;  // time of blocks from before the recording

int TimelineCategory(Category category) {
  switch (category) {
    case Category::kParameter:
      return 0;
    case Category::kOptimizerState:
      return 1;
    case Category::kInput:
      return 2;
    case Category::kTemporary:
    case Category::kWorkspace:
    case Category::kCommunication:
      return 3;
    case Category::kActivation:
      return 4;
    case Category::kGradient:
      return 5;
    case Category::kAutogradDetail:
      return 6;
    case Category::kBuffer:
    case Category::kKvCache:
    case Category::kUnknown:
      break;
  }
  return 7;
}

class GzipOutput {
 public:
  explicit GzipOutput(std::ostream& out) : out_(out) {
    ready_ = deflateInit2(&zlib_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,  // 16: gzip header
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipOutput() { deflateEnd(&zlib_); }
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;

  void Write(fmt::memory_buffer& text, bool last) {
    if (!ready_) return;
    zlib_.next_in = reinterpret_cast<Bytef*>(text.data());
    zlib_.avail_in = static_cast<uInt>(text.size());
    do {
      zlib_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
      zlib_.avail_out = static_cast<uInt>(chunk_.size());
      deflate(&zlib_, last ? Z_FINISH : Z_NO_FLUSH);
      out_.write(chunk_.data(), static_cast<std::streamsize>(chunk_.size() - zlib_.avail_out));
    } while (zlib_.avail_out == 0);
    if (last) out_.flush();
    text.clear();
  }
  bool ok() const { return ready_ && out_.good(); }

 private:
  std::ostream& out_;
  z_stream zlib_{};
  bool ready_ = false;
  std::array<char, 1 << 14> chunk_;
};

class TimelineWriter {
 public:
  TimelineWriter(const trace::Trace& trace, std::ostream& out, const MemoryTimelineOptions& options)
      : trace_(trace), options_(options), gzip_(out), at_(trace) {}

  absl::Status Write() {
    const trace::EventTable& events = trace_.events;
    buffer_.push_back('[');
    for (EventIndex event = 0; event < events.size(); ++event) {
      if ((event & (kCheckEvery - 1)) == 0) {
        if (options_.cancel != nullptr && options_.cancel->load())
          return absl::CancelledError(i18n::Text("writing the memory timeline was cancelled"));
        if (options_.progress) options_.progress(static_cast<double>(event) / events.size());
        if (!gzip_.ok()) break;
      }
      WriteEvent(event);
      if (buffer_.size() >= kFlushAt) gzip_.Write(buffer_, false);
    }
    buffer_.push_back(']');
    gzip_.Write(buffer_, true);
    if (!gzip_.ok())
      return absl::DataLossError(i18n::Text("cannot write the memory timeline; is the disk full?"));
    if (options_.progress) options_.progress(1);
    return absl::OkStatus();
  }

 private:
  void WriteEvent(EventIndex event) {
    const EventKind kind = trace_.events.kind[event];
    if (kind != EventKind::kAlloc && kind != EventKind::kFreeCompleted && kind != EventKind::kRetag)
      return;
    const auto id = static_cast<uint32_t>(trace_.events.id[event]);
    at_.AdvanceTo(event);  // the sums before the event
    const Category category = at_.CategoryOf({id});
    const bool before = trace_.recording_begin != trace::kNoEvent && event < trace_.recording_begin;
    // Uses unsigned arithmetic, so that invalid times wrap around instead of overflowing.
    const auto ns = before
                        ? kBefore
                        : static_cast<int64_t>(static_cast<uint64_t>(trace_.info.start_unix_ns) +
                                               static_cast<uint64_t>(trace_.events.time_ns[event]));
    const uint64_t block = trace_.allocations.bytes_rounded[id];
    const auto bytes = static_cast<int64_t>(block);
    const auto gone = static_cast<int64_t>(uint64_t{0} - block);
    if (kind == EventKind::kAlloc) {
      Point(ns, before ? kPreexisting : kCreate, bytes, category);
    } else if (kind == EventKind::kFreeCompleted) {
      Point(ns, kDestroy, gone, category);
    } else if (const Category to = trace_.events.category[event]; to != category) {
      Point(ns, kIncrementVersion, gone, category);
      Point(ns, kIncrementVersion, bytes, to);
    }
  }
  void Point(int64_t ns, Action action, int64_t bytes, Category category) {
    fmt::format_to(std::back_inserter(buffer_), "{}[{}, {}, {}, {}]", first_ ? "" : ", ", ns,
                   static_cast<int>(action), bytes, TimelineCategory(category));
    first_ = false;
  }

  const trace::Trace& trace_;
  const MemoryTimelineOptions& options_;
  GzipOutput gzip_;
  trace::MemoryCursor at_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
};

}  // namespace

absl::Status WriteMemoryTimeline(const trace::Trace& trace, std::ostream& out,
                                 const MemoryTimelineOptions& options) {
  return TimelineWriter(trace, out, options).Write();
}

namespace {

absl::Status ExportMemoryTimeline(const ExportRequest& request, std::ostream& out) {
  return WriteMemoryTimeline(*request.trace, out,
                             {.progress = request.progress, .cancel = request.cancel});
}

}  // namespace

ExporterEntry DeclareExporter_memory_timeline() {
  return {.place = 40,
          .name = "memory-timeline",
          .help = TEXT_MARK("torch.profiler's raw.json.gz: HolisticTraceAnalysis"),
          .one_device = true,
          .write = ExportMemoryTimeline};
}

}  // namespace vramscope::exporters
