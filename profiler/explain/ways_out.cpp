#include "profiler/explain/ways_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::Category;
using trace::Phase;

// Shares that published measurements and the plan backend agree on within some ten percent; the
// texts say that they are estimates.
constexpr double kCheckpointingSaves = 0.7;
constexpr double kHalfPrecisionSaves = 0.5;
constexpr double kEightBitSaves = 0.75;
constexpr double kAdaptersSave = 0.98;

class Estimates {
 public:
  Estimates(const OutOfMemory& oom, std::vector<WayOut>& out) : oom_(oom), out_(out) {}

  uint64_t Of(Category c) const { return oom_.by_category[static_cast<size_t>(c)]; }
  void Add(std::string name, uint64_t from, double saves, std::string_view what) {
    const auto bytes = static_cast<uint64_t>(static_cast<double>(from) * saves);
    if (bytes == 0) return;
    out_.push_back({.name = std::move(name),
                    .how = fmt::format("estimate: about {:.0f} % of {} of {} at that moment",
                                       saves * 100, FormatBytes(from), what),
                    .passes = bytes >= oom_.missing,
                    .bytes = bytes});
  }

 private:
  const OutOfMemory& oom_;
  std::vector<WayOut>& out_;
};

// Where the request that did not fit shows up: a plan goes on beyond the limit and records it as an
// allocation after the event.
trace::EventIndex RequestOf(const trace::Trace& trace, trace::EventIndex oom) {
  if (trace.info.backend != trace::Backend::kPlan) return oom;
  const auto& kinds = trace.events.kind;
  const auto alloc = std::find(kinds.begin() + oom, kinds.end(), trace::EventKind::kAlloc);
  return alloc == kinds.end() ? oom : static_cast<trace::EventIndex>(alloc - kinds.begin());
}

bool HalfPrecisionAlready(const trace::Trace& trace) {
  return trace.info.has_config && trace.info.config.precision != run::Precision::kFp32;
}

}  // namespace

std::vector<WayOut> EstimatedWays(const trace::Trace& trace, const analysis::LiveSet& live,
                                  const OutOfMemory& oom) {
  std::vector<WayOut> out;
  Estimates add(oom, out);
  const uint64_t activations = add.Of(Category::kActivation);
  const uint64_t gradients = add.Of(Category::kGradient);
  const uint64_t state = add.Of(Category::kOptimizerState);
  const bool batch_bound = oom.context.phase == Phase::kForward ||
                           oom.context.phase == Phase::kLoss ||
                           oom.context.phase == Phase::kBackward;
  add.Add("half the batch (two micro-batches)",
          activations + add.Of(Category::kInput) + add.Of(Category::kTemporary) +
              (batch_bound ? oom.asked : 0),
          0.5, "activations, inputs and temporaries");
  add.Add("gradient checkpointing", activations, kCheckpointingSaves, "activations");
  if (!HalfPrecisionAlready(trace)) {
    add.Add("mixed precision (bf16)", activations, kHalfPrecisionSaves,
            "activations, where they are fp32");
  }
  uint64_t softmax = 0;
  for (const analysis::LiveAllocation& l : live.allocations) {
    const std::string_view op = trace.String(trace.allocations.op[l.id.value]);
    if (l.category != Category::kParameter && op.find("softmax") != std::string_view::npos) {
      softmax += trace.allocations.bytes_rounded[l.id.value];
    }
  }
  add.Add("flash or memory-efficient attention", softmax, 1, "softmax results");
  add.Add("8-bit optimizer", state, kEightBitSaves, "optimizer state");
  add.Add("optimizer state on the CPU", state, 1, "optimizer state");
  add.Add("LoRA", gradients + state, kAdaptersSave, "gradients and optimizer state");
  if (oom.context.phase == Phase::kForward) {
    add.Add("zero_grad(set_to_none=True) before the forward", gradients, 1, "gradients");
  }
  return out;
}

absl::StatusOr<std::vector<WayOut>> ComputedWays(const trace::Trace& trace, const OutOfMemory& oom,
                                                 const OutOfMemoryOptions& options) {
  constexpr std::string_view kSettings[] = {"", "expandable_segments:True", "max_split_size_mb:64",
                                            "max_split_size_mb:256"};
  constexpr size_t kCount = std::size(kSettings);
  std::vector<WayOut> out;
  const trace::EventIndex request = RequestOf(trace, oom.event);
  bool reproduced = true;
  for (size_t i = 0; i < kCount; ++i) {
    const std::string both = trace.info.alloc_conf.empty() || kSettings[i].empty()
                                 ? trace.info.alloc_conf + std::string(kSettings[i])
                                 : trace.info.alloc_conf + "," + std::string(kSettings[i]);
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(both);
    if (!conf.ok()) continue;
    replay::ReplayOptions replay{.alloc_conf = *conf,
                                 .device_memory_bytes = oom.reserved + oom.device_free,
                                 .device = oom.device};
    replay.cancel = options.cancel;
    if (options.progress) {
      replay.progress = [&options, i](double fraction) {
        options.progress((static_cast<double>(i) + fraction) / static_cast<double>(kCount));
      };
    }
    const absl::StatusOr<replay::Replayed> r = replay::Replay(trace, replay);
    if (!r.ok()) {
      if (absl::IsCancelled(r.status())) return r.status();
      if (i == 0) return r.status();
      continue;
    }
    const bool passes = !r->first_out_of_memory || *r->first_out_of_memory > request;
    if (i == 0) {
      reproduced = !passes;
      continue;
    }
    uint64_t reserved = 0;
    for (const replay::Replayed::Point& p : r->curve) {
      if (p.event > request) break;
      reserved = p.reserved;
    }
    std::string how =
        fmt::format("by replay with {} for the allocator: {}; {} reserved at that moment",
                    FormatBytes(replay.device_memory_bytes),
                    passes                                 ? "the request passes"
                    : *r->first_out_of_memory >= oom.event ? "it does not pass"
                                                           : "another request fails before it",
                    FormatBytes(reserved));
    if (!reproduced) how += "; but so it does in the model under the recorded settings";
    out.push_back({.name = std::string(kSettings[i]),
                   .how = std::move(how),
                   .computed = true,
                   .passes = passes && reproduced,
                   .bytes = oom.reserved > reserved ? oom.reserved - reserved : 0});
  }
  return out;
}

}  // namespace vramscope::explain
