#include "tests/fuzz/run_entries.h"

#include <cmath>
#include <string>
#include <string_view>

#include "profiler/run/alloc_conf.h"
#include "profiler/run/lengths.h"
#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"
#include "profiler/run/units.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {
namespace {

// Returns whether the input was accepted. If not, the error must have a message.
bool Taken(const absl::Status& status) {
  Check(status.ok() || !status.message().empty(), "an error without a message");
  return status.ok();
}

// Neither the JSON nor the protobuf form may lose a part of the run.
void CheckForms(const run::RunConfig& config) {
  const std::string bytes = run::ToProtoBytes(config);
  const auto from_bytes = run::FromProtoBytes(bytes);
  Check(from_bytes.ok(),
        "a run's bytes are refused: " + std::string(from_bytes.status().message()));
  Check(run::ToProtoBytes(*from_bytes) == bytes, "a run changed on the way through its bytes");
  run::RunConfigBuilder builder;
  const absl::Status read = builder.SetRunJson(run::ToJson(config));
  Check(read.ok(), "a run's JSON is refused: " + std::string(read.message()));
  const auto from_json = builder.Build();
  Check(from_json.ok(), "a run's JSON is refused: " + std::string(from_json.status().message()));
  Check(run::ToJson(*from_json) == run::ToJson(config),
        "a run changed on the way through its JSON");
}

}  // namespace

void ModelConfig(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = run::ParseModelConfig(text);
  if (!Taken(model.status())) return;
  for (const std::string_view name : run::LinearLayerNames(*model))
    Check(!name.empty(), "a layer without a name");
  run::RunConfigBuilder builder;
  if (!Taken(builder.SetModelConfig("config.json", text))) return;
  const auto config = builder.Build();
  if (Taken(config.status())) CheckForms(*config);
}

void RunJson(const uint8_t* data, size_t size) {
  run::RunConfigBuilder builder;
  if (!Taken(builder.SetRunJson({reinterpret_cast<const char*>(data), size}))) return;
  const auto config = builder.Build();
  if (Taken(config.status())) CheckForms(*config);
}

void RunBytes(const uint8_t* data, size_t size) {
  const auto config = run::FromProtoBytes({reinterpret_cast<const char*>(data), size});
  if (Taken(config.status())) CheckForms(*config);
}

void Settings(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto conf = run::ParseAllocConf(text); Taken(conf.status())) {
    const auto again = run::ParseAllocConf(run::ToString(*conf));
    Check(again.ok(), "settings that were written are refused");
    run::AllocConf deciding = *conf;
    deciding.ignored.clear();
    Check(*again == deciding, "settings changed on the way");
  }
  if (const auto ranges = run::ParseLengths(text); Taken(ranges.status()))
    for (const run::LengthRange& range : *ranges)
      Check(1 <= range.low && range.low <= range.high && range.high <= 1 << 20, "a length");
  if (const auto bytes = run::ParseBytes(text); Taken(bytes.status()))
    Check(*bytes <= uint64_t{1} << 60, "more bytes than there may be");
  if (const auto number = run::ParseNumber(text); Taken(number.status()))
    Check(std::isfinite(*number), "a number that is none");
  Taken(run::ParseInteger(text).status());
}

}  // namespace vramscope::fuzz
