// What would give reserved memory back, found out by replaying the requests.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profiler/explain/devices.h"
#include "profiler/explain/explain.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using replay::Replayed;
using run::FormatBytes;
using trace::EventIndex;

// Collection does nothing without a fraction of the memory being set.
constexpr std::string_view kDefaults[] = {
    "expandable_segments:True", "max_split_size_mb:64", "max_split_size_mb:256",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95"};

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

// What the device has for segments, and how that is known. Files do not state the card.
struct Card {
  uint64_t bytes = 0;
  std::string note = {};
};
Card AssumedCard(const trace::Trace& trace, uint8_t device, uint64_t peak_reserved) {
  if (const run::DeviceProfile& d = trace.info.device; d.memory_bytes != 0) return {d.memory_bytes};
  trace::MemoryCursor memory(trace, device);
  const trace::ActivityTable& activities = trace.activities;
  size_t row = 0;
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    memory.Apply();
    if (trace.events.kind[i] != trace::EventKind::kOutOfMemory) continue;
    while (row < activities.size() && activities.event[row] < i) ++row;
    if (row == activities.size() || activities.event[row] != i || activities.device[row] != device)
      continue;
    const uint64_t bytes = memory.sums().reserved + trace.events.bytes_rounded[i];
    return {bytes,
            fmt::format("with the {} that were there when memory ran out", FormatBytes(bytes))};
  }
  uint64_t best = 0;
  for (const run::DeviceProfile& d : run::Devices()) {
    if (d.memory_bytes < d.context_bytes + peak_reserved) continue;
    if (best == 0 || d.memory_bytes < best) best = d.memory_bytes;
  }
  if (best == 0) return {};
  return {best, fmt::format("on a card of {}, the smallest that holds the peak: the file does not "
                            "state the card",
                            FormatBytes(best))};
}

void Compare(Remedy& remedy, const Remedy& with) {
  if (!remedy.error.empty()) return;
  remedy.given_back = static_cast<int64_t>(with.reserved - remedy.reserved);
  remedy.peak_given_back = static_cast<int64_t>(with.peak_reserved - remedy.peak_reserved);
}

// Replays one after another, each with its share of the progress.
class Replays {
 public:
  Replays(const trace::Trace& trace, const ReclaimOptions& options, uint8_t device, size_t count)
      : trace_(trace), options_(options), device_(device), count_(count) {}

  absl::StatusOr<Replayed> Run(replay::ReplayOptions options) {
    options.device = device_;
    options.cancel = options_.cancel;
    if (options_.progress) {
      options.progress = [this, from = done_](double fraction) {
        options_.progress((static_cast<double>(from) + fraction) / static_cast<double>(count_));
      };
    }
    ++done_;
    return replay::Replay(trace_, options);
  }

 private:
  const trace::Trace& trace_;
  const ReclaimOptions& options_;
  const uint8_t device_;
  size_t count_, done_ = 0;
};

std::string Headline(const Reclaim& r, const std::string& on_device) {
  const uint64_t unused = r.reserved > r.allocated ? r.reserved - r.allocated : 0;
  std::string text = fmt::format("{} of {} reserved{} are unused at this moment.",
                                 FormatBytes(unused), FormatBytes(r.reserved), on_device);
  const auto best = std::max_element(
      r.remedies.begin(), r.remedies.end(),
      [](const Remedy& x, const Remedy& y) { return x.peak_given_back < y.peak_given_back; });
  std::string assumed;
  for (const Remedy& remedy : r.remedies) {
    if (!remedy.note.empty())
      assumed = fmt::format(" {} is reckoned {}.", remedy.name, remedy.note);
  }
  if (best == r.remedies.end() || best->peak_given_back <= 0) {
    return text + " No setting tried lowers the peak of what is reserved." + assumed;
  }
  text += fmt::format(" {} lowers the peak of what is reserved by {}, to {}", best->name,
                      FormatBytes(static_cast<uint64_t>(best->peak_given_back)),
                      FormatBytes(best->peak_reserved));
  return text + "." + assumed;
}

}  // namespace

namespace {

struct Unused {
  EventIndex event = 0;
  uint64_t bytes = 0;
};

// Of one device, within the steps if there are any.
Unused MostUnusedOf(const trace::Trace& trace, uint8_t device) {
  EventIndex first = 0, last = trace::kNoEvent;
  const trace::SliceTable& s = trace.slices;
  bool steps = false;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != trace::SliceKind::kStep) continue;
    if (!steps) first = s.begin_event[i];
    last = steps ? std::max(last, s.end_event[i]) : s.end_event[i];
    steps = true;
  }
  Unused best;
  trace::MemoryCursor memory(trace, device);
  for (EventIndex i = 0; i < trace.events.size() && i <= last; ++i) {
    if (!memory.Apply() || i < first) continue;
    // What was just got from the driver is for the request that comes next.
    const trace::EventKind kind = trace.events.kind[i];
    if (kind == trace::EventKind::kSegmentAlloc || kind == trace::EventKind::kSegmentMap) continue;
    const trace::MemorySums& now = memory.sums();
    if (now.reserved <= now.allocated + best.bytes) continue;
    best = {.event = i, .bytes = now.reserved - now.allocated};
  }
  return best;
}

