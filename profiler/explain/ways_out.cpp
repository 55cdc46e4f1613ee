#include "profiler/explain/ways_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

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

// Where the request that did not fit shows up: a plan goes on beyond the limit and records it as an
// allocation after the event.
EventIndex RequestOf(const trace::Trace& trace, EventIndex oom) {
  if (trace.info.backend != trace::Backend::kPlan) return oom;
  const auto& kinds = trace.events.kind;
  const auto alloc = std::find(kinds.begin() + oom, kinds.end(), trace::EventKind::kAlloc);
  return alloc == kinds.end() ? oom : static_cast<EventIndex>(alloc - kinds.begin());
}

WayOut Estimate(const Technique& t, const OutOfMemory& oom) {
  return {.name = t.name,
          .how = "estimate: " + t.formula,
          .passes = t.request == 0 || t.frees >= oom.missing,
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

// Replays up to the request, one after another, each with its share of the progress.
class Replays {
 public:
  Replays(const trace::Trace& trace, const OutOfMemory& oom, const OutOfMemoryOptions& options)
      : trace_(trace), oom_(oom), options_(options), request_(RequestOf(trace, oom.event)) {}

  void SetCount(size_t count) { count_ = std::max(count, done_); }
  EventIndex request() const { return request_; }

  absl::StatusOr<Replayed> Run(const run::AllocConf& conf, const Technique* technique) {
    const uint64_t limit = oom_.reserved + oom_.device_free;
    const uint64_t extra = technique == nullptr ? 0 : technique->extra;
    replay::ReplayOptions replay{.alloc_conf = conf,
                                 .device_memory_bytes = limit > extra ? limit - extra : 1,
                                 .device = oom_.device,
                                 .last = request_};
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
      TechniquesFor(trace, analysis::LiveAt(trace, oom.event, oom.device), oom);
  Replays replays(trace, oom, options);
  replays.SetCount(1 + std::size(kSettings) + techniques.size());

  const absl::StatusOr<Replayed> base = replays.Run(*recorded, nullptr);
  if (!base.ok()) return base.status();
  // The model has the blocks from before the recording in fewer segments than they may have been.
  const bool reproduced = !replays.Passes(*base);

  std::vector<WayOut> out;
  for (const std::string_view setting : kSettings) {
    const absl::StatusOr<run::AllocConf> conf =
        run::ParseAllocConf(text + (text.empty() ? "" : ",") + std::string(setting));
    if (!conf.ok() || *conf == *recorded) continue;
    const absl::StatusOr<Replayed> r = replays.Run(*conf, nullptr);
    if (absl::IsCancelled(r.status())) return r.status();
    if (!r.ok()) continue;
    const bool passes = replays.Passes(*r);
    const uint64_t reserved = ReservedAt(*r, replays.request());
    std::string how =
        fmt::format("by replay with {} for the allocator: {}; {} reserved at that moment",
                    FormatBytes(oom.reserved + oom.device_free),
                    passes                                 ? "the request passes"
                    : *r->first_out_of_memory >= oom.event ? "it does not pass"
                                                           : "another request fails before it",
                    FormatBytes(reserved));
    if (!reproduced) how += "; but so it does in the model under the recorded settings";
    out.push_back({.name = std::string(setting),
                   .how = std::move(how),
                   .computed = true,
                   .passes = passes && reproduced,
                   .bytes = oom.reserved > reserved ? oom.reserved - reserved : 0});
  }
  for (const Technique& t : techniques) {
    WayOut way = Estimate(t, oom);
    if (reproduced) {
      const absl::StatusOr<Replayed> r = replays.Run(*recorded, &t);
      if (absl::IsCancelled(r.status())) return r.status();
      if (r.ok()) {
        way.passes = replays.Passes(*r);
        way.how += fmt::format("; replayed with these sizes {}",
                               way.passes ? "the request passes" : "it does not pass");
      }
    }
    out.push_back(std::move(way));
  }
  return out;
}

}  // namespace vramscope::explain
