// Replays the allocations with other settings, another limit, or additional calls of empty_cache().
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/allocator/rules.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/exact.h"
#include "profiler/replay/recorded_state.h"
#include "profiler/replay/releases.h"

namespace vramscope::replay {
namespace {

using allocator::Block;
using allocator::CachingAllocator;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

constexpr EventIndex kProgressStep = 1 << 16;

class WhatIf final : public allocator::SegmentObserver {
 public:
  WhatIf(const trace::Trace& t, const ReplayOptions& options, const run::AllocConf& conf)
      : trace_(t), options_(options), recorded_(conf), releases_(FindReleases(t)) {
    settings_.conf = options.alloc_conf.value_or(conf);
    if (options.memory_fraction != 0) settings_.conf.memory_fraction = options.memory_fraction;
    begin_ = t.recording_begin == kNoEvent ? 0 : t.recording_begin + 1;
    // Older blocks are also allocated anew if the memory size is changed, because the recorded
    // start state may not fit into the new size.
    const bool as_recorded = settings_.conf == conf && options.device_memory_bytes == 0 &&
                             options.device_total_bytes == 0;
    keeps_ = begin_ > 0 && !options.restart.value_or(!as_recorded);
    const Capacity& capacity = releases_.capacity;
    if (options.device_memory_bytes == 0) on_the_gpu_ = capacity.inferred();
    settings_.device_memory_bytes =
        options.device_memory_bytes != 0 ? options.device_memory_bytes : capacity.bytes;
    settings_.device_total_bytes =
        options.device_total_bytes != 0 ? options.device_total_bytes : t.info.device.memory_bytes;
    // The inferred limit is the total memory times the memory fraction. If the file does not
    // contain the total memory, it is computed from the limit and the fraction.
    double& fraction = settings_.conf.memory_fraction;
    if (on_the_gpu_ && fraction == conf.memory_fraction && fraction > 0 &&
        settings_.device_total_bytes == 0) {
      const double total = static_cast<double>(capacity.bytes) / fraction;
      if (total < 0x1p63) {
        settings_.device_total_bytes = static_cast<uint64_t>(total);
      } else {
        fraction = 0;  // the total would be too large; the inferred limit applies
      }
    }
    settings_.grant_over_limit = true;
  }

  absl::StatusOr<Replayed> Run() {
    out_.what_if = true;
    out_.conf = settings_.conf;
    out_.device_memory_bytes = settings_.device_memory_bytes;
    out_.device_memory_inferred = on_the_gpu_;
    out_.older_unchanged = keeps_;
    EventIndex end = trace_.events.size();
    if (options_.last) end = std::min(end - 1, *options_.last) + 1;
    if (absl::Status status = Pass(end, true); !status.ok()) return status;
    const allocator::Stats& s = model_->stats();
    out_.segment_allocs = s.segment_allocs;
    out_.segment_frees = s.segment_frees;
    out_.segment_maps = s.segment_maps;
    out_.segment_unmaps = s.segment_unmaps;
    out_.retries = s.retries;
    out_.out_of_memory = s.out_of_memory;
    // Replays once more up to the peak, to measure the holes there.
    if (out_.peak_reserved > 0 && !options_.last && options_.holes) {
      if (absl::Status status = Pass(out_.peak_reserved_event + 1, false); !status.ok()) {
        return status;
      }
      MeasureHoles(*model_, out_);
    }
    if (options_.progress) options_.progress(1);
    return std::move(out_);
  }

  void OnSegmentAlloc(const allocator::Segment&) override {}
  void OnSegmentFree(const allocator::Segment&) override {}
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free) override {
    if (out_.first_out_of_memory.has_value()) return;
    out_.first_out_of_memory = at_;
    Replayed::Failure& failure = out_.first_failure;
    failure = {.asked = bytes,
               .device_free = device_free,
               .allocated = model_->stats().allocated,
               .reserved = model_->stats().reserved};
    const trace::Pool pool = allocator::PoolOf(CachingAllocator::RoundSize(bytes, settings_.conf));
    for (const CachingAllocator::SnapshotSegment& s : model_->Snapshot()) {
      if (s.segment.mempool != 0 || s.segment.pool != pool || s.segment.stream != StreamOf(at_))
        continue;
      for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
        if (b.live || !b.mapped) continue;
        failure.holes += b.block.bytes_rounded;
        failure.largest_hole = std::max(failure.largest_hole, b.block.bytes_rounded);
      }
    }
  }
  // Forgets a free that a release completed early: its recorded completion is then ignored.
  void OnFreeCompleted(const Block& block) override {
    const auto it = pending_.find(block.address);
    if (it == pending_.end()) return;
    address_[it->second] = kNone;
    pending_.erase(it);
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};

