// Tells by its keys what the JSON of a configuration describes, so that a dropped or opened file
// can be passed to the reader for it. Only the reader checks the values.
//
//   KindOfConfiguration(R"({"model_type": "gpt2", "n_embd": 768})")   // kModel: a config.json
//   KindOfConfiguration(R"({"model": "gpt2", "batch": 8})")           // kRun: a run.json
//
// Thread-safe.
#pragma once

#include <string_view>

namespace vramscope::run {

enum class ConfigurationKind {
  kUnknown,    // an empty object, or JSON of another kind
  kMalformed,  // not JSON, not an object, or larger than a config.json can be (kMaxConfigBytes)
  kModel,      // a Hugging Face config.json
  kRun,        // a run.json
  kDevice,     // a device file
};

ConfigurationKind KindOfConfiguration(std::string_view text);

}  // namespace vramscope::run
