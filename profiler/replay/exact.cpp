#include "profiler/replay/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/difference.h"
#include "profiler/replay/recorded_state.h"
#include "profiler/replay/releases.h"
#include "profiler/replay/start_states.h"
#include "profiler/run/units.h"
#include "profiler/trace/allocator_events.h"

namespace vramscope::replay {
namespace {

using allocator::Block;
using allocator::CachingAllocator;
using allocator::Segment;
using trace::EventIndex;
using trace::EventKind;
using trace::IsAllocatorEvent;
using trace::kNoEvent;

constexpr EventIndex kProgressStep = 1 << 16;

// A recorded call of the driver. The model has yet to make the same call.
struct Recorded {
  EventIndex event = 0;
  EventKind kind = EventKind::kMarker;
  Segment segment;
  uint64_t address = 0, bytes = 0;  // mapped or unmapped pages
  bool done = false;
  bool gives_back() const {
    return kind == EventKind::kSegmentFree || kind == EventKind::kSegmentUnmap;
  }
};

class Exact final : public allocator::SegmentObserver, public allocator::Driver {
 public:
  Exact(const trace::Trace& t, const ReplayOptions& options, const run::AllocConf& conf,
        uint64_t most_differences)
      : trace_(t), options_(options), conf_(conf), most_differences_(most_differences) {
    plan_ = t.info.backend == trace::Backend::kPlan;
    settings_.conf = conf;
    settings_.device_total_bytes = t.info.device.memory_bytes;
    settings_.driver = this;
    settings_.grant_over_limit = plan_;
    if (conf.memory_fraction > 0 && conf.memory_fraction < 1 && !plan_) {
      settings_.conf.memory_fraction = 0;
      out_.warnings.emplace_back(
          TEXT_MARK("the memory fraction is ignored: the file does not state the total memory"));
    }
    begin_ = t.recording_begin == kNoEvent ? 0 : t.recording_begin + 1;
  }

  absl::StatusOr<Replayed> Run() {
    out_.conf = conf_;
    CountTotals();
    const RecordedState start = StateBefore(trace_, begin_, conf_);
    if (start.blocks_left_out > 0) {
      out_.warnings.push_back(i18n::English(
          "the replay starts without {}. Reason: position outside all segments, or overlap with "
          "other blocks",
          start.blocks_left_out == 1 ? i18n::English("{} block", start.blocks_left_out)
                                     : i18n::English("{} blocks", start.blocks_left_out)));
    }
    StartStates states(trace_, begin_, start, conf_);
    states_ = &states;
    if (absl::Status status = Begin(start); !status.ok()) return status;
    const uint32_t n = trace_.events.size();
    if (begin_ > 0) Count(begin_ - 1);  // the start state
    for (EventIndex i = begin_; i < n && !stopped_; ++i) {
      if ((i - begin_) % kProgressStep == 0) {
        if (options_.cancel != nullptr && *options_.cancel) {
          return absl::CancelledError(i18n::Text("the replay was cancelled"));
        }
        if (options_.progress) options_.progress(static_cast<double>(i) / n);
      }
      Step(i);
      if (!stopped_) Count(i);
    }
    if (!stopped_) EndWindow(n);
    if (!stopped_ && n > 0) Count(n - 1);
    Complete();
    AddStats();
    Finish();
    return std::move(out_);
  }

  // --- calls of the driver by the model
  void OnSegmentAlloc(const Segment&) override {}
  void OnSegmentFree(const Segment& s) override {
    GiveBack(EventKind::kSegmentFree, s, s.address, s.bytes);
  }
  void OnSegmentUnmap(const Segment& s, uint64_t address, uint64_t bytes) override {
    GiveBack(EventKind::kSegmentUnmap, s, address, bytes);
  }
  void OnFreeCompleted(const Block& block) override { early_.insert(block.address); }
  void OnOutOfMemory(uint64_t, uint64_t) override {
    if (!out_.first_out_of_memory.has_value()) out_.first_out_of_memory = at_;
  }