Unused UnusedAt(const trace::Trace& trace, uint8_t device, EventIndex event) {
  const analysis::LiveSet live = analysis::LiveAt(trace, event, device);
  return {event, live.reserved - std::min(live.reserved, live.allocated)};
}

}  // namespace

EventIndex MostUnused(const trace::Trace& trace, std::optional<uint8_t> device) {
  if (device) return MostUnusedOf(trace, *device).event;
  Unused best;
  for (const uint8_t d : analysis::DevicesOf(trace)) {
    const Unused unused = MostUnusedOf(trace, d);
    if (unused.bytes > best.bytes) best = unused;
  }
  return best.event;
}

absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace& trace, const ReclaimOptions& options) {
  Reclaim out;
  const std::vector<uint8_t> devices =
      options.device ? std::vector<uint8_t>{*options.device} : analysis::DevicesOf(trace);
  Unused moment;
  for (const uint8_t d : devices) {
    const Unused unused = options.at ? UnusedAt(trace, d, *options.at) : MostUnusedOf(trace, d);
    if (d != devices.front() && unused.bytes <= moment.bytes) continue;
    moment = unused;
    out.device = d;
  }
  const EventIndex at = moment.event;
  const Fragmentation f = FragmentationAt(trace, at, out.device);
  out.context = f.context;
  out.allocated = f.allocated;
  out.reserved = f.reserved;
  out.cached = f.cached;
  out.holes = f.holes;
  const uint64_t peak_reserved = PeakReserved(trace)[out.device];
  const Card card = AssumedCard(trace, out.device, peak_reserved);

  std::vector<std::string> confs = options.alloc_confs;
  if (confs.empty()) confs.assign(std::begin(kDefaults), std::end(kDefaults));
  Replays replays(trace, options, out.device, confs.size() + 2);

  // Against the recorded settings in the same model from the same start, so that what differs is
  // the settings' doing alone.
  const std::string& recorded_text = replay::RecordedConf(trace);
  const absl::StatusOr<run::AllocConf> recorded = run::ParseAllocConf(recorded_text);
  if (!recorded.ok()) return recorded.status();
  const absl::StatusOr<Replayed> base = replays.Run({.alloc_conf = *recorded});
  if (!base.ok()) return base.status();
  out.as_recorded = Filled("as recorded", *base, at);

  // From the recorded start state, against the recording itself.
  {
    Remedy remedy;
    remedy.name = "empty_cache() at this moment";
    const absl::StatusOr<Replayed> r = replays.Run({.restart = false, .empty_cache_at = {at + 1}});
    if (absl::IsCancelled(r.status())) return r.status();
    if (r.ok()) {
      remedy = Filled(remedy.name, *r, at);
      uint64_t released = 0;  // private pools of CUDA graphs keep what they have
      for (const Fragmentation::PoolUse& p : f.pools) released += p.mempool == 0 ? p.cached : 0;
      remedy.reserved = out.reserved - released;
      // The model grants what did not fit, and counts it.
      const uint64_t recorded_peak = r->out_of_memory > 0
                                         ? std::max(peak_reserved, out.as_recorded.peak_reserved)
                                         : peak_reserved;
      Compare(remedy, {.reserved = out.reserved, .peak_reserved = recorded_peak});
    } else {
      remedy.error = std::string(r.status().message());
    }
    out.remedies.push_back(std::move(remedy));
  }
  for (const std::string& text : confs) {
    Remedy remedy{.name = text};
    // On top of the recorded settings.
    const std::string both =
        options.alloc_confs.empty() && !recorded_text.empty() ? recorded_text + "," + text : text;
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(both);
    if (!conf.ok()) {
      if (!options.alloc_confs.empty()) return conf.status();
      remedy.error = std::string(conf.status().message());
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    const bool of_the_card = conf->garbage_collection_threshold > 0 || conf->memory_fraction > 0;
    if (of_the_card && card.bytes == 0) {
      remedy.error = "needs the card's memory, which this file does not state";
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    const absl::StatusOr<Replayed> r = replays.Run(
        {.alloc_conf = *conf, .device_total_bytes = of_the_card ? card.bytes : uint64_t{0}});
    if (absl::IsCancelled(r.status())) return r.status();
    if (r.ok()) {
      remedy = Filled(text, *r, at);
      if (of_the_card) remedy.note = card.note;
      Compare(remedy, out.as_recorded);
    } else {
      remedy.error = std::string(r.status().message());
    }
    out.remedies.push_back(std::move(remedy));
  }
  std::stable_sort(out.remedies.begin(), out.remedies.end(),
                   [](const Remedy& x, const Remedy& y) { return x.given_back > y.given_back; });
  out.headline = Headline(out, OnDevice(trace, out.device));
  return out;
}

}  // namespace vramscope::explain
