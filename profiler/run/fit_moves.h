// What technique files say beside their declaration, for `fit` and for what tells how a plan's
// blocks came about: which rows may be tried where a run is too large, and which blocks are there
// because a library is modelled.
//
//   TechniqueEntry{.declaration = {...}, .fit = {{.row = "chunked-loss"}}, ...};
//
// Values; thread-safe as any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::run {

// What a cheaper way of training does to the training itself.
enum class Changes : uint8_t {
  kNothing,   // the same results
  kRounding,  // the same training in fewer bits
  kTraining,  // something else is trained, or in another way
};

// `fit` may switch this row on, or take this optimizer.
struct FitMove {
  std::string row;  // Toggle::id, or OptimizerDeclaration::id
  Changes changes = Changes::kNothing;
  // Costs a lot of time, to run and to plan: tried where nothing else saves any more.
  bool last_resort = false;
  std::string doubles = {};  // a key whose value it doubles, in place of the row's ways
};

// Blocks of a category ("Optimizer state"), of these operators if any are named, that a plan has by
// one of its technique's assumptions.
struct ModelledBlocks {
  size_t assumed = 0;  // which of TechniqueDeclaration::assumes
  std::string category;
  std::vector<std::string> ops = {};
  std::string technique = {};  // its id; the catalogue fills it in
};

}  // namespace vramscope::run
