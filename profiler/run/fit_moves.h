// Other declarations in technique files: the toggles that `fit` tries if a run is too large, and
// (for evidence) the blocks of a plan that rest on an assumption about a modelled library.
//
//   TechniqueEntry{.declaration = {...}, .fit = {{.row = "chunked-loss"}}, ...};
//
// Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::run {

// How something that saves memory changes the training.
enum class Changes : uint8_t {
  kNothing,   // same results
  kRounding,  // same training with fewer bits
  kTraining,  // changes what is trained or how
};

// A toggle that `fit` may switch on, or an optimizer that it may choose.
struct FitMove {
  std::string row;  // Toggle::id or OptimizerDeclaration::id
  Changes changes = Changes::kNothing;
  // Whether the move makes runs and plans slow. It is then tried only if nothing else saves memory.
  bool last_resort = false;
  std::string doubles = {};  // a key whose value is doubled instead of setting the toggle's ways
};

// The blocks of a plan that rest on an assumption of the technique. They have this category
// ("Optimizer state") and were allocated by one of `ops`, or by any operator if `ops` is empty.
struct ModelledBlocks {
  size_t assumed = 0;  // index into TechniqueDeclaration::assumes
  std::string category;
  std::vector<std::string> ops = {};
  std::string technique = {};  // id of the technique; filled in by the catalogue
};

}  // namespace vramscope::run
