#include "profiler/query/idle_gaps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/query/lane_data.h"

namespace vramscope::query {
namespace {

using trace::ActivityKind;
using trace::ActivityTable;

// A gap is compared with at most this many other streams and this many overlapping calls.
constexpr size_t kMostStreams = 64;
constexpr int kMostOverlaps = 64;
// Calls that allocate or free memory explain a gap if they take at least 1/kShareOfGap of it. The
// same applies to waits. A wait also explains a gap if the next launch follows at most kResume ns
// later.
constexpr int64_t kShareOfGap = 4;
constexpr int64_t kResume = 100'000;

// Intervals, sorted by begin. Each has the highest end of all intervals up to it, so a backward
// search finds all intervals that overlap a time.
class Overlaps {
 public:
  Overlaps(const ActivityTable& a) : activities_(a) {}
  void Add(uint32_t row) {
    rows_.push_back(row);
    highest_end_.push_back(
        std::max(highest_end_.empty() ? INT64_MIN : highest_end_.back(), activities_.end_ns[row]));
  }
  struct Share {
    int64_t ns = 0;              // upper bound of the time in [begin, end] that intervals cover
    uint32_t row = kNoRow;       // the overlapping interval that begins last
    bool at_begin = false;       // an interval contains `begin`
    int64_t end_ns = INT64_MIN;  // the highest end of the intervals
  };
  Share Within(int64_t begin, int64_t end) const {
    Share share;
    auto at = std::upper_bound(rows_.begin(), rows_.end(), end, [&](int64_t ns, uint32_t row) {
      return ns < activities_.begin_ns[row];
    });
    for (int looked = 0; at != rows_.begin() && looked < kMostOverlaps; ++looked) {
      --at;
      if (highest_end_[static_cast<size_t>(at - rows_.begin())] < begin) break;
      if (activities_.end_ns[*at] < begin) continue;
      if (share.row == kNoRow) share.row = *at;
      share.end_ns = std::max(share.end_ns, activities_.end_ns[*at]);
      share.ns +=
          std::min(activities_.end_ns[*at], end) - std::max(activities_.begin_ns[*at], begin);
      share.at_begin |= activities_.begin_ns[*at] <= begin;
    }
    return share;
  }

 private:
  const ActivityTable& activities_;
  std::vector<uint32_t> rows_;
  std::vector<int64_t> highest_end_;
};

// The kind of a runtime or driver call, from its name.
enum class CallIs : uint8_t { kUnseen, kOther, kMemory, kSynchronization };

CallIs ClassOf(std::string_view name) {
  const auto starts = [&](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  };
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("Synchronize")) return CallIs::kSynchronization;
  // Stream-ordered calls (cudaMallocAsync, cuMemFreeAsync) do not block.
  if (has("Async")) return CallIs::kOther;
  for (const std::string_view prefix : {"cudaMalloc", "cudaFree", "cuMemAlloc", "cuMemFree",
                                        "cuMemCreate", "cuMemRelease", "cuMemMap", "cuMemUnmap"})
    if (starts(prefix)) return CallIs::kMemory;
  return CallIs::kOther;
}

using Rows = std::vector<uint32_t>;

}  // namespace

