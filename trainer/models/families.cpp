#include <algorithm>

#include "profiler/run/config_reader.h"
#include "trainer/models/family.h"

namespace vramscope::trainer {

absl::StatusOr<const Family*> FindFamily(std::string_view config_json) {
  const absl::StatusOr<nlohmann::json> object = run::ParseConfigObject(config_json);
  if (!object.ok()) return object.status();
  const absl::StatusOr<run::ConfigNames> names = run::NamesOf(*object);
  if (!names.ok()) return names.status();
  const bool by_architecture = !names->architecture.empty();
  std::vector<std::string> known;
  for (const Family& family : Families()) {
    const run::FamilyDeclaration& d = family.declaration;
    const auto& reads = by_architecture ? d.architectures : d.model_types;
    const std::string& name = by_architecture ? names->architecture : names->model_type;
    if (std::ranges::find(reads, name) != reads.end()) return &family;
    known.insert(known.end(), d.architectures.begin(), d.architectures.end());
    if (d.architectures.empty()) {
      known.insert(known.end(), d.model_types.begin(), d.model_types.end());
    }
  }
  return run::UnsupportedModel(*names, known);
}

absl::StatusOr<std::unique_ptr<Model>> MakeModel(std::string_view config_json,
                                                 const ModelOptions& options) {
  const absl::StatusOr<const Family*> family = FindFamily(config_json);
  if (!family.ok()) return family.status();
  return (*family)->make(config_json, options);
}

}  // namespace vramscope::trainer
