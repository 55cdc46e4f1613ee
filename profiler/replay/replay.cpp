#include "profiler/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/allocator/rules.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/exact.h"
#include "profiler/replay/releases.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::replay {
namespace {

constexpr uint64_t kMostDifferences = 100;
constexpr uint64_t kMiB = uint64_t{1} << 20;

// Returns variants of the recorded settings `said`, each with one setting changed.
std::vector<run::AllocConf> Suspects(const trace::Trace& trace, const run::AllocConf& said) {
  std::vector<run::AllocConf> out;
  const auto add = [&out, &said](run::AllocConf conf) {
    if (conf != said) out.push_back(std::move(conf));
  };
  const trace::AllocationTable& a = trace.allocations;
  const trace::SegmentTable& s = trace.segments;
  bool expandable = false, plain = false;
  uint64_t segment_bytes = 0;  // size of a segment allocated for a request below 9 MiB
  for (uint32_t row = 0; row < a.size(); ++row) {
    const trace::SegmentId id = a.segment[row];
    if (!id.valid()) continue;
    (s.expandable[id.value] ? expandable : plain) = true;
    if (s.alloc_event[id.value] + 1 == a.alloc_event[row] && a.bytes[row] > allocator::kSmallSize &&
        a.bytes[row] < 9 * kMiB && !s.expandable[id.value] &&
        s.bytes[id.value] != said.large_segment_size) {
      segment_bytes = s.bytes[id.value];
    }
  }
  run::AllocConf conf = said;
  conf.expandable_segments = expandable && !plain;
  add(conf);
  if (segment_bytes > allocator::kMinLargeAlloc) {
    conf = said;
    conf.large_segment_size = conf.max_non_split_rounding = segment_bytes;
    add(conf);
  }
  for (uint32_t divisions : {1, 2, 4, 8, 16, 32}) {
    conf = said;
    conf.roundup_power2_divisions.fill(divisions == 1 ? 0 : divisions);
    add(conf);
  }
  for (uint64_t mib : {0, 20, 21, 32, 50, 64, 100, 128, 200, 256, 512, 1024}) {
    conf = said;
    conf.max_split_size = mib == 0 ? run::AllocConf::kNoMaxSplit : mib * kMiB;
    add(conf);
  }
  return out;
}

}  // namespace

const std::string& RecordedConf(const trace::Trace& trace) {
  const bool own = trace.info.alloc_conf.empty() && trace.info.has_config;
  return own ? trace.info.config.alloc_conf : trace.info.alloc_conf;
}

namespace {

absl::Status NoHistory() {
  return absl::FailedPreconditionError(
      i18n::Text("the file contains the state of memory at one point in time, but no history to "
                 "replay; record a history with torch.cuda.memory._record_memory_history()"));
}

// Whether the options ask for no change of the recorded run.
bool AsRecorded(const ReplayOptions& o, const run::AllocConf& recorded) {
  return o.alloc_conf.value_or(recorded) == recorded && !o.restart.value_or(false) &&
         o.device_memory_bytes == 0 && o.memory_fraction == 0 && o.device_total_bytes == 0 &&
         o.empty_cache_at.empty() && !o.resize && !o.last.has_value();
}

absl::StatusOr<Replayed> WhatIf(const trace::Trace& trace, const ReplayOptions& options,
                                const run::AllocConf& recorded) {
  // If the exact replay agrees with every recorded choice, returns its result, because it uses the
  // driver's addresses and the inferred tails.
  if (AsRecorded(options, recorded)) {
    ReplayOptions exactly{.try_settings = false};
    exactly.progress = options.progress;
    exactly.cancel = options.cancel;
    absl::StatusOr<Replayed> out = ReplayExactly(trace, exactly, recorded, 0);
    if (absl::IsCancelled(out.status())) return out.status();
    if (out.ok() && out->differences == 0) {
      const Capacity capacity = FindReleases(trace).capacity;
      out->what_if = true;
      out->older_unchanged = trace.recording_begin != trace::kNoEvent;
      out->device_memory_bytes = capacity.bytes;
      out->device_memory_inferred = capacity.inferred();
      return out;
    }
  }
  absl::StatusOr<Replayed> out = ReplayWhatIf(trace, options, recorded);
  if (out.ok() || absl::IsCancelled(out.status()) || options.restart.has_value()) return out;
  // The older blocks could not be restored in place, so they are allocated anew.
  ReplayOptions anew = options;
  anew.restart = true;
  return ReplayWhatIf(trace, anew, recorded);
}

}  // namespace

absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options) {
  absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(RecordedConf(trace));
  if (trace.events.size() > 0 && !HasHistory(trace)) return NoHistory();
  if (const std::string_view why = trace::WhyNoReplay(trace); !why.empty())
    return absl::FailedPreconditionError(absl::string_view(why.data(), why.size()));
  if (options.what_if()) {
    if (!conf.ok()) conf = run::AllocConf();
    return WhatIf(trace, options, *conf);
  }
  if (!conf.ok()) {
    return absl::FailedPreconditionError(
        i18n::Format("the allocator settings of the recording are not supported: {}",
                     std::string(conf.status().message())));
  }
  const auto& segment = trace.allocations.segment;
  if (!segment.empty() && std::none_of(segment.begin(), segment.end(),
                                       [](trace::SegmentId id) { return id.valid(); })) {
    return absl::FailedPreconditionError(
        i18n::Text("the trace does not record its blocks' segments, so a replay has nothing to "
                   "compare with"));
  }
  absl::StatusOr<Replayed> out = ReplayExactly(trace, options, *conf, kMostDifferences);
  if (!out.ok() || out->differences == 0 || !options.try_settings) return out;
  // Most wrong settings differ from the recording early. Their replay ends there.
  const ReplayOptions quiet{.cancel = options.cancel};
  for (run::AllocConf& suspect : Suspects(trace, *conf)) {
    const absl::StatusOr<Replayed> tried = ReplayExactly(trace, quiet, suspect, 0);
    if (absl::IsCancelled(tried.status())) return tried.status();
    if (!tried.ok() || tried->differences > 0) continue;
    out->settings_that_agree = std::move(suspect);
    break;
  }
  return out;
}

absl::StatusOr<Baseline> ReplayBaseline(const trace::Trace& trace, const ReplayOptions& options) {
  const run::AllocConf recorded =
      run::ParseAllocConf(RecordedConf(trace)).value_or(run::AllocConf());
  const auto& born = trace.allocations.alloc_event;
  const bool older = trace.recording_begin != trace::kNoEvent && !born.empty() &&
                     born.front() < trace.recording_begin;
  ReplayOptions one{.alloc_conf = recorded, .holes = options.holes};
  one.cancel = options.cancel;
  const auto progress = [&](double from, double part) -> std::function<void(double)> {
    if (!options.progress) return {};
    return [&options, from, part](double f) { options.progress(from + f * part); };
  };
  one.progress = progress(0, older ? 0.5 : 1);
  Baseline out;
  absl::StatusOr<Replayed> own = Replay(trace, one);
  if (!own.ok()) return own.status();
  out.own = *std::move(own);
  if (!older || !out.own.older_unchanged) return out;
  one.restart = true;
  one.progress = progress(0.5, 0.5);
  absl::StatusOr<Replayed> anew = Replay(trace, one);
  if (!anew.ok()) return anew.status();
  out.anew = *std::move(anew);
  return out;
}

}  // namespace vramscope::replay
