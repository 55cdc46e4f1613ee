#include "profiler/run/evidence.h"

#include <string>

#include "profiler/base/i18n.h"

namespace vramscope::run {
namespace {

// One recording differs from its plan by two segments of 20 MiB (see profiler/allocator/README.md).
// Among equal blocks, the allocator chooses by address, and the driver's addresses are not known.
constexpr uint64_t kReservedWithin = uint64_t{40} << 20;

bool IsBasics(const RunConfig& config, int seq) {
  RunConfigBuilder builder;
  if (!builder.SetPreset("basics-medium").ok() || !builder.Set("seq", std::to_string(seq)).ok())
    return false;
  const absl::StatusOr<RunConfig> recorded = builder.Build();
  return recorded.ok() && ToProtoBytes(*recorded) == ToProtoBytes(config);
}

}  // namespace

std::optional<Evidence> EvidenceOf(const RunConfig& config) {
  if (config.backend != Backend::kPlan || (config.seq != 128 && config.seq != 256) ||
      !IsBasics(config, config.seq))
    return std::nullopt;
  return Evidence{kReservedWithin,
                  TEXT_MARK("A training step of this run was recorded on a GPU. All allocations "
                            "and frees in the plan's last step are the same as in the recording, "
                            "and reserved memory differed by at most 40 MiB.")};
}

}  // namespace vramscope::run