  std::optional<uint64_t> Allocate(const Segment& wanted) override {
    Recorded* next = Next();
    if (next == nullptr) return std::nullopt;
    const Segment& s = next->segment;
    // Address ranges can be released and reserved again. A run's trace does not show this.
    if (wanted.expandable && s.expandable && next->kind == EventKind::kSegmentMap &&
        next->address == s.address && s.stream == wanted.stream && s.pool == wanted.pool &&
        s.mempool == wanted.mempool)
      return s.address;
    // The size of an expandable segment's address range is not compared: it depends only on the
    // device's memory.
    const bool same_bytes = wanted.expandable || s.bytes == wanted.bytes;
    if (next->kind != EventKind::kSegmentAlloc || !same_bytes || s.stream != wanted.stream ||
        s.pool != wanted.pool || s.mempool != wanted.mempool || s.expandable != wanted.expandable) {
      Differ(next->event,
             i18n::Format("a segment: recorded {}, but replayed {}", Text(s), Text(wanted)),
             next->kind != EventKind::kSegmentAlloc
                 ? i18n::Text("the recorded allocator mapped pages instead of allocating a segment")
             : s.bytes != wanted.bytes
                 ? i18n::Text("with another large_segment_size_mb or roundup_power2_divisions, the "
                              "replayed allocator would request a different size")
                 : i18n::Text("the request belongs to another stream or pool"));
      return std::nullopt;
    }
    next->done = true;
    ++out_.segment_allocs_equal;
    return s.address;
  }

  bool Map(const Segment&, uint64_t address, uint64_t bytes) override {
    Recorded* next = Next();
    if (next == nullptr) return false;
    if (next->kind != EventKind::kSegmentMap || next->address != address || next->bytes != bytes) {
      Differ(next->event,
             i18n::Format("mapped pages: recorded {} at {:#x}, but replayed {} at {:#x}",
                          Bytes(next->bytes), next->address, Bytes(bytes), address),
             i18n::Text("the replayed allocator maps the lowest addresses with enough room"));
      return false;
    }
    next->done = true;
    ++out_.segment_allocs_equal;
    return true;
  }

 private:
  absl::Status Begin(const RecordedState& state) {
    model_ = std::make_unique<CachingAllocator>(settings_, this);
    const absl::Status status = model_->Restore(state.segments);
    if (status.ok()) return status;
    return absl::FailedPreconditionError(
        i18n::Format("the recording can be replayed only with other settings, because its first "
                     "blocks do not fit their segments: {}",
                     std::string(status.message())));
  }

  void CountTotals() {
    for (EventIndex i = begin_; i < trace_.events.size(); ++i) {
      if (!IsAllocatorEvent(trace_.events.kind[i])) continue;
      switch (trace_.events.kind[i]) {
        case EventKind::kAlloc:
          ++out_.addresses_total;
          break;
        case EventKind::kSegmentAlloc:
        case EventKind::kSegmentMap:
          ++out_.segment_allocs_total;
          break;
        case EventKind::kSegmentFree:
        case EventKind::kSegmentUnmap:
          ++out_.segment_frees_total;
          break;
        default:
          break;
      }
    }
  }

  uint32_t Activity(EventIndex i) const {
    const auto& events = trace_.other_events.event;
    return static_cast<uint32_t>(std::lower_bound(events.begin(), events.end(), i) -
                                 events.begin());
  }

  uint32_t MemPoolOf(uint64_t allocation) const {
    const trace::SegmentId s = trace_.allocations.segment[allocation];
    return s.valid() ? trace_.segments.mempool[s.value] : 0;
  }

