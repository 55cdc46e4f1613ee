#include "profiler/explain/ways_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/base/i18n.h"
#include "profiler/explain/techniques.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using replay::Replayed;
using run::FormatBytes;
using trace::EventIndex;

constexpr std::string_view kSettings[] = {"expandable_segments:True", "max_split_size_mb:64",
                                          "max_split_size_mb:256"};

// Returns the event of the request that did not fit. In a plan that continues past the limit, this
// is the allocation after the out-of-memory event.
EventIndex RequestOf(const trace::Trace& trace, EventIndex oom) {
  if (trace.info.backend != trace::Backend::kPlan) return oom;
  const auto& kinds = trace.events.kind;
  const auto alloc = std::find(kinds.begin() + oom, kinds.end(), trace::EventKind::kAlloc);
  return alloc == kinds.end() ? oom : static_cast<EventIndex>(alloc - kinds.begin());
}

WayOut Estimate(const Technique& t, const OutOfMemory& oom) {
  const bool passes = t.request == 0 || t.frees >= oom.missing;
  return {.name = t.name,
          .how = i18n::Text("estimate: ") + t.formula,
          .passes = passes,
          .request_passes = passes,
          .bytes = t.frees};
}

uint64_t ReservedAt(const Replayed& r, EventIndex event) {
  uint64_t reserved = 0;
  for (const Replayed::Point& p : r.curve) {
    if (p.event > event) break;
    reserved = p.reserved;
  }
  return reserved;
}

// Replays the trace once per way out, and reports the progress as a fraction of all replays.
class Replays {
 public:
  Replays(const trace::Trace& trace, const OutOfMemory& oom, const OutOfMemoryOptions& options)
      : trace_(trace), oom_(oom), options_(options), request_(RequestOf(trace, oom.event)) {}

  void SetCount(size_t count) { count_ = std::max(count, done_); }
  EventIndex request() const { return request_; }

  // Returns whether a replay can judge the whole run. Only plans are recorded to the end of the
  // run, so the trace must be a plan. A given technique must have new sizes for all blocks of the
  // trace.
  bool Whole(const Technique* technique) const {
    return trace_.info.backend == trace::Backend::kPlan &&
           (technique == nullptr || technique->everywhere);
  }
  uint64_t limit() const { return oom_.reserved + oom_.device_free; }

  absl::StatusOr<Replayed> Run(const run::AllocConf& conf, const Technique* technique) {
    const uint64_t limit = this->limit();
    const uint64_t extra = technique == nullptr ? 0 : technique->extra;
    replay::ReplayOptions replay{.alloc_conf = conf,
                                 .device_memory_bytes = limit > extra ? limit - extra : 1,
                                 .restart = true,
                                 .holes = false};
    if (!Whole(technique)) replay.last = request_;
    if (technique != nullptr) {
      replay.resize = [this, technique](EventIndex event, uint64_t bytes) -> uint64_t {
        if (event == request_ || event == oom_.event) return technique->request;
        return trace_.events.kind[event] == trace::EventKind::kAlloc
                   ? technique->bytes[trace_.events.id[event]]
                   : bytes;
      };
    }
    replay.cancel = options_.cancel;
    if (options_.progress) {
      replay.progress = [this, from = done_](double fraction) {
        options_.progress((static_cast<double>(from) + fraction) / static_cast<double>(count_));
      };
    }
    ++done_;
    return replay::Replay(trace_, replay);
  }
  bool Passes(const Replayed& r) const {
    return !r.first_out_of_memory || *r.first_out_of_memory > request_;
  }
  // Fills in `way` from the result of the replay. Returns a description.
  std::string Judge(const Replayed& r, const Technique* technique, WayOut& way) const {
    way.passes = way.request_passes = Passes(r);
    if (!Whole(technique)) {
      return !way.passes ? i18n::Text("the request fails")
                         : i18n::Text("the request passes; later requests were not checked");
    }
    way.run_passes = way.passes = r.out_of_memory == 0;
    if (way.passes) return i18n::Text("the whole run passes");
    way.over = r.peak_reserved - std::min(r.peak_reserved, r.device_memory_bytes);
    return i18n::Format("{} the run exceeds the limit by {} at its peak",
                        way.request_passes ? i18n::Text("the request passes, but")
                                           : i18n::Text("the request fails, and"),
                        FormatBytes(way.over));
  }

 private:
  const trace::Trace& trace_;
  const OutOfMemory& oom_;
  const OutOfMemoryOptions& options_;
  const EventIndex request_;
  size_t count_ = 1, done_ = 0;
};

}  // namespace

std::vector<WayOut> EstimatedWays(const trace::Trace& trace, const analysis::LiveSet& live,
                                  const OutOfMemory& oom) {
  std::vector<WayOut> out;
  for (const Technique& t : TechniquesFor(trace, live, oom)) out.push_back(Estimate(t, oom));
  return out;
}

absl::StatusOr<std::vector<WayOut>> ReplayedWays(const trace::Trace& trace, const OutOfMemory& oom,
                                                 const OutOfMemoryOptions& options) {
  const std::string& text = replay::RecordedConf(trace);
  const absl::StatusOr<run::AllocConf> recorded = run::ParseAllocConf(text);
  if (!recorded.ok()) return recorded.status();
  const std::vector<Technique> techniques =
      TechniquesFor(trace, analysis::LiveAt(trace, oom.event), oom);
  Replays replays(trace, oom, options);
  replays.SetCount(1 + std::size(kSettings) + techniques.size());

  const absl::StatusOr<Replayed> base = replays.Run(*recorded, nullptr);
  if (!base.ok()) return base.status();
  // False for example if the replay packs older blocks into fewer segments than the program did.
  const bool reproduced = !replays.Passes(*base);

  std::vector<WayOut> out;
  for (const std::string_view setting : kSettings) {
    const absl::StatusOr<run::AllocConf> conf =
        run::ParseAllocConf(text + (text.empty() ? "" : ",") + std::string(setting));
    if (!conf.ok() || *conf == *recorded) continue;
    const absl::StatusOr<Replayed> r = replays.Run(*conf, nullptr);
    if (absl::IsCancelled(r.status())) return r.status();
    if (!r.ok()) continue;
    const uint64_t reserved = ReservedAt(*r, replays.request());
    WayOut way{.name = std::string(setting),
               .computed = true,
               .bytes = oom.reserved > reserved ? oom.reserved - reserved : 0};
    std::string said = replays.Judge(*r, nullptr, way);
    if (!way.request_passes && *r->first_out_of_memory < oom.event) {
      said = i18n::Text("an earlier request fails");
    }
    way.how = i18n::Format(
        "in a replay that limits the allocator to {}, {} (reserved at the time of the request: {})",
        FormatBytes(replays.limit()), said, FormatBytes(reserved));
    if (!reproduced) {
      way.how += i18n::Text(
          "; this result is unreliable, because a replay with the recorded settings does not "
          "reproduce the failure");
      way.passes = way.request_passes = false;
      way.run_passes.reset();
    }
    out.push_back(std::move(way));
  }
  for (const Technique& t : techniques) {
    WayOut way = Estimate(t, oom);
    if (reproduced) {
      const absl::StatusOr<Replayed> r = replays.Run(*recorded, &t);
      if (absl::IsCancelled(r.status())) return r.status();
      if (r.ok()) {
        way.how += i18n::Format("; in a replay with these sizes, {}", replays.Judge(*r, &t, way));
      }
    }
    out.push_back(std::move(way));
  }
  return out;
}

}  // namespace vramscope::explain
