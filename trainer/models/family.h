// Model families. Each family is one file in families/. The file declares the properties of the
// family (profiler/run/family.h), reads its config.json, and contains its modules, forward pass and
// loss. The build finds all files in the folder, so there is no list to edit.
//
//   // families/mlp.cpp
//   namespace vramscope::trainer::mlp {
//   Family Declare() {
//     return {{.id = "mlp", .title = "Perceptron", .model_types = {"mlp"}, ...}, &MakeMlp};
//   }
//   }  // namespace
//
// Families() is thread-safe. MakeModel() throws no exceptions.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "profiler/run/family.h"
#include "trainer/models/model.h"

namespace vramscope::trainer {

struct Family {
  run::FamilyDeclaration declaration;
  // `config_json` may contain anything. kInvalidArgument says what is missing or out of bounds.
  absl::StatusOr<std::unique_ptr<Model>> (*make)(std::string_view config_json,
                                                 const ModelOptions& options);
};

// Ordered by file name.
const std::vector<Family>& Families();

// Returns the family that reads the config. If the config is not a JSON object, or no family reads
// it, returns kInvalidArgument with a list of the families.
absl::StatusOr<const Family*> FindFamily(std::string_view config_json);

absl::StatusOr<std::unique_ptr<Model>> MakeModel(std::string_view config_json,
                                                 const ModelOptions& options);

}  // namespace vramscope::trainer