  void Step(EventIndex i) {
    if (!IsAllocatorEvent(trace_.events.kind[i])) return;
    at_ = i;
    const uint64_t id = trace_.events.id[i];
    switch (trace_.events.kind[i]) {
      case EventKind::kAlloc:
        Alloc(i, id);
        break;
      case EventKind::kFreeRequested:
        EndWindow(i);
        if (!Complete()) Resync(i - 1);
        if (stopped_) return;
        // Usually, the completion directly follows the request. Then both are replayed at the
        // completion.
        if (trace_.allocations.free_event[id] != i + 1 || DriverComesNext(i + 2)) {
          deferred_ = id;
          Check(i, id, model_->RequestFree(trace_.allocations.address[id]));
        }
        break;
      case EventKind::kFreeCompleted: {
        const EventIndex requested = trace_.allocations.free_requested_event[id];
        if (requested != i && (requested + 1 != i || deferred_ == id)) {
          completed_.push_back(id);
          break;
        }
        EndWindow(i);
        if (!Complete()) Resync(i - 1);
        if (stopped_) return;
        Check(i, id, model_->Free(trace_.allocations.address[id]));
        if (states_->open()) states_->Forget(trace_.allocations.address[id]);
        break;
      }
      case EventKind::kOutOfMemory:
        if (plan_) {
          window_.push_back({.event = i, .kind = EventKind::kOutOfMemory, .segment = {}});
        } else {
          FailedRequest(i);
        }
        break;
      default:
        Push(i, id);
    }
  }

  void Push(EventIndex i, uint64_t id) {
    const trace::SegmentTable& s = trace_.segments;
    Recorded r{.event = i, .kind = trace_.events.kind[i], .segment = {}};
    r.segment = {.address = s.address[id],
                 .bytes = s.bytes[id],
                 .pool = s.pool[id],
                 .stream = s.stream[id],
                 .mempool = s.mempool[id],
                 .expandable = s.expandable[id] != 0};
    if (r.kind == EventKind::kSegmentMap || r.kind == EventKind::kSegmentUnmap) {
      r.address = trace_.other_events.address[Activity(i)];
      r.bytes = trace_.events.bytes[i];
    } else {
      r.address = r.segment.address;
      r.bytes = r.segment.bytes;
    }
    window_.push_back(r);
  }

  bool AsksDriver() const {
    return std::any_of(window_.begin(), window_.end(),
                       [](const Recorded& r) { return !r.done && !r.gives_back(); });
  }

  void Alloc(EventIndex i, uint64_t id) {
    const trace::AllocationTable& a = trace_.allocations;
    const uint64_t bytes = a.bytes[id];
    const uint32_t stream = a.stream[id], mempool = MemPoolOf(id);
    if ((!window_.empty() || !completed_.empty()) &&
        !Prepare(bytes, stream, mempool, AsksDriver())) {
      return Resync(i);
    }
    if (states_->open()) {
      const bool grows = AsksDriver();
      states_->Weigh(*model_, bytes, stream, mempool,
                     grows ? std::nullopt : std::optional(a.address[id]));
    }
    differed_ = false;
    absl::StatusOr<Block> got = model_->Malloc(bytes, stream, mempool);
    const bool left = AsksDriver();
    if (!differed_) LeftOver();
    if (got.ok() && got->address == a.address[id] && !left && !differed_) {
      ++out_.addresses_equal;
    } else if (!differed_) {
      const std::string cause =
          CauseOf(*model_, conf_,
                  {.bytes = bytes,
                   .stream = stream,
                   .mempool = mempool,
                   .recorded = a.address[id],
                   .recorded_asks_driver = left,
                   .model = got.ok() ? std::optional(got->address) : std::nullopt});
      Differ(i,
             i18n::Format("alloc of {} on stream {}: recorded at {:#x}{}, but the replay {}",
                          Bytes(bytes), stream, a.address[id],
                          left ? i18n::Text(" in a new segment") : std::string(),
                          got.ok() ? i18n::Format("places it at {:#x}", got->address)
                                   : i18n::Text("finds no memory")),
             cause);
    }
    window_.clear();
    if (differed_ || !Complete()) Resync(i);
  }

