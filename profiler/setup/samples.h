// Finds the shipped plans (`.trace` files in resources/samples) by their configuration. The window
// shows them when plans cannot be computed.
//
//   const Samples samples = Samples::In(SamplesFolder());
//   if (const std::string* file = samples.Find(config)) Open(*file);
//
// Plain values; thread-safe.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/run/run_config.h"

namespace vramscope::setup {

class Samples {
 public:
  // Reads those `.trace` files in a folder whose headers contain a configuration.
  static Samples In(const std::string& folder);

  const std::string* Find(const run::RunConfig& config) const;  // null: there is none
  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  std::vector<std::string> Files() const;  // in alphabetical order

 private:
  std::unordered_map<std::string, std::string> files_;  // by run::ToProtoBytes(config)
};

// The folder next to an installed program (../share/vramscope/samples), or in the source tree for a
// program in a build tree. If set, $VRAMSCOPE_SAMPLES is used instead. "": not found.
std::string SamplesFolder();

}  // namespace vramscope::setup
