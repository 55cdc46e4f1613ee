#include "profiler/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/replay/exact.h"

namespace vramscope::replay {
namespace {

constexpr uint64_t kMostDifferences = 100;
constexpr uint64_t kMiB = uint64_t{1} << 20;

// One setting changed from what the file says.
std::vector<run::AllocConf> Suspects(const trace::Trace& trace, uint8_t device,
                                     const run::AllocConf& said) {
  std::vector<run::AllocConf> out;
  const auto add = [&out, &said](run::AllocConf conf) {
    if (conf != said) out.push_back(std::move(conf));
  };
  const trace::AllocationTable& a = trace.allocations;
  const trace::SegmentTable& s = trace.segments;
  bool expandable = false, plain = false;
  uint64_t segment_bytes = 0;  // of one that a request below 10 MiB made
  for (uint32_t row = 0; row < a.size(); ++row) {
    const trace::SegmentId id = a.segment[row];
    if (!id.valid() || a.device[row] != device) continue;
    (s.expandable[id.value] ? expandable : plain) = true;
    if (s.alloc_event[id.value] + 1 == a.alloc_event[row] && a.bytes[row] > kMiB &&
        a.bytes[row] < 9 * kMiB && !s.expandable[id.value] &&
        s.bytes[id.value] != said.large_segment_size) {
      segment_bytes = s.bytes[id.value];
    }
  }
  run::AllocConf conf = said;
  conf.expandable_segments = expandable && !plain;
  add(conf);
  if (segment_bytes > 10 * kMiB) {
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

absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options) {
  absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(RecordedConf(trace));
  if (options.what_if()) {
    if (!conf.ok()) conf = run::AllocConf();
    return ReplayWhatIf(trace, options, *conf);
  }
  if (!conf.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("the settings that the trace was recorded under are not understood: {}",
                    std::string(conf.status().message())));
  }
  const auto& segment = trace.allocations.segment;
  if (!segment.empty() && std::none_of(segment.begin(), segment.end(),
                                       [](trace::SegmentId id) { return id.valid(); })) {
    return absl::FailedPreconditionError(
        "the trace does not say which segments its blocks lie in, so there is nothing to compare "
        "with; other settings can be tried");
  }
  absl::StatusOr<Replayed> out = ReplayExactly(trace, options, *conf, kMostDifferences);
  if (!out.ok() || out->differences == 0 || !options.try_settings) return out;
  // Most that are wrong differ early, which ends their replay.
  const ReplayOptions quiet{.device = options.device, .cancel = options.cancel};
  for (run::AllocConf& suspect : Suspects(trace, options.device, *conf)) {
    const absl::StatusOr<Replayed> tried = ReplayExactly(trace, quiet, suspect, 0);
    if (absl::IsCancelled(tried.status())) return tried.status();
    if (!tried.ok() || tried->differences > 0) continue;
    out->settings_that_agree = std::move(suspect);
    break;
  }
  return out;
}

}  // namespace vramscope::replay
