// Everything that can be chosen: techniques, their settings, optimizers, model families. Each is
// declared in the file that implements it (trainer/techniques, optimizers, models/families). The
// worker prints the declarations (`vramscope-worker --catalogue`), and resources/catalogue.json is
// a copy of this output. This unit reads the copy, so that builds without LibTorch have the same
// catalogue. A test compares the copy with the output.
//
//   for (const TechniqueDeclaration& t : TheCatalogue().techniques) ...
//   const SettingDeclaration* s = FindSetting("lora.rank");
//
// Immutable once built; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/declarations.h"
#include "profiler/run/family.h"
#include "profiler/run/fit_moves.h"

namespace vramscope::run {

struct Catalogue {
  std::vector<TechniqueDeclaration> techniques;
  std::vector<OptimizerDeclaration> optimizers;
  std::vector<FamilyDeclaration> families;
  std::vector<FitMove> moves;            // moves of all techniques, in their order
  std::vector<ModelledBlocks> modelled;  // modelled blocks of all techniques, in their order

  const TechniqueDeclaration* FindTechnique(std::string_view id) const;  // null: unknown id
  const OptimizerDeclaration* FindOptimizer(std::string_view id) const;  // null: unknown id
  // Returns the family that reads this config.json, or null if no family reads it.
  const FamilyDeclaration* FamilyOf(std::string_view config_json) const;
};

std::string ToJson(const Catalogue& catalogue);
// kInvalidArgument: not output of ToJson().
absl::StatusOr<Catalogue> CatalogueFromJson(std::string_view json);

// The catalogue of this version.
const Catalogue& TheCatalogue();

// Returns a setting of TheCatalogue(), or null if the key is unknown. Uses a hash table, because
// one click in the window causes thousands of such calls.
const SettingDeclaration* FindSetting(std::string_view key);

}  // namespace vramscope::run