  // Called before an allocation: replays the events since the last allocation. `asks`: in the
  // recording, this allocation called the driver. Returns false if the model differs from the
  // recording.
  bool Prepare(uint64_t bytes, uint32_t stream, uint32_t mempool, bool asks) {
    const auto fits = [&] { return model_->BestFit(bytes, stream, mempool).has_value(); };
    if (asks && !completed_.empty() && !fits()) {
      // A free may complete only after the allocation has searched for a cached block, because the
      // release of the cache waits for the free. Even then, the completion is recorded directly
      // before the allocation. This case is assumed if the allocation would otherwise have found a
      // block.
      const auto before = model_->Snapshot();
      const std::vector<uint64_t> completed = completed_;
      if (!Complete()) return false;
      if (!fits()) {
        const bool called =
            !window_.empty() && window_.front().gives_back() && CalledFor(window_.front().event);
        return !called || EmptyCache();
      }
      AddStats();
      completed_ = completed;
      model_ = std::make_unique<CachingAllocator>(settings_, this);
      return model_->Restore(before).ok();
    }
    if (!Complete()) return false;
    // If memory is released directly before a new segment, the device usually was full. But if the
    // allocation could have used a cached block, the program called empty_cache().
    const bool called = !asks || window_.empty() || fits() || CalledFor(window_.front().event);
    return !called || window_.empty() || !window_.front().gives_back() || EmptyCache();
  }

  // Whether event `i` belongs to a release that the program caused by calling empty_cache().
  bool CalledFor(EventIndex i) {
    if (!releases_.has_value()) releases_ = FindReleases(trace_, conf_);
    const auto it = std::lower_bound(releases_->all.begin(), releases_->all.end(), i,
                                     [](const Release& r, EventIndex e) { return r.last < e; });
    return it != releases_->all.end() && it->cause == Release::Cause::kEmptyCache;
  }

  // Replays an allocation that failed in the recording, and ends the window.
  void FailedRequest(EventIndex i) {
    const uint64_t bytes = trace_.events.bytes[i];
    const uint32_t stream = trace_.other_events.stream[Activity(i)];
    if (bytes == 0 || bytes > CachingAllocator::kMaxRequest) return;
    if (!Prepare(bytes, stream, /*mempool=*/0, /*asks=*/true)) return Resync(i);
    failing_ = true;
    differed_ = false;
    const absl::StatusOr<Block> got = model_->Malloc(bytes, stream);
    failing_ = false;
    if (got.ok()) {
      Differ(i, i18n::Format("a request of {} ran out of memory", Bytes(bytes)),
             i18n::Format("the replayed allocator serves the request from a cached block at {:#x}",
                          got->address));
    }
    if (!differed_) LeftOver();
    window_.clear();
    if (differed_ || !Complete()) Resync(i);
  }

  // Whether the next allocator event from `i` on is a call of the driver. If so, a free that seems
  // to complete directly after its request may have been pending until a release waited for it.
  bool DriverComesNext(EventIndex i) {
    while (i < trace_.events.size() && !IsAllocatorEvent(trace_.events.kind[i])) ++i;
    if (i >= trace_.events.size()) return false;
    const EventKind kind = trace_.events.kind[i];
    return kind != EventKind::kAlloc && kind != EventKind::kFreeRequested &&
           kind != EventKind::kFreeCompleted;
  }

  // Completes the pending frees whose completion was recorded. Called only at the next allocation:
  // Prepare() may find that they completed after the allocation's search for a cached block.
  // Returns false if a block was not pending.
  bool Complete() {
    bool all = true;
    for (const uint64_t id : std::exchange(completed_, {})) {
      const uint64_t address = trace_.allocations.address[id];
      if (states_->open()) states_->Forget(address);
      if (early_.erase(address) != 0 || stopped_) continue;
      const absl::Status status = model_->CompleteFree(address);
      if (!status.ok()) DifferInFree(trace_.allocations.free_event[id], id, status);
      all = all && status.ok();
    }
    return all;
  }