  // Returns the stream of the allocation, or failed allocation, at the event.
  uint32_t StreamOf(EventIndex event) const {
    if (trace_.events.kind[event] == EventKind::kAlloc)
      return trace_.allocations.stream[trace_.events.id[event]];
    const auto& events = trace_.other_events.event;
    const auto row = std::lower_bound(events.begin(), events.end(), event) - events.begin();
    return trace_.other_events.stream[static_cast<size_t>(row)];
  }

  uint32_t MemPoolOf(uint64_t allocation) const {
    const trace::SegmentId s = trace_.allocations.segment[allocation];
    return s.valid() ? trace_.segments.mempool[s.value] : 0;
  }

  // Replays the events before `end`. Updates the result if `count` is true.
  absl::Status Pass(EventIndex end, bool count) {
    allocator::SegmentObserver* observer = &quiet_;
    if (count) observer = this;
    model_ = std::make_unique<CachingAllocator>(settings_, observer);
    quiet_.owner = this;
    address_.assign(trace_.allocations.size(), kNone);
    pending_.clear();
    EventIndex i = 0;
    release_ = 0;
    if (keeps_) {
      if (absl::Status status = Keep(); !status.ok()) return status;
      i = begin_;
      at_ = begin_ - 1;
      if (count) Count(at_);
    }
    while (release_ < releases_.all.size() && releases_.all[release_].last < i) ++release_;
    size_t extra = 0;
    for (; i < end; ++i) {
      if (i % kProgressStep == 0 && count) {
        if (options_.cancel != nullptr && *options_.cancel) {
          return absl::CancelledError(i18n::Text("the replay was cancelled"));
        }
        if (options_.progress) options_.progress(0.6 * i / trace_.events.size());
      }
      at_ = i;
      for (; extra < options_.empty_cache_at.size() && options_.empty_cache_at[extra] <= i;
           ++extra) {
        model_->EmptyCache();
      }
      if (absl::Status status = Step(i); !status.ok()) return status;
      if (count) Count(i);
    }
    return absl::OkStatus();
  }

  // Restores the recorded start state, with older blocks in place.
  absl::Status Keep() {
    if (absl::Status status = model_->Restore(StateBefore(trace_, begin_, recorded_).segments);
        !status.ok()) {
      return status;
    }
    const trace::AllocationTable& a = trace_.allocations;
    for (uint32_t row = 0; row < a.size() && a.alloc_event[row] < begin_; ++row) {
      address_[row] = a.address[row];
      const EventIndex requested = a.free_requested_event[row];
      if (requested != kNoEvent && requested < begin_) pending_[a.address[row]] = row;
    }
    return absl::OkStatus();
  }

