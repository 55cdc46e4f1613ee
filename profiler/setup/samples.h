// The plans that are shipped as `.trace` files (resources/samples), found by their configuration:
// what the window shows where no plan can be made.
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
  // Every `.trace` of a folder whose header has a configuration; others are left out.
  static Samples In(const std::string& folder);

  const std::string* Find(const run::RunConfig& config) const;  // null: there is none
  bool empty() const { return files_.empty(); }
  size_t size() const { return files_.size(); }
  std::vector<std::string> Files() const;  // in alphabetical order

 private:
  std::unordered_map<std::string, std::string> files_;  // by run::ToProtoBytes(config)
};

// Beside an installed program (../share/vramscope/samples) or in the source tree of a built one;
// $VRAMSCOPE_SAMPLES wins. "": nowhere.
std::string SamplesFolder();

}  // namespace vramscope::setup
