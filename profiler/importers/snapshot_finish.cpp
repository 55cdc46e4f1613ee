#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/printable.h"
#include "profiler/importers/snapshot_keys.h"
#include "profiler/importers/snapshot_parts.h"
#include "profiler/run/units.h"

namespace vramscope::importers {
namespace {

using recording::EntryTable;
using recording::Recording;

class Finisher {
 public:
  Finisher(SnapshotParts parts, const SnapshotOptions& options)
      : parts_(std::move(parts)), recording_(parts_.recording), options_(options) {}

  absl::StatusOr<Recording> Run() {
    recording_.alloc_conf =
        parts_.alloc_conf.empty() ? run::ToString(parts_.settings) : std::move(parts_.alloc_conf);
    Warnings();
    SetCategories();
    OrderTimes();
    absl::Status status = Segments();
    if (!status.ok()) return status;
    MergeDevices();
    history_ = parts_.range
                   ? parts_.range->history()
                   : std::ranges::any_of(recording_.entries.action, SnapshotRange::IsHistory);
    if (KeptOneEntry()) ForgetEntries();
    status = Lost();
    if (status.ok()) status = Cut();
    if (!status.ok()) return status;
    // These columns may have no values in the requested part.
    for (auto* column : {&recording_.entries.user_metadata, &recording_.entries.compile_context})
      if (std::ranges::all_of(*column, [](trace::StringId id) { return id.value == 0; }))
        column->clear();
    if (history_)
      Annotations();
    else
      State();
    return std::move(recording_);
  }

 private:
  void Warn(std::string text) { recording_.warnings.push_back(std::move(text)); }
  static std::string Entries(uint64_t count) {
    return count == 1 ? i18n::English("{} entry", count) : i18n::English("{} entries", count);
  }
  static std::string Segments(uint64_t count) {
    return count == 1 ? i18n::English("{} segment", count) : i18n::English("{} segments", count);
  }
  static std::string Blocks(uint64_t count) {
    return count == 1 ? i18n::English("{} block", count) : i18n::English("{} blocks", count);
  }

  void Warnings() {
    if (recording_.overflowed)
      Warn(parts_.max_entries > 0
               ? i18n::English("the recording's buffer of {} was full: its oldest entries are lost",
                               Entries(parts_.max_entries))
               : TEXT_MARK("the recording's buffer was full: its oldest entries are lost"));
    if (parts_.entries_without_time > 0 && parts_.has_times)
      Warn(i18n::English("{} without a time: shown one microsecond after the previous entry",
                         Entries(parts_.entries_without_time)));
    if (parts_.host_segments > 0 || parts_.host_entries > 0)
      Warn(i18n::English(
          "pinned host memory is not shown. Left out: {} ({} bytes), {} in use ({} bytes), and {} "
          "of the history",
          Segments(parts_.host_segments), parts_.host_bytes, Blocks(parts_.host_blocks),
          parts_.host_used, Entries(parts_.host_entries)));
    if (!parts_.other_actions.empty()) {
      std::string names;
      for (const auto& [name, count] : parts_.other_actions)
        names += fmt::format("{}{} '{}'", names.empty() ? "" : ", ", count, Printable(name, 40));
      Warn(i18n::English("entries of unknown kinds are left out: {}", names));
    }
  }

  // Sets the categories. `categories`, an extension of PyTorch's viewer, is a list of names. An
  // entry contains a name or an index into this list.
  void SetCategories() {
    std::vector<trace::Category> categories;
    for (const std::string& name : parts_.category_names) categories.push_back(CategoryOf(name));
    const auto look_up = [&](size_t index) {
      if (recording_.labels_are_inferred || index == SnapshotParts::kNoCategory)
        return trace::Category::kUnknown;
      if (index >= SnapshotParts::kNamedCategory)
        return static_cast<trace::Category>(index - SnapshotParts::kNamedCategory);
      return index < categories.size() ? categories[index] : trace::Category::kUnknown;
    };
    bool any = !recording_.labels_are_inferred && parts_.has_category;
    for (auto& s : recording_.segments)
      for (auto& b : s.blocks)
        if (b.recorded_category != trace::Category::kUnknown) {
          any = true;
          b.recorded_category = look_up(static_cast<size_t>(b.recorded_category) - 1);
        }
    recording_.labels_are_complete =
        parts_.is_marked && any && !recording_.labels_are_inferred && parts_.cut.empty();
    if (!recording_.labels_are_inferred && parts_.has_category) {
      EntryTable& e = recording_.entries;
      e.recorded_category.reserve(parts_.category.size());
      for (size_t row = 0; row < parts_.category.size(); ++row) {
        const trace::Category category = look_up(parts_.category[row]);
        e.recorded_category.push_back(category);
        const bool says =
            category != trace::Category::kUnknown ||
            (recording_.labels_are_complete && parts_.category[row] != SnapshotParts::kNoCategory);
        if (says && e.action[row] == recording::Action::kAnnotate)
          e.action[row] = recording::Action::kCategory;
      }
    }
    parts_.category = {};
  }