  absl::Status Step(EventIndex i) {
    const EventKind kind = trace_.events.kind[i];
    const uint64_t id = trace_.events.id[i];
    switch (kind) {
      case EventKind::kAlloc: {
        const trace::AllocationTable& a = trace_.allocations;
        const uint64_t bytes = Resized(i, a.bytes[id]);
        if (bytes == 0 || bytes > CachingAllocator::kMaxRequest) return absl::OkStatus();
        const absl::StatusOr<Block> got = model_->Malloc(bytes, a.stream[id], MemPoolOf(id));
        if (!got.ok()) return got.status();
        address_[id] = got->address;
        return absl::OkStatus();
      }
      case EventKind::kFreeRequested:
        if (address_[id] == kNone || trace_.allocations.free_event[id] == i + 1) {
          return absl::OkStatus();
        }
        pending_[address_[id]] = static_cast<uint32_t>(id);
        return model_->RequestFree(address_[id]);
      case EventKind::kFreeCompleted: {
        const uint64_t address = std::exchange(address_[id], kNone);
        if (address == kNone) return absl::OkStatus();
        const auto it = pending_.find(address);
        if (it == pending_.end()) return model_->Free(address);
        pending_.erase(it);
        return model_->CompleteFree(address);
      }
      case EventKind::kSegmentFree:
      case EventKind::kSegmentUnmap:
        if (release_ < releases_.all.size() && releases_.all[release_].last == i) {
          GiveBack(releases_.all[release_++]);
        }
        return absl::OkStatus();
      case EventKind::kOutOfMemory:
        TryFailed(i);
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  }

  // Repeats a release that the program requested. Releases because of a full GPU mostly need no
  // repetition: the model reaches its limit at the same point and releases its own cache.
  void GiveBack(const Release& r) {
    for (const uint32_t mempool : r.mempools) model_->ReleasePool(mempool);
    switch (r.cause) {
      case Release::Cause::kEmptyCache:
        return model_->EmptyCache();
      case Release::Cause::kGpuFull:
        // If `at_limit` is false, the model does not reach its limit here, because other processes
        // used a part of the GPU's memory at that time.
        if (on_the_gpu_ && !r.part && !r.at_limit) model_->EmptyCache();
        return;
      case Release::Cause::kCollection:
        for (const uint32_t mempool : r.mempools) model_->EmptyPool(mempool);
        return;
    }
  }

  uint64_t Resized(EventIndex i, uint64_t bytes) const {
    return options_.resize ? options_.resize(i, bytes) : bytes;
  }

  // Replays an allocation that failed in the recording. Not for plans: after an out-of-memory
  // event, a plan grants the allocation and records it as usual.
  void TryFailed(EventIndex i) {
    if (trace_.info.backend == trace::Backend::kPlan) return;
    const auto& events = trace_.other_events.event;
    const auto row =
        static_cast<size_t>(std::lower_bound(events.begin(), events.end(), i) - events.begin());
    const uint64_t bytes = Resized(i, trace_.events.bytes[i]);
    if (bytes == 0 || bytes > CachingAllocator::kMaxRequest) return;
    const absl::StatusOr<Block> got = model_->TryMalloc(bytes, trace_.other_events.stream[row]);
    if (got.ok()) model_->Free(got->address).IgnoreError();
  }

  void Count(EventIndex i) {
    const allocator::Stats& s = model_->stats();
    out_.peak_allocated = std::max(out_.peak_allocated, s.peak_allocated);
    if (s.peak_reserved > out_.peak_reserved) {
      out_.peak_reserved = s.peak_reserved;
      out_.peak_reserved_event = i;
    }
    if (!out_.curve.empty() && out_.curve.back().allocated == s.allocated &&
        out_.curve.back().reserved == s.reserved) {
      return;
    }
    out_.curve.push_back({i, s.allocated, s.reserved});
  }

  // The observer of the second pass, which does not update the result.
  struct Quiet final : allocator::SegmentObserver {
    void OnSegmentAlloc(const allocator::Segment&) override {}
    void OnSegmentFree(const allocator::Segment&) override {}
    void OnOutOfMemory(uint64_t, uint64_t) override {}
    void OnFreeCompleted(const Block& block) override { owner->OnFreeCompleted(block); }
    WhatIf* owner = nullptr;
  };

  const trace::Trace& trace_;
  const ReplayOptions& options_;
  const run::AllocConf recorded_;
  const Releases releases_;
  allocator::Settings settings_;
  bool keeps_ = false;       // older blocks are kept in place
  bool on_the_gpu_ = false;  // the limit is inferred
  EventIndex begin_ = 0, at_ = 0;
  Quiet quiet_;
  std::unique_ptr<CachingAllocator> model_;
  std::vector<uint64_t> address_;  // address of each allocation in the model, or kNone
  base::HashMap<uint64_t, uint32_t> pending_;
  size_t release_ = 0;  // row of the next release in releases_.all
  Replayed out_;
};

}  // namespace

namespace {

// Returns the bytes of the free block that can be released: those in wholly free pages.
uint64_t WholePages(const allocator::Segment& segment, const Block& block,
                    const run::AllocConf& conf) {
  const uint64_t page = allocator::PageSize(segment.pool, conf);
  const uint64_t begin = (block.address - segment.address + page - 1) / page * page;
  const uint64_t end = (block.address + block.bytes_rounded - segment.address) / page * page;
  return end > begin ? end - begin : 0;
}

}  // namespace

void MeasureHoles(const CachingAllocator& model, Replayed& out) {
  out.largest_hole = out.stranded_bytes = 0;
  for (const CachingAllocator::SnapshotSegment& s : model.Snapshot()) {
    uint64_t free = 0;
    bool used = false;
    for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
      used |= b.live;
      if (b.live || !b.mapped) continue;
      free += b.block.bytes_rounded;
      if (s.segment.expandable) free -= WholePages(s.segment, b.block, out.conf);
      out.largest_hole = std::max(out.largest_hole, b.block.bytes_rounded);
    }
    if (used) out.stranded_bytes += free;
  }
}

absl::StatusOr<Replayed> ReplayWhatIf(const trace::Trace& trace, const ReplayOptions& options,
                                      const run::AllocConf& conf) {
  return WhatIf(trace, options, conf).Run();
}

}  // namespace vramscope::replay