  // Replays the events of the window as a call of empty_cache(), because no allocation caused them.
  void EndWindow(EventIndex i) {
    if (window_.empty()) return;
    const auto asked = std::find_if(window_.begin(), window_.end(),
                                    [](const Recorded& r) { return !r.gives_back(); });
    if (asked != window_.end() && asked->kind != EventKind::kOutOfMemory) {
      Differ(asked->event, i18n::Format("a segment without a request: {}", Text(asked->segment)),
             i18n::Text("the allocation that caused this segment is not in the recording"));
      return Resync(i - 1);
    }
    if (!EmptyCache()) return Resync(i - 1);
    window_.clear();
  }

  // Calls empty_cache() on the model. Returns false if the result differs from the recording.
  bool EmptyCache() {
    differed_ = false;
    for (const Recorded& r : window_) {
      if (r.gives_back() && r.segment.mempool != 0) model_->ReleasePool(r.segment.mempool);
    }
    model_->EmptyCache();
    if (!differed_) LeftOver();
    std::erase_if(window_, [](const Recorded& r) { return r.done || r.gives_back(); });
    return !differed_;
  }

  // Reports memory that is released in the recording but not in the model.
  void LeftOver() {
    for (const Recorded& r : window_) {
      if (r.done || !r.gives_back()) continue;
      Differ(r.event,
             i18n::Format(
                 "{} at {:#x} is released to the device in the recording, but not in the replay",
                 Bytes(r.bytes), r.address),
             CauseOfRetained(*model_, r.address, r.bytes));
      return;
    }
  }

  void GiveBack(EventKind kind, const Segment& s, uint64_t address, uint64_t bytes) {
    for (Recorded& r : window_) {
      if (r.done || r.kind != kind || r.address != address || r.bytes != bytes) continue;
      r.done = true;
      ++out_.segment_frees_equal;
      return;
    }
    // This releases only addresses, no memory.
    if (s.expandable && kind == EventKind::kSegmentFree) return;
    Differ(at_,
           i18n::Format(
               "{} at {:#x} is released to the device in the replay, but not in the recording",
               Bytes(bytes), address),
           i18n::Format("in the replay, none of this memory is in use ({}). Possible "
                        "causes: in the recording, the memory was still in use, or the device was "
                        "not full, so the allocator had no reason to release memory",
                        Text(s)));
  }

  // Returns the recorded event for the model's next driver call, or null if that call must fail.
  Recorded* Next() {
    if (failing_) return nullptr;
    for (Recorded& r : window_) {
      if (r.done) continue;
      if (r.gives_back()) return nullptr;
      if (r.kind == EventKind::kOutOfMemory) {  // only in a plan, which continues after the event
        r.done = true;
        continue;
      }
      return &r;
    }
    return nullptr;  // Alloc() reports the difference, with details of the allocation
  }

  void Check(EventIndex i, uint64_t id, const absl::Status& status) {
    if (status.ok()) return;
    DifferInFree(i, id, status);
    Resync(i);
  }
  void DifferInFree(EventIndex i, uint64_t id, const absl::Status& status) {
    Differ(i,
           i18n::Format("free of {:#x} ({})", trace_.allocations.address[id],
                        Bytes(trace_.allocations.bytes[id])),
           std::string(status.message()));
  }

  void Differ(EventIndex i, std::string what, std::string cause) {
    differed_ = true;
    ++out_.differences;
    if (out_.first_difference.has_value()) return;
    out_.first_difference = Difference{i, std::move(what), std::move(cause)};
  }

  // Continues from the recorded state after event `i`.
  void Resync(EventIndex i) {
    differed_ = false;
    window_.clear();
    completed_.clear();
    early_.clear();
    AddStats();
    states_->ForgetAll();
    if (out_.differences > most_differences_) {
      out_.warnings.push_back(i18n::English(
          "the comparison stops after {}",
          most_differences_ == 1 ? i18n::English("{} difference", most_differences_)
                                 : i18n::English("{} differences", most_differences_)));
      stopped_ = true;
    } else if (absl::Status status = Begin(StateBefore(trace_, i + 1, conf_)); !status.ok()) {
      out_.warnings.push_back(i18n::English("the comparison stops after event {}: {}", i,
                                            std::string(status.message())));
      stopped_ = true;
    }
    if (stopped_) model_ = std::make_unique<CachingAllocator>(settings_, this);
  }