  // Makes times ascend within each device and start at 0.
  void OrderTimes() {
    if (parts_.traces.size() > 256) {
      Warn(i18n::English("only the first 256 of {} devices are shown", parts_.traces.size()));
      parts_.traces.resize(256);
    }
    if (parts_.range) {
      total_ = parts_.range->total();
      WarnMoved(parts_.range->moved());
      CountTimes();
      return;
    }
    uint64_t moved = 0;
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const auto& t : parts_.traces) {
      int64_t last = std::numeric_limits<int64_t>::min();
      for (int64_t& time : Times(t)) {
        if (time < last) {
          time = last;
          ++moved;
        }
        last = time;
      }
      if (t.count > 0) first = std::min(first, Times(t)[0]);
    }
    WarnMoved(moved);
    for (const auto& t : parts_.traces) total_ += t.count;
    CountTimes();
    if (first == 0 || total_ == 0 || !parts_.has_times) return;
    for (const auto& t : parts_.traces)
      for (int64_t& time : Times(t)) time -= first;
    recording_.start_unix_ns += first;
    parts_.start_us += first / 1000;
  }

  // Entries without a time were placed one microsecond apart. If no entry has a time, the entries'
  // numbers serve as times.
  void CountTimes() {
    recording_.has_times = parts_.has_times;
    if (recording_.has_times) return;
    for (int64_t& time : recording_.entries.time_ns) time /= 1000;
  }

  void WarnMoved(uint64_t entries) {
    if (entries > 0)
      Warn(
          i18n::English("{} with an earlier time than the previous entry: shown at the time of the "
                        "previous entry",
                        Entries(entries)));
  }

  std::span<int64_t> Times(SnapshotParts::Rows rows) {
    return std::span(recording_.entries.time_ns).subspan(rows.first, rows.count);
  }

