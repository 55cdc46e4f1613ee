// The families of models. A family is one file in families/: it declares what it is
// (profiler/run/family.h), reads its config.json, and has the modules, the forward pass and the
// loss. The build finds the file by its name; nothing else names it.
//
//   // families/mlp.cpp
//   Family DeclareFamily_mlp() {
//     return {{.id = "mlp", .title = "Perceptron", .model_types = {"mlp"}, ...}, &MakeMlp};
//   }
//
// Families() is thread-safe; MakeModel() throws nothing.
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
  // kInvalidArgument: says of `config_json`, which is hostile, what is missing or out of bounds.
  absl::StatusOr<std::unique_ptr<Model>> (*make)(std::string_view config_json,
                                                 const ModelOptions& options);
};

// In order of their files.
const std::vector<Family>& Families();

// The family that reads it. kInvalidArgument: not a JSON object, or no family does; the message
// lists those there are.
absl::StatusOr<const Family*> FindFamily(std::string_view config_json);

absl::StatusOr<std::unique_ptr<Model>> MakeModel(std::string_view config_json,
                                                 const ModelOptions& options);

}  // namespace vramscope::trainer
