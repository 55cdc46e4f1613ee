// What would give reserved memory back, found out by replaying the requests.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "profiler/explain/explain.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
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

uint64_t PeakReserved(const trace::Trace& trace) {
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  return curves.size() == 0 ? 0 : *std::max_element(curves.reserved.begin(), curves.reserved.end());
}

void Compare(Remedy& remedy, const Remedy& with) {
  if (!remedy.error.empty()) return;
  remedy.given_back = static_cast<int64_t>(with.reserved - remedy.reserved);
  remedy.peak_given_back = static_cast<int64_t>(with.peak_reserved - remedy.peak_reserved);
}

// Replays one after another, each with its share of the progress.
class Replays {
 public:
  Replays(const trace::Trace& trace, const ReclaimOptions& options, size_t count)
      : trace_(trace), options_(options), count_(count) {}

  absl::StatusOr<Replayed> Run(replay::ReplayOptions options) {
    options.device = options_.device;
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
  size_t count_, done_ = 0;
};

std::string Headline(const Reclaim& r) {
  const uint64_t unused = r.reserved > r.allocated ? r.reserved - r.allocated : 0;
  std::string text = fmt::format("{} of {} reserved are unused at this moment.",
                                 FormatBytes(unused), FormatBytes(r.reserved));
  const auto best = std::max_element(
      r.remedies.begin(), r.remedies.end(),
      [](const Remedy& x, const Remedy& y) { return x.peak_given_back < y.peak_given_back; });
  if (best == r.remedies.end() || best->peak_given_back <= 0) {
    return text + " No setting tried lowers the peak of what is reserved.";
  }
  return text + fmt::format(" {} lowers the peak of what is reserved by {}, to {}.", best->name,
                            FormatBytes(static_cast<uint64_t>(best->peak_given_back)),
                            FormatBytes(best->peak_reserved));
}

}  // namespace

EventIndex MostUnused(const trace::Trace& trace) {
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  EventIndex first = 0, last = trace::kNoEvent;
  const trace::SliceTable& s = trace.slices;
  bool steps = false;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.kind[i] != trace::SliceKind::kStep) continue;
    if (!steps) first = s.begin_event[i];
    last = steps ? std::max(last, s.end_event[i]) : s.end_event[i];
    steps = true;
  }
  EventIndex best = 0;
  uint64_t most = 0;
  for (size_t p = 0; p < curves.size(); ++p) {
    if (curves.event[p] < first || curves.event[p] > last) continue;
    if (curves.reserved[p] < curves.allocated[p] + most) continue;
    const uint64_t unused = curves.reserved[p] - curves.allocated[p];
    if (unused > most) {
      most = unused;
      best = curves.event[p];
    }
  }
  return best;
}

absl::StatusOr<Reclaim> ComputeReclaim(const trace::Trace& trace, const ReclaimOptions& options) {
  Reclaim out;
  const EventIndex at = options.at.value_or(MostUnused(trace));
  const Fragmentation f = FragmentationAt(trace, at);
  out.context = f.context;
  out.allocated = f.allocated;
  out.reserved = f.reserved;
  out.cached = f.cached;
  out.holes = f.holes;

  std::vector<std::string> confs = options.alloc_confs;
  if (confs.empty()) confs.assign(std::begin(kDefaults), std::end(kDefaults));
  Replays replays(trace, options, confs.size() + 2);

  // Against the recorded settings in the same model from the same start, so that what differs is
  // the settings' doing alone.
  const absl::StatusOr<run::AllocConf> recorded = run::ParseAllocConf(trace.info.alloc_conf);
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
      remedy.reserved = out.reserved - out.cached;
      Compare(remedy, {.reserved = out.reserved, .peak_reserved = PeakReserved(trace)});
    } else {
      remedy.error = std::string(r.status().message());
    }
    out.remedies.push_back(std::move(remedy));
  }
  for (const std::string& text : confs) {
    Remedy remedy{.name = text};
    // On top of the recorded settings.
    const std::string both = options.alloc_confs.empty() && !trace.info.alloc_conf.empty()
                                 ? trace.info.alloc_conf + "," + text
                                 : text;
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(both);
    if (!conf.ok()) {
      if (!options.alloc_confs.empty()) return conf.status();
      remedy.error = std::string(conf.status().message());
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    if (conf->garbage_collection_threshold > 0 && trace.info.device.memory_bytes == 0) {
      remedy.error = "needs the device's memory, which this file does not state";
      out.remedies.push_back(std::move(remedy));
      continue;
    }
    const absl::StatusOr<Replayed> r = replays.Run({.alloc_conf = *conf});
    if (absl::IsCancelled(r.status())) return r.status();
    if (r.ok()) {
      remedy = Filled(text, *r, at);
      Compare(remedy, out.as_recorded);
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