  // Merges the entries of all devices into one table, sorted by time. The order within a device
  // does not change. Entries of the host are dropped.
  void MergeDevices() {
    const auto& traces = parts_.traces;
    const EntryTable& e = recording_.entries;
    size_t kept = 0, devices = 0;
    for (const auto& t : traces) {
      kept += t.count;
      if (t.count > 0) ++devices;
    }
    const bool in_place =
        devices <= 1 && kept == e.size();  // then the trace is already the whole table, in order
    const bool needs_device =
        traces.size() > 1 && (devices > 1 || traces[0].count == 0) && kept > 0;
    if (in_place) {
      if (needs_device) {
        const auto owner = std::ranges::find_if(traces, [](const auto& t) { return t.count > 0; });
        recording_.entries.device.assign(kept, static_cast<uint8_t>(owner - traces.begin()));
      }
      return;
    }
    struct Next {
      int64_t time;
      uint8_t device;
      uint32_t row, end;
    };
    std::vector<Next> heap;
    const auto later = [](const Next& a, const Next& b) {
      return std::tie(a.time, a.device) > std::tie(b.time, b.device);
    };
    for (size_t d = 0; d < traces.size(); ++d)
      if (traces[d].count > 0)
        heap.push_back({e.time_ns[traces[d].first], static_cast<uint8_t>(d), traces[d].first,
                        traces[d].first + traces[d].count});
    std::ranges::make_heap(heap, later);
    std::vector<uint32_t> order;
    std::vector<uint8_t> device;
    order.reserve(kept);
    device.reserve(needs_device ? kept : 0);
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, later);
      Next& next = heap.back();
      order.push_back(next.row);
      if (needs_device) device.push_back(next.device);
      if (++next.row == next.end) {
        heap.pop_back();
      } else {
        next.time = e.time_ns[next.row];
        std::ranges::push_heap(heap, later);
      }
    }
    Gather(order);
    recording_.entries.device = std::move(device);
  }

  // Reorders every column: row i gets the value of the former row order[i].
  void Gather(const std::vector<uint32_t>& order) {
    EntryTable& e = recording_.entries;
    const auto gather = [&order](auto& column) {
      if (column.empty()) return;
      std::remove_reference_t<decltype(column)> out;
      out.reserve(order.size());
      for (const uint32_t row : order) out.push_back(column[row]);
      column = std::move(out);
    };
    gather(e.action);
    gather(e.address);
    gather(e.bytes);
    gather(e.time_ns);
    gather(e.stack);
    gather(e.stream);
    gather(e.device);
    gather(e.recorded_category);
    gather(e.user_metadata);
    gather(e.compile_context);
  }

  absl::Status Segments() {
    if (parts_.segments_cut && total_ > 0) {
      recording_.segments.clear();
      recording_.has_segments = false;
    }
    if (recording_.has_segments && recording_.segments.empty() && HistoryEndsWithSegments()) {
      recording_.has_segments = false;
      Warn(
          TEXT_MARK("the file lists no segments, although its history ends with segments: only the "
                    "history is used"));
    }
    for (recording::SegmentState& s : recording_.segments) {
      uint64_t next = s.address, sum = 0;
      const auto beyond = [&](uint64_t address, uint64_t bytes) {
        return absl::DataLossError(i18n::Format(
            "a segment of device {} has {} bytes at {:#x}, which go beyond the address space",
            s.device, bytes, address));
      };
      for (recording::BlockState& b : s.blocks) {
        if (b.address == 0) b.address = next;  // old files contain no addresses of blocks
        next = b.address + b.bytes;
        if (next < b.address) return beyond(b.address, b.bytes);
        sum += b.bytes;
        if (b.requested == 0 && b.use != recording::BlockUse::kInactive) b.requested = b.bytes;
      }
      if (s.bytes == 0) s.bytes = sum;
      if (s.address + s.bytes < s.address) return beyond(s.address, s.bytes);
      std::ranges::sort(s.blocks, {}, &recording::BlockState::address);
      if (s.expandable) FillGaps(s);
    }
    std::ranges::sort(recording_.segments, [](const auto& a, const auto& b) {
      return std::tie(a.device, a.address) < std::tie(b.device, b.address);
    });
    return absl::OkStatus();
  }

  bool HistoryEndsWithSegments() const {
    // The devices are not merged yet, and other rows are of pinned host memory.
    std::set<std::pair<size_t, uint64_t>> live;
    const auto follow = [&live](const EntryTable& e, size_t device, SnapshotParts::Rows rows) {
      for (uint32_t i = rows.first; i < rows.first + rows.count; ++i) {
        if (e.action[i] == recording::Action::kSegmentAlloc)
          live.emplace(device, e.address[i]);
        else if (e.action[i] == recording::Action::kSegmentFree)
          live.erase({device, e.address[i]});
      }
    };
    if (parts_.range) {
      follow(parts_.range->all(), 0, {0, parts_.range->total()});
    } else {
      for (size_t d = 0; d < parts_.traces.size(); ++d)
        follow(recording_.entries, d, parts_.traces[d]);
    }
    return !live.empty();
  }

  // Fills gaps between the blocks of a segment with free blocks. The file lists only mapped ranges
  // of expandable segments, so a gap is free memory.
  static void FillGaps(recording::SegmentState& s) {
    std::vector<recording::BlockState> all;
    uint64_t next = s.address;
    const auto free_until = [&](uint64_t address) {
      if (address > next) all.push_back({.address = next, .bytes = address - next});
    };
    for (const recording::BlockState& b : s.blocks) {
      free_until(std::min(b.address, s.address + s.bytes));
      all.push_back(b);
      next = std::max(next, b.address + b.bytes);
    }
    free_until(s.address + s.bytes);
    s.blocks = std::move(all);
  }

  // `_record_memory_history(True)`, the signature of PyTorch before 2.1, keeps only the last entry
  // of each device. One entry cannot have allocated several blocks, so such a file has no history.
  bool KeptOneEntry() const {
    if (total_ == 0 || !parts_.cut.empty()) return false;
    // With a range, `traces` counts the entries of the range only.
    if (parts_.range && total_ > 1) return false;
    if (std::ranges::any_of(parts_.traces, [](const auto& t) { return t.count > 1; })) return false;
    uint64_t in_use = 0;
    for (const recording::SegmentState& s : recording_.segments)
      for (const recording::BlockState& b : s.blocks)
        in_use += b.use == recording::BlockUse::kInactive ? 0 : 1;
    return in_use > parts_.traces.size();
  }
  void ForgetEntries() {
    Warn(TEXT_MARK(
        "the snapshot has no history: it was recorded with _record_memory_history(True), which "
        "keeps one entry. To record a history, use _record_memory_history(max_entries=100000)"));
    recording_.entries = {};
    total_ = 0;
    history_ = false;
  }

  // If the file is truncated, makes its segments agree with the last entry that was read.
  absl::Status Lost() {
    if (parts_.cut.empty()) return absl::OkStatus();
    if (total_ == 0) {
      recording_.lost = i18n::English("{}. Before that, vramscope read {}", parts_.cut,
                                      Segments(recording_.segments.size()));
    } else {
      recording_.lost =
          recording_.has_segments
              ? i18n::English(
                    "{}. Before that, vramscope read {}. Later entries are lost. Blocks that "
                    "appear in none of the read entries are taken from the final segments",
                    parts_.cut, Entries(total_))
              : i18n::English(
                    "{}. Before that, vramscope read {}. Later entries and the segments are lost. "
                    "Blocks that appear in none of the read entries are missing",
                    parts_.cut, Entries(total_));
      // With a range, CutAlready() calls EndAtLastEntry later, when all entries are available.
      if (!parts_.range && recording_.has_segments) return EndAtLastEntry(recording_);
    }
    return absl::OkStatus();
  }

  // Cuts out the requested range.
  absl::Status Cut() {
    if (SnapshotRange::IsAsked(options_) && total_ == 0)
      return absl::OutOfRangeError(
          i18n::Text("the file has no history entries, only the state at one point in time; open "
                     "it without a range"));
    if (SnapshotRange::IsOfTimes(options_) && !recording_.has_times)
      return absl::InvalidArgumentError(i18n::Text(
          "the entries of this file have no times; choose a part by entry number (--entries A:B)"));
    return parts_.range ? CutAlready() : CutNow();
  }

  absl::Status CutNow() {
    EntryTable& e = recording_.entries;
    const uint64_t n = e.size();
    const auto by_time = [&](int64_t time, bool past) {
      const auto at = past ? std::ranges::upper_bound(e.time_ns, time)
                           : std::ranges::lower_bound(e.time_ns, time);
      return static_cast<uint64_t>(at - e.time_ns.begin());
    };
    const uint64_t begin =
        std::min(n, std::max(options_.first_entry, by_time(options_.from_ns, false)));
    const uint64_t after_last = options_.last_entry >= n ? n : options_.last_entry + 1;
    const uint64_t end = std::max(begin, std::min(after_last, by_time(options_.to_ns, true)));
    if (begin == 0 && end == n) return absl::OkStatus();
    if (begin == end && n > 0) return Nothing(n, e.time_ns.back());
    const auto stack_of = [&](recording::EntryIndex i) { return e.StackOf(i); };
    absl::Status status = TakePart(begin, end, stack_of);
    if (!status.ok()) return status;
    std::vector<uint32_t> order(end - begin);
    std::iota(order.begin(), order.end(), static_cast<uint32_t>(begin));
    Gather(order);
    WarnOfRange(begin, end, n);
    return absl::OkStatus();
  }

  // Used if the range was cut out during the reading.
  absl::Status CutAlready() {
    SnapshotRange& range = *parts_.range;
    const uint32_t begin = range.before(), end = begin + recording_.entries.size(),
                   n = range.total();
    if (begin == end) return Nothing(n, range.last_ns());
    EntryTable all = range.TakeAll();
    if (parts_.range_device > 0) all.device.assign(all.size(), parts_.range_device);
    const std::vector<trace::StackId> stacks = std::move(recording_.entries.stack);
    const auto stack_of = [&](recording::EntryIndex i) {
      return i < begin ? range.StackBefore(i) : i < end ? stacks[i - begin] : trace::StackId();
    };
    std::swap(recording_.entries, all);
    absl::Status status;
    if (!parts_.cut.empty() && recording_.has_segments) status = EndAtLastEntry(recording_);
    if (status.ok() && (begin > 0 || end < n)) status = TakePart(begin, end, stack_of);
    std::swap(recording_.entries, all);
    recording_.entries.stack = stacks;
    WarnOfRange(begin, end, n);
    return status;
  }

  // Sets the state before and after entries [begin, end), given a recording_ with all entries.
  absl::Status TakePart(uint64_t begin, uint64_t end,
                        const std::function<trace::StackId(recording::EntryIndex)>& stack_of) {
    const absl::StatusOr<recording::History> history = recording::Reconstruct(recording_);
    if (!history.ok()) return history.status();
    recording::Part part =
        recording::PartOf(recording_, *history, static_cast<recording::EntryIndex>(begin),
                          static_cast<recording::EntryIndex>(end), stack_of);
    recording_.older = std::move(part.older);
    recording_.segments = std::move(part.segments);
    recording_.labels_are_complete = false;  // entries of older blocks are not in the part
    for (const std::string& warning : history->warnings)
      Warn(i18n::English("in the whole file: {}", warning));
    return absl::OkStatus();
  }

  absl::Status Nothing(uint64_t entries, int64_t last_ns) const {
    return absl::OutOfRangeError(i18n::Format(
        "the requested part has no entries. The file has entries 0 to {}{}", entries - 1,
        recording_.has_times ? i18n::Format(", and the last entry is {:.3f} ms after the first",
                                            static_cast<double>(last_ns) / 1e6)
                             : ""));
  }

  void WarnOfRange(uint64_t begin, uint64_t end, uint64_t n) {
    ends_early_ = end < n;
    if (begin > 0 || end < n)
      Warn(i18n::English("entries {} to {} of {} are loaded, as requested", begin, end - 1, n));
  }

  // Used if there is no history. The recording is then the state at one time, and times of entries
  // are dropped.
  void State() {
    recording_.content = trace::Content::kState;
    recording_.has_times = false;
    recording_.start_unix_ns = 0;
    std::ranges::fill(recording_.entries.time_ns, 0);
    const size_t annotations = parts_.annotations.size();
    if (annotations == 1)
      Warn(i18n::English("{} annotation is left out: it contains no entry", annotations));
    else if (annotations > 1)
      Warn(i18n::English("{} annotations are left out: they contain no entry", annotations));
  }

  // Pairs begins and ends: an end closes the innermost open begin of the same name.
  void Annotations() {
    if (parts_.annotations.empty()) return;
    // Sorts the marks by time, because those in the file may be out of order.
    std::ranges::stable_sort(parts_.annotations, {}, &SnapshotParts::AnnotationMark::time_us);
    const EntryTable& e = recording_.entries;
    const bool any = e.size() > 0;
    if (!recording_.has_times) {
      const size_t count = parts_.annotations.size();
      Warn(count == 1
               ? i18n::English("{} annotation is left out: the entries have no times", count)
               : i18n::English("{} annotations are left out: the entries have no times", count));
      return;
    }
    const int64_t first = any ? e.time_ns.front() : 0;
    const int64_t last =
        any ? e.time_ns.back() : (parts_.annotations.back().time_us - parts_.start_us) * 1000;
    std::map<std::pair<uint32_t, uint8_t>, std::vector<size_t>> open;
    std::vector<recording::Annotation> all;
    for (const auto& mark : parts_.annotations) {
      const int64_t time = (mark.time_us - parts_.start_us) * 1000;
      std::vector<size_t>& begun = open[{mark.name, mark.device}];
      if (mark.begin) {
        begun.push_back(all.size());
        all.push_back({{mark.name}, time, std::max(time, last), mark.device});
      } else if (!begun.empty()) {
        all[begun.back()].end_ns = time;
        begun.pop_back();
      } else {
        all.push_back({{mark.name}, std::min<int64_t>(time, first), time, mark.device});
      }
    }
    // Annotations that ended before the first entry or began after the last one are dropped.
    std::erase_if(all, [&](const auto& a) { return a.end_ns < first || a.begin_ns > last; });
    for (auto& a : all) {
      a.begin_ns = std::max(a.begin_ns, first);
      if (ends_early_) a.end_ns = std::min(a.end_ns, last);
    }
    std::ranges::stable_sort(all, {}, &recording::Annotation::begin_ns);
    recording_.annotations = std::move(all);
  }

  SnapshotParts parts_;
  Recording& recording_;
  const SnapshotOptions& options_;
  uint64_t total_ = 0;       // entries of all devices in the file
  bool ends_early_ = false;  // entries after the requested range were left out
  bool history_ = false;     // at least one entry is an action of the allocator
};

}  // namespace

absl::StatusOr<Recording> FinishSnapshot(SnapshotParts parts, const SnapshotOptions& options) {
  return Finisher(std::move(parts), options).Run();
}

}  // namespace vramscope::importers
