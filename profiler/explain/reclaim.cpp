// Replays the allocations with other settings, to find settings that reserve less memory.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/units.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::explain {
namespace {

using replay::Replayed;
using run::FormatBytes;
using trace::EventIndex;

// Garbage collection has no effect without a memory fraction.
constexpr std::string_view kDefaults[] = {
    "expandable_segments:True", "max_split_size_mb:64", "max_split_size_mb:256",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95"};

constexpr std::string_view kEmptyCache = TEXT_MARK("empty_cache() at this time");
constexpr std::string_view kNeedsHistory = TEXT_MARK(
    "Other settings can be judged only with a history of allocations, which this file lacks. To "
    "record one, call torch.cuda.memory._record_memory_history() before the run.");

uint64_t ReservedAt(const Replayed& r, EventIndex event) {
  const auto it =
      std::upper_bound(r.curve.begin(), r.curve.end(), event,
                       [](EventIndex e, const Replayed::Point& p) { return e < p.event; });
  return it == r.curve.begin() ? 0 : std::prev(it)->reserved;
}

Remedy Filled(std::string name, const Replayed& r, EventIndex at) {
  return {.name = std::move(name),
          .reserved = ReservedAt(r, at),
          .peak_reserved = r.peak_reserved,
          .segment_allocs = r.segment_allocs + r.segment_maps,
          .segment_frees = r.segment_frees + r.segment_unmaps,
          .retries = r.retries,
          .out_of_memory = r.out_of_memory};
}

// The memory size to which memory fractions refer, and its source. (Snapshots do not contain it.)
struct GpuMemory {
  uint64_t bytes = 0;
  std::string note = {};
};
GpuMemory AssumedGpu(const trace::Trace& trace, const replay::Capacity& capacity,
                     uint64_t peak_reserved) {
  if (const run::DeviceProfile& d = trace.info.device; d.memory_bytes != 0) return {d.memory_bytes};
  if (capacity.inferred()) {
    return {capacity.bytes, i18n::Format("for a GPU on which PyTorch can reserve up to {} ({})",
                                         FormatBytes(capacity.bytes), capacity.evidence)};
  }
  uint64_t best = 0;
  for (const run::DeviceProfile& d : run::Devices()) {
    if (d.memory_bytes < d.context_bytes + peak_reserved) continue;
    if (best == 0 || d.memory_bytes < best) best = d.memory_bytes;
  }
  if (best == 0) return {};
  return {best, i18n::Format("for a GPU with {}. The file names no GPU, so this is the smallest "
                             "size in the device table that holds the peak",
                             FormatBytes(best))};
}

void Compare(Remedy& remedy, const Remedy& with) {
  if (!remedy.error.empty()) return;
  remedy.given_back = static_cast<int64_t>(with.reserved - remedy.reserved);
  remedy.peak_given_back = static_cast<int64_t>(with.peak_reserved - remedy.peak_reserved);
}

// Runs replays one after another and reports their progress as a fraction of all replays.
class Replays {
 public:
  Replays(const trace::Trace& trace, const ReclaimOptions& options, size_t count)
      : trace_(trace), options_(options), count_(count) {}

  absl::StatusOr<Replayed> Run(replay::ReplayOptions options) {
    options.holes = false;
    options.cancel = options_.cancel;
    if (options_.progress) {
      options.progress = [this, from = done_](double fraction) {
        options_.progress((static_cast<double>(from) + fraction) / static_cast<double>(count_));
      };
    }
    ++done_;
    return replay::Replay(trace_, options);
  }
  absl::StatusOr<replay::Baseline> Baseline() {
    replay::ReplayOptions options{.holes = false};
    options.cancel = options_.cancel;
    if (options_.progress) {
      options.progress = [this](double fraction) {
        options_.progress(2 * fraction / static_cast<double>(count_));
      };
    }
    done_ += 2;
    return replay::ReplayBaseline(trace_, options);
  }

 private:
  const trace::Trace& trace_;
  const ReclaimOptions& options_;
  size_t count_, done_ = 0;
};

std::string Headline(const Reclaim& r) {
  const uint64_t unused = r.reserved > r.allocated ? r.reserved - r.allocated : 0;
  std::string text = i18n::Format(
      "{} of the {} reserved are unused {}.", FormatBytes(unused), FormatBytes(r.reserved),
      r.state ? i18n::Text("in this snapshot") : i18n::Text("at this time"));
  if (r.state) {
    return text + i18n::Format(" empty_cache() would release {}. {}",
                               FormatBytes(static_cast<uint64_t>(r.remedies.front().given_back)),
                               i18n::Text(kNeedsHistory));
  }
  const auto best = std::max_element(
      r.remedies.begin(), r.remedies.end(),
      [](const Remedy& x, const Remedy& y) { return x.peak_given_back < y.peak_given_back; });
  std::string more = r.releases.headline.empty() ? "" : " " + r.releases.headline;
  if (r.releases.capacity.inferred()) {
    more += i18n::Format(" On this GPU, PyTorch can reserve up to {} ({}).",
                         FormatBytes(r.releases.capacity.bytes), r.releases.capacity.evidence);
  }
  for (const Remedy& remedy : r.remedies) {
    if (!remedy.note.empty() && !r.releases.capacity.inferred())
      more +=
          i18n::Format(" The results of {} are valid {}.", i18n::Text(remedy.name), remedy.note);
  }
  if (best == r.remedies.end() || best->peak_given_back <= 0) {
    return text + i18n::Text(" No setting that was tried lowers the peak of reserved memory.") +
           more;
  }
  const bool anew = r.anew.has_value() && best->name != kEmptyCache;
  const auto lowered = static_cast<uint64_t>(best->peak_given_back);
  text += i18n::Format(" {} lowers the peak of reserved memory by {} (from {} {} to {})",
                       i18n::Text(best->name), FormatBytes(lowered),
                       FormatBytes(best->peak_reserved + lowered),
                       anew ? i18n::Text("under the recorded settings") : i18n::Text("as recorded"),
                       FormatBytes(best->peak_reserved));
  if (anew)
    text += i18n::Text(
        "; both replays start by allocating the blocks that are older than the recording");
  return text + i18n::Text(".") + more;
}

// Returns the bytes that empty_cache() releases. Private pools keep their memory.
uint64_t Releasable(const Fragmentation& f) {
  uint64_t bytes = 0;
  for (const Fragmentation::PoolUse& p : f.pools) bytes += p.mempool == 0 ? p.cached : 0;
  return bytes;
}

// Returns the result for a snapshot without history. Only the effect of empty_cache() is known: it
// releases all cached memory.
Reclaim OfState(Reclaim out, const Fragmentation& f, const std::vector<std::string>& confs) {
  out.state = true;
  out.as_recorded = {
      .name = i18n::Text("as it is"), .reserved = out.reserved, .peak_reserved = out.reserved};
  const uint64_t released = Releasable(f);
  out.remedies.push_back({.name = std::string(kEmptyCache),
                          .reserved = out.reserved - released,
                          .given_back = static_cast<int64_t>(released),
                          .peak_reserved = out.reserved});
  for (const std::string& conf : confs) {
    out.remedies.push_back({.name = conf, .error = i18n::Text(kNeedsHistory)});
  }
  out.headline = Headline(out);
  return out;
}

}  // namespace

// Searches from the beginning of the recording, because the order of older events is arbitrary. If
// there are steps, searches only within them.
EventIndex MostUnused(const trace::Trace& trace) {
  const EventIndex begin = trace.recording_begin == trace::kNoEvent ? 0 : trace.recording_begin;
  EventIndex first = begin, last = trace::kNoEvent;
  const trace::SliceTable& s = trace.slices;
  bool steps = false;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != trace::SliceKind::kStep) continue;
    if (!steps) first = std::max(begin, s.begin_event[i]);
    last = steps ? std::max(last, s.end_event[i]) : s.end_event[i];
    steps = true;
  }
  const EventIndex n = trace.events.size();
  if (n == 0) return 0;
  trace::MemoryCursor cursor(trace);
  const auto unused = [&cursor] {
    const trace::MemorySums& sums = cursor.sums();
    return sums.reserved - std::min(sums.reserved, sums.allocated);
  };
  cursor.AdvanceTo(std::min(first, n));
  // The state at the start may also have the most unused memory.
  EventIndex best = std::min(first, n - 1);
  uint64_t most = unused();
  for (EventIndex i = first; i < n && i <= last; ++i) {
    if (!cursor.Apply()) continue;
    // A new segment does not count as unused, because the request that needs it follows.
    const trace::EventKind kind = trace.events.kind[i];
    if (kind == trace::EventKind::kSegmentAlloc || kind == trace::EventKind::kSegmentMap) continue;
    if (unused() <= most) continue;
    most = unused();
    best = i;
  }
  return best;
}

absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace& trace, const ReclaimOptions& options) {
  Reclaim out;
  for (const std::string& text : options.alloc_confs) {
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(text);
    if (!conf.ok()) return conf.status();
  }
  out.device = trace::OnlyDevice(trace);
  std::vector<std::string> confs = options.alloc_confs;
  if (confs.empty()) confs.assign(std::begin(kDefaults), std::end(kDefaults));
  const bool state = trace.events.size() > 0 && !replay::HasHistory(trace);
  const EventIndex at = state        ? trace.events.size() - 1
                        : options.at ? *options.at
                                     : MostUnused(trace);
  const Fragmentation f = FragmentationAt(trace, at);
  out.context = f.context;
  out.allocated = f.allocated;
  out.reserved = f.reserved;
  out.cached = f.cached;
  out.holes = f.holes;
  if (state) return OfState(std::move(out), f, confs);
  if (const std::string_view why = trace::WhyNoReplay(trace); !why.empty())
    return absl::FailedPreconditionError(absl::string_view(why.data(), why.size()));
  out.releases = replay::FindReleases(trace);

  Replays replays(trace, options, confs.size() + 3);
  const std::string& recorded_text = replay::RecordedConf(trace);
  const absl::StatusOr<run::AllocConf> recorded = run::ParseAllocConf(recorded_text);
  if (!recorded.ok()) return recorded.status();
  const absl::StatusOr<replay::Baseline> base = replays.Baseline();
  if (!base.ok()) return base.status();
  out.as_recorded = Filled(i18n::Text("as recorded"), base->own, at);
  if (base->anew.has_value()) {
    out.anew =
        Filled(i18n::Text("as recorded, but older blocks are allocated again"), *base->anew, at);
  }
  const GpuMemory capacity = AssumedGpu(trace, out.releases.capacity, base->own.peak_reserved);

  // The replay of empty_cache() starts from the recorded state and is compared with the recording.
  {
    Remedy remedy;
    remedy.name = kEmptyCache;
    const absl::StatusOr<Replayed> r = replays.Run({.restart = false, .empty_cache_at = {at + 1}});
    if (absl::IsCancelled(r.status())) return r.status();
    if (r.ok()) {
      remedy = Filled(remedy.name, *r, at);
      remedy.reserved = out.reserved - Releasable(f);
      Compare(remedy, {.reserved = out.reserved, .peak_reserved = base->own.peak_reserved});
    } else {
      remedy.error = std::string(r.status().message());
    }
    out.remedies.push_back(std::move(remedy));
  }
  for (const std::string& text : confs) {
    Remedy remedy{.name = text};
    // Each setting of kDefaults is added to the recorded settings.
    const std::string both =
        options.alloc_confs.empty() && !recorded_text.empty() ? recorded_text + "," + text : text;
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(both);
    if (!conf.ok()) {
      remedy.error = std::string(conf.status().message());
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    const bool of_the_gpu = conf->garbage_collection_threshold > 0 || conf->memory_fraction > 0;
    if (of_the_gpu && capacity.bytes == 0) {
      remedy.error = i18n::Text(
          "this setting needs the GPU's memory size, but the file does not state the size");
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    const absl::StatusOr<Replayed> r =
        replays.Run({.alloc_conf = *conf,
                     .restart = true,
                     .device_total_bytes = of_the_gpu ? capacity.bytes : uint64_t{0}});
    if (absl::IsCancelled(r.status())) return r.status();
    if (r.ok()) {
      remedy = Filled(text, *r, at);
      if (of_the_gpu) remedy.note = capacity.note;
      Compare(remedy, out.anew.has_value() ? *out.anew : out.as_recorded);
    } else {
      remedy.error = std::string(r.status().message());
    }
    out.remedies.push_back(std::move(remedy));
  }
  std::stable_sort(out.remedies.begin(), out.remedies.end(),
                   [](const Remedy& x, const Remedy& y) { return x.given_back > y.given_back; });
  out.headline = Headline(out);
  return out;
}

}  // namespace vramscope::explain