  void AddStats() {
    const allocator::Stats& s = model_->stats();
    out_.segment_allocs += s.segment_allocs;
    out_.segment_frees += s.segment_frees;
    out_.segment_maps += s.segment_maps;
    out_.segment_unmaps += s.segment_unmaps;
    out_.retries += s.retries;
    out_.out_of_memory += s.out_of_memory;
  }

  void Count(EventIndex i) {
    const allocator::Stats& s = model_->stats();
    if (s.allocated == allocated_ && s.reserved == reserved_ && !out_.curve.empty()) return;
    allocated_ = s.allocated;
    reserved_ = s.reserved;
    out_.curve.push_back({i, allocated_, reserved_});
    out_.peak_allocated = std::max(out_.peak_allocated, allocated_);
    if (reserved_ > out_.peak_reserved) {
      out_.peak_reserved = reserved_;
      out_.peak_reserved_event = i;
    }
  }

  void Finish() {
    out_.unknown_tails = states_->blocks();
    out_.tails_inferred = states_->inferred();
    out_.start_states_tried = states_->tried().states;
    out_.log10_tried = states_->tried().log10;
    out_.start_states_consistent = states_->consistent().states;
    out_.log10_consistent = states_->consistent().log10;
    const uint32_t n = trace_.events.size();
    out_.end_state_equal =
        !stopped_ && SameBlocks(model_->Snapshot(), StateBefore(trace_, n, conf_));
    // Measures the holes in the recorded state, which equals the model's state, or nearly so.
    if (n > 0) {
      CachingAllocator at_peak(settings_, nullptr);
      const EventIndex peak = std::min(out_.peak_reserved_event, n - 1);
      if (at_peak.Restore(StateBefore(trace_, peak + 1, conf_).segments).ok()) {
        MeasureHoles(at_peak, out_);
      }
    }
    if (options_.progress) options_.progress(1);
  }

  static bool SameBlocks(const std::vector<CachingAllocator::SnapshotSegment>& model,
                         const RecordedState& recorded) {
    if (recorded.blocks_left_out > 0) return false;
    // Leaves out unmapped blocks, because a recording does not contain them.
    const auto blocks = [](const std::vector<CachingAllocator::SnapshotSegment>& segments) {
      std::vector<std::tuple<uint64_t, uint64_t, bool>> out;
      for (const CachingAllocator::SnapshotSegment& s : segments) {
        for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
          if (b.mapped) out.emplace_back(b.block.address, b.block.bytes_rounded, b.live);
        }
      }
      return out;
    };
    return blocks(model) == blocks(recorded.segments);
  }

  const trace::Trace& trace_;
  const ReplayOptions& options_;
  const run::AllocConf conf_;
  const uint64_t most_differences_;
  bool plan_ = false;
  EventIndex begin_ = 0;
  allocator::Settings settings_;
  std::unique_ptr<CachingAllocator> model_;
  StartStates* states_ = nullptr;
  std::optional<Releases> releases_;  // computed when needed
  std::vector<Recorded> window_;
  uint64_t deferred_ = ~uint64_t{0};  // the allocation whose free is replayed in two steps
  std::vector<uint64_t> completed_;   // allocations whose recorded completion was not replayed yet
  base::HashSet<uint64_t> early_;     // addresses of frees that the model completed in a release
  EventIndex at_ = 0;
  bool failing_ = false;  // the current allocation failed in the recording
  bool differed_ = false;
  bool stopped_ = false;
  uint64_t allocated_ = 0, reserved_ = 0;
  Replayed out_;
};

}  // namespace

absl::StatusOr<Replayed> ReplayExactly(const trace::Trace& trace, const ReplayOptions& options,
                                       const run::AllocConf& conf, uint64_t most_differences) {
  return Exact(trace, options, conf, most_differences).Run();
}

}  // namespace vramscope::replay
