// Everything that can be chosen: techniques, their settings, optimizers, model families. Declared
// by the files that implement it (trainer/techniques, optimizers, models/families); the worker
// prints it
// (`vramscope-worker --catalogue`), resources/catalogue.json is that text, and this is what was
// read from it. A test holds the two equal, so builds without LibTorch know the same.
//
//   for (const TechniqueDeclaration& t : TheCatalogue().techniques) ...
//   const SettingDeclaration* s = FindSetting("lora.rank");
//
// Immutable once made; thread-safe.
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
  std::vector<FitMove> moves;            // in the techniques' order
  std::vector<ModelledBlocks> modelled;  // likewise

  const TechniqueDeclaration* FindTechnique(std::string_view id) const;  // null: none
  const OptimizerDeclaration* FindOptimizer(std::string_view id) const;  // null: none
  // The family that reads this text of a config.json; null: none does.
  const FamilyDeclaration* FamilyOf(std::string_view config_json) const;
};

std::string ToJson(const Catalogue& catalogue);
// kInvalidArgument: not what ToJson() writes.
absl::StatusOr<Catalogue> CatalogueFromJson(std::string_view json);

// The one of this version.
const Catalogue& TheCatalogue();

// Of that one; null: none. A click asks thousands of times: by hash.
const SettingDeclaration* FindSetting(std::string_view key);

}  // namespace vramscope::run