std::string_view Name(IdleCause cause) {
  switch (cause) {
    case IdleCause::kMemory:
      return "memory";
    case IdleCause::kSynchronization:
      return "synchronization";
    case IdleCause::kHost:
      return "host";
    case IdleCause::kOtherStream:
      return "another stream";
    case IdleCause::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view Rule(IdleCause cause) {
  switch (cause) {
    case IdleCause::kMemory:
      return "the host spent at least a quarter of the gap in cudaMalloc or cudaFree";
    case IdleCause::kSynchronization:
      return "the host waited for the device and launched the next work right afterwards";
    case IdleCause::kHost:
      return "the host began to launch the next work only after the gap had begun";
    case IdleCause::kOtherStream:
      return "the next work was already queued, but began only when work of another stream ended";
    case IdleCause::kUnknown:
      return "the next work was queued before the gap, or the call that launched it was not "
             "recorded";
  }
  return "";
}

struct IdleGaps::Impl {
  Impl(std::shared_ptr<const trace::Trace> of, std::shared_ptr<const ActivityIndex> with)
      : trace(std::move(of)),
        index(std::move(with)),
        memory(trace->activities),
        waits(trace->activities) {
    const ActivityTable& a = trace->activities;
    std::vector<CallIs> called(trace->strings.size(), CallIs::kUnseen);
    std::map<uint8_t, std::map<uint32_t, Rows>> devices;
    for (uint32_t row = 0; row < a.size(); ++row) {
      switch (a.kind[row]) {
        case ActivityKind::kKernel:
        case ActivityKind::kMemcpy:
        case ActivityKind::kMemset:
        case ActivityKind::kCollective:
          devices[a.device[row]][a.stream[row]].push_back(row);
          break;
        case ActivityKind::kSynchronization:
          waits.Add(row);
          break;
        case ActivityKind::kRuntimeCall:
        case ActivityKind::kDriverCall: {
          CallIs& is = called[a.name[row].value];
          if (is == CallIs::kUnseen) is = ClassOf(trace->String(a.name[row]));
          if (is == CallIs::kMemory) memory.Add(row);
          if (is == CallIs::kSynchronization) waits.Add(row);
          break;
        }
        case ActivityKind::kDriverAlloc:  // has no duration; the call that allocates has one
        case ActivityKind::kDriverFree:
        case ActivityKind::kOverhead:
        case ActivityKind::kRange:
        case ActivityKind::kCounter:
        case ActivityKind::kOperand:
          break;
      }
    }
    for (const auto& [device, streams] : devices) {
      // The work of all streams of a device, sorted by begin.
      Rows all;
      for (const auto& [stream, rows] : streams) all.insert(all.end(), rows.begin(), rows.end());
      std::sort(all.begin(), all.end());  // rows are ordered by begin
      AddLine(device, trace::kAllStreams, all, {});
      if (streams.size() < 2) continue;  // a single stream has the same gaps as the device
      for (const auto& [stream, rows] : streams) {
        std::vector<const Rows*> others;
        for (const auto& [other, of_other] : streams)
          if (other != stream && others.size() < kMostStreams) others.push_back(&of_other);
        AddLine(device, stream, rows, others);
      }
    }
  }

  void AddLine(uint8_t device, uint32_t stream, const Rows& rows,
               const std::vector<const Rows*>& others) {
    const ActivityTable& a = trace->activities;
    Line line{.device = device, .stream = stream, .begin_ns = a.begin_ns[rows.front()]};
    const size_t first = before.size();
    uint32_t last = rows.front();  // the row that ends last so far
    std::vector<Other> streams;
    for (const Rows* other : others) streams.push_back({other});
    for (const uint32_t row : rows) {
      if (a.begin_ns[row] - a.end_ns[last] >= kShortest) {
        IdleGap gap{
            .begin_ns = a.end_ns[last], .end_ns = a.begin_ns[row], .before = last, .after = row};
        Explain(gap, streams);
        before.push_back(gap.before);
        after.push_back(gap.after);
        cause.push_back(gap.cause);
        evidence.push_back(gap.evidence);
        ++line.gaps;
        const uint64_t idle = Duration(gap.begin_ns, gap.end_ns);
        line.idle_ns += idle;
        line.idle_by_cause[static_cast<size_t>(gap.cause)] += idle;
      }
      if (a.end_ns[row] > a.end_ns[last]) last = row;
    }
    line.end_ns = a.end_ns[last];
    LaneData& lane = data.emplace_back();
    lane.Reserve(line.gaps);
    for (size_t i = first; i < before.size(); ++i)
      lane.Add(a.end_ns[before[i]], a.begin_ns[after[i]], static_cast<uint32_t>(i),
               static_cast<uint8_t>(cause[i]));
    lane.Build();
    lines.push_back(line);
  }

  // Another stream. `ended`: the number of its rows that end before the end of the current gap.
  struct Other {
    const Rows* rows;
    size_t ended = 0;
  };

  // Sets the cause and evidence. Must be called for gaps in order of their end.
  void Explain(IdleGap& gap, std::vector<Other>& others) const {
    const ActivityTable& a = trace->activities;
    const auto is = [&](IdleCause cause, uint32_t by) {
      if (by == kNoRow) return false;
      gap.cause = cause;
      gap.evidence = by;
      return true;
    };
    const uint32_t call = index->CallOf(gap.after);
    const bool queued = call != kNoRow && a.begin_ns[call] <= gap.begin_ns;
    if (!queued) {
      // Looks for the cause in the host's calls between the begin of the gap and the launch.
      const int64_t asked = call != kNoRow ? a.begin_ns[call] : gap.end_ns;
      if (is(IdleCause::kMemory, Memory(gap.begin_ns, asked))) return;
      const Overlaps::Share waited = waits.Within(gap.begin_ns, asked);
      if (waited.at_begin && Explains(waited, gap.begin_ns, asked) &&
          is(IdleCause::kSynchronization, waited.row))
        return;
      if (is(IdleCause::kHost, call)) return;
    }
    for (Other& other : others) {
      // The activities of a stream do not overlap, so they end in the order in which they begin.
      const Rows& rows = *other.rows;
      while (other.ended < rows.size() && a.end_ns[rows[other.ended]] <= gap.end_ns) ++other.ended;
      if (other.ended == 0) continue;
      const uint32_t row = rows[other.ended - 1];
      if (a.end_ns[row] > gap.begin_ns && gap.end_ns - a.end_ns[row] <= kHandOver &&
          is(IdleCause::kOtherStream, row))
        return;
    }
    if (queued) is(IdleCause::kMemory, Memory(gap.begin_ns, gap.end_ns));
  }

  // Whether the wait fills enough of the time before the launch, or ends shortly before it.
  static bool Explains(const Overlaps::Share& waited, int64_t begin, int64_t asked) {
    return waited.ns >= (asked - begin) / kShareOfGap || asked - waited.end_ns <= kResume;
  }

  // Returns the last call in [begin, end) that allocates or frees memory, or kNoRow if such calls
  // do not fill enough of this time to be the cause.
  uint32_t Memory(int64_t begin, int64_t end) const {
    const Overlaps::Share share = memory.Within(begin, end);
    return share.ns >= (end - begin) / kShareOfGap ? share.row : kNoRow;
  }

  std::shared_ptr<const trace::Trace> trace;
  std::shared_ptr<const ActivityIndex> index;
  Overlaps memory, waits;
  std::vector<Line> lines;
  std::vector<LaneData> data;  // indexed by line
  // Columns of a table with one row per gap.
  std::vector<uint32_t> before, after, evidence;
  std::vector<IdleCause> cause;
};

IdleGaps::IdleGaps(std::shared_ptr<const trace::Trace> trace,
                   std::shared_ptr<const ActivityIndex> index)
    : impl_(std::make_unique<Impl>(std::move(trace), std::move(index))) {}
IdleGaps::~IdleGaps() = default;
IdleGaps::IdleGaps(IdleGaps&&) noexcept = default;
IdleGaps& IdleGaps::operator=(IdleGaps&&) noexcept = default;

std::span<const IdleGaps::Line> IdleGaps::lines() const { return impl_->lines; }

std::optional<uint32_t> IdleGaps::LineOf(uint8_t device, uint32_t stream) const {
  for (uint32_t i = 0; i < impl_->lines.size(); ++i)
    if (impl_->lines[i].device == device && impl_->lines[i].stream == stream) return i;
  return std::nullopt;
}

LaneView IdleGaps::Query(uint32_t line, int64_t begin_ns, int64_t end_ns, int columns,
                         double min_rect_columns) const {
  if (columns <= 0 || end_ns <= begin_ns || line >= impl_->data.size()) return {};
  return impl_->data[line].Query(begin_ns, end_ns, columns, min_rect_columns);
}

void IdleGaps::Ask(uint32_t line, const TimeGrid& grid, double min_rect_columns,
                   LaneView* view) const {
  if (grid.columns <= 0 || line >= impl_->data.size()) return void(*view = {});
  impl_->data[line].Ask(grid, min_rect_columns, view);
}

std::vector<LaneRect> IdleGaps::Long(uint32_t line, int64_t begin_ns, int64_t end_ns,
                                     uint64_t least_ns) const {
  if (end_ns <= begin_ns || line >= impl_->data.size()) return {};
  return impl_->data[line].Wide(begin_ns, end_ns, least_ns);
}

std::optional<uint32_t> IdleGaps::At(uint32_t line, int64_t time_ns) const {
  if (line >= impl_->data.size()) return std::nullopt;
  return impl_->data[line].At(time_ns);
}

IdleGap IdleGaps::Gap(uint32_t gap) const {
  const ActivityTable& a = impl_->trace->activities;
  return {.begin_ns = a.end_ns[impl_->before[gap]],
          .end_ns = a.begin_ns[impl_->after[gap]],
          .before = impl_->before[gap],
          .after = impl_->after[gap],
          .cause = impl_->cause[gap],
          .evidence = impl_->evidence[gap]};
}

size_t IdleGaps::MemoryBytes() const {
  size_t bytes = impl_->before.capacity() * (3 * sizeof(uint32_t) + sizeof(IdleCause));
  for (const LaneData& lane : impl_->data) bytes += lane.MemoryBytes();
  return bytes;
}

}  // namespace vramscope::query
