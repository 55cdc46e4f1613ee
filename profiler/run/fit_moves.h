// Further declarations in technique files: for `fit`, the toggles to try if a run is too large; for
// the evidence of a plan's blocks, the blocks that are as they are because a library is modelled.
//
//   TechniqueEntry{.declaration = {...}, .fit = {{.row = "chunked-loss"}}, ...};
//
// Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::run {

// How a means of saving memory changes the training.
enum class Changes : uint8_t {
  kNothing,   // same results
  kRounding,  // same training with fewer bits
  kTraining,  // changes what is trained or how
};

// A toggle that `fit` may switch on, or an optimizer that it may choose.
struct FitMove {
  std::string row;  // Toggle::id or OptimizerDeclaration::id
  Changes changes = Changes::kNothing;
  // The move makes runs and plans slow, so it is tried only if nothing else saves memory.
  bool last_resort = false;
  std::string doubles = {};  // a key whose value is doubled instead of setting the toggle's ways
};

// Blocks that are in a plan because of an assumption of the technique: blocks of a category
// ("Optimizer state") that one of `ops` allocated, or any operator if `ops` is empty.
struct ModelledBlocks {
  size_t assumed = 0;  // index into TechniqueDeclaration::assumes
  std::string category;
  std::vector<std::string> ops = {};
  std::string technique = {};  // id of the technique; filled in by the catalogue
};

}  // namespace vramscope::run
