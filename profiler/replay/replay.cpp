#include "profiler/replay/replay.h"

#include <fmt/format.h>

#include "profiler/replay/exact.h"

namespace vramscope::replay {

absl::StatusOr<Replayed> Replay(const trace::Trace& trace, const ReplayOptions& options) {
  const bool own = trace.info.alloc_conf.empty() && trace.info.has_config;
  const std::string& text = own ? trace.info.config.alloc_conf : trace.info.alloc_conf;
  absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(text);
  if (options.what_if()) {
    if (!conf.ok()) conf = run::AllocConf();
    return ReplayWhatIf(trace, options, *conf);
  }
  if (!conf.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("the settings that the trace was recorded under are not understood: {}",
                    std::string(conf.status().message())));
  }
  if (trace.segments.size() == 0 && trace.allocations.size() > 0) {
    return absl::FailedPreconditionError(
        "the trace says nothing of segments, so there is nothing to compare with; other settings "
        "can be tried");
  }
  return ReplayExactly(trace, options, *conf);
}

}  // namespace vramscope::replay
