// Finds a shipped plan (a `.trace` in resources/samples) by its configuration. The window shows
// these plans if it cannot compute plans.
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
  // Reads the `.trace` files in a folder. Skips files whose headers contain no configuration.
  static Samples In(const std::string& folder);

  const std::string* Find(const run::RunConfig& config) const;  // null: there is none
  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  std::vector<std::string> Files() const;  // in alphabetical order

 private:
  std::unordered_map<std::string, std::string> files_;  // by run::ToProtoBytes(config)
};

// Returns $VRAMSCOPE_SAMPLES, if set. Otherwise, ../share/vramscope/samples for an installed
// program, and the folder in the source tree for a program in a build tree. "" if not found.
std::string SamplesFolder();

}  // namespace vramscope::setup
