// `plan --with PACKAGE==V1,V2 -- PROGRAM`: plans the program under each version of a package, in
// environments that are kept (program_environments.h), and prints what changes from one version to
// the next.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/plan.h"
#include "app/cli/program_command.h"

namespace vramscope::cli {

struct PackageVersions {
  std::string package;
  std::vector<std::string> versions;
};
// Returns kInvalidArgument with a message that shows the allowed forms.
absl::StatusOr<PackageVersions> ParsePackageVersions(std::string_view text);

// Returns kNo if only some of the versions could be planned.
ExitCode PlanVersions(const std::vector<std::string>& command, const ProgramOptions& options,
                      const std::string& with, const RunOutput& output);

}  // namespace vramscope::cli
